package lua

import (
	"strings"
	"unicode/utf8"
)

// A token is one word, number, string or sign of a script. The parser tells
// lines only, and so does what it makes; tokens tell columns too.
type Token struct {
	Text   string
	Line   int
	bytes  int // before it in its line
	Column int // in characters, from 1
}

// A scan is a script taken apart.
type Scan struct {
	Tokens []Token
	Passed map[int]bool // lines with a comment that says "lint: ok"
}

// tokenise takes a script apart. What is no Lua becomes tokens of one byte; it
// is the parser that complains.
func Tokenise(source string) Scan {
	s := Scan{Passed: map[int]bool{}}
	line, start, column := 1, 0, 1 // start: of the line
	for i := 0; i < len(source); {
		n, skip := tokenLength(source[i:])
		if !skip {
			s.Tokens = append(s.Tokens, Token{source[i : i+n], line, i - start, column})
		} else if strings.HasPrefix(source[i:], "--") && strings.Contains(source[i:i+n], "lint: ok") {
			s.Passed[line] = true
		}
		if ends, last := lineEnds(source[i : i+n]); ends > 0 {
			line += ends
			start = i + last
			column = 1 + utf8.RuneCountInString(source[start:i+n])
		} else {
			column += utf8.RuneCountInString(source[i : i+n])
		}
		i += n
	}
	return s
}

// tokenLength returns the length of what s begins with, in bytes; skip says
// that it is white space or a comment.
func tokenLength(s string) (n int, skip bool) {
	c := s[0]
	switch {
	case isSpace(c):
		for n < len(s) && isSpace(s[n]) {
			n++
		}
		return n, true
	case strings.HasPrefix(s, "--"):
		if n := longLength(s[2:]); n > 0 {
			return 2 + n, true
		}
		if n := strings.IndexAny(s, "\r\n"); n >= 0 {
			return n, true
		}
		return len(s), true
	case c == '"' || c == '\'':
		return quotedLength(s), false
	case c == '[':
		return max(longLength(s), 1), false
	case c == '_' || isAlpha(c):
		return wordLength(s), false
	case isDigit(c) || c == '.' && len(s) > 1 && isDigit(s[1]):
		return numeralLength(s), false
	}
	for _, sign := range [...]string{"...", "..", "==", "~=", "<=", ">="} {
		if strings.HasPrefix(s, sign) {
			return len(sign), false
		}
	}
	return 1, false
}

// numeralLength takes all that could belong to a number, as Lua does.
func numeralLength(s string) int {
	n := 1
	for n < len(s) {
		c := s[n]
		sign := (c == '+' || c == '-') && (s[n-1] == 'e' || s[n-1] == 'E') && !strings.HasPrefix(s, "0x") && !strings.HasPrefix(s, "0X")
		if !sign && c != '.' && c != '_' && !isAlpha(c) && !isDigit(c) {
			break
		}
		n++
	}
	return n
}

// spread writes the tokens one to a line, so that the lines that the parser
// notes name tokens: at [line] is the index of the token there. A bracket
// stays in its line: Lua wants a call's on the line of the function.
func (s Scan) Spread() (source string, at []int) {
	var b strings.Builder
	at = append(at, 0) // lines count from 1
	for i, t := range s.Tokens {
		if i > 0 && t.Text == "(" {
			b.WriteString(" (")
			continue
		}
		if i > 0 {
			b.WriteByte('\n')
		}
		if isDigit(t.Text[0]) && strings.ContainsAny(t.Text, "xX") {
			b.WriteByte('0') // the machine's parser knows no 0x1p4
		} else {
			b.WriteString(t.Text)
		}
		ends, _ := lineEnds(t.Text)
		for range 1 + ends {
			at = append(at, i)
		}
	}
	return b.String(), at
}

// quotedLength returns the length of the string literal that s begins with, at
// most to the end of its line.
func quotedLength(s string) int {
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case s[0]:
			return i + 1
		case '\\':
			i++
		case '\n':
			return i
		}
	}
	return len(s)
}

// longLength returns the length of the long bracket that s begins with, [[…]]
// or [=[…]=], or 0.
func longLength(s string) int {
	if s == "" || s[0] != '[' {
		return 0
	}
	n := 1
	for n < len(s) && s[n] == '=' {
		n++
	}
	if n == len(s) || s[n] != '[' {
		return 0
	}
	end := strings.Index(s[n:], "]"+s[1:n]+"]")
	if end < 0 {
		return len(s)
	}
	return n + end + n + 1
}
