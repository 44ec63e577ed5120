//go:build linux

package workers_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"scripter/fcgi"
	"scripter/internal/fcgitest"
	"scripter/workers"
)

// masterEnvironment is the variable that makes the test program the master of a pool. It holds
// the socket.
const masterEnvironment = "TEST_MASTER"

// maxEnvironment is the variable that holds the largest number of its workers.
const maxEnvironment = "TEST_MASTER_MOST"

func serveMaster(addr string) error {
	os.Unsetenv(masterEnvironment)
	l, err := fcgi.Listen(addr, fcgi.ListenOptions{})
	if err != nil {
		return err
	}
	f, remove, err := fcgi.Detach(l)
	if err != nil {
		return err
	}
	defer remove()
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	most, _ := strconv.Atoi(os.Getenv(maxEnvironment))
	p, err := workers.Start(workers.Options{
		Max:       most,
		Command:   []string{exe},
		Listeners: []*os.File{f},
		Drain:     true,
		Lost:      func(l workers.Loss) []byte { return []byte("Status: 500 Lost\r\n\r\n" + string(l.Reason)) },
		Log:       func(err error) { fmt.Fprintln(os.Stderr, err) },
	})
	if err != nil {
		return err
	}
	end := make(chan os.Signal, 1)
	signal.Notify(end, syscall.SIGTERM)
	<-end
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return p.Shutdown(ctx)
}

// master is a pool in a process of its own.
type master struct {
	*pool
	cmd *exec.Cmd
}

// startMaster starts a master in a shell that has run the commands before.
func startMaster(t *testing.T, addr, before string) master {
	t.Helper()
	exe, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command("/bin/sh", "-c", before+"\nexec "+exe)
	cmd.Env = append(os.Environ(), masterEnvironment+"="+addr)
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		cmd.Wait()
	})
	path := strings.TrimPrefix(addr, "unix:")
	m := master{&pool{addrs: []net.Addr{&net.UnixAddr{Name: path, Net: "unix"}}}, cmd}
	require.Eventually(t, func() bool {
		nc, err := m.dial()
		if err == nil {
			nc.Close()
		}
		return err == nil && len(children(t, cmd.Process.Pid)) >= 2
	}, patience, 10*time.Millisecond)
	return m
}

// children returns the child processes of pid.
func children(t *testing.T, pid int) (pids []int) {
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	require.NoError(t, err)
	for _, name := range stats {
		b, err := os.ReadFile(name)
		if err != nil {
			continue // it has ended
		}
		_, rest, _ := strings.Cut(string(b), ") ")
		fields := strings.Fields(rest)
		if parent, _ := strconv.Atoi(fields[1]); parent == pid && fields[0] != "Z" {
			child, _ := strconv.Atoi(filepath.Base(filepath.Dir(name)))
			pids = append(pids, child)
		}
	}
	return pids
}

func alive(pid int) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, state, _ := strings.Cut(string(b), ") ")
	return err == nil && !strings.HasPrefix(state, "Z")
}

// descriptors returns how many open descriptors a process has.
func descriptors(pid int) int {
	fds, _ := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	return len(fds)
}

// fewer returns the shell command that lowers the limit of descriptors to n.
func fewer(n int) string {
	return fmt.Sprintf("{ ulimit -Sn %d && ulimit -Hn %[1]d; } 2>/dev/null || test $(ulimit -n) -lt %[1]d || exit 1", n)
}

// leave limits this process to n descriptors more than it has open.
func leave(n int) error {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return err
	}
	limit.Cur = min(limit.Max, uint64(descriptors(os.Getpid())+n))
	return unix.Setrlimit(unix.RLIMIT_NOFILE, &limit)
}

// asked sends one request on a new connection, and expects the response in time.
func (p *pool) asked(t *testing.T, query, body string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	text, err := p.tried(ctx, t, query, body)
	assert.NoError(t, err)
	return text
}

// tried sends one request on a new connection.
func (p *pool) tried(ctx context.Context, t *testing.T, query, body string) (string, error) {
	t.Helper()
	c := p.client(t, true)
	defer c.Close()
	return askWithin(ctx, c, query, body)
}

