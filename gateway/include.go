package gateway

import (
	"errors"
	"fmt"
	"strings"

	"scripter/macros"
	"scripter/objectdb"
	"scripter/script"
	"scripter/site"
)

// This file has the markers that put pages together: include (x), layout (x), content, and blocks.
// Scripts that are named include, layout or content take precedence over them, so that old pages do not
// change.

// parts are what a page shares with those that it includes: what it passes to its layout, and, if it is
// a layout itself, what it was passed.
type parts struct {
	layout *pagePart         // that the page has named; nil: none so far
	blocks map[string]string // for the layout, by folded name

	isLayout bool
	content  string            // of the page that this is the layout of
	given    map[string]string // the blocks of that page
	traced   *expansionTrace   // of that page; nil: nobody asks for it
}

// pagePart is a page that another one includes, or has as its layout.
type pagePart struct {
	page *cachedPage
	name string         // the path of the file, or the address of the object
	at   *macros.Marker // that names it
}

// isWord reports whether a path is one word.
func isWord(path []string, word string) bool {
	return len(path) == 1 && strings.EqualFold(path[0], word)
}

// partMarker returns the function that inserts the text of a marker include (x), layout (x), content or
// content (x). It returns nil for all other markers.
func (e *evaluator) partMarker(m *macros.Marker) func() error {
	var args []macros.Expr
	var path []string
	switch x := m.Expr.(type) {
	case macros.Name:
		if path = x.Path; !isWord(path, "content") || !e.parts.isLayout {
			return nil
		}
	case macros.Call:
		path, args = x.Path, x.Args
	}
	var insert func(args []macros.Expr, m *macros.Marker) error
	switch {
	case isWord(path, "include"):
		insert = e.include
	case isWord(path, "layout"):
		insert = e.setLayout
	case isWord(path, "content"):
		insert = e.insertContent
	default:
		return nil
	}
	return func() error {
		if own, err := e.find(path); err != nil || own.Found && callable(own.Value) {
			text, err := e.marker(m)
			e.Text(text)
			return err
		}
		return insert(args, m)
	}
}

// include expands another page in the place of a marker.
func (e *evaluator) include(args []macros.Expr, m *macros.Marker) error {
	p, err := e.findPart("include", args, m)
	if err != nil {
		return err
	}
	if e.c.depth >= maxNesting {
		return fmt.Errorf("pages within pages go deeper than %d", maxNesting)
	}
	if err := e.checkLength(e.c.Size(site.MaxResponse)); err != nil {
		return err
	}
	e.c.depth++
	defer func() { e.c.depth-- }()
	inner := evaluator{c: e.c, page: p.name, names: e.names, out: e.out, items: e.items, from: e, at: m}
	if !p.page.layout {
		inner.parts = e.parts
	}
	return inner.expand(p.page)
}

// setLayout notes the layout of the page. The page is put into it at its end.
func (e *evaluator) setLayout(args []macros.Expr, m *macros.Marker) error {
	if e.parts.layout != nil {
		return fmt.Errorf("the page has a layout already: %s", e.parts.layout.name)
	}
	p, err := e.findPart("layout", args, m)
	if err == nil {
		e.parts.layout = p
	}
	return err
}

// inLayout writes a page that may name a layout.
func (e *evaluator) inLayout(page *cachedPage) error {
	outer, given := e.out, e.parts
	e.out = &pageText{}
	e.trace = e.c.traceExpansion(page, e.page, 0)
	e.parts = &parts{}
	if given != nil {
		e.parts = &parts{isLayout: given.isLayout, content: given.content, given: given.given, traced: given.traced}
	}
	err := page.Expand(e)
	e.trace.end(e.out)
	p, content := e.parts.layout, e.out.String()
	e.out = outer
	if err != nil {
		return err
	}
	if p == nil {
		e.Text(content)
		return nil
	}
	if e.c.depth >= maxNesting {
		return fmt.Errorf("%s: pages within pages go deeper than %d", e.page, maxNesting)
	}
	e.c.depth++
	defer func() { e.c.depth-- }()
	layout := evaluator{
		c: e.c, page: p.name, names: e.names, out: outer, items: e.items, from: e, at: p.at,
		parts: &parts{isLayout: true, content: content, given: e.parts.blocks, traced: e.trace},
	}
	return layout.expand(p.page)
}

// insertContent inserts what a page has passed to its layout: its text, or one of its blocks.
func (e *evaluator) insertContent(args []macros.Expr, _ *macros.Marker) error {
	if !e.parts.isLayout {
		return errors.New("content stands in a layout, and this page is not used as one")
	}
	text := e.parts.content
	if len(args) == 0 {
		e.parts.traced.isIn(e.trace)
	} else {
		name, ok := args[0].(macros.Name)
		if !ok || len(name.Path) != 1 || len(args) > 1 {
			return errors.New("content takes the name of one block")
		}
		text = e.parts.given[objectdb.Fold(name.Path[0])]
	}
	return e.insertHTML(text)
}

