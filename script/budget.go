package script

import (
	"context"
	"math/rand"
	"sync/atomic"
	"time"

	lua "github.com/yuin/gopher-lua"
)

// slice is the number of instructions between two looks. The first look is
// before the first instruction: it hands the run to the watchdog.
const slice = 10_000

// A budget is what one run may still use. It is the context.Context of the
// run's Lua state: the interpreter calls Done before every instruction, in the
// goroutine that runs, so that Done can count instructions at the price of a
// subtraction and an atomic load.
//
// An exhausted budget stays so. Done then makes the interpreter raise an error
// before every instruction, in every frame and coroutine, which is why no
// pcall can hold a run that has been stopped.
type budget struct {
	limits Limits
	parent context.Context
	owner  any              // the Thread that runs; set by it
	now    func() time.Time // the clock of os.time and os.date

	left     int64       // instructions until the next look
	granted  int64       // instructions granted so far, the present slice included
	alarm    atomic.Bool // look at once
	err      atomic.Pointer[stopped]
	deadline time.Time // zero until the first look
	watched  bool
	index    int          // place in the watchdog's list, under its lock
	base     atomic.Int64 // bytes in use when the run began, or the least seen since
	suspect  atomic.Bool  // the watchdog saw more than base + MemoryBytes
	slowAt   atomic.Int64 // when to tell where the run is, after began; 0 for never
	tell     func([]Frame)

	depth      int           // calls that pass through Go now: pcall, coroutines
	guarded    int           // how many pcalls would catch an error now
	coroutines int           // coroutines that have not ended
	passages   []passage     // protected calls under way, innermost last
	active     []*lua.LState // the script's own coroutines that run or have resumed one
	spare      []stack       // stacks for protected calls to come
	frames     []Frame       // of the error raised last with no pcall around
	ending     bool          // frames tell where the run was stopped
	passing    bool          // the next error is one that a coroutine passes on
	verbatim   bool          // the next error is not to be reworded
	libraries  *libraries    // made so far
	random     *rand.Rand    // of math.random, once used
	detach     func() bool   // from parent
}

// stopped holds the reason why a budget ended.
type stopped struct{ err error }

// newBudget returns the budget of one run. It ends with parent too.
func newBudget(parent context.Context, l Limits) *budget {
	b := &budget{limits: l.withDefaults(), parent: parent, now: time.Now}
	if parent.Done() != nil {
		b.detach = context.AfterFunc(parent, func() { b.stop(context.Cause(parent)) })
	}
	return b
}

// close takes the budget out of the watchdog's sight and away from its parent.
// The state that used it must not run afterwards.
func (b *budget) close() {
	b.giveBack()
	if b.watched {
		watch.remove(b)
		b.watched = false
	}
	if b.detach != nil {
		b.detach()
	}
}

// budgetOf returns the budget that L runs under.
func budgetOf(L *lua.LState) *budget {
	b, ok := L.Context().(*budget)
	if !ok {
		return unlimited
	}
	return b
}

// unlimited is the budget of states that count nothing. There are none but in
// the benchmark that measures what counting costs.
var unlimited *budget

// stop ends the run at its next instruction. No pcall can catch it, and Err
// returns the first reason given. It may be called from any goroutine.
func (b *budget) stop(err error) {
	b.err.CompareAndSwap(nil, &stopped{err})
	b.alarm.Store(true)
}

// Err returns why the run was stopped, nil while it may go on.
func (b *budget) Err() error {
	if s := b.err.Load(); s != nil {
		return s.err
	}
	return nil
}

var closed = func() chan struct{} { c := make(chan struct{}); close(c); return c }()

// Done counts one instruction; it returns a closed channel once the run is to
// end and a nil one before.
func (b *budget) Done() <-chan struct{} {
	left := b.left - 1
	b.left = left
	if left < 0 || b.alarm.Load() {
		return b.ended()
	}
	return nil
}

func (b *budget) ended() <-chan struct{} {
	if b.look() {
		return nil
	}
	return closed
}

// Deadline returns when the run has to end, if it has begun.
func (b *budget) Deadline() (time.Time, bool) { return b.deadline, !b.deadline.IsZero() }

// Value returns what the run's parent context holds under key.
func (b *budget) Value(key any) any { return b.parent.Value(key) }

// look is the slow part of Done: it reports whether the run may go on.
func (b *budget) look() bool {
	if b.err.Load() != nil {
		return false
	}
	now := time.Now()
	if !b.watched {
		b.deadline = now.Add(max(b.limits.Time-b.limits.Spent, time.Millisecond))
		watch.add(b)
		b.watched = true
	}
	if !now.Before(b.deadline) {
		b.exceed("time", "time limit of %v exceeded", b.limits.Time)
		return false
	}
	if b.isSlow(now) {
		b.tellSlow()
	}
	if b.left < 0 {
		if b.granted-b.left > b.limits.Instructions {
			b.exceed("instructions", "limit of %d instructions exceeded", b.limits.Instructions)
			return false
		}
		used := b.granted - b.left
		b.left = min(slice, max(0, b.limits.Instructions-used))
		b.granted = used + b.left
	}
	b.alarm.Store(false)
	if b.err.Load() != nil { // stopped since the first line
		b.alarm.Store(true)
		return false
	}
	if b.suspect.Load() && b.tooMuch() {
		b.exceed("memory", "memory limit of %d MB exceeded", b.limits.MemoryBytes>>20)
		return false
	}
	return true
}

// exceed stops the run because a limit was reached.
func (b *budget) exceed(limit, format string, args ...any) {
	b.stop(b.limitError(limit, format, args...))
}

// charge counts n steps of a library function as instructions and raises an
// error when that was too much. Functions that can be long call it as they go.
func (b *budget) charge(L *lua.LState, n int) {
	b.left -= int64(n)
	if b.left >= 0 && !b.alarm.Load() {
		return
	}
	if !b.look() {
		b.raise(L)
	}
}

// raise raises the error of a stopped run.
func (b *budget) raise(L *lua.LState) {
	L.Error(lua.LString(b.Err().Error()), 0)
}

// checkLength raises an error when a string of n bytes is not to be made, and
// charges for the copying when it is.
func (b *budget) checkLength(L *lua.LState, n int) {
	if n > b.limits.StringBytes || n < 0 {
		b.refuse(L, "string", "string length limit of %d bytes exceeded", b.limits.StringBytes)
	}
	b.charge(L, n>>6)
}
