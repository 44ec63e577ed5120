//go:build linux

package workers

import (
	"os"
	"runtime/debug"
	"time"
)

// Go keeps the memory of garbage for later use. A process that has been idle for a
// while returns it to the system. That takes a garbage collection, so it is only done
// if the process has grown.
const (
	freeAfter = 250 * time.Millisecond // of idle time
	freeFrom  = 2 << 20                // bytes that the process has grown since
	// maxIdleMemory is how much memory an idle worker may hold. A worker that holds more
	// returns it between two requests, and is replaced if it cannot.
	maxIdleMemory = 48 << 20
)

// freeMemory makes w return unused memory to the system.
func (w *process) freeMemory() {
	if !w.freeing && !w.leaving {
		w.freeing = true
		w.ch.enqueue(message{kind: msgFreeMemory})
	}
}

// freeIfGrown calls freeMemory for an idle worker, once after each time of work, if it is
// worth it.
func (w *process) freeIfGrown() {
	if w.freedAt == w.served {
		return
	}
	w.freedAt = w.served
	if resident(w.cmd.Process.Pid) >= w.baseMemory+freeFrom {
		w.freeMemory()
	}
}

// memoryFreed records that w has returned its memory.
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

// checkMemory calls freeMemory for a worker that is large and never idle for long. The caller
// holds p.mu.
func (w *process) checkMemory() {
	if w.state.idle() && resident(w.cmd.Process.Pid) > maxIdleMemory {
		w.freeMemory()
	}
}

// freeMasterMemory returns unused memory of the master. The caller holds p.mu.
func (p *Pool) freeMasterMemory() {
	if resident(os.Getpid()) >= p.baseMemory+freeFrom {
		debug.FreeOSMemory()
		p.baseMemory = resident(os.Getpid())
	}
}
