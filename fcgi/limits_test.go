package fcgi_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/fcgi"
	"scripter/internal/fcgitest"
)

func TestIdleConnectionIsClosed(t *testing.T) {
	s := serve(t, fcgi.Limits{Idle: time.Second}, hello)
	fresh, used := s.dial(t), s.dial(t)
	closed := make(chan bool)
	go func() {
		defer close(closed)
		fresh.wantClosed()
	}()
	for idle := false; !idle; { // a connection with requests is not idle
		select {
		case <-closed:
			idle = true
		case <-time.After(10 * time.Millisecond):
		}
		used.send(request(1, true, ""))
		used.wantAnswer(1, helloAnswer)
	}
	used.wantClosed()
	assert.Empty(t, s.reports())
}

func TestSlowParams(t *testing.T) {
	s := serve(t, fcgi.Limits{Params: 60 * time.Millisecond}, hello)
	w := s.dial(t)
	w.send(head(1, true, serverParams())[:40])
	go trickle(w, rec(params, 1, pair("A", "b"))) // this does not extend the limit
	w.wantClosed()
	assert.Contains(t, s.reports(), "web server timeout")
}

// trickle sends a piece every 10 ms until writing fails.
func trickle(w io.Writer, piece []byte) {
	for {
		if _, err := w.Write(piece); err != nil {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func TestSlowBody(t *testing.T) {
	limits := fcgi.Limits{BodyIdle: 60 * time.Millisecond, Body: 200 * time.Millisecond}
	s := serve(t, limits, func(ctx context.Context, r *fcgi.Request) {
		b, err := io.ReadAll(r.Stdin)
		assert.ErrorIs(t, err, fcgi.ErrBodyTimeout)
		assert.NoError(t, ctx.Err())
		fmt.Fprintf(r.Stdout, "408 after %d", len(b))
	})
	t.Run("silent", func(t *testing.T) {
		w := s.dial(t)
		w.send(slices.Concat(head(1, true, serverParams()), rec(stdin, 1, "abc"))) // in one piece, so that there is no pause
		w.wantAnswer(1, "408 after 3")
		w.wantClosed()
	})
	t.Run("trickling", func(t *testing.T) {
		w := s.dial(t)
		w.send(head(1, true, serverParams()))
		go trickle(w, rec(stdin, 1, "a"))
		a, err := w.answer(1)
		require.NoError(t, err)
		assert.Contains(t, a.stdout, "408")
		w.Close()
	})
}

// A body that has arrived is read after its time has run out: it was the handler that was slow, or
// the process stood still.
func TestBodyArrivedInTime(t *testing.T) {
	limits := fcgi.Limits{BodyIdle: 100 * time.Millisecond, Body: 100 * time.Millisecond}
	sent := make(chan bool)
	s := serve(t, limits, func(ctx context.Context, r *fcgi.Request) {
		<-sent
		time.Sleep(2 * limits.Body)
		n, err := io.Copy(io.Discard, r.Stdin)
		assert.NoError(t, err)
		fmt.Fprintf(r.Stdout, "%d bytes", n)
	})
	w := s.dial(t)
	part := rec(stdin, 1, strings.Repeat("x", 60000))
	w.send(slices.Concat(head(1, true, serverParams()), part, part, rec(stdin, 1, "")))
	close(sent)
	w.wantAnswer(1, "120000 bytes")
}

// A web server that does not read blocks only its own request, and only for a limited time.
func TestWriteLimit(t *testing.T) {
	errs := make(chan error, 1)
	s := serve(t, fcgi.Limits{Write: 400 * time.Millisecond}, func(ctx context.Context, r *fcgi.Request) {
		if r.ID == 2 {
			return
		}
		var err error
		for err == nil {
			_, err = r.Stdout.Write(make([]byte, 1<<20))
		}
		assert.ErrorIs(t, context.Cause(ctx), fcgi.ErrTimeout)
		errs <- err
	})
	w := s.dial(t)
	w.send(request(1, true, ""))
	other := s.dial(t)
	other.send(request(2, true, ""))
	other.wantAnswer(2, "")
	select {
	case err := <-errs:
		assert.ErrorIs(t, err, fcgi.ErrTimeout)
	case <-time.After(patience):
		t.Fatal("still writing")
	}
}

// A slow reader gets the whole response.
func TestSlowReader(t *testing.T) {
	const limit = time.Second
	s := serve(t, fcgi.Limits{Write: limit}, func(ctx context.Context, r *fcgi.Request) {
		for range 64 {
			r.Stdout.Write(make([]byte, 40000))
		}
	})
	w := s.dial(t)
	w.send(request(1, true, ""))
	begun, total := time.Now(), 0
	for {
		f, err := w.next()
		require.NoError(t, err)
		if f.typ == end {
			break
		}
		total += len(f.content)
		time.Sleep(20 * time.Millisecond)
	}
	assert.Equal(t, 64*40000, total)
	assert.Greater(t, time.Since(begun), limit, "longer than one piece may take")
}

func TestOpenRequestsLimit(t *testing.T) {
	goOn := make(chan struct{})
	begun := make(chan bool, 10)
	s := serve(t, fcgi.Limits{Requests: 2}, func(ctx context.Context, r *fcgi.Request) { begun <- true; <-goOn })
	a, b, c := s.dial(t), s.dial(t), s.dial(t)
	a.send(request(1, true, ""))
	<-begun
	b.send(rec(begin, 1, beginBody(1, true)))
	b.wantTaken()
	c.send(request(5, true, ""))
	c.want(ended(5, 0, 2))
	b.Close() // makes room
	close(goOn)
	a.wantAnswer(1, "")
	for {
		c.send(request(6, true, ""))
		got, err := c.answer(6)
		require.NoError(t, err) // the deadline of c has passed if it is always refused
		if got.status == 0 {
			break
		}
		time.Sleep(time.Millisecond)
	}
}

// At the limit of connections, the longest idle one is closed.
func TestConnectionLimit(t *testing.T) {
	h := newWaiting()
	s := serve(t, fcgi.Limits{Conns: 3}, func(ctx context.Context, r *fcgi.Request) {
		if r.ID == 9 {
			h.handle(ctx, r)
		}
	})
	busy := s.dial(t)
	busy.send(request(9, true, ""))
	<-h.begun
	var kept []*wire
	for range 5 {
		w := s.dial(t)
		w.send(request(1, true, ""))
		w.wantAnswer(1, "")
		kept = append(kept, w)
		time.Sleep(2 * time.Millisecond)
	}
	for _, w := range kept[:3] {
		w.wantClosed()
	}
	kept[4].send(request(2, true, ""))
	kept[4].wantAnswer(2, "")
}

// Hundreds of idle connections and incomplete requests take little memory, and other
// requests are served.
func TestManyIdleConnections(t *testing.T) {
	s := serve(t, fcgi.Limits{}, hello)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	var open []net.Conn
	defer func() {
		for _, nc := range open {
			nc.Close()
		}
	}()
	const idle = 700 // the limit of the process may be 1024 descriptors
	for range idle {
		nc, err := net.Dial(s.network, s.addr)
		if err != nil && strings.Contains(err.Error(), "too many open files") {
			for range 20 { // the server and the client need some, too
				open[0].Close()
				open = open[1:]
			}
			break
		}
		require.NoError(t, err)
		open = append(open, nc)
		if len(open)%7 == 0 {
			nc.Write(head(1, true, serverParams())[:50])
		}
		if len(open)%3 == 0 {
			nc.Write(request(1, true, ""))
		}
	}
	w := s.dial(t)
	w.send(request(1, true, ""))
	w.wantAnswer(1, helloAnswer)
	runtime.GC()
	runtime.ReadMemStats(&after)
	each := (int64(after.HeapInuse+after.StackInuse) - int64(before.HeapInuse+before.StackInuse)) / int64(len(open))
	assert.Less(t, each, int64(64<<10))
}

// scarceListener fails like accept without free descriptors.
type scarceListener struct {
	net.Listener
	failures int
}

func (l *scarceListener) Accept() (net.Conn, error) {
	if l.failures > 0 {
		l.failures--
		return nil, &net.OpError{Op: "accept", Err: os.NewSyscallError("accept4", syscall.EMFILE)}
	}
	return l.Listener.Accept()
}

func TestAcceptGoesOn(t *testing.T) {
	l, err := fcgi.Listen("unix:"+t.TempDir()+"/s", fcgi.ListenOptions{})
	require.NoError(t, err)
	var reported error
	s := &fcgi.Server{Handler: hello, Log: func(err error) { reported = err }}
	go s.Serve(&scarceListener{l, 4})
	defer s.Close()
	c, err := fcgitest.Dial(t.Context(), "unix:"+l.Addr().String())
	require.NoError(t, err)
	defer c.Close()
	var out strings.Builder
	_, err = c.Do(t.Context(), serverParams(), nil, &out, io.Discard)
	require.NoError(t, err)
	assert.Equal(t, helloAnswer, out.String())
	assert.ErrorIs(t, reported, syscall.EMFILE)
}
