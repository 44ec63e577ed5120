package gateway

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"scripter/macros"
	"scripter/objectdb"
	"scripter/runner"
	"scripter/script"
	"scripter/script/lint"
	"scripter/site"
)

// pageTables are the tables whose texts are pages.
var pageTables = []objectdb.Address{site.Scripts, {"user", "webserver", "prefs"}}

// LintTexts looks for likely mistakes in the pages at a, as [Gateway.LintFile] does: in the text at a, or
// in the texts in the table at a that answer URLs or are pages of errors. It returns how many these are.
func (g *Gateway) LintTexts(ctx context.Context, a objectdb.Address) (found []lint.Finding, pages int, err error) {
	r := &Request{Params: map[string]string{"REQUEST_METHOD": "GET", "SCRIPT_NAME": "/"}}
	err = g.lintPages(ctx, r, func(c *attempt) error {
		return c.Tx.Walk(a, func(at objectdb.Address, n *objectdb.Node) error {
			switch n.Kind() {
			default:
				return nil
			case objectdb.KindString, objectdb.KindText, objectdb.KindOutline:
			}
			if !at.Equal(a) && !slices.ContainsFunc(pageTables, func(table objectdb.Address) bool {
				return len(at) > len(table) && at[:len(table)].Equal(table)
			}) {
				return nil
			}
			page, err := c.objectPage(n)
			if err != nil {
				return err
			}
			pages++
			list, err := c.lintPage(page, at.String())
			found = append(found, list...)
			return err
		})
	})
	return dropSame(found), pages, err
}

// LintFile looks for likely mistakes in a page and in the parts and layouts that it names, for the request
// r. It runs nothing. It finds
//
//   - markers that are not written correctly ("syntax");
//   - names of tables of the root that have no such object, and parts that are not there ("missing");
//   - what markers may not call or see ("refused");
//   - data in places where it is refused: scripts, styles, tags ("place");
//   - what visitors wrote, inserted as HTML ("visitor").
func (g *Gateway) LintFile(ctx context.Context, r *Request, file string) (found []lint.Finding, err error) {
	err = g.lintPages(ctx, r, func(c *attempt) error {
		at, err := lookAt(file)
		if err != nil {
			return notFound(err)
		}
		at.base = filepath.Dir(at.real)
		page, err := g.pageOf(at)
		if err != nil {
			return err
		}
		found, err = c.lintPage(page, file)
		return err
	})
	return dropSame(found), err
}

// lintPages calls look within a request that runs nothing.
func (g *Gateway) lintPages(ctx context.Context, r *Request, look func(*attempt) error) error {
	x := g.newExchange(r, nil)
	_, err := g.runner.Run(ctx, runner.Options{ReadOnly: true}, func(run *runner.Run) error {
		c := x.newDispatched(run)
		if err := c.begin(); err != nil {
			return err
		}
		return look(c)
	})
	return err
}

// dropSame drops findings of parts that several pages have.
func dropSame(list []lint.Finding) (kept []lint.Finding) {
	for _, f := range list {
		if !slices.Contains(kept, f) {
			kept = append(kept, f)
		}
	}
	return kept
}

// pageLinter looks for mistakes in one page.
type pageLinter struct {
	*evaluator
	page  *cachedPage
	loops []int // where the loops around the marker end: the Index of the next marker
	found *[]lint.Finding
	err   error
}

// lintPage returns the findings in a page and its parts.
func (c *attempt) lintPage(page *cachedPage, name string) (found []lint.Finding, err error) {
	e := &evaluator{c: c, page: name, out: &pageText{}, parts: &parts{}, all: c.Site().Flag(site.FlEscapeMarkers)}
	l := pageLinter{evaluator: e, page: page, found: &found}
	l.lint()
	return found, l.err
}

// lint looks at all markers of the page, in the order of its text.
func (l *pageLinter) lint() {
	text, done := l.page.Source(), 0
	for _, m := range l.page.Markers() {
		for n := len(l.loops); n > 0 && m.Index >= l.loops[n-1]; n-- {
			l.loops, l.items = l.loops[:n-1], l.items[:len(l.items)-1]
		}
		l.Text(text[done:m.Offset])
		done = m.Offset + len(m.Text)
		if m.Err != nil {
			l.report(m, "syntax", syntaxError(m))
			continue
		}
		switch x := m.Expr.(type) {
		case macros.Loop:
			l.check(m, x.In, l.page.Markers()[m.Next].Kind != macros.Else)
			if x.Limit != nil {
				l.check(m, x.Limit, true)
			}
			l.items = append(l.items, &item{name: x.Var, key: "", index: 1})
			l.loops = append(l.loops, m.Next)
		case macros.Title:
		default:
			if m.Kind == macros.Insert {
				l.insert(m)
			} else {
				l.check(m, x, false)
			}
		}
		if l.err != nil {
			return
		}
	}
	l.Text(text[done:])
}

func (l *pageLinter) report(m *macros.Marker, rule string, err error) {
	if isFatal(err) {
		l.err = err
	}
	*l.found = append(*l.found, lint.Finding{Name: l.evaluator.page, Line: m.Line, Column: m.Column, Rule: rule,
		Message: clip(m.Text, 100) + ": " + developerMessage(err)})
}

