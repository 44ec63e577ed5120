package runner

import (
	"cmp"
	"context"
	"time"

	"scripter/lua"
	"scripter/objectdb"
	"scripter/script"
	"scripter/site"
)

// A Run is one call of the function of [Runner.Run]: a transaction, a thread for
// scripts and the text that they write. A function that is called a second time gets
// a new Run.
type Run struct {
	Tx     *objectdb.Tx
	Thread *script.Thread // nil before Start
	Again  bool           // the first call of the function lost a race

	// Script returns the address of the script whose limits apply. It is called only if
	// some script has limits of its own. If Script is nil, the limits of the settings apply.
	Script func() objectdb.Address
	// Slow is called once, by the goroutine that runs, if scripts still run when SlowAfter
	// has passed since the thread was made: see [script.ThreadOptions]. Both are set before
	// Start.
	Slow      func([]lua.Frame)
	SlowAfter time.Duration

	runner   *Runner
	options  Options
	view     *site.View
	limits   site.Limits // by limitsOf
	limitsOf *site.Snapshot
	bounds   lua.Limits    // of the thread
	spent    time.Duration // of the time limit, by the first call
	output   *Output
	keep     func()   // makes what was written stay although the run may fail; of a run within another
	notes    []string // see Note
	outside  *memory  // nil in a run within another one
}

// do calls the function of the run, and those of its options before and after it.
func (r *Run) do(fn func(*Run) error) error {
	if prepare := r.options.Prepare; prepare != nil {
		if err := prepare(r); err != nil {
			return err
		}
	}
	err := fn(r)
	if ended := r.options.Ended; ended != nil {
		err = cmp.Or(err, ended(r, err))
	}
	return err
}

// Site returns what the owner of the root has set, as the transaction sees it now.
func (r *Run) Site() *site.Snapshot { return r.view.Now() }

// Start makes the thread of the run: a Lua state with the limits of the run, which finds
// the cells of names as bare names and gives host to verbs. Both may be nil.
func (r *Run) Start(names *script.Table, host any) {
	r.bounds = luaLimits(r.Limits())
	r.bounds.Time = secondsOf(r.maxTime())
	r.bounds.Spent, r.bounds.From = r.spent, r.limitFrom
	var verbs *script.VerbSet
	if r.options.Test {
		verbs = r.runner.testVerbs()
	}
	r.Thread = r.newThread(names, verbs, host)
	r.Resume()
}

func (r *Run) newThread(names *script.Table, verbs *script.VerbSet, host any) *script.Thread {
	return r.runner.Engine().NewThread(r.Tx.Context(), script.ThreadOptions{
		Tx: r.Tx, Limits: r.bounds, Names: names, Verbs: verbs, Host: host, Now: r.options.Now, Seed: r.options.Seed,
		Slow: r.Slow, SlowAfter: r.SlowAfter,
	})
}

// Context returns the context of the transaction.
func (r *Run) Context() context.Context { return r.Tx.Context() }

// Now returns the time by the clock of the run.
func (r *Run) Now() time.Time { return r.options.Now() }

// IsTest reports whether the run is that of a test: see Options.Test.
func (r *Run) IsTest() bool { return r.options.Test }

// IsDiscarded reports whether what the run writes is undone at its end.
func (r *Run) IsDiscarded() bool { return r.options.Discard }

// Note adds a text that explains a failure of the run: see TestResult.Notes.
func (r *Run) Note(text string) { r.notes = append(r.notes, text) }

// Flush commits what was written so far. From then on the run cannot be made again. In a
// run that is discarded, Flush does nothing; in one within another, what was written stays if the
// run fails.
func (r *Run) Flush() error {
	switch {
	case r.options.Discard:
		return nil
	case r.keep != nil:
		return r.Thread.Interrupt(func() error {
			r.keep()
			return nil
		})
	}
	return r.Thread.Flush()
}

// close frees what the run holds.
func (r *Run) close() {
	if r.Thread != nil {
		r.Thread.Close()
		r.Suspend()
	}
	r.output.Close()
}
