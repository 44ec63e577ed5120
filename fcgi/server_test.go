package fcgi_test

import (
	"context"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/fcgi"
)

// patience is how long a test waits for something that should happen at once: a busy machine
// may take seconds.
const patience = time.Minute

// server is a running server with the errors that it has reported.
type server struct {
	*fcgi.Server
	network, addr string
	served        chan error

	mu   sync.Mutex
	errs []error
}

// serve starts a server on a unix socket. At the end of the test it must have
// stopped and left no goroutine.
func serve(t testing.TB, l fcgi.Limits, h fcgi.Handler) *server {
	// The path of t.TempDir contains the name of the test, and can be too long for a socket.
	dir, err := os.MkdirTemp("", "fcgi")
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	return serveOn(t, "unix:"+filepath.Join(dir, "s"), l, h)
}

func serveTCP(t testing.TB, l fcgi.Limits, h fcgi.Handler) *server {
	return serveOn(t, "127.0.0.1:0", l, h)
}

func serveOn(t testing.TB, spec string, limits fcgi.Limits, h fcgi.Handler) *server {
	before := runtime.NumGoroutine()
	l, err := fcgi.Listen(spec, fcgi.ListenOptions{})
	require.NoError(t, err)
	s := &server{network: l.Addr().Network(), addr: l.Addr().String(), served: make(chan error, 1)}
	s.Server = &fcgi.Server{Handler: h, Limits: limits, Log: func(err error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.errs = append(s.errs, err)
	}}
	go func() { s.served <- s.Serve(l) }()
	t.Cleanup(func() {
		s.Close()
		assert.ErrorIs(t, <-s.served, fcgi.ErrServerClosed)
		deadline := time.Now().Add(patience)
		for runtime.NumGoroutine() > before && time.Now().Before(deadline) {
			time.Sleep(time.Millisecond)
		}
		assert.LessOrEqual(t, runtime.NumGoroutine(), before, "goroutines are left")
	})
	return s
}

// reports returns the errors that the server has reported, as one text.
func (s *server) reports() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var b strings.Builder
	for _, err := range s.errs {
		b.WriteString(err.Error() + "\n")
	}
	return b.String()
}

// wire is a connection to a server, with a deadline for everything.
type wire struct {
	t testing.TB
	net.Conn
	*frames
}

func (s *server) dial(t testing.TB) *wire {
	nc, err := net.Dial(s.network, s.addr)
	require.NoError(t, err)
	t.Cleanup(func() { nc.Close() })
	require.NoError(t, nc.SetDeadline(time.Now().Add(patience)))
	return &wire{t, nc, newFrames(nc)}
}

func (w *wire) send(records ...[]byte) {
	w.t.Helper()
	for _, r := range records {
		_, err := w.Write(r)
		require.NoError(w.t, err)
	}
}

// want checks that the next records are these.
func (w *wire) want(fs ...frame) {
	w.t.Helper()
	for _, f := range fs {
		got, err := w.next()
		require.NoError(w.t, err, "want %v", f)
		require.Equal(w.t, f, got)
	}
}

// wantAnswer checks the whole answer to request id.
func (w *wire) wantAnswer(id uint16, body string) {
	w.t.Helper()
	a, err := w.answer(id)
	require.NoError(w.t, err)
	require.Equal(w.t, answer{stdout: body}, a)
}

// wantClosed checks that nothing more comes.
func (w *wire) wantClosed() {
	w.t.Helper()
	f, err := w.next()
	require.Error(w.t, err, "got %v", f)
	require.NotErrorIs(w.t, err, os.ErrDeadlineExceeded)
}

// wantTaken checks that the server has handled everything that was sent.
func (w *wire) wantTaken() {
	w.t.Helper()
	w.send(rec(getValues, 0, ""))
	w.want(frame{valuesResult, 0, ""})
}

// ended is FCGI_END_REQUEST.
func ended(id uint16, app, status byte) frame {
	return frame{end, id, string([]byte{0, 0, 0, app, status, 0, 0, 0})}
}

// hello responds with the name of the script and the body.
func hello(ctx context.Context, r *fcgi.Request) {
	body, err := io.ReadAll(r.Stdin)
	if err != nil {
		body = append(body, " "+err.Error()...)
	}
	io.WriteString(r.Stdout, "hello "+r.Params["SCRIPT_NAME"]+" "+string(body))
}

