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
	restAfter = 250 * time.Millisecond // without a request
	restFrom  = 2 << 20                // bytes more than when it last had rested
	// fat is how much a worker may hold: one that holds more gives it back
	// between two requests, and is replaced when it cannot.
	fat = 48 << 20
)

// rest makes w give back what its last requests have left.
func (w *process) rest() {
	if !w.resting && !w.leaving {
		w.resting = true
		w.ch.put(message{kind: msgRest, fd: -1})
	}
}

// restIfWorth is for a worker that is free. It looks once after each time of work.
func (w *process) restIfWorth() {
	if w.rested == w.served {
		return
	}
	w.rested = w.served
	if resident(w.cmd.Process.Pid) >= w.least+restFrom {
		w.rest()
	}
}

// hasRested notes that w has given back what it could.
func (p *Pool) hasRested(w *process) {
	p.mu.Lock()
	defer p.mu.Unlock()
	w.resting = false
	w.least = resident(w.cmd.Process.Pid)
	if !w.rec.idle() {
		return // a request may hold it
	}
	w.idle = w.least
	if w.least > fat {
		w.leave()
	}
}

// sweepMemory looks after a worker that is never free for long. p.mu is held.
func (w *process) sweepMemory() {
	if w.rec.idle() && resident(w.cmd.Process.Pid) > fat {
		w.rest()
	}
}

// restMaster makes the master itself give back what it can. p.mu is held.
func (p *Pool) restMaster() {
	if resident(os.Getpid()) >= p.least+restFrom {
		debug.FreeOSMemory()
		p.least = resident(os.Getpid())
	}
}
