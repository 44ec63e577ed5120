package lua

import (
	"fmt"
	"strings"
)

// strayTokens are the texts that a generated mistake inserts: words, signs, and texts
// that are no token or only the beginning of one.
var strayTokens = strings.Fields(`and break do else elseif end false for function if in local nil not or repeat return then true until while
	+ - * / % ^ # == ~= <= >= < > = ( ) { } [ ] ; : , . .. ... a b c f x 1 2.5 "s" 's' [[s]] [=[s]=] [==[]]]==]
	3x 0x 0xFf 0x1p4 1e 1e+ 1e5 1..2 .5 5. 1__ '\65' '\400' "\xg" '\0a' '\9 "open 'open [[open [=open [=[open]] --[[open --[==[closed]==] --[=short
	[[a[[b]] [=[a[[b]=] --[[a[[b]] ! ~ @ $ ? \ ::  += // <const> -- ]] \` + "\x01 \x02 \x7f" + ` arg self 'two\
	lines' "a\
	` + "`")

// syntaxProgram returns a program of a seed that shows what becomes of small
// scripts with mistakes in them.
func syntaxProgram(seed uint64) string {
	g := &generator{state: seed*0xa0761d6478bd642f + 3}
	for range callsOfEach {
		g.line("show (loadstring (%s, \"=s\"))", quotedSource(g.mistaken()))
	}
	return g.out.String()
}

// mistaken returns a small script with up to three mistakes.
func (g *generator) mistaken() string {
	inner := &generator{state: g.next(), funcs: []*genFunc{{vararg: g.chance(50), loops: g.intn(2)}}, lines: g.chance(50)}
	for range g.between(1, 3) {
		inner.statement()
	}
	tokens := []string{""}
	for _, piece := range pieces(inner.broken(inner.out.String())) {
		tokens = append(tokens, strings.Map(ascii, piece))
	}
	if len(tokens) > 60 {
		from := 0
		if g.chance(20) {
			from = g.intn(len(tokens) - 60)
		}
		tokens = tokens[from : from+60]
	}
	for range g.between(0, 3) {
		i := g.intn(len(tokens))
		switch g.intn(5) {
		case 0:
			tokens[i] = ""
		case 1:
			tokens[i] += " " + tokens[i]
		case 2:
			j := g.intn(len(tokens))
			tokens[i], tokens[j] = tokens[j], tokens[i]
		case 3:
			tokens[i] = pick(g, strayTokens)
		default:
			tokens[i] += pick(g, []string{"", " ", "\n"}) + pick(g, strayTokens)
		}
	}
	var b strings.Builder
	for _, t := range tokens {
		b.WriteString(t + pick(g, []string{" ", " ", " ", " ", "", "\n", "\r\n", "\n\n", "\t", "\v", "--\n", " --[[ ]] "}))
	}
	return b.String()
}

// pieces returns the tokens of a script; what is none is a piece of one byte.
func pieces(source string) (list []string) {
	for l := (&lexer{source: source, line: 1}); ; {
		from := l.at
		var err error
		func() {
			defer l.rescue("", &err)
			l.next()
		}()
		switch {
		case err != nil:
			l.start, l.at = from, from+1
		case l.kind == lexEOF:
			return list
		}
		list = append(list, source[l.start:l.at])
	}
}

// ascii drops what is not ASCII: see the departure.
func ascii(r rune) rune {
	if r > '~' {
		return -1
	}
	return r
}

// quotedSource writes a string as Lua reads it, in one line.
func quotedSource(s string) string {
	var b strings.Builder
	for _, c := range []byte(s) {
		if c < ' ' || c > '~' || c == '"' || c == '\\' {
			fmt.Fprintf(&b, "\\%03d", c)
		} else {
			b.WriteByte(c)
		}
	}
	return `"` + b.String() + `"`
}
