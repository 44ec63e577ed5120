package admin

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"scripter/history"
	"scripter/objectdb"
	"scripter/runner"
)

// historyRoutes lists the pages of the history.
func (s *Server) historyRoutes() {
	s.page("GET /history", readers, (*call).historyPage)
	s.page("GET /history/diff", readers, (*call).diffPage)
	s.page("GET /history/{number}", readers, (*call).changePage)
	s.page("POST /history/{number}", readers, (*call).undoChange)
}

// changeRow is a change in the timeline.
type changeRow struct {
	Number   int64            `json:"number"`
	Time     time.Time        `json:"time"`
	Day      string           `json:"-"` // if it is another one than that of the row above
	Who      string           `json:"who"`
	Person   bool             `json:"person"`
	What     string           `json:"what"`
	Summary  string           `json:"summary"`
	At       objectdb.Address `json:"-"`
	Marks    string           `json:"marks,omitempty"`
	UndoneBy int64            `json:"undoneBy,omitempty"`
}

// historyData is the timeline.
type historyData struct {
	Address objectdb.Address `json:"-"`
	Dotted  string           `json:"address,omitempty"`
	Who     string           `json:"who,omitempty"`
	Since   string           `json:"since,omitempty"`
	Changes []changeRow      `json:"changes"`
	Next    string           `json:"next,omitempty"` // the parameter "before" of the next page
	Unkept  bool             `json:"unkept,omitempty"`
}

const (
	historyRows    = 50
	historyObjects = 500 // a larger change shows only how many objects it has changed
)

// historyPage lists changes, the newest first.
func (c *call) historyPage() (*result, error) {
	a, err := c.parseAddress(c.query("address"))
	if err != nil {
		return nil, err
	}
	data := &historyData{Address: a, Dotted: a.String(), Who: c.query("who"), Since: c.query("since")}
	f := history.Filter{At: a, Who: data.Who, Most: historyRows, Objects: historyObjects}
	if data.Since != "" {
		if f.Since, err = history.ParseMoment(data.Since, c.Now()); err != nil {
			return nil, badInput(err)
		}
	}
	f.Before, _ = strconv.ParseInt(c.query("before"), 10, 64)
	if c.inPast && (f.Before == 0 || f.Before > c.past+1) {
		f.Before = c.past + 1
	}
	err = c.DB.View(c.ctx(), func(tx *objectdb.Tx) error {
		log, err := history.List(tx, f)
		if err != nil {
			return err
		}
		data.Changes = c.rows(log.Changes)
		if log.Next > 0 {
			data.Next = strconv.FormatInt(log.Next, 10)
		}
		data.Unkept = log.Unkept != nil
		return nil
	})
	if err != nil {
		return nil, historyProblem(err)
	}
	day := ""
	for i := range data.Changes {
		if d := data.Changes[i].Time.Format("Monday, 2 January 2006"); d != day {
			data.Changes[i].Day, day = d, d
		}
	}
	title := text("nav.history")
	if len(a) > 0 {
		title = text("history.of", a.String())
	}
	return &result{template: "history", title: title, data: data}, nil
}

func (c *call) row(change *history.Change) changeRow {
	r := changeRow{Number: change.Generation, Time: change.When(), Who: change.Origin.Who, Person: change.Origin.Person,
		What:  strings.TrimSpace(change.Origin.Why + " " + change.Origin.Path),
		Marks: change.Marks(), UndoneBy: change.UndoneBy}
	if change.Summary != nil {
		s := *change.Summary
		s.At, s.From = c.seen(s.At), c.seen(s.From)
		r.Summary = s.String()
		if s.Known {
			r.At = s.At
		}
	}
	return r
}

// seen returns the part of an address that the person may see. If only owners see the table that an object is in,
// this is the address of the table, because names may be secret too.
func (c *call) seen(a objectdb.Address) objectdb.Address {
	for i := range a {
		if !c.role.MaySee(a[:i+1]) {
			return a[:i+1]
		}
	}
	return a
}

// rows returns changes for people and programs.
func (c *call) rows(changes []history.Change) []changeRow {
	list := []changeRow{}
	for i := range changes {
		list = append(list, c.row(&changes[i]))
	}
	return list
}

// summarize looks up the addresses of the objects of a change, if there are not too many.
func summarize(tx *objectdb.Tx, c objectdb.Change) (*history.Summary, error) {
	if c.Count > historyObjects {
		return &history.Summary{Count: c.Count}, nil
	}
	return history.Summarize(tx, c)
}

// historyProblem returns the problem of what the history does not have.
func historyProblem(err error) error {
	var known *history.Error
	if errors.As(err, &known) {
		return &problem{Status: http.StatusNotFound, Text: strings.ToUpper(known.Text[:1]) + known.Text[1:] + "."}
	}
	return err
}

