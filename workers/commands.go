//go:build linux

package workers

import (
	"errors"
	"fmt"
	"net"
	"os"
	"runtime/debug"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// sharedConn is a connection that all workers hold.
type sharedConn struct {
	slot int32
	gen  uint32
	sock *socket
}

// receiveCommands handles the messages of the master.
func (w *Worker) receiveCommands() {
	buf := make([]byte, maxMessage)
	for {
		m, err := w.ch.receive(buf)
		if err != nil {
			if !errors.Is(err, net.ErrClosed) {
				w.orphaned()
			}
			return
		}
		switch m.kind {
		case msgOpen:
			w.open(m)
		case msgClose:
			w.close(m)
		case msgFileRead:
			if c := w.conns[m.slot].Load(); c != nil && c.gen == m.gen {
				c.sock.closeFile()
			}
		case msgRecheck:
			w.recheck()
		case msgStopAccepting:
			w.stopListening()
			if m.slot != keepConnections {
				w.server.CloseConnections()
			}
		case msgLeave:
			w.leave()
		case msgReport:
			w.report()
		case msgFreeMemory:
			debug.FreeOSMemory()
			w.ch.send(message{kind: msgFreeMemory})
		}
	}
}

func (w *Worker) open(m message) {
	if m.slot < 0 || m.slot >= maxConns {
		closeFD(m.fd)
		return
	}
	if m.fd == 0 {
		w.ch.send(message{kind: msgReopen, slot: m.slot, gen: m.gen})
		return
	}
	c := &sharedConn{m.slot, m.gen, newSocket(m.fd)}
	c.sock.setFile(m.file, &w.mem.conns[m.slot].spooled)
	w.conns[m.slot].Store(c)
	w.add(m.fd, watchFor, m.slot, m.gen)
	if m.file > 0 {
		w.enqueueSpooled(c)
	}
}

const watchFor = unix.EPOLLIN | unix.EPOLLET | unix.EPOLLEXCLUSIVE

func (w *Worker) close(m message) {
	if c := w.conns[m.slot].Load(); c != nil && c.gen == m.gen {
		w.conns[m.slot].Store(nil)
		unix.EpollCtl(w.ep, unix.EPOLL_CTL_DEL, c.sock.fd, nil)
		c.sock.free()
	}
}

// recheck adds all connections to the epoll set again. The kernel then reports again what a
// dead worker was told.
func (w *Worker) recheck() {
	for i := range w.conns {
		if c := w.conns[i].Load(); c != nil {
			unix.EpollCtl(w.ep, unix.EPOLL_CTL_DEL, c.sock.fd, nil)
			w.add(c.sock.fd, watchFor, c.slot, c.gen)
			if w.mem.conns[i].spooled.Load() > 0 {
				w.enqueueSpooled(c)
			}
		}
	}
}

// enqueueSpooled makes the active loop serve c, for which there is no event. If the queue is
// full, the master notices after a while that no worker has read the request.
func (w *Worker) enqueueSpooled(c *sharedConn) {
	select {
	case w.spooled <- c:
		w.wakeLoop()
	default:
	}
}

// stopListening closes the listening sockets, also while a script runs, so that another
// program can listen there.
func (w *Worker) stopListening() {
	w.listenMu.Lock()
	defer w.listenMu.Unlock()
	for i, fd := range w.listeners {
		if fd >= 0 {
			unix.EpollCtl(w.ep, unix.EPOLL_CTL_DEL, fd, nil)
			unix.Close(fd)
			w.listeners[i] = -1
		}
	}
}

func (w *Worker) leave() {
	w.leaving.Store(true)
	w.wakeLoop()
}

func (w *Worker) wakeLoop() { unix.Write(w.wake, []byte{1, 0, 0, 0, 0, 0, 0, 0}) }

// orphaned ends a worker whose master has died. The request under way gets some time to
// finish.
func (w *Worker) orphaned() {
	w.stopListening()
	w.leave()
	wait := orphanTime
	if deadline := w.state.deadline.Load(); deadline != 0 && w.state.script.Load() != scriptNone {
		wait = min(wait, max(0, time.Duration(deadline-now())))
	}
	time.Sleep(wait)
	fmt.Fprintln(os.Stderr, "worker", os.Getpid(), "ends: its master is gone, and its request takes too long")
	syscall.Exit(1) // without waiting for anything
}

// orphanTime is how long a worker may run without its master.
const orphanTime = 30 * time.Second

func (w *Worker) report() {
	var text []byte
	if w.Report != nil {
		text = w.Report()
	}
	w.ch.send(message{kind: msgReported, text: text})
}
