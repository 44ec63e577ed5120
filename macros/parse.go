package macros

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// maxDepth bounds how deep calls are nested in one marker. maxParts bounds the parts
// of a name and the arguments of a call: in memory each is many times as long as in
// the page.
const (
	maxDepth = 100
	maxParts = 1000
)

// parser parses one marker. Its methods move pos behind what they have parsed or,
// with a problem, to the place of the problem.
type parser struct {
	text string
	pos  int
}

// marker parses a marker after its opening, up to its end. With a problem, the kind is right
// as far as it is known.
func (p *parser) marker() (marker, *problem) {
	p.blanks()
	if !p.atPart() {
		return marker{}, p.expected("a name")
	}
	if read, what, ok := p.statement(); ok {
		return read, what
	}
	expr, what := p.insert()
	return marker{expr: expr}, what
}

// insert parses a name or a call, and the end of the marker.
func (p *parser) insert() (Expr, *problem) {
	expr, what := p.object(1)
	if what != nil {
		return nil, what
	}
	p.blanks()
	if !p.accept(closing) {
		if _, ok := expr.(Name); ok {
			return nil, p.expected(`".", "(" or "-->" after the name`)
		}
		return nil, p.expected(`"-->" after the call`)
	}
	return expr, nil
}

// object parses a name, or a call with its arguments.
func (p *parser) object(depth int) (Expr, *problem) {
	name, what := p.name()
	if what != nil {
		return nil, what
	}
	before := p.pos
	p.blanks()
	if !p.at('(') {
		p.pos = before
		return name, nil
	}
	if depth > maxDepth {
		return nil, &problem{p.pos, fmt.Sprintf("calls are nested more than %d deep", maxDepth)}
	}
	p.pos++
	args, what := p.arguments(depth)
	if what != nil {
		return nil, what
	}
	return Call{Path: name.Path, Args: args}, nil
}

// arguments parses what follows the opening parenthesis of a call.
func (p *parser) arguments(depth int) ([]Expr, *problem) {
	p.blanks()
	if p.accept(")") {
		return nil, nil
	}
	var args []Expr
	for {
		arg, what := p.argument(depth)
		if what != nil {
			return nil, what
		}
		if args = append(args, arg); len(args) > maxParts {
			return nil, &problem{p.pos, fmt.Sprintf("the call has more than %d arguments", maxParts)}
		}
		p.blanks()
		if p.accept(")") {
			return args, nil
		}
		if !p.accept(",") {
			return nil, p.expected(`"," or ")" after the argument`)
		}
		p.blanks()
	}
}

// argument parses one argument. pos is at its first character.
func (p *parser) argument(depth int) (Expr, *problem) {
	if p.at('"') || p.at('\'') {
		s, what := p.quoted()
		return String(s), what
	}
	start := p.pos
	expr, what := p.unquoted(depth)
	if what != nil {
		return nil, what
	}
	p.blanks()
	if p.at(',') || p.at(')') {
		return expr, nil
	}
	end := p.pos
	p.pos = start
	if text, ok := p.words(); ok {
		return String(text), nil
	}
	p.pos = end
	return expr, nil
}

// unquoted parses a number, a word, true, false, a name or a call.
func (p *parser) unquoted(depth int) (Expr, *problem) {
	// Numbers first: 3.14 would also be a name.
	if n, ok := p.number(); ok {
		return n, nil
	}
	word := p.word()
	if word == "" && !p.at('[') {
		return nil, p.expected("an argument")
	}
	if !isDotted(word) && !p.at('[') && !p.nameGoesOn(word) {
		return String(word), nil
	}
	p.pos -= len(word)
	expr, what := p.object(depth + 1)
	if what != nil {
		return nil, what
	}
	if name, ok := expr.(Name); ok {
		switch strings.ToLower(name.Word) {
		case "true":
			return Bool(true), nil
		case "false":
			return Bool(false), nil
		}
	}
	return expr, nil
}

// name parses a dotted name.
func (p *parser) name() (Name, *problem) {
	start, word := p.pos, true
	var path []string
	for {
		if p.at('[') {
			word = false
			part, what := p.bracketed()
			if what != nil {
				return Name{}, what
			}
			path = append(path, part)
		} else {
			part := p.take(isNameByte)
			if part == "" && path == nil {
				return Name{}, p.expected("a name")
			}
			if part == "" {
				return Name{}, p.expected(`a name after "."`)
			}
			path = append(path, part)
		}
		if len(path) > maxParts {
			return Name{}, &problem{p.pos, fmt.Sprintf("the name has more than %d parts", maxParts)}
		}
		end := p.pos
		p.blanks()
		switch {
		case p.accept("."):
			p.blanks()
		case p.at('['):
		default:
			p.pos = end
			name := Name{Path: path}
			if word {
				blank := func(r rune) bool { return r < utf8.RuneSelf && isBlank(byte(r)) }
				name.Word = strings.Join(strings.FieldsFunc(p.text[start:end], blank), " ")
			}
			return name, nil
		}
	}
}

// bracketed parses a part of a name in brackets.
func (p *parser) bracketed() (string, *problem) {
	p.pos++
	p.blanks()
	if !p.at('"') && !p.at('\'') {
		return "", p.expected(`a name in quotes after "["`)
	}
	start := p.pos
	name, what := p.quoted()
	if what != nil {
		return "", what
	}
	if name == "" {
		return "", &problem{start, "expected a name in quotes, found empty quotes"}
	}
	p.blanks()
	if !p.accept("]") {
		return "", p.expected(`"]" after the quotes`)
	}
	return name, nil
}
