package macros

import "strings"

// serverElement returns the name of the element of Apache's mod_include that begins at
// start, in small letters, and its end, or a negative number if there is none. An element
// is a name followed by attributes:
//
//	<!--#echo var="DATE_LOCAL" -->
//
// so <!--#set.x--> and <!--#echo (1)--> are markers. Only else, endif and
// printenv have no attributes. The only attribute of if and elif is expr: if a=b is a
// condition with a mistake.
func serverElement(page string, start int) (name string, end int) {
	p := parser{text: page, pos: start + len(opening)}
	p.blanks()
	alone, only := false, ""
	name = strings.ToLower(p.take(isNameByte))
	switch name {
	case "else", "endif", "printenv":
		alone = true
	case "if", "elif":
		only = "expr"
	case "include", "echo", "set", "exec", "config", "flastmod", "fsize":
	default:
		return "", -1
	}
	for n := 0; ; n++ {
		before := p.pos
		p.blanks()
		if p.accept(closing) {
			if n == 0 && !alone {
				return "", -1
			}
			return name, p.pos
		}
		if p.pos == before || !p.attribute(only) {
			return "", -1
		}
	}
}

// attribute parses name=value. The value may have quotes of three kinds. If only is not
// "", it is the only name that is allowed.
func (p *parser) attribute(only string) bool {
	name := p.take(isNameByte)
	if name == "" || only != "" && !strings.EqualFold(name, only) {
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
