package admin

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"scripter/gateway"
	"scripter/history"
	"scripter/lua"
	"scripter/objectdb"
	"scripter/requestlog"
	"scripter/runner"
	"scripter/script"
	"scripter/site"
)

// A ran is what a run has done: of a script, of typed Lua, or of a request. [call.runScript],
// [call.runTyped] and [call.runRequest] return one, and the template "ran" shows it:
//
//	{{template "ran" (pair . .Data.Ran)}}
type ran struct {
	Kept         bool         `json:"kept"`             // what it wrote is in the root
	Change       int64        `json:"change,omitempty"` // which change that is
	Answer       *ranAnswer   `json:"answer,omitempty"` // of a request
	Output       *boundedText `json:"output,omitempty"` // what a script has written and returned
	Values       []ranValue   `json:"values,omitempty"` // what typed Lua has given
	Written      []ranObject  `json:"written"`          // or would have written
	More         int          `json:"more,omitempty"`   // how many objects are not shown
	Read         *readData    `json:"read,omitempty"`   // nil: the run did not begin
	Sent         bool         `json:"sent,omitempty"`   // changes were committed before the end; Written lacks them
	Log          []string     `json:"log,omitempty"`    // the lines for the log
	Failure      *ranFailure  `json:"failure,omitempty"`
	Milliseconds float64      `json:"milliseconds"`
	Instructions int64        `json:"instructions"` // of Lua
	typed        *typedScript // that was run in place of the stored one, or nil
	run          *runner.Run  // nil before its end
	limits       site.Limits  // of the run
	reads        *requestlog.Reads
}

// typedScript is a text that a person has typed, and not stored. It is run in place of the script at
// an address, in a transaction that is thrown away.
type typedScript struct {
	at     objectdb.Address
	source objectdb.Script
}

// ranValue is a value that typed Lua has given.
type ranValue struct {
	Text boundedText     `json:"text"`
	JSON json.RawMessage `json:"json,omitempty"` // if it is not too long
}

// IsText reports whether the text says all of the value.
func (v *ranValue) IsText() bool {
	return len(v.JSON) == 0 || v.JSON[0] != '{' && v.JSON[0] != '['
}

// Indented returns the JSON of the value for people.
func (v *ranValue) Indented() string {
	text, err := json.MarshalIndent(v.JSON, "", "  ")
	if err != nil {
		return string(v.JSON)
	}
	return string(text)
}

// ranObject is an object that was written.
type ranObject struct {
	difference
	IsThere bool `json:"-"` // now, after the run
}

// ranFailure says why a run has failed.
type ranFailure struct {
	Message string     `json:"message"`
	Place   *ranPlace  `json:"place,omitempty"`
	Lines   []ranLine  `json:"lines,omitempty"` // of the script, around the place
	Calls   []ranPlace `json:"calls,omitempty"` // that led there, the innermost first
	Limit   *ranLimit  `json:"limit,omitempty"` // that has ended the run
}

// ranPlace is a line of a script.
type ranPlace struct {
	Text    string `json:"text"`
	Address string `json:"address,omitempty"`
	Line    int    `json:"line,omitempty"`
	Link    string `json:"link,omitempty"`
}

// ranLine is a line of the script that has failed.
type ranLine struct {
	Number int    `json:"number"`
	Text   string `json:"text"`
	Here   bool   `json:"here,omitempty"`
}

// ranLimit is a limit that was reached.
type ranLimit struct {
	Setting string `json:"setting"`
	Title   string `json:"title"`
	Address string `json:"address"`
	Link    string `json:"link,omitempty"`
}

// Took returns how long the run took, for people.
func (r *ran) Took() string {
	if r.Milliseconds < 1000 {
		return fmt.Sprintf("%.1f ms", r.Milliseconds)
	}
	return fmt.Sprintf("%.2f s", r.Milliseconds/1000)
}

// Bounds of what a page shows of a run.
const (
	ranObjects = 50
	ranValues  = 100
	ranDiff    = 16 << 10 // bytes of the difference of one object
	ranLog     = 100      // lines
)

// boundedOf returns the beginning of a text with size bytes.
func boundedOf(s string, size int64) boundedText {
	t := newBoundedText(s)
	t.Cut, t.Size = !t.Binary && int64(len(t.Text)) < size, size
	return t
}

