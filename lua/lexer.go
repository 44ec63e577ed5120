package lua

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// A lexer reads the tokens of a script as PUC Lua 5.1 does, with its messages.
// gopher-lua's accepts some texts that are not Lua (nested long brackets, escapes
// beyond 255) and refuses some that are; the lexer notes an edit for those, see
// respelt.
type lexer struct {
	source string
	at     int    // of the byte after the last token
	line   int    // there
	start  int    // where the last token begins …
	from   int    // … and in which line
	kind   lexeme // of the last token
	edits  []edit
}

// A lexeme is what a token is: one of those below, or the byte itself.
type lexeme int

const (
	lexEnd lexeme = -1 - iota
	lexName
	lexNumber
	lexString
	lexConcat
	lexDots
	lexEq
	lexNe
	lexLe
	lexGe
	lexAnd
	lexBreak
	lexDo
	lexElse
	lexElseif
	lexFalse
	lexFor
	lexFunction
	lexGoto // a name in Lua 5.1, a reserved word for gopher-lua's parser
	lexIf
	lexIn
	lexLocal
	lexNil
	lexNot
	lexOr
	lexRepeat
	lexReturn
	lexThen
	lexTrue
	lexUntil
	lexWhile
	lexEOF // the end of the source; lexEnd is the word
)

var lexemeNames = map[lexeme]string{
	lexEnd: "end", lexName: "<name>", lexNumber: "<number>", lexString: "<string>", lexConcat: "..", lexDots: "...",
	lexEq: "==", lexNe: "~=", lexLe: "<=", lexGe: ">=", lexAnd: "and", lexBreak: "break", lexDo: "do", lexElse: "else",
	lexElseif: "elseif", lexFalse: "false", lexFor: "for", lexFunction: "function", lexGoto: "goto", lexIf: "if",
	lexIn: "in", lexLocal: "local", lexNil: "nil", lexNot: "not", lexOr: "or", lexRepeat: "repeat", lexReturn: "return",
	lexThen: "then", lexTrue: "true", lexUntil: "until", lexWhile: "while", lexEOF: "<eof>",
}

var reservedWords = func() map[string]lexeme {
	words := map[string]lexeme{}
	for k, name := range lexemeNames {
		if isAlpha(name[0]) {
			words[name] = k
		}
	}
	return words
}()

// ReservedWords returns the words that IsReserved knows, in no particular order.
func ReservedWords() []string { return slices.Collect(maps.Keys(reservedWords)) }

// IsReserved reports whether s cannot be a name, because it is a word of Lua or goto.
func IsReserved(s string) bool {
	_, ok := reservedWords[s]
	return ok
}

// IsName reports whether s can be written as a name.
func IsName(s string) bool {
	return s != "" && (s[0] == '_' || isAlpha(s[0])) && wordLength(s) == len(s) && !IsReserved(s)
}

// String is the token's name in messages.
func (k lexeme) String() string {
	if name, ok := lexemeNames[k]; ok {
		return name
	}
	if k < ' ' || k == 127 {
		return fmt.Sprintf("char(%d)", int(k))
	}
	return string([]byte{byte(k)})
}

// An edit replaces a part of the source for gopher-lua's parser. Neither the part nor
// the text has a line end.
type edit struct {
	from, to int
	text     string
}

// respelt returns the source with the edits, which gopher-lua's parser reads rightly.
func (l *lexer) respelt() string {
	if len(l.edits) == 0 {
		return l.source
	}
	var b strings.Builder
	at := 0
	for _, e := range l.edits {
		b.WriteString(l.source[at:e.from])
		b.WriteString(e.text)
		at = e.to
	}
	b.WriteString(l.source[at:])
	return b.String()
}

// respeltToken returns the last token with its edit.
func (l *lexer) respeltToken() string {
	if last := len(l.edits) - 1; last >= 0 && l.edits[last].from == l.start {
		return l.edits[last].text
	}
	return l.source[l.start:l.at]
}

// blank replaces the source between two places by spaces.
func (l *lexer) blank(from, to int) {
	l.edits = append(l.edits, edit{from, to, strings.Repeat(" ", to-from)})
}