const helloAnswer = "hello /samples.hello.fcgi "

func TestServe(t *testing.T) {
	starts := map[string]func(testing.TB, fcgi.Limits, fcgi.Handler) *server{"unix": serve, "tcp": serveTCP}
	for name, start := range starts {
		t.Run(name, func(t *testing.T) {
			s := start(t, fcgi.Limits{}, hello)

			t.Run("kept connection", func(t *testing.T) {
				w := s.dial(t)
				for range 3 {
					w.send(request(7, true, "abc"))
					w.want(frame{stdout, 7, helloAnswer + "abc"}, frame{stdout, 7, ""}, ended(7, 0, 0))
				}
			})
			t.Run("connection for one request", func(t *testing.T) {
				w := s.dial(t)
				w.send(request(1, false, ""))
				w.wantAnswer(1, helloAnswer)
				w.wantClosed()
			})
			t.Run("requests sent at once", func(t *testing.T) {
				w := s.dial(t)
				w.send(append(request(1, true, "a"), request(2, true, "b")...))
				w.wantAnswer(1, helloAnswer+"a")
				w.wantAnswer(2, helloAnswer+"b")
			})
			assert.Empty(t, s.reports())
		})
	}
}

func TestLargeBodyAndAnswer(t *testing.T) {
	s := serve(t, fcgi.Limits{}, func(ctx context.Context, r *fcgi.Request) {
		if r.Params["QUERY_STRING"] == "x=1" {
			io.Copy(r.Stdout, r.Stdin)
		}
	})
	for _, n := range []int{
		1, 8184, 8192, 8193, 32767, 32768, 65527, 65528, 65529, 65535, 65536, 131070, 131072, 1 << 20, 1<<20 + 33333,
	} {
		body := strings.Repeat("0123456789abcdef", n/16+1)[:n]
		w := s.dial(t)
		go w.Write(request(1, true, body))
		a, err := w.answer(1)
		require.NoError(t, err)
		require.Equal(t, n, len(a.stdout))
		require.True(t, a.stdout == body, "%d bytes differ", n)
	}
}

// A small response is sent in one write.
func TestSmallAnswerIsOneWrite(t *testing.T) {
	l := newPipeListener()
	s := &fcgi.Server{Handler: func(ctx context.Context, r *fcgi.Request) {
		io.WriteString(r.Stdout, "Content-Type: text/plain\r\n\r\n")
		io.WriteString(r.Stderr, "a line\n")
		r.Stdout.Write([]byte("body"))
	}}
	go s.Serve(l)
	defer s.Close()
	nc := l.dial()
	defer nc.Close()
	go nc.Write(request(1, true, ""))
	buf := make([]byte, 4096)
	n, err := nc.Read(buf) // one read of a pipe returns one write
	require.NoError(t, err)
	a, err := newFrames(strings.NewReader(string(buf[:n]))).answer(1)
	require.NoError(t, err)
	assert.Equal(t, answer{stdout: "Content-Type: text/plain\r\n\r\nbody", stderr: "a line\n"}, a)
}

func TestFlushSends(t *testing.T) {
	goOn := make(chan struct{})
	s := serve(t, fcgi.Limits{}, func(ctx context.Context, r *fcgi.Request) {
		io.WriteString(r.Stdout, "one")
		assert.NoError(t, r.Flush())
		assert.NoError(t, r.Flush()) // no empty record is sent
		<-goOn
		io.WriteString(r.Stdout, "two")
	})
	w := s.dial(t)
	w.send(request(1, true, ""))
	w.want(frame{stdout, 1, "one"})
	close(goOn)
	w.want(frame{stdout, 1, "two"}, frame{stdout, 1, ""}, ended(1, 0, 0))
}

func TestAppStatus(t *testing.T) {
	s := serve(t, fcgi.Limits{}, func(ctx context.Context, r *fcgi.Request) { r.AppStatus = 3 })
	w := s.dial(t)
	w.send(request(1, true, ""))
	w.want(frame{stdout, 1, ""}, ended(1, 3, 0))
}

