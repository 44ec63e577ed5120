//go:build linux

package workers

import "sync/atomic"

// What a loop is doing.
const (
	phaseFree     = iota // nothing
	phaseAcquired        // it has a connection and has read nothing from it
	phaseReading         // it reads a request
	phaseRunning         // the handler runs
)

// workerState is what a worker tells the master about itself, in shared memory.
type workerState struct {
	ready    atomic.Bool  // the worker has begun to serve
	active   atomic.Int32 // index of the loop that handles events
	script   atomic.Int32 // scriptNone, scriptRuns or scriptDoomed
	deadline atomic.Int64 // when the script must have ended; 0: no limit
	bytes    atomic.Int64 // memory that the script may use; 0: no limit
	served   atomic.Int64 // requests, of this process
	loops    [maxLoops]activity
}

// activity is what one loop of a worker does.
type activity struct {
	phase    atomic.Int32
	slot     atomic.Int32  // index of the connection; -1: it is not shared
	gen      atomic.Uint32 // generation of the connection
	request  atomic.Uint32 // FastCGI request id
	sent     atomic.Bool   // part of the response was sent
	since    atomic.Int64  // when the loop began with the connection; 0: it has none
	began    atomic.Int64  // when the handler was called; 0: it does not run
	progress atomic.Int64  // when the loop last began something, sent or received
	_        [2]int64      // padding to a cache line
}

// Whether a script runs. The master marks a script as doomed before it kills the
// process. A worker that sees the mark when its script ends begins no other
// request, which would be killed instead.
const (
	scriptNone = iota
	scriptRuns
	scriptDoomed
)

// reset prepares the state for a new process.
func (w *workerState) reset() {
	w.ready.Store(false)
	w.active.Store(0)
	w.script.Store(scriptNone)
	w.deadline.Store(0)
	w.bytes.Store(0)
	w.served.Store(0)
	for i := range w.loops {
		a := &w.loops[i]
		a.phase.Store(phaseFree)
		a.slot.Store(-1)
		a.request.Store(0)
		a.sent.Store(false)
		a.since.Store(0)
		a.began.Store(0)
		a.progress.Store(now())
	}
}

// activeLoop returns the activity of the loop that handles events.
func (w *workerState) activeLoop() *activity { return &w.loops[w.active.Load()] }

// yielded counts the loops that have yielded: their requests only wait for the
// disk, or for the web server to read the response.
func (w *workerState) yielded() (n int) {
	active := w.activeLoop()
	for i := range w.loops {
		if a := &w.loops[i]; a != active && a.phase.Load() != phaseFree {
			n++
		}
	}
	return n
}

// idle reports whether no loop has a connection.
func (w *workerState) idle() bool {
	for i := range w.loops {
		if w.loops[i].phase.Load() != phaseFree {
			return false
		}
	}
	return true
}

// serving returns the activity of the loop that reads or answers a request of a
// shared connection, or nil.
func (w *workerState) serving(slot int32, gen uint32) *activity {
	for i := range w.loops {
		if a := &w.loops[i]; a.phase.Load() >= phaseReading && a.slot.Load() == slot && a.gen.Load() == gen {
			return a
		}
	}
	return nil
}

// begin records that the loop has the connection slot; -1 if it is not shared.
func (a *activity) begin(slot int32, gen uint32) {
	t := now()
	a.slot.Store(slot)
	a.gen.Store(gen)
	a.sent.Store(false)
	a.request.Store(0)
	a.progress.Store(t)
	a.since.Store(t)
	a.phase.Store(phaseAcquired)
}

// end records that the loop has no connection.
func (a *activity) end() {
	a.phase.Store(phaseFree)
	a.since.Store(0)
}