// When the master dies, its workers finish their requests and end. They close the listening
// socket at once, so that the next master can begin.
func TestMasterKilled(t *testing.T) {
	dir := t.TempDir()
	addr, end := "unix:"+filepath.Join(dir, "s"), filepath.Join(dir, "end")
	m := startMaster(t, addr, "")
	var wg sync.WaitGroup
	for range 2 {
		c := m.client(t, true)
		wg.Go(func() {
			text, err := ask(c, "wait="+end, "late")
			assert.NoError(t, err)
			assert.Contains(t, text, "late")
		})
	}
	require.Eventually(t, func() bool { return atGate(t, end) == 2 }, patience, time.Millisecond, "both run")
	pids := children(t, m.cmd.Process.Pid)
	require.NoError(t, m.cmd.Process.Kill())
	m.cmd.Wait()
	require.Eventually(t, func() bool {
		l, err := fcgi.Listen(addr, fcgi.ListenOptions{})
		if err == nil {
			l.Close()
		}
		return err == nil
	}, patience, time.Millisecond)
	require.NoError(t, os.WriteFile(end, nil, 0o600))
	wg.Wait()
	require.Eventually(t, func() bool { return !slices.ContainsFunc(pids, alive) }, patience, 10*time.Millisecond)
}

// A worker that replaces a killed one does not inherit its limits.
func TestAfterKill(t *testing.T) {
	p := start(t, workers.Options{})
	for range 2 {
		assert.Equal(t, "time", p.asked(t, "hang=100", ""))
	}
	before := func() int { return p.Status().Replaced }
	require.Equal(t, 2, before())
	var wg sync.WaitGroup
	for range 5 { // enough that each index is used again
		wg.Go(func() { assert.Contains(t, p.asked(t, "sleep=1500", "slow"), "slow") })
	}
	wg.Wait()
	assert.Equal(t, 2, before(), "other workers were killed")
}

// A reload replaces all processes, also if the pool has Max of them.
func TestReloadAtMost(t *testing.T) {
	p := start(t, workers.Options{Min: 2, Max: 2})
	first := p.pids()
	require.NoError(t, p.Reload(p.o))
	require.Eventually(t, func() bool {
		now := p.pids()
		for pid := range first {
			if now[pid] {
				return false
			}
		}
		return len(now) == 2
	}, patience, 10*time.Millisecond)
	assert.Contains(t, p.asked(t, "", "again"), "again")
}

func (p *pool) pids() map[int]bool {
	ws := p.Status().Workers
	pids := map[int]bool{}
	for _, w := range ws {
		pids[w.Pid] = true
	}
	return pids
}

