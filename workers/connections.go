//go:build linux

package workers

import (
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// share shares fd with all workers. If its request is long, the master spools it first.
func (p *Pool) share(fd int, long bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if long && fd > 0 && p.connCount < p.o.Conns {
		p.startSpool(fd)
	} else {
		p.shareLocked(fd)
	}
}

// spoolRequest is the slot of a msgNew whose request is too long to peek at.
const spoolRequest = 1

func (p *Pool) shareLocked(fd int) {
	if fd == 0 {
		return
	}
	if slot := p.freeConn(); slot >= 0 {
		p.addConn(slot, &connection{fd: fd})
	} else {
		p.refuseNew(fd)
	}
}

// freeConn returns the index for another connection, or -1.
func (p *Pool) freeConn() int32 {
	if p.connCount >= p.o.Conns {
		p.evict()
	}
	if p.connCount >= p.o.Conns || !p.fits(1) {
		return -1
	}
	return p.freeIndex()
}

// fits closes idle connections until n more descriptors are free, and reports whether they
// are. The caller holds p.mu.
func (p *Pool) fits(n int) bool {
	for p.connCount+p.extraFDs+n > p.o.descriptors {
		if !p.evict() {
			return false
		}
	}
	return true
}

// addConn makes c the connection slot and sends it to all workers.
func (p *Pool) addConn(slot int32, c *connection) {
	p.generations[slot]++
	c.gen = p.generations[slot]
	s := &p.mem.conns[slot]
	if c.file == nil {
		s.spooled.Store(0)
	} else {
		p.extraFDs++
	}
	s.noteIdle()
	s.word.Store(word(c.gen, ownerNone))
	p.conns[slot] = c
	p.connCount++
	p.broadcast(message{kind: msgOpen, slot: slot, gen: c.gen})
}

func (p *Pool) freeIndex() int32 {
	for i, c := range p.conns {
		if c == nil && i < p.o.Conns {
			return int32(i)
		}
	}
	return -1
}

// forget drops a connection that has ended.
func (p *Pool) forget(slot int32, gen uint32) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if slot < 0 || slot >= maxConns {
		return
	}
	if c := p.conns[slot]; c != nil && c.gen == gen {
		p.drop(slot, c)
	}
}

// drop closes a connection, here and in all workers. The caller holds p.mu.
func (p *Pool) drop(slot int32, c *connection) {
	p.unshare(slot, c)
	closeDrained(c.fd)
}

// unshare closes a connection in all workers. The caller holds p.mu.
func (p *Pool) unshare(slot int32, c *connection) {
	p.mem.conns[slot].word.Store(word(c.gen, ownerGone))
	p.conns[slot] = nil
	p.connCount--
	if c.file != nil {
		c.file.Close()
		p.extraFDs--
	}
	p.broadcast(message{kind: msgClose, slot: slot, gen: c.gen})
}

func (p *Pool) broadcast(m message) {
	for _, w := range p.processes {
		if w != nil {
			w.ch.enqueue(m)
		}
	}
}

// closeIdle closes a connection that no worker serves, and reports whether it did. The
// caller holds p.mu.
func (p *Pool) closeIdle(slot int32, c *connection) bool {
	if !p.mem.conns[slot].acquire(c.gen, ownerMaster) {
		return false
	}
	if readable(c.fd) || p.mem.conns[slot].spooled.Load() > 0 {
		if !p.mem.conns[slot].release(c.gen, ownerMaster) {
			p.mem.conns[slot].word.Store(word(c.gen, ownerNone))
		}
		p.broadcast(message{kind: msgRecheck})
		return false
	}
	p.drop(slot, c)
	return true
}

// evict closes the connection that has been idle longest, and reports whether it did. The
// caller holds p.mu.
func (p *Pool) evict() bool {
	oldest, victim := int64(0), int32(-1)
	for slot, c := range p.conns {
		if c == nil || c.file != nil || p.mem.conns[slot].owner(c.gen) != ownerNone {
			continue
		}
		if since := p.mem.conns[slot].since.Load(); victim < 0 || since < oldest {
			oldest, victim = since, int32(slot)
		}
	}
	return victim >= 0 && p.closeIdle(victim, p.conns[victim])
}

// readable reports whether fd has data, or has ended.
func readable(fd int) bool { return allReadable([]int{fd})[0] }

func allReadable(fds []int) []bool {
	ps, some := make([]unix.PollFd, len(fds)), make([]bool, len(fds))
	for i, fd := range fds {
		ps[i] = unix.PollFd{Fd: int32(fd), Events: unix.POLLIN | unix.POLLRDHUP}
	}
	if n, _ := unix.Poll(ps, 0); n > 0 {
		for i := range ps {
			some[i] = ps[i].Revents != 0
		}
	}
	return some
}

// resident returns the resident memory of a process in bytes, or 0 if it cannot be read.
func resident(pid int) int64 {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/statm")
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(b))
	if len(fields) < 2 {
		return 0
	}
	n, _ := strconv.ParseInt(fields[1], 10, 64)
	return n * int64(os.Getpagesize())
}
