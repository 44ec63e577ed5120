package script

import (
	"context"
	"fmt"
	"maps"
	"time"

	"scripter/lua"
	"scripter/objectdb"
)

// ThreadOptions say what a thread sees and what it may use.
type ThreadOptions struct {
	// Tx is the transaction in which the thread sees the root. All that its
	// scripts read and write happens there; whoever made it commits it.
	Tx *objectdb.Tx
	// Limits bound all runs of the thread together.
	Limits lua.Limits
	// Names are found as bare names in scripts, before those of the root and
	// without regard to case: the parameters of a request. It may be nil.
	Names *Table
	// Verbs are found as bare names, too, before Names; the root does not have them. It may be nil.
	Verbs *VerbSet
	// Host is what verbs find as Thread.Host: the request that is being answered.
	Host any
	// Now is the clock, time.Now if nil.
	Now func() time.Time
	// Seed is that of math.random; 0 is any.
	Seed int64
	// Slow is called once, by the goroutine that runs, when the thread's scripts
	// are still at work SlowAfter after the thread was made, with the calls that
	// led to where they are, innermost first. It must not use the thread.
	Slow      func([]lua.Frame)
	SlowAfter time.Duration
}

// A Thread runs the scripts of one request: a trap, a handler, the macros of a
// page. It has a fresh Lua state over one transaction; the scripts share globals
// and limits. Only Stop may be called from another goroutine.
type Thread struct {
	engine *Engine
	ctx    context.Context
	opt    ThreadOptions
	tx     *objectdb.Tx
	state  *lua.State
	caller *lua.LState // the state or coroutine that calls a verb now
	unlock func() bool // ends the wait for the end of the transaction's lock
	closed bool

	root     *Object
	handles  map[int64]*Object             // by node id
	virtual  map[*verbTable]*Object        // tables made only of verbs
	lists    map[int64]*readList           // lists of the root that scripts have read, by node id
	scripts  map[*lua.LFunction]*Object    // functions that are scripts of the root
	lazy     map[*lua.LTable]*Table        // tables whose cells Lua does not have yet
	cached   *nameCache                    // names of tables, scripts and verbs found so far
	assigned map[string]struct{}           // globals that a script has assigned
	modules  map[*lua.LFunction]lua.LValue // results of require
	rocks    *rocks                        // what rocks share, once one is required
	search   *searchPaths                  // tables of system.paths, once found
	chunks   map[string]*chunk             // by the name that messages use
	writes   int                           // raised by every change of the root
	moves    int                           // raised when an object gets another address
	made     []*Object                     // tables that makeReal has made

	call *Call // for the next call of a verb
}

// A chunk is a script that positions in messages refer to.
type chunk struct {
	address objectdb.Address
	source  string
}

// NewThread returns a thread with a fresh Lua state. When ctx ends, so does
// what the thread runs. The thread must be closed.
func (e *Engine) NewThread(ctx context.Context, o ThreadOptions) *Thread {
	t := &Thread{engine: e, ctx: ctx, opt: o, tx: o.Tx}
	t.state = lua.New(ctx, lua.Options{
		Limits: o.Limits, Owner: (*owner)(t), Now: o.Now, Seed: o.Seed, Slow: o.Slow, SlowAfter: o.SlowAfter,
	})
	if o.Tx != nil && o.Tx.Locked() {
		locked := o.Tx.Context()
		t.unlock = context.AfterFunc(locked, func() { t.state.Stop(context.Cause(locked)) })
	}
	t.root = &Object{thread: t, verbs: e.tree}
	if o.Tx != nil {
		t.root.node = o.Tx.Root()
	}
	t.root.init()
	t.openEnvironment()
	return t
}

// MemoryLimit returns how much memory the scripts of the thread may hold, in bytes.
func (t *Thread) MemoryLimit() int64 { return t.opt.Limits.MemoryBytes }

// threadOf returns the thread that L belongs to.
func threadOf(L *lua.LState) *Thread { return (*Thread)(lua.Of(L).Owner().(*owner)) }

// Close frees what the thread holds. Its values must not be used any more: another
// thread may have its state.
func (t *Thread) Close() {
	if t.closed {
		return
	}
	t.closed = true
	if t.unlock != nil {
		t.unlock()
	}
	t.state.Close()
	t.releaseNames()
}

// Host returns ThreadOptions.Host.
func (t *Thread) Host() any { return t.opt.Host }

// Tx returns the transaction of the thread, with everything that its scripts have written.
// (If a changed list cannot be stored, that is the error of the run.)
func (t *Thread) Tx() *objectdb.Tx {
	_ = t.writeLists()
	return t.tx
}

// Try runs fn, and if fn fails, undoes what it has written to the root, as Tx.Try does,
// and what it has changed in lists that scripts have read.
func (t *Thread) Try(fn func() error) error {
	if err := t.writeLists(); err != nil {
		return err
	}
	before := maps.Clone(t.lists)
	err := t.tx.Try(fn)
	if err != nil {
		t.lists = before
		if failed := t.unmake(); failed != nil {
			return failed
		}
		if failed := t.restoreLists(); failed != nil {
			return failed
		}
	}
	return err
}

