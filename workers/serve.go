//go:build linux

package workers

import (
	"context"
	"time"

	"golang.org/x/sys/unix"

	"scripter/fcgi"
)

// peekSize is how much of a request a worker peeks at. If a request is longer, the master
// reads it before all of it has arrived: a sender on a unix socket that waits until poll
// reports POLLOUT stops when a quarter of its buffer is full, which can be 26 kB if the
// records have 1 kB.
const peekSize = 16 << 10

func (w *Worker) acceptOne(listener int) (int, unix.Sockaddr, error) {
	w.listenMu.Lock()
	defer w.listenMu.Unlock()
	if w.listeners[listener] < 0 {
		return -1, nil, unix.EAGAIN
	}
	return unix.Accept4(w.listeners[listener], unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC)
}

// accept accepts one connection. If a complete request has arrived that wants the connection
// closed afterwards, accept answers it. Any other connection goes to the master, who shares
// it.
func (l *loop) accept(listener int) {
	w := l.w
	fd, sa, err := w.acceptOne(listener)
	switch err {
	case nil:
	case unix.EMFILE, unix.ENFILE, unix.ENOBUFS, unix.ENOMEM:
		w.ch.send(message{kind: msgNoDescriptor})
		time.Sleep(descriptorRetry)
		return
	default:
		return // another worker has accepted it, or it is gone
	}
	if !w.server.Allows(netAddr(sa)) {
		unix.Close(fd)
		return
	}
	s := newSocket(fd)
	seen, long := w.peek(s, firstRequestWait)
	if !seen.Complete() || seen.Keep || seen.ID == 0 {
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
	open := l.serve(s, seen)
	if open { // it was not a request
		w.ch.send(message{kind: msgNew, fd: duplicate(fd)})
	}
	l.activity.end()
	w.unpark(l)
	s.free()
}

// firstRequestWait is how long a worker waits for the first request of a connection. A web
// server on the same machine sends it at once.
const firstRequestWait = time.Millisecond

// peek peeks at the data of s, and reports whether the request is longer than the buffer. If
// only a part has arrived, it waits for more with an edge-triggered event, because poll
// would report the part that is there.
func (w *Worker) peek(s *socket, patience time.Duration) (a fcgi.Peeked, long bool) {
	waiting, until := false, now()+int64(patience)
	for {
		n, err := s.peek(w.peekBuf[:])
		if n <= 0 && err != unix.EAGAIN {
			return fcgi.Peeked{}, false // the end of the connection: not urgent
		}
		a = fcgi.Peek(w.peekBuf[:max(n, 0)])
		left := time.Duration(until - now())
		if a.Complete() || n == len(w.peekBuf) || left <= 0 {
			return a, !a.Complete() && n == len(w.peekBuf)
		}
		if !waiting {
			waiting = true
			ev := unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLET}
			if unix.EpollCtl(w.firstEp, unix.EPOLL_CTL_ADD, s.fd, &ev) != nil {
				return a, false
			}
			defer unix.EpollCtl(w.firstEp, unix.EPOLL_CTL_DEL, s.fd, nil)
		}
		var ev [1]unix.EpollEvent
		unix.EpollWait(w.firstEp, ev[:], int((left+time.Millisecond-1)/time.Millisecond))
	}
}

// serveShared serves a shared connection, unless another worker does.
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
		if l.yielded { // the active loop looks for more data
			slot.word.Store(word(gen, ownerNone))
			w.enqueueSpooled(c)
			return
		}
	}
}

// serveSpooled serves connections whose first request is in a file.
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

// begin records that the loop has a connection, and wakes the master if it is idle.
func (l *loop) begin(number int32, gen uint32) {
	w := l.w
	l.activity.begin(number, gen)
	if w.mem.masterIdle.Load() && w.mem.masterIdle.CompareAndSwap(true, false) {
		w.ch.send(message{kind: msgWake})
	}
}

// serveComplete serves the complete requests that have arrived, and reports whether the
// worker still owns the connection. An incomplete request stays in the socket until the rest
// has arrived. If it is too long for that, the master reads it.
func (l *loop) serveComplete(c *sharedConn, slot *connState) (open bool) {
	w := l.w
	for {
		seen, n, spooled := fcgi.Peeked{}, 0, slot.spooled.Load() > 0
		if spooled {
			seen = fcgi.Peeked{ID: uint16(slot.request.Load())}
			if slot.whole.Load() {
				seen.Size = int(slot.spooled.Load())
			}
		} else {
			var err error
			c.sock.fileLeft.Store(0) // another worker may have read the file
			n, err = c.sock.peek(w.peekBuf[:])
			switch {
			case err == unix.EAGAIN:
				return true
			case n <= 0:
				seen.Size = 1 // the end of the connection is read like data
			default:
				seen = fcgi.Peek(w.peekBuf[:n])
			}
			if !seen.Complete() && n == len(w.peekBuf) {
				slot.word.Store(word(c.gen, ownerMaster))
				w.ch.send(message{kind: msgSpool, slot: c.slot, gen: c.gen})
				return false
			}
			if !seen.Complete() && !c.sock.peerClosed() {
				slot.noteIncomplete(n, seen.Body)
				return true
			}
		}
		// A request may yield only if nothing else has arrived on the connection.
		l.mayYield = !spooled && seen.Complete() && n == seen.Size && n < len(w.peekBuf)
		if !l.serve(c.sock, seen) {
			slot.word.Store(word(c.gen, ownerGone))
			w.ch.send(message{kind: msgGone, slot: c.slot, gen: c.gen})
			return false
		}
		slot.noteIdle()
		if spooled {
			slot.spooled.Store(0)
			w.ch.send(message{kind: msgFileRead, slot: c.slot, gen: c.gen})
		} else if n == seen.Size && n < len(w.peekBuf) {
			return true // there is an event for later data
		}
	}
}

// serve serves a complete request, or one of which the rest is read from the socket.
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

// handle is the handler of the fcgi.Server.
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
