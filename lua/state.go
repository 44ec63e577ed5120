package lua

import (
	"context"
	"errors"
	"fmt"
	"math/rand"
	"runtime/debug"
	"sync/atomic"
	"time"

	lua "github.com/yuin/gopher-lua"
)

const (
	// registryMax is the number of values that the registers of one coroutine
	// hold: enough for calls 10,000 deep of functions with 25 locals each.
	registryMax = 1 << 18
	// maxResults is how many values a library function gives at once, as
	// LUAI_MAXCSTACK in PUC Lua.
	maxResults = 8000
)

// Options say what a State may use and to whom it belongs.
type Options struct {
	// Limits bound all calls of the State together.
	Limits Limits
	// Owner is what the State belongs to. It may be nil.
	Owner Owner
	// Now is the clock of os.time and os.date, time.Now if nil.
	Now func() time.Time
	// Seed is the seed of math.random; 0 means any.
	Seed int64
	// Slow is called once, by the goroutine that runs, if the State is still
	// running SlowAfter after it was made. It gets the calls that led to where
	// the State is, innermost first. It must not use the State.
	Slow      func([]Frame)
	SlowAfter time.Duration
}

// An Owner knows more about values than Lua does, for messages.
type Owner interface {
	// FunctionName returns the name of a function in Go for tracebacks, or "".
	FunctionName(f *lua.LFunction) string
	// TypeName returns what a message about a wrong argument calls the value, or
	// "" for Lua's own name of its type.
	TypeName(v lua.LValue) string
	// Describe returns what a message calls v, an operand on which an operator
	// failed, or "" for Lua's own words. from is where the operand came from; it
	// is nil if that is not known.
	Describe(v lua.LValue, from *Source) string
}

// A State is one run of Lua: a Lua state with its limits. Scripts that one
// State calls one after the other share globals and limits.
//
// A State is the context.Context of its Lua states. Before every instruction the
// loop, see run, counts it and looks whether the State was stopped, at the price
// of a subtraction and an atomic load. Done does the same for gopher-lua's own
// loop.
//
// A State that was stopped stays so. The loop then raises an error before every
// instruction, in every frame and coroutine, so no pcall can keep the run going.
type State struct {
	limits Limits
	parent context.Context
	owner  Owner
	now    func() time.Time // the clock of os.time and os.date
	detach func() bool      // from parent

	main    *lua.LState // holds the globals
	base    *lua.LState // runs what Go calls: main, until something fails there
	running int         // calls by Go that are under way, through functions in Go
	entry   lua.LValue  // what base was called with
	cause   cause       // of the error raised last

	left     int64       // instructions until the next look
	granted  int64       // instructions granted so far, the present slice included
	alarm    atomic.Bool // look at once
	err      atomic.Pointer[stopped]
	deadline time.Time // zero until the first look
	watched  bool
	index    int          // place in the watchdog's list, under its lock
	heap     atomic.Int64 // bytes in use when the run began, or the least seen since
	suspect  atomic.Bool  // the watchdog saw more than heap + MemoryBytes
	slowAt   atomic.Int64 // when to report where the run is, after began; 0 for never
	report   func([]Frame)

	depth      int           // calls that pass through Go now: pcall, coroutines
	guarded    int           // how many pcalls would catch an error now
	coroutines int           // coroutines that have not ended
	protected  []callRecord  // protected calls under way, innermost last
	active     []*lua.LState // the script's own coroutines that run or have resumed one
	spare      []stack       // stacks for protected calls to come
	frames     []Frame       // of the error raised last with no pcall around
	ending     bool          // frames tell where the run was stopped
	passing    bool          // the next error is one that a coroutine passes on
	verbatim   bool          // the next error is not to be reworded
	libraries  *libraries    // made so far
	mayYield   bool          // no function in Go lies between the coroutine's start and the call of yield
	numbers    numberStore
	random     *rand.Rand // of math.random, once used
}

// cause is the error in Go behind the Lua error raised last.
type cause struct {
	message string
	err     error
}

// newRun returns a State that has no Lua state yet.
func newRun(parent context.Context, l Limits) *State {
	s := &State{limits: l.withDefaults(), parent: parent, now: time.Now}
	if parent.Done() != nil {
		s.detach = context.AfterFunc(parent, func() { s.Stop(context.Cause(parent)) })
	}
	return s
}

// New returns a State with Lua's libraries. It is stopped when ctx ends, and must
// be closed.
func New(ctx context.Context, o Options) *State {
	s := newRun(ctx, o.Limits)
	s.owner = o.Owner
	s.watchSlow(o.SlowAfter, o.Slow)
	if o.Now != nil {
		s.now = o.Now
	}
	if o.Seed != 0 {
		s.random = rand.New(rand.NewSource(o.Seed))
	}
	s.main = acquireState(s.limits.CallDepth)
	s.base = s.main
	L := s.main
	L.G.Global = NewTable(0, 8)
	L.Env = L.G.Global
	L.G.MainThread, L.G.CurrentThread = L, L
	L.Panic = raise
	s.use(L)
	installLibraries(L)
	return s
}

