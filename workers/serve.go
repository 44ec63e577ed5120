//go:build linux

package workers

import (
	"context"
	"time"

	"golang.org/x/sys/unix"

	"scripter/fcgi"
)

// lookSize is how much of a request is looked at before it is read. A longer
// one is read ahead by the master before all of it has come: a sender on a unix socket that waits
// until poll lets it write is stopped when a quarter of its buffer is full, which
// can be as little as 26 kB in records of 1 kB.
const lookSize = 16 << 10

func (w *Worker) acceptOne(listener int) (int, unix.Sockaddr, error) {
	w.lmu.Lock()
	defer w.lmu.Unlock()
	if w.listeners[listener] < 0 {
		return -1, nil, unix.EAGAIN
	}
	return unix.Accept4(w.listeners[listener], unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC)
}

// accept takes one new connection. A request that is there and wants the
// connection closed afterwards is answered at once; any other connection is
// given to the master, who shares it.
func (l *loop) accept(listener int) {
	w := l.w
	fd, sa, err := w.acceptOne(listener)
	switch err {
	case nil:
	case unix.EMFILE, unix.ENFILE, unix.ENOBUFS, unix.ENOMEM:
		w.ch.tell(message{kind: msgFull, fd: -1})
		time.Sleep(fullTime)
		return
	default:
		return // somebody else took it, or it is gone
	}
	if !w.server.Permits(netAddr(sa)) {
		unix.Close(fd)
		return
	}
	s := newSocket(fd)
	ahead, long := w.ahead(s, firstWait)
	if !ahead.Whole() || ahead.Keep || ahead.ID == 0 {
		m := message{kind: msgNew, fd: fd}
		if long {
			m.slot = longRequest
		}
		w.ch.tell(m)
		return
	}
	l.take(-1, 0)
	if w.deposit(l, fd) != nil {
		l.turn.free()
		w.ch.tell(message{kind: msgNew, fd: fd})
		return
	}
	l.own, l.may = true, true
	open := l.serve(s, ahead)
	if open { // it was no request after all
		w.ch.tell(message{kind: msgNew, fd: duplicate(fd)})
	}
	l.turn.free()
	w.withdraw(l)
	s.free()
}

// firstWait is how long a worker waits for the first request of a connection,
// which follows at once where the web server is on the same machine.
const firstWait = time.Millisecond

// ahead looks at what has come on s, and reports whether it is longer than what
// can be looked at. Where it is only a part it waits for more: an event tells of
// that, while to poll would be to find what is there already.
func (w *Worker) ahead(s *socket, patience time.Duration) (a fcgi.Ahead, long bool) {
	watched, until := false, now()+int64(patience)
	for {
		n, err := s.peek(w.look[:])
		if n <= 0 && err != unix.EAGAIN {
			return fcgi.Ahead{}, false // the end, which is not urgent
		}
		a = fcgi.LookAhead(w.look[:max(n, 0)])
		left := time.Duration(until - now())
		if a.Whole() || n == len(w.look) || left <= 0 {
			return a, !a.Whole() && n == len(w.look)
		}
		if !watched {
			watched = true
			more := unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLET}
			if unix.EpollCtl(w.more, unix.EPOLL_CTL_ADD, s.fd, &more) != nil {
				return a, false
			}
			defer unix.EpollCtl(w.more, unix.EPOLL_CTL_DEL, s.fd, nil)
		}
		var ev [1]unix.EpollEvent
		unix.EpollWait(w.more, ev[:], int((left+time.Millisecond-1)/time.Millisecond))
	}
}

// serveShared serves a shared connection, unless somebody else does.
func (l *loop) serveShared(number int32, gen uint32) {
	w := l.w
	c := w.conns[number].Load()
	slot := &w.mem.slots[number]
	if c == nil || c.gen != gen || !slot.claim(gen, w.owner) {
		return
	}
	for {
		l.take(number, gen)
		open := l.serveWhole(c, slot)
		l.turn.free()
		if !open || slot.release(gen, w.owner) {
			return
		}
		if l.away { // the other loop is to look
			slot.word.Store(word(gen, ownerNone))
			w.offer(c)
			return
		}
	}
}

