package httpform

import (
	"fmt"
	"strings"
)

// EachField calls add for each field of URL-encoded text: "&" separates fields, the
// first "=" separates name and value, "+" is a blank, %XX a byte. It returns a
// [LimitError] for more than most fields. If strict, it also returns an error for a
// percent sign without two hex digits, which it otherwise leaves unchanged.
func EachField(text string, most int64, strict bool, add func(name, value string)) error {
	if err := CheckFields(text, most); err != nil {
		return err
	}
	d := decoder{size: len(text)}
	for rest := text; rest != ""; {
		var field string
		field, rest, _ = strings.Cut(rest, "&")
		if field == "" {
			continue
		}
		name, value, _ := strings.Cut(field, "=")
		name, ok1 := d.decode(name, true)
		value, ok2 := d.decode(value, true)
		if strict && !(ok1 && ok2) {
			return fmt.Errorf("the form field %.60q has a percent sign without two hex digits", field)
		}
		add(name, value)
	}
	return nil
}

// CheckFields returns a [LimitError] for URL-encoded text of more than most fields.
func CheckFields(text string, most int64) error {
	if int64(len(text)) <= most || int64(strings.Count(text, "&")) < most {
		return nil
	}
	count := int64(0)
	for text != "" {
		var field string
		if field, text, _ = strings.Cut(text, "&"); field != "" {
			count++
		}
	}
	if count > most {
		return &LimitError{Most: most, what: "fields"}
	}
	return nil
}

// ReplaceValues returns URL-encoded text with the value of each field replaced by what
// replace returns for it. replace gets the decoded name and the encoded value, and
// returns an encoded one. Fields without "=" stay unchanged.
func ReplaceValues(text string, replace func(name, encoded string) string) string {
	fields := strings.Split(text, "&")
	for i, f := range fields {
		if name, value, ok := strings.Cut(f, "="); ok {
			plain, _ := Unescape(name, true)
			fields[i] = name + "=" + replace(plain, value)
		}
	}
	return strings.Join(fields, "&")
}

// Unescape decodes %XX, and "+" if plus is set. A percent sign without two hex digits
// stays unchanged, and ok is false.
func Unescape(s string, plus bool) (text string, ok bool) {
	d := decoder{size: len(s)}
	return d.decode(s, plus)
}

// decoder decodes texts of at most size bytes. Its buffer is used again for each of them.
type decoder struct {
	b    []byte // nil before the first text that changes
	size int
}

func (d *decoder) decode(s string, plus bool) (text string, ok bool) {
	i := 0
	for i < len(s) && s[i] != '%' && (s[i] != '+' || !plus) {
		i++
	}
	if i == len(s) {
		return s, true
	}
	if d.b == nil {
		d.b = make([]byte, d.size)
	}
	ok = true
	b := d.b
	n := copy(b, s[:i])
	for ; i < len(s); i++ {
		c := s[i]
		switch {
		case c == '+' && plus:
			c = ' '
		case c != '%':
		case i+2 < len(s) && hexDigit[s[i+1]] < 16 && hexDigit[s[i+2]] < 16:
			c = hexDigit[s[i+1]]<<4 | hexDigit[s[i+2]]
			i += 2
		default:
			ok = false
		}
		b[n] = c
		n++
	}
	return string(b[:n]), ok
}

// hexDigit holds the values of the hex digits, and 16 for every other character.
var hexDigit = func() (values [256]byte) {
	for c := range values {
		values[c] = 16
	}
	for n := range byte(10) {
		values['0'+n] = n
	}
	for n := range byte(6) {
		values['a'+n], values['A'+n] = 10+n, 10+n
	}
	return values
}()

// Escape appends s to dst as a name or value: letters, digits and "-._*" stay,
// a blank becomes "+", any other byte %XX.
func Escape(dst []byte, s string) []byte {
	const digits = "0123456789ABCDEF"
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("-._*", c) >= 0:
			dst = append(dst, c)
		case c == ' ':
			dst = append(dst, '+')
		default:
			dst = append(dst, '%', digits[c>>4], digits[c&15])
		}
	}
	return dst
}
