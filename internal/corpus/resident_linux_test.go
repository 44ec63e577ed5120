package corpus

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// With "resident: start" the first request starts the resident server, and of
// many first ones each is answered and one starts it. Killed, it is started again.
func TestResidentStarts(t *testing.T) {
	s := NewSite(t)
	t.Cleanup(func() {
		if log, err := os.ReadFile(strings.TrimSuffix(s.Root, ".root") + ".resident.log"); t.Failed() {
			t.Logf("its log: %v\n%s", err, log)
		}
	})
	sock := s.Root + "-door"
	conf := "root: " + s.Root + "\nresident: start\npages: /srv/listed\n"
	require.NoError(t, os.WriteFile(s.Program("scripter.conf"), []byte(conf), 0o644))
	ask := func() {
		cmd := exec.Command(s.Program("scripter-cgi"))
		cmd.Env = []string{
			"GATEWAY_INTERFACE=CGI/1.1", "REQUEST_METHOD=GET", "SCRIPT_NAME=/ready.fcgi", "REQUEST_URI=/ready.fcgi",
		}
		var log strings.Builder
		cmd.Stderr = &log
		out, err := cmd.Output()
		assert.NoError(t, err)
		assert.Contains(t, string(out), "\r\n\r\nready")
		assert.Empty(t, log.String())
	}
	var visitors sync.WaitGroup
	for range 6 {
		visitors.Go(ask)
	}
	visitors.Wait()
	first := listener(t, sock, 0)
	command, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", first))
	require.NoError(t, err)
	assert.Contains(t, string(command), "--pages\x00/srv/listed",
		"it may use the same folders as the request that starts it")
	time.Sleep(100 * time.Millisecond)
	ask()
	require.NoError(t, syscall.Kill(first, syscall.SIGKILL))
	require.Eventually(t, func() bool {
		nc, err := net.Dial("unix", sock)
		if err == nil {
			nc.Close()
		}
		return err != nil
	}, 20*time.Second, 10*time.Millisecond)
	ask()
	second := listener(t, sock, first)
	require.NoError(t, syscall.Kill(second, syscall.SIGTERM))
	require.Eventually(t, func() bool {
		_, err := os.Lstat(sock)
		return os.IsNotExist(err)
	}, 20*time.Second, 10*time.Millisecond)

	log, err := os.ReadFile(filepath.Join(filepath.Dir(s.Root), "scripter.resident.log"))
	require.NoError(t, err)
	assert.Equal(t, 2, strings.Count(string(log), "msg=listening"), string(log))
}

// listener waits until another process than old listens at sock, and gives
// its number. The process ends with the test.
func listener(t *testing.T, sock string, old int) (pid int) {
	t.Helper()
	require.Eventually(t, func() bool {
		nc, err := net.Dial("unix", sock)
		if err != nil {
			return false
		}
		defer nc.Close()
		raw, err := nc.(*net.UnixConn).SyscallConn()
		require.NoError(t, err)
		require.NoError(t, raw.Control(func(fd uintptr) {
			peer, err := syscall.GetsockoptUcred(int(fd), syscall.SOL_SOCKET, syscall.SO_PEERCRED)
			require.NoError(t, err)
			pid = int(peer.Pid)
		}))
		return pid != old
	}, 20*time.Second, 10*time.Millisecond)
	t.Cleanup(func() { syscall.Kill(pid, syscall.SIGKILL) })
	return pid
}
