//go:build linux

package workers

import (
	"io"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// silentPool returns a pool with one connection, and one worker that has no process.
func silentPool(t *testing.T) (p *Pool, w *process, peer int) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	require.NoError(t, err)
	p = &Pool{
		o: Options{}.withDefaults(), mem: new(sharedMemory), spools: map[*spool]bool{}, lost: map[Reason]int{},
	}
	w = &process{ch: &channel{}, state: &p.mem.workers[0]}
	w.ch.filled = sync.NewCond(&w.ch.mu)
	w.state.reset()
	p.processes[0] = w
	p.share(fds[0], false)
	t.Cleanup(func() {
		unix.Close(fds[0])
		unix.Close(fds[1])
	})
	return p, w, fds[1]
}

func (w *process) kinds() (kinds []byte) {
	for _, m := range w.ch.queue {
		kinds = append(kinds, m.kind)
	}
	w.ch.queue = nil
	return kinds
}

// If data is unread for two checks, the workers check their connections again.
func TestUnreadData(t *testing.T) {
	p, w, peer := silentPool(t)
	assert.Equal(t, []byte{msgOpen}, w.kinds())
	p.checkUnread()
	_, err := unix.Write(peer, []byte("x"))
	require.NoError(t, err)
	p.checkUnread()
	assert.Empty(t, w.kinds(), "a worker may be about to read it")
	p.checkUnread()
	assert.Equal(t, []byte{msgRecheck}, w.kinds())
	require.True(t, p.mem.conns[0].acquire(1, 1))
	p.checkUnread()
	assert.Empty(t, w.kinds(), "a worker reads it")
}

// If a worker dies after it accepted a connection and before it read anything, other workers
// serve the connection.
func TestDeadBeforeRead(t *testing.T) {
	p, w, _ := silentPool(t)
	var err error
	w.parking, err = newParking()
	require.NoError(t, err)
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	require.NoError(t, err)
	w.state.loops[0].request.Store(3) // of an earlier request
	w.state.loops[0].sent.Store(true)
	w.state.loops[0].begin(-1, 0)
	require.NoError(t, w.parking.park(0, fds[0]))
	w.cmd = exec.Command("/bin/true")
	require.NoError(t, w.cmd.Run())
	p.answerFor(w, nil)
	assert.Equal(t, 2, p.connCount)
	assert.Empty(t, p.lost)
}

// A worker whose script ends just before it is killed begins no other request. A worker whose
// script has ended is not killed.
func TestDoomed(t *testing.T) {
	p, _, _ := silentPool(t)
	w := &Worker{mem: p.mem, state: &p.mem.workers[0]}
	w.End()
	w.Begin(time.Second, 0)
	w.End()
	assert.False(t, w.state.script.CompareAndSwap(scriptRuns, scriptDoomed), "it has ended")
	w.Begin(time.Second, 0)
	require.True(t, w.state.script.CompareAndSwap(scriptRuns, scriptDoomed))
	ended := make(chan struct{})
	go func() {
		w.End()
		close(ended)
	}()
	select {
	case <-ended:
		t.Error("the worker goes on")
	case <-time.After(100 * time.Millisecond):
	}
}

// A doomed process is killed when the requests that have yielded in it are
// answered, and at the latest after the given time.
//
// Catalogue: C6
func TestKillWaitsForYielded(t *testing.T) {
	begin := func() *process {
		p, w, _ := silentPool(t)
		w.state = &p.mem.workers[0]
		w.cmd = exec.Command("sleep", "1000")
		require.NoError(t, w.cmd.Start())
		t.Cleanup(func() { w.cmd.Process.Kill() })
		w.state.script.Store(scriptRuns)
		w.state.loops[3].begin(7, 1)
		return w
	}
	w := begin()
	w.killScript(TooLong, time.Hour)
	assert.Equal(t, TooLong, w.killedFor)
	w.killDoomed()
	assert.False(t, w.killAt.IsZero(), "it was killed at once")
	w.state.loops[3].end()
	w.killDoomed()
	assert.EqualError(t, w.cmd.Wait(), "signal: killed")

	w = begin()
	w.killScript(TooLong, 0)
	assert.EqualError(t, w.cmd.Wait(), "signal: killed")
}

// The owner notices a failed acquire, and a closed connection cannot be acquired.
func TestAcquire(t *testing.T) {
	var s connState
	s.word.Store(word(5, ownerNone))
	require.True(t, s.acquire(5, 1))
	assert.False(t, s.acquire(5, 2))
	assert.False(t, s.acquire(4, 2), "of another generation")
	assert.False(t, s.release(5, 1), "another worker has tried to acquire it")
	assert.True(t, s.release(5, 1))
	assert.True(t, s.acquire(5, 2))
	s.word.Store(word(5, ownerGone))
	assert.False(t, s.acquire(5, 1))
	assert.Equal(t, ownerGone, s.owner(4))
}

// A closed socket never reads from the connection that gets its descriptor number next.
func TestSocketNumber(t *testing.T) {
	for range 200 {
		fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
		require.NoError(t, err)
		s := newSocket(fds[0])
		done := make(chan int)
		go func() {
			var b [8]byte
			n, _ := s.Read(b[:])
			done <- n
		}()
		s.Close()
		s.free()
		next, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
		require.NoError(t, err)
		unix.Write(next[1], []byte("foreign"))
		unix.Write(next[0], []byte("foreign"))
		assert.Zero(t, <-done)
		for _, fd := range []int{fds[1], next[0], next[1]} {
			unix.Close(fd)
		}
	}
}

// The master receives what a worker sent before its end, also if the worker has not read all
// messages.
func TestMessagesOfDeadWorker(t *testing.T) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	require.NoError(t, err)
	var ends [2]*channel
	for i, fd := range fds {
		ends[i], err = newChannel(os.NewFile(uintptr(fd), "channel"), nil)
		require.NoError(t, err)
	}
	require.NoError(t, ends[0].write(message{kind: msgRecheck}))
	require.NoError(t, ends[1].write(message{kind: msgReady}))
	ends[1].close()
	m, err := ends[0].receive(make([]byte, maxMessage))
	require.NoError(t, err)
	assert.EqualValues(t, msgReady, m.kind)
	_, err = ends[0].receive(make([]byte, maxMessage))
	assert.ErrorIs(t, err, io.EOF)
	ends[0].close()
}
