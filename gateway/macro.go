package gateway

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"scripter/lua"
	"scripter/macros"
	"scripter/objectdb"
	"scripter/runner"
	"scripter/script"
	"scripter/site"
	"scripter/verbs/html"
)

// maxNesting limits how deep pages are nested: a marker calls a script that expands a page
// whose marker calls a script.
const maxNesting = 16

// maxProblems is how many failures of one request are logged: a marker in a loop may fail in each row.
const maxProblems = 100

// problem is a failed marker, or a failed callback: then only page, which is its address, and
// err are set.
type problem struct {
	page         string
	line, column int
	marker       string
	around       string // the loops and pages around the marker, or ""
	err          error
}

// reason returns why the marker has failed, and where it is within loops and pages.
func (p problem) reason() string {
	if p.around == "" {
		return developerMessage(p.err)
	}
	return developerMessage(p.err) + " (" + p.around + ")"
}

func (p problem) String() string {
	if p.marker == "" {
		return p.page + ": " + developerMessage(p.err)
	}
	return fmt.Sprintf("%s, line %d, column %d: %s: %s", p.page, p.line, p.column, clip(p.marker, 200),
		p.reason())
}

// noteProblems records the failures of markers for the test that makes the request, if a test does.
func (c *attempt) noteProblems() {
	if c.test == nil {
		return
	}
	for _, p := range c.problems {
		c.failures = append(c.failures, p.String())
	}
}

// expandPage returns the page that the parameters name, with its markers replaced
// (specification, 4.4).
func (c *attempt) expandPage(params *script.Table) (string, error) {
	var file foundFile
	var err error
	p := tableText(params, "scriptName")
	switch {
	case c.routed.route != nil && p == c.routed.path:
		file, err = c.routePage(c.routed.route, tableText(params, "websiteFolder"))
	case p == c.target.Path && c.target.PathArgs != "":
		// A web server that looks for files takes this for the name of another file.
		return "", &Error{Status: 404, Message: fmt.Sprintf("%s is a page, and pages have no path arguments", p)}
	case p == c.target.Path:
		file, err = c.findFile(c.pageFiles())
	default: // a script has changed scriptName
		if err = CheckPath(p); err == nil {
			folder := strings.TrimSuffix(tableText(params, "websiteFolder"), "/")
			file, err = c.findNamed(folder + "/" + strings.TrimPrefix(p, "/"))
		}
	}
	if err != nil {
		return "", err
	}
	page, err := c.g.pageOf(file)
	if err != nil {
		return "", err
	}
	return c.expand(page, file.real, nil)
}

// macroPage does what the supplied script of the MACRO action does.
func (c *attempt) macroPage(params *script.Table) (script.Value, error) {
	resp, err := c.newResponse("", c.defaultType())
	if err != nil {
		return nil, err
	}
	resp.Body, err = c.expandPage(params)
	return responseValue{resp: resp}, err
}

// expand replaces the markers of a page. A marker looks for a name in names, which may be nil,
// before it looks anywhere else.
func (c *attempt) expand(page *cachedPage, name string, names *script.Table) (string, error) {
	if c.depth >= maxNesting {
		return "", fmt.Errorf("%s: pages within pages go deeper than %d", name, maxNesting)
	}
	c.depth++
	defer func() { c.depth-- }()
	var out pageText
	out.Grow(page.expectedSize())
	e := evaluator{c: c, page: name, names: names, out: &out}
	if err := e.expand(page); err != nil {
		return "", err
	}
	page.last.Store(int64(out.Len()))
	return out.String(), nil
}

// expand writes a page with its markers replaced, in its layout if it names one.
func (e *evaluator) expand(page *cachedPage) error {
	e.all, e.source = e.c.Site().Flag(site.FlEscapeMarkers), page
	if e.names == nil && e.c.traced == nil && len(e.items) == 0 && !e.all {
		e.values = e.c.pageValues(page)
	}
	if page.layout {
		return e.inLayout(page)
	}
	e.trace = e.c.traceExpansion(page, e.page, e.out.Len())
	if e.parts == nil {
		e.parts = &parts{}
	}
	err := page.Expand(e)
	e.trace.end(e.out)
	return err
}

// objectPage parses a text object of the root as a page.
func (c *attempt) objectPage(n *objectdb.Node) (*cachedPage, error) {
	return c.g.pages.object(c.Tx, n)
}

// evaluator evaluates the markers of one page (specification, 4.4.2).
type evaluator struct {
	c     *attempt
	page  string
	names *script.Table
	out   *pageText
	items []*item         // of the loops around the marker, innermost last
	from  *evaluator      // of the page that includes this one, or has it as its layout
	at    *macros.Marker  // the marker of that page
	parts *parts          // shared by a page and what it includes
	trace *expansionTrace // nil: nobody asks for it
	all   bool            // all markers are escaped, unless they say raw

	source *cachedPage
	values *pageValues // nil: none are cached
	ran    bool        // a marker was evaluated since values were checked
}