// perform calls run, which makes a run with the options of runOptions, and notes how long it takes and
// what has come of it. The error is one that has nothing to do with what was run.
func (c *call) perform(r *ran, run func() error) error {
	release, err := c.acquireRun()
	if err != nil {
		return err
	}
	defer release()
	r.Written = []ranObject{}
	began := time.Now()
	failed := run()
	r.Milliseconds = float64(time.Since(began).Microseconds()) / 1000
	if err := c.ctx().Err(); err != nil {
		return err // nobody waits for the page
	}
	if failed != nil {
		r.Kept, r.Written, r.More = false, []ranObject{}, 0
		if r.Failure, err = c.failure(r, failed); err != nil {
			return err
		}
	}
	if err := c.view(func(tx *objectdb.Tx) error { r.Read = c.newReadData(tx, r.reads); return nil }); err != nil {
		return err
	}
	if r.run != nil {
		r.Change, err = c.kept(r.run.Tx.Committed())
	}
	return err
}

// mostRuns is how many runs people may make at one time.
const mostRuns = 4

// acquireRun waits until a run may begin. After it release must be called.
func (c *call) acquireRun() (release func(), err error) {
	wait := time.NewTimer(10 * time.Second)
	defer wait.Stop()
	select {
	case c.runs <- struct{}{}:
		return func() { <-c.runs }, nil
	case <-wait.C:
		return nil, &problem{Status: 503, Text: text("run.busy", mostRuns)}
	case <-c.ctx().Done():
		return nil, c.ctx().Err()
	}
}

// ended is runner.Options.Ended of a run: it notes what was written, and how much was done.
func (c *call) ended(r *ran) func(*runner.Run, error) error {
	return func(run *runner.Run, failed error) error {
		r.run, r.Written, r.More, r.Sent = run, []ranObject{}, 0, run.Tx.Committed() > 0
		r.limits, r.reads = run.Limits(), requestlog.ReadsOf(run.Tx, nil)
		if run.Thread != nil {
			r.Instructions = run.Thread.Instructions()
		}
		if failed != nil {
			return nil
		}
		diffs, more, err := history.PendingDiffs(run.Tx, ranObjects)
		if err != nil {
			return err
		}
		r.More = more
		for _, d := range diffs {
			if t := r.typed; t != nil && d.After != nil && d.After.Address.Equal(t.at) && d.After.Value == t.source {
				continue
			}
			o := ranObject{difference: c.newDifference(d), IsThere: d.Before != nil}
			if r.Kept {
				o.IsThere = d.After != nil
			}
			o.Gone = d.After == nil
			if len(o.Unified) > ranDiff {
				o.Unified = cutAt(o.Unified, ranDiff)
				o.Lines = diffLines(o.Unified)
				o.Notes = append(o.Notes, text("run.diffCut"))
			}
			r.Written = append(r.Written, o)
		}
		return nil
	}
}

// failure describes the error of a run. The second result is an error that has nothing to do with
// what was run.
func (c *call) failure(r *ran, err error) (*ranFailure, error) {
	if objectdb.IsFailure(err) {
		return nil, err
	}
	f := &ranFailure{Message: strings.TrimPrefix(err.Error(), "objectdb: ")}
	var s *script.Error
	if errors.As(err, &s) {
		f.Message = s.Message
	}
	if lua.IsPanic(err) {
		c.Log.Error("web page: a run", "path", c.r.URL.Path, "user", c.user, "err", gateway.Describe(err))
	}
	return f, c.view(func(tx *objectdb.Tx) error {
		if s != nil {
			c.locate(tx, f, s)
		}
		f.Limit = c.limitOf(tx, r, err)
		return nil
	})
}

// locate sets the places of the error of a script.
func (c *call) locate(tx *objectdb.Tx, f *ranFailure, s *script.Error) {
	if s.Name != "" && s.Line > 0 {
		p := c.place(tx, s.Name, s.Address, s.Line)
		f.Place = &p
	}
	for _, l := range s.Excerpt() {
		f.Lines = append(f.Lines, ranLine{l.Number, cutAt(strings.ToValidUTF8(l.Text, "�"), 500), l.Number == s.Line})
	}
	for _, frame := range s.Frames {
		p := ranPlace{Text: frame.String()}
		if frame.Source != "" && frame.Line > 0 && frame.Tail == 0 {
			p = c.place(tx, frame.Source, nil, frame.Line)
			p.Text = frame.String()
		}
		f.Calls = append(f.Calls, p)
	}
}