// difference is what a change has done to one object.
type difference struct {
	Address  objectdb.Address `json:"-"`
	Dotted   string           `json:"address"`
	Headline string           `json:"headline"`
	Kind     string           `json:"kind"`
	Gone     bool             `json:"gone,omitempty"` // the object is not there after the change
	Lines    []diffLine       `json:"-"`
	Unified  string           `json:"diff"`
	Notes    []string         `json:"notes,omitempty"`
	masked   bool             // only owners see it
}

// diffLine is a line of a difference.
type diffLine struct{ Class, Text string }

// newDifference returns a difference for people and programs.
func (c *call) newDifference(d *history.Diff) difference {
	x := difference{}
	hide := func(s *history.Side) *history.Side {
		if s == nil || c.role.MaySee(s.Address) {
			return s
		}
		x.masked = true
		return &history.Side{Address: c.seen(s.Address), Kind: s.Kind}
	}
	d = &history.Diff{How: d.How, Before: hide(d.Before), After: hide(d.After)}
	last := d.Last()
	x.Address, x.Dotted, x.Headline, x.Kind = last.Address, last.Address.String(), d.Headline(), last.Kind.String()
	x.Gone, x.Notes = d.After == nil, d.Notes()
	if x.masked {
		x.Notes = []string{text("object.masked")}
		return x
	}
	x.Unified = d.Unified()
	x.Lines = diffLines(x.Unified)
	return x
}

// addDifference adds a difference to a list. Objects in one table that only owners see are one item.
func (c *call) addDifference(list []difference, d *history.Diff) []difference {
	x := c.newDifference(d)
	if n := len(list); n > 0 && x.masked && list[n-1].masked && x.Headline == list[n-1].Headline {
		return list
	}
	return append(list, x)
}

