package scheduler

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"scripter/objectdb"
	"scripter/site"
)

// An Entry is a row of user.scheduler, a table with these cells:
//
//	cron     when the script runs: "30 2 * * *", "@daily"
//	zone     the time zone of cron, such as "Europe/Paris"; without it UTC
//	script   the script: an address, or its text
//	args     a list: what the script gets as its arguments
//	on       false = it does not run
//	missed   "run" = a run that was missed is made up for, once; "skip" = it is not; without it "run"
type Entry struct {
	Name   string
	Cron   string
	Zone   string
	Script objectdb.Address
	Args   objectdb.List
	On     bool
	Skip   bool // runs that were missed are not made up for
	Err    error

	times *Times
}

// Cells are the names of the cells of an Entry.
var Cells = []string{"cron", "zone", "script", "args", "on", "missed"}

// The values of the cell missed.
const (
	MissedRun  = "run"
	MissedSkip = "skip"
)

// Spec returns what says when the entry is due. If it changes, the next run is computed anew.
func (e *Entry) Spec() string { return strings.TrimSpace(e.Cron + " " + e.Zone) }

// Next returns the first time after now at which the entry is due.
func (e *Entry) Next(now time.Time) time.Time {
	if e.times == nil {
		return time.Time{}
	}
	return e.times.Next(now)
}

// ReadSchedule returns the entries of user.scheduler in the order of their names, those with mistakes
// too.
func ReadSchedule(tx *objectdb.Tx) ([]Entry, error) { return readSchedule(tx) }

func readSchedule(tx *objectdb.Tx) ([]Entry, error) {
	t, err := tx.Find(site.Schedule)
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
	var list []Entry
	for _, n := range nodes {
		e, err := readEntry(tx, n)
		if err != nil {
			return nil, err
		}
		list = append(list, e)
	}
	return list, nil
}

// findEntry returns the entry with a name.
func findEntry(tx *objectdb.Tx, name string) (Entry, error) {
	n, err := tx.Find(site.Schedule.Child(name))
	if objectdb.IsMissing(err) {
		return Entry{}, fmt.Errorf("the schedule has no %.60s", name)
	}
	if err != nil {
		return Entry{}, err
	}
	return readEntry(tx, n)
}

// readEntry returns the entry at n. What is wrong with it is its Err.
func readEntry(tx *objectdb.Tx, n *objectdb.Node) (Entry, error) {
	e := Entry{Name: n.Name(), On: true}
	if n.Kind() != objectdb.KindTable {
		e.Err = fmt.Errorf("it is a %s, not a table with %s", n.Kind(), strings.Join(Cells, ", "))
		return e, nil
	}
	cells, err := tx.Children(n)
	if err != nil {
		return e, err
	}
	for _, c := range cells {
		if c.Kind() == objectdb.KindTable {
			// A script that assigns {} makes an empty table.
			if n, err := tx.Len(c); err != nil || n == 0 && objectdb.Fold(c.Name()) == "args" {
				continue
			}
			e.Err = fmt.Errorf("%s: it is a table", c.Name())
			continue
		}
		v, err := tx.Value(c)
		if err != nil {
			return e, err
		}
		if err := e.set(objectdb.Fold(c.Name()), v); err != nil && e.Err == nil {
			e.Err = fmt.Errorf("%s: %w", c.Name(), err)
		}
	}
	if e.Err == nil && e.Script == nil {
		e.Err = errors.New("script: it names none")
	}
	if e.Err == nil {
		if e.times, err = ParseTimes(e.Cron, e.Zone); err != nil {
			e.Err = fmt.Errorf("cron: %w", err)
		}
	}
	return e, nil
}

func (e *Entry) set(name string, v objectdb.Value) (err error) {
	switch name {
	case "cron":
		e.Cron, err = textOf(v)
	case "zone":
		e.Zone, err = textOf(v)
	case "missed":
		var text string
		text, err = textOf(v)
		if e.Skip = text == MissedSkip; err == nil && !e.Skip && text != MissedRun && text != "" {
			err = fmt.Errorf("%.40q is neither %q nor %q", text, MissedRun, MissedSkip)
		}
	case "script":
		if a, ok := v.(objectdb.Address); ok {
			e.Script = a
			return nil
		}
		var text string
		if text, err = textOf(v); err == nil {
			e.Script, err = objectdb.ParseAddress(text)
		}
	case "args":
		list, ok := v.(objectdb.List)
		if !ok {
			return errors.New("it is not a list")
		}
		e.Args = list
	case "on":
		on, ok := v.(objectdb.Boolean)
		if !ok {
			return errors.New("it is neither true nor false")
		}
		e.On = bool(on)
	}
	return err
}

func textOf(v objectdb.Value) (string, error) {
	switch v := v.(type) {
	case objectdb.String:
		return string(v), nil
	case objectdb.Text:
		return string(v), nil
	}
	return "", errors.New("it is not a string")
}

// Put writes an entry that was checked.
func (e *Entry) Put(tx *objectdb.Tx) error {
	a := site.Schedule.Child(e.Name)
	missed := MissedRun
	if e.Skip {
		missed = MissedSkip
	}
	args := e.Args
	if args == nil {
		args = objectdb.List{}
	}
	for name, v := range map[string]objectdb.Value{
		"cron": objectdb.String(e.Cron), "zone": objectdb.String(e.Zone), "script": e.Script,
		"args": args, "on": objectdb.Boolean(e.On), "missed": objectdb.String(missed),
	} {
		if err := tx.Put(a.Child(name), v); err != nil {
			return err
		}
	}
	return nil
}

// Check returns an error for an entry that cannot run.
func (e *Entry) Check(tx *objectdb.Tx) (err error) {
	if err := objectdb.CheckName(e.Name); err != nil {
		return err
	}
	if e.times, err = ParseTimes(e.Cron, e.Zone); err != nil {
		return err
	}
	n, err := tx.Find(e.Script)
	switch {
	case objectdb.IsMissing(err):
		return fmt.Errorf("there is no script at %s", e.Script)
	case err != nil:
		return err
	case n.Kind() != objectdb.KindScript:
		return fmt.Errorf("%s is a %s, not a script", e.Script, n.Kind())
	}
	return nil
}

// missedAfter is how late a run is when it counts as missed.
const missedAfter = time.Minute

// dueAt returns when the agent has to do something for an entry, as far as it knows.
func (a *Agent) dueAt(e Entry) time.Time {
	r, known := a.seen.runs[objectdb.Fold(e.Name)]
	if !known || r.Spec != e.Spec() {
		return time.Time{} // its next run must be computed
	}
	due := r.Next
	if due == 0 { // no such day within five years
		due = math.MaxInt64
	}
	if r.By != "" {
		due = max(due, r.Lease)
	}
	return time.UnixMilli(due)
}

// runScheduled claims a run of an entry if one is due, runs it, and notes how that went.
func (a *Agent) runScheduled(ctx context.Context, e Entry) {
	limits, err := a.limitsOf(ctx, e.Script)
	if err != nil {
		a.o.Log.Warn("agent: the schedule is not read", "err", err)
		return
	}
	run, err := a.claimRun(ctx, e.Name, limits.Time+a.scriptLease, false)
	switch {
	case err != nil && ctx.Err() == nil:
		a.o.Log.Warn("agent: a run is not claimed", "schedule", e.Name, "err", err)
		return
	case err != nil || run == nil:
		return
	}
	a.finishRun(ctx, e.Name, *run, limits)
}
