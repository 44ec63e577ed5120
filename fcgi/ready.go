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
	return c.serveReady()
}

func (c *conn) serveReady() bool {
	for {
		ev, err := c.nextReady()
		switch {
		case err == errWouldBlock:
			return !c.last.Load()
		case err != nil:
			c.reportRead(err)
			return false
		case ev == evLast:
			c.linger()
			return false
		}
		c.run(c.req)
		if c.last.Load() {
			if !c.req.stdinDone.Load() {
				c.linger()
			}
			return false
		}
		c.beginPhase(phaseIdle)
	}
}

// nextReady is advance for a connection whose next request may not have arrived: then the
// error is errWouldBlock. If a request has begun, nextReady waits for the rest.
func (c *conn) nextReady() (event, error) {
	c.rmu.Lock()
	defer c.rmu.Unlock()
	c.nowait, c.reads = true, math.MaxInt
	ev, err := c.advance(nil)
	c.nowait = false
	if err == errWouldBlock {
		if between := c.r == c.w && !c.inRecord && (c.req == nil || c.req.over.Load()); between {
			if err := c.sendReplies(); err != nil {
				return evNone, err
			}
			return evNone, errWouldBlock
		}
		ev, err = c.advance(nil)
	}
	if ev == evReady {
		c.takeStdinEnd(c.req)
		err = c.sendReplies()
	}
	return ev, err
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
