package fcgi

import (
	"math"
	"net"
)

// Attend lets the server serve connections by Turn: it begins to watch over
// their deadlines and their peers. It is called once, instead of Serve.
func (s *Server) Attend() {
	s.init()
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.attending && !s.watched {
		s.watched = true
		go s.watch()
	}
	s.attending = true
}

// Leave makes every further Turn the last one of its connection.
func (s *Server) Leave() {
	s.init()
	s.closing.Store(true)
}

// Permits reports whether a connection from addr may be served (section 3.2).
func (s *Server) Permits(addr net.Addr) bool {
	s.init()
	return s.allowedErr == nil && permitted(addr, s.allowed)
}

// Turn serves the requests that have come on nc, one after the other, and
// returns when no more are there. It reports whether the connection stays open;
// else it has closed nc. What has come only in part is waited for, as Limits
// allow: LookAhead tells beforehand.
//
// Between two turns nothing of the connection is kept here, so that turns may
// be taken by several processes that hold the same socket.
func (s *Server) Turn(nc net.Conn) (open bool) {
	c := newConn(s, nc)
	if s.addConn(c) != nil {
		nc.Close()
		return false
	}
	defer func() {
		if open {
			c.leave()
		} else {
			c.end()
		}
	}()
	return c.turn()
}

func (c *conn) turn() bool {
	for {
		ev, err := c.ahead()
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
		c.rest()
	}
}

// ahead is advance for a connection whose next request may not have come: then
// it is errWouldBlock. A request that has begun is waited for.
func (c *conn) ahead() (event, error) {
	c.rmu.Lock()
	defer c.rmu.Unlock()
	c.nowait, c.looks = true, math.MaxInt
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
func (c *conn) leave() {
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