// Text writes a piece of the page.
func (e *evaluator) Text(s string) { e.out.WriteString(s) }

// Insert writes the text of a marker. If the marker fails, what it has written to the root is
// undone, the log gets the reason, and the text is "", or the reason if a developer asks.
// Insert returns an error only if it ends the whole request.
func (e *evaluator) Insert(m *macros.Marker) error {
	if err := e.count(); err != nil {
		return err
	}
	if text, ok := e.cached(m); ok {
		e.Text(text)
		return nil
	}
	if insert := e.partMarker(m); insert != nil {
		_, err := e.try(m, insert)
		return err
	}
	_, err := e.try(m, func() error {
		text, err := e.marker(m)
		if err == nil {
			e.Text(text)
		}
		return err
	})
	return err
}

// count counts a marker, or an item of a loop.
func (e *evaluator) count() error {
	c := e.c
	if c.markers++; float64(c.markers) > c.Limits().Get(site.MaxMacros).Value {
		limit := c.Count(site.MaxMacros)
		return limit.Error("%s: more than %d markers in one request", e.page, limit.Most)
	}
	return nil
}

// try evaluates a marker by fn and reports whether it has not failed. If fn fails, what it has
// written to the root is undone.
func (e *evaluator) try(m *macros.Marker, fn func() error) (ok bool, err error) {
	run := func() (failed, err error) {
		if e.runsNothing(m.Expr) {
			failed = fn()
		} else {
			e.ran = true
			failed = e.c.tryMarker(fn)
		}
		if failed != nil {
			err = e.failed(m, failed)
		}
		return failed, err
	}
	failed, err := e.trace.marker(m, e.out, run)
	return failed == nil, err
}

// runsNothing reports whether a marker only reads rows of loops, so that there is nothing to undo.
func (e *evaluator) runsNothing(x macros.Expr) bool {
	switch x := x.(type) {
	case macros.Name:
		return e.item(x.Path) != nil
	case macros.Not:
		return e.runsNothing(x.X)
	case macros.Operation:
		return e.runsNothing(x.X) && e.runsNothing(x.Y)
	case macros.String, macros.Number, macros.Bool, macros.Nil:
		return true
	}
	return false
}

// failed notes that a marker has failed, and writes why, if a developer asks. It returns the error if
// that ends the whole request.
func (e *evaluator) failed(m *macros.Marker, failed error) error {
	c := e.c
	if isFatal(failed) {
		return failed
	}
	p := problem{e.page, m.Line, m.Column, m.Text, e.around(), failed}
	if len(c.problems) < maxProblems {
		c.problems = append(c.problems, p)
	} else {
		c.unlogged++
	}
	if c.showsErrors() {
		e.Text(fmt.Sprintf("<strong>[Macro error: %s, line %d, column %d: %s]</strong>",
			html.Escape(e.page), m.Line, m.Column, html.Escape(p.reason())))
	}
	return nil
}

// cached returns the text of a marker that only names a value in the root, if it is cached
// and still right.
func (e *evaluator) cached(m *macros.Marker) (string, bool) {
	if e.values == nil || m.Index >= len(e.values.cached) || !e.values.cached[m.Index] {
		return "", false
	}
	if len(e.items) > 0 && e.item(m.Expr.(macros.Name).Path) != nil || !e.valuesStand() {
		return "", false
	}
	return e.values.texts[m.Index], true
}

// valuesStand reports whether the cached values of the page are still right.
func (e *evaluator) valuesStand() bool {
	if e.values != nil && e.ran {
		e.ran = false
		if e.c.Tx.Written() || !e.c.Thread.Untouched(e.values.names...) {
			e.values = nil
		}
	}
	return e.values != nil
}

// isFatal reports whether an error ends the whole request: an exceeded limit, a panic, a lost
// race, a client that is gone, a root that cannot be read.
func isFatal(err error) bool {
	var s *script.Error
	if errors.As(err, &s) && s.Limit != "" || lua.IsPanic(err) {
		return true
	}
	return objectdb.IsFailure(err) || slices.ContainsFunc(fatalErrors, func(e error) bool { return errors.Is(err, e) })
}

var fatalErrors = []error{
	errStopped, runner.ErrAgain, objectdb.ErrConflict, objectdb.ErrBusy, context.Canceled, context.DeadlineExceeded,
}

