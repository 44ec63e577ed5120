// Package macros replaces macro markers in HTML pages.
//
// [Parse] a page once and keep the result; [Page.Expand] it for each request,
// with an [Evaluator] that returns the text for a marker. The Evaluator decides
// what a name means, how a value becomes text and what a visitor sees of an
// error: this package does not depend on scripts or databases.
//
// A marker begins with "<!--#" and ends with "-->". Between them is a name or a
// call (section 4.4 of the specification):
//
//	<!--#referer-->                          the value of an object
//	<!--#clock.now ()-->                     a script without arguments
//	<!--#counter(home, www.example.com)-->   a script with arguments
//	<!--#user.["odd name"].x-->              a part in brackets may hold anything
//
// An argument is text in double or single quotes, a number, true or false, a
// name, a call, or words without quotes: counter(home, my site) has the
// arguments home and my site. Blanks and line breaks are allowed between any two
// of these tokens. In quotes \" \' \\ \n \r and \t are escapes. A "-->" in
// double quotes does not end the marker.
//
// Every other byte of a page stays unchanged. So do a marker without an end and
// the elements of Apache's mod_include in their own syntax
// (<!--#include virtual="/head.html" -->).
package macros

import (
	"slices"
	"strings"
)

const (
	opening = "<!--#"
	closing = "-->"
)

// Page is a parsed page. It is immutable, so that any number of requests may
// expand it at the same time.
type Page struct {
	text    string
	markers []*Marker
	rest    position // after the last of markers
	more    bool     // the page has more markers after rest
}

// maxMarkers is the number of markers that a Page stores. Further markers are parsed
// again whenever the page is expanded: they would need many times the memory of the
// page.
const maxMarkers = 10_000

// Marker is one marker of a page. Either Expr or Err is set.
type Marker struct {
	Index  int    // its place among the page's markers, from 0
	Offset int    // of the marker's first byte in the page
	Line   int    // of the marker's first character, from 1
	Column int    // in characters, from 1
	Text   string // the whole marker, from "<!--#" to "-->"
	Expr   Expr   // a Name or a Call
	Err    error  // an *Error, if the marker has a syntax error
}

// Evaluator returns the text that replaces a marker.
type Evaluator interface {
	// Eval returns the text for m. It must not change m. It is also called for a
	// marker with m.Err set. An error ends the expansion of the page.
	Eval(m *Marker) (string, error)
}

// EvalFunc is a function that implements Evaluator.
type EvalFunc func(m *Marker) (string, error)

// Eval calls f.
func (f EvalFunc) Eval(m *Marker) (string, error) { return f(m) }

// Parse parses the markers of a page, in time linear in its length. It never
// fails: a marker with a syntax error is in the page with its Err set.
func Parse(page string) *Page {
	p := &Page{text: page}
	at := position{page: page, line: 1, column: 1}
	for m := at.next(0); m != nil; m = at.next(m.Index + 1) {
		if m.Index == maxMarkers {
			p.more = true
			break
		}
		p.markers, p.rest = append(p.markers, m), at
	}
	return p
}

// next returns the next marker, which gets the given index, or nil if there is none.
// It moves the position behind the marker.
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

// Markers returns the first 10,000 markers of the page, in its order. The caller must
// not change them.
func (p *Page) Markers() []*Marker { return p.markers }

// each calls found for all markers, until it returns an error.
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

// Source returns the page's text, with its markers.
func (p *Page) Source() string { return p.text }

// Len returns the length of the page's text in bytes.
func (p *Page) Len() int { return len(p.text) }

// ExpandTo writes the page to b with its markers replaced: see [Page.Expand].
func (p *Page) ExpandTo(b *strings.Builder, ev Evaluator) error {
	return p.expand(ev, func(text string) { b.WriteString(text) })
}

// expand calls put for each piece of the page, with its markers replaced, up to the
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

// Expand appends the page to dst with each marker replaced by the text that ev
// returns for it, and returns the extended slice. Markers in inserted text are not
// expanded. After an error of ev it returns the text expanded so far and the error.
func (p *Page) Expand(dst []byte, ev Evaluator) ([]byte, error) {
	dst = slices.Grow(dst, len(p.text))
	err := p.expand(ev, func(text string) { dst = append(dst, text...) })
	return dst, err
}
