package fcgi_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/fcgi"
)

// The server answers the first example of the specification (appendix B), byte for byte. The
// test does not use our helpers.
func TestSpecificationExample(t *testing.T) {
	s := serve(t, fcgi.Limits{}, func(ctx context.Context, r *fcgi.Request) {
		assert.Equal(t, map[string]string{"SERVER_PORT": "80", "SERVER_ADDR": "199.170.183.42"}, r.Params)
		io.WriteString(r.Stdout, "Content-type: text/html\r\n\r\n<html>\n<head> ... ")
	})
	w := s.dial(t)
	w.send(
		[]byte("\x01\x01\x00\x01\x00\x08\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00"),
		[]byte("\x01\x04\x00\x01\x00\x2A\x00\x00\x0B\x02SERVER_PORT80\x0B\x0ESERVER_ADDR199.170.183.42"),
		[]byte("\x01\x04\x00\x01\x00\x00\x00\x00"),
		[]byte("\x01\x05\x00\x01\x00\x00\x00\x00"),
	)
	want := "Content-type: text/html\r\n\r\n<html>\n<head> ... "
	got := make([]byte, 8+len(want)+8+16)
	_, err := io.ReadFull(w.Conn, got)
	require.NoError(t, err)
	assert.Equal(t, uint16(len(want)), binary.BigEndian.Uint16(got[4:]))
	assert.True(t, strings.HasSuffix(string(got), want+
		"\x01\x06\x00\x01\x00\x00\x00\x00"+
		"\x01\x03\x00\x01\x00\x08\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"))
}

// FCGI_GET_VALUES returns the values that were asked for, each once (section 4.1). It needs no
// request, and does not disturb one that is being sent.
func TestGetValues(t *testing.T) {
	s := serve(t, fcgi.Limits{Conns: 12, Requests: 7}, hello)
	all := pair("FCGI_MAX_CONNS", "12") + pair("FCGI_MAX_REQS", "7") + pair("FCGI_MPXS_CONNS", "0")
	for name, tc := range map[string]struct{ query, want string }{
		"all":          {pair("FCGI_MAX_CONNS", "") + pair("FCGI_MAX_REQS", "") + pair("FCGI_MPXS_CONNS", ""), all},
		"one":          {pair("FCGI_MPXS_CONNS", ""), pair("FCGI_MPXS_CONNS", "0")},
		"unknown":      {pair("FCGI_NO_SUCH", "") + pair("fcgi_max_conns", ""), ""},
		"twice":        {pair("FCGI_MAX_REQS", "") + pair("FCGI_MAX_REQS", ""), pair("FCGI_MAX_REQS", "7")},
		"with a value": {pair("FCGI_MAX_REQS", "99"), pair("FCGI_MAX_REQS", "7")},
		"none":         {"", ""},
		"long": {
			strings.Repeat(pair("X", strings.Repeat("y", 500)), 120) + pair("FCGI_MAX_REQS", ""), pair("FCGI_MAX_REQS", "7"),
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := s.dial(t)
			w.send(padded(getValues, 0, tc.query, 5))
			w.want(frame{valuesResult, 0, tc.want})
			w.send(request(1, true, ""))
			w.wantAnswer(1, helloAnswer)
		})
	}
	t.Run("within a request", func(t *testing.T) {
		w := s.dial(t)
		h := head(1, true, serverParams())
		query := rec(getValues, 0, pair("FCGI_MPXS_CONNS", ""))
		w.send(h[:16], query, h[16:], query, rec(stdin, 1, "abc"), query, rec(stdin, 1, ""))
		got := map[byte]string{}
		for range 6 {
			f, err := w.next()
			require.NoError(t, err)
			got[f.typ] += f.content
		}
		assert.Equal(t, strings.Repeat(pair("FCGI_MPXS_CONNS", "0"), 3), got[valuesResult])
		assert.Equal(t, helloAnswer+"abc", got[stdout])
		assert.Len(t, got[end], 8)
	})
	t.Run("malformed", func(t *testing.T) {
		for _, query := range []string{"\x05", "\x05\x00FCGI", "\xff\xff\xff\xff\x00", "\x80", "\x00\xff"} {
			w := s.dial(t)
			w.send(rec(getValues, 0, query))
			w.wantClosed()
		}
	})
}

