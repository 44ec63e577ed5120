package lua

import (
	"math"
	"strconv"
	"strings"
)

// NumberText returns the text of a number as Lua writes it: with printf's %.14g.
func NumberText(f float64) string {
	var room [32]byte
	return string(appendNumber(room[:0], f))
}

// appendNumber appends the text of f to dst.
func appendNumber(dst []byte, f float64) []byte {
	if i := int64(f); float64(i) == f && -1e14 < f && f < 1e14 && (i != 0 || !math.Signbit(f)) {
		return strconv.AppendInt(dst, i, 10)
	}
	if s := specialText(f); s != "" {
		return append(dst, s...)
	}
	return strconv.AppendFloat(dst, f, 'g', 14, 64)
}

// specialText returns what the C library prints for a number that is not finite, ""
// for others.
func specialText(f float64) string {
	switch {
	case math.IsInf(f, 1):
		return "inf"
	case math.IsInf(f, -1):
		return "-inf"
	case f != f && math.Signbit(f):
		return "-nan"
	case f != f:
		return "nan"
	}
	return ""
}

// ParseNumber reads a number as Lua does (luaO_str2d). It accepts what C's strtod
// accepts, hexadecimal numbers included, with white space around it.
func ParseNumber(s string) (float64, bool) {
	s = trimSpace(s)
	if strings.ContainsAny(s, "_\x00") {
		return 0, false
	}
	digits := strings.TrimLeft(s, "+-")
	if len(s)-len(digits) > 1 {
		return 0, false
	}
	if len(digits) > 1 && digits[0] == '0' && digits[1]|0x20 == 'x' && !strings.ContainsAny(digits, "pP") {
		s += "p0"
	}
	f, err := strconv.ParseFloat(s, 64)
	if e, ok := err.(*strconv.NumError); ok && e.Err == strconv.ErrRange {
		err = nil // infinity, as strtod
	}
	return f, err == nil
}

// parseInBase reads an integer as C's strtoul does. A sign may stand in front, and for
// base 16 a prefix 0x. A number that is too large becomes the largest one.
func parseInBase(s string, base int) (float64, bool) {
	s = trimSpace(s)
	negative := false
	if s != "" && (s[0] == '-' || s[0] == '+') {
		negative = s[0] == '-'
		s = s[1:]
	}
	if base == 16 && len(s) > 2 && s[0] == '0' && s[1]|0x20 == 'x' {
		s = s[2:]
	}
	if s == "" || s[0] == '-' || s[0] == '+' || strings.IndexByte(s, '_') >= 0 {
		return 0, false
	}
	u, err := strconv.ParseUint(s, base, 64)
	if e, ok := err.(*strconv.NumError); ok && e.Err == strconv.ErrRange {
		return math.MaxUint64, true
	}
	if err != nil {
		return 0, false
	}
	if negative {
		u = -u
	}
	return float64(u), true
}
