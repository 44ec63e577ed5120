//go:build linux

package workers

import (
	"fmt"
	"os"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	maxSlots   = 4096 // connections that can be shared at a time
	maxWorkers = 64   // that take requests; those that are being replaced come on top
	maxRecords = 2 * maxWorkers
	maxLoops   = 32 // of a worker: the one that takes events, and those that have stepped aside
)

// memory is what the master and its workers share. It outlives each of them, so
// that it tells what a worker did when it died.
type memory struct {
	workers [maxRecords]record
	slots   [maxSlots]slot
	// asleep is true while the master looks round but rarely, for nothing has
	// happened lately: who begins something wakes it.
	asleep atomic.Bool
}

// slot is a shared connection.
type slot struct {
	// word says who serves the connection: its generation in the upper half,
	// below it the owner, and whether others have seen something to do.
	word atomic.Uint64
	// since is when the connection was last left, or when part of a request
	// was first seen on it; nanoseconds of the machine's clock.
	since atomic.Int64
	// first is when part of the present request was first seen.
	first atomic.Int64
	// partial is how many bytes of an incomplete request were seen; 0: none.
	partial atomic.Int64
	// body is true when they hold part of a body.
	body atomic.Bool
	// spooled is how many bytes of the first request are in a file; 0: it is
	// none, or has been served. Whole is true when all of it is there.
	spooled atomic.Int64
	whole   atomic.Bool
	request atomic.Uint32 // FastCGI's number of that request
}

// leave notes that n bytes of an incomplete request are there.
func (s *slot) leave(n int, body bool) {
	t := now()
	before := s.partial.Load()
	if before == 0 {
		s.first.Store(t)
	}
	if before != int64(n) {
		s.since.Store(t)
	}
	s.partial.Store(int64(n))
	s.body.Store(body)
}

// rest notes that nothing of a request is there.
func (s *slot) rest() {
	s.partial.Store(0)
	s.body.Store(false)
	s.since.Store(now())
}

const (
	ownerMask   = 0xffff
	ownerNone   = 0
	ownerMaster = 0xfffe
	ownerGone   = 0xffff // closed; the number may not be used again yet
	contended   = 1 << 16
)

func word(gen uint32, owner int) uint64 { return uint64(gen)<<32 | uint64(owner) }

// claim makes owner the one who serves the connection. When somebody else does,
// that one is told to look again before it leaves.
func (s *slot) claim(gen uint32, owner int) bool {
	for {
		w := s.word.Load()
		switch {
		case uint32(w>>32) != gen || w&ownerMask == ownerGone:
			return false
		case w&ownerMask == ownerNone:
			if s.word.CompareAndSwap(w, word(gen, owner)) {
				return true
			}
		case w&contended != 0 || s.word.CompareAndSwap(w, w|contended):
			return false
		}
	}
}

// release lets others serve the connection. It reports false when somebody has
// seen something to do meanwhile: the owner stays the owner and looks again.
func (s *slot) release(gen uint32, owner int) bool {
	if s.word.CompareAndSwap(word(gen, owner), word(gen, ownerNone)) {
		return true
	}
	s.word.Store(word(gen, owner))
	return false
}

// owner returns who serves the connection of generation gen; ownerGone when it
// is closed or another one by now.
func (s *slot) owner(gen uint32) int {
	w := s.word.Load()
	if uint32(w>>32) != gen {
		return ownerGone
	}
	return int(w & ownerMask)
}

// What a loop is doing.
const (
	phaseFree    = iota // nothing
	phaseClaimed        // it has a connection and has read nothing from it
	phaseReading        // it reads a request
	phaseRunning        // the handler runs
)

// record is what a worker tells of itself.
type record struct {
	ready    atomic.Bool  // the worker has begun to serve
	loop     atomic.Int32 // the number of the loop that takes events
	script   atomic.Int32 // scriptNone and so on
	deadline atomic.Int64 // when the script must have returned; 0: no limit
	bytes    atomic.Int64 // memory that it may use; 0: no limit
	served   atomic.Int64 // requests, of this process
	turns    [maxLoops]turn
}

