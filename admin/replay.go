package admin

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"

	"scripter/gateway"
	"scripter/history"
	"scripter/objectdb"
	"scripter/replay"
	"scripter/requestlog"
	"scripter/site"
	"scripter/sitetest"
	"scripter/valuetext"
)

// requestActions are what can be done with a recorded request, by the field "do" of its forms.
var requestActions = map[string]func(*call, *requestData, *requestlog.Request) (*result, error){
	"now": (*call).replayNow, "then": (*call).replayThen, "compare": (*call).compareRuns,
	"recorded": (*call).compareRecorded, "test": (*call).saveTest,
}

// changeRequest does what a form on the page of a recorded request asks for.
func (c *call) changeRequest() (*result, error) {
	action, ok := requestActions[c.field("do")]
	switch {
	case !ok:
		return nil, unknownAction(c.field("do"))
	case c.inPast:
		return nil, pastProblem()
	}
	data, r, err := c.request()
	if err != nil {
		return nil, err
	}
	return action(c, data, r)
}

// edited is what a person gives a recorded request before it is run again.
type edited struct {
	Fields    []editedField
	Body      string
	Variables string
}

type editedField struct {
	Name   string
	Values []string
	Masked bool
	Long   bool // a value has several lines
}

// editable returns the form fields of a request that can be given other values.
func editable(groups []requestPart) []editedField {
	const most = 40
	var list []editedField
	for _, g := range groups {
		if g.Key != "query" && g.Key != "post" {
			continue
		}
		for _, item := range g.Items {
			if len(item.Value) >= requestValue || len(item.Name) >= 200 || strings.ContainsRune(item.Value, 0) {
				continue
			}
			i := slices.IndexFunc(list, func(f editedField) bool { return f.Name == item.Name })
			if i < 0 {
				if len(list) == most {
					return list
				}
				i, list = len(list), append(list, editedField{Name: item.Name})
			}
			f := &list[i]
			f.Values = append(f.Values, item.Value)
			f.Masked = f.Masked || item.Masked
			f.Long = f.Long || strings.ContainsAny(item.Value, "\r\n")
		}
	}
	return list
}

// sameText reports whether two texts are the same to a browser, which sends its own line ends.
func sameText(a, b string) bool {
	return unixLines(a) == unixLines(b)
}

// edit gives a recorded request the values of the form, where they differ from those that the form had, and
// notes them for the next form.
func (c *call) edit(data *requestData, r *requestlog.Request) error {
	c.field("do") // reads the form
	for i := range data.Edited.Fields {
		f := &data.Edited.Fields[i]
		values, ok := c.r.PostForm["field."+f.Name]
		if !ok || slices.EqualFunc(values, f.Values, sameText) {
			continue
		}
		if err := r.SetField(f.Name, values...); err != nil {
			return badInput(err)
		}
		f.Values, f.Masked = values, false
	}
	if body, ok := c.r.PostForm["body"]; ok && !sameText(body[0], data.EditedBody()) {
		r.SetBody(body[0])
		data.Edited.Body = body[0]
	}
	data.Edited.Variables = c.field("variables")
	if strings.TrimSpace(data.Edited.Variables) != "" && c.role.Kind != site.RoleOwner {
		return newProblem(http.StatusForbidden, "request.ownersVariables")
	}
	for line := range strings.SplitSeq(data.Edited.Variables, "\n") {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		name, value, ok := parseVariable(line)
		if !ok {
			return bad("request.badVariable", line)
		}
		r.SetVariable(name, value)
	}
	if err := r.Incomplete(); err != nil {
		return newProblem(http.StatusConflict, "request.incomplete", err)
	}
	return nil
}

// EditedBody returns the body that the form has: that of the last form, or the recorded one.
func (d *requestData) EditedBody() string {
	if d.Edited.Body != "" {
		return d.Edited.Body
	}
	if d.IsForm || d.Body.Cut || d.Incomplete != "" {
		return ""
	}
	return d.Body.Text
}

var (
	variableLine = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([A-Z][A-Z0-9_]*)=(.*)$`) })
	fieldLine    = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([A-Za-z0-9-]+):\s*(.*)$`) })
)

// parseVariable reads a line such as "REMOTE_USER=ada" or "User-Agent: tester".
func parseVariable(line string) (name, value string, ok bool) {
	if m := variableLine().FindStringSubmatch(line); m != nil {
		return m[1], m[2], true
	}
	m := fieldLine().FindStringSubmatch(line)
	if m == nil {
		return "", "", false
	}
	name = strings.ReplaceAll(strings.ToUpper(m[1]), "-", "_")
	if name != "CONTENT_TYPE" && name != "CONTENT_LENGTH" {
		name = "HTTP_" + name
	}
	return name, m[2], true
}

// outcome is what came of a replay: a run, or a comparison.
type outcome struct {
	Then     bool        `json:"then"` // the run is on the root as it was
	Ran      *ran        `json:"ran,omitempty"`
	Notes    []string    `json:"notes,omitempty"` // values and files that differed from those of then
	Compared *comparison `json:"difference,omitempty"`
}

// comparison is what differs between two answers, and between what was written.
type comparison struct {
	Recorded bool     `json:"recorded"` // the first is the recorded answer
	Same     bool     `json:"same"`
	Head     []string `json:"head"`
	Body     []string `json:"body"`
	Written  []string `json:"written"`
}

// Lines returns lines with "-" and "+" for the page.
func (*comparison) Lines(lines []string) []diffLine { return diffLines(strings.Join(lines, "\n")) }

