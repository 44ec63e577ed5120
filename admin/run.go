package admin

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"scripter/objectdb"
	"scripter/requestlog"
	"scripter/site"
)

// runRoutes lists the pages that run scripts, and the console.
func (s *Server) runRoutes() {
	for _, suffix := range []string{"", "/{address...}"} {
		s.page("GET /run"+suffix, readers, (*call).runPage)
		s.page("POST /run"+suffix, readers, (*call).runPosted)
	}
	s.page("POST /run-preview", readers, (*call).previewAnswer)
	s.page("GET /console", owners, (*call).consolePage)
	s.page("POST /console", owners, (*call).consolePosted)
}

// runData is the page that runs a script.
type runData struct {
	Address  objectdb.Address `json:"-"`
	Dotted   string           `json:"address"`
	Kind     string           `json:"kind"`
	As       string           `json:"as"` // "arguments", "request" or "kept"
	MayRun   bool             `json:"mayRun"`
	MayKeep  bool             `json:"mayKeep"`
	Path     string           `json:"path,omitempty"` // of the URL that calls it; "" = none does
	Args     []argument       `json:"arguments,omitempty"`
	Request  typedRequest     `json:"-"`
	Methods  []string         `json:"-"`
	Recorded []keptRequest    `json:"requests,omitempty"`
	ForPath  bool             `json:"-"` // Recorded are requests for Path
	Chosen   string           `json:"-"` // the number of one of them
	Source   string           `json:"-"` // the text that is run instead of the stored one
	IsTyped  bool             `json:"typed,omitempty"`
	Ran      *ran             `json:"ran,omitempty"`
}

// IsScript reports whether the object can be run with arguments.
func (d *runData) IsScript() bool { return d.Kind == objectdb.KindScript.String() }

// argument is one of the texts that a script gets.
type argument struct {
	Name  string `json:"name,omitempty"` // as the script calls it, or ""
	Value string `json:"value"`
}

// ArgumentLabel returns what the form calls the argument i, counted from 0, if it has no name.
func (d *runData) ArgumentLabel(i int) string { return text("run.argument", i+1) }

// mayRun returns an error unless the person may run scripts. A script sees the whole root, its
// secrets too, and takes time; so readers may not.
func (c *call) mayRun() error {
	if c.role.Kind == site.RoleOwner || c.role.Kind == site.RoleAuthor {
		return nil
	}
	return newProblem(http.StatusForbidden, "run.mayNot")
}

