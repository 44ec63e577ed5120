package text

import (
	"strconv"
	"strings"

	"scripter/script"
)

// delimiter returns argument 2, which must not be empty.
func delimiter(v *script.Call) string {
	sep := v.String(2)
	if sep == "" {
		v.Bad(2, "the delimiter is empty")
	}
	return sep
}

func nthField(v *script.Call) error {
	s, sep, n := v.String(1), delimiter(v), v.Int(3)
	if n < 1 {
		v.Bad(3, "fields count from 1")
	}
	for ; n > 1; n-- {
		_, rest, ok := strings.Cut(s, sep)
		if !ok {
			v.Return("")
			return nil
		}
		s = rest
	}
	s, _, _ = strings.Cut(s, sep)
	v.Return(s)
	return nil
}

// addCommas returns a number with commas between its thousands.
func addCommas(n float64) string {
	s := strconv.FormatFloat(n, 'f', -1, 64)
	whole, fraction, _ := strings.Cut(s, ".")
	sign := ""
	if strings.HasPrefix(whole, "-") {
		sign, whole = "-", whole[1:]
	}
	var b strings.Builder
	b.WriteString(sign)
	for i := 0; i < len(whole); i++ {
		if i > 0 && (len(whole)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteByte(whole[i])
	}
	if fraction != "" {
		b.WriteString("." + fraction)
	}
	return b.String()
}
