package main

import (
	"context"
	"io"
	"net"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/gateway"
	"scripter/internal/testlog"
)

func TestListenResident(t *testing.T) {
	file := makeRoot(t)
	l, path, err := listenResident(file)
	require.NoError(t, err)
	want, err := gateway.ResidentSocket(file)
	require.NoError(t, err)
	assert.Equal(t, want, path)
	info, err := os.Lstat(path)
	require.NoError(t, err)
	assert.Equal(t, os.ModeSocket|0o600, info.Mode())

	_, _, err = listenResident(file)
	assert.ErrorContains(t, err, "another process answers")

	// A dead server has left its socket, and many start at the same time: one gets it.
	require.NoError(t, l.Close())
	dead, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	require.NoError(t, err)
	dead.SetUnlinkOnClose(false)
	require.NoError(t, dead.Close())
	got := make(chan net.Listener)
	for range 8 {
		go func() {
			l, _, _ := listenResident(file)
			got <- l
		}()
	}
	socks := 0
	for range 8 {
		if l := <-got; l != nil {
			socks++
			defer l.Close()
		}
	}
	assert.Equal(t, 1, socks)
}

// TestIdleExit checks that a server with the resident socket alone runs while requests
// come, and that it ends some time after the last one.
func TestIdleExit(t *testing.T) {
	for range 10 {
		if testIdleExit(t) {
			return
		}
	}
	require.Fail(t, "the machine stood still each time")
}

// testIdleExit gives false when the machine stood still for so long that no request
// could come: then the program is right to leave.
func testIdleExit(t *testing.T) bool {
	file := makeRoot(t)
	path, err := gateway.ResidentSocket(file)
	require.NoError(t, err)
	var log testlog.Buffer
	done := make(chan int, 1)
	begun := time.Now()
	go func() {
		done <- run(context.Background(), []string{"--root", file, "--listen", "door", "--idle-exit", "3s"}, nil,
			io.Discard, &log)
	}()
	require.Eventually(t, func() bool { _, err := os.Lstat(path); return err == nil || len(done) > 0 }, patience,
		5*time.Millisecond)
	var use lastUse
	use.move(path)
	last, pause := begun, time.Duration(0)
	for time.Since(begun) < 5*time.Second { // longer than it stays without
		use.note()
		pause, last = max(pause, time.Since(last)), time.Now()
		time.Sleep(100 * time.Millisecond)
	}
	pause = max(pause, time.Since(last))
	select {
	case code := <-done:
		require.Greater(t, pause, 2*time.Second, "it left while requests came: %d %s", code, log.String())
		return false
	default:
	}
	select {
	case code := <-done:
		assert.Zero(t, code, log.String())
	case <-time.After(patience):
		require.Fail(t, "it stayed")
	}
	assert.Greater(t, time.Since(begun), 8*time.Second-useInterval)
	_, err = os.Lstat(path)
	assert.ErrorIs(t, err, os.ErrNotExist)
	return true
}

func TestResidentOptions(t *testing.T) {
	for _, args := range [][]string{
		{"--listen", "door", "--door", "off"},
		{"--door", "open"},
		{"--idle-exit", "10m"},
		{"--listen", "unix:/x", "--idle-exit", "10m"},
		{"--listen", "door", "--idle-exit", "-1s"},
	} {
		var log testlog.Buffer
		assert.Equal(t, 2, run(context.Background(), args, nil, io.Discard, &log), args)
		assert.NotEmpty(t, log.String())
	}
}
