//go:build linux

package workers

import (
	"time"

	"golang.org/x/sys/unix"
)

// checkQueue counts the requests that wait, and refuses those that wait too long or are too
// many. That is only necessary while all workers are busy. It also makes the master spool
// bodies that have stalled. It reports whether there are incomplete requests. The caller
// holds p.mu.
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

// stalled reports whether a body has stopped growing.
func (s *connState) stalled(t int64) bool {
	return s.body.Load() && s.partial.Load() >= stallSize && t-s.since.Load() > int64(stallTime)
}

// The master spools a body of which stallSize bytes have arrived and none for
// stallTime: its sender may be waiting until it can write more.
const (
	stallSize = 4 << 10
	stallTime = 100 * time.Millisecond
)

// acceptNew accepts connections in place of busy workers. It reports whether it
// accepted any.
func (p *Pool) acceptNew() (any bool) {
	for _, l := range p.listeners {
		unix.SetNonblock(int(l.Fd()), true) // another process that holds it may have made it blocking
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
