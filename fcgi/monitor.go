package fcgi

import (
	"math"
	"time"
)

// monitor checks the connections until the server has neither connections nor listeners: it
// enforces their deadlines and notices web servers that are gone. It runs each tick while
// there are requests, else when a deadline comes.
func (s *Server) monitor() {
	timer := time.NewTimer(0)
	defer timer.Stop()
	var conns []*conn
	for !s.monitorEnds() {
		// Set before the check: whoever starts something that this check misses
		// finds it set.
		s.clock.asleep.Store(true)
		now := s.clock.refresh()
		clear(conns)
		conns = s.snapshot(conns[:0])
		busy, next := false, int64(math.MaxInt64)
		for _, c := range conns {
			active, deadline := c.check(now)
			busy = busy || active
			next = min(next, deadline)
		}
		if busy {
			s.clock.asleep.Store(false)
			s.clock.sleep()
			continue
		}
		timer.Reset(time.Duration(max(s.clock.tick, min(next-now, int64(time.Hour)))))
		select {
		case <-s.clock.woken:
		case <-timer.C:
		}
	}
}

// monitorEnds reports whether there is nothing left to monitor.
func (s *Server) monitorEnds() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.monitored = len(s.conns) > 0 || len(s.listeners) > 0 || s.started
	return !s.monitored
}

// past is a deadline that interrupts a read or a write.
var past = time.Unix(1, 0)

// check enforces the deadlines of c. If a request has been running for a tick, it checks
// whether the web server still wants it. It reports whether c is busy, and when its next
// deadline is.
func (c *conn) check(now int64) (active bool, next int64) {
	next = math.MaxInt64
	if by := c.readBy.Load(); by != 0 {
		if now >= by {
			c.nc.SetReadDeadline(past)
		}
		next = max(by, now+c.s.clock.tick)
	}
	if by := c.writeBy.Load(); by != 0 {
		if now >= by {
			c.nc.SetWriteDeadline(past)
		}
		next = min(next, max(by, now+c.s.clock.tick))
	}
	switch c.phase.Load() {
	case phaseRunning:
		active = true
		if now-c.since.Load() >= c.s.clock.tick {
			c.poll()
		}
	case phaseIdle:
		if c.s.closing.Load() {
			active = true
			if c.count.Load() > 0 || now-c.since.Load() >= int64(newConnGrace) {
				c.nc.SetReadDeadline(past)
			}
		}
	}
	if n := c.count.Load(); n != c.checkedCount {
		c.checkedCount, active = n, true
	}
	return active, next
}
