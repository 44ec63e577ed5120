package fcgi

import (
	"context"
	"io"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/internal/fcgitest"
)

// An interrupt may come after the wait that it is for. It does not end the next wait.
func TestInterruptOfAnEarlierWait(t *testing.T) {
	l, err := Listen("unix:"+filepath.Join(t.TempDir(), "s"), ListenOptions{})
	require.NoError(t, err)
	s := &Server{Handler: func(ctx context.Context, r *Request) {
		r.c().nc.SetWriteDeadline(past)
		io.Copy(r.Stdout, r.Stdin)
	}}
	s.init() // the test reads the connections, maybe before Serve has begun
	go s.Serve(l)
	defer s.Close()
	nc, err := net.Dial("unix", l.Addr().String())
	require.NoError(t, err)
	c := fcgitest.NewClient(nc, true)
	defer c.Close()
	body := strings.Repeat("x", 200000)
	for range 3 {
		for _, c := range s.snapshot(nil) {
			c.nc.SetReadDeadline(past)
		}
		time.Sleep(2 * time.Millisecond)
		var out strings.Builder
		_, err = c.Do(t.Context(), nil, strings.NewReader(body), &out, io.Discard)
		require.NoError(t, err)
		assert.True(t, body == out.String())
	}
}

func (r *Request) c() *conn { return r.Stdout.(*stdout).c }
