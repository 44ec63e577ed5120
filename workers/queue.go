//go:build linux

package workers

import (
	"time"

	"golang.org/x/sys/unix"
)

// queue counts who waits and refuses who has waited too long, or is one too
// many. Only while all workers are at work for long there is a queue worth
// counting. It reports whether part of a request has come on any connection.
// p.mu is held.
func (p *Pool) checkQueue(t int64, full bool) (parts bool) {
	if full {
		p.acceptNew()
	}
	var slots []int32
	var fds []int
	for slot, c := range p.conns {
		if c == nil {
			continue
		}
		s := &p.mem.conns[slot]
		if s.partial.Load() != 0 {
			parts = true
			c.waiting = 0
			if s.stalled(t) && s.acquire(c.gen, ownerMaster) {
				p.spoolShared(int32(slot), c)
			}
			continue
		}
		if !full || s.owner(c.gen) != ownerNone {
			c.waiting = 0
			continue
		}
		slots, fds = append(slots, int32(slot)), append(fds, c.fd)
	}
	waiting := 0
	for i, some := range allReadable(fds) {
		c := p.conns[slots[i]]
		if !some && p.mem.conns[slots[i]].spooled.Load() == 0 {
			c.waiting = 0
			continue
		}
		if c.waiting == 0 {
			c.waiting = t
		}
		if waiting++; waiting > p.o.Waiting || time.Duration(t-c.waiting) > p.o.Wait {
			p.refuse(slots[i], c, Refused)
		}
	}
	return parts
}

// stalled reports whether a body does not grow any more.
func (s *connState) stalled(t int64) bool {
	return s.body.Load() && s.partial.Load() >= stallSize && t-s.since.Load() > int64(stallTime)
}

// A body of which so much has come, and no more for so long, is read ahead: its
// sender may be waiting until it can write more.
const (
	stallSize = 4 << 10
	stallTime = 100 * time.Millisecond
)

// takeNew accepts what waits in the queues of the listening sockets, for no
// worker has the time, and reports whether there was anything.
func (p *Pool) acceptNew() (any bool) {
	for _, l := range p.listeners {
		unix.SetNonblock(int(l.Fd()), true) // another process that holds it may have changed that
		for range 64 {
			fd, sa, err := unix.Accept4(int(l.Fd()), unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC)
			if err == unix.EMFILE || err == unix.ENFILE {
				p.evict()
			}
			if err != nil {
				break
			}
			any = true
			if p.permits.Allows(netAddr(sa)) {
				p.shareLocked(fd)
			} else {
				unix.Close(fd)
			}
		}
	}
	return any
}