// next reads a token.
func (l *lexer) next() {
	for l.skip() {
	}
	l.start, l.from = l.at, l.line
	if l.at == len(l.source) {
		l.kind = lexEOF
		return
	}
	rest := l.source[l.at:]
	c := rest[0]
	switch {
	case c == '"' || c == '\'':
		l.quoted(c)
	case c == '_' || isAlpha(c):
		word := rest[:wordLength(rest)]
		l.at += len(word)
		l.kind = lexName
		if k, ok := reservedWords[word]; ok {
			l.kind = k
		}
	case isDigit(c) || c == '.' && len(rest) > 1 && isDigit(rest[1]):
		l.numeral(rest)
	case c == '[':
		l.bracket(rest)
	default:
		l.sign(rest)
	}
}

// skip passes over a line end, a white-space character or a comment. It reports
// whether there was one.
func (l *lexer) skip() bool {
	if l.at == len(l.source) {
		return false
	}
	switch c := l.source[l.at]; {
	case c == '\n' || c == '\r':
		l.newLine()
	case isSpace(c):
		if c == '\v' || c == '\f' {
			l.blank(l.at, l.at+1)
		}
		l.at++
	case strings.HasPrefix(l.source[l.at:], "--"):
		l.comment()
	default:
		return false
	}
	return true
}

// newLine passes over a line end.
func (l *lexer) newLine() {
	l.at += lineEnd(l.source[l.at:])
	l.line++
}

func (l *lexer) comment() {
	start := l.at
	l.at += 2
	if level := longOpening(l.source[l.at:]); level >= 0 {
		l.long(level, "unfinished long comment")
		return
	}
	if n := strings.IndexAny(l.source[l.at:], "\r\n"); n >= 0 {
		l.at += n
	} else {
		l.at = len(l.source)
	}
	if strings.HasPrefix(l.source[start:], "--[=") { // which gopher-lua takes for a long comment
		l.blank(start, l.at)
	}
}

// longOpening returns the number of signs "=" in the long bracket that s
// begins with, or -1 if it begins with none.
func longOpening(s string) int {
	n := 1
	for n < len(s) && s[n] == '=' {
		n++
	}
	if s == "" || s[0] != '[' || n == len(s) || s[n] != '[' {
		return -1
	}
	return n - 1
}

// bracket reads "[" or a long string.
func (l *lexer) bracket(rest string) {
	level := longOpening(rest)
	if level < 0 {
		l.at++
		l.kind = '['
		if n := len(rest) - len(strings.TrimLeft(rest[1:], "=")); n > 1 {
			l.refuse("invalid long string delimiter", rest[:n])
		}
		return
	}
	l.long(level, "unfinished long string")
	l.kind = lexString
}

// long passes over a long string or comment.
func (l *lexer) long(level int, unfinished string) {
	closing := "]" + strings.Repeat("=", level) + "]"
	l.at += level + 2
	for l.at < len(l.source) {
		switch c := l.source[l.at]; {
		case c == ']' && strings.HasPrefix(l.source[l.at:], closing):
			l.at += len(closing)
			return
		case c == '[' && level == 0 && strings.HasPrefix(l.source[l.at:], "[["):
			l.refuse("nesting of [[...]] is deprecated", "[")
		case c == '\n' || c == '\r':
			l.newLine()
		default:
			l.at++
		}
	}
	l.refuse(unfinished, "<eof>")
}

// quoted reads a string in quotes.
func (l *lexer) quoted(quote byte) {
	for l.at++; l.at < len(l.source); {
		switch c := l.source[l.at]; c {
		case quote:
			l.at++
			l.kind = lexString
			return
		case '\n', '\r':
			l.refuse("unfinished string", l.text(lexString))
		case '\\':
			l.escape()
		default:
			l.at++
		}
	}
	l.refuse("unfinished string", "<eof>")
}

// escape passes over an escape in a string.
func (l *lexer) escape() {
	before := l.at
	l.at++
	if l.at == len(l.source) {
		return
	}
	switch c := l.source[l.at]; {
	case c == '\n' || c == '\r':
		l.newLine()
	case isDigit(c):
		if _, n, ok := decimalEscape(l.source[l.at:]); ok {
			l.at += n
		} else {
			l.at = before
			l.refuse("escape sequence too large", l.text(lexString))
		}
	default:
		l.at++
	}
}

// decimalEscape reads the one to three digits that s begins with. ok is false
// if they make no byte.
func decimalEscape(s string) (value byte, n int, ok bool) {
	for n = 1; n < 3 && n < len(s) && isDigit(s[n]); n++ {
	}
	v, err := strconv.ParseUint(s[:n], 10, 8)
	return byte(v), n, err == nil
}

