package gateway

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"scripter/objectdb"
	"scripter/requestlog"
	"scripter/runner"
)

// exchange is one request and its answer: what all attempts to answer it share.
type exchange struct {
	g       *Gateway
	request *Request
	out     *responder
	now     func() time.Time
	began   time.Time
	replay  *ReplayOptions // set if a recorded request is run again
	test    *runner.Run    // the run of the test that makes the request; nil if no test does

	plan       *plan // nil: not made yet
	body       string
	spool      *spool // the body, if that is a long form; nil: it is body
	bodyRead   bool
	recorded   bool                // record was called
	entry      *requestlog.Request // the recorded request; nil: it is not recorded
	held       held                // the response, until it is sent
	connection uint64              // the parameter connectionID; 0 before it has one
	seed       int64               // of math.random; 0 is any
	incident   string              // number of its failure; "" = none yet
	verified   string              // the hash of the password that was right
	password   string              // that password
	yielded    bool                // Request.Yield was called

	fetched *requestlog.FetchLog // what a replay gets instead of asking other hosts; nil: it is no replay
	answers *fetchAnswers        // what the test has said that other hosts answer; nil: there is no test

	slow   time.Duration // a request that takes longer is logged; 0 = none is
	slowID string        // the number under which it was logged as slow

	beganVisit bool // a session of a visitor was begun

	failures []string // of markers and callbacks, for a test
}

// newExchange begins an exchange whose response goes to w.
func (g *Gateway) newExchange(r *Request, w io.Writer) *exchange {
	r = r.withoutUncheckedUser()
	return &exchange{g: g, request: r, out: newResponder(w, r), now: g.now, began: g.now()}
}

// within returns an exchange for the scripts of an error page, which sends nothing itself. It
// has no body: to read it may be what has failed.
func (x *exchange) within() *exchange {
	r := *x.request
	r.Body, r.Yield, r.Trace = nil, nil, nil
	r.Developer, r.ShowErrors = false, false
	inner := x.g.newExchange(&r, nil)
	inner.now, inner.replay, inner.test, inner.connection = x.now, x.replay, x.test, x.connectionID()
	inner.fetched, inner.answers = x.fetched, x.answers
	return inner
}

func (x *exchange) close() {
	x.held.close()
	if x.spool != nil {
		x.spool.file.Close()
	}
}

// isDry reports whether what the scripts change in the root is undone at the end.
func (x *exchange) isDry() bool {
	return x.g.IsPast() || x.test != nil || x.replay != nil && !x.replay.Commit
}

// isInner reports whether a script makes the request.
func (x *exchange) isInner() bool { return x.test != nil || x.replay != nil && x.replay.inner }

// isQuiet reports whether the setting Suspend Logging applies.
func (x *exchange) isQuiet() bool { return x.plan != nil && x.plan.quiet }

// action returns the action of the request, or "" if there is no plan yet.
func (x *exchange) action() string {
	if x.plan == nil {
		return ""
	}
	return x.plan.target.Action
}

// connectionID returns the number of the request in the parameter connectionID.
func (x *exchange) connectionID() uint64 {
	if x.connection == 0 {
		x.connection = connections.Add(1)
	}
	return x.connection
}

// incidentID returns the number of the request in the log. The first call makes it.
func (x *exchange) incidentID() string {
	if x.incident == "" {
		x.incident = newIncident()
	}
	return x.incident
}

// run makes an attempt in a transaction, and a second one if it loses a race. It reports
// false if the attempt ended after the plan, because the request is not ready.
func (x *exchange) run(ctx context.Context) (done bool, err error) {
	if !x.isInner() { // the script that makes the request already has a slot
		release, err := x.g.acquireSlot(ctx, x.plan != nil)
		if err != nil {
			return false, err
		}
		defer release()
	}
	var last *attempt
	out, err := x.g.runner.Run(ctx, x.options(), func(r *runner.Run) error {
		if r.Again {
			x.request.trace("another request was faster: run again, holding the writer's lock")
		}
		last = x.newAttempt(r)
		if x.entry != nil {
			x.entry.Fetches = nil
		}
		r.Script = last.answering
		x.seesGeneration(r.Tx)
		recordsReads := x.entry != nil && x.entry.Number > 0
		if recordsReads {
			r.Tx.RecordReads()
		}
		done, err = last.answer()
		x.seesGeneration(r.Tx)
		if recordsReads {
			x.entry.Reads = requestlog.ReadsOf(r.Tx, x.out.rec.Mask)
		}
		if err == nil && done && x.replay != nil && x.replay.Inspect != nil {
			err = x.replay.Inspect(r.Tx)
		}
		return err
	})
	if out.Again {
		x.g.metrics.Again.Add(1)
	}
	if last != nil && last.traced != nil {
		x.replay.Markers(last.traced)
	}
	if err == nil {
		x.beganVisit = x.beganVisit || last.newVisit
		last.noteProblems()
		if !x.isQuiet() {
			last.logProblems()
		}
	} else if last != nil {
		last.countTries(ctx)
	}
	if err == nil || last != nil && x.out.started { // then a part may be committed
		last.purgeCaches(ctx)
	}
	return done, err
}

// seesGeneration records which generation the scripts see, until sendPartial has committed.
func (x *exchange) seesGeneration(tx *objectdb.Tx) {
	if x.entry != nil && !x.out.started {
		x.entry.Generation = tx.Generation()
	}
}

// origin returns the origin of what the scripts of the request change.
func (x *exchange) origin(path string) objectdb.Origin {
	o := x.request.By
	if o == (objectdb.Origin{}) {
		o = objectdb.Origin{Who: x.request.checkedUser(), Why: x.request.Params["REQUEST_METHOD"]}
	}
	o.Path = strings.ToValidUTF8(clip(path, 200), "�")
	if x.entry != nil && x.entry.Number > 0 {
		o.Path += fmt.Sprintf(" (request %d)", x.entry.Number)
	}
	return o
}

// options returns the options of the runner for the scripts of the request.
func (x *exchange) options() runner.Options {
	o := runner.Options{
		Key: x.request.Params["SCRIPT_NAME"] + x.request.Params["PATH_INFO"], Now: x.now, Seed: x.seed,
		Within: x.test, Inner: x.isInner(), Recent: x.request.isAnonymous(),
	}
	if x.replay != nil {
		o.Recent = false // a person makes it
		o.Discard, o.Origin, o.Prepare, o.Ended = x.isDry(), x.replay.By, x.replay.Prepare, x.replay.Ended
	} else {
		o.Origin = x.origin(o.Key)
	}
	if x.request.Yield != nil {
		o.Committed = func() {
			x.yielded = true
			x.request.Yield()
		}
	}
	return o
}
