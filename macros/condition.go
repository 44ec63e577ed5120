package macros

import (
	"fmt"
	"strings"
)

// statement parses a marker that begins a block or a branch, with its end. ok is false if the marker
// is none of these: if.x, if [ "x" ], for, block (x) are names and calls.
func (p *parser) statement() (read marker, what *problem, ok bool) {
	start := p.pos
	word := strings.ToLower(p.take(isNameByte))
	after := p.pos
	p.blanks()
	goesOn := p.pos > after && p.pos < len(p.text) && !p.atClosing() && isNameByte(p.text[p.pos])
	switch {
	case (word == "if" || word == "elseif") && p.pos > after && (goesOn || p.at('"') || p.at('\'')),
		(word == "if" || word == "elseif") && p.at('('):
		read.kind = If
		if word == "elseif" {
			read.kind = ElseIf
		}
		var call Expr
		if p.at('(') {
			other := parser{text: p.text, pos: start}
			call, _ = other.insert()
		}
		read.expr, what = p.condition(1)
		if what == nil {
			what = p.ends("the condition")
		}
		switch {
		case what == nil:
			read.call = call
		case call != nil: // if (a, b)
			p.pos = start
			return marker{}, nil, false
		}
		return read, what, true
	case word == "else" && goesOn && p.keyword("if"):
		return marker{kind: ElseIf}, &problem{start, "else if is written elseif"}, true
	case word == "for" && goesOn:
		read.kind = For
		read.expr, what = p.loop()
	case word == "block" && goesOn:
		read.kind, read.expr = Block, Title(p.take(isNameByte))
	default:
		p.pos = start
		return marker{}, nil, false
	}
	if what == nil {
		what = p.ends("the " + word)
	}
	return read, what, true
}

// ends parses the end of a marker.
func (p *parser) ends(what string) *problem {
	p.blanks()
	if p.accept(closing) {
		return nil
	}
	return p.expected(`"-->" after ` + what)
}

// keyword parses a word, in either case of letters. If another word is here, it stays where it is.
func (p *parser) keyword(word string) bool {
	start := p.pos
	if strings.EqualFold(p.take(isNameByte), word) {
		return true
	}
	p.pos = start
	return false
}

// isReserved reports whether a word has a meaning in conditions, so that it is no name of an item.
func isReserved(word string) bool {
	switch strings.ToLower(word) {
	case "and", "or", "not", "true", "false", "nil", "in", "reverse", "limit":
		return true
	}
	return false
}

// loop parses what follows for: a variable, in, and what is looped over.
func (p *parser) loop() (Expr, *problem) {
	start := p.pos
	l := Loop{Var: p.take(isNameByte)}
	if isReserved(l.Var) {
		p.pos = start
		return nil, p.expected("a name for the items")
	}
	if p.blanks(); !p.keyword("in") {
		return nil, p.expected(`"in" after the name of the items`)
	}
	p.blanks()
	var what *problem
	if !p.atPart() {
		return nil, p.expected("the name of a table")
	}
	if l.In, what = p.object(1); what != nil {
		return nil, what
	}
	for {
		p.blanks()
		switch {
		case !l.Reverse && p.keyword("reverse"):
			l.Reverse = true
		case l.Limit == nil && p.keyword("limit"):
			if l.Limit, what = p.limit(); what != nil {
				return nil, what
			}
		case p.atClosing():
			return l, nil
		default:
			return nil, p.expected(`"reverse", "limit" or "-->" after the table`)
		}
	}
}

// limit parses the number of items of a loop: a number, a name or a call.
func (p *parser) limit() (Expr, *problem) {
	p.blanks()
	if n, ok := p.number(); ok {
		return n, nil
	}
	if !p.atPart() {
		return nil, p.expected("a number")
	}
	return p.object(1)
}

// condition parses a condition: its parts with or between them.
func (p *parser) condition(depth int) (Expr, *problem) {
	return p.joined("or", func() (Expr, *problem) {
		return p.joined("and", func() (Expr, *problem) { return p.comparison(depth) })
	})
}

// joined parses parts with a word between them.
func (p *parser) joined(word string, part func() (Expr, *problem)) (Expr, *problem) {
	x, what := part()
	for n := 1; what == nil; n++ {
		before := p.pos
		if p.blanks(); !p.keyword(word) {
			p.pos = before
			break
		}
		if n >= maxParts {
			return nil, &problem{p.pos, fmt.Sprintf("the condition has more than %d parts", maxParts)}
		}
		var y Expr
		y, what = part()
		x = Operation{Op: word, X: x, Y: y}
	}
	return x, what
}

// comparison parses an operand, a comparison of two, or not with another comparison.
func (p *parser) comparison(depth int) (Expr, *problem) {
	if depth > maxDepth {
		return nil, &problem{p.pos, fmt.Sprintf("the condition is nested more than %d deep", maxDepth)}
	}
	p.blanks()
	if p.keyword("not") {
		x, what := p.comparison(depth + 1)
		return Not{x}, what
	}
	x, what := p.operand(depth)
	if what != nil {
		return nil, what
	}
	before := p.pos
	p.blanks()
	op := p.operator()
	if op == "" {
		if p.at('=') {
			return nil, &problem{p.pos, `a comparison is written "=="`}
		}
		p.pos = before
		return x, nil
	}
	p.blanks()
	y, what := p.operand(depth)
	return Operation{Op: op, X: x, Y: y}, what
}

// operator parses an operator of a comparison. It returns "" if there is none.
func (p *parser) operator() string {
	for _, op := range []string{"==", "~=", "!=", "<=", ">=", "<", ">"} {
		if p.accept(op) {
			if op == "!=" {
				return "~="
			}
			return op
		}
	}
	return ""
}

// operand parses a text in quotes, a number, true, false, nil, a name, a call, or a condition in
// parentheses.
func (p *parser) operand(depth int) (Expr, *problem) {
	switch {
	case p.at('"'), p.at('\''):
		s, what := p.quoted()
		return String(s), what
	case p.accept("("):
		x, what := p.condition(depth + 1)
		if what != nil {
			return nil, what
		}
		if p.blanks(); !p.accept(")") {
			return nil, p.expected(`")" after the condition`)
		}
		return x, nil
	}
	if n, ok := p.number(); ok {
		return n, nil
	}
	if !p.atPart() {
		return nil, p.expected("a name, a number or a text in quotes")
	}
	x, what := p.object(depth)
	if name, ok := x.(Name); ok {
		switch strings.ToLower(name.Word) {
		case "true":
			return Bool(true), nil
		case "false":
			return Bool(false), nil
		case "nil":
			return Nil{}, nil
		}
	}
	return x, what
}
