package fcgi_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/fcgi"
)

// waiting has a handler that waits until its context ends and records the cause.
type waiting struct {
	begun  chan bool // one for each request that has begun
	causes chan error
}

func newWaiting() waiting { return waiting{make(chan bool, 100), make(chan error, 100)} }

func (h waiting) handle(ctx context.Context, _ *fcgi.Request) {
	h.begun <- true
	select {
	case <-ctx.Done():
		h.causes <- context.Cause(ctx)
	case <-time.After(patience):
		h.causes <- errors.New("not cancelled")
	}
}

// An aborted request is answered with one FCGI_END_REQUEST, wherever the abort comes (section
// 5.4).
func TestAbort(t *testing.T) {
	h := newWaiting()
	s := serve(t, fcgi.Limits{}, func(ctx context.Context, r *fcgi.Request) {
		switch r.Params["SCRIPT_NAME"] {
		case "/wait":
			io.WriteString(r.Stdout, "not wanted any more")
			h.handle(ctx, r)
			_, err := io.WriteString(r.Stdout, "nor this")
			assert.ErrorIs(t, err, fcgi.ErrAborted)
			return
		case "/read":
			_, err := io.ReadAll(r.Stdin)
			assert.ErrorIs(t, err, io.ErrUnexpectedEOF)
			h.causes <- errors.Join(err, context.Cause(ctx))
			return
		}
		hello(ctx, r)
	})
	start := func(name string) [][]byte {
		h := head(1, true, map[string]string{"SCRIPT_NAME": name})
		return [][]byte{h[:16], h[16 : len(h)-8], h[len(h)-8:]}
	}
	for name, tc := range map[string]struct {
		records [][]byte
		app     byte
		ran     bool
	}{
		"after the begin":       {start("/x")[:1], 0, false},
		"in the parameters":     {start("/x")[:2], 0, false},
		"in the body":           {append(start("/read"), rec(stdin, 1, "abc")), 1, true},
		"while it runs":         {append(start("/wait"), rec(stdin, 1, "")), 1, true},
		"behind an unread body": {append(start("/wait"), rec(stdin, 1, "abc"), padded(stdin, 1, "def", 9)), 1, true},
	} {
		t.Run(name, func(t *testing.T) {
			w := s.dial(t)
			w.send(tc.records...)
			time.Sleep(5 * time.Millisecond)
			w.send(rec(abort, 9, ""), rec(abort, 1, ""))
			w.want(ended(1, tc.app, 0))
			if tc.ran {
				assert.ErrorIs(t, <-h.causes, fcgi.ErrAborted)
			}
			w.send(rec(abort, 1, ""), rec(getValues, 0, ""))
			w.want(frame{valuesResult, 0, ""}) // and nothing before it
			w.send(request(1, true, ""))
			w.wantAnswer(1, helloAnswer)
		})
	}
	t.Run("connection that is not kept", func(t *testing.T) {
		w := s.dial(t)
		w.send(rec(begin, 1, beginBody(1, false)), rec(abort, 1, ""))
		w.want(ended(1, 0, 0))
		w.wantClosed()
	})
}

// closeWays are the ways in which a web server closes a connection.
var closeWays = map[string]func(nc net.Conn){
	"close": func(nc net.Conn) { nc.Close() },
	"reset": func(nc net.Conn) {
		if tcp, ok := nc.(*net.TCPConn); ok {
			tcp.SetLinger(0)
		}
		nc.Close()
	},
}

var servers = map[string]func(testing.TB, fcgi.Limits, fcgi.Handler) *server{"unix": serve, "tcp": serveTCP}

func TestClosedConnectionCancels(t *testing.T) {
	for network, start := range servers {
		for way, leave := range closeWays {
			for name, body := range map[string]string{
				"no body": "", "unread body": "abc", "large unread body": strings.Repeat("x", 100000),
			} {
				t.Run(network+"/"+way+"/"+name, func(t *testing.T) {
					h := newWaiting()
					s := start(t, fcgi.Limits{}, h.handle)
					w := s.dial(t)
					w.send(request(1, true, body))
					<-h.begun
					leave(w.Conn)
					assert.ErrorIs(t, <-h.causes, fcgi.ErrClosed)
				})
			}
		}
	}
}

// The server checks the connection for as long as a request runs, not just at its beginning.
func TestLateCloseCancels(t *testing.T) {
	h := newWaiting()
	s := serve(t, fcgi.Limits{}, h.handle)
	w := s.dial(t)
	w.send(request(1, true, ""))
	<-h.begun
	time.Sleep(250 * time.Millisecond)
	w.Close()
	assert.ErrorIs(t, <-h.causes, fcgi.ErrClosed)
}

// A peer that never stops sending while its request runs does not keep the server from
// checking other connections.
func TestFloodDuringRequest(t *testing.T) {
	h := newWaiting()
	s := serve(t, fcgi.Limits{}, h.handle)
	flood, other := s.dial(t), s.dial(t)
	flood.send(request(1, true, ""))
	other.send(request(2, true, ""))
	junk := rec(data, 1, strings.Repeat("x", 65535))
	stop := make(chan struct{})
	go func() {
		defer close(stop)
		for {
			if _, err := flood.Write(junk); err != nil {
				return
			}
		}
	}()
	<-h.begun
	<-h.begun
	time.Sleep(150 * time.Millisecond)
	other.Close()
	assert.ErrorIs(t, <-h.causes, fcgi.ErrClosed)
	select {
	case <-stop:
		t.Error("the flood has ended before the other connection was closed")
	default:
	}
	flood.Close()
	assert.ErrorIs(t, <-h.causes, fcgi.ErrClosed)
	<-stop
}

