//go:build linux

package workers

import (
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"scripter/fcgi"
)

// share makes fd a connection of all workers; one with a long request when that
// has been read ahead.
func (p *Pool) share(fd int, long bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if long && fd >= 0 && p.count < p.o.Conns {
		p.readAhead(fd)
	} else {
		p.shareLocked(fd)
	}
}

// longRequest, in place of a slot, tells of a new connection that a request lies
// there of which not all can be looked at.
const longRequest = 1

func (p *Pool) shareLocked(fd int) {
	if fd < 0 {
		return
	}
	if slot := p.room(); slot >= 0 {
		p.place(slot, &held{fd: fd})
	} else {
		p.turnAway(fd)
	}
}

// room returns a number for another connection; -1: there is none.
func (p *Pool) room() int32 {
	if p.count >= p.o.Conns {
		p.evict()
	}
	if p.count >= p.o.Conns {
		return -1
	}
	return p.freeSlot()
}

// place makes c the connection of a free slot.
func (p *Pool) place(slot int32, c *held) {
	p.last[slot]++
	c.gen = p.last[slot]
	s := &p.mem.slots[slot]
	if c.file == nil {
		s.spooled.Store(0)
	}
	s.rest()
	s.word.Store(word(c.gen, ownerNone))
	p.conns[slot] = c
	p.count++
	p.broadcast(message{kind: msgOpen, slot: slot, gen: c.gen, fd: -1})
}

func (p *Pool) freeSlot() int32 {
	for i, c := range p.conns {
		if c == nil && i < p.o.Conns {
			return int32(i)
		}
	}
	return -1
}

// turnAway refuses the request on a connection that there is no room for. p.mu
// is held.
func (p *Pool) turnAway(fd int) { p.decline(fd, lookedAt(fd).ID, Refused) }

// decline answers request id on fd in place of a worker, unless id is 0, and
// closes fd. p.mu is held.
func (p *Pool) decline(fd int, id uint16, reason Reason) {
	if id == 0 {
		hangUp(fd)
		return
	}
	p.facts.Lost[reason]++
	write(fd, fcgi.AppendAnswer(nil, id, p.o.Lost(Loss{Reason: reason})))
	linger(fd)
}

// forget lets go of a connection that has ended.
func (p *Pool) forget(slot int32, gen uint32) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if slot < 0 || slot >= maxSlots {
		return
	}
	if c := p.conns[slot]; c != nil && c.gen == gen {
		p.drop(slot, c)
	}
}

// drop closes a connection, here and in all workers. p.mu is held.
func (p *Pool) drop(slot int32, c *held) {
	p.unshare(slot, c)
	hangUp(c.fd)
}

// unshare takes a connection away from the workers. p.mu is held.
func (p *Pool) unshare(slot int32, c *held) {
	p.mem.slots[slot].word.Store(word(c.gen, ownerGone))
	p.conns[slot] = nil
	p.count--
	if c.file != nil {
		c.file.Close()
	}
	p.broadcast(message{kind: msgClose, slot: slot, gen: c.gen, fd: -1})
}

func (p *Pool) broadcast(m message) {
	for _, w := range p.processes {
		if w != nil {
			w.ch.put(m)
		}
	}
}

// hangUp closes fd without losing what was written to it: a socket that is
// closed with bytes unread is reset.
func hangUp(fd int) {
	var waste [4096]byte
	for range 64 {
		if n, err := unix.Read(fd, waste[:]); n <= 0 && err != unix.EINTR {
			break
		}
	}
	unix.Shutdown(fd, unix.SHUT_RDWR)
	unix.Close(fd)
}

// linger closes fd when the peer has closed it, or has had the time to read what
// was written to it: it may still be sending a request that nobody will read.
func linger(fd int) {
	unix.Shutdown(fd, unix.SHUT_WR)
	f := os.NewFile(uintptr(fd), "connection")
	go func() {
		defer f.Close()
		if f.SetReadDeadline(time.Now().Add(lingerTime)) == nil {
			io.CopyN(io.Discard, f, lingerBytes)
		}
		unix.Shutdown(fd, unix.SHUT_RDWR)
	}()
}

