// Package runner runs scripts of the root: in one transaction, within limits, and a
// second time if another transaction has overwritten what the first run read.
//
// What runs on the root as it was ([objectdb.DB.At]) is always undone.
//
// It knows nothing of HTTP. Start with [Runner.Run], which a request uses:
//
//	_, err := r.Run(ctx, runner.Options{}, func(run *runner.Run) error {
//		run.Start(nil, nil)
//		v, err := run.Thread.Run(address)
//		…
//	})
//
// Commands use [Runner.Call], [Runner.Eval], [Runner.Lint] and [Runner.Types].
package runner

import (
	"context"
	"errors"
	"time"

	"scripter/objectdb"
	"scripter/script"
	"scripter/site"
)

// Config says what a Runner works with. DB, Engine and Site are needed, the rest has
// defaults.
type Config struct {
	DB     *objectdb.DB
	Engine *script.Engine
	Site   *site.Cache      // what the owner of the root has set
	Now    func() time.Time // the clock of scripts; nil: time.Now
	Guard  Guard            // nil: nobody watches the process
	// Outside returns the names and the host of the scripts that a command runs: what a
	// request would give them. nil: they have none.
	Outside func(*Run) (names *script.Table, host any, err error)
	// TestVerbs returns the verbs that only the scripts of tests see. nil: there are none.
	TestVerbs func() *script.VerbSet
}

// A Runner runs scripts in transactions of one root. It is safe for concurrent use.
type Runner struct {
	config    Config
	conflicts conflicts
}

// New returns a Runner.
func New(c Config) *Runner {
	if c.Now == nil {
		c.Now = time.Now
	}
	return &Runner{config: c}
}

// Engine returns the engine whose verbs the scripts see.
func (r *Runner) Engine() *script.Engine { return r.config.Engine }

// Options say how one run is made.
type Options struct {
	// Key names runs that are likely to overwrite what the others read, such as the
	// path of a request. For a second after one of them has lost a race, the others
	// hold the writer's lock from their start. "" stands for none.
	Key string
	// Recent says that the run may begin with a state of the last moments: see [objectdb.DB.UpdateRecent].
	Recent bool
	// ReadOnly makes a transaction that cannot write.
	ReadOnly bool
	// Discard undoes what the run has written, also what it has flushed.
	Discard bool
	// Test discards, too, and its scripts see the verbs of Config.TestVerbs.
	Test bool
	// Within, if set, is a run with a thread whose transaction this run uses. What this run
	// writes is undone if its function fails, else it is committed with that of Within. The
	// thread of Within must not run meanwhile.
	Within *Run
	// Inner says that a script of another run makes this one. The Guard was told of that
	// run already.
	Inner bool
	// Origin is that of the transaction; the zero value stands for that of the DB.
	Origin objectdb.Origin
	// MaxTime, if set, is the setting that bounds the time of the scripts instead of site.MaxTime,
	// unless the script has a limit of its own.
	MaxTime *site.Setting
	// Now is the clock of the scripts; nil is that of the Runner.
	Now func() time.Time
	// Seed is that of math.random; 0 is any.
	Seed int64
	// Prepare, if set, is called with the run before the function of Run, in the same transaction. If
	// it fails, so does the run.
	Prepare func(*Run) error
	// Ended, if set, is called when the function of Run has ended, with its error, which may be nil,
	// before what was written is committed or undone. If it fails, so does the run. Like the function,
	// Prepare and Ended are called again if the run is made again.
	Ended func(*Run, error) error
	// Committed is called once the changes are committed and the run only waits for the
	// disk: see [objectdb.Tx.BeforeSync]. It may be nil.
	Committed func()
}

// An Outcome says how a run went.
type Outcome struct {
	// Again is true if the function was called a second time, holding the writer's
	// lock, because another transaction had overwritten what the first run read.
	Again bool
}

// errDiscard ends a transaction whose changes are undone.
var errDiscard = errors.New("the changes of this run are undone")

// Run calls fn with a new transaction and commits what fn has written, or nothing if
// fn returns an error. If the run loses a race, fn is called once more, from the
// start, holding the writer's lock. So fn may have no effects outside of the
// transaction, other than by [Run.Once]. [Run.Flush] ends that: what it has committed stays, and fn is not
// called again.
//
// The time limit of the scripts counts the work of both calls, but not the time that
// the transaction waits for the writer's lock.
func (r *Runner) Run(ctx context.Context, o Options, fn func(*Run) error) (Outcome, error) {
	if o.Now == nil {
		o.Now = r.config.Now
	}
	if o.Within != nil {
		return Outcome{}, r.runWithin(o, fn)
	}
	o.Discard = o.Discard || o.Test || r.config.DB.IsPast()
	start := o.Now()
	transact := r.config.DB.Update
	switch {
	case o.ReadOnly:
		transact = r.config.DB.View
	case !o.Discard && r.conflicts.recent(o.Key, start):
		transact = r.config.DB.UpdateLocked
	case o.Recent:
		transact = r.config.DB.UpdateRecent
	}
	var out Outcome
	var spent time.Duration
	var outside memory
	calls := 0
	work := func(tx *objectdb.Tx) error {
		if calls++; calls > 1 {
			out.Again = true
			r.conflicts.add(o.Key, start)
		}
		if o.Origin != (objectdb.Origin{}) {
			tx.Origin = o.Origin
		}
		if o.Committed != nil {
			tx.BeforeSync(o.Committed)
		}
		view, err := r.config.Site.View(tx)
		if err != nil {
			return err
		}
		run := &Run{Tx: tx, Again: out.Again, runner: r, options: o, view: view, spent: spent, outside: outside.again()}
		begun := o.Now()
		defer func() {
			run.close()
			spent += o.Now().Sub(begun)
		}()
		if err = run.do(fn); err == nil {
			err = view.Err()
		}
		switch {
		case outside.wanted != nil:
			return ErrAgain
		case err == nil && o.Discard:
			return errDiscard
		}
		return err
	}
	err := transact(ctx, work)
	for again := 0; outside.wanted != nil; again++ {
		if again == maxAgain {
			err = errRestless
			break
		}
		outside.answer(ctx, &spent, o.Now)
		calls = 0
		err = r.config.DB.Update(ctx, work)
	}
	if errors.Is(err, errDiscard) {
		err = nil
	}
	return out, err
}

// Conflicted says that a run with this key lost a race at that time: see [Options].
func (r *Runner) Conflicted(key string, at time.Time) { r.conflicts.add(key, at) }
