package lua

import (
	"fmt"
	"strconv"
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// stringFormat is string.format (format, ...): C's printf without '*', and %q.
func stringFormat(L *lua.LState) int {
	f := CheckString(L, 1)
	out := &text{L: L}
	arg := 1
	for {
		i := strings.IndexByte(f, '%')
		if i < 0 {
			out.add(f)
			break
		}
		out.add(f[:i])
		f = f[i+1:]
		if strings.HasPrefix(f, "%") {
			out.add("%")
			f = f[1:]
			continue
		}
		if arg++; arg > L.GetTop() {
			ArgumentError(L, arg, "no value")
		}
		spec, verb, rest := splitSpec(L, f)
		f = rest
		formatOne(L, out, spec, verb, arg)
	}
	L.Push(lua.LString(out.String()))
	return 1
}

// A spec is the part of a conversion between '%' and the letter.
type spec struct {
	flags     string
	width     int
	precision int // -1 for none
}

// splitSpec reads a conversion, as scanformat in lstrlib.c does.
func splitSpec(L *lua.LState, f string) (s spec, verb byte, rest string) {
	n := len(f) - len(strings.TrimLeft(f, "-+ #0"))
	if n > 5 {
		fail(L, "invalid format (repeated flags)")
	}
	s.flags, f = f[:n], f[n:]
	s.width, f = twoDigits(f)
	s.precision = -1
	if strings.HasPrefix(f, ".") {
		s.precision, f = twoDigits(f[1:])
	}
	if f != "" && isDigit(f[0]) {
		fail(L, "invalid format (width or precision too long)")
	}
	if f == "" {
		return s, 0, ""
	}
	return s, f[0], f[1:]
}

func twoDigits(f string) (int, string) {
	n := 0
	for n < 2 && n < len(f) && isDigit(f[n]) {
		n++
	}
	v, _ := strconv.Atoi(f[:n])
	return v, f[n:]
}

// verb returns the conversion as fmt wants it.
func (s spec) verb(letter byte) string {
	var b strings.Builder
	b.WriteByte('%')
	b.WriteString(s.flags)
	if s.width > 0 {
		b.WriteString(strconv.Itoa(s.width))
	}
	if s.precision >= 0 {
		b.WriteByte('.')
		b.WriteString(strconv.Itoa(s.precision))
	}
	b.WriteByte(letter)
	return b.String()
}

func (s spec) plain() bool { return s.flags == "" && s.width == 0 && s.precision < 0 }

func formatOne(L *lua.LState, out *text, s spec, verb byte, arg int) {
	switch verb {
	case 'c':
		out.add(pad(s, string([]byte{byte(CheckInt(L, arg))})))
	case 'd', 'i':
		n := CheckInt(L, arg)
		if s.plain() {
			out.add(strconv.Itoa(n))
		} else {
			out.add(s.integer('d', n < 0, magnitude(n)))
		}
	case 'u', 'o', 'x', 'X':
		out.add(s.integer(verb, false, toUnsigned(checkNumber(L, arg))))
	case 'e', 'E', 'f', 'g', 'G':
		out.add(formatFloat(s, verb, checkNumber(L, arg)))
	case 'q':
		quoteLua(out, CheckString(L, arg))
	case 's':
		t := CheckString(L, arg)
		if s.precision >= 0 && s.precision < len(t) {
			t = t[:s.precision]
		}
		out.add(pad(s, t))
	default:
		option := ""
		if verb != 0 {
			option = string([]byte{verb})
		}
		fail(L, "invalid option '%%%s' to 'format'", option)
	}
}

func (s spec) has(flag string) bool { return strings.Contains(s.flags, flag) }

// integer writes an integer as printf does: sign or prefix, zeros, digits.
func (s spec) integer(verb byte, negative bool, n uint64) string {
	base, front := 10, ""
	switch {
	case verb == 'o':
		base = 8
	case verb == 'x' || verb == 'X':
		base = 16
	case verb == 'u':
	case negative:
		front = "-"
	case s.has("+"):
		front = "+"
	case s.has(" "):
		front = " "
	}
	digits := strconv.FormatUint(n, base)
	if n == 0 && s.precision == 0 {
		digits = ""
	}
	zeros := s.precision - len(digits)
	if s.has("#") && base == 16 && n != 0 {
		front = "0x"
	}
	if s.has("#") && base == 8 && zeros < 1 && !strings.HasPrefix(digits, "0") {
		zeros = 1
	}
	if s.precision < 0 && s.has("0") && !s.has("-") {
		zeros = max(zeros, s.width-len(front)-len(digits))
	}
	t := front + strings.Repeat("0", max(0, zeros)) + digits
	if verb == 'X' {
		t = strings.ToUpper(t)
	}
	return pad(s, t)
}

func magnitude(n int) uint64 {
	if n < 0 {
		return -uint64(n)
	}
	return uint64(n)
}

func toUnsigned(f float64) uint64 {
	if f >= 1<<63 {
		return uint64(f)
	}
	return uint64(toInt(f))
}

// formatFloat formats f as C does: with six digits if there is no precision, and
// infinity and NaN as words.
func formatFloat(s spec, verb byte, f float64) string {
	if special := specialText(f); special != "" {
		if verb < 'a' {
			special = strings.ToUpper(special)
		}
		s.precision = -1
		if special[0] != '-' {
			switch {
			case s.has("+"):
				special = "+" + special
			case s.has(" "):
				special = " " + special
			}
		}
		return pad(s, special)
	}
	if s.precision < 0 {
		s.precision = 6
	}
	if s.precision == 0 && verb|0x20 == 'g' {
		s.precision = 1
	}
	if s.flags == "" && s.width == 0 {
		return strconv.FormatFloat(f, verb, s.precision, 64)
	}
	if s.has("-") {
		s.flags = strings.ReplaceAll(s.flags, "0", "")
	}
	return fmt.Sprintf(s.verb(verb), f)
}

// pad fills t up with spaces to the width.
func pad(s spec, t string) string {
	n := s.width - len(t)
	if n <= 0 {
		return t
	}
	if s.has("-") {
		return t + strings.Repeat(" ", n)
	}
	return strings.Repeat(" ", n) + t
}

// quoteLua is %q: a string literal that Lua reads back as the same string.
func quoteLua(out *text, s string) {
	out.add(`"`)
	for {
		i := strings.IndexAny(s, "\"\\\n\r\x00")
		if i < 0 {
			break
		}
		out.add(s[:i])
		switch c := s[i]; c {
		case '\r':
			out.add(`\r`)
		case 0:
			out.add(`\000`)
		default:
			out.add("\\" + string(rune(c)))
		}
		s = s[i+1:]
	}
	out.add(s)
	out.add(`"`)
}