// marker returns the text of a marker.
func (e *evaluator) marker(m *macros.Marker) (string, error) {
	if m.Err != nil {
		return "", syntaxError(m)
	}
	var v script.Value
	var path []string
	var err error
	data := e.all
	switch x := m.Expr.(type) {
	case macros.Name:
		var foreign bool
		path = x.Path
		v, foreign, err = e.name(x)
		data = data || foreign
	case macros.Call:
		path = x.Path
		switch {
		case isWord(path, "raw"):
			data = false
			v, err = e.only(x)
		case e.isHTML(path):
			data = true
			v, err = e.only(x)
		default:
			v, err = e.call(x)
			data = data && !isHTMLVerb(path) || isMarkupVerb(path) && !e.out.place().isContent()
		}
	}
	if err != nil {
		return "", err
	}
	text, err := e.text(v, path)
	if err != nil || !data {
		return text, err
	}
	return e.out.escaped(v, text)
}

// syntaxError returns the error of a marker without the line and column, which the caller adds.
func syntaxError(m *macros.Marker) error {
	var e *macros.Error
	if errors.As(m.Err, &e) {
		return errors.New(e.Message)
	}
	return m.Err
}

// isHTML reports whether a call is html (x), which inserts x escaped. A script of that name takes
// precedence over it.
func (e *evaluator) isHTML(path []string) bool {
	if !isWord(path, "html") {
		return false
	}
	own, err := e.find(path)
	return err == nil && !callable(own.Value)
}

// isHTMLVerb reports whether a path names a verb that gives escaped text or safe HTML.
func isHTMLVerb(path []string) bool {
	return len(path) == 2 && strings.EqualFold(path[0], "html") || isMarkupVerb(path)
}

// isURLVerb reports whether a path names a verb that percent-encodes whatever has a meaning in HTML.
func isURLVerb(path []string) bool {
	return len(path) == 2 && strings.EqualFold(path[0], "url") &&
		(strings.EqualFold(path[1], "to") || strings.EqualFold(path[1], "encode"))
}

// isMarkupVerb reports whether a path names a verb that gives elements, which are HTML only between others:
// in the value of an attribute they are text.
func isMarkupVerb(path []string) bool {
	return len(path) == 2 && (strings.EqualFold(path[0], "markdown") && strings.EqualFold(path[1], "html") ||
		strings.EqualFold(path[0], "qr") && strings.EqualFold(path[1], "svg") ||
		strings.EqualFold(path[0], "form") && strings.EqualFold(path[1], "token"))
}

// only returns the value of the argument of raw or html, as a marker inserts it.
func (e *evaluator) only(x macros.Call) (v script.Value, err error) {
	if len(x.Args) != 1 {
		return nil, fmt.Errorf("%s takes one argument, not %d", x.Path[0], len(x.Args))
	}
	name, ok := x.Args[0].(macros.Name)
	if !ok {
		return e.value(x.Args[0], false)
	}
	if name.Word != "" {
		if m, lookup := e.lookup(name.Path); lookup == nil && !m.Found {
			return name.Word, nil
		}
	}
	v, _, err = e.name(name)
	return v, err
}

// name returns the value of a name. A script is called without arguments: its source is never
// shown. foreign is true if the value came with the request, so that it must be escaped.
func (e *evaluator) name(x macros.Name) (v script.Value, foreign bool, err error) {
	m, err := e.lookup(x.Path)
	if err != nil {
		return nil, false, err
	}
	if !m.Found {
		return nil, false, namesNothing(x)
	}
	v, err = e.meant(m, x.Path)
	return v, m.Origin == script.FromRequest, err
}

// namesNothing returns the error for a name that means nothing.
func namesNothing(x macros.Name) error {
	switch strings.ToLower(x.Word) {
	case "end":
		return errors.New("there is no if, for or block that it could end")
	case "content":
		return errors.New("content stands in a layout, and this page is not used as one")
	}
	return fmt.Errorf("%s names nothing", objectdb.Address(x.Path))
}

// meant returns the value of a name. A script is called without arguments.
func (e *evaluator) meant(m meaning, path []string) (script.Value, error) {
	if callable(m.Value) {
		if err := e.checkCall(m, path); err != nil {
			return nil, err
		}
		return e.c.Thread.CallValue(m.Value)
	}
	if m.Origin == script.FromLua {
		return nil, fmt.Errorf("%s belongs to Lua and is not for pages: %s", objectdb.Address(path), mayCall)
	}
	return m.Value, e.checkRead(m, path)
}

// meaning is what a name means for the markers of a page.
type meaning struct {
	script.Meaning
	given bool // the script that expands the page has passed the value
	item  bool // it is the item of a loop, or in it
}

// lookup finds what a name means.
func (e *evaluator) lookup(path []string) (meaning, error) {
	m, err := e.find(path)
	e.trace.found(e.c.Thread, m)
	return m, err
}

