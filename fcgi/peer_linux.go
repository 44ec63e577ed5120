package fcgi

import (
	"net"
	"syscall"
)

const (
	tcpInfo      = 11 // TCP_INFO; its first byte is the state
	tcpCloseWait = 8
)

// peerClosed reports whether the peer has closed the connection for good: sending
// nothing then fails. A peer that half-closed is still there.
func (c *conn) peerClosed() bool {
	var err error
	cerr := c.raw.Control(func(fd uintptr) {
		_, err = syscall.SendmsgN(int(fd), nil, nil, nil, syscall.MSG_DONTWAIT|syscall.MSG_NOSIGNAL)
	})
	return cerr != nil || err != nil && err != syscall.EAGAIN && err != syscall.EINTR
}

// peerHalfClosed reports whether c is a TCP connection whose peer sends nothing more. TCP
// does not tell whether the peer still receives.
func (c *conn) peerHalfClosed() bool {
	if _, ok := c.nc.LocalAddr().(*net.TCPAddr); !ok {
		return false
	}
	var state int
	err := c.raw.Control(func(fd uintptr) {
		state, _ = syscall.GetsockoptInt(int(fd), syscall.IPPROTO_TCP, tcpInfo)
	})
	return err == nil && state&0xff == tcpCloseWait
}

// isListening reports whether fd is a listening socket.
func isListening(fd int) bool {
	v, err := syscall.GetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_ACCEPTCONN)
	return err == nil && v != 0
}
