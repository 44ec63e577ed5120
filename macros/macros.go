// Package macros replaces macro markers in HTML pages.
//
// [Parse] a page once and keep the result; [Page.Expand] it for each request,
// with an [Evaluator] that writes the text for each marker. The Evaluator decides
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
// Some markers belong together, up to an end:
//
//	<!--#if user.open and not user.full-->…<!--#elseif …-->…<!--#else-->…<!--#end-->
//	<!--#for entry in user.guestbook reverse limit 50-->…<!--#else-->…<!--#end-->
//	<!--#block title-->…<!--#end-->
//
// A condition has names, calls, texts in quotes, numbers, true, false and nil, compared
// by == ~= != < <= > >= and joined by and, or, not and parentheses.
//
// Every other byte of a page stays unchanged. So do a marker without an end and
// the elements of Apache's mod_include in their own syntax
// (<!--#include virtual="/head.html" -->). An else outside of the blocks above is an
// element of mod_include, and so is one between its own if and endif. An end that ends
// nothing is a name, and if (x) without an end is a call.
package macros

import (
	"errors"
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
// page. A block must end among the markers that are stored.
const maxMarkers = 10_000

// Marker is one marker of a page. Either Expr or Err is set, or neither for else and end.
type Marker struct {
	Index  int    // its place among the page's markers, from 0
	Offset int    // of the marker's first byte in the page
	Line   int    // of the marker's first character, from 1
	Column int    // in characters, from 1
	Text   string // the whole marker, from "<!--#" to "-->"
	Kind   Kind
	Expr   Expr  // what the Kind says
	Err    error // an *Error, if the marker has a syntax error

	// Next is the Index of the marker that ends the branch that an If, ElseIf, Else, For or
	// Block begins. A block without an end has Err set, and Next is the number of markers.
	Next int

	call Expr // of an If or ElseIf that can also be read as a call: if (x)
}

// end returns the offset of the byte after the marker.
func (m *Marker) end() int { return m.Offset + len(m.Text) }

// Evaluator writes an expanded page.
type Evaluator interface {
	// Text writes a piece of the page that is no marker.
	Text(s string)
	// Insert writes what a marker of the kind Insert inserts. It is also called for a
	// marker with m.Err set, and for one without an end. It must not change m. An error
	// ends the expansion of the page.
	Insert(m *Marker) error
	// Test reports whether the condition of an If or ElseIf is true. It may have Err set.
	// After ErrFailed no branch is expanded; another error ends the expansion.
	Test(m *Marker) (bool, error)
	// Each calls body for each item of a For, and reports whether there was one. It returns
	// the error of body at once. After ErrFailed the marker counts as one with an item.
	Each(m *Marker, body func() error) (found bool, err error)
	// Block may call body, which writes what is in a Block.
	Block(m *Marker, body func() error) error
}

// ErrFailed says that the marker which begins a block has failed: nothing of the block is
// expanded.
var ErrFailed = errors.New("the marker has failed")

// Parse parses the markers of a page, in time linear in its length. It never
// fails: a marker with a syntax error is in the page with its Err set.
func Parse(page string) *Page {
	p := &Page{text: page}
	s := scanner{position: position{page: page, line: 1, column: 1}}
	for m := s.next(0); m != nil; m = s.next(m.Index + 1) {
		if m.Index == maxMarkers {
			p.more = true
			break
		}
		p.markers, p.rest = append(p.markers, m), s.position
		s.pair(p.markers)
	}
	s.finish(p.markers)
	return p
}

// scanner finds the markers of a page.
type scanner struct {
	position
	open []block // that have begun and not ended, innermost last
}

// next returns the next marker, which gets the given index, or nil if there is none.
// It moves the position behind the marker.
func (s *scanner) next(index int) *Marker {
	page := s.page
	for from := s.offset; ; {
		i := strings.Index(page[from:], opening)
		if i < 0 {
			return nil
		}
		start := from + i
		if name, end := serverElement(page, start); end >= 0 {
			if s.isOurs(name) {
				return s.found(index, start, end, marker{kind: Else}, nil)
			}
			from = end
			continue
		}
		read, end, problem := parseMarker(page, start)
		if end < 0 {
			from = start + len(opening)
			continue
		}
		return s.found(index, start, end, read, problem)
	}
}

// found returns the marker from start to end, and moves the position behind it.
func (s *scanner) found(index, start, end int, read marker, what *problem) *Marker {
	s.advance(start)
	m := &Marker{
		Index: index, Offset: start, Line: s.line, Column: s.column, Text: s.page[start:end],
		Kind: read.kind, Expr: read.expr, call: read.call,
	}
	if what != nil {
		m.Expr, m.Err = nil, s.error(what)
	}
	s.advance(end)
	return m
}

// Markers returns the first 10,000 markers of the page, in its order. The caller must
// not change them.
func (p *Page) Markers() []*Marker { return p.markers }

// Source returns the page's text, with its markers.
func (p *Page) Source() string { return p.text }

// Len returns the length of the page's text in bytes.
func (p *Page) Len() int { return len(p.text) }
