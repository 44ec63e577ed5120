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

// The watcher may interrupt a wait that has just ended; the next wait is not to
// pay for it.
func TestInterruptOfAnEarlierWait(t *testing.T) {
	l, err := Listen("unix:"+filepath.Join(t.TempDir(), "s"), ListenOptions{})
	require.NoError(t, err)
	s := &Server{Handler: func(ctx context.Context, r *Request) {
		r.c().nc.SetWriteDeadline(past)
		io.Copy(r.Stdout, r.Stdin)
	}}
	s.init() // the test looks at the connections before Serve may have begun
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

// An hour in which the process stood still is no hour of anybody's deadline.
func TestClockOfAProcessThatStoodStill(t *testing.T) {
	var k clock
	k.init(10 * time.Millisecond)
	by := k.after(time.Minute)
	k.base = k.base.Add(-time.Hour)
	k.discount(time.Hour)
	assert.Less(t, k.refresh(), by)
	k.discount(15 * time.Millisecond) // a tick and a half is nothing unusual
	k.base = k.base.Add(-2 * time.Minute)
	assert.Greater(t, k.refresh(), by)
}

func TestTick(t *testing.T) {
	assert.Equal(t, 50*time.Millisecond, Limits{}.withDefaults().tick())
	assert.Equal(t, 15*time.Millisecond, Limits{Write: 60 * time.Millisecond}.withDefaults().tick())
	assert.Equal(t, 2*time.Millisecond, Limits{Idle: 1}.withDefaults().tick())
}
