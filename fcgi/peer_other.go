//go:build unix && !linux

package fcgi

import "syscall"

// peerClosed reports whether the peer has closed the connection for good: sending
// nothing then fails.
func (c *conn) peerClosed() bool {
	var err error
	cerr := c.raw.Control(func(fd uintptr) {
		_, err = syscall.SendmsgN(int(fd), nil, nil, nil, 0)
	})
	return cerr != nil || err != nil && err != syscall.EAGAIN && err != syscall.EINTR
}

// peerHalfClosed is only known on Linux. Elsewhere a TCP peer that is gone is noticed when
// the response is sent.
func (c *conn) peerHalfClosed() bool { return false }

// isListening reports whether fd is a listening socket.
func isListening(fd int) bool {
	v, err := syscall.GetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_ACCEPTCONN)
	return err == nil && v != 0
}