// A web server that closes its half of the connection still gets its response.
func TestHalfClosedConnectionIsAnswered(t *testing.T) {
	for network, start := range servers {
		for _, keep := range []bool{true, false} {
			t.Run(fmt.Sprint(network, "/keep=", keep), func(t *testing.T) {
				goOn := make(chan struct{})
				s := start(t, fcgi.Limits{}, func(ctx context.Context, r *fcgi.Request) {
					select {
					case <-ctx.Done():
					case <-goOn:
					}
					io.WriteString(r.Stdout, "done")
					io.WriteString(r.Stderr, "late line")
					assert.NoError(t, ctx.Err())
				})
				w := s.dial(t)
				w.send(request(1, keep, ""))
				w.Conn.(interface{ CloseWrite() error }).CloseWrite()
				if network == "tcp" { // the server ends the stream to find out whether the peer is there
					w.want(frame{stderr, 1, ""})
				}
				time.Sleep(200 * time.Millisecond) // several checks
				close(goOn)
				a, err := w.answer(1)
				require.NoError(t, err)
				assert.Equal(t, "done", a.stdout)
				w.wantClosed()
				if network == "tcp" {
					assert.Contains(t, s.reports(), "late line")
				} else {
					assert.Equal(t, "late line", a.stderr)
				}
			})
		}
	}
}

func TestTruncatedBody(t *testing.T) {
	for network, start := range servers {
		t.Run(network, func(t *testing.T) {
			errs := make(chan error, 1)
			s := start(t, fcgi.Limits{}, func(ctx context.Context, r *fcgi.Request) {
				b, err := io.ReadAll(r.Stdin)
				_, again := r.Stdin.Read(make([]byte, 1))
				assert.Equal(t, err, again)
				errs <- fmt.Errorf("%d %w", len(b), err)
				io.WriteString(r.Stdout, "answer")
			})
			whole := request(1, true, "0123456789")
			for cut, want := range map[int]string{8: "10", 12: "6", 18: "0"} {
				w := s.dial(t)
				w.send(whole[:len(whole)-cut])
				w.Conn.(interface{ CloseWrite() error }).CloseWrite()
				err := <-errs
				assert.ErrorIs(t, err, io.ErrUnexpectedEOF)
				assert.ErrorIs(t, err, fcgi.ErrClosed)
				assert.Equal(t, want, strings.Fields(err.Error())[0])
				w.wantAnswer(1, "answer")
				w.wantClosed()
			}
		})
	}
}

// A connection can be closed after any byte of a request. Nothing is left of the request: the
// end of the test checks that.
func TestCloseAtEveryStage(t *testing.T) {
	for network, start := range servers {
		for way, leave := range closeWays {
			t.Run(network+"/"+way, func(t *testing.T) {
				s := start(t, fcgi.Limits{}, hello)
				whole := append(head(1, true, map[string]string{"A": "b"}), rec(stdin, 1, "abc")...)
				for cut := range whole {
					w := s.dial(t)
					w.send(whole[:cut])
					leave(w.Conn)
				}
				w := s.dial(t)
				w.send(request(1, true, ""))
				w.wantAnswer(1, helloAnswer)
				assert.Empty(t, s.reports())
			})
		}
	}
}

// Writing to a web server that is gone fails and cancels the context.
func TestWriteAfterClose(t *testing.T) {
	causes := make(chan error, 1)
	s := serve(t, fcgi.Limits{}, func(ctx context.Context, r *fcgi.Request) {
		var err error
		for err == nil {
			_, err = r.Stdout.Write(make([]byte, 10000))
		}
		assert.ErrorIs(t, err, fcgi.ErrClosed)
		_, err = r.Stderr.Write([]byte("x"))
		assert.ErrorIs(t, err, fcgi.ErrClosed)
		causes <- context.Cause(ctx)
	})
	w := s.dial(t)
	w.send(request(1, true, ""))
	w.Close()
	assert.ErrorIs(t, <-causes, fcgi.ErrClosed)
}

// The response of a handler that does not read a large body arrives, also if the web server
// reads only after it has sent everything.
func TestUnreadBody(t *testing.T) {
	for _, keep := range []bool{true, false} {
		for _, size := range []int{1, 1 << 20} {
			t.Run(fmt.Sprint("keep=", keep, "/", size), func(t *testing.T) {
				// No limit may end the wait for the response.
				limits := fcgi.Limits{BodyIdle: time.Hour, Body: time.Hour, Idle: time.Hour}
				s := serve(t, limits, func(ctx context.Context, r *fcgi.Request) {
					if r.Params["HTTP_HOST"] != "" {
						r.Stdin.(io.Closer).Close()
						_, err := r.Stdin.Read(make([]byte, 1))
						assert.ErrorIs(t, err, fcgi.ErrBodyClosed)
					}
					io.WriteString(r.Stdout, strings.Repeat("a", size))
				})
				w := s.dial(t)
				for id := uint16(1); id < 3; id++ {
					w.send(request(id, keep, strings.Repeat("x", 8<<20)))
					a, err := w.answer(id)
					require.NoError(t, err)
					assert.Equal(t, size, len(a.stdout))
					if !keep {
						w.wantClosed()
						break
					}
				}
			})
		}
	}
}
