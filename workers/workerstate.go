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

// record is what a worker tells of itself.
type workerState struct {
	ready    atomic.Bool  // the worker has begun to serve
	active   atomic.Int32 // the number of the loop that takes events
	script   atomic.Int32 // scriptNone and so on
	deadline atomic.Int64 // when the script must have returned; 0: no limit
	bytes    atomic.Int64 // memory that it may use; 0: no limit
	served   atomic.Int64 // requests, of this process
	loops    [maxLoops]activity
}

// turn is what one loop of a worker is doing.
type activity struct {
	phase    atomic.Int32
	slot     atomic.Int32  // the connection's number; -1: one of its own
	gen      atomic.Uint32 // and generation
	request  atomic.Uint32 // FastCGI's number of the request
	sent     atomic.Bool   // part of an answer has left
	since    atomic.Int64  // since when it has had a connection, by the machine's clock; 0: it has none
	began    atomic.Int64  // when the handler was called; 0: it is not running
	progress atomic.Int64  // when it last began something or sent or received
	_        [2]int64      // a line of the processor's cache for each
}

// Whether a script runs. The master marks one as doomed before it kills the
// process. A worker whose script has just ended sees that, and begins nothing
// that would be killed in its place.
const (
	scriptNone = iota
	scriptRuns
	scriptDoomed
)

// reset prepares the record for a new process.
func (r *workerState) reset() {
	r.ready.Store(false)
	r.active.Store(0)
	r.script.Store(scriptNone)
	r.deadline.Store(0)
	r.bytes.Store(0)
	r.served.Store(0)
	for i := range r.loops {
		t := &r.loops[i]
		t.phase.Store(phaseFree)
		t.slot.Store(-1)
		t.request.Store(0)
		t.sent.Store(false)
		t.since.Store(0)
		t.began.Store(0)
		t.progress.Store(now())
	}
}

// current is the turn of the loop that takes events.
func (r *workerState) activeLoop() *activity { return &r.loops[r.active.Load()] }

// others counts the turns that have stepped aside: their requests only wait for
// the disk, or for a peer to take their answer.
func (r *workerState) othersBusy() (n int) {
	current := r.activeLoop()
	for i := range r.loops {
		if t := &r.loops[i]; t != current && t.phase.Load() != phaseFree {
			n++
		}
	}
	return n
}

// idle tells whether no loop has anything to do.
func (r *workerState) idle() bool {
	for i := range r.loops {
		if r.loops[i].phase.Load() != phaseFree {
			return false
		}
	}
	return true
}

// on gives the turn that reads or answers a request of a shared connection; nil:
// none does.
func (r *workerState) serving(slot int32, gen uint32) *activity {
	for i := range r.loops {
		if t := &r.loops[i]; t.phase.Load() >= phaseReading && t.slot.Load() == slot && t.gen.Load() == gen {
			return t
		}
	}
	return nil
}

// take notes that the loop has a connection: slot number, -1 for one of its own.
func (t *activity) begin(number int32, gen uint32) {
	clock := now()
	t.slot.Store(number)
	t.gen.Store(gen)
	t.sent.Store(false)
	t.request.Store(0)
	t.progress.Store(clock)
	t.since.Store(clock)
	t.phase.Store(phaseAcquired)
}

// free notes that it has none.
func (t *activity) end() {
	t.phase.Store(phaseFree)
	t.since.Store(0)
}
