package macros

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// quoted parses text in quotes. It reports an invalid escape only after the closing
// quote, so that pos is outside quotes then.
func (p *parser) quoted() (string, *problem) {
	start, quote := p.pos, p.text[p.pos]
	p.pos++
	from := p.pos
	var unescaped []byte
	var wrong *problem
	for p.pos < len(p.text) {
		switch c := p.text[p.pos]; {
		case c == quote:
			s := p.text[from:p.pos]
			p.pos++
			if unescaped != nil {
				s = string(append(unescaped, s...))
			}
			return s, wrong
		case c == '\\' && quote == '\'' && strings.HasPrefix(p.text[p.pos+1:], closing):
			p.pos++
		case c == '\\' && p.pos+1 < len(p.text):
			escaped, ok := unescape(p.text[p.pos+1])
			if !ok && wrong == nil {
				after := parser{text: p.text, pos: p.pos + 1}
				wrong = after.expected(`one of " ' \ n r t after a backslash`)
			}
			unescaped = append(append(unescaped, p.text[from:p.pos]...), escaped)
			p.pos += 2
			from = p.pos
		case c == '-' && quote == '\'' && p.atClosing():
			return "", unclosed(start, quote)
		default:
			p.pos++
		}
	}
	return "", unclosed(start, quote)
}

func unclosed(start int, quote byte) *problem {
	return &problem{start, fmt.Sprintf("expected another %c to close this one, found the end of the marker", quote)}
}

func unescape(c byte) (byte, bool) {
	switch c {
	case '"', '\'', '\\':
		return c, true
	case 'n':
		return '\n', true
	case 'r':
		return '\r', true
	case 't':
		return '\t', true
	}
	return c, false
}

// number parses a decimal number, if there is one that ends where an argument may
// end.
func (p *parser) number() (Number, bool) {
	start := p.pos
	s := p.take(isNumberByte)
	if s != "" && strings.ContainsAny(s, "0123456789") && !p.atWord() {
		if f, err := strconv.ParseFloat(s, 64); err == nil {
			after := p.pos
			p.blanks()
			if !p.at('(') && !p.at('[') && !p.at('.') {
				p.pos = after
				return Number(f), true
			}
		}
	}
	p.pos = start
	return 0, false
}

// word reads a bare word: characters that belong to no other token.
func (p *parser) word() string { return p.take(isWordByte) }

// words reads words separated by blanks, up to a comma or a closing parenthesis,
// and returns them with one blank between each two. ok is false if no word has a
// letter, or if a word consists of signs only, such as a minus: markers have no
// arithmetic.
func (p *parser) words() (text string, ok bool) {
	var words []string
	for {
		word := p.word()
		if word == "" {
			break
		}
		if strings.Trim(word, "-/%.") == "" {
			return "", false
		}
		ok = ok || hasLetter(word)
		words = append(words, word)
		p.blanks()
	}
	return strings.Join(words, " "), ok && (p.at(',') || p.at(')'))
}

// hasLetter reports whether a word has a letter.
func hasLetter(word string) bool {
	return strings.ContainsFunc(word, func(r rune) bool { return r|0x20 >= 'a' && r|0x20 <= 'z' || r >= utf8.RuneSelf })
}

// nameGoesOn reports whether a word that is not a name begins a name with blanks in
// it, such as user. greeting.
func (p *parser) nameGoesOn(word string) bool {
	before, dotted := strings.CutSuffix(word, ".")
	return dotted && isDotted(before) && p.pos < len(p.text) && isBlank(p.text[p.pos])
}

// isDotted reports whether the word is a name without brackets.
func isDotted(word string) bool {
	part := false // is there a byte since the last dot?
	for i := range len(word) {
		switch c := word[i]; {
		case c == '.' && part:
			part = false
		case isNameByte(c):
			part = true
		default:
			return false
		}
	}
	return part
}

func isBlank(c byte) bool { return c == ' ' || c <= '\r' && c >= '\t' }

func isNameByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' ||
		c == '_' || c == '-' || c >= utf8.RuneSelf
}

func isNumberByte(c byte) bool {
	return c >= '0' && c <= '9' || c == '.' || c == '-' || c == '+' || c == 'e' || c == 'E'
}

// isWordByte reports whether c may occur in names of files, folders, hosts and URLs.
// It excludes operators, because markers have no arithmetic.
func isWordByte(c byte) bool {
	return isNameByte(c) || strings.IndexByte("./:@~%!?&#$", c) >= 0
}

func (p *parser) at(c byte) bool { return p.pos < len(p.text) && p.text[p.pos] == c }

// atPart reports whether a part of a name begins here.
func (p *parser) atPart() bool {
	return p.pos < len(p.text) && !p.atClosing() && (p.text[p.pos] == '[' || isNameByte(p.text[p.pos]))
}

func (p *parser) atWord() bool {
	return p.pos < len(p.text) && !p.atClosing() && isWordByte(p.text[p.pos])
}

func (p *parser) atClosing() bool { return strings.HasPrefix(p.text[p.pos:], closing) }

// take reads bytes while ok returns true, up to the end of the marker.
func (p *parser) take(ok func(byte) bool) string {
	start := p.pos
	for p.pos < len(p.text) && ok(p.text[p.pos]) && !(p.text[p.pos] == '-' && p.atClosing()) {
		p.pos++
	}
	return p.text[start:p.pos]
}

func (p *parser) blanks() {
	for p.pos < len(p.text) && isBlank(p.text[p.pos]) {
		p.pos++
	}
}

func (p *parser) accept(s string) bool {
	if !strings.HasPrefix(p.text[p.pos:], s) {
		return false
	}
	p.pos += len(s)
	return true
}

// expected returns the problem that something else is at pos.
func (p *parser) expected(what string) *problem {
	return &problem{p.pos, "expected " + what + ", found " + p.found()}
}

// found describes the word or character at pos.
func (p *parser) found() string {
	const most = 24
	switch {
	case p.pos == len(p.text):
		return "the end of the page"
	case p.atClosing():
		return "the end of the marker"
	}
	start := p.pos
	end := start
	for end < len(p.text) && end-start < most && isNameByte(p.text[end]) && p.text[end] != '-' {
		end++
	}
	for end < len(p.text) && end > start && !utf8.RuneStart(p.text[end]) {
		end--
	}
	if end == start {
		_, size := utf8.DecodeRuneInString(p.text[start:])
		end += size
	}
	return strconv.Quote(p.text[start:end])
}