// A management record of an unknown type is answered with its type (section 4.2).
func TestUnknownManagementTypes(t *testing.T) {
	s := serve(t, fcgi.Limits{}, hello)
	w := s.dial(t)
	for typ := range 256 {
		if typ == getValues {
			continue
		}
		w.send(rec(byte(typ), 0, "whatever"))
		w.want(frame{unknownType, 0, string([]byte{byte(typ), 0, 0, 0, 0, 0, 0, 0})})
	}
	w.send(padded(99, 0, strings.Repeat("x", 65535), 255))
	w.want(frame{unknownType, 0, "c\x00\x00\x00\x00\x00\x00\x00"})
	w.send(request(1, true, ""))
	w.wantAnswer(1, helloAnswer)
}

// A request with an unknown role is answered with FCGI_UNKNOWN_ROLE (section 5.5).
func TestUnknownRoles(t *testing.T) {
	s := serve(t, fcgi.Limits{}, hello)
	for _, role := range []byte{0, 2, 3, 77} {
		t.Run(fmt.Sprint(role), func(t *testing.T) {
			w := s.dial(t)
			w.send(rec(begin, 1, beginBody(role, true)), rec(params, 1, "junk"), rec(params, 1, ""), rec(stdin, 1, ""))
			w.want(ended(1, 0, 3))
			w.send(request(1, true, ""))
			w.wantAnswer(1, helloAnswer)

			w.send(rec(begin, 2, beginBody(role, false)), rec(params, 2, ""))
			w.want(ended(2, 0, 3))
			w.wantClosed()
		})
	}
}

func TestBadBegin(t *testing.T) {
	var run int
	s := serve(t, fcgi.Limits{}, func(ctx context.Context, r *fcgi.Request) { run++ })
	rest := slices.Concat(rec(params, 1, ""), rec(stdin, 1, ""))
	for name, b := range map[string][]byte{
		"of 0 bytes":  rec(begin, 1, ""),
		"of 4 bytes":  rec(begin, 1, "\x00\x01\x01\x00"),
		"of 9 bytes":  rec(begin, 1, beginBody(1, true)+"\x00"),
		"twice":       slices.Concat(rec(begin, 1, beginBody(1, true)), rec(begin, 1, beginBody(1, true))),
		"version 0":   {0, begin, 0, 1, 0, 8, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0},
		"version 2":   {2, begin, 0, 1, 0, 8, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0},
		"version 255": {255, begin, 0, 1, 0, 8, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0},
		"HTTP":        []byte("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"),
	} {
		t.Run(name, func(t *testing.T) {
			w := s.dial(t)
			w.send(b)
			w.Write(rest)
			w.wantClosed()
		})
	}
	t.Run("of id 0", func(t *testing.T) {
		w := s.dial(t)
		w.send(rec(begin, 0, beginBody(1, true)), rest)
		w.want(frame{unknownType, 0, "\x01\x00\x00\x00\x00\x00\x00\x00"})
	})
	assert.Zero(t, run)
	assert.Contains(t, s.reports(), "not FastCGI 1.0")
}

// A second request on a busy connection is answered with FCGI_CANT_MPX_CONN (section 5.5). It
// does not disturb the first one.
func TestSecondRequestIsRefused(t *testing.T) {
	goOn := make(chan struct{})
	s := serve(t, fcgi.Limits{}, func(ctx context.Context, r *fcgi.Request) {
		if _, wait := r.Params["WAIT"]; wait {
			<-goOn
		}
		hello(ctx, r)
	})
	t.Run("in its parameters", func(t *testing.T) {
		w := s.dial(t)
		h := head(1, true, serverParams())
		w.send(h[:16], request(2, true, "x"))
		w.want(ended(2, 0, 1))
		w.send(h[16:], rec(stdin, 1, ""))
		w.wantAnswer(1, helloAnswer)
	})
	t.Run("in its body", func(t *testing.T) {
		w := s.dial(t)
		w.send(head(1, true, serverParams()), rec(stdin, 1, "abc"), request(2, true, "x"))
		w.want(ended(2, 0, 1))
		w.send(rec(stdin, 1, "def"), rec(stdin, 1, ""))
		w.wantAnswer(1, helloAnswer+"abcdef")
	})
	t.Run("while it runs", func(t *testing.T) {
		w := s.dial(t)
		w.send(head(1, true, map[string]string{"WAIT": "", "SCRIPT_NAME": "/a"}))
		time.Sleep(10 * time.Millisecond)
		w.send(rec(stdin, 1, ""))
		w.send(request(2, true, "x"))
		w.want(ended(2, 0, 1)) // before the first is answered
		close(goOn)
		w.wantAnswer(1, "hello /a ")
	})
	t.Run("that would not keep the connection", func(t *testing.T) {
		w := s.dial(t)
		h := head(1, true, serverParams())
		w.send(h[:16], request(2, false, ""), h[16:], rec(stdin, 1, ""))
		w.want(ended(2, 0, 1))
		w.wantAnswer(1, helloAnswer)
		w.wantClosed()
	})
}