// diffLines splits a unified difference for the page.
func diffLines(unified string) []diffLine {
	if unified == "" {
		return nil
	}
	var list []diffLine
	for line := range strings.SplitSeq(strings.TrimSuffix(unified, "\n"), "\n") {
		class := ""
		switch {
		case strings.HasPrefix(line, "+++ "), strings.HasPrefix(line, "--- "), strings.HasPrefix(line, "@@"),
			strings.HasPrefix(line, `\`):
			class = "hunk"
		case strings.HasPrefix(line, "+"):
			class = "plus"
		case strings.HasPrefix(line, "-"):
			class = "minus"
		}
		list = append(list, diffLine{class, line})
	}
	return list
}

// changeData is the page of one change.
type changeData struct {
	changeRow
	Objects   []difference `json:"objects"`
	More      int          `json:"more,omitempty"` // how many objects are not shown
	Next      string       `json:"next,omitempty"`
	Forgotten int          `json:"forgotten,omitempty"`
	IsUndo    bool         `json:"-"`
	Previous  int64        `json:"-"` // the generation before it
}

// changeObjects is how many objects of a change a page shows, and changeMost how many are shown in all.
const (
	changeObjects = 30
	changeMost    = 150
)

// number returns the number of the change that the path names.
func (c *call) number() (int64, error) {
	n, err := strconv.ParseInt(c.r.PathValue("number"), 10, 64)
	if err != nil || n < 1 {
		return 0, c.notFound()
	}
	return n, nil
}

// changePage shows what a change has done.
func (c *call) changePage() (*result, error) {
	n, err := c.number()
	if err != nil {
		return nil, err
	}
	data := &changeData{Objects: []difference{}}
	from, _ := strconv.Atoi(c.query("from"))
	err = c.DB.View(c.ctx(), func(tx *objectdb.Tx) error {
		d, err := history.Show(tx, n, changeMost)
		if err != nil {
			return err
		}
		if d.Summary, err = summarize(tx, d.Change.Change); err != nil {
			return err
		}
		data.changeRow, data.Forgotten, data.IsUndo, data.Previous = c.row(&d.Change), d.Forgotten, len(d.Undoes) > 0, n-1
		from = min(max(from, 0), len(d.Objects))
		shown := d.Objects[from:min(from+changeObjects, len(d.Objects))]
		for i := range shown {
			diff, err := history.DiffOf(tx, n, &shown[i])
			if err != nil {
				return err
			}
			data.Objects = c.addDifference(data.Objects, diff)
		}
		rest := len(d.Objects) - from - len(shown)
		if data.More = rest + d.More; rest > 0 {
			data.Next = strconv.Itoa(from + len(shown))
		}
		return nil
	})
	if err != nil {
		return nil, historyProblem(err)
	}
	return &result{template: "change", title: text("change.title", n), data: data}, nil
}

// errNothingLeft is the error of an undo that would change nothing, as when a form is sent twice.
var errNothingLeft = errors.New("nothing is left to take back")

// undoChange takes a change back, or makes it again.
func (c *call) undoChange() (*result, error) {
	n, err := c.number()
	if err != nil {
		return nil, err
	}
	u := history.Undo{Changes: []int64{n}, Merge: c.field("merge") == "yes", Compiles: runner.Compiles}
	if only := c.field("only"); only != "" {
		a, err := c.parseAddress(only)
		if err != nil {
			return nil, err
		}
		u.Only = []objectdb.Address{a}
	}
	if err := c.mayUndo(n, u.Only); err != nil {
		return nil, err
	}
	change, err := c.update(fmt.Sprintf("undo %d", n), func(tx *objectdb.Tx) error {
		did, err := u.Run(tx)
		if err == nil && did.IsEmpty() {
			return errNothingLeft
		}
		return err
	})
	var conflict *history.Conflict
	switch {
	case errors.As(err, &conflict):
		return c.conflictPage(n, conflict), nil
	case errors.Is(err, errNothingLeft):
		return c.redirect(c.link(fmt.Sprintf("history/%d", n)), "undoneNothing", 0), nil
	case err != nil:
		return nil, historyProblem(err)
	}
	to := c.link(fmt.Sprintf("history/%d", n))
	if change > 0 {
		to = c.link(fmt.Sprintf("history/%d", change))
	}
	return c.redirect(to, "undone", change), nil
}

// mayUndo returns an error unless the person may change all objects of a change, or those in only.
func (c *call) mayUndo(n int64, only []objectdb.Address) error {
	if len(only) > 0 {
		return c.mayChange(only[0])
	}
	if c.mayChange(nil) == nil {
		return nil
	}
	err := c.DB.View(c.ctx(), func(tx *objectdb.Tx) error {
		for o, err := range tx.ChangedObjects(n) {
			if err != nil {
				return err
			}
			for _, s := range []*objectdb.ObjectState{o.Before, o.After} {
				if s != nil {
					if err := c.mayChange(s.Address); err != nil {
						return err
					}
				}
			}
		}
		return nil
	})
	return historyProblem(err)
}

// undoConflictData is the page of an undo that was refused, because objects were changed since.
type undoConflictData struct {
	Number  int64  `json:"number"`
	Error   string `json:"error"`
	Objects []any  `json:"objects"`
	Merge   bool   `json:"mayMerge"`
}

func (c *call) conflictPage(n int64, conflict *history.Conflict) *result {
	return &result{status: http.StatusConflict, template: "undoconflict", title: text("undo.conflict"),
		data: &undoConflictData{Number: n, Error: conflict.Error(), Objects: conflict.Fields(),
			Merge: conflict.MayMerge()}}
}

// compareMost is the largest number of objects that a page compares; comparing more takes too long.
const compareMost = 1000

// diffData is the page of the differences of an object between two moments.
type diffData struct {
	Address objectdb.Address `json:"-"`
	Dotted  string           `json:"address"`
	From    string           `json:"from"`
	To      string           `json:"to"`
	Objects []difference     `json:"objects"`
	More    bool             `json:"more,omitempty"`
}

// diffPage compares an object, with all in it, at two moments.
func (c *call) diffPage() (*result, error) {
	a, err := c.parseAddress(c.query("address"))
	if err != nil {
		return nil, err
	}
	data := &diffData{Address: a, Dotted: a.String(), From: c.query("from"), To: c.query("to"), Objects: []difference{}}
	states := [2]history.State{history.Now(), history.Now()}
	err = c.DB.View(c.ctx(), func(tx *objectdb.Tx) error {
		for i, s := range []string{data.From, data.To} {
			if s == "" && i == 1 {
				continue
			}
			m, err := history.ParseMoment(s, c.Now())
			if err != nil {
				return badInput(err)
			}
			if states[i], err = m.State(tx); err != nil {
				return err
			}
		}
		ids, err := tx.IDsAt(a)
		if err != nil {
			return err
		}
		_, complete, err := tx.IDsBelow(ids, compareMost)
		if err == nil && !complete {
			err = bad("diff.large", name(a), thousands(compareMost))
		}
		return err
	})
	if err != nil {
		return nil, historyProblem(err)
	}
	for d, err := range history.Compare(c.ctx(), c.DB, a, states[0], states[1]) {
		if err != nil {
			return nil, historyProblem(err)
		}
		if data.More = len(data.Objects) == changeObjects; data.More {
			break
		}
		data.Objects = c.addDifference(data.Objects, d)
	}
	return &result{template: "diff", title: text("diff.title", name(a)), data: data}, nil
}
