package scheduler

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"scripter/objectdb"
	"scripter/outbox"
	"scripter/site"
)

// The results of a run.
const (
	RunOK     = "ok"
	RunFailed = "failed"
	RunMissed = "missed" // the script did not run: no agent was there
	RunLost   = "lost"   // the agent was gone before the script had ended
)

// A Run is one run of a scheduled script. Times are milliseconds since 1970.
type Run struct {
	Due      int64  `json:"due,omitempty"` // when the schedule wanted it; 0 = a person wanted it
	Began    int64  `json:"began"`
	Took     int64  `json:"took,omitempty"` // milliseconds
	Result   string `json:"result"`
	Text     string `json:"text,omitempty"`     // what the script has written and returned
	Error    string `json:"error,omitempty"`    // of a failed run
	Incident string `json:"incident,omitempty"` // the number of the failure in the log
	Missed   int    `json:"missed,omitempty"`   // how many runs before this one were missed
}

// Runs are the last runs of a row of the schedule, and the present one. They are stored as JSON text.
type Runs struct {
	Spec string `json:"spec"` // see Entry.Spec
	Next int64  `json:"next"` // when the next run is due

	By    string `json:"by,omitempty"`    // the agent that has claimed a run
	Lease int64  `json:"lease,omitempty"` // when the claim ends
	Now   *Run   `json:"now,omitempty"`   // the run that is claimed

	Last []Run `json:"last,omitempty"` // the newest first
}

const (
	maxRuns     = 20
	maxRunText  = 200 // bytes
	maxRunError = 300
	maxMissed   = 1000 // beyond it, missed runs are not counted
)

func (r *Runs) add(run Run) {
	run.Text, run.Error = clip(run.Text, maxRunText), clip(run.Error, maxRunError)
	r.Last = append([]Run{run}, r.Last[:min(len(r.Last), maxRuns-1)]...)
}

func clip(text string, most int) string {
	return strings.ToValidUTF8(text[:min(len(text), most)], "")
}

// ReadRuns returns the runs of all rows by their folded names.
func ReadRuns(tx *objectdb.Tx) (map[string]Runs, error) { return readRuns(tx) }

