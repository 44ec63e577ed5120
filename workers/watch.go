//go:build linux

package workers

import (
	"fmt"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// lookBusy is how often the master looks at its workers while they work,
	// lookIdle how often else.
	lookBusy = 5 * time.Millisecond
	lookIdle = 50 * time.Millisecond
	// calmAfter is when the master stops looking: workers tell it.
	calmAfter = time.Second
	// stuckAfter is how long a request may run before its worker is no longer
	// counted among those that take new ones soon. An ordinary request on a
	// crowded machine should not make the pool grow.
	stuckAfter = 20 * time.Millisecond
	// margin is how much a process may grow beyond the memory limit of its
	// script: the language measures the same growth more exactly, but cannot
	// stop a single operation.
	margin = 64 << 20
	// fat is how much a free worker may hold before it is replaced.
	fat = 48 << 20
)

// A body of which so much has come, and no more for so long, is read ahead: its
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
		p.mem.asleep.Store(false)
		t := time.Now()
		if t.Sub(swept) >= sweepEvery {
			swept = t
			p.sweep()
		}
		next := p.pause(t, p.lookAround())
		p.mu.Unlock()
		timer.Reset(next)
	}
}

// pause returns how long the master may look away.
func (p *Pool) pause(t time.Time, busy bool) time.Duration {
	if busy {
		p.since = t
		return lookBusy
	}
	if t.Sub(p.since) < calmAfter {
		return lookIdle
	}
	// Who begins something from now on wakes the master; what was begun before
	// is seen here.
	p.mem.asleep.Store(true)
	for _, w := range p.processes {
		if w != nil && (!w.ready || w.rec.busy.Load() != 0) {
			p.mem.asleep.Store(false)
			return lookIdle
		}
	}
	return sweepEvery
}

// lookAround enforces the limits of the workers and sees that there are enough
// of them. It reports whether anything is at work. p.mu is held.
func (p *Pool) lookAround() (busy bool) {
	t, clock := now(), time.Now()
	total, available := 0, 0
	var spare *process
	for _, w := range p.processes {
		if w == nil {
			continue
		}
		begun, served := w.rec.busy.Load(), w.rec.served.Load()
		took := time.Duration(0)
		if begun != 0 {
			took = time.Duration(t - begun)
		}
		if begun != 0 || served != w.served {
			w.served, w.active, busy = served, clock, true
		}
		p.enforce(w, t, took)
		if w.leaving || w.stale || w.killed != "" {
			continue
		}
		if !w.sending(took) {
			total++
		}
		if took < stuckAfter {
			available++
		}
		if w.ready && clock.Sub(w.active) > p.o.Spare && (spare == nil || w.started.After(spare.started)) {
			spare = w
		}
	}
	wanted := p.o.Min
	switch {
	case p.dismissed:
		return busy
	case p.closing && p.needed:
		wanted = 1
	case p.closing:
		wanted = 0
	}
	switch {
	case available < wanted && total < p.o.Max && clock.After(p.resume):
		if err := p.spawn(); err != nil {
			p.resume = clock.Add(time.Second)
			p.log(err)
		}
	case p.closing:
	case available > p.o.Min && spare != nil && total > p.o.Min:
		spare.leave()
	}
	return p.queue(t, available == 0 && total >= p.o.Max) || busy
}

// sending tells whether w is held up by a peer that does not take its answer.
// Its script has ended, so another process may run one in its place.
func (w *process) sending(ran time.Duration) bool {
	return ran >= stuckAfter && w.rec.sent.Load() && w.rec.script.Load() != scriptRuns
}

// enforce kills w when its script has overrun a limit that the language should
// have kept, or when it does nothing any more. Took is how long it has been at
// its present connection. p.mu is held.
func (p *Pool) enforce(w *process, t int64, took time.Duration) {
	if w.killed != "" {
		return
	}
	script := w.rec.script.Load() == scriptRuns
	deadline, bytes := w.rec.deadline.Load(), w.rec.bytes.Load()
	switch {
	case script && deadline != 0 && t > deadline:
		w.killScript(TooLong)
	case script && bytes > 0 && took >= stuckAfter && resident(w.cmd.Process.Pid) > w.idle+bytes+margin:
		w.killScript(TooLarge)
	case !script && took > p.o.Hung && time.Duration(t-w.rec.progress.Load()) > p.o.Hung:
		w.kill(Hung)
	case took == 0 && w.ready && (w.idle == 0 || w.measured != w.rec.served.Load()):
		w.idle, w.measured = resident(w.cmd.Process.Pid), w.rec.served.Load()
	}
}

