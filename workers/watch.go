//go:build linux

package workers

import (
	"time"

	"golang.org/x/sys/unix"
)

const (
	// lookBusy is how often the master looks at its workers while they work,
	// lookIdle how often else.
	lookBusy = 5 * time.Millisecond
	lookIdle = 50 * time.Millisecond
	// stuckAfter is how long a request may run before its worker is no longer
	// counted among those that take new ones soon. An ordinary request on a
	// crowded machine should not make the pool grow.
	stuckAfter = 20 * time.Millisecond
	// margin is how much a process may grow beyond the memory limit of its
	// script: the language measures the same growth more exactly, but cannot
	// stop a single operation.
	margin = 64 << 20
	// fat is how much a free worker may hold before it is replaced.
	fat = 96 << 20
)

// A body of which so much has come, and no more for so long, is begun: its
// sender may be waiting until it can write more.
const (
	stallSize = 4 << 10
	stallTime = 100 * time.Millisecond
)

// watch looks after everything that must happen in time.
func (p *Pool) watch() {
	timer := time.NewTimer(lookIdle)
	defer timer.Stop()
	swept := time.Now()
	for {
		select {
		case <-p.done:
			return
		case <-p.changed:
		case <-timer.C:
		}
		p.mu.Lock()
		busy := p.lookAround()
		if t := time.Now(); t.Sub(swept) >= sweepEvery {
			swept = t
			p.sweep()
		}
		p.mu.Unlock()
		next := lookIdle
		if busy {
			next = lookBusy
		}
		timer.Reset(next)
	}
}

// lookAround enforces the limits of the workers and sees that there are enough
// of them. It reports whether any is at work. p.mu is held.
func (p *Pool) lookAround() (busy bool) {
	t, clock := now(), time.Now()
	total, available := 0, 0
	var spare *process
	for _, w := range p.processes {
		if w == nil {
			continue
		}
		began, served := w.rec.began.Load(), w.rec.served.Load()
		ran := time.Duration(0)
		if began != 0 {
			ran = time.Duration(t - began)
		}
		if began != 0 || served != w.served {
			w.served, w.active, busy = served, clock, true
		}
		p.enforce(w, t, ran)
		if !w.sending(ran) {
			total++
		}
		if w.leaving || w.stale || w.killed != "" {
			continue
		}
		if ran < stuckAfter {
			available++
		}
		if w.ready && clock.Sub(w.active) > p.o.Spare && (spare == nil || w.started.After(spare.started)) {
			spare = w
		}
	}
	if p.closing {
		return busy
	}
	switch {
	case available < p.o.Min && total < p.o.Max && clock.After(p.resume):
		if err := p.spawn(); err != nil {
			p.resume = clock.Add(time.Second)
			p.log(err)
		}
	case available > p.o.Min && spare != nil && total > p.o.Min:
		spare.leave()
	}
	p.queue(t, available == 0 && total >= p.o.Max)
	return busy
}

// sending tells whether w is held up by a peer that does not take its answer.
// Its script has ended, so another process may run one in its place.
func (w *process) sending(ran time.Duration) bool {
	return ran >= stuckAfter && w.rec.sent.Load() && w.rec.deadline.Load() == 0
}

// enforce kills w when its script has overrun a limit that the language should
// have kept.
func (p *Pool) enforce(w *process, t int64, ran time.Duration) {
	if w.killed != "" {
		return
	}
	deadline, bytes := w.rec.deadline.Load(), w.rec.bytes.Load()
	if deadline != 0 && t > deadline {
		w.kill(TooLong)
		return
	}
	switch {
	case ran >= stuckAfter && bytes > 0 && w.ready:
		if resident(w.cmd.Process.Pid) > w.idle+bytes+margin {
			w.kill(TooLarge)
		}
	case w.idle == 0 && w.ready && ran == 0:
		w.idle = resident(w.cmd.Process.Pid)
	}
}

func (w *process) kill(reason Reason) {
	w.killed = reason
	w.cmd.Process.Kill()
}

// queue counts who waits and refuses who has waited too long, or is one too
// many. Only while all workers are at work for long there is a queue worth
// counting. p.mu is held.
func (p *Pool) queue(t int64, full bool) {
	if full {
		p.takeNew()
	}
	waiting := 0
	for slot, c := range p.conns {
		if c == nil {
			continue
		}
		if s := &p.mem.slots[slot]; s.body.Load() && s.partial.Load() >= stallSize && t-s.since.Load() > int64(stallTime) && s.owner(c.gen) == ownerNone {
			s.stalled.Store(true)
			s.since.Store(t)
			p.broadcast(message{kind: msgLook, fd: -1})
		}
		if !full || p.mem.slots[slot].owner(c.gen) != ownerNone || p.mem.slots[slot].partial.Load() != 0 || !readable(c.fd) {
			c.waiting = 0
			continue
		}
		if c.waiting == 0 {
			c.waiting = t
		}
		if waiting++; waiting > p.o.Waiting || time.Duration(t-c.waiting) > p.o.Wait {
			p.refuse(int32(slot), c, Refused)
		}
	}
}

// takeNew accepts what waits in the queues of the listening sockets, for no
// worker has the time, and reports whether there was anything.
func (p *Pool) takeNew() (any bool) {
	for _, l := range p.listeners {
		for range 64 {
			fd, sa, err := unix.Accept4(int(l.Fd()), unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC)
			if err == unix.EMFILE || err == unix.ENFILE {
				p.evict()
			}
			if err != nil {
				break
			}
			any = true
			if p.permits.Permits(netAddr(sa)) {
				p.shareLocked(fd)
			} else {
				unix.Close(fd)
			}
		}
	}
	return any
}

const sweepEvery = time.Second

// sweep closes connections that have been idle too long, and those on which a
// request does not come to its end, and replaces workers that have grown.
func (p *Pool) sweep() {
	t := now()
	for slot, c := range p.conns {
		if c == nil {
			continue
		}
		s := &p.mem.slots[slot]
		since := time.Duration(t - s.since.Load())
		switch {
		case s.owner(c.gen) != ownerNone:
		case s.partial.Load() != 0 && since > p.o.Request:
			p.refuse(int32(slot), c, TooSlow)
		case s.partial.Load() == 0 && since > p.o.Idle && !readable(c.fd):
			p.closeIdle(int32(slot), c)
		}
	}
	for _, w := range p.processes {
		if w == nil || !w.ready || w.leaving || w.rec.phase.Load() != phaseFree {
			continue
		}
		w.idle = resident(w.cmd.Process.Pid)
		if w.idle > fat {
			w.leave()
		}
	}
}
