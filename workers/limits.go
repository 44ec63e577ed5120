//go:build linux

package workers

import (
	"math"
	"runtime/debug"
	"time"
)

// Begin tells the master that a script begins: when it has not ended by limit
// and a quarter more, or when the process has grown by more than bytes and
// 64 MB more, it is no more: the master kills it a little before. 0 means no limit.
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

// collectBefore lets garbage be collected before the master takes it for what
// a script holds. To change that stops the process for a moment, so it is only
// done when the limit is another one.
func (w *Worker) setMemoryLimit(bytes int64) {
	if bytes == w.memoryLimit {
		return
	}
	w.memoryLimit = bytes
	most := int64(math.MaxInt64)
	if bytes > 0 {
		most = bytes + margin
	}
	debug.SetMemoryLimit(most)
}

// End tells that the script has ended.
func (w *Worker) End() {
	if !w.state.script.CompareAndSwap(scriptRuns, scriptNone) && w.state.script.Load() == scriptDoomed {
		select {} // the process is being killed
	}
}
