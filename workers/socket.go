//go:build linux

package workers

import (
	"io"
	"net"
	"os"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// socket is a connection that Go's poller does not know: the poller of every
// process that holds it would be woken for each byte. Whoever reads or writes
// waits by itself.
type socket struct {
	fd            int
	tcp           bool
	sent          *atomic.Bool // set before something is written
	readBy        atomic.Int64 // deadlines by the machine's clock; 0: none
	writeBy       atomic.Int64
	closed        atomic.Bool
	remote, local net.Addr
}

func newSocket(fd int, sent *atomic.Bool) *socket {
	s := &socket{fd: fd, sent: sent}
	if family, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_DOMAIN); err == nil {
		s.tcp = family != unix.AF_UNIX
	}
	return s
}

// waitSlice is how long one wait lasts: so soon a deadline that was set
// meanwhile is noticed.
const waitSlice = 50 * time.Millisecond

// wait waits until the socket is ready for events.
func (s *socket) wait(events int16, by *atomic.Int64) error {
	for {
		if s.closed.Load() {
			return net.ErrClosed
		}
		slice := waitSlice
		if t := by.Load(); t != 0 {
			left := time.Duration(t - now())
			if left <= 0 {
				return os.ErrDeadlineExceeded
			}
			slice = min(slice, left+time.Millisecond)
		}
		p := []unix.PollFd{{Fd: int32(s.fd), Events: events}}
		n, err := unix.Poll(p, int(slice/time.Millisecond))
		if n > 0 {
			return nil
		}
		if err != nil && err != unix.EINTR {
			return os.NewSyscallError("poll", err)
		}
	}
}

// Read is net.Conn's.
func (s *socket) Read(p []byte) (int, error) {
	for {
		if t := s.readBy.Load(); t != 0 && t <= now() {
			return 0, os.ErrDeadlineExceeded
		}
		n, err := unix.Read(s.fd, p)
		switch {
		case err == unix.EINTR:
		case err == unix.EAGAIN:
			if err := s.wait(unix.POLLIN, &s.readBy); err != nil {
				return 0, err
			}
		case err != nil:
			return 0, os.NewSyscallError("read", err)
		case n == 0 && len(p) > 0:
			return 0, io.EOF
		default:
			return n, nil
		}
	}
}

// Write is net.Conn's.
func (s *socket) Write(p []byte) (int, error) {
	n, err := s.WriteVector([][]byte{p})
	return int(n), err
}

// WriteVector writes all pieces, in one call where the peer takes them.
func (s *socket) WriteVector(pieces [][]byte) (int64, error) {
	s.sent.Store(true)
	var done int64
	for rest := pieces; ; {
		if t := s.writeBy.Load(); t != 0 && t <= now() {
			return done, os.ErrDeadlineExceeded
		}
		n, err := s.send(rest)
		switch {
		case err == unix.EINTR:
			continue
		case err == unix.EAGAIN:
			if err := s.wait(unix.POLLOUT, &s.writeBy); err != nil {
				return done, err
			}
			continue
		case err != nil:
			return done, os.NewSyscallError("write", err)
		}
		done += int64(n)
		if rest = after(pieces, done); len(rest) == 0 {
			return done, nil
		}
	}
}

// after returns what is left of pieces behind their first n bytes.
func after(pieces [][]byte, n int64) [][]byte {
	for len(pieces) > 0 && n >= int64(len(pieces[0])) {
		n -= int64(len(pieces[0]))
		pieces = pieces[1:]
	}
	if n == 0 {
		return pieces
	}
	rest := append([][]byte(nil), pieces...)
	rest[0] = rest[0][n:]
	return rest
}

// send is one system call. The process ignores SIGPIPE, which Go's own writes
// do not raise either.
func (s *socket) send(pieces [][]byte) (int, error) {
	if len(pieces) == 1 {
		return unix.Write(s.fd, pieces[0])
	}
	return unix.Writev(s.fd, pieces)
}

// Close shuts the connection down, for all who hold it. The descriptor stays
// until free: another goroutine may be waiting on it.
func (s *socket) Close() error {
	if !s.closed.Swap(true) {
		unix.Shutdown(s.fd, unix.SHUT_RDWR)
	}
	return nil
}

// free gives the descriptor back. Nobody may use the socket any more.
func (s *socket) free() {
	s.closed.Store(true)
	unix.Close(s.fd)
}

// CloseWrite tells the peer that no more will be sent.
func (s *socket) CloseWrite() error { return unix.Shutdown(s.fd, unix.SHUT_WR) }

func (s *socket) LocalAddr() net.Addr  { return s.addr(&s.local, unix.Getsockname) }
func (s *socket) RemoteAddr() net.Addr { return s.addr(&s.remote, unix.Getpeername) }

func (s *socket) addr(known *net.Addr, ask func(int) (unix.Sockaddr, error)) net.Addr {
	if *known == nil {
		sa, _ := ask(s.fd)
		*known = netAddr(sa)
	}
	return *known
}

func netAddr(sa unix.Sockaddr) net.Addr {
	switch sa := sa.(type) {
	case *unix.SockaddrInet4:
		return &net.TCPAddr{IP: append(net.IP(nil), sa.Addr[:]...), Port: sa.Port}
	case *unix.SockaddrInet6:
		return &net.TCPAddr{IP: append(net.IP(nil), sa.Addr[:]...), Port: sa.Port}
	case *unix.SockaddrUnix:
		return &net.UnixAddr{Name: sa.Name, Net: "unix"}
	}
	return &net.UnixAddr{Net: "unix"}
}

func (s *socket) SetDeadline(t time.Time) error {
	s.SetReadDeadline(t)
	return s.SetWriteDeadline(t)
}

func (s *socket) SetReadDeadline(t time.Time) error {
	s.readBy.Store(clockTime(t))
	return nil
}

func (s *socket) SetWriteDeadline(t time.Time) error {
	s.writeBy.Store(clockTime(t))
	return nil
}

func clockTime(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return max(1, now()+int64(time.Until(t)))
}

// peek returns what has come and leaves it there.
func (s *socket) peek(p []byte) (int, error) {
	for {
		n, _, err := unix.Recvfrom(s.fd, p, unix.MSG_PEEK|unix.MSG_DONTWAIT)
		if err != unix.EINTR {
			return n, err
		}
	}
}

// ended tells whether the peer sends nothing more: behind what has come lies the
// end, which peek does not see.
func (s *socket) ended() bool {
	p := []unix.PollFd{{Fd: int32(s.fd), Events: unix.POLLRDHUP}}
	n, err := unix.Poll(p, 0)
	return err == nil && n > 0 && p[0].Revents&(unix.POLLRDHUP|unix.POLLHUP|unix.POLLERR) != 0
}

// SyscallConn lets package fcgi look whether the peer is still there.
func (s *socket) SyscallConn() (syscall.RawConn, error) { return rawSocket{s}, nil }

type rawSocket struct{ s *socket }

func (r rawSocket) Control(f func(fd uintptr)) error {
	if r.s.closed.Load() {
		return net.ErrClosed
	}
	f(uintptr(r.s.fd))
	return nil
}

func (r rawSocket) Read(f func(fd uintptr) bool) error {
	return r.Control(func(fd uintptr) { f(fd) })
}

func (r rawSocket) Write(f func(fd uintptr) bool) error {
	return r.Control(func(fd uintptr) { f(fd) })
}