// notesOf returns notes about values and files that a replay on the root as of then could not read as they were.
// g may be nil.
func notesOf(ctx context.Context, past *history.Past, g *gateway.Gateway) []string {
	var list []string
	if g != nil && g.HasReadFiles() {
		list = append(list, text("request.files"))
	}
	later, err := past.LaterValues(ctx)
	if err != nil {
		list = append(list, err.Error())
	}
	const most = 5
	for _, l := range later[:min(most, len(later))] {
		list = append(list, text("request.later", name(l.Address), valuetext.Time(l.Written)))
	}
	if n := len(later) - most; n > 0 {
		list = append(list, text("request.laterMore", n))
	}
	return list
}

func (c *call) replayNow(data *requestData, r *requestlog.Request) (*result, error) {
	return c.replayOnce(data, r, false)
}

func (c *call) replayThen(data *requestData, r *requestlog.Request) (*result, error) {
	return c.replayOnce(data, r, true)
}

// replayOnce runs a request again, and shows what came of it.
func (c *call) replayOnce(data *requestData, r *requestlog.Request, then bool) (*result, error) {
	if err := c.mayRun(); err != nil {
		return nil, err
	}
	keep := c.field("keep") == "yes" && !then
	if keep && c.role.Kind != site.RoleOwner {
		return nil, newProblem(http.StatusForbidden, "request.ownersKeep")
	}
	if err := c.edit(data, r); err != nil {
		return nil, err
	}
	db, past := c.DB, (*history.Past)(nil)
	if then {
		generation, err := replay.Seen(c.ctx(), c.DB, r)
		if err != nil {
			return nil, c.replayProblem(err)
		}
		past = history.NewPast(c.DB, generation)
		db = past.DB
	}
	log := &runLog{}
	g := c.Gateway.On(db, slog.New(log))
	done, err := c.runRequestBy(g, log, r, fmt.Sprintf("replay request %d", r.Number), &ran{Kept: keep})
	if err != nil {
		return nil, err
	}
	o := &outcome{Then: then, Ran: done}
	if past != nil {
		o.Notes = notesOf(c.ctx(), past, g)
	}
	return c.outcomeResult(data, o), nil
}

// replayProblem returns the problem of a request that could not be run again.
func (c *call) replayProblem(err error) error {
	if problem := historyProblem(err); problem != err {
		return problem
	}
	if errors.Is(err, objectdb.ErrReach) {
		return &problem{Status: http.StatusNotFound, Text: strings.TrimPrefix(err.Error(), "objectdb: ")}
	}
	return err
}

func (c *call) compareRuns(data *requestData, r *requestlog.Request) (*result, error) {
	return c.compare(data, r, false)
}

func (c *call) compareRecorded(data *requestData, r *requestlog.Request) (*result, error) {
	return c.compare(data, r, true)
}

// compare shows what differs between the runs on the root as it was and on today's, or between the
// recorded answer and a run on today's root.
func (c *call) compare(data *requestData, r *requestlog.Request, recorded bool) (*result, error) {
	if err := c.mayRun(); err != nil {
		return nil, err
	}
	if err := c.edit(data, r); err != nil {
		return nil, err
	}
	if recorded && r.Answer == nil {
		return nil, newProblem(http.StatusConflict, "request.noAnswer")
	}
	release, err := c.acquireRun()
	if err != nil {
		return nil, err
	}
	defer release()
	o := &outcome{}
	d, err := replay.Compare(c.ctx(), r, recorded, replay.Options{
		DB:      c.DB,
		Gateway: func(db *objectdb.DB) (*gateway.Gateway, error) { return c.Gateway.On(db, nil), nil },
		// The recorded folder is not trusted, because scripts can write recorded requests.
		Replay: gateway.ReplayOptions{DocumentRoot: gateway.DocumentRoot(c.ctx())},
		Ended: func(run *replay.Result) {
			if run.Past != nil {
				o.Notes = append(o.Notes, notesOf(c.ctx(), run.Past, run.Gateway)...)
			}
		},
	})
	if err != nil {
		return nil, c.replayProblem(err)
	}
	o.Compared = &comparison{Recorded: recorded, Same: d.IsEmpty(), Head: bounded(d.Head), Body: bounded(d.Body),
		Written: bounded(d.Written)}
	return c.outcomeResult(data, o), nil
}

// bounded returns as many lines as a page shows.
func bounded(lines []string) []string {
	left := requestText
	for i, line := range lines {
		if left -= len(line) + 1; left < 0 {
			return append(slices.Clone(lines[:i]), "…")
		}
	}
	return append([]string{}, lines...)
}

// outcomeResult shows what came of a replay: above the request, or as a part for the script.
func (c *call) outcomeResult(data *requestData, o *outcome) *result {
	data.Outcome = o
	res := c.requestResult(data)
	if c.r.Header.Get("X-Part") != "" {
		res.part = "requestOutcome"
	}
	return res
}

// saveTest makes a test of the request, as "scripter requests --save-test" does.
func (c *call) saveTest(data *requestData, r *requestlog.Request) (*result, error) {
	called := strings.TrimSpace(c.field("name"))
	a, err := sitetest.Address(strings.TrimSuffix(called, "."))
	if err != nil {
		return nil, bad("request.noTest", err)
	}
	command := fmt.Sprintf("scripter requests %d --save-test %s", r.Number, a)
	change, err := c.changeFree(a, fmt.Sprintf("test of request %d", r.Number), func(tx *objectdb.Tx) error {
		source, _ := sitetest.Script(r, command)
		return tx.Put(a, objectdb.Script(source))
	})
	if err != nil {
		return nil, err
	}
	return c.redirect(c.link(fmt.Sprintf("requests/%d", data.Number), "test", a.String()), "testMade", change), nil
}
