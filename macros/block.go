package macros

import (
	"fmt"
	"strings"
)

// Kind says what a marker does.
type Kind int

// The kinds of markers.
const (
	Insert Kind = iota // inserts the value of a Name or Call
	If                 // begins a block; Expr is the condition
	ElseIf             // begins another branch of an If
	Else               // begins the last branch of an If, or the branch of a For without items
	For                // begins a block; Expr is a Loop
	Block              // begins a block; Expr is a Title
	End                // ends a block
)

// block is a block that has begun.
type block struct {
	foreign bool    // an if of mod_include
	first   *Marker // the If, For or Block
	last    *Marker // that has begun the current branch
}

// isOurs reports whether an element of mod_include is the else of one of our blocks. It notes
// where an if of mod_include within our blocks begins and ends.
func (s *scanner) isOurs(element string) bool {
	if len(s.open) == 0 {
		return false
	}
	top := s.open[len(s.open)-1]
	switch element {
	case "if":
		s.open = append(s.open, block{foreign: true})
	case "endif":
		if top.foreign {
			s.open = s.open[:len(s.open)-1]
		}
	case "else":
		return !top.foreign && top.first.Kind != Block
	}
	return false
}

// pair connects the last of the markers with the block that it begins, ends or divides.
func (s *scanner) pair(markers []*Marker) {
	m := markers[len(markers)-1]
	if name, ok := m.Expr.(Name); ok && strings.EqualFold(name.Word, "end") && m.Kind == Insert && len(s.open) > 0 {
		m.Kind, m.Expr = End, nil
	}
	switch m.Kind {
	case If, For, Block:
		if s.open = append(s.open, block{first: m, last: m}); len(s.open) > maxDepth {
			m.fail(fmt.Sprintf("blocks are nested more than %d deep", maxDepth))
		}
	case ElseIf, Else:
		b := s.ours()
		switch {
		case b == nil || m.Kind == ElseIf && b.first.Kind != If:
			if m.inserts(); m.call == nil {
				m.fail("there is no if that this elseif could belong to")
			}
		case b.last.Kind == Else:
			m.inserts()
			m.fail("no branch may follow the else")
		default:
			b.last.Next, b.last = m.Index, m
		}
	case End:
		s.ours().last.Next = m.Index
		s.open = s.open[:len(s.open)-1]
	}
}

// ours returns the innermost of our own blocks, and forgets an if of mod_include in it that has no
// endif. It returns nil if no block is open.
func (s *scanner) ours() *block {
	for len(s.open) > 0 {
		if top := &s.open[len(s.open)-1]; !top.foreign {
			return top
		}
		s.open = s.open[:len(s.open)-1]
	}
	return nil
}

// finish is called after the last of the markers.
func (s *scanner) finish(markers []*Marker) {
	for b := s.ours(); b != nil; b = s.ours() {
		s.open = s.open[:len(s.open)-1]
		if b.first.call != nil && b.first == b.last {
			b.first.inserts()
			continue
		}
		b.first.Next = len(markers)
		if b.first.Err == nil {
			b.first.fail("it has no <!--#end-->")
		}
	}
}

// inserts makes a marker one of the kind Insert: it inserts what the call that it may be gives.
func (m *Marker) inserts() { m.Kind, m.Expr = Insert, m.call }

// fail makes a message the error of the marker.
func (m *Marker) fail(message string) {
	m.Expr, m.Err = nil, &Error{Line: m.Line, Column: m.Column, Message: message}
}
