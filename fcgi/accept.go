package fcgi

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"syscall"
	"time"
)

// accept accepts connections until the listener is closed.
func (s *Server) accept(l net.Listener) error {
	var pause time.Duration
	empty := 0 // accepts in a row that found the queue empty
	for {
		nc, err := l.Accept()
		switch {
		case err == nil:
			pause = 0
			if _, ours := l.(*unixListener); ours {
				empty = 0 // the file is gone, so the queue has an end
			}
			if !allows(nc.RemoteAddr(), s.allowed) {
				nc.Close()
				continue
			}
			s.start(nc)
		case s.closing.Load():
			if empty++; empty > emptyAccepts || !drainLonger(l, err) {
				return ErrServerClosed
			}
		case isTemporary(err):
			// One connection less may be enough.
			s.evict()
			pause = min(max(2*pause, 5*time.Millisecond), time.Second)
			if pause == 5*time.Millisecond || pause == time.Second {
				s.report(&Error{"accept", l.Addr().String(), err})
			}
			time.Sleep(pause)
		case errors.Is(err, net.ErrClosed):
			return ErrServerClosed
		default:
			return &Error{"accept", l.Addr().String(), err}
		}
	}
}

// isTemporary reports whether an accept error can pass: the process or the machine has run
// out of something, or one connection was lost.
func isTemporary(err error) bool {
	for _, e := range []syscall.Errno{
		syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM,
		syscall.ECONNABORTED, syscall.EPROTO, syscall.EINTR, syscall.EAGAIN, syscall.EPERM,
	} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// start serves nc as soon as there is room for it. Until then no other connection is
// accepted.
func (s *Server) start(nc net.Conn) {
	c := newConn(s, nc)
	for err := s.addConn(c); err != nil; err = s.addConn(c) {
		if err == ErrServerClosed {
			nc.Close()
			return
		}
		s.evict()
		select {
		case <-s.room:
		case <-time.After(100 * time.Millisecond):
		}
	}
	go func() {
		defer c.end()
		c.serve(true)
	}()
}

// evict closes the connection that has been idle longest. If none is idle, it closes the one
// that has been sending its parameters longest, if that is more than a second.
func (s *Server) evict() {
	now := s.now()
	var victim *conn
	var oldest time.Duration
	for _, c := range s.snapshot(nil) {
		since := time.Duration(c.since.Load())
		switch c.phase.Load() {
		case phaseIdle:
			since -= now // idle ones go first
		case phaseParams:
			if now-since < time.Second {
				continue
			}
		default:
			continue
		}
		if c.evicted.Load() {
			continue
		}
		if victim == nil || since < oldest {
			victim, oldest = c, since
		}
	}
	if victim != nil {
		victim.evicted.Store(true)
		victim.interrupt()
	}
}

// allows reports whether addr may connect (section 3.2). The specification would also close
// connections that are not TCP; like the reference library we leave those to the mode of the
// socket file.
func allows(addr net.Addr, allowed []netip.Addr) bool {
	tcp, ok := addr.(*net.TCPAddr)
	return len(allowed) == 0 || !ok || slices.Contains(allowed, tcp.AddrPort().Addr().Unmap().WithZone(""))
}

// parseAddrs reads a list of addresses separated by commas. An address that cannot be read
// is an error, and so is a list of blanks: without it the list might be empty, which means
// everybody.
func parseAddrs(list string) ([]netip.Addr, error) {
	if list == "" {
		return nil, nil
	}
	var addrs []netip.Addr
	for _, text := range strings.Split(list, ",") {
		a, err := netip.ParseAddr(strings.TrimSpace(text))
		if err != nil {
			return nil, fmt.Errorf("fcgi: FCGI_WEB_SERVER_ADDRS: %q is not an IP address", text)
		}
		addrs = append(addrs, a.Unmap())
	}
	return addrs, nil
}