// A shutdown answers a request that has arrived, also if there is no worker.
func TestShutdownWithoutWorkers(t *testing.T) {
	p := start(t, workers.Options{Min: 1, Max: 1, Wait: patience})
	gate := filepath.Join(t.TempDir(), "gate")
	var wg sync.WaitGroup
	wg.Go(func() { assert.Equal(t, "crash", p.asked(t, "waitcrash="+gate, "")) })
	require.Eventually(t, func() bool { return atGate(t, gate) == 1 }, patience, time.Millisecond)
	var waiting []net.Conn
	for range 3 {
		nc, err := p.dial()
		require.NoError(t, err)
		defer nc.Close()
		_, err = nc.Write(wire(false, "ordinary"))
		require.NoError(t, err)
		waiting = append(waiting, nc)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	down := make(chan error, 1)
	go func() { down <- p.Shutdown(ctx) }()
	time.Sleep(50 * time.Millisecond) // usually the shutdown has begun after that time
	require.NoError(t, os.WriteFile(gate, nil, 0o600))
	for _, nc := range waiting {
		nc.SetReadDeadline(time.Now().Add(patience))
		b, err := io.ReadAll(nc)
		assert.NoError(t, err)
		assert.Contains(t, string(b), "ordinary")
	}
	require.NoError(t, <-down)
	wg.Wait()
	assert.Error(t, p.Reload(p.o), "nobody would end the new processes")
	assert.Empty(t, p.pids())
}

// If an idle worker is stopped, others do its work.
func TestStopped(t *testing.T) {
	p := start(t, workers.Options{Min: 2, Max: 4})
	c := p.client(t, true)
	_, err := ask(c, "", "")
	require.NoError(t, err)
	require.Eventually(t, func() bool { return p.running() == 0 }, patience, time.Millisecond)
	time.Sleep(50 * time.Millisecond) // until it has released the connection
	var stopped int
	for pid := range p.pids() {
		stopped = pid
	}
	require.NoError(t, syscall.Kill(stopped, syscall.SIGSTOP))
	defer syscall.Kill(stopped, syscall.SIGCONT)
	for range 4 {
		assert.Contains(t, p.asked(t, "", "new"), "new")
		text, err := ask(c, "", "known")
		assert.NoError(t, err)
		assert.Contains(t, text, "known")
	}
}

// A worker that makes no progress in a request, and runs no script, is killed.
func TestHung(t *testing.T) {
	p := start(t, workers.Options{Hung: 5 * time.Second})
	assert.Equal(t, string(workers.Hung), p.asked(t, "stop", ""))
	assert.Contains(t, p.asked(t, "", "next"), "next")
}

// A worker that waits for parameters, or for a slow reader, does not count as free.
func TestSlowPeers(t *testing.T) {
	p := start(t, workers.Options{})
	for range 2 {
		nc, err := p.dial()
		require.NoError(t, err)
		defer nc.Close()
		head := []byte{1, 1, 0, 1, 0, 8, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 1, 4, 0, 1, 0xff, 0, 0, 0}
		_, err = nc.Write(append(head, make([]byte, 40<<10)...))
		require.NoError(t, err)
	}
	for range 2 { // the last piece is sent when the handler has returned
		nc, err := p.dial()
		require.NoError(t, err)
		defer nc.Close()
		u := nc.(*net.UnixConn)
		require.NoError(t, u.SetReadBuffer(4<<10))
		c := fcgitest.NewClient(nc, true)
		go c.Do(t.Context(), map[string]string{"QUERY_STRING": "big=60000"}, strings.NewReader(""), stuck{}, io.Discard)
	}
	time.Sleep(200 * time.Millisecond)
	assert.Contains(t, p.asked(t, "", "ordinary"), "ordinary")
}

// A worker that only sends a response does not count as one that runs a script.
func TestSendingIsNotRunning(t *testing.T) {
	p := start(t, workers.Options{Max: 2, Wait: time.Minute})
	for range 2 {
		nc, err := p.dial()
		require.NoError(t, err)
		defer nc.Close()
		c := fcgitest.NewClient(nc, true)
		variables := map[string]string{"QUERY_STRING": "scriptbig=4000000"}
		go c.Do(t.Context(), variables, strings.NewReader(""), stuck{}, io.Discard)
	}
	sending := func() bool {
		n := 0
		for _, w := range p.Status().Workers {
			if w.State == "running" || w.State == "reading" {
				n++
			}
		}
		return n == 2
	}
	require.Eventually(t, sending, patience, time.Millisecond)
	begun := time.Now()
	assert.Contains(t, p.asked(t, "", "ordinary"), "ordinary")
	assert.Less(t, time.Since(begun), 25*time.Second, "after the write limit of 30 s a worker is free, too")
}

type stuck struct{}

func (stuck) Write([]byte) (int, error) { select {} }

// FCGI_GET_VALUES may come before a request that wants the connection closed.
func TestValuesFirst(t *testing.T) {
	p := start(t, workers.Options{})
	nc, err := p.dial()
	require.NoError(t, err)
	defer nc.Close()
	_, err = nc.Write([]byte("\x01\x09\x00\x00\x00\x10\x00\x00\x0e\x00FCGI_MAX_CONNS"))
	require.NoError(t, err)
	nc.SetReadDeadline(time.Now().Add(patience))
	reply := make([]byte, 8)
	_, err = io.ReadFull(nc, reply)
	require.NoError(t, err)
	_, err = io.CopyN(io.Discard, nc, int64(reply[5])+int64(reply[6]))
	require.NoError(t, err)
	text, err := ask(fcgitest.NewClient(nc, false), "", "then")
	assert.NoError(t, err)
	assert.Contains(t, text, "then")
}

// If there is no room for a connection, its request is answered with an error page.
func TestNoRoom(t *testing.T) {
	p := start(t, workers.Options{Min: 4, Max: 4, Conns: 2, Waiting: 100})
	gate := filepath.Join(t.TempDir(), "gate")
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() { assert.Contains(t, p.asked(t, "wait="+gate, "slow"), "slow") })
	}
	require.Eventually(t, func() bool {
		return atGate(t, gate) == 2 && p.Status().Conns == 2
	}, patience, time.Millisecond)
	assert.Equal(t, string(workers.Refused), p.asked(t, "", ""))
	late := make([]*fcgitest.Client, 8)
	for i := range late { // they connect, and send nothing for a moment
		late[i] = p.client(t, i%2 == 0)
	}
	time.Sleep(100 * time.Millisecond)
	for _, c := range late {
		text, err := ask(c, "", "late")
		assert.NoError(t, err)
		assert.Equal(t, string(workers.Refused), text)
	}
	require.NoError(t, os.WriteFile(gate, nil, 0o600))
	wg.Wait()
	c := p.client(t, true)
	require.Eventually(t, func() bool {
		text, err := ask(c, "", "room again")
		if err != nil || text == string(workers.Refused) {
			c = p.client(t, true)
		}
		return strings.Contains(text, "room again")
	}, patience, 10*time.Millisecond)
}

