// Package macros replaces macro markers in HTML pages.
//
// [Parse] a page once and keep the result; [Page.Expand] it for each request,
// with an [Evaluator] that gives the text for a marker. What a name means, what
// a value looks like as text and what a visitor sees of an error are the
// Evaluator's business: this package knows nothing of scripts or databases.
//
// A marker begins with "<!--#" and ends with "-->". Between them stands a name
// or a call (section 4.4 of the specification):
//
//	<!--#referer-->                          the value of an object
//	<!--#clock.now ()-->                     a script without arguments
//	<!--#counter(home, www.example.com)-->   a script with arguments
//	<!--#user.["odd name"].x-->              a part in brackets may hold anything
//
// An argument is text in double or single quotes, a number, true or false, a
// name, a call, or words without quotes: counter(home, my site) has the
// arguments home and my site. Blanks and line breaks may stand between any two
// of these pieces. In quotes \" \' \\ \n \r and \t are escapes. A "-->" in
// double quotes does not end the marker.
//
// Every other byte of a page is kept as it is. Kept as they are, too, are a
// marker that never ends and the elements of Apache's mod_include, written in
// mod_include's own way (<!--#include virtual="/head.html" -->).
package macros

import (
	"slices"
	"strings"
)

const (
	opening = "<!--#"
	closing = "-->"
)

// Page is a page with its markers found. It is never changed, so that any
// number of requests may expand it at once.
type Page struct {
	text    string
	markers []*Marker
	rest    position // behind the last of them, where there may be more
	more    bool     // there is one more at least
}

// kept is how many markers of a page are kept. More are found again whenever the
// page is expanded: they would take many times the memory of the page.
const kept = 10_000

// Marker is one marker of a page. Either Expr or Err is set.
type Marker struct {
	Index  int    // its place among the page's markers, from 0
	Offset int    // of the marker's first byte in the page
	Line   int    // of the marker's first character, from 1
	Column int    // in characters, from 1
	Text   string // the whole marker, from "<!--#" to "-->"
	Expr   Expr   // a Name or a Call
	Err    error  // an *Error, when the marker cannot be read
}

// Evaluator gives the text that replaces a marker.
type Evaluator interface {
	// Eval returns the text for m, which it must not change. A marker with
	// m.Err set is asked for like any other. An error ends the expansion of
	// the page.
	Eval(m *Marker) (string, error)
}

// EvalFunc is a function as an Evaluator.
type EvalFunc func(m *Marker) (string, error)

// Eval calls f.
func (f EvalFunc) Eval(m *Marker) (string, error) { return f(m) }

// Parse finds the markers of a page, in time linear in its length. It never
// fails: a marker that cannot be read is in the page with its Err set.
func Parse(page string) *Page {
	p := &Page{text: page}
	at := position{page: page, line: 1, column: 1}
	for m := at.next(0); m != nil; m = at.next(m.Index + 1) {
		if m.Index == kept {
			p.more = true
			break
		}
		p.markers, p.rest = append(p.markers, m), at
	}
	return p
}

// next finds the next marker, whose index is given; nil when there is none. The
// position is then behind it.
func (p *position) next(index int) *Marker {
	page := p.page
	for from := p.offset; ; {
		i := strings.Index(page[from:], opening)
		if i < 0 {
			return nil
		}
		start := from + i
		if end := serverElement(page, start); end >= 0 {
			from = end
			continue
		}
		expr, end, problem := parseMarker(page, start)
		if end < 0 {
			from = start + len(opening)
			continue
		}
		p.advance(start)
		m := &Marker{Index: index, Offset: start, Line: p.line, Column: p.column, Text: page[start:end]}
		if problem != nil {
			m.Err = p.error(problem)
		} else {
			m.Expr = expr
		}
		p.advance(end)
		return m
	}
}

// Markers returns the first markers of the page, in its order: all of them, where
// there are no more than 10,000. The slice and what it points to belong to the
// page.
func (p *Page) Markers() []*Marker { return p.markers }

// each calls found for all markers, until it fails.
func (p *Page) each(found func(*Marker) error) error {
	for _, m := range p.markers {
		if err := found(m); err != nil {
			return err
		}
	}
	if !p.more {
		return nil
	}
	at := p.rest
	for m := at.next(len(p.markers)); m != nil; m = at.next(m.Index + 1) {
		if err := found(m); err != nil {
			return err
		}
	}
	return nil
}

// Len returns the length of the page's text in bytes.
func (p *Page) Len() int { return len(p.text) }

// ExpandTo writes the page with its markers replaced to b: see [Page.Expand].
func (p *Page) ExpandTo(b *strings.Builder, ev Evaluator) error {
	return p.expand(ev, func(text string) { b.WriteString(text) })
}

// expand gives the pieces of the page with its markers replaced to put, up to the
// first error of ev.
func (p *Page) expand(ev Evaluator, put func(text string)) error {
	done := 0
	err := p.each(func(m *Marker) error {
		put(p.text[done:m.Offset])
		done = m.Offset + len(m.Text)
		text, err := ev.Eval(m)
		if err == nil {
			put(text)
		}
		return err
	})
	if err == nil {
		put(p.text[done:])
	}
	return err
}

// Expand appends the page to dst with each marker replaced by what ev gives for
// it, and returns the extended slice. Inserted text is never looked at again.
// An error of ev is returned as it is, with what was expanded before it.
func (p *Page) Expand(dst []byte, ev Evaluator) ([]byte, error) {
	dst = slices.Grow(dst, len(p.text))
	err := p.expand(ev, func(text string) { dst = append(dst, text...) })
	return dst, err
}
