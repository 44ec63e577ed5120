package gateway

import (
	"strings"

	"scripter/macros"
	"scripter/objectdb"
	"scripter/script"
	"scripter/site"
)

// This file keeps the texts of loops that show nothing but what lies in a table of the root. Such a loop gives the same
// text in every request until something that it shows is written, so it is expanded once for many requests. The plain
// way beside it is evaluator.eachItem.

// loopKey names a loop.
type loopKey struct {
	page *cachedPage
	loop int // the index of its marker
}

// loopText is the text of a loop, and all that it needs to be used again.
type loopText struct {
	usable  bool
	text    string
	found   bool // there are items
	markers int  // that count
}

const (
	maxLoopTexts    = 1000     // loops whose texts are cached
	longestLoopText = 64 << 10 // bytes of the longest text that is cached
)

// staticLoops returns which of the markers of a page begin a loop whose text follows from its table alone.
func staticLoops(markers []*macros.Marker) map[int]bool {
	var loops map[int]bool
	for i, m := range markers {
		if l, ok := loopOf(m); ok && len(l.In.(macros.Name).Path) > 1 && isStatic(markers, m, []string{l.Var}) {
			if loops == nil {
				loops = map[int]bool{}
			}
			loops[i] = true
		}
	}
	return loops
}

// loopOf returns the content of a marker that begins a loop over what a name means, with a limit that is a number or
// none.
func loopOf(m *macros.Marker) (macros.Loop, bool) {
	l, ok := m.Expr.(macros.Loop)
	if !ok || m.Err != nil {
		return l, false
	}
	_, named := l.In.(macros.Name)
	_, number := l.Limit.(macros.Number)
	return l, named && (number || l.Limit == nil)
}

// isStatic reports whether the body of a loop shows only items of loops, whose names are vars.
func isStatic(markers []*macros.Marker, loop *macros.Marker, vars []string) bool {
	for i := loop.Index + 1; i < min(loop.Next, len(markers)); i++ {
		m := markers[i]
		switch {
		case m.Err != nil || m.Kind == macros.Block:
			return false
		case m.Kind == macros.For:
			l, ok := loopOf(m)
			if !ok || !namesItem(l.In, vars) {
				return false
			}
			vars = append(vars[:len(vars):len(vars)], l.Var) // a name that is used after its loop fails each time
		case m.Expr != nil && !namesItem(m.Expr, vars):
			return false
		}
	}
	return true
}

// namesItem reports whether all names in a part of a marker are those of items.
func namesItem(x macros.Expr, vars []string) bool {
	switch x := x.(type) {
	case macros.Name:
		for _, v := range vars {
			if strings.EqualFold(v, x.Path[0]) {
				return !isWord(x.Path, "content") // which may be that of a layout
			}
		}
	case macros.Not:
		return namesItem(x.X, vars)
	case macros.Operation:
		return namesItem(x.X, vars) && namesItem(x.Y, vars)
	case macros.String, macros.Number, macros.Bool, macros.Nil:
		return true
	}
	return false
}

// Each expands the body of a for with each item of a table or list.
func (e *evaluator) Each(m *macros.Marker, body func() error) (found bool, err error) {
	if !e.mayKeepLoop(m) {
		return e.eachItem(m, body)
	}
	var made *loopText
	kept, err := e.c.g.loops.Get(e.c.Tx, loopKey{e.source, m.Index}, func(*objectdb.Tx) (*loopText, error) {
		var err error
		made, err = e.makeLoopText(m, body)
		return made, err
	})
	switch {
	case made != nil: // it was just expanded, with everything counted
		e.Text(made.text)
		return made.found, err
	case err != nil:
		return false, err
	case !kept.usable:
		return e.eachItem(m, body)
	}
	e.c.markers += kept.markers - 1
	if err := e.count(); err != nil {
		return kept.found, err
	}
	e.Text(kept.text)
	return kept.found, nil
}

// mayKeepLoop reports whether a loop has the text that it has in other requests.
func (e *evaluator) mayKeepLoop(m *macros.Marker) bool {
	if !e.valuesStand() || !e.source.loops[m.Index] || len(e.items) > 0 || e.c.showsErrors() {
		return false
	}
	return e.c.Thread.Untouched(m.Expr.(macros.Loop).In.(macros.Name).Path[0]) && e.out.place().state == inText
}

// makeLoopText expands a loop apart from the page.
func (e *evaluator) makeLoopText(m *macros.Marker, body func() error) (*loopText, error) {
	outer, markers, problems := e.out, e.c.markers, len(e.c.problems)+e.c.unlogged
	e.out = &pageText{}
	defer func() { e.out = outer }()
	l := &loopText{}
	var err error
	l.found, err = e.eachItem(m, body)
	l.text, l.markers = e.out.String(), e.c.markers-markers
	l.usable = err == nil && len(l.text) <= longestLoopText && len(e.c.problems)+e.c.unlogged == problems &&
		e.out.place().state == inText && e.isSameForAll(m.Expr.(macros.Loop).In.(macros.Name))
	if err == nil && !l.usable {
		return l, nil
	}
	return l, err
}

// isSameForAll reports whether a name means a table of the root that cannot have requirements.
func (e *evaluator) isSameForAll(name macros.Name) bool {
	m, err := e.find(name.Path)
	o, ok := m.Value.(*script.Object)
	return err == nil && ok && o.Node() != nil && m.Origin == script.FromRoot && !site.HasURLs(o.Address())
}
