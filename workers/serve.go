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
const peekSize = 16 << 10

func (w *Worker) acceptOne(listener int) (int, unix.Sockaddr, error) {
	w.listenMu.Lock()
	defer w.listenMu.Unlock()
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
		w.ch.send(message{kind: msgNoDescriptor, fd: -1})
		time.Sleep(descriptorRetry)
		return
	default:
		return // somebody else took it, or it is gone
	}
	if !w.server.Allows(netAddr(sa)) {
		unix.Close(fd)
		return
	}
	s := newSocket(fd)
	ahead, long := w.peek(s, firstRequestWait)
	if !ahead.Complete() || ahead.Keep || ahead.ID == 0 {
		m := message{kind: msgNew, fd: fd}
		if long {
			m.slot = spoolRequest
		}
		w.ch.send(m)
		return
	}
	l.begin(-1, 0)
	if w.park(l, fd) != nil {
		l.activity.end()
		w.ch.send(message{kind: msgNew, fd: fd})
		return
	}
	l.unshared, l.mayYield = true, true
	open := l.serve(s, ahead)
	if open { // it was no request after all
		w.ch.send(message{kind: msgNew, fd: duplicate(fd)})
	}
	l.activity.end()
	w.unpark(l)
	s.free()
}

// firstWait is how long a worker waits for the first request of a connection,
// which follows at once where the web server is on the same machine.
const firstRequestWait = time.Millisecond

// ahead looks at what has come on s, and reports whether it is longer than what
// can be looked at. Where it is only a part it waits for more: an event tells of
// that, while to poll would be to find what is there already.
func (w *Worker) peek(s *socket, patience time.Duration) (a fcgi.Peeked, long bool) {
	watched, until := false, now()+int64(patience)
	for {
		n, err := s.peek(w.peekBuf[:])
		if n <= 0 && err != unix.EAGAIN {
			return fcgi.Peeked{}, false // the end, which is not urgent
		}
		a = fcgi.Peek(w.peekBuf[:max(n, 0)])
		left := time.Duration(until - now())
		if a.Complete() || n == len(w.peekBuf) || left <= 0 {
			return a, !a.Complete() && n == len(w.peekBuf)
		}
		if !watched {
			watched = true
			more := unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLET}
			if unix.EpollCtl(w.firstEp, unix.EPOLL_CTL_ADD, s.fd, &more) != nil {
				return a, false
			}
			defer unix.EpollCtl(w.firstEp, unix.EPOLL_CTL_DEL, s.fd, nil)
		}
		var ev [1]unix.EpollEvent
		unix.EpollWait(w.firstEp, ev[:], int((left+time.Millisecond-1)/time.Millisecond))
	}
}

// serveShared serves a shared connection, unless somebody else does.
func (l *loop) serveShared(number int32, gen uint32) {
	w := l.w
	c := w.conns[number].Load()
	slot := &w.mem.conns[number]
	if c == nil || c.gen != gen || !slot.acquire(gen, w.owner) {
		return
	}
	for {
		l.begin(number, gen)
		open := l.serveComplete(c, slot)
		l.activity.end()
		if !open || slot.release(gen, w.owner) {
			return
		}
		if l.yielded { // the other loop is to look
			slot.word.Store(word(gen, ownerNone))
			w.enqueueSpooled(c)
			return
		}
	}
}

// serveOffers serves connections whose first request is in a file.
func (l *loop) serveSpooled() {
	for !l.yielded {
		select {
		case c := <-l.w.spooled:
			l.serveShared(c.slot, c.gen)
		default:
			return
		}
	}
}

// take notes that there is something to do. The master is told when it does not
// expect that.
func (l *loop) begin(number int32, gen uint32) {
	w := l.w
	l.activity.begin(number, gen)
	if w.mem.masterIdle.Load() && w.mem.masterIdle.CompareAndSwap(true, false) {
		w.ch.send(message{kind: msgWake, fd: -1})
	}
}

// serveWhole serves what is there as a whole and reports whether the connection
// is still this worker's. What is there in part stays where it is until the rest
// has come, unless it is too long for that: then the master reads it.
func (l *loop) serveComplete(c *sharedConn, slot *connState) (open bool) {
	w := l.w
	for {
		ahead, n, spooled := fcgi.Peeked{}, 0, slot.spooled.Load() > 0
		if spooled {
			ahead = fcgi.Peeked{ID: uint16(slot.request.Load())}
			if slot.whole.Load() {
				ahead.Size = int(slot.spooled.Load())
			}
		} else {
			var err error
			c.sock.fileLeft.Store(0) // another worker may have read the file
			n, err = c.sock.peek(w.peekBuf[:])
			switch {
			case err == unix.EAGAIN:
				return true
			case n <= 0:
				ahead.Size = 1 // the end of the connection is read like something that came
			default:
				ahead = fcgi.Peek(w.peekBuf[:n])
			}
			if !ahead.Complete() && n == len(w.peekBuf) {
				slot.word.Store(word(c.gen, ownerMaster))
				w.ch.send(message{kind: msgSpool, slot: c.slot, gen: c.gen, fd: -1})
				return false
			}
			if !ahead.Complete() && !c.sock.peerClosed() {
				slot.noteIncomplete(n, ahead.Body)
				return true
			}
		}
		// Nothing is left to be done on the connection when it steps aside.
		l.mayYield = !spooled && ahead.Complete() && n == ahead.Size && n < len(w.peekBuf)
		if !l.serve(c.sock, ahead) {
			slot.word.Store(word(c.gen, ownerGone))
			w.ch.send(message{kind: msgGone, slot: c.slot, gen: c.gen, fd: -1})
			return false
		}
		slot.noteIdle()
		if spooled {
			slot.spooled.Store(0)
			w.ch.send(message{kind: msgFileRead, slot: c.slot, gen: c.gen, fd: -1})
		} else if n == ahead.Size && n < len(w.peekBuf) {
			return true // for what came meanwhile there is an event
		}
	}
}

// serve serves what is there, or what is there in part and longer than what can
// be looked at.
func (l *loop) serve(s *socket, a fcgi.Peeked) (open bool) {
	s.readable.Store(int64(a.Size))
	s.inHandler.Store(!a.Complete())
	s.activity.Store(l.activity)
	l.activity.request.Store(uint32(a.ID))
	l.activity.phase.Store(phaseReading)
	l.sock = s
	defer func() { l.sock, l.unshared, l.mayYield = nil, false, false }()
	return l.w.server.ServeReady(s)
}

// handle is the server's handler.
func (w *Worker) handle(ctx context.Context, r *fcgi.Request) {
	l := w.active
	s := l.sock
	l.activity.sent.Store(false)
	l.activity.request.Store(uint32(r.ID))
	l.activity.began.Store(now())
	w.state.served.Add(1)
	l.activity.phase.Store(phaseRunning)
	s.inHandler.Store(true)
	r.Yield = l.yieldFunc
	defer func() {
		if !l.yielded {
			w.End()
		}
		l.activity.began.Store(0)
		s.inHandler.Store(false)
	}()
	w.handler(ctx, r)
}
