package fcgi

import (
	"math"
	"net"
)

// CloseConnections makes every further ServeReady close its connection.
func (s *Server) CloseConnections() {
	s.init()
	s.close()
}

// Allows reports whether a connection from addr may be served (section 3.2).
func (s *Server) Allows(addr net.Addr) bool {
	s.init()
	return s.allowedErr == nil && allows(addr, s.allowed)
}

// ServeReady serves the requests that have arrived on nc, one after the other, and returns
// when there are no more. It reports whether the connection stays open; else it has closed
// nc. If a request is incomplete, ServeReady waits for the rest, as Limits allow: Peek tells
// beforehand.
//
// Between two calls the Server keeps nothing of the connection, so several processes that
// hold the same socket may call it in turns.
func (s *Server) ServeReady(nc net.Conn) (open bool) {
	s.init()
	c := newConn(s, nc)
	if s.addConn(c) != nil {
		nc.Close()
		return false
	}
	defer func() {
		if open {
			c.detach()
		} else {
			c.end()
		}
	}()
	return c.serve(false)
}

// advanceArrived is advance for a connection whose next request may not have arrived: then
// the error is errWouldBlock. If a request has begun, it waits for the rest.
func (c *conn) advanceArrived() (event, error) {
	c.nowait, c.reads = true, math.MaxInt
	ev, err := c.advance(nil)
	c.nowait = false
	if err != errWouldBlock {
		return ev, err
	}
	if between := c.r == c.w && !c.inRecord && (c.req == nil || c.req.over.Load()); !between {
		return c.advance(nil)
	}
	if err := c.sendReplies(); err != nil {
		return evNone, err
	}
	return evNone, errWouldBlock
}

// detach removes the connection from the server without closing it.
func (c *conn) detach() {
	c.phase.Store(phaseClosing)
	c.s.dropConn(c)
	// The monitor may be polling, and a handler may have left a goroutine behind that
	// still reads.
	c.rmu.Lock()
	c.reader.release()
	c.rmu.Unlock()
	c.wmu.Lock()
	c.werr = ErrClosed
	c.writer.release()
	c.wmu.Unlock()
}
