//go:build unix && !linux

package fcgi

// peerHalfClosed returns false: only Linux tells. Elsewhere a TCP peer that is gone is
// noticed when the response is sent.
func (c *conn) peerHalfClosed() bool { return false }
