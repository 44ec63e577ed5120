package macros

import (
	"fmt"
	"unicode/utf8"
)

// Error is a syntax error in a marker.
type Error struct {
	Line    int // where in the page, from 1
	Column  int // in characters, from 1
	Message string
}

func (e *Error) Error() string {
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Message)
}

// problem is a syntax error whose place is an offset in the page.
type problem struct {
	offset  int
	message string
}

// position is a place in a page. It only moves forward, so that the page is read once
// to find the places of all markers.
type position struct {
	page   string
	offset int
	line   int
	column int
}

// advance moves to offset. A line ends with LF, CR LF or, as on the classic
// Macintosh, CR. A byte that is not UTF-8 counts as one character.
func (p *position) advance(offset int) {
	for p.offset < offset {
		c := p.page[p.offset]
		switch {
		case c == '\n' && p.offset > 0 && p.page[p.offset-1] == '\r':
			p.offset++
		case c == '\n' || c == '\r':
			p.offset++
			p.line++
			p.column = 1
		case c < utf8.RuneSelf:
			p.offset++
			p.column++
		default:
			_, size := utf8.DecodeRuneInString(p.page[p.offset:])
			p.offset += size
			p.column++
		}
	}
}

// error returns the Error for a problem in the marker at p.
func (p position) error(what *problem) error {
	p.advance(what.offset)
	return &Error{Line: p.line, Column: p.column, Message: what.message}
}
