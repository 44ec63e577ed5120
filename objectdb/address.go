package objectdb

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// An Address is the way to an object: names, outermost first. The empty
// Address is the root. It is a list of names, never a text to be split again:
// walk it name by name, and never make one by joining texts.
type Address []string

// ParseAddress reads the text form of an address, such as
//
//	user.webserver.prefs.["odd.name"]
//
// A name stands bare when it is made of letters, digits and "_", and in
// brackets and quotes otherwise, where \" is a quote, \\ a backslash, \n, \r and \t
// are what they are in Lua, and \xHH is a byte. The dot before a bracket may be
// left out. The empty text is the root. The error names the column, counted in
// characters from 1.
func ParseAddress(s string) (Address, error) {
	p := addressParser{text: s}
	a := Address{}
	for p.pos < len(s) {
		if len(a) > 0 && !p.accept('.') && s[p.pos] != '[' {
			return nil, p.fail(p.pos, "a dot is wanted here")
		}
		start := p.pos
		name, err := p.name()
		if err != nil {
			return nil, err
		}
		if err := CheckName(name); err != nil {
			return nil, p.fail(start, err.Error())
		}
		a = append(a, name)
	}
	return a, nil
}

type addressParser struct {
	text string
	pos  int
}

func (p *addressParser) accept(c byte) bool {
	if p.pos < len(p.text) && p.text[p.pos] == c {
		p.pos++
		return true
	}
	return false
}

func (p *addressParser) fail(pos int, why string) error {
	column := utf8.RuneCountInString(p.text[:pos]) + 1
	err := fmt.Errorf("%w: %q, column %d: %s", ErrName, p.text, column, why)
	return &Error{Op: "parse address", Err: err}
}

func (p *addressParser) name() (string, error) {
	if !p.accept('[') {
		return p.bare()
	}
	if !p.accept('"') {
		return "", p.fail(p.pos, `a quote is wanted after "["`)
	}
	name, err := p.quoted()
	if err != nil {
		return "", err
	}
	if !p.accept(']') {
		return "", p.fail(p.pos, `"]" is wanted after the quoted name`)
	}
	return name, nil
}

func (p *addressParser) bare() (string, error) {
	start := p.pos
	for p.pos < len(p.text) {
		r, n := utf8.DecodeRuneInString(p.text[p.pos:])
		if !isBare(r) {
			break
		}
		p.pos += n
	}
	if p.pos == start {
		if p.pos == len(p.text) || p.text[p.pos] == '.' {
			return "", p.fail(p.pos, "a name is wanted here")
		}
		return "", p.fail(p.pos, `a name with this character is written in brackets and quotes, as in a.["odd name"]`)
	}
	return p.text[start:p.pos], nil
}

func isBare(r rune) bool {
	return r == '_' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' ||
		r >= utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r))
}

func (p *addressParser) quoted() (string, error) {
	var b strings.Builder
	for p.pos < len(p.text) {
		c := p.text[p.pos]
		p.pos++
		switch c {
		case '"':
			return b.String(), nil
		case '\\':
			escaped, err := p.escape()
			if err != nil {
				return "", err
			}
			b.WriteByte(escaped)
		default:
			b.WriteByte(c)
		}
	}
	return "", p.fail(p.pos, "the quoted name does not end")
}

// escape reads what follows a backslash.
func (p *addressParser) escape() (byte, error) {
	start := p.pos - 1
	if p.pos == len(p.text) {
		return 0, p.fail(start, "the quoted name does not end")
	}
	c := p.text[p.pos]
	p.pos++
	switch c {
	case '"', '\\':
		return c, nil
	case 'n':
		return '\n', nil
	case 'r':
		return '\r', nil
	case 't':
		return '\t', nil
	case 'x':
		if p.pos+2 <= len(p.text) {
			if b, ok := unhex(p.text[p.pos], p.text[p.pos+1]); ok {
				p.pos += 2
				return b, nil
			}
		}
		return 0, p.fail(start, `\x wants two hexadecimal digits`)
	}
	return 0, p.fail(start, `this escape is not known; the escapes are \" \\ \n \r \t \xHH`)
}

func unhex(hi, lo byte) (byte, bool) {
	h, l := strings.IndexByte(hexDigits, upper(hi)), strings.IndexByte(hexDigits, upper(lo))
	return byte(h<<4 | l), h >= 0 && l >= 0
}

const hexDigits = "0123456789ABCDEF"

func upper(c byte) byte {
	if 'a' <= c && c <= 'z' {
		return c - 'a' + 'A'
	}
	return c
}

// String returns the text form: ParseAddress reads the same names from it.
func (a Address) String() string {
	if len(a) == 1 && plainName(a[0]) {
		return a[0]
	}
	var b []byte
	for i, name := range a {
		if i > 0 {
			b = append(b, '.')
		}
		if plainName(name) {
			b = append(b, name...)
		} else {
			b = appendQuotedName(b, name)
		}
	}
	return string(b)
}

func plainName(name string) bool {
	for _, r := range name {
		if !isBare(r) {
			return false
		}
	}
	return name != ""
}

func appendQuotedName(b []byte, name string) []byte {
	b = append(b, `["`...)
	for i := 0; i < len(name); i++ {
		switch c := name[i]; {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c == '\n':
			b = append(b, `\n`...)
		case c == '\r':
			b = append(b, `\r`...)
		case c == '\t':
			b = append(b, `\t`...)
		case c < ' ' || c == 0x7f:
			b = append(b, '\\', 'x', hexDigits[c>>4], hexDigits[c&15])
		default:
			b = append(b, c)
		}
	}
	return append(b, `"]`...)
}

// Child returns the address of name in the table at a. It never shares memory with a.
func (a Address) Child(name string) Address {
	child := make(Address, len(a)+1)
	copy(child, a)
	child[len(a)] = name
	return child
}

// Parent returns the address of the table that a is in; the root's is the root.
func (a Address) Parent() Address {
	if len(a) == 0 {
		return Address{}
	}
	return slices.Clone(a[:len(a)-1])
}

// Name returns the last name of a; the root's is "".
func (a Address) Name() string {
	if len(a) == 0 {
		return ""
	}
	return a[len(a)-1]
}

// Equal reports whether a and b lead to the same place: whether their names are
// the same without regard to case.
func (a Address) Equal(b Address) bool {
	return slices.EqualFunc(a, b, sameName)
}

func sameName(a, b string) bool { return a == b || Fold(a) == Fold(b) }

// hasPrefix reports whether a is p or lies below it.
func (a Address) hasPrefix(p Address) bool {
	return len(a) >= len(p) && a[:len(p)].Equal(p)
}