// insert looks at a marker that inserts something.
func (l *pageLinter) insert(m *macros.Marker) {
	var data bool // visitors or rows of a loop have given it
	switch x := m.Expr.(type) {
	case macros.Name:
		if isWord(x.Path, "content") || isWord(x.Path, "end") {
			return
		}
		l.check(m, x, true)
		if data = l.isData(x); !data && !l.all && l.byVisitor(x.Path) {
			l.report(m, "visitor", fmt.Errorf(
				"a request has written %[1]s, and it is inserted as HTML: html (%[1]s) escapes it", objectdb.Address(x.Path)))
		}
		data = data || l.all
	case macros.Call:
		own, err := l.find(x.Path)
		if err == nil && !callable(own.Value) && l.part(m, x) {
			return
		}
		for _, arg := range x.Args {
			l.check(m, arg, false)
		}
		given := slices.ContainsFunc(x.Args, l.given)
		switch {
		case isWord(x.Path, "raw"):
			if given {
				l.report(m, "visitor", errors.New("it inserts what a visitor may have written, and does not escape it"))
			}
			return
		case l.isHTML(x.Path):
			data = true
		default:
			l.check(m, macros.Call{Path: x.Path}, true)
			_, verb := own.Value.(*script.Function)
			if given && verb && !l.all && !isHTMLVerb(x.Path) && !isURLVerb(x.Path) {
				l.report(m, "visitor", fmt.Errorf(
					"%[1]s gives what a visitor may have written, and it is inserted as HTML: html (%[1]s (…)) escapes it",
					objectdb.Address(x.Path)))
			}
			data = l.all && !isHTMLVerb(x.Path) || isMarkupVerb(x.Path) && !l.out.place().isContent()
		}
	}
	if data {
		if _, err := l.out.escaped("x", "x"); err != nil {
			l.report(m, "place", err)
		}
	}
	l.Text("x")
}

// part looks at include (x), layout (x) and content (x), and reports whether the call is one of these.
func (l *pageLinter) part(m *macros.Marker, x macros.Call) bool {
	word := strings.ToLower(x.Path[0])
	switch {
	case len(x.Path) > 1:
		return false
	case word == "content":
		return true
	case word != "include" && word != "layout":
		return false
	}
	p, err := l.findPart(word, x.Args, m)
	if err != nil {
		l.report(m, "missing", err)
		return true
	}
	inner := &evaluator{
		c: l.c, page: p.name, out: l.out, items: l.items, from: l.evaluator, at: m, parts: &parts{}, all: l.all,
	}
	if word == "layout" {
		inner.out, inner.items = &pageText{}, nil
	}
	part := pageLinter{evaluator: inner, page: p.page, found: l.found}
	part.lint()
	l.err = part.err
	return true
}

// check reports a name in a marker that means nothing. Where that is no mistake, as in a condition, it
// reports the name only if it is refused.
func (l *pageLinter) check(m *macros.Marker, x macros.Expr, must bool) {
	switch x := x.(type) {
	case macros.Not:
		l.check(m, x.X, false)
	case macros.Operation:
		l.check(m, x.X, false)
		l.check(m, x.Y, false)
	case macros.Name:
		l.checkName(m, x.Path, must, false)
	case macros.Call:
		l.checkName(m, x.Path, true, true)
		for _, arg := range x.Args {
			l.check(m, arg, false)
		}
	}
}

func (l *pageLinter) checkName(m *macros.Marker, path []string, must, called bool) {
	found, err := l.find(path)
	switch {
	case err != nil:
		l.report(m, "refused", err)
	case found.Found && callable(found.Value):
		if err := l.checkCall(found, path); err != nil {
			l.report(m, "refused", err)
		}
	case found.Found:
		if err := l.checkRead(found, path); err != nil {
			l.report(m, "refused", err)
		} else if called && !found.item {
			l.report(m, "missing", fmt.Errorf("%s is no script", objectdb.Address(path)))
		}
	case must && l.item(path) == nil:
		first, err := l.find(path[:1])
		if err == nil && first.Found && first.Origin == script.FromRoot && len(path) > 1 {
			l.report(m, "missing", fmt.Errorf("%s names nothing", objectdb.Address(path)))
		}
	}
}

// isData reports whether a name means what visitors have given, or a row of a loop.
func (l *pageLinter) isData(x macros.Name) bool {
	if l.item(x.Path) != nil {
		return true
	}
	first, err := l.find(x.Path[:1])
	return err == nil && first.Found && first.Origin == script.FromRequest
}

// given reports whether an argument is, or is made of, what visitors have given.
func (l *pageLinter) given(x macros.Expr) bool {
	switch x := x.(type) {
	case macros.Name:
		return l.isData(x) || l.byVisitor(x.Path)
	case macros.Call:
		return !isHTMLVerb(x.Path) && slices.ContainsFunc(x.Args, l.given)
	}
	return false
}

// byVisitor reports whether a name means a text of the root that was last written by a request, as far as
// the history still knows.
func (l *pageLinter) byVisitor(path []string) bool {
	m, err := l.find(path)
	if _, ok := m.Value.(string); err != nil || !ok || m.Origin != script.FromRoot || m.Address == nil {
		return false
	}
	n, err := l.c.Tx.Find(m.Address)
	if err != nil {
		return false
	}
	for change, err := range l.c.Tx.Changes(n.Version() + 1) {
		return err == nil && change.Generation == n.Version() && !change.Origin.Person && change.Origin.Path != ""
	}
	return false
}