// numeral reads a number.
func (l *lexer) numeral(rest string) {
	n := 0
	for n < len(rest) && (isDigit(rest[n]) || rest[n] == '.') {
		n++
	}
	if n < len(rest) && (rest[n] == 'e' || rest[n] == 'E') {
		if n++; n < len(rest) && (rest[n] == '+' || rest[n] == '-') {
			n++
		}
	}
	for n < len(rest) && (rest[n] == '_' || isAlpha(rest[n]) || isDigit(rest[n])) {
		n++
	}
	l.at += n
	l.kind = lexNumber
	f, ok := ParseNumber(rest[:n])
	if !ok {
		l.refuse("malformed number", rest[:n])
	}
	text := rest[:n]
	if strings.ContainsAny(text, "xX") {
		text = strconv.FormatFloat(f, 'g', -1, 64)
	}
	if n < len(rest) && rest[n] == '.' { // 0xFF..x
		text += " "
	}
	if text != rest[:n] {
		l.edits = append(l.edits, edit{l.start, l.at, text})
	}
}

// sign reads what is neither word, number nor string.
func (l *lexer) sign(rest string) {
	l.kind = lexeme(rest[0])
	l.at++
	for _, k := range [...]lexeme{lexDots, lexConcat, lexEq, lexNe, lexLe, lexGe} {
		if strings.HasPrefix(rest, lexemeNames[k]) {
			l.kind = k
			l.at += len(lexemeNames[k]) - 1
			return
		}
	}
}

// text returns what messages show of the last token, of which the lexer has read the
// source up to l.at. It cuts the text at a byte of 0.
func (l *lexer) text(k lexeme) string {
	raw := l.source[l.start:l.at]
	if k != lexName && k != lexNumber && k != lexString {
		return k.String()
	}
	switch {
	case k != lexString:
	case raw[0] == '[':
		raw = plainLines(raw)
	default:
		raw = unescape(raw)
	}
	raw, _, _ = strings.Cut(raw, "\x00")
	return raw
}

// plainLines returns a long string as PUC Lua shows it: with LF for each line end, and
// without one right after the opening bracket.
func plainLines(s string) string {
	opening := longOpening(s) + 2
	var b strings.Builder
	b.WriteString(s[:opening])
	for i := opening; i < len(s); i++ {
		if s[i] != '\n' && s[i] != '\r' {
			b.WriteByte(s[i])
			continue
		}
		if i != opening {
			b.WriteByte('\n')
		}
		i += lineEnd(s[i:]) - 1
	}
	return b.String()
}

// unescape replaces escapes by the bytes that they stand for.
func unescape(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c != '\\' || i+1 == len(s) {
			b.WriteByte(c)
			continue
		}
		i++
		if at := strings.IndexByte("abfnrtv", s[i]); at >= 0 {
			b.WriteByte("\a\b\f\n\r\t\v"[at])
		} else if n := lineEnd(s[i:]); n > 0 {
			b.WriteByte('\n')
			i += n - 1
		} else if isDigit(s[i]) {
			value, n, _ := decimalEscape(s[i:])
			b.WriteByte(value)
			i += n - 1
		} else {
			b.WriteByte(s[i])
		}
	}
	return b.String()
}

// refuse stops the lexer with PUC Lua's message.
func (l *lexer) refuse(message, near string) {
	panic(&refusal{message: message, near: near, line: l.line, start: l.start, from: l.from})
}

// rescue makes a *SyntaxError of a refusal that the lexer or parser panicked with.
func (l *lexer) rescue(name string, err *error) {
	switch r := recover().(type) {
	case nil:
	case *refusal:
		*err = r.syntaxError(name, l.source)
	default:
		panic(r)
	}
}

// A refusal is what a lexer or parser ends with: the message, the line that
// was reached, and where the token begins.
type refusal struct {
	message, near     string
	line, start, from int
}

// lineEnds counts the line ends in s, and returns the place after the last.
func lineEnds(s string) (n, last int) {
	for i := 0; i < len(s); i++ {
		if length := lineEnd(s[i:]); length > 0 {
			i += length - 1
			n++
			last = i + 1
		}
	}
	return n, last
}

// lineEnd returns the length of the line end that s begins with, or 0: LF, CR,
// or the two in any order.
func lineEnd(s string) int {
	switch {
	case s[0] != '\n' && s[0] != '\r':
		return 0
	case len(s) > 1 && s[0] != s[1] && (s[1] == '\n' || s[1] == '\r'):
		return 2
	}
	return 1
}

func wordLength(s string) int {
	n := 1
	for n < len(s) && (s[n] == '_' || isAlpha(s[n]) || isDigit(s[n])) {
		n++
	}
	return n
}
