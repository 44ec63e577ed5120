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

// shared is a connection that other workers hold, too.
type shared struct {
	slot int32
	gen  uint32
	sock *socket
}

// listen does what the master says.
func (w *Worker) listen() {
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
		case msgSpent:
			if c := w.conns[m.slot].Load(); c != nil && c.gen == m.gen {
				c.sock.spent()
			}
		case msgLook:
			w.lookAgain()
		case msgDeaf:
			w.stopListening()
			w.server.Leave()
		case msgLeave:
			w.leave()
		case msgReport:
			w.report()
		case msgPing:
			w.ch.tell(message{kind: msgPong, fd: -1})
		case msgRest:
			debug.FreeOSMemory()
			w.ch.tell(message{kind: msgRest, fd: -1})
		}
	}
}

func (w *Worker) open(m message) {
	if m.slot < 0 || m.slot >= maxSlots {
		closeFD(m.fd)
		return
	}
	if m.fd < 0 {
		w.ch.tell(message{kind: msgAgain, slot: m.slot, gen: m.gen, fd: -1})
		return
	}
	c := &shared{m.slot, m.gen, newSocket(m.fd)}
	c.sock.spooled(m.file, &w.mem.slots[m.slot].spooled)
	w.conns[m.slot].Store(c)
	w.add(m.fd, watchFor, m.slot, m.gen)
	if m.file > 0 {
		w.offer(c)
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

// lookAgain makes sure that no event is lost that a dead worker was told of.
func (w *Worker) lookAgain() {
	for i := range w.conns {
		if c := w.conns[i].Load(); c != nil {
			unix.EpollCtl(w.ep, unix.EPOLL_CTL_DEL, c.sock.fd, nil)
			w.add(c.sock.fd, watchFor, c.slot, c.gen)
			if w.mem.slots[i].spooled.Load() > 0 {
				w.offer(c)
			}
		}
	}
}

// offer has the loop look at c, of which no event tells. Where so many are to be
// looked at that there is no room, the master sees after a while that nobody has.
func (w *Worker) offer(c *shared) {
	select {
	case w.offers <- c:
		w.rouse()
	default:
	}
}

// stopListening gives the listening sockets back, also while a script runs:
// whoever wants to listen there next shall not find anybody.
func (w *Worker) stopListening() {
	w.lmu.Lock()
	defer w.lmu.Unlock()
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
	w.rouse()
}

func (w *Worker) rouse() { unix.Write(w.wake, []byte{1, 0, 0, 0, 0, 0, 0, 0}) }

// orphaned ends a worker without a master: the request under way is answered,
// if that does not take long.
func (w *Worker) orphaned() {
	w.stopListening()
	w.leave()
	wait := orphanTime
	if deadline := w.rec.deadline.Load(); deadline != 0 && w.rec.script.Load() != scriptNone {
		wait = min(wait, max(0, time.Duration(deadline-now())))
	}
	time.Sleep(wait)
	fmt.Fprintln(os.Stderr, "worker", os.Getpid(), "ends: its master is gone, and its request takes too long")
	syscall.Exit(1) // without waiting for anything
}

// orphanTime is how long a worker may go on without its master.
const orphanTime = 30 * time.Second

func (w *Worker) report() {
	var text []byte
	if w.Report != nil {
		text = w.Report()
	}
	w.ch.tell(message{kind: msgTold, text: text, fd: -1})
}
