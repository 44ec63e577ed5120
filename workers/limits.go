//go:build linux

package workers

import (
	"math"
	"runtime/debug"
	"time"
)

// Begin tells the master that a script begins. The master kills the process if the script
// runs for a quarter longer than limit, or if the process grows by more than bytes and 64 MB.
// 0 means no limit.
func (w *Worker) Begin(limit time.Duration, bytes int64) {
	w.state.bytes.Store(bytes)
	w.setMemoryLimit(bytes)
	deadline := int64(0)
	if limit > 0 {
		deadline = now() + int64(limit) + int64(limit)/overrun
	}
	w.state.deadline.Store(deadline)
	w.state.script.Store(scriptRuns)
}

// setMemoryLimit makes Go collect garbage before the master counts it as memory of the
// script. A change stops the process for a moment, so it is made only if the limit is
// another one.
func (w *Worker) setMemoryLimit(bytes int64) {
	if bytes == w.memoryLimit {
		return
	}
	w.memoryLimit = bytes
	limit := int64(math.MaxInt64)
	if bytes > 0 {
		limit = bytes + margin
	}
	debug.SetMemoryLimit(limit)
}

// End tells the master that the script has ended.
func (w *Worker) End() {
	if !w.state.script.CompareAndSwap(scriptRuns, scriptNone) && w.state.script.Load() == scriptDoomed {
		select {} // the master is killing the process
	}
}