// Interrupt runs fn. Other threads may change the root in fn, within the same transaction.
func (t *Thread) Interrupt(fn func() error) error {
	if err := t.writeLists(); err != nil {
		return err
	}
	err := fn()
	t.forget()
	t.moves++
	return err
}

// Flush commits what was written so far, as Tx.Flush does.
func (t *Thread) Flush() error {
	if err := t.writeLists(); err != nil {
		return err
	}
	if err := t.tx.Flush(); err != nil {
		return err
	}
	return t.findLists()
}

// Engine returns the engine that made the thread.
func (t *Thread) Engine() *Engine { return t.engine }

// Check reports whether source compiles within the thread's limits, as a
// *lua.SyntaxError if it does not.
func (t *Thread) Check(name, source string) error {
	_, err := t.state.Compile(name, source)
	return err
}

// Names returns ThreadOptions.Names.
func (t *Thread) Names() *Table { return t.opt.Names }

// Context returns the context the thread was made with.
func (t *Thread) Context() context.Context { return t.ctx }

// Now returns the time by the thread's clock.
func (t *Thread) Now() time.Time {
	if t.opt.Now != nil {
		return t.opt.Now()
	}
	return time.Now()
}

// Stop ends what the thread runs, at its next instruction, and everything it
// would run later. No pcall can catch it; the call that is under way returns
// an error that is err. Stop may be called from any goroutine, and by verbs.
func (t *Thread) Stop(err error) { t.state.Stop(err) }

// Instructions returns how many Lua instructions the thread's scripts have taken so far, as the
// limit counts them.
func (t *Thread) Instructions() int64 { return t.state.Instructions() }

// Postpone adds d to the time limit of the run, because it has waited for
// something that the script did not cause. Only a Go function that the run has
// called may use it, on the goroutine of the run.
func (t *Thread) Postpone(d time.Duration) { t.state.Postpone(d) }

// Deadline returns when the time limit of the run ends. It reports false if the run has not begun.
func (t *Thread) Deadline() (time.Time, bool) { return t.state.Deadline() }

// Run calls the script object at a with args and returns its first result.
func (t *Thread) Run(a objectdb.Address, args ...Value) (Value, error) {
	o, err := t.at(a)
	switch {
	case err == nil && o == nil:
		err = objectdb.ErrNotFound
	case err == nil && o.Kind() != objectdb.KindScript:
		err = ErrNotScript
	}
	if err != nil {
		return nil, &Error{Message: fmt.Sprintf("run %s: %v", a, err), Address: a, Err: err}
	}
	return t.run(o.luaValue(), args)
}

// RunSource runs source, which need not be in the root, with args as its
// "..." and returns its first result. Messages call it name.
func (t *Thread) RunSource(name, source string, args ...Value) (Value, error) {
	proto, err := t.state.Compile(name, source)
	if err != nil {
		return nil, t.syntaxError(err, nil, source)
	}
	t.addChunk(name, &chunk{source: source})
	return t.run(t.state.NewFunction(proto), args)
}

// CallValue calls a function or a script with args and returns its first
// result.
func (t *Thread) CallValue(f Value, args ...Value) (Value, error) {
	switch f := f.(type) {
	case *Function:
		return t.run(f.fn, args)
	case *Object:
		if f.Kind() == objectdb.KindScript {
			return t.run(f.luaValue(), args)
		}
		a := f.Address()
		return nil, &Error{Message: fmt.Sprintf("call %s: %v", a, ErrNotScript), Address: a, Err: ErrNotScript}
	case objectdb.Script:
		return t.RunSource("script", string(f), args...)
	}
	return nil, &Error{Message: fmt.Sprintf("attempt to call a %s value", kindName(f)), Err: ErrNotScript}
}

// run calls fn and returns its first result.
func (t *Thread) run(fn lua.LValue, args []Value) (Value, error) {
	if t.closed {
		panic("script: the thread is closed")
	}
	if err := t.state.Err(); err != nil {
		return nil, t.stoppedError(err, nil)
	}
	var room [4]lua.LValue
	given := room[:0]
	for _, a := range args {
		given = append(given, t.toLua(a))
	}
	caller := t.caller
	result, frames, err := t.state.Call(caller, fn, given)
	t.caller = caller
	end := t.state.Err()
	if !t.state.Running() && end == nil { // also after an error: what it has written before stays, too
		if failed := t.writeLists(); failed != nil {
			t.lists = nil
			if err == nil {
				err = failed
			}
		}
	}
	if end != nil {
		return nil, t.stoppedError(end, frames)
	}
	if err != nil {
		return nil, t.newError(err, frames)
	}
	return t.fromLua(result), nil
}

// addChunk notes the script that messages call name.
func (t *Thread) addChunk(name string, c *chunk) {
	if t.chunks == nil {
		t.chunks = make(map[string]*chunk, 8)
	}
	t.chunks[name] = c
}