func (e *evaluator) find(path []string) (meaning, error) {
	if it := e.item(path); it != nil {
		m, err := it.find(e.c.Thread, path[1:])
		if e.trace != nil {
			m.Address = it.address(path[1:])
		}
		return meaning{Meaning: m, item: true}, err
	}
	if e.names != nil {
		if v := tableLookup(e.names, path); v != nil {
			return meaning{Meaning: script.Meaning{Value: v, Found: true, Origin: script.FromRequest}, given: true}, nil
		}
	}
	if strings.EqualFold(path[0], "session") {
		return e.findInSession(path)
	}
	m, err := e.c.Thread.Resolve(path)
	return meaning{Meaning: m}, err
}

// findInSession finds what a name means in the session of the visitor, unless the site has an object of that name.
// What is in the session is data, and what is not there is nothing, as for every new visitor.
func (e *evaluator) findInSession(path []string) (meaning, error) {
	m, err := e.c.Thread.Resolve(path[:1])
	if o, ok := m.Value.(*script.Object); err != nil || !ok || e.c.visit == nil || o != e.c.visit.table {
		if err == nil {
			m, err = e.c.Thread.Resolve(path)
		}
		return meaning{Meaning: m}, err
	}
	if m, err = e.c.Thread.ResolveIn(m.Value, path[1:]); err == nil && !m.Found {
		m = script.Meaning{Found: true, Origin: script.FromRequest}
	}
	return meaning{Meaning: m}, err
}

// tableLookup follows a path through Lua tables. It returns nil if there is no such cell.
func tableLookup(t *script.Table, path []string) script.Value {
	var v script.Value = t
	for _, name := range path {
		t, ok := v.(*script.Table)
		if !ok {
			return nil
		}
		v = t.Get(name)
	}
	return v
}

// callable reports whether a value is a script or a function.
func callable(v script.Value) bool {
	switch v := v.(type) {
	case *script.Function:
		return true
	case *script.Object:
		return v.Kind() == objectdb.KindScript
	}
	return false
}

// call calls a script or function with the arguments of the marker.
func (e *evaluator) call(x macros.Call) (script.Value, error) {
	m, err := e.lookup(x.Path)
	if err != nil {
		return nil, err
	}
	if !m.Found {
		return nil, fmt.Errorf("%s names nothing that could be called", objectdb.Address(x.Path))
	}
	if !callable(m.Value) {
		return nil, fmt.Errorf("%s is no script", objectdb.Address(x.Path))
	}
	if err := e.checkCall(m, x.Path); err != nil {
		return nil, err
	}
	supplied := m.Origin == script.FromRoot &&
		(m.Address == nil || strings.HasPrefix(foldedKey(m.Address), "suites.webserver."))
	filter := passwordFilter.Equal(m.Address)
	args := make([]script.Value, len(x.Args))
	for i, arg := range x.Args {
		if args[i], err = e.value(arg, filter); err != nil {
			return nil, err
		}
		if supplied {
			if err := e.checkNoScripts(args[i]); err != nil {
				return nil, err
			}
		}
	}
	return e.c.Thread.CallValue(m.Value, args...)
}

// passwordFilter is the only macro that may get the visitor's password as an argument.
var passwordFilter = objectdb.Address{"suites", "webserver", "macros", "passwordFilter"}

// value returns the value of an argument, which may be the visitor's password only if
// password is true. A bare word that names nothing is text, so counter (home, site) needs no
// quotes. The name of a script, verb or Lua function is text, too: a marker never passes a
// function.
func (e *evaluator) value(x macros.Expr, password bool) (script.Value, error) {
	switch x := x.(type) {
	case macros.String:
		return string(x), nil
	case macros.Number:
		return float64(x), nil
	case macros.Bool:
		return bool(x), nil
	case macros.Call:
		return e.call(x)
	case macros.Name:
		m, err := e.lookup(x.Path)
		switch {
		case err != nil:
			return nil, err
		case callable(m.Value), m.Origin == script.FromLua, !m.Found && x.Word != "":
			if x.Word != "" {
				return x.Word, nil
			}
			return objectdb.Address(x.Path).String(), nil
		case !m.Found:
			return nil, fmt.Errorf("%s names nothing", objectdb.Address(x.Path))
		case password && m.Origin == script.FromRequest && len(x.Path) == 1 && strings.EqualFold(x.Path[0], "password"):
			return m.Value, nil
		}
		return m.Value, e.checkArgument(m, x.Path)
	}
	return nil, fmt.Errorf("a marker cannot hold a %T", x)
}

// text returns the text of a marker's value, and an error for a table.
func (e *evaluator) text(v script.Value, path []string) (string, error) {
	switch t := v.(type) {
	case nil:
		return "", nil
	case *script.Table:
		return "", fmt.Errorf("%s gives a table, not a text", objectdb.Address(path))
	case *script.Object:
		if t.Kind() == objectdb.KindTable {
			return "", fmt.Errorf("%s is a table, not a text", objectdb.Address(path))
		}
	}
	return e.c.Thread.Text(v)
}