func readRuns(tx *objectdb.Tx) (map[string]Runs, error) {
	t, err := tx.Find(site.ScheduleRuns)
	if objectdb.IsMissing(err) || err == nil && t.Kind() != objectdb.KindTable {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	nodes, err := tx.Children(t)
	if err != nil {
		return nil, err
	}
	m := make(map[string]Runs, len(nodes))
	for _, n := range nodes {
		r, err := runsOf(tx, n.Name())
		if err != nil {
			return nil, err
		}
		m[objectdb.Fold(n.Name())] = r
	}
	return m, nil
}

// runsOf returns the runs of a row. What cannot be read counts as none.
func runsOf(tx *objectdb.Tx, name string) (r Runs, err error) {
	v, err := tx.Get(site.ScheduleRuns.Child(name))
	if objectdb.IsMissing(err) || errors.Is(err, objectdb.ErrIsTable) {
		return r, nil
	}
	if err != nil {
		return r, err
	}
	if text, ok := v.(objectdb.String); !ok || json.Unmarshal([]byte(text), &r) != nil {
		return Runs{}, nil
	}
	return r, nil
}

func putRuns(tx *objectdb.Tx, name string, r Runs) error {
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return tx.Put(site.ScheduleRuns.Child(name), objectdb.String(text))
}

// RemoveRuns removes what is known of the runs of a row.
func RemoveRuns(tx *objectdb.Tx, name string) error {
	err := tx.Delete(site.ScheduleRuns.Child(name))
	if objectdb.IsMissing(err) {
		return nil
	}
	return err
}

// claim claims a run for an agent if one is due or wanted. It reports false if none is, or another agent
// has it. It changes r, also then.
func (r *Runs) claim(e Entry, by string, now time.Time, term time.Duration, wanted bool) (bool, error) {
	if r.By != "" && now.UnixMilli() < r.Lease {
		if wanted {
			return false, fmt.Errorf("it is running, since %s", time.UnixMilli(r.Now.Began).UTC().Format(time.DateTime))
		}
		return false, nil
	}
	if r.By != "" { // its agent was killed
		lost := Run{Error: "the agent ended before it: " + r.By}
		if r.Now != nil {
			lost.Due, lost.Began, lost.Missed = r.Now.Due, r.Now.Began, r.Now.Missed
		}
		lost.Result = RunLost
		r.add(lost)
		r.By, r.Lease, r.Now = "", 0, nil
	}
	if r.Spec != e.Spec() {
		r.Spec, r.Next = e.Spec(), milli(e.Next(now))
	}
	run := Run{Began: now.UnixMilli(), Result: RunLost}
	if !wanted {
		due := time.UnixMilli(r.Next)
		if r.Next == 0 || due.After(now) {
			return false, nil
		}
		for t := e.Next(due); !t.IsZero() && !t.After(now) && run.Missed < maxMissed; t = e.Next(t) {
			run.Missed++
		}
		run.Due = r.Next
		r.Next = milli(e.Next(now))
		if e.Skip && now.Sub(due) > missedAfter {
			run.Missed++
			run.Result = RunMissed
			r.add(run)
			return false, nil
		}
	}
	r.By, r.Lease, r.Now = by, now.Add(term).UnixMilli(), &run
	return true, nil
}

func milli(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

// finish ends the run that an agent has claimed, if it still has it.
func finish(tx *objectdb.Tx, name, by string, began int64, change func(*Run)) error {
	r, err := runsOf(tx, name)
	if err != nil {
		return err
	}
	if r.By != by || r.Now == nil || r.Now.Began != began {
		return outbox.ErrLost
	}
	run := *r.Now
	change(&run)
	r.By, r.Lease, r.Now = "", 0, nil
	r.add(run)
	return putRuns(tx, name, r)
}

// claimRun claims a run of a row. The result is nil if none is due. wanted says that a person wants the run
// now.
func (a *Agent) claimRun(ctx context.Context, name string, term time.Duration, wanted bool) (run *Run, err error) {
	var missed []Run
	err = a.update(ctx, func(tx *objectdb.Tx) error {
		run, missed = nil, nil
		e, err := findEntry(tx, name)
		switch {
		case err == nil && e.Err != nil:
			err = e.Err
		case err == nil && !e.On && !wanted:
			return nil
		}
		if err != nil {
			return err
		}
		r, err := runsOf(tx, e.Name)
		if err != nil {
			return err
		}
		before := len(r.Last)
		claimed, err := r.claim(e, a.name, a.o.Now(), term, wanted)
		if err != nil {
			return err
		}
		if claimed {
			run = r.Now
		}
		missed = r.Last[:max(0, len(r.Last)-before)]
		return putRuns(tx, e.Name, r)
	})
	if err == nil {
		a.tellMissed(name, run, missed)
	}
	return run, err
}

// tellMissed logs runs that did not happen.
func (a *Agent) tellMissed(name string, run *Run, missed []Run) {
	for _, m := range missed {
		if m.Result == RunMissed {
			a.o.Log.Warn("schedule: missed, and not made up for", "schedule", name, "runs", m.Missed,
				"due", time.UnixMilli(m.Due).UTC().Format(time.DateTime))
			a.counted(func(c *Counts) { c.Missed += uint64(m.Missed) })
		} else {
			a.o.Log.Error("schedule: the agent ended before the script", "schedule", name, "err", m.Error)
		}
	}
	if run != nil && run.Due > 0 && (run.Missed > 0 || run.Began-run.Due > missedAfter.Milliseconds()) {
		a.o.Log.Warn("schedule: late", "schedule", name, "due", time.UnixMilli(run.Due).UTC().Format(time.DateTime),
			"missed", run.Missed)
		a.counted(func(c *Counts) { c.Missed += uint64(run.Missed) })
	}
}

// finishRun runs what was claimed, and notes how that went.
func (a *Agent) finishRun(ctx context.Context, name string, run Run, limits Limits) (Run, error) {
	begun := time.Now()
	result := a.o.Run(ctx, Job{By: a.name, Name: name, Due: run.Due, Began: run.Began}, limits)
	run.Took, run.Result, run.Text = time.Since(begun).Milliseconds(), RunOK, result.Text
	log := a.o.Log.With("schedule", name, "ms", run.Took)
	a.counted(func(c *Counts) { c.Runs++ })
	if result.Err == "" { // its own transaction has noted it
		log.Info("schedule: ran")
		return run, nil
	}
	a.counted(func(c *Counts) { c.FailedRuns++ })
	run.Result, run.Error, run.Incident = RunFailed, result.Err, strings.ToLower(rand.Text()[:8])
	log.Error("schedule: script failed", "id", run.Incident, "err", result.Detail)
	if result.Lost {
		return run, outbox.ErrLost
	}
	noting, cancel := context.WithTimeout(context.Background(), noteTime)
	defer cancel()
	err := a.persist(noting, func(tx *objectdb.Tx) error {
		return finish(tx, name, a.name, run.Began, func(r *Run) { *r = run })
	})
	if err != nil {
		log.Warn("schedule: the root does not know how a run went", "err", err)
	}
	return run, err
}

// RunNow runs a row of the schedule now, unless it runs already.
func (a *Agent) RunNow(ctx context.Context, name string) (Run, error) {
	var at objectdb.Address
	err := a.o.DB.View(ctx, func(tx *objectdb.Tx) error {
		e, err := findEntry(tx, name)
		name, at = e.Name, e.Script
		return err
	})
	if err != nil {
		return Run{}, err
	}
	limits, err := a.limitsOf(ctx, at)
	if err != nil {
		return Run{}, err
	}
	run, err := a.claimRun(ctx, name, limits.Time+a.scriptLease, true)
	if err != nil {
		return Run{}, err
	}
	return a.finishRun(ctx, name, *run, limits)
}
