package fcgi_test

import (
	"bytes"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/fcgi"
)

// Size ends after the first complete request, with the padding of its last record.
func TestPeek(t *testing.T) {
	whole, values := request(7, true, "a body"), rec(getValues, 0, pair("FCGI_MPXS_CONNS", ""))
	padded := slices.Concat(whole[:len(whole)-8], []byte{1, stdin, 0, 7, 0, 0, 3, 0}, make([]byte, 3))
	begun := rec(begin, 7, beginBody(1, true))
	for _, c := range []struct {
		name string
		in   []byte
		want fcgi.Peeked
	}{
		{"nothing", nil, fcgi.Peeked{}},
		{"whole", whole, fcgi.Peeked{Size: len(whole), Keep: true, ID: 7}},
		{"not kept", request(7, false, ""), fcgi.Peeked{Size: len(request(7, false, "")), ID: 7}},
		{"the end is missing", whole[:len(whole)-8], fcgi.Peeked{Keep: true, Body: true, ID: 7}},
		{"padding is missing", padded[:len(padded)-1], fcgi.Peeked{Keep: true, Body: true, ID: 7}},
		{"padded", padded, fcgi.Peeked{Size: len(padded), Keep: true, ID: 7}},
		{"and part of another", slices.Concat(whole, begun), fcgi.Peeked{Size: len(whole), Keep: true, ID: 7}},
		{"a question", values, fcgi.Peeked{Size: len(values)}},
		{"and part of a request", slices.Concat(values, begun), fcgi.Peeked{Size: len(values), Keep: true, ID: 7}},
		{"a question within", slices.Concat(begun, values), fcgi.Peeked{Keep: true, ID: 7}},
		{"aborted", slices.Concat(begun, rec(abort, 7, "")), fcgi.Peeked{Size: len(begun) + 8, Keep: true, ID: 7}},
		{"begun twice", slices.Concat(begun, begun), fcgi.Peeked{Size: 2 * len(begun), Keep: true, ID: 7}},
		{"another begun", slices.Concat(begun, rec(begin, 8, beginBody(1, true))), fcgi.Peeked{Keep: true, ID: 7}},
		{"other role", rec(begin, 7, beginBody(2, true)), fcgi.Peeked{Size: 16, Keep: true, ID: 7}},
		{"not FastCGI", []byte("GET / HTTP/1.0\r\n"), fcgi.Peeked{Size: 16}},
	} {
		assert.Equal(t, c.want, fcgi.Peek(c.in), c.name)
	}
}

// FuzzPeek compares the result of Peek with what a server needs: ServeReady reads Size bytes
// and waits for no more. If Size is 0, there is one after the rest of the request is added.
func FuzzPeek(f *testing.F) {
	whole := request(1, true, "a body")
	f.Add(whole)
	f.Add(whole[:len(whole)-5])
	f.Add(slices.Concat(whole, request(2, false, "")))
	f.Add(slices.Concat(rec(getValues, 0, pair("FCGI_MPXS_CONNS", "")), rec(99, 0, "x"), whole))
	f.Add(slices.Concat(rec(begin, 1, beginBody(1, true)), rec(begin, 2, beginBody(1, true)), rec(abort, 1, "")))
	f.Add(slices.Concat(rec(begin, 1, beginBody(1, true)), rec(begin, 1, beginBody(1, true))[:9]))
	f.Add(slices.Concat(head(1, true, map[string]string{"A": "b"}), rec(stdin, 1, "x"), rec(abort, 1, ""), whole))
	f.Add(slices.Concat(rec(begin, 3, beginBody(2, true)), rec(begin, 3, beginBody(1, true)),
		rec(params, 3, "\x05"), rec(params, 3, "")))
	f.Add(append(slices.Clone(whole[:len(whole)-8]), 1, stdin, 0, 1, 0, 0, 3, 0))
	f.Add([]byte("GET / HTTP/1.0\r\n\r\n"))

	const long = time.Hour
	limits := fcgi.Limits{Idle: long, Params: long, Body: long, BodyIdle: long, Write: long}
	s := &fcgi.Server{Handler: echo, Log: func(error) {}, Limits: limits}
	f.Fuzz(func(t *testing.T, in []byte) {
		a := fcgi.Peek(in)
		require.GreaterOrEqual(t, fcgi.DeclaredLength(in), int64(-1))
		require.LessOrEqual(t, a.Size, len(in))
		if len(in) > 64<<10 {
			return // more than a socket takes at once
		}
		if !a.Complete() {
			more := fcgi.Peek(extended(in, a.ID))
			require.True(t, more.Complete(), "%x", in)
			return
		}
		ours, theirs := aheadPair(t)
		defer theirs.Close()
		defer ours.Close()
		_, err := theirs.Write(in[:a.Size]) // everything has arrived
		require.NoError(t, err)
		go func() {
			io.Copy(io.Discard, theirs)
			theirs.Close()
		}()
		done := make(chan bool, 1)
		go func() { done <- s.ServeReady(ours) }()
		select {
		case <-done:
		case <-time.After(patience):
			t.Fatalf("ServeReady waits after %x", in[:a.Size])
		}
	})
}

