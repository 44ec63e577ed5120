package fcgi_test

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"maps"
	"slices"
)

// The tests encode and decode records themselves, by the specification and without the
// package's encoder.

const (
	begin, abort, end, params, stdin, stdout = 1, 2, 3, 4, 5, 6
	stderr, data, getValues, valuesResult    = 7, 8, 9, 10
	unknownType                              = 11
)

// rec returns one record.
func rec(typ byte, id uint16, content string) []byte { return padded(typ, id, content, 0) }

func padded(typ byte, id uint16, content string, padding int) []byte {
	b := []byte{1, typ, byte(id >> 8), byte(id), byte(len(content) >> 8), byte(len(content)), byte(padding), 0xAA}
	b = append(b, content...)
	for range padding {
		b = append(b, 0xFF)
	}
	return b
}

// pair returns a name-value pair with lengths in the shortest form.
func pair(name, value string) string { return size(len(name)) + size(len(value)) + name + value }

func size(n int) string {
	if n < 128 {
		return string([]byte{byte(n)})
	}
	return long(n)
}

// long returns n as a length of four bytes.
func long(n int) string {
	return string(binary.BigEndian.AppendUint32(nil, uint32(n)|0x80000000))
}

func block(m map[string]string) string {
	var s string
	for _, k := range slices.Sorted(maps.Keys(m)) {
		s += pair(k, m[k])
	}
	return s
}

func beginBody(role byte, keep bool) string {
	flags := byte(0)
	if keep {
		flags = 1
	}
	return string([]byte{0, role, flags, 0, 0, 0, 0, 0})
}

// head returns the records of a request up to the end of its parameters.
func head(id uint16, keep bool, m map[string]string) []byte {
	return slices.Concat(rec(begin, id, beginBody(1, keep)), rec(params, id, block(m)), rec(params, id, ""))
}

// request returns all records of a request.
func request(id uint16, keep bool, body string) []byte {
	b := head(id, keep, serverParams())
	for len(body) > 0 {
		n := min(len(body), 32768)
		b = append(b, rec(stdin, id, body[:n])...)
		body = body[n:]
	}
	return append(b, rec(stdin, id, "")...)
}

// frame is a record that was read.
type frame struct {
	typ     byte
	id      uint16
	content string
}

func (f frame) String() string { return fmt.Sprintf("{type %d, id %d, %q}", f.typ, f.id, f.content) }

// frames reads records.
type frames struct{ in *bufio.Reader }

func newFrames(r io.Reader) *frames { return &frames{bufio.NewReaderSize(r, 32<<10)} }

func (f *frames) next() (frame, error) {
	var h [8]byte
	if _, err := io.ReadFull(f.in, h[:]); err != nil {
		return frame{}, err
	}
	if h[0] != 1 || h[7] != 0 {
		return frame{}, fmt.Errorf("bad header % x", h)
	}
	content := make([]byte, int(binary.BigEndian.Uint16(h[4:]))+int(h[6]))
	if _, err := io.ReadFull(f.in, content); err != nil {
		return frame{}, err
	}
	return frame{h[1], binary.BigEndian.Uint16(h[2:]), string(content[:len(content)-int(h[6])])}, nil
}

// untilEnd skips to the end of a request. It allocates nothing.
func (f *frames) untilEnd() error {
	for {
		h, err := f.in.Peek(8)
		if err != nil {
			return err
		}
		typ, n := h[1], 8+int(binary.BigEndian.Uint16(h[4:]))+int(h[6])
		if _, err := f.in.Discard(n); err != nil || typ == end {
			return err
		}
	}
}

// answer is the response to one request.
type answer struct {
	stdout, stderr string
	app            uint32
	status         byte
}

// answer reads the records of request id up to its end.
func (f *frames) answer(id uint16) (answer, error) {
	var a answer
	for {
		r, err := f.next()
		switch {
		case err != nil:
			return a, err
		case r.id != id:
			return a, fmt.Errorf("record %v of another request", r)
		case r.typ == stdout:
			a.stdout += r.content
		case r.typ == stderr:
			a.stderr += r.content
		case r.typ == end:
			a.app, a.status = binary.BigEndian.Uint32([]byte(r.content)), r.content[4]
			return a, nil
		default:
			return a, fmt.Errorf("record %v is not for a web server", r)
		}
	}
}
