package fcgi_test

import (
	"bytes"
	"context"
	"io"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/fcgi"
)

// FuzzServer sends any bytes to a server. It must answer in whole records, end each request at
// most once, send nothing for a request afterwards, and serve the next connection.
func FuzzServer(f *testing.F) {
	whole := request(1, true, "a body")
	f.Add(whole)
	f.Add(whole[:len(whole)-5])
	f.Add(slices.Concat(whole, request(2, false, "")))
	f.Add(slices.Concat(rec(getValues, 0, pair("FCGI_MPXS_CONNS", "")), rec(99, 0, "x"), whole))
	f.Add(slices.Concat(rec(begin, 1, beginBody(1, true)), rec(begin, 2, beginBody(1, true)), rec(abort, 1, "")))
	f.Add(slices.Concat(head(1, true, map[string]string{"A": "b"}), rec(stdin, 1, "x"), rec(abort, 1, ""), whole))
	f.Add(slices.Concat(rec(begin, 3, beginBody(2, true)), rec(begin, 3, beginBody(1, true)),
		rec(params, 3, "\x05"), rec(params, 3, "")))
	f.Add([]byte("GET / HTTP/1.0\r\n\r\n"))

	var once sync.Once
	l := newPipeListener()
	f.Fuzz(func(t *testing.T, input []byte) {
		once.Do(func() {
			s := &fcgi.Server{Handler: echo, Log: func(error) {}, Limits: fcgi.Limits{BodyIdle: 50 * time.Millisecond}}
			go s.Serve(l)
		})
		// After a damaged input the server may not recognize the record that talk adds.
		checkAnswers(t, input, talk(l.dial(), input, 60*time.Millisecond))
		a, err := newFrames(bytes.NewReader(talk(l.dial(), whole, patience))).answer(1)
		require.NoError(t, err)
		require.Equal(t, "b a body", a.stdout)
	})
}

// echo responds with a fixed text and the body.
func echo(ctx context.Context, r *fcgi.Request) {
	io.WriteString(r.Stdout, "b ")
	io.Copy(r.Stdout, r.Stdin)
}

// talk sends input and returns everything that the server sends until it has handled the
// input, or has sent nothing for the given time.
func talk(nc net.Conn, input []byte, silence time.Duration) []byte {
	go func() {
		nc.Write(input)
		// The response to this record shows that everything before it was handled.
		nc.Write(rec(getValues, 0, pair("FCGI_MAX_REQS", "")))
	}()
	defer nc.Close()
	var out []byte
	buf := make([]byte, 1<<20) // more than one write of the server, so that none is truncated
	for {
		nc.SetReadDeadline(time.Now().Add(silence))
		n, err := nc.Read(buf)
		out = append(out, buf[:n]...)
		if err != nil || bytes.HasSuffix(out, lastWord) {
			return out
		}
	}
}

var lastWord = []byte(pair("FCGI_MAX_REQS", "1000"))

func checkAnswers(t *testing.T, input, output []byte) {
	in := newFrames(bytes.NewReader(output))
	ends := map[uint16]int{}
	for {
		f, err := in.next()
		if err == io.EOF {
			break
		}
		require.NoError(t, err, "%x", output)
		switch f.typ {
		case stdout, stderr:
			require.NotZero(t, f.id)
		case end:
			require.Len(t, f.content, 8)
			require.Less(t, f.content[4], byte(4))
			ends[f.id]++
		case valuesResult, unknownType:
			require.Zero(t, f.id)
		default:
			t.Fatalf("record %v is not for a web server", f)
		}
	}
	for id, n := range ends {
		marker := []byte{1, begin, byte(id >> 8), byte(id)}
		require.LessOrEqual(t, n, bytes.Count(input, marker), "ends of request %d", id)
	}
}

// A server responds correctly to whole requests among damaged ones. This is the fuzzing that
// every run of the tests does, over real sockets.
func TestMutatedRequests(t *testing.T) {
	s := serve(t, fcgi.Limits{BodyIdle: 20 * time.Millisecond, Params: 20 * time.Millisecond}, hello)
	whole := request(1, true, "a body")
	state := uint64(1)
	random := func(n int) int {
		state = state*6364136223846793005 + 1442695040888963407
		return int(state>>33) % n
	}
	for range 2000 {
		b := slices.Clone(whole)
		for range 1 + random(3) {
			switch i := random(len(b)); random(3) {
			case 0:
				b[i] = byte(random(256))
			case 1:
				b = slices.Delete(b, i, min(len(b), i+1+random(8)))
			case 2:
				b = slices.Insert(b, i, b[random(i+1):i]...)
			}
		}
		nc, err := net.Dial(s.network, s.addr)
		require.NoError(t, err)
		nc.SetDeadline(time.Now().Add(patience))
		go func() {
			nc.Write(b)
			nc.(*net.UnixConn).CloseWrite()
		}()
		out, _ := io.ReadAll(nc)
		nc.Close()
		checkAnswers(t, b, out)
	}
	w := s.dial(t)
	w.send(whole)
	w.wantAnswer(1, helloAnswer+"a body")
	assert.NotContains(t, s.reports(), "panic")
}