// CopyRequest reads as much as Peek examines, and no more.
func TestCopyRequest(t *testing.T) {
	large := slices.Concat(request(1, true, strings.Repeat("body", 5000)), request(2, true, ""))
	for _, in := range [][]byte{
		request(7, true, "a body"), large, slices.Concat(rec(getValues, 0, ""), large), []byte("GET / HTTP/1.0\r\n"),
	} {
		for _, size := range []int{16, 100, 64 << 10} {
			var out bytes.Buffer
			src := bytes.NewReader(in)
			a, err := fcgi.CopyRequest(&out, iotest.HalfReader(src), make([]byte, size), 1<<20)
			require.NoError(t, err)
			want := fcgi.Peek(in)
			if in[0] != 1 {
				want.Size = 8 // Peek examines everything
			}
			assert.Equal(t, want, a)
			assert.Equal(t, in[:a.Size], out.Bytes())
			assert.Equal(t, len(in)-a.Size, src.Len(), "the rest is not read")
		}
	}
	var out bytes.Buffer
	src := bytes.NewReader(large)
	a, err := fcgi.CopyRequest(&out, src, make([]byte, 100), 5000)
	assert.ErrorIs(t, err, fcgi.ErrBodyTooLarge)
	assert.Equal(t, fcgi.Peeked{Keep: true, Body: true, ID: 1}, a)
	assert.Equal(t, large[:out.Len()], out.Bytes())
	assert.Equal(t, len(large)-out.Len(), src.Len())
	out.Reset()
	a, err = fcgi.CopyRequest(&out, bytes.NewReader(large[:9000]), make([]byte, 100), 1<<20)
	assert.ErrorIs(t, err, io.ErrUnexpectedEOF)
	assert.Equal(t, large[:9000], out.Bytes())
	assert.EqualValues(t, 1, a.ID)
}

// A body may have as many bytes as the limit allows, in records of any size. CopyRequest
// returns an error if there are more, or if there are too many small records.
func TestCopyRequestLimit(t *testing.T) {
	whole := func(pieces ...string) []byte {
		b := head(1, true, map[string]string{"A": "b"})
		for _, p := range pieces {
			b = append(b, rec(stdin, 1, p)...)
		}
		return append(b, rec(stdin, 1, "")...)
	}
	tiny := slices.Repeat([]string{"x"}, 300_000)
	for _, c := range []struct {
		name  string
		in    []byte
		limit int64
		want  error
	}{
		{"at the limit", whole("12345", "67890"), 10, nil},
		{"one more", whole("12345", "678901"), 10, fcgi.ErrBodyTooLarge},
		{"none is allowed", whole("x"), 0, fcgi.ErrBodyTooLarge},
		{"none came", whole(), 0, nil},
		{"small records", whole(tiny[:100_000]...), 100_000, nil},
		{"very small records", whole(tiny...), 300_000, fcgi.ErrBodyTooLarge},
		{
			"records of no request",
			slices.Concat(head(1, true, nil)[:16], slices.Repeat(rec(stdin, 9, "xxxxxxxx"), 100_000)),
			10, fcgi.ErrBodyTooLarge,
		},
	} {
		var out bytes.Buffer
		a, err := fcgi.CopyRequest(&out, bytes.NewReader(c.in), make([]byte, 16<<10), c.limit)
		assert.ErrorIs(t, err, c.want, c.name)
		assert.Equal(t, c.want == nil, a.Complete(), c.name)
	}
}

