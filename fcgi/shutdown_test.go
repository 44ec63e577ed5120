package fcgi_test

import (
	"context"
	"io"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/fcgi"
	"scripter/internal/fcgitest"
)

// Shutdown finishes running requests, closes idle connections and accepts no new ones.
func TestShutdown(t *testing.T) {
	goOn, begun := make(chan struct{}), make(chan bool)
	s := serve(t, fcgi.Limits{}, func(ctx context.Context, r *fcgi.Request) {
		if r.ID == 1 {
			close(begun)
			<-goOn
		}
		assert.NoError(t, ctx.Err())
		io.WriteString(r.Stdout, "done")
	})
	running, idle, half, fresh := s.dial(t), s.dial(t), s.dial(t), s.dial(t)
	running.send(request(1, true, ""))
	idle.send(request(2, true, ""))
	idle.wantAnswer(2, "done")
	req := request(3, true, "")
	half.send(req[:16])
	half.wantTaken()
	half.send(req[16:100])
	<-begun

	down := make(chan error, 1)
	go func() { down <- s.Shutdown(context.Background()) }()
	idle.wantClosed()
	half.send(req[100:])
	half.wantAnswer(3, "done")
	half.wantClosed()
	require.Eventually(t, func() bool {
		nc, err := net.Dial(s.network, s.addr)
		if err == nil {
			nc.Close()
		}
		return err != nil
	}, patience, time.Millisecond)
	select {
	case err := <-down:
		t.Fatal("shut down with a request running: ", err)
	case <-time.After(50 * time.Millisecond):
	}
	close(goOn)
	running.wantAnswer(1, "done")
	running.wantClosed()
	fresh.wantClosed() // after a while: its first request might be on its way
	assert.NoError(t, <-down)
	assert.ErrorIs(t, s.Serve(newPipeListener()), fcgi.ErrServerClosed)
}

func TestShutdownIsBounded(t *testing.T) {
	h := newWaiting()
	s := serve(t, fcgi.Limits{}, h.handle)
	w := s.dial(t)
	w.send(request(1, true, ""))
	<-h.begun
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	assert.ErrorIs(t, s.Shutdown(ctx), context.DeadlineExceeded)
	assert.ErrorIs(t, <-h.causes, fcgi.ErrServerClosed)
	w.wantClosed()
}

func TestShutdownOfAnUnusedServer(t *testing.T) {
	s := &fcgi.Server{Handler: hello}
	assert.NoError(t, s.Shutdown(t.Context()))
	assert.ErrorIs(t, s.Serve(newPipeListener()), fcgi.ErrServerClosed)
}

// A restart under load drops no request. The client connects for each request, as web servers
// do, and tries again only if the connection was refused, or was idle for longer than a server
// waits when it shuts down.
func TestShutdownUnderLoad(t *testing.T) {
	spec := "unix:" + filepath.Join(t.TempDir(), "s")
	var answered atomic.Int64
	stop := make(chan struct{})
	var clients sync.WaitGroup
	for range 4 {
		clients.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				came := time.Now()
				c, err := fcgitest.Dial(context.Background(), spec)
				if err != nil {
					time.Sleep(time.Millisecond)
					continue
				}
				var out strings.Builder
				_, err = c.Do(context.Background(), map[string]string{"SCRIPT_NAME": "/x"}, nil, &out, io.Discard)
				c.Close()
				if err != nil && time.Since(came) > 400*time.Millisecond {
					continue
				}
				if !assert.NoError(t, err) || !assert.Equal(t, "hello /x ", out.String()) {
					return
				}
				answered.Add(1)
			}
		})
	}
	for range 5 {
		l, err := fcgi.Listen(spec, fcgi.ListenOptions{})
		require.NoError(t, err)
		s := &fcgi.Server{Handler: hello}
		go s.Serve(l)
		before := answered.Load()
		require.Eventually(t, func() bool { return answered.Load() >= before+20 }, patience, time.Millisecond)
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		assert.NoError(t, s.Shutdown(ctx))
		cancel()
	}
	close(stop)
	clients.Wait()
}