// place returns the line of a script that messages call name, with a link if it is in the root.
func (c *call) place(tx *objectdb.Tx, name string, a objectdb.Address, line int) ranPlace {
	p := ranPlace{Text: fmt.Sprintf("%s:%d", name, line), Line: line}
	if a == nil {
		var err error
		if a, err = objectdb.ParseAddress(name); err != nil {
			return p
		}
	}
	if n, err := tx.Find(a); err != nil || n.Kind() != objectdb.KindScript {
		return p
	}
	p.Address, p.Link = a.String(), fmt.Sprintf("%s#line-%d", c.linkTo("at", a), line)
	return p
}

// limitOf returns the limit that an error reports, or nil.
func (c *call) limitOf(tx *objectdb.Tx, r *ran, err error) *ranLimit {
	set, ok := site.Find(runner.LimitOf(err))
	if !ok {
		return nil
	}
	at := set.Address()
	if _, ok := site.FindLimit(set.Name); ok && r.run != nil {
		at = r.limits.Get(set).From()
	}
	l := &ranLimit{Setting: set.Name, Title: set.Title, Address: at.String(), Link: c.link("settings")}
	if _, err := tx.Find(at); err == nil {
		l.Link = c.linkTo("at", at)
	}
	return l
}

// runHere returns the gateway whose runner runs what the person asks for: in the present or the past.
func (c *call) runHere() *gateway.Gateway {
	if c.inPast {
		return c.Gateway.On(c.db, nil)
	}
	return c.Gateway
}

// runScript runs the script at a, or the typed one unless that is nil, with texts as arguments. What
// it writes is kept or thrown away.
func (c *call) runScript(a objectdb.Address, args []string, keep bool, typed *typedScript) (*ran, error) {
	r := &ran{Kept: keep, typed: typed}
	err := c.perform(r, func() error {
		o := c.runOptions(r, "run "+a.String())
		output, err := c.runHere().Runner().Call(c.ctx(), o, a, args)
		if shown := boundedOf(output, int64(len(output))); shown.Size > 0 {
			r.Output = &shown
		}
		return err
	})
	return r, err
}

func (c *call) runOptions(r *ran, what string) runner.Options {
	o := runner.Options{Discard: !r.Kept, Origin: c.by(what), Ended: c.ended(r)}
	o.Prepare = func(run *runner.Run) error {
		run.Tx.RecordReads()
		if r.typed == nil {
			return nil
		}
		return run.Tx.Put(r.typed.at, r.typed.source)
	}
	return o
}

// runTyped runs typed Lua.
func (c *call) runTyped(typed string, keep bool) (*ran, error) {
	r := &ran{Kept: keep}
	err := c.perform(r, func() error {
		e, err := c.runHere().Runner().Eval(c.ctx(), c.runOptions(r, "console"), typed)
		if e.Written != "" {
			shown := boundedOf(e.Written, int64(len(e.Written)))
			r.Output = &shown
		}
		left := requestText
		for i, s := range e.Texts {
			v := ranValue{Text: boundedOf(s, int64(len(s)))}
			if left -= len(v.Text.Text); len(e.JSON[i]) < left {
				v.JSON = e.JSON[i]
				left -= len(v.JSON)
			}
			if r.Values = append(r.Values, v); left < 0 || len(r.Values) == ranValues {
				break
			}
		}
		return err
	})
	return r, err
}

// IsMany reports whether so many objects were written that the page shows the differences only when
// they are asked for.
func (r *ran) IsMany() bool { return len(r.Written) > 10 }

// Class returns the colour of the run.
func (r *ran) Class() string {
	switch {
	case r.Failure != nil, r.Answer != nil && r.Answer.Status >= 500:
		return "bad"
	case r.Answer != nil:
		return cmp.Or(r.Answer.Class(), "good")
	}
	return "good"
}
