//go:build linux

package workers

import (
	"net"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Close shuts the connection down for all processes that hold it, and ends all waiting. The
// descriptor stays open until free.
func (s *socket) Close() error {
	s.with(func(fd int) { unix.Shutdown(fd, unix.SHUT_RDWR) })
	s.closed.Store(true)
	return nil
}

// free closes the descriptor when it is no longer used.
func (s *socket) free() {
	s.closed.Store(true)
	s.use.Lock()
	defer s.use.Unlock()
	if s.fd >= 0 {
		unix.Close(s.fd)
		s.fd = -1
	}
	if s.file > 0 {
		unix.Close(s.file)
		s.file = 0
		s.fileLeft.Store(0)
	}
}

// CloseWrite tells the peer that nothing more will be sent.
func (s *socket) CloseWrite() (err error) {
	if closed := s.with(func(fd int) { err = unix.Shutdown(fd, unix.SHUT_WR) }); closed != nil {
		return closed
	}
	return err
}

func (s *socket) LocalAddr() net.Addr { return s.addr(&s.local, unix.Getsockname) }

func (s *socket) RemoteAddr() net.Addr { return s.addr(&s.remote, unix.Getpeername) }

func (s *socket) addr(cached *net.Addr, get func(int) (unix.Sockaddr, error)) net.Addr {
	if *cached == nil {
		var sa unix.Sockaddr
		s.with(func(fd int) { sa, _ = get(fd) })
		*cached = netAddr(sa)
	}
	return *cached
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

// SyscallConn lets package fcgi check whether the peer is still there.
func (s *socket) SyscallConn() (syscall.RawConn, error) { return rawSocket{s}, nil }

type rawSocket struct{ s *socket }

func (r rawSocket) Control(f func(fd uintptr)) error {
	return r.s.with(func(fd int) { f(uintptr(fd)) })
}

func (r rawSocket) Read(f func(fd uintptr) bool) error {
	return r.Control(func(fd uintptr) { f(fd) })
}

func (r rawSocket) Write(f func(fd uintptr) bool) error {
	return r.Control(func(fd uintptr) { f(fd) })
}