// killScript kills w unless its script ends at this moment.
func (w *process) killScript(reason Reason) {
	if w.rec.script.CompareAndSwap(scriptRuns, scriptDoomed) {
		w.kill(reason)
	}
}

func (w *process) kill(reason Reason) {
	w.killed = reason
	w.cmd.Process.Kill()
}

// queue counts who waits and refuses who has waited too long, or is one too
// many. Only while all workers are at work for long there is a queue worth
// counting. It reports whether part of a request has come on any connection.
// p.mu is held.
func (p *Pool) queue(t int64, full bool) (parts bool) {
	if full {
		p.takeNew()
	}
	var slots []int32
	var fds []int
	for slot, c := range p.conns {
		if c == nil {
			continue
		}
		s := &p.mem.slots[slot]
		if s.partial.Load() != 0 {
			parts = true
			c.waiting = 0
			if s.stalled(t) && s.claim(c.gen, ownerMaster) {
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
		if !some && p.mem.slots[slots[i]].spooled.Load() == 0 {
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
func (s *slot) stalled(t int64) bool {
	return s.body.Load() && s.partial.Load() >= stallSize && t-s.since.Load() > int64(stallTime)
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
// request does not come to its end, and looks after workers that have grown or
// say nothing. p.mu is held.
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
		case s.partial.Load() != 0 && (since > p.o.Request || time.Duration(t-s.first.Load()) > p.o.Whole):
			p.refuse(int32(slot), c, TooSlow)
		case s.partial.Load() == 0 && since > p.o.Idle:
			p.closeIdle(int32(slot), c)
		}
	}
	p.missed()
	for _, w := range p.processes {
		if w != nil {
			p.sweepWorker(w)
		}
	}
}

// missed sees to it that what nobody has read for a second is looked at: a
// process that was stopped, or is no more, may be the only one that was told.
func (p *Pool) missed() {
	var slots []int
	var fds []int
	for slot, c := range p.conns {
		if c == nil {
			continue
		}
		if s := &p.mem.slots[slot]; s.partial.Load() != 0 || s.owner(c.gen) != ownerNone {
			c.missed = false
			continue
		}
		slots, fds = append(slots, slot), append(fds, c.fd)
	}
	look := false
	for i, some := range allReadable(fds) {
		c := p.conns[slots[i]]
		some = some || p.mem.slots[slots[i]].spooled.Load() > 0
		look = look || some && c.missed
		c.missed = some
	}
	if look {
		p.broadcast(message{kind: msgLook, fd: -1})
	}
	if fds = fds[:0]; !p.closing {
		for _, l := range p.listeners {
			fds = append(fds, int(l.Fd()))
		}
		new := slices.Contains(allReadable(fds), true)
		if new && p.unheard {
			p.takeNew()
		}
		p.unheard = new
	}
}

const (
	pingEvery  = 10 // sweeps between two questions whether a worker lives
	deafSweeps = 30 // that a worker may leave such a question unanswered
)

// sweepWorker replaces w when it has grown, and kills it when it does not react.
func (p *Pool) sweepWorker(w *process) {
	switch sending := w.ch.sending.Load(); {
	case w.killed != "":
	case w.silent >= deafSweeps, sending != 0 && time.Duration(now()-sending) > deafSweeps*sweepEvery:
		p.log(fmt.Errorf("worker %d does not react and is killed", w.cmd.Process.Pid))
		w.kill(Hung)
	case w.silent > 0:
		w.silent++
	case !w.ready:
		if time.Since(w.started) > p.o.Hung {
			p.log(fmt.Errorf("worker %d has not begun to serve for %v and is killed", w.cmd.Process.Pid, p.o.Hung))
			w.kill(Hung)
		}
	default:
		if w.sweeps++; w.sweeps%pingEvery == 0 {
			w.silent = 1
			w.ch.put(message{kind: msgPing, fd: -1})
		}
		if !w.leaving && w.rec.phase.Load() == phaseFree && resident(w.cmd.Process.Pid) > fat {
			w.leave()
		}
	}
}
