//go:build linux

package workers

import (
	"os"
	"runtime/debug"
	"time"
)

// A process keeps the memory of garbage for what it may need next. When it has
// had nothing to do for a while it gives that back: collecting takes two or three
// milliseconds, so it is done only where there is something to be had.
const (
	freeAfter = 250 * time.Millisecond // without a request
	freeFrom  = 2 << 20                // bytes more than when it last had rested
	// fat is how much a worker may hold: one that holds more gives it back
	// between two requests, and is replaced when it cannot.
	maxIdleMemory = 48 << 20
)

// rest makes w give back what its last requests have left.
func (w *process) freeMemory() {
	if !w.freeing && !w.leaving {
		w.freeing = true
		w.ch.enqueue(message{kind: msgFreeMemory, fd: -1})
	}
}

// restIfWorth is for a worker that is free. It looks once after each time of work.
func (w *process) freeIfGrown() {
	if w.freedAt == w.served {
		return
	}
	w.freedAt = w.served
	if resident(w.cmd.Process.Pid) >= w.baseMemory+freeFrom {
		w.freeMemory()
	}
}

// hasRested notes that w has given back what it could.
func (p *Pool) memoryFreed(w *process) {
	p.mu.Lock()
	defer p.mu.Unlock()
	w.freeing = false
	w.baseMemory = resident(w.cmd.Process.Pid)
	if !w.state.idle() {
		return // a request may hold it
	}
	w.idleMemory = w.baseMemory
	if w.baseMemory > maxIdleMemory {
		w.leave()
	}
}

// sweepMemory looks after a worker that is never free for long. p.mu is held.
func (w *process) checkMemory() {
	if w.state.idle() && resident(w.cmd.Process.Pid) > maxIdleMemory {
		w.freeMemory()
	}
}

// restMaster makes the master itself give back what it can. p.mu is held.
func (p *Pool) freeMasterMemory() {
	if resident(os.Getpid()) >= p.baseMemory+freeFrom {
		debug.FreeOSMemory()
		p.baseMemory = resident(os.Getpid())
	}
}
