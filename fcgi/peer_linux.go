package fcgi

import (
	"net"
	"syscall"
)

const (
	tcpInfo      = 11 // TCP_INFO; its first byte is the state
	tcpCloseWait = 8
)

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