func TestManyBegins(t *testing.T) {
	s := serve(t, fcgi.Limits{}, hello)
	w := s.dial(t)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	go func() {
		for id := 1; id <= 65535; id++ {
			if _, err := w.Write(rec(begin, uint16(id), beginBody(1, true))); err != nil {
				return
			}
		}
	}()
	for id := 2; id <= 65535; id++ {
		f, err := w.next()
		require.NoError(t, err)
		require.Equal(t, ended(uint16(id), 0, 1), f)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	assert.Less(t, int64(after.HeapInuse)-int64(before.HeapInuse), int64(16<<20))
	w.send(rec(params, 1, ""), rec(stdin, 1, ""))
	w.wantAnswer(1, "hello  ")
}

// No handler is called before the parameters are complete. Records out of order are ignored.
func TestRecordsOutOfOrder(t *testing.T) {
	s := serve(t, fcgi.Limits{}, hello)
	w := s.dial(t)
	w.send(rec(begin, 1, beginBody(1, true)))
	w.send(rec(stdin, 1, "early"), rec(stdin, 1, ""), rec(data, 1, "data"), rec(stdin, 5, "stranger"), rec(77, 1, "x"))
	w.send(rec(params, 1, pair("SCRIPT_NAME", "/a")), rec(params, 1, ""))
	w.send(rec(params, 1, pair("SCRIPT_NAME", "/b")), rec(data, 1, "data"), rec(params, 1, ""))
	w.send(rec(stdin, 1, "body"), rec(params, 1, pair("SCRIPT_NAME", "/c")), rec(data, 1, ""),
		rec(stdin, 1, "!"), rec(stdin, 1, ""))
	w.wantAnswer(1, "hello /a body!")
	w.send(rec(stdin, 1, "late"), rec(params, 1, "late"), rec(abort, 1, ""), rec(abort, 9, ""), rec(end, 1, "12345678"))
	w.send(request(2, true, ""))
	w.wantAnswer(2, helloAnswer)
}

// It does not matter how a request is split into records, and records into writes.
func TestRecordBoundaries(t *testing.T) {
	s := serve(t, fcgi.Limits{}, func(ctx context.Context, r *fcgi.Request) {
		body, err := io.ReadAll(r.Stdin)
		fmt.Fprintf(r.Stdout, "%d %q %s %v", len(r.Params), r.Params["NAME"], body, err)
	})
	value := strings.Repeat("v", 300)
	text := pair("NAME", value) + pair("EMPTY", "") + long(4) + long(1) + "LONGx" +
		long(0x40) + size(2) + strings.Repeat("n", 0x40) + "vv"
	want := fmt.Sprintf("4 %q the body <nil>", value)

	t.Run("byte by byte", func(t *testing.T) {
		w := s.dial(t)
		w.send(rec(begin, 1, beginBody(1, true)))
		for i := range len(text) {
			w.send(rec(params, 1, text[i:i+1]))
		}
		w.send(rec(params, 1, ""))
		for _, c := range "the body" {
			w.send(rec(stdin, 1, string(c)))
		}
		w.send(rec(stdin, 1, ""))
		w.wantAnswer(1, want)
	})
	t.Run("each byte a write", func(t *testing.T) {
		w := s.dial(t)
		for _, c := range slices.Concat(rec(begin, 1, beginBody(1, true)), rec(params, 1, text),
			padded(params, 1, "", 7), padded(stdin, 1, "the body", 255), padded(stdin, 1, "", 255)) {
			w.send([]byte{c})
		}
		w.wantAnswer(1, want)
	})
	t.Run("at random", func(t *testing.T) {
		rnd := rand.New(rand.NewPCG(1, 2))
		w := s.dial(t)
		for id := uint16(1); id < 60; id++ {
			b := padded(begin, id, beginBody(1, true), rnd.IntN(256))
			cut := func(typ byte, s string) {
				for s != "" {
					n := 1 + rnd.IntN(len(s))
					b = append(b, padded(typ, id, s[:n], rnd.IntN(256))...)
					s = s[n:]
				}
				b = append(b, padded(typ, id, "", rnd.IntN(256))...)
			}
			cut(params, text)
			cut(stdin, "the body")
			for len(b) > 0 {
				n := 1 + rnd.IntN(len(b))
				w.send(b[:n])
				b = b[n:]
			}
			w.wantAnswer(id, want)
		}
	})
}

func TestMalformedParams(t *testing.T) {
	ran := false
	s := serve(t, fcgi.Limits{}, func(ctx context.Context, r *fcgi.Request) { ran = true })
	for name, tc := range map[string]struct{ text, status string }{
		"value cut":               {"\x01\x05Aabc", "400"},
		"name cut":                {"\x05\x00Aabc", "400"},
		"length cut":              {pair("A", "b") + "\x80\x00", "400"},
		"one length":              {pair("A", "b") + "\x01", "400"},
		"2 GB":                    {"\xff\xff\xff\xff\x01A", "400"},
		"sum over 2^31":           {"\xff\xff\xff\xff\xff\xff\xff\xffAA", "400"},
		"NUL in a name":           {pair("A\x00", "b"), "400"},
		"NUL in a value":          {pair("A", "b\x00c"), "400"},
		"no name":                 {pair("", "b"), "400"},
		"two lengths of a body":   {pair("CONTENT_LENGTH", "1") + pair("CONTENT_LENGTH", "2"), "400"},
		"two names of a script":   {pair("SCRIPT_NAME", "/a") + pair("X", "") + pair("SCRIPT_NAME", "/b"), "400"},
		"1001 parameters":         {strings.Repeat(pair("A", "b"), 1001), "431"},
		"100000 parameters":       {strings.Repeat("\x01\x00A", 100000), "431"},
		"a value of 1 MB":         {pair("A", strings.Repeat("v", 1<<20)), "431"},
		"one byte above the most": {pair("A", strings.Repeat("v", 256<<10-5)), "431"},
	} {
		t.Run(name, func(t *testing.T) {
			w := s.dial(t)
			go func() { // the server may stop reading in the middle
				w.Write(rec(begin, 1, beginBody(1, true)))
				for text := tc.text; text != ""; {
					n := min(len(text), 60000)
					w.Write(rec(params, 1, text[:n]))
					text = text[n:]
				}
				w.Write(slices.Concat(rec(params, 1, ""), rec(stdin, 1, "")))
			}()
			a, err := w.answer(1)
			require.NoError(t, err)
			assert.Contains(t, a.stdout, "Status: "+tc.status+" ")
			w.wantClosed()
		})
	}
	assert.False(t, ran)
}

func TestLargestParams(t *testing.T) {
	s := serve(t, fcgi.Limits{}, func(ctx context.Context, r *fcgi.Request) {
		fmt.Fprint(r.Stdout, len(r.Params["A"]), " ", len(r.Params))
	})
	send := func(text string) string {
		w := s.dial(t)
		w.send(rec(begin, 1, beginBody(1, true)))
		for ; text != ""; text = text[min(len(text), 65535):] {
			w.send(rec(params, 1, text[:min(len(text), 65535)]))
		}
		w.send(rec(params, 1, ""), rec(stdin, 1, ""))
		a, err := w.answer(1)
		require.NoError(t, err)
		return a.stdout
	}
	assert.Equal(t, "262138 1", send(pair("A", strings.Repeat("v", 256<<10-6))))
	var many string
	for i := range 1000 {
		many += pair(fmt.Sprint("P", i), "")
	}
	assert.Equal(t, "0 1000", send(many))
}
