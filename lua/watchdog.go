package lua

import (
	"runtime"
	"runtime/metrics"
	"sync"
	"time"
)

// The loop counts instructions, but a single one can take milliseconds and megabytes.
// So the watchdog sets an alarm, for which the loop looks before each instruction. It
// measures often while the heap grows fast, and rarely otherwise, because waking a
// thread costs as much as many instructions.
const (
	watchOften  = 2 * time.Millisecond
	watchRarely = 16 * time.Millisecond
	watchGrowth = 4 << 20 // bytes between two measurements
)

// watchIdle is how long the watchdog waits without a run before it ends.
const watchIdle = 500 * time.Millisecond

// A watchdog is one goroutine for the whole process. It sets the alarm of each run
// whose time is over, or during which the process has grown by more than the run may
// use. It ends a little after the last run.
type watchdog struct {
	mu    sync.Mutex
	runs  []*State
	alive bool
	heap  int64 // as measured last
}

var watch watchdog

// add begins to watch s.
func (w *watchdog) add(s *State) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.alive {
		w.alive = true
		w.heap = heapBytes()
		go w.run()
	}
	s.heap.Store(w.heap)
	s.index = len(w.runs)
	w.runs = append(w.runs, s)
}

// remove ends watching s.
func (w *watchdog) remove(s *State) {
	w.mu.Lock()
	defer w.mu.Unlock()
	last := len(w.runs) - 1
	w.runs[s.index] = w.runs[last]
	w.runs[s.index].index = s.index
	w.runs[last] = nil
	w.runs = w.runs[:last]
}

// postpone gives s more time.
func (w *watchdog) postpone(s *State, d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	s.deadline = s.deadline.Add(d)
}

func (w *watchdog) run() {
	pause := watchOften
	for idle := time.Duration(0); idle < watchIdle; idle += pause {
		time.Sleep(pause)
		runs, grown := w.look()
		if runs {
			idle = 0
		}
		if grown > watchGrowth {
			pause = watchOften
		} else {
			pause = min(2*pause, watchRarely)
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.alive = false
	if len(w.runs) > 0 { // one was added meanwhile
		w.alive = true
		go w.run()
	}
}

// look examines each run. It reports whether there is one, and by how much the heap
// has grown since the last time.
func (w *watchdog) look() (runs bool, grown int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	before := w.heap
	w.heap = heapBytes()
	now := time.Now()
	for _, s := range w.runs {
		if !now.Before(s.deadline) || s.isSlow(now) {
			s.alarm.Store(true)
		}
		switch base := s.heap.Load(); {
		case w.heap < base:
			s.heap.Store(w.heap)
		case w.heap-base > w.allowance(s) && !s.suspect.Load():
			s.suspect.Store(true)
			s.alarm.Store(true)
		}
	}
	return len(w.runs) > 0, w.heap - before
}

// maxShares is how many simultaneous runs count, when the growth of the process is
// compared with the limit of one run.
const maxShares = 4

// allowance returns how far the process may grow while s runs. Nothing tells which run
// a byte belongs to, so simultaneous runs share the sum of their limits.
func (w *watchdog) allowance(s *State) int64 {
	return s.limits.MemoryBytes * int64(min(max(len(w.runs), 1), maxShares))
}

// collecting lets one run at a time force a collection.
var collecting sync.Mutex

// tooMuch reports whether the run uses too much memory, as the watchdog suspects. Much
// of the growth may be garbage, so it collects and measures again.
func (s *State) tooMuch() bool {
	collecting.Lock()
	defer collecting.Unlock()
	over := func() bool {
		watch.mu.Lock()
		defer watch.mu.Unlock()
		return heapBytes()-s.heap.Load() > watch.allowance(s)
	}
	if over() {
		runtime.GC()
	}
	if over() {
		return true
	}
	s.suspect.Store(false)
	return false
}

// heapBytes returns the bytes in heap objects, including garbage that is not yet swept.
func heapBytes() int64 {
	s := [1]metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(s[:])
	return int64(s[0].Value.Uint64())
}
