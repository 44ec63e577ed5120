package main

import (
	"context"
	"net"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/gateway"
	"scripter/internal/testlog"
)

func TestListenDoor(t *testing.T) {
	file := makeRoot(t)
	l, path, err := listenDoor(file)
	require.NoError(t, err)
	want, err := gateway.DoorPath(file)
	require.NoError(t, err)
	assert.Equal(t, want, path)
	info, err := os.Lstat(path)
	require.NoError(t, err)
	assert.Equal(t, os.ModeSocket|0o600, info.Mode())

	_, _, err = listenDoor(file)
	assert.ErrorContains(t, err, "another process answers")

	// Many that come when a dead one has left its socket: one gets the door.
	require.NoError(t, l.Close())
	dead, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	require.NoError(t, err)
	dead.SetUnlinkOnClose(false)
	require.NoError(t, dead.Close())
	got := make(chan net.Listener)
	for range 8 {
		go func() {
			l, _, _ := listenDoor(file)
			got <- l
		}()
	}
	doors := 0
	for range 8 {
		if l := <-got; l != nil {
			doors++
			defer l.Close()
		}
	}
	assert.Equal(t, 1, doors)
}

func TestIdleExit(t *testing.T) {
	file := makeRoot(t)
	path, err := gateway.DoorPath(file)
	require.NoError(t, err)
	var log testlog.Buffer
	done := make(chan int)
	begun := time.Now()
	go func() {
		done <- run(context.Background(), []string{"--root", file, "--listen", "door", "--idle-exit", "3s"}, nil, &log)
	}()
	require.Eventually(t, func() bool { _, err := os.Lstat(path); return err == nil }, 20*time.Second, 5*time.Millisecond)
	use := doorUse{path: path}
	for time.Since(begun) < 5*time.Second { // longer than it stays without
		use.note()
		time.Sleep(100 * time.Millisecond)
	}
	select {
	case code := <-done:
		require.Fail(t, "it left while requests came", "%d %s", code, log.String())
	default:
	}
	select {
	case code := <-done:
		assert.Zero(t, code, log.String())
	case <-time.After(40 * time.Second):
		require.Fail(t, "it stayed")
	}
	assert.Greater(t, time.Since(begun), 8*time.Second-useEvery)
	_, err = os.Lstat(path)
	assert.ErrorIs(t, err, os.ErrNotExist)
}

func TestDoorOptions(t *testing.T) {
	for _, args := range [][]string{
		{"--listen", "door", "--door", "off"},
		{"--door", "open"},
		{"--idle-exit", "10m"},
		{"--listen", "unix:/x", "--idle-exit", "10m"},
		{"--listen", "door", "--idle-exit", "-1s"},
	} {
		var log testlog.Buffer
		assert.Equal(t, 2, run(context.Background(), args, nil, &log), args)
		assert.NotEmpty(t, log.String())
	}
}
