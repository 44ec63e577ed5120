package macros

import "strings"

// serverElement returns the end of the element of Apache's mod_include that begins
// at start, or a negative number if there is none. An element is a name followed by
// attributes:
//
//	<!--#echo var="DATE_LOCAL" -->
//
// so <!--#set.x--> and <!--#echo (1)--> are markers. Only else, endif and
// printenv have no attributes.
func serverElement(page string, start int) int {
	p := parser{text: page, pos: start + len(opening)}
	p.blanks()
	alone := false
	switch strings.ToLower(p.take(isNameByte)) {
	case "else", "endif", "printenv":
		alone = true
	case "include", "echo", "set", "if", "elif", "exec", "config", "flastmod", "fsize":
	default:
		return -1
	}
	for n := 0; ; n++ {
		before := p.pos
		p.blanks()
		if p.accept(closing) {
			if n == 0 && !alone {
				return -1
			}
			return p.pos
		}
		if p.pos == before || !p.attribute() {
			return -1
		}
	}
}

// attribute parses name=value. The value may have quotes of three kinds.
func (p *parser) attribute() bool {
	if p.take(isNameByte) == "" {
		return false
	}
	p.blanks()
	if !p.accept("=") {
		return false
	}
	p.blanks()
	if p.pos == len(p.text) {
		return false
	}
	quote := p.text[p.pos]
	if quote != '"' && quote != '\'' && quote != '`' {
		return p.take(isPlainValueByte) != ""
	}
	for p.pos++; p.pos < len(p.text); p.pos++ {
		switch p.text[p.pos] {
		case quote:
			p.pos++
			return true
		case '\\':
			p.pos++
		}
	}
	p.pos = len(p.text)
	return false
}

func isPlainValueByte(c byte) bool {
	return c > ' ' && strings.IndexByte("\"'`<>\\", c) < 0
}
