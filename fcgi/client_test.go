package fcgi_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	stdfcgi "net/http/fcgi"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/fcgi"
	"scripter/internal/fcgitest"
)

func (s *server) client(t testing.TB) *fcgitest.Client {
	spec := s.addr
	if s.network == "unix" {
		spec = "unix:" + spec
	}
	c, err := fcgitest.Dial(t.Context(), spec)
	require.NoError(t, err)
	t.Cleanup(func() { c.Close() })
	return c
}

func TestClient(t *testing.T) {
	s := serve(t, fcgi.Limits{}, func(ctx context.Context, r *fcgi.Request) {
		hello(ctx, r)
		io.WriteString(r.Stderr, "a line\n")
		r.AppStatus = 1<<32 - 2
	})
	c := s.client(t)
	for _, body := range []string{"", "x", strings.Repeat("0123456789", 100000)} {
		var out, log strings.Builder
		var in io.Reader
		if body != "" {
			in = iotest.HalfReader(strings.NewReader(body))
		}
		status, err := c.Do(t.Context(), serverParams(), in, &out, &log)
		require.NoError(t, err)
		assert.Equal(t, uint32(1<<32-2), status)
		assert.True(t, helloAnswer+body == out.String())
		assert.Equal(t, "a line\n", log.String())
	}
}

func TestClientErrors(t *testing.T) {
	do := func(t *testing.T, c *fcgitest.Client, body io.Reader) error {
		_, err := c.Do(t.Context(), serverParams(), body, io.Discard, io.Discard)
		return err
	}
	t.Run("no socket", func(t *testing.T) {
		_, err := fcgitest.Dial(t.Context(), "unix:/no/such/socket")
		assert.ErrorContains(t, err, "fcgitest: dial unix:/no/such/socket")
	})
	t.Run("overloaded", func(t *testing.T) {
		h := newWaiting()
		s := serve(t, fcgi.Limits{Requests: 1}, h.handle)
		w := s.dial(t)
		w.send(request(1, true, ""))
		<-h.begun
		c := s.client(t)
		assert.ErrorIs(t, do(t, c, nil), fcgitest.ErrOverloaded)
		assert.ErrorIs(t, do(t, c, nil), fcgitest.ErrOverloaded) // the connection stays open
	})
	t.Run("responder closes", func(t *testing.T) {
		s := serve(t, fcgi.Limits{}, func(ctx context.Context, r *fcgi.Request) {})
		c := s.client(t)
		s.Close()
		assert.ErrorIs(t, do(t, c, nil), fcgitest.ErrClosed)
		assert.ErrorIs(t, do(t, c, nil), fcgitest.ErrClosed)
	})
	t.Run("responder closes before the body ends", func(t *testing.T) {
		a, b := net.Pipe()
		defer a.Close()
		go func() {
			io.CopyN(io.Discard, b, 40_000)
			b.Close()
		}()
		body := strings.NewReader(strings.Repeat("b", 100_000))
		assert.ErrorIs(t, do(t, fcgitest.NewClient(a, true), body), fcgitest.ErrClosed)
	})
	t.Run("bad body", func(t *testing.T) {
		s := serve(t, fcgi.Limits{}, hello)
		bad := errors.New("bad body")
		assert.ErrorIs(t, do(t, s.client(t), io.MultiReader(strings.NewReader("abc"), iotest.ErrReader(bad))), bad)
	})
	t.Run("cancelled", func(t *testing.T) {
		h := newWaiting()
		c := serve(t, fcgi.Limits{}, h.handle).client(t)
		ctx, cancel := context.WithCancelCause(t.Context())
		late := errors.New("too late")
		go func() {
			<-h.begun
			cancel(late)
		}()
		_, err := c.Do(ctx, nil, nil, io.Discard, io.Discard)
		assert.ErrorIs(t, err, late)
		assert.ErrorIs(t, <-h.causes, fcgi.ErrClosed)
	})
	t.Run("not kept", func(t *testing.T) {
		s := serve(t, fcgi.Limits{}, hello)
		c := fcgitest.NewClient(s.dial(t).Conn, false)
		assert.NoError(t, do(t, c, nil))
		assert.ErrorIs(t, do(t, c, nil), fcgitest.ErrClosed)
	})
	t.Run("not FastCGI", func(t *testing.T) {
		a, b := net.Pipe()
		defer a.Close()
		go func() {
			io.CopyN(io.Discard, b, 10)
			go io.Copy(io.Discard, b)
			io.WriteString(b, "HTTP/1.0 400 Bad Request\r\n\r\n")
		}()
		assert.ErrorIs(t, do(t, fcgitest.NewClient(a, true), nil), fcgitest.ErrProtocol)
	})
}

// Our client gets the same response from our server and from net/http/fcgi.
func TestAgainstStandardLibrary(t *testing.T) {
	path := filepath.Join(t.TempDir(), "std")
	l, err := net.Listen("unix", path)
	require.NoError(t, err)
	defer l.Close()
	go stdfcgi.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		w.Header().Set("Date", "today") // it would add one
		io.WriteString(w, r.Method+" "+r.UserAgent()+" ")
		io.Copy(w, r.Body)
	}))
	ours := serve(t, fcgi.Limits{}, func(ctx context.Context, r *fcgi.Request) {
		io.WriteString(r.Stdout, "Status: 200 OK\r\nContent-Type: text/plain\r\nDate: today\r\n\r\n")
		io.WriteString(r.Stdout, r.Params["REQUEST_METHOD"]+" "+r.Params["HTTP_USER_AGENT"]+" ")
		io.Copy(r.Stdout, r.Stdin)
	})
	for _, n := range []int{0, 1, 100, 65535, 65536, 300000} {
		body := strings.Repeat("b", n)
		params := map[string]string{
			"REQUEST_METHOD": "POST", "SERVER_PROTOCOL": "HTTP/1.1", "REQUEST_URI": "/", "HTTP_HOST": "localhost",
			"HTTP_USER_AGENT": strings.Repeat("u", n%1000),
		}
		var answers []string
		for _, spec := range []string{"unix:" + path, "unix:" + ours.addr} {
			c, err := fcgitest.Dial(t.Context(), spec)
			require.NoError(t, err)
			var out strings.Builder
			_, err = c.Do(t.Context(), params, strings.NewReader(body), &out, io.Discard)
			require.NoError(t, err)
			c.Close()
			answers = append(answers, out.String())
		}
		require.True(t, answers[0] == answers[1], "%d bytes: %.200q\n%.200q", n, answers[0], answers[1])
	}
}