// Close frees what the State holds. Values that came out of it must not be used
// any more: its Lua state may serve another State.
func (s *State) Close() {
	s.releaseStacks()
	if s.watched {
		watch.remove(s)
		s.watched = false
	}
	if s.detach != nil {
		s.detach()
	}
	if L := s.main; L != nil {
		s.main, s.base = nil, nil
		L.G.Global = nil
		L.G.CurrentThread = L
		L.SetMetatable(lua.LString(""), lua.LNil) // of all strings
		releaseState(L)
	}
}

// Of returns the State that L belongs to.
func Of(L *lua.LState) *State {
	s, ok := L.Context().(*State)
	if !ok {
		return unlimited
	}
	return s
}

// Owner returns Options.Owner.
func (s *State) Owner() Owner { return s.owner }

// Limits returns the limits, with the defaults filled in.
func (s *State) Limits() Limits { return s.limits }

// Globals returns the table of the globals.
func (s *State) Globals() *lua.LTable { return s.main.G.Global }

// Library returns what Lua itself means by a global name, LNil for nothing.
func (s *State) Library(name string) lua.LValue { return library(s.main, name) }

// NewFunction makes a function of a prototype.
func (s *State) NewFunction(p *lua.FunctionProto) *lua.LFunction {
	return s.main.NewFunctionFromProto(p)
}

// Postpone gives the run that much more time than its limit. Only a function in
// Go that the run has called may use it, on the run's own goroutine.
func (s *State) Postpone(d time.Duration) {
	if s.watched && d > 0 {
		watch.postpone(s, d)
	}
}

// Because remembers the error in Go that the next Lua error with this message
// stands for.
func (s *State) Because(message string, err error) { s.cause = cause{message, err} }

// Cause returns the last message and error that were given to Because. The error
// is nil if there was none.
func (s *State) Cause() (message string, err error) { return s.cause.message, s.cause.err }

// Running reports whether a call is under way.
func (s *State) Running() bool { return s.running > 0 }

// Call calls fn and returns its first result. An error of Lua is a *lua.ApiError
// whose Object is the error value; it comes with the calls that led to it,
// innermost first. If the State was stopped, Err says why. from is the Lua state
// that called the Go code that calls; it may be nil.
func (s *State) Call(
	from *lua.LState, fn lua.LValue, args []lua.LValue,
) (result lua.LValue, frames []Frame, err error) {
	s.running++
	if s.running == 1 {
		result, frames, err = s.outermost(fn, args)
	} else {
		if from == nil {
			from = s.base
		}
		var results []lua.LValue
		results, frames, err = invoke(from, fn, args...)
		if result = lua.LNil; len(results) > 0 {
			result = results[0]
		}
	}
	s.running--
	return result, frames, err
}

// outermost calls fn in the base state itself, which costs nothing. An error
// leaves its frames there; then another state takes its place.
func (s *State) outermost(fn lua.LValue, args []lua.LValue) (result lua.LValue, frames []Frame, err error) {
	L := s.base
	s.guarded, s.frames, s.entry = 0, nil, fn
	defer func() {
		r := recover()
		if r == nil {
			return
		}
		frames, err = s.failureOf(L, r)
		s.base = s.stack(s.main).L
		s.base.Panic = raise
		s.main.G.CurrentThread = s.base
	}()
	L.Push(fn)
	for _, a := range args {
		L.Push(a)
	}
	L.Call(len(args), 1)
	result = L.Get(-1)
	L.Pop(1)
	return result, nil, nil
}

// failureOf returns the error that L panicked with, and the calls that led there.
func (s *State) failureOf(L *lua.LState, r any) ([]Frame, error) {
	if e, ok := r.(*lua.ApiError); ok {
		return s.frames, e
	}
	frames := traceback(L)
	if v, ok := s.overflow(L, r); ok {
		return frames, &lua.ApiError{Type: lua.ApiErrorRun, Object: v}
	}
	return frames, &PanicError{Value: r, Stack: debug.Stack()}
}

// A PanicError is a panic in Go. Its message tells a script nothing of the
// program's inside.
type PanicError struct {
	Value any
	Stack []byte
}

func (e *PanicError) Error() string { return "internal error" }

// Detail returns the panic's value and the Go stack, for the log.
func (e *PanicError) Detail() string { return fmt.Sprintf("panic: %v\n%s", e.Value, e.Stack) }

// IsPanic reports whether err comes from a panic in Go. The run has then ended.
func IsPanic(err error) bool {
	var p *PanicError
	return errors.As(err, &p)
}