// With few descriptors there are few connections, and all are served.
func TestFewDescriptors(t *testing.T) {
	addr := "unix:" + filepath.Join(t.TempDir(), "s")
	m := startMaster(t, addr, fewer(200))
	var idle []net.Conn
	for range affordable(t, 150, 1) { // more than it has descriptors for
		nc, err := m.dial()
		require.NoError(t, err)
		defer nc.Close()
		idle = append(idle, nc)
	}
	for i := range 20 {
		assert.Contains(t, m.asked(t, "", fmt.Sprint("ordinary ", i)), fmt.Sprint("ordinary ", i))
	}
	for _, nc := range idle {
		nc.Close()
	}
	for _, pid := range append(children(t, m.cmd.Process.Pid), m.cmd.Process.Pid) {
		require.Eventually(t, func() bool { return descriptors(pid) < 60 }, patience, 10*time.Millisecond, "they are closed")
	}
}

// With few descriptors, many slow bodies are answered or refused, with a page or by closing
// the connection. Neither they nor ordinary requests wait forever.
func TestFewDescriptorsForBodies(t *testing.T) {
	m := startMaster(t, "unix:"+filepath.Join(t.TempDir(), "s"), fewer(160)+"; export "+maxEnvironment+"=2")
	whole := wire(false, strings.Repeat("slow", 25_000))
	slow := make([]net.Conn, 80)
	for i := range slow {
		nc, err := m.dial()
		require.NoError(t, err)
		defer nc.Close()
		nc.SetDeadline(time.Now().Add(patience))
		nc.Write(whole[:5000+i*500]) // it may already be refused
		slow[i] = nc
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for range 20 {
		text, err := m.tried(ctx, t, "", "ordinary")
		require.NoError(t, ctx.Err())
		assert.True(t, err != nil || strings.HasSuffix(text, " ordinary") || text == string(workers.Refused), text)
	}
	var wg sync.WaitGroup
	var served atomic.Int64
	for i, nc := range slow {
		wg.Go(func() {
			nc.Write(whole[5000+i*500:])
			b, err := io.ReadAll(nc)
			switch text := string(b); {
			case strings.Contains(text, "slowslow"):
				served.Add(1)
			case len(text) == 0:
				assert.NotErrorIs(t, err, os.ErrDeadlineExceeded)
			case !errors.Is(err, syscall.ECONNRESET): // a peer that is still writing may not receive the page
				assert.NoError(t, err)
				assert.Contains(t, text, string(workers.Refused))
			}
		})
	}
	wg.Wait()
	assert.Positive(t, served.Load())
	for _, pid := range append(children(t, m.cmd.Process.Pid), m.cmd.Process.Pid) {
		require.Eventually(t, func() bool { return descriptors(pid) < 60 }, patience, 10*time.Millisecond, "they are closed")
	}
}

// If a worker has no descriptor for a connection or its file, the longest idle connections
// are closed, and it gets the connection again.
func TestWorkerWithoutDescriptors(t *testing.T) {
	p := start(t, workers.Options{Min: 1, Max: 1})
	for i := range 5 {
		_, err := ask(p.client(t, true), "", fmt.Sprint("idle ", i))
		require.NoError(t, err)
	}
	_, err := ask(p.client(t, true), "few=1", "")
	require.NoError(t, err)
	body := strings.Repeat("long", 10_000)
	for range 10 {
		assert.True(t, strings.HasSuffix(p.asked(t, "", body), body))
		assert.True(t, strings.HasSuffix(p.asked(t, "", "short"), "short"))
	}
}
