//go:build linux

package workers_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"scripter/internal/fcgitest"
	"scripter/workers"
)

// TestHandOver replaces a pool by another one, again and again, while clients send requests on connections that
// they keep, and on new ones. Each request is answered.
func TestHandOver(t *testing.T) {
	socket, addr := listener(t, "unix")
	exe, err := os.Executable()
	require.NoError(t, err)
	var left []*os.File // by the pool before
	o := workers.Options{
		Command: []string{exe}, Listeners: []*os.File{socket},
		HandOver: func(fd int) error {
			other, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
			left = append(left, os.NewFile(uintptr(other), "connection"))
			return err
		},
		Lost: func(l workers.Loss) []byte { return []byte("Status: 500 Lost\r\n\r\n" + string(l.Reason)) },
		Log:  func(err error) { t.Error(err) },
	}
	p, err := workers.Start(o)
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	var answered atomic.Int64
	var clients sync.WaitGroup
	for i := range 8 {
		clients.Go(func() {
			keep := i%4 != 0
			var c *fcgitest.Client
			for n := 0; ctx.Err() == nil; n++ {
				if c == nil || !keep {
					nc, err := net.Dial(addr.Network(), addr.String())
					if !assert.NoError(t, err) {
						return
					}
					c = fcgitest.NewClient(nc, keep)
				}
				body := fmt.Sprint("client ", i, " request ", n, strings.Repeat(".", n%7*1000))
				text, err := ask(c, "echo", body)
				if !assert.NoError(t, err, "client %d, request %d", i, n) || !assert.Contains(t, text, body) {
					return
				}
				answered.Add(1)
				if !keep {
					c.Close()
				}
			}
			c.Close()
		})
	}
	for range 5 {
		before := answered.Load()
		require.Eventually(t, func() bool { return answered.Load() > before+50 || t.Failed() }, patience, time.Millisecond)
		down, cancel := context.WithTimeout(context.Background(), patience)
		require.NoError(t, p.Shutdown(down))
		cancel()
		assert.NotEmpty(t, left, "connections are kept")
		o.Adopted, left = left, nil
		p, err = workers.Start(o)
		require.NoError(t, err)
	}
	before := answered.Load()
	require.Eventually(t, func() bool { return answered.Load() > before+50 || t.Failed() }, patience, time.Millisecond)
	stop()
	clients.Wait()
	require.NoError(t, p.Shutdown(context.Background()))
	for _, f := range left {
		f.Close()
	}
}

// TestHandOverFails: if there is nobody who takes connections, they are closed in good order.
func TestHandOverFails(t *testing.T) {
	o := workers.Options{HandOver: func(int) error { return io.ErrClosedPipe }}
	p := start(t, o)
	c := p.client(t, true)
	_, err := ask(c, "echo", "x")
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	require.NoError(t, p.Shutdown(ctx))
	_, err = ask(c, "echo", "x")
	assert.Error(t, err)
}