const (
	lingerTime  = 2 * time.Second
	lingerBytes = 64 << 20
)

// closeIdle closes a connection that nobody serves and reports whether it did.
// p.mu is held.
func (p *Pool) closeIdle(slot int32, c *held) bool {
	if !p.mem.slots[slot].claim(c.gen, ownerMaster) {
		return false
	}
	if readable(c.fd) || p.mem.slots[slot].spooled.Load() > 0 {
		if !p.mem.slots[slot].release(c.gen, ownerMaster) {
			p.mem.slots[slot].word.Store(word(c.gen, ownerNone))
		}
		p.broadcast(message{kind: msgLook, fd: -1})
		return false
	}
	p.drop(slot, c)
	return true
}

// evict closes the connection that has been idle longest.
func (p *Pool) evict() {
	oldest, victim := int64(0), int32(-1)
	for slot, c := range p.conns {
		if c == nil || c.file != nil || p.mem.slots[slot].owner(c.gen) != ownerNone {
			continue
		}
		if since := p.mem.slots[slot].since.Load(); victim < 0 || since < oldest {
			oldest, victim = since, int32(slot)
		}
	}
	if victim >= 0 {
		p.closeIdle(victim, p.conns[victim])
	}
}

// readable reports whether there is something to read, be it the end.
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

// salvage answers the requests that w had when it died. p.mu is held.
func (p *Pool) salvage(w *process, err error) {
	loss := Loss{Reason: Crashed, Pid: w.cmd.Process.Pid, Err: ended(err)}
	if w.killed != "" {
		loss.Reason = w.killed
	}
	if began := w.rec.began.Load(); began != 0 {
		loss.Ran = time.Duration(now() - began)
	}
	current, begun := w.rec.slot.Load(), w.rec.phase.Load() >= phaseReading
	for slot, c := range p.conns {
		if c == nil {
			continue
		}
		s := &p.mem.slots[slot]
		switch s.owner(c.gen) {
		case w.index + 1:
		case ownerMaster: // it had just left it to us
			p.spoolShared(int32(slot), c)
			continue
		case ownerGone: // it did not live to tell
			p.drop(int32(slot), c)
			continue
		default:
			continue
		}
		if int32(slot) != current || !begun {
			s.word.Store(word(c.gen, ownerNone))
			continue
		}
		p.unshare(int32(slot), c)
		p.answer(w, c.fd, loss)
	}
	if fd := w.dep.take(); begun && fd >= 0 {
		p.answer(w, fd, loss)
	} else {
		p.shareLocked(fd)
	}
}

// answer tells the web server on fd what became of its request, if it has heard
// nothing yet, and closes fd.
func (p *Pool) answer(w *process, fd int, loss Loss) {
	id := uint16(w.rec.request.Load())
	p.facts.Lost[loss.Reason]++
	page := p.o.Lost(loss)
	if id != 0 && !w.rec.sent.Load() {
		write(fd, fcgi.AppendAnswer(nil, id, page))
		linger(fd)
		return
	}
	hangUp(fd)
}

// refuse answers a request that no worker will read. p.mu is held.
func (p *Pool) refuse(slot int32, c *held, reason Reason) {
	if !p.mem.slots[slot].claim(c.gen, ownerMaster) {
		return
	}
	id := uint16(p.mem.slots[slot].request.Load())
	if p.mem.slots[slot].spooled.Load() == 0 {
		id = lookedAt(c.fd).ID
	}
	p.unshare(slot, c)
	p.decline(c.fd, id, reason)
}

func lookedAt(fd int) fcgi.Ahead {
	b := make([]byte, lookSize)
	n, _, err := unix.Recvfrom(fd, b, unix.MSG_PEEK|unix.MSG_DONTWAIT)
	if err != nil || n <= 0 {
		return fcgi.Ahead{}
	}
	return fcgi.LookAhead(b[:n])
}

// write writes what the socket takes: an answer of ours fits its buffer.
func write(fd int, b []byte) {
	for len(b) > 0 {
		n, err := unix.Write(fd, b)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return
		}
		b = b[n:]
	}
}

// resident returns the memory of a process, in bytes; 0 when it cannot be told.
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
