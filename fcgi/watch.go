package fcgi

import (
	"math"
	"sync/atomic"
	"time"
)

// clock is the server's time: nanoseconds since its start, renewed once in a
// tick. Setting a deadline costs a request an atomic store instead of a timer;
// deadlines are kept to within three ticks. Time in which the process stood still
// does not count: a machine that was suspended, or too busy, does not take it
// out on those who asked in the meantime.
type clock struct {
	base   time.Time
	tick   int64
	now    atomic.Int64
	lost   atomic.Int64 // time that does not count
	asleep atomic.Bool  // nothing seemed to happen: whoever starts something wakes the watcher
	woken  chan struct{}
}

func (k *clock) init(tick time.Duration) {
	k.base = time.Now().Add(-time.Second) // so that 0 is never a time
	k.tick = int64(tick)
	k.woken = make(chan struct{}, 1)
	k.refresh()
}

func (k *clock) refresh() int64 {
	now := int64(time.Since(k.base)) - k.lost.Load()
	k.now.Store(now)
	return now
}

// sleep waits for the next look.
func (k *clock) sleep() {
	begun := time.Now()
	time.Sleep(time.Duration(k.tick))
	k.slept(time.Since(begun))
}

// slept is told how long the sleep of a tick has taken.
func (k *clock) slept(took time.Duration) {
	if late := int64(took) - 2*k.tick; late > 0 {
		k.lost.Add(late)
	}
}

// time returns the present time, less two ticks at most.
func (k *clock) time() int64 {
	if k.asleep.Load() {
		return k.refresh()
	}
	return k.now.Load()
}

// after returns the time d from now, at least.
func (k *clock) after(d time.Duration) int64 { return k.time() + int64(d) + 2*k.tick }

// nudge is called after a deadline was set or a request begun.
func (k *clock) nudge() {
	if k.asleep.Load() {
		k.wake()
	}
}

func (k *clock) wake() {
	select {
	case k.woken <- struct{}{}:
	default:
	}
}

// watch looks after the connections until the server has neither connections
// nor listeners: it enforces their deadlines and notices web servers that went
// away. It runs each tick while there are requests, else when a deadline comes.
func (s *Server) watch() {
	timer := time.NewTimer(0)
	defer timer.Stop()
	var conns []*conn
	for !s.unwatch() {
		// Set before the look round: whoever starts something that this look
		// misses finds it set.
		s.clock.asleep.Store(true)
		now := s.clock.refresh()
		clear(conns)
		conns = s.snapshot(conns[:0])
		busy, next := false, int64(math.MaxInt64)
		for _, c := range conns {
			active, deadline := c.look(now)
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

// unwatch ends the watching when nothing is left to watch.
func (s *Server) unwatch() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watched = len(s.conns) > 0 || len(s.listeners) > 0 || s.attending
	return !s.watched
}

// past is a deadline that interrupts whoever waits.
var past = time.Unix(1, 0)

// look enforces the deadlines of c and, when a request has been running for a
// tick, asks whether the web server still wants it. It reports whether c is at
// work and when its next deadline is.
func (c *conn) look(now int64) (active bool, next int64) {
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
	if n := c.count.Load(); n != c.seen {
		c.seen, active = n, true
	}
	return active, next
}
