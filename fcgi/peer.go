package fcgi

import "syscall"

// peerClosed reports whether the peer has closed the connection for good: sending nothing
// then fails. A peer that half-closes is still there.
func (c *conn) peerClosed() bool {
	var err error
	cerr := c.raw.Control(func(fd uintptr) {
		_, err = syscall.SendmsgN(int(fd), nil, nil, nil, 0) // the socket does not block
	})
	return cerr != nil || err != nil && err != syscall.EAGAIN && err != syscall.EINTR
}

// isListening reports whether fd is a listening socket.
func isListening(fd int) bool {
	v, err := syscall.GetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_ACCEPTCONN)
	return err == nil && v != 0
}
