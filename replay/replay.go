// Package replay runs recorded requests again, and tells what differs between two runs, or
// between a run and the recorded answer.
//
// Run makes one run, on today's root or on the root as it was when the request came. Compare
// makes one or two and compares them. What they write in the root is not kept, unless the options
// of a run say so.
package replay

import (
	"context"
	"fmt"
	"io"
	"maps"

	"scripter/gateway"
	"scripter/history"
	"scripter/objectdb"
	"scripter/requestlog"
	"scripter/runner"
	"scripter/valuetext"
)

// Options say how a recorded request is run.
type Options struct {
	DB *objectdb.DB // today's root
	// Gateway returns a gateway on a root: on DB, or on DB as it was ([objectdb.DB.IsPast]).
	Gateway func(db *objectdb.DB) (*gateway.Gateway, error)
	Then    bool                  // the run is on the root as it was when the request came
	Replay  gateway.ReplayOptions // Run sets its Prepare and Ended, Compare its Inspect
	// Ended, if set, is called after each run, also after one that has failed.
	Ended func(*Result)
}

// Result is one run of a recorded request.
type Result struct {
	Outcome gateway.Outcome
	Answer  *requestlog.Answer
	Past    *history.Past     // the root as it was; nil: today's
	Gateway *gateway.Gateway  // that has answered
	Reads   *requestlog.Reads // what the run has read; nil: it did not begin
	written string            // what the run has written in the root: see [history.Pending]
}

// Run runs a recorded request, which stays as it is. The response goes to w.
func Run(ctx context.Context, r *requestlog.Request, w io.Writer, o Options) (*Result, error) {
	run := &Result{}
	if o.Ended != nil {
		defer o.Ended(run)
	}
	db := o.DB
	if o.Then {
		generation, err := Seen(ctx, db, r)
		if err != nil {
			return run, err
		}
		run.Past = history.NewPast(db, generation)
		db = run.Past.DB
	}
	var err error
	if run.Gateway, err = o.Gateway(db); err != nil {
		return run, err
	}
	request := *r // a run changes its variables
	request.Variables = maps.Clone(r.Variables)
	o.Replay.Prepare = func(r *runner.Run) error { r.Tx.RecordReads(); return nil }
	o.Replay.Ended = func(r *runner.Run, _ error) error { run.Reads = requestlog.ReadsOf(r.Tx, nil); return nil }
	run.Outcome, run.Answer = run.Gateway.Replay(ctx, &request, w, o.Replay)
	if run.Outcome.Status == 0 {
		return run, fmt.Errorf("request %d was not answered: %w", r.Number, run.Outcome.Err)
	}
	return run, nil
}

// Seen returns the generation of the root that a recorded request has seen, if the history has it.
func Seen(ctx context.Context, db *objectdb.DB, r *requestlog.Request) (generation int64, err error) {
	err = db.View(ctx, func(tx *objectdb.Tx) error {
		if generation = r.Generation; generation > 0 {
			return history.IsRemembered(tx, generation)
		}
		generation, err = history.GenerationAt(tx, r.Time, valuetext.Time(r.Time))
		return err
	})
	return generation, err
}
