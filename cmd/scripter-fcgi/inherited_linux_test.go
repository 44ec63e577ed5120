package main

import (
	"bytes"
	"context"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/internal/fcgitest"
)

// startOn starts the program with a listening socket: as descriptor 0, or as
// systemd passes it.
func startOn(t *testing.T, f *os.File, systemd bool, args ...string) *process {
	t.Helper()
	exe, err := os.Executable()
	require.NoError(t, err)
	if systemd {
		cmd := exec.Command("/bin/sh", append([]string{"-c", `LISTEN_FDS=1 LISTEN_PID=$$ exec "$0" "$@"`, exe}, args...)...)
		cmd.ExtraFiles = []*os.File{f}
		return launch(t, cmd)
	}
	cmd := exec.Command(exe, args...)
	cmd.Stdin = f
	return launch(t, cmd)
}

// TestHandOver restarts the program as systemd does, with its socket and its store of descriptors, while a client keeps
// its connection: the client notices nothing.
func TestHandOver(t *testing.T) {
	root := makeRoot(t)
	scripts(t, root, map[string]string{"hello": `return "hello"`})
	l, err := net.Listen("unix", filepath.Join(t.TempDir(), "s"))
	require.NoError(t, err)
	defer l.Close()
	f, err := l.(*net.UnixListener).File()
	require.NoError(t, err)
	defer f.Close()
	exe, err := os.Executable()
	require.NoError(t, err)
	sd := newSystemd(t)
	passed := []*os.File{f}
	start := func() *process {
		cmd := exec.Command("/bin/sh", "-c", `LISTEN_PID=$$ exec "$0" "$@"`, exe, "--root", root, "--workers", "2", "--hand-over")
		cmd.ExtraFiles = passed
		cmd.Env = []string{"LISTEN_FDS=" + strconv.Itoa(len(passed)), "NOTIFY_SOCKET=" + sd.path}
		return launch(t, cmd)
	}
	p := start()
	sd.until("READY=1")
	nc, err := net.Dial("unix", l.Addr().String())
	require.NoError(t, err)
	client := fcgitest.NewClient(nc, true)
	defer client.Close()
	for range 3 {
		var out bytes.Buffer
		_, err := client.Do(t.Context(), map[string]string{"REQUEST_METHOD": "GET", "SCRIPT_NAME": "/hello.fcgi",
			"REQUEST_URI": "/hello.fcgi"}, strings.NewReader(""), &out, io.Discard)
		require.NoError(t, err, p.log)
		assert.Contains(t, out.String(), "hello")
		p.signal(syscall.SIGTERM)
		stored := sd.untilFile("FDSTORE=1\nFDNAME=connection")
		assert.Zero(t, p.end(), p.log)
		passed = []*os.File{f, stored}
		p = start()
		sd.until("READY=1")
		stored.Close()
	}
	p.signal(syscall.SIGTERM)
	assert.Zero(t, p.end(), p.log)

	p = startProcess(t, nil, "--root", root, "--hand-over", "--workers", "0")
	assert.Equal(t, 2, p.end())
	assert.Contains(t, p.log.String(), "--hand-over needs the socket of systemd, and workers")
}

// TestInheritedSocket checks that workers serve the socket that the program was started with. When
// the program ends, the next one serves the clients that wait there.
func TestInheritedSocket(t *testing.T) {
	for _, c := range []struct {
		name, network string
		systemd       bool
		args          []string
	}{
		{"descriptor 0, unix", "unix", false, []string{"--workers", "2"}},
		{"descriptor 0, tcp", "tcp", false, []string{"--workers", "2"}},
		{"systemd, unix", "unix", true, nil},
		{"systemd, tcp", "tcp", true, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			root := makeRoot(t)
			scripts(t, root, map[string]string{"hello": `return "hello"`})
			addr := "127.0.0.1:0"
			if c.network == "unix" {
				addr = filepath.Join(t.TempDir(), "s")
			}
			l, err := net.Listen(c.network, addr)
			require.NoError(t, err)
			defer l.Close()
			f, err := l.(interface{ File() (*os.File, error) }).File()
			require.NoError(t, err)
			defer f.Close()
			asked := func(keep bool) string {
				ctx, cancel := context.WithTimeout(t.Context(), patience)
				defer cancel()
				nc, err := net.Dial(c.network, l.Addr().String())
				require.NoError(t, err)
				client := fcgitest.NewClient(nc, keep)
				defer client.Close()
				var out bytes.Buffer
				vars := map[string]string{"REQUEST_METHOD": "GET", "SCRIPT_NAME": "/hello.fcgi", "REQUEST_URI": "/hello.fcgi"}
				_, err = client.Do(ctx, vars, strings.NewReader(""), &out, io.Discard)
				assert.NoError(t, err)
				return out.String()
			}
			args := append(c.args, "--root", root, "--door", "off", "--allow", "127.0.0.1")
			p := startOn(t, f, c.systemd, args...)
			for i := range 6 {
				assert.Contains(t, asked(i%2 == 0), "hello")
			}
			assert.GreaterOrEqual(t, len(children(p.cmd.Process.Pid)), 2, "workers answer")
			p.signal(syscall.SIGTERM)
			assert.Zero(t, p.end(), p.log)
			waits := make(chan string, 1)
			go func() { waits <- asked(false) }()
			time.Sleep(100 * time.Millisecond)
			assert.Empty(t, waits, "nobody is there to answer")
			startOn(t, f, c.systemd, args...)
			assert.Contains(t, <-waits, "hello")
		})
	}
}

// TestSharedSocket checks that the program answers requests and ends although another process
// that shares its socket changes whether accept blocks.
func TestSharedSocket(t *testing.T) {
	l, err := net.Listen("unix", filepath.Join(t.TempDir(), "s"))
	require.NoError(t, err)
	defer l.Close()
	f, err := l.(*net.UnixListener).File()
	require.NoError(t, err)
	defer f.Close()
	root := makeRoot(t)
	scripts(t, root, map[string]string{"hello": `return "hello"`})
	p := startOn(t, f, false, "--workers", "2", "--root", root, "--door", "off")
	sock := l.Addr().String()
	require.Contains(t, askAt(t, sock, "/hello.fcgi"), "hello")
	var slow sync.WaitGroup
	for range 2 {
		slow.Go(func() { assert.Contains(t, askAt(t, sock, "/slow.fcgi"), "slow") })
	}
	for range 20 { // while both workers are busy the first process accepts
		require.NoError(t, syscall.SetNonblock(int(f.Fd()), false))
		time.Sleep(20 * time.Millisecond)
	}
	for range 3 {
		slow.Go(func() { assert.Contains(t, askAt(t, sock, "/hello.fcgi"), "hello") })
		require.NoError(t, syscall.SetNonblock(int(f.Fd()), false))
	}
	slow.Wait()
	p.signal(syscall.SIGTERM)
	require.NoError(t, syscall.SetNonblock(int(f.Fd()), false))
	assert.Zero(t, p.end(), p.log)
}