// turn is what one loop of a worker is doing.
type turn struct {
	phase    atomic.Int32
	slot     atomic.Int32  // the connection's number; -1: one of its own
	gen      atomic.Uint32 // and generation
	request  atomic.Uint32 // FastCGI's number of the request
	sent     atomic.Bool   // part of an answer has left
	busy     atomic.Int64  // since when it has had a connection, by the machine's clock; 0: it has none
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
func (r *record) reset() {
	r.ready.Store(false)
	r.loop.Store(0)
	r.script.Store(scriptNone)
	r.deadline.Store(0)
	r.bytes.Store(0)
	r.served.Store(0)
	for i := range r.turns {
		t := &r.turns[i]
		t.phase.Store(phaseFree)
		t.slot.Store(-1)
		t.request.Store(0)
		t.sent.Store(false)
		t.busy.Store(0)
		t.began.Store(0)
		t.progress.Store(now())
	}
}

// current is the turn of the loop that takes events.
func (r *record) current() *turn { return &r.turns[r.loop.Load()] }

// others counts the turns that have stepped aside: their requests only wait for
// the disk, or for a peer to take their answer.
func (r *record) others() (n int) {
	current := r.current()
	for i := range r.turns {
		if t := &r.turns[i]; t != current && t.phase.Load() != phaseFree {
			n++
		}
	}
	return n
}

// idle tells whether no loop has anything to do.
func (r *record) idle() bool {
	for i := range r.turns {
		if r.turns[i].phase.Load() != phaseFree {
			return false
		}
	}
	return true
}

// on gives the turn that reads or answers a request of a shared connection; nil:
// none does.
func (r *record) on(slot int32, gen uint32) *turn {
	for i := range r.turns {
		if t := &r.turns[i]; t.phase.Load() >= phaseReading && t.slot.Load() == slot && t.gen.Load() == gen {
			return t
		}
	}
	return nil
}

// take notes that the loop has a connection: slot number, -1 for one of its own.
func (t *turn) take(number int32, gen uint32) {
	clock := now()
	t.slot.Store(number)
	t.gen.Store(gen)
	t.sent.Store(false)
	t.request.Store(0)
	t.progress.Store(clock)
	t.busy.Store(clock)
	t.phase.Store(phaseClaimed)
}

// free notes that it has none.
func (t *turn) free() {
	t.phase.Store(phaseFree)
	t.busy.Store(0)
}

// newMemory makes the shared memory and a file to pass on.
func newMemory() (*memory, *os.File, error) {
	fd, err := unix.MemfdCreate("scripter-workers", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, nil, fmt.Errorf("making shared memory: %w", err)
	}
	f := os.NewFile(uintptr(fd), "memory")
	if err := f.Truncate(int64(unsafe.Sizeof(memory{}))); err != nil {
		f.Close()
		return nil, nil, fmt.Errorf("making shared memory: %w", err)
	}
	m, err := mapMemory(f)
	return m, f, err
}

func mapMemory(f *os.File) (*memory, error) {
	b, err := unix.Mmap(int(f.Fd()), 0, int(unsafe.Sizeof(memory{})), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("mapping shared memory: %w", err)
	}
	return (*memory)(unsafe.Pointer(&b[0])), nil
}

// The machine's clock is the same in all processes. It is asked once; from then
// on Go's own reading of it, which costs less, is added.
var (
	clockBase  = time.Now()
	clockStart = func() int64 {
		var t unix.Timespec
		if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &t); err != nil {
			panic("workers: the machine has no monotonic clock: " + err.Error())
		}
		return t.Nano()
	}()
)

func now() int64 { return clockStart + int64(time.Since(clockBase)) }