// insertHTML inserts HTML that was made elsewhere: what is data in it was escaped for text.
func (e *evaluator) insertHTML(text string) error {
	if text == "" {
		return nil
	}
	if place := e.out.place(); !place.isText() {
		return fmt.Errorf("content and blocks cannot stand %s, only in text and in attributes with quotes around them", place)
	}
	e.Text(text)
	return nil
}

// Block keeps a block for the layout, if the page has named one. Otherwise it writes the block here: the
// one that the page has passed to this layout, or else the text of the block itself.
func (e *evaluator) Block(m *macros.Marker, body func() error) error {
	name, given, here := "", false, false
	err := e.begin(m, func() error {
		name = objectdb.Fold(string(m.Expr.(macros.Title)))
		_, given = e.parts.given[name]
		here = e.parts.layout == nil
		if here && given {
			return e.insertHTML(e.parts.given[name])
		}
		return nil
	})
	switch {
	case err == macros.ErrFailed:
		return nil
	case err != nil || here && given:
		return err
	case here:
		return body()
	}
	text := e.parts.given[name]
	if !given {
		outer := e.out
		e.out = &pageText{}
		end := e.trace.keep()
		err := body()
		end()
		text, e.out = e.out.String(), outer
		if err != nil {
			return err
		}
	}
	if e.parts.blocks == nil {
		e.parts.blocks = map[string]string{}
	}
	e.parts.blocks[name] = text
	return nil
}

// findPart finds the page that the argument of include or layout names: a text of the root, or a file
// below the document root. What the argument names is never a value: a visitor cannot choose a page.
func (e *evaluator) findPart(word string, args []macros.Expr, m *macros.Marker) (*pagePart, error) {
	if len(args) != 1 {
		return nil, fmt.Errorf("%s takes one page", word)
	}
	p := &pagePart{at: m}
	var err error
	switch x := args[0].(type) {
	case macros.String:
		p.page, p.name, err = e.filePart(string(x))
	case macros.Name:
		if p.page, p.name, err = e.objectPart(x); err == nil && p.page == nil {
			if x.Word == "" {
				return nil, namesNothing(x)
			}
			p.page, p.name, err = e.filePart(x.Word)
		}
	default:
		return nil, fmt.Errorf("%s takes a path or the name of an object", word)
	}
	if err != nil {
		return nil, err
	}
	chain := p.name
	for at := e; at != nil; at = at.from {
		chain = at.page + " → " + chain
		if at.page == p.name {
			return nil, fmt.Errorf("the page is within itself: %s", chain)
		}
	}
	return p, nil
}

// objectPart returns the page that a text of the root is, and its address. It returns nil if the name
// means nothing in the root.
func (e *evaluator) objectPart(x macros.Name) (*cachedPage, string, error) {
	r, err := e.c.Thread.Resolve(x.Path)
	m := meaning{Meaning: r}
	e.trace.found(e.c.Thread, m)
	if err != nil || !m.Found || m.Origin != script.FromRoot || m.Address == nil {
		return nil, "", err
	}
	if err := e.checkRead(m, x.Path); err != nil {
		return nil, "", err
	}
	n, err := e.c.Tx.Find(m.Address)
	if err != nil {
		return nil, "", err
	}
	page, err := e.c.objectPage(n)
	return page, m.Address.String(), err
}

// filePart returns the page that a file below the document root is, and its path.
func (e *evaluator) filePart(path string) (*cachedPage, string, error) {
	path = "/" + strings.TrimPrefix(path, "/")
	if err := CheckPath(path); err != nil {
		return nil, "", err
	}
	folder := strings.TrimSuffix(tableText(e.c.params, "websiteFolder"), "/")
	if folder == "" {
		return nil, "", fmt.Errorf("the web server does not say where the document root is, so there is no file %s", path)
	}
	found, err := e.c.findNamed(folder + path)
	if err != nil {
		return nil, "", err
	}
	page, err := e.c.g.pageOf(found)
	return page, found.real, err
}

// around describes the rows of loops and the pages that the marker is in. It returns "" if there are none.
func (e *evaluator) around() string {
	var list []string
	for at := e; at != nil; at = at.from {
		inherited := 0
		if at.from != nil {
			inherited = len(at.from.items)
		}
		for i := len(at.items) - 1; i >= inherited; i-- {
			it := at.items[i]
			if key, ok := it.key.(string); ok && it.in != nil {
				list = append(list, fmt.Sprintf("%s is %s", it.name, it.in.Child(key)))
			} else {
				list = append(list, fmt.Sprintf("%s is row %d", it.name, it.index))
			}
		}
		if at.from != nil {
			list = append(list, fmt.Sprintf("from %s, line %d, column %d", at.from.page, at.at.Line, at.at.Column))
		}
	}
	return strings.Join(list, ", ")
}