// serveOffers serves connections whose first request is in a file.
func (l *loop) serveOffers() {
	for !l.away {
		select {
		case c := <-l.w.offers:
			l.serveShared(c.slot, c.gen)
		default:
			return
		}
	}
}

// take notes that there is something to do. The master is told when it does not
// expect that.
func (l *loop) take(number int32, gen uint32) {
	w := l.w
	l.turn.take(number, gen)
	if w.mem.asleep.Load() && w.mem.asleep.CompareAndSwap(true, false) {
		w.ch.tell(message{kind: msgWake, fd: -1})
	}
}

// serveWhole serves what is there as a whole and reports whether the connection
// is still this worker's. What is there in part stays where it is until the rest
// has come, unless it is too long for that: then the master reads it.
func (l *loop) serveWhole(c *shared, slot *slot) (open bool) {
	w := l.w
	for {
		ahead, n, spooled := fcgi.Ahead{}, 0, slot.spooled.Load() > 0
		if spooled {
			ahead = fcgi.Ahead{ID: uint16(slot.request.Load())}
			if slot.whole.Load() {
				ahead.Size = int(slot.spooled.Load())
			}
		} else {
			var err error
			c.sock.left.Store(0) // another worker may have read the file
			n, err = c.sock.peek(w.look[:])
			switch {
			case err == unix.EAGAIN:
				return true
			case n <= 0:
				ahead.Size = 1 // the end of the connection is read like something that came
			default:
				ahead = fcgi.LookAhead(w.look[:n])
			}
			if !ahead.Whole() && n == len(w.look) {
				slot.word.Store(word(c.gen, ownerMaster))
				w.ch.tell(message{kind: msgLong, slot: c.slot, gen: c.gen, fd: -1})
				return false
			}
			if !ahead.Whole() && !c.sock.ended() {
				slot.leave(n, ahead.Body)
				return true
			}
		}
		// Nothing is left to be done on the connection when it steps aside.
		l.may = !spooled && ahead.Whole() && n == ahead.Size && n < len(w.look)
		if !l.serve(c.sock, ahead) {
			slot.word.Store(word(c.gen, ownerGone))
			w.ch.tell(message{kind: msgGone, slot: c.slot, gen: c.gen, fd: -1})
			return false
		}
		slot.rest()
		if spooled {
			slot.spooled.Store(0)
			w.ch.tell(message{kind: msgSpent, slot: c.slot, gen: c.gen, fd: -1})
		} else if n == ahead.Size && n < len(w.look) {
			return true // for what came meanwhile there is an event
		}
	}
}

// serve serves what is there, or what is there in part and longer than what can
// be looked at.
func (l *loop) serve(s *socket, a fcgi.Ahead) (open bool) {
	s.ahead.Store(int64(a.Size))
	s.handler.Store(!a.Whole())
	s.turn.Store(l.turn)
	l.turn.request.Store(uint32(a.ID))
	l.turn.phase.Store(phaseReading)
	l.sock = s
	defer func() { l.sock, l.own, l.may = nil, false, false }()
	return l.w.server.Turn(s)
}

// handle is the server's handler.
func (w *Worker) handle(ctx context.Context, r *fcgi.Request) {
	l := w.active
	s := l.sock
	l.turn.sent.Store(false)
	l.turn.request.Store(uint32(r.ID))
	l.turn.began.Store(now())
	w.rec.served.Add(1)
	l.turn.phase.Store(phaseRunning)
	s.handler.Store(true)
	r.StepAside = l.stepAside
	defer func() {
		if !l.away {
			w.End()
		}
		l.turn.began.Store(0)
		s.handler.Store(false)
	}()
	w.handler(ctx, r)
}
