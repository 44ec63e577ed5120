//go:build linux

package workers

import (
	"fmt"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

const timeoutInterval = time.Second

// checkTimeouts closes connections that have been idle too long, refuses requests that
// arrive too slowly, and checks the workers. The caller holds p.mu.
func (p *Pool) checkTimeouts() {
	t := now()
	for slot, c := range p.conns {
		if c == nil {
			continue
		}
		s := &p.mem.conns[slot]
		since := time.Duration(t - s.since.Load())
		switch {
		case s.owner(c.gen) != ownerNone:
		case s.partial.Load() != 0 && (since > p.o.RequestIdle || time.Duration(t-s.first.Load()) > p.o.RequestTotal):
			p.refuse(int32(slot), c, TooSlow)
		case s.partial.Load() == 0 && since > p.o.Idle:
			p.closeIdle(int32(slot), c)
		}
	}
	p.checkUnread()
	for _, w := range p.processes {
		if w != nil {
			p.checkWorker(w)
		}
	}
}

// checkUnread makes the workers check their connections again if data has been unread for
// two checks: the worker that got the event may have been stopped, or have died.
func (p *Pool) checkUnread() {
	var slots []int
	var fds []int
	for slot, c := range p.conns {
		if c == nil {
			continue
		}
		if s := &p.mem.conns[slot]; s.partial.Load() != 0 || s.owner(c.gen) != ownerNone {
			c.unread = false
			continue
		}
		slots, fds = append(slots, slot), append(fds, c.fd)
	}
	look := false
	for i, some := range allReadable(fds) {
		c := p.conns[slots[i]]
		some = some || p.mem.conns[slots[i]].spooled.Load() > 0
		look = look || some && c.unread
		c.unread = some
	}
	if look {
		p.broadcast(message{kind: msgRecheck})
	}
	if fds = fds[:0]; !p.closing {
		for _, l := range p.listeners {
			unix.SetNonblock(int(l.Fd()), true)
			fds = append(fds, int(l.Fd()))
		}
		new := slices.Contains(allReadable(fds), true)
		if new && p.newWaiting {
			p.acceptNew()
		}
		p.newWaiting = new
	}
}

const (
	reportEvery     = 10 // checks after which a worker is asked for a report, to see whether it reacts
	maxSilentChecks = 30 // checks that it may take
)

// checkWorker kills w if it does not react, and else checks its memory.
func (p *Pool) checkWorker(w *process) {
	switch sending := w.ch.sending.Load(); {
	case w.killedFor != "":
	case w.silent >= maxSilentChecks, sending != 0 && time.Duration(now()-sending) > maxSilentChecks*timeoutInterval:
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
		if w.checks++; w.checks%reportEvery == 0 {
			w.silent = 1
			w.ch.enqueue(message{kind: msgReport})
		}
		w.checkMemory()
	}
}
