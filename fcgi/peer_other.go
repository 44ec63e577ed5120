//go:build unix && !linux

package fcgi

// peerHalfClosed returns false, because only Linux reports it. Elsewhere the server
// notices that a TCP peer is gone when it sends the response.
func (c *conn) peerHalfClosed() bool { return false }