// readRunData returns the page that runs the object that the URL names.
func (c *call) readRunData() (*runData, error) {
	a, err := c.address()
	if err != nil {
		return nil, err
	}
	d := &runData{Address: a, Dotted: a.String(), Methods: methods, Path: pathOf(a)}
	d.MayRun = c.mayRun() == nil
	d.MayKeep = d.MayRun && !c.inPast && c.role.MayChange(a)
	err = c.view(func(tx *objectdb.Tx) error {
		n, err := tx.Find(a)
		if err != nil {
			return err
		}
		d.Kind = n.Kind().String()
		if n.Kind() != objectdb.KindScript && d.Path == "" {
			return bad("run.noScript", name(a), d.Kind)
		}
		if n.Kind() == objectdb.KindScript && c.role.MaySee(a) {
			v, err := tx.Value(n)
			if err != nil {
				return err
			}
			source, _ := v.(objectdb.Script)
			d.Args = arguments(string(source))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	switch d.As = c.r.FormValue("as"); {
	case d.As == "request", d.As == "kept":
	case d.IsScript() && (d.As == "arguments" || d.Path == ""):
		d.As = "arguments"
	default:
		d.As = "request"
	}
	if d.As == "kept" && d.MayRun {
		err = c.DB.View(c.ctx(), func(tx *objectdb.Tx) (err error) { // what is recorded has no history
			d.Recorded, d.ForPath, err = keptRequests(tx, d.Path)
			return err
		})
	}
	d.Request = typedRequest{Method: "GET", URL: d.Path}
	return d, err
}

// pathOf returns the path of the URL that calls an object, or "" if none does: if it is not below
// suites.webserverScripts, or has a name that a URL cannot have.
func pathOf(a objectdb.Address) string {
	if len(a) <= len(site.Scripts) || !a[:len(site.Scripts)].Equal(site.Scripts) {
		return ""
	}
	names := a[len(site.Scripts):]
	for _, n := range names {
		if !isPlain(n) || n[0] == '_' {
			return ""
		}
	}
	return "/" + strings.Join(names, ".") + ".fcgi"
}

var argumentLine = regexp.MustCompile(`(?m)^[ \t]*local[ \t]+([A-Za-z_]\w*(?:[ \t]*,[ \t]*[A-Za-z_]\w*)*)[ \t]*=[ \t]*\.\.\.[ \t]*(?:--.*)?;?\r?$`)

// mostArgs is how many arguments a form has.
const mostArgs = 20

// arguments returns the arguments of a script by the names that it gives them: "local a, b = ...".
func arguments(source string) []argument {
	m := argumentLine.FindStringSubmatch(source)
	if m == nil {
		return []argument{{}, {}}
	}
	var list []argument
	for n := range strings.SplitSeq(m[1], ",") {
		if len(list) < mostArgs {
			list = append(list, argument{Name: strings.TrimSpace(n)})
		}
	}
	return list
}

// runPage shows the forms that run a script.
func (c *call) runPage() (*result, error) {
	d, err := c.readRunData()
	if err != nil {
		return nil, err
	}
	return c.runResult(d), nil
}

func (c *call) runResult(d *runData) *result {
	return &result{template: "run", title: text("run.title", name(d.Address)), data: d}
}

// runPosted runs what the form says, and shows what came of it.
func (c *call) runPosted() (*result, error) {
	res, err := c.runForm()
	if c.r.Header.Get("X-Part") == "" || c.json {
		return res, err
	}
	if err != nil {
		p := c.problemOf(err)
		return &result{status: p.Status, part: "runProblem", data: p}, nil
	}
	res.part = "runPart"
	return res, nil
}

func (c *call) runForm() (*result, error) {
	d, err := c.readRunData()
	if err == nil {
		err = c.mayRun()
	}
	if err != nil {
		return nil, err
	}
	c.readArgs(d)
	d.Chosen = c.field("request")
	if c.r.PostForm.Has("url") {
		d.Request = c.readRequest()
	}
	keep := c.field("keep") != ""
	if err := c.checkKeep(d, keep); err != nil {
		return nil, err
	}
	typed, err := c.typedSource(d, keep)
	if err != nil {
		return nil, err
	}
	switch d.As {
	case "request":
		var r *requestlog.Request
		if r, err = d.Request.recorded(c); err == nil {
			what := fmt.Sprintf("run %s %s", d.Request.Method, cutAt(d.Request.URL, 200))
			d.Ran, err = c.runRequest(r, what, keep, typed)
		}
	case "kept":
		var r *requestlog.Request
		if r, err = c.keptRequest(); err == nil {
			d.Ran, err = c.runRequest(r, fmt.Sprintf("run request %d", r.Number), keep, typed)
		}
	default:
		var args []string
		for _, a := range d.Args {
			args = append(args, a.Value)
		}
		for len(args) > 0 && args[len(args)-1] == "" {
			args = args[:len(args)-1]
		}
		d.Ran, err = c.runScript(d.Address, args, keep, typed)
	}
	if err != nil {
		return nil, err
	}
	return c.runResult(d), nil
}

// readArgs reads the arguments of the form.
func (c *call) readArgs(d *runData) {
	c.field("do") // reads the form
	sent := c.r.PostForm["arg"]
	for i, value := range sent[:min(len(sent), mostArgs)] {
		if value = unixLines(value); i < len(d.Args) {
			d.Args[i].Value = value
		} else {
			d.Args = append(d.Args, argument{Value: value})
		}
	}
	if n := len(d.Args); n > 0 && n < mostArgs && d.Args[n-1].Value != "" {
		d.Args = append(d.Args, argument{})
	}
}

// checkKeep returns an error if the person may not keep what the run writes.
func (c *call) checkKeep(d *runData, keep bool) error {
	switch {
	case !keep:
		return nil
	case c.inPast:
		return pastProblem()
	case !d.MayKeep:
		return newProblem(http.StatusForbidden, "run.mayNotKeep", name(d.Address))
	case c.role.Kind == site.RoleOwner || d.As == "arguments":
		return nil
	}
	// A request may be answered by another script, and a recorded one may name another visitor.
	path, _, _ := strings.Cut(d.Request.URL, "?")
	path, _, _ = strings.Cut(path, "$")
	if d.As != "request" || d.Path == "" || !strings.EqualFold(path, d.Path) {
		return newProblem(http.StatusForbidden, "run.ownersKeep")
	}
	return nil
}

// typedSource returns the text that the form has, but that is not stored yet, or nil if the stored
// script is to be run.
func (c *call) typedSource(d *runData, keep bool) (*typedScript, error) {
	c.field("do") // reads the form
	sent, ok := c.r.PostForm["source"]
	if c.field("do") == "typed" { // the form of the editor
		sent, ok = []string{c.field("value")}, true
	}
	switch {
	case !ok:
		return nil, nil
	case keep:
		return nil, bad("run.typedKeep")
	case !d.IsScript():
		return nil, bad("run.noScript", name(d.Address), d.Kind)
	}
	if err := c.mayChange(d.Address); err != nil {
		return nil, err
	}
	d.Source, d.IsTyped = unixLines(sent[0]), true
	if !slices.ContainsFunc(d.Args, func(a argument) bool { return a.Value != "" }) {
		d.Args = arguments(d.Source)
	}
	return &typedScript{d.Address, objectdb.Script(d.Source)}, nil
}

// answerPolicy is the Content-Security-Policy of a preview of an answer: pictures and styles, those of the
// site too, but no script, no form, no cookie of this site and no frame of another page.
const answerPolicy = "sandbox; default-src 'none'; img-src data: 'self'; style-src 'unsafe-inline' 'self'; " +
	"font-src 'self'; form-action 'none'; frame-ancestors 'none'; base-uri 'none'"

// previewAnswer shows an answer as a page. The answer comes back from the page of the run, so that
// nothing runs again.
func (c *call) previewAnswer() (*result, error) {
	if err := c.mayRun(); err != nil {
		return nil, err
	}
	return otherPage(answerPolicy, c.field("html")), nil
}
