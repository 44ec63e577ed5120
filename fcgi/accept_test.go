package fcgi

import (
	"context"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/internal/fcgitest"
)

// A server that is shut down serves the connections that wait in its queue, also if it gets
// no processor time until the deadline of the queue has passed.
func TestQueueOfARetiredListener(t *testing.T) {
	spec := "unix:" + filepath.Join(t.TempDir(), "s")
	l, err := Listen(spec, ListenOptions{})
	require.NoError(t, err)
	defer l.Close()
	var waiting []*fcgitest.Client
	for range 20 {
		c, err := fcgitest.Dial(t.Context(), spec)
		require.NoError(t, err)
		defer c.Close()
		waiting = append(waiting, c)
	}
	s := &Server{Handler: func(_ context.Context, r *Request) { io.WriteString(r.Stdout, "served") }}
	s.init()
	s.closing.Store(true)
	drainListener(l)
	time.Sleep(2 * queueGrace)
	ended := make(chan error, 1)
	go func() {
		err := s.accept(l)
		l.Close() // this also closes the connections that are left
		ended <- err
	}()
	for _, c := range waiting {
		var out strings.Builder
		_, err := c.Do(t.Context(), nil, nil, &out, io.Discard)
		require.NoError(t, err)
		assert.Equal(t, "served", out.String())
	}
	assert.ErrorIs(t, <-ended, ErrServerClosed)
}