func TestPanicEndsOneRequest(t *testing.T) {
	slow := make(chan struct{})
	s := serve(t, fcgi.Limits{}, func(ctx context.Context, r *fcgi.Request) {
		switch r.ID {
		case 1:
			io.WriteString(r.Stdout, "lost")
			panic("oops")
		case 2:
			io.WriteString(r.Stdout, "partly")
			r.Flush()
			panic("oops")
		case 3:
			<-slow
		}
		io.WriteString(r.Stdout, "fine")
	})
	other := s.dial(t)
	other.send(request(3, true, ""))

	w := s.dial(t)
	w.send(request(1, true, ""))
	a, err := w.answer(1)
	require.NoError(t, err)
	assert.Equal(t, uint32(1), a.app)
	assert.Contains(t, a.stdout, "Status: 500 Internal Server Error\r\n")
	assert.NotContains(t, a.stdout, "oops")
	assert.NotContains(t, a.stdout, "lost")

	w.send(request(2, true, ""))
	w.want(frame{stdout, 2, "partly"}, frame{stdout, 2, ""}, ended(2, 1, 0))
	w.send(request(4, true, ""))
	w.wantAnswer(4, "fine")

	close(slow)
	other.wantAnswer(3, "fine")
	assert.Contains(t, s.reports(), "panic: oops")
	assert.Contains(t, s.reports(), "server_test.go")
}

// A handler that calls runtime.Goexit, as t.FailNow does, ends the connection but not the
// server.
func TestGoexitInHandler(t *testing.T) {
	s := serve(t, fcgi.Limits{}, func(ctx context.Context, r *fcgi.Request) {
		if r.ID == 1 {
			runtime.Goexit()
		}
	})
	w := s.dial(t)
	w.send(request(1, true, ""))
	w.wantClosed()
	w = s.dial(t)
	w.send(request(2, true, ""))
	w.wantAnswer(2, "")
}

func TestStreamsEndWithTheRequest(t *testing.T) {
	kept := make(chan *fcgi.Request, 1)
	s := serve(t, fcgi.Limits{}, func(ctx context.Context, r *fcgi.Request) {
		select {
		case kept <- r:
		default:
		}
	})
	w := s.dial(t)
	w.send(request(1, true, ""))
	w.wantAnswer(1, "")
	r := <-kept
	_, err := r.Stdout.Write([]byte("late"))
	assert.ErrorIs(t, err, fcgi.ErrEnded)
	_, err = r.Stderr.Write([]byte("late"))
	assert.ErrorIs(t, err, fcgi.ErrEnded)
	_, err = r.Stdin.Read(make([]byte, 1))
	assert.ErrorIs(t, err, fcgi.ErrEnded)
	assert.ErrorIs(t, r.Flush(), fcgi.ErrEnded)
	w.send(request(2, true, ""))
	w.wantAnswer(2, "")
}

// A handler may keep the strings of Params, but not the map.
func TestParamStringsSurvive(t *testing.T) {
	var first string
	s := serve(t, fcgi.Limits{}, func(ctx context.Context, r *fcgi.Request) {
		if first == "" {
			first = r.Params["A"]
		}
		io.WriteString(r.Stdout, first+r.Params["A"])
	})
	w := s.dial(t)
	for _, v := range []string{"one", "two"} {
		w.send(head(9, true, map[string]string{"A": v}), rec(stdin, 9, ""))
		w.wantAnswer(9, "one"+v)
	}
}

func TestConcurrentRequests(t *testing.T) {
	s := serve(t, fcgi.Limits{}, hello)
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			w := s.dial(t)
			body := strings.Repeat(string(rune('a'+i)), 100*i)
			for range 50 {
				if _, err := w.Write(request(uint16(i+1), true, body)); !assert.NoError(t, err) {
					return
				}
				a, err := w.answer(uint16(i + 1))
				if !assert.NoError(t, err) || !assert.Equal(t, helloAnswer+body, a.stdout) {
					return
				}
			}
		})
	}
	wg.Wait()
}

// A truncated response ends with the connection, not with FCGI_END_REQUEST. The next connection
// is served.
func TestBrokenResponse(t *testing.T) {
	s := serve(t, fcgi.Limits{}, func(_ context.Context, r *fcgi.Request) {
		io.WriteString(r.Stdout, "half")
		r.Broken = r.ID == 1
	})
	w := s.dial(t)
	w.send(request(1, true, ""))
	a, err := w.answer(1)
	require.Error(t, err)
	assert.Contains(t, a.stdout, "half")
	w = s.dial(t)
	w.send(request(2, true, ""))
	a, err = w.answer(2)
	require.NoError(t, err)
	assert.Equal(t, "half", a.stdout)
}
