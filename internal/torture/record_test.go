package torture

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"maps"
	"slices"
)

// Records of the FastCGI 1.0 specification, section 8, as bytes: the tests send
// them cut, damaged and late, which no client would.
const (
	recBegin  = 1
	recEnd    = 3
	recParams = 4
	recStdin  = 5
	recStdout = 6
)

func record(kind byte, content string) []byte {
	b := []byte{1, kind, 0, 1, byte(len(content) >> 8), byte(len(content)), 0, 0}
	return append(b, content...)
}

// stream cuts content into records and ends it.
func stream(kind byte, content string) []byte {
	var b []byte
	for content != "" {
		n := min(len(content), 32000)
		b = append(b, record(kind, content[:n])...)
		content = content[n:]
	}
	return append(b, record(kind, "")...)
}

func begin(keep bool) []byte {
	if keep {
		return record(recBegin, "\x00\x01\x01\x00\x00\x00\x00\x00")
	}
	return record(recBegin, "\x00\x01\x00\x00\x00\x00\x00\x00")
}

func pairs(vars map[string]string) string {
	var b []byte
	for _, name := range slices.Sorted(maps.Keys(vars)) {
		for _, s := range []string{name, vars[name]} {
			if len(s) < 128 {
				b = append(b, byte(len(s)))
			} else {
				b = binary.BigEndian.AppendUint32(b, uint32(len(s))|1<<31)
			}
		}
		b = append(append(b, name...), vars[name]...)
	}
	return string(b)
}

// request is a whole request for a script.
func request(keep bool, name, query, body string) []byte {
	return slices.Concat(begin(keep), stream(recParams, pairs(variables(name, query, len(body)))), stream(recStdin, body))
}

// receive reads records to the end of the request. It returns what the handler
// wrote; refused is the protocol status.
func receive(r *bufio.Reader) (out string, refused byte, err error) {
	var b []byte
	for {
		var h [8]byte
		if _, err := io.ReadFull(r, h[:]); err != nil {
			return string(b), 0, err
		}
		if h[0] != 1 {
			return string(b), 0, fmt.Errorf("a record of version %d", h[0])
		}
		content := make([]byte, int(binary.BigEndian.Uint16(h[4:]))+int(h[6]))
		if _, err := io.ReadFull(r, content); err != nil {
			return string(b), 0, err
		}
		content = content[:len(content)-int(h[6])]
		switch h[1] {
		case recStdout:
			b = append(b, content...)
		case recEnd:
			if len(content) != 8 {
				return string(b), 0, fmt.Errorf("an end of %d bytes", len(content))
			}
			return string(b), content[4], nil
		}
	}
}
