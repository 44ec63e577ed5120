package fcgi

import (
	"math"
	"net"
)

// Attend lets the server serve connections by Turn: it begins to watch over
// their deadlines and their peers. It is called once, instead of Serve.
func (s *Server) Start() {
	s.init()
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.started && !s.monitored {
		s.monitored = true
		go s.monitor()
	}
	s.started = true
}

// Leave makes every further Turn the last one of its connection.
func (s *Server) CloseConnections() {
	s.init()
	s.closing.Store(true)
}

// Permits reports whether a connection from addr may be served (section 3.2).
func (s *Server) Allows(addr net.Addr) bool {
	s.init()
	return s.allowedErr == nil && allows(addr, s.allowed)
}

// Turn serves the requests that have come on nc, one after the other, and
// returns when no more are there. It reports whether the connection stays open;
// else it has closed nc. What has come only in part is waited for, as Limits
// allow: Peek tells beforehand.
//
// Between two turns nothing of the connection is kept here, so that turns may
// be taken by several processes that hold the same socket.
func (s *Server) ServeReady(nc net.Conn) (open bool) {
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
		c.idle()
	}
}

// ahead is advance for a connection whose next request may not have come: then
// it is errWouldBlock. A request that has begun is waited for.
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

// leave forgets the connection without closing it.
func (c *conn) detach() {
	c.phase.Store(phaseClosing)
	c.readBy.Store(0)
	c.s.dropConn(c)
	// The watcher may be looking in, and a handler may have left a goroutine
	// behind that still reads.
	c.rmu.Lock()
	c.reader.release()
	c.rmu.Unlock()
	c.wmu.Lock()
	c.werr = ErrClosed
	c.writer.release()
	c.wmu.Unlock()
}