// DeclaredLength needs all parameters, and a CONTENT_LENGTH that is a number.
func TestDeclaredLength(t *testing.T) {
	long := strings.Repeat("v", 3000)
	twelve := slices.Clip(head(7, true, map[string]string{"CONTENT_LENGTH": "12"}))
	for _, c := range []struct {
		name string
		in   []byte
		want int64
	}{
		{"declared", head(7, true, map[string]string{"A": long, "CONTENT_LENGTH": "5000000000", "Z": long}), 5_000_000_000},
		{"and part of a body", append(twelve, rec(stdin, 7, "part")...), 12},
		{"after FCGI_GET_VALUES", append(rec(getValues, 0, pair("FCGI_MPXS_CONNS", "")), twelve...), 12},
		{"none", head(7, true, map[string]string{"A": "b"}), -1},
		{"empty", head(7, true, map[string]string{"CONTENT_LENGTH": ""}), -1},
		{"no number", head(7, true, map[string]string{"CONTENT_LENGTH": "+12"}), -1},
		{"too many digits", head(7, true, map[string]string{"CONTENT_LENGTH": "99999999999999999999"}), -1},
		{"twice", slices.Concat(rec(begin, 7, beginBody(1, true)),
			rec(params, 7, pair("CONTENT_LENGTH", "1")+pair("CONTENT_LENGTH", "2")), rec(params, 7, "")), -1},
		{"parameters in part", rec(begin, 7, beginBody(1, true)), -1},
		{"cut", head(7, true, map[string]string{"CONTENT_LENGTH": "12"})[:40], -1},
		{"aborted", slices.Concat(rec(begin, 7, beginBody(1, true)), rec(abort, 7, "")), -1},
		{"another role", rec(begin, 7, beginBody(2, false)), -1},
		{"not FastCGI", []byte("GET / HTTP/1.0\r\n"), -1},
		{"nothing", nil, -1},
	} {
		assert.Equal(t, c.want, fcgi.DeclaredLength(c.in), c.name)
	}
}

// extended returns in with its last record completed, and the ends of the streams of request
// id.
func extended(in []byte, id uint16) []byte {
	out := slices.Clone(in)
	for rest := in; ; {
		if len(rest) == 0 {
			break
		}
		size := 8
		if len(rest) >= 8 {
			size += int(rest[4])<<8 + int(rest[5]) + int(rest[6])
		}
		if len(rest) < size {
			out = append(out, make([]byte, size-len(rest))...)
			return extended(out, id)
		}
		rest = rest[size:]
	}
	if id = fcgi.Peek(out).ID; id == 0 {
		return append(out, rec(getValues, 0, "")...)
	}
	return slices.Concat(out, rec(params, id, ""), rec(stdin, id, ""))
}

func aheadPair(t *testing.T) (a, b net.Conn) {
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	require.NoError(t, err)
	var ends [2]net.Conn
	for i, fd := range fds {
		f := os.NewFile(uintptr(fd), "pair")
		ends[i], err = net.FileConn(f)
		require.NoError(t, err)
		f.Close()
	}
	return ends[0], ends[1]
}
