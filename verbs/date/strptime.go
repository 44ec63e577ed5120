package date

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"scripter/objectdb"
	"scripter/script"
)

// parseFormat is date.parse with a format.
func parseFormat(v *script.Call, zone *time.Location) error {
	format := v.String(3)
	if len(format) > maxFormat {
		v.Bad(3, "a format has at most %d bytes", maxFormat)
	}
	t, ok, err := strptime(v.String(1), format, zone)
	if err != nil {
		return err
	}
	if !ok {
		v.Return(nil)
		return nil
	}
	v.Return(objectdb.Date{Time: t.UTC()})
	return nil
}

// fields are what a text says of a date. What it does not say is 1 January 1970, 00:00.
type fields struct {
	text                             string // that is left
	year, month, day, hour, min, sec int
	yearDay                          int // 0 for none
	twelve, afternoon, zoned         bool
	offset                           int
}

// strptime returns the date of a text in a form of strftime, as C's function of that name. ok says whether
// the text has the form.
func strptime(text, format string, zone *time.Location) (t time.Time, ok bool, err error) {
	f := fields{text: text, year: 1970, month: 1, day: 1}
	for format != "" {
		c := format[0]
		format = format[1:]
		switch {
		case c == ' ' || c == '\t' || c == '\n':
			f.text = strings.TrimLeft(f.text, " \t\n")
		case c != '%':
			ok = f.literal(c)
			if !ok {
				return t, false, nil
			}
		case format == "":
			return t, false, fmt.Errorf("the format ends with %%")
		default:
			c, format = format[0], format[1:]
			if ok, err = f.conversion(c); !ok || err != nil {
				return t, false, err
			}
		}
	}
	if f.text != "" {
		return t, false, nil
	}
	return f.date(zone)
}

func (f *fields) literal(c byte) bool {
	if f.text == "" || f.text[0] != c {
		return false
	}
	f.text = f.text[1:]
	return true
}

// composed has the conversions that stand for several others.
var composed = map[byte]string{'F': "Y-m-d", 'T': "H:M:S", 'R': "H:M", 'D': "m/d/y"}

// conversion reads one conversion of a format.
func (f *fields) conversion(c byte) (bool, error) {
	if parts, ok := composed[c]; ok {
		for i := range len(parts) {
			ok := true
			if part := parts[i]; part >= 'A' {
				ok, _ = f.conversion(part)
			} else {
				ok = f.literal(part)
			}
			if !ok {
				return false, nil
			}
		}
		return true, nil
	}
	switch c {
	case 'Y':
		return f.number(&f.year, 4, 0, 9999), nil
	case 'm':
		return f.number(&f.month, 2, 1, 12), nil
	case 'd', 'e':
		f.text = strings.TrimLeft(f.text, " ")
		return f.number(&f.day, 2, 1, 31), nil
	case 'H':
		f.twelve = false
		return f.number(&f.hour, 2, 0, 23), nil
	case 'I':
		f.twelve = true
		return f.number(&f.hour, 2, 1, 12), nil
	case 'M':
		return f.number(&f.min, 2, 0, 59), nil
	case 'S':
		return f.number(&f.sec, 2, 0, 60), nil
	case 'j':
		return f.number(&f.yearDay, 3, 1, 366), nil
	case 'y':
		ok := f.number(&f.year, 2, 0, 99)
		if f.year < 69 { // as POSIX has it
			f.year += 2000
		} else if f.year < 100 {
			f.year += 1900
		}
		return ok, nil
	case 'b', 'B', 'h':
		return f.name(&f.month, 12, func(i int) string { return time.Month(i + 1).String() }), nil
	case 'a', 'A':
		var day int
		return f.name(&day, 7, func(i int) string { return time.Weekday(i).String() }), nil
	case 'p':
		if len(f.text) < 2 || !strings.EqualFold(f.text[1:2], "m") || !strings.ContainsAny(f.text[:1], "aApP") {
			return false, nil
		}
		f.afternoon, f.text = strings.EqualFold(f.text[:1], "p"), f.text[2:]
		return true, nil
	case 'z':
		return f.zone(), nil
	case 'Z':
		for _, name := range []string{"UTC", "GMT"} {
			if rest, ok := strings.CutPrefix(f.text, name); ok {
				f.text, f.zoned, f.offset = rest, true, 0
				return true, nil
			}
		}
		return false, nil
	case '%':
		return f.literal('%'), nil
	}
	return false, fmt.Errorf("the format has %%%s, which is not read", string(rune(c)))
}

// number reads a number of at most so many digits.
func (f *fields) number(to *int, digits, least, most int) bool {
	n := 0
	for n < digits && n < len(f.text) && f.text[n] >= '0' && f.text[n] <= '9' {
		n++
	}
	value, err := strconv.Atoi(f.text[:n])
	if err != nil || value < least || value > most {
		return false
	}
	*to, f.text = value, f.text[n:]
	return true
}

// name reads one of count names or the first three letters of it, in any case, and stores its place.
func (f *fields) name(to *int, count int, nameOf func(int) string) bool {
	for i := range count {
		for _, name := range []string{nameOf(i), nameOf(i)[:3]} {
			if len(f.text) >= len(name) && strings.EqualFold(f.text[:len(name)], name) {
				*to, f.text = i+1, f.text[len(name):]
				return true
			}
		}
	}
	return false
}

// zone reads Z, +hhmm or +hh:mm.
func (f *fields) zone() bool {
	f.zoned = true
	if rest, ok := strings.CutPrefix(f.text, "Z"); ok {
		f.text, f.offset = rest, 0
		return true
	}
	sign := 1
	switch {
	case strings.HasPrefix(f.text, "-"):
		sign = -1
	case !strings.HasPrefix(f.text, "+"):
		return false
	}
	f.text = f.text[1:]
	var hours, minutes int
	if !f.number(&hours, 2, 0, 24) {
		return false
	}
	f.text = strings.TrimPrefix(f.text, ":")
	if !f.number(&minutes, 2, 0, 59) {
		return false
	}
	f.offset = sign * (hours*3600 + minutes*60)
	return true
}

// date returns the date, if there is a day with these numbers.
func (f *fields) date(zone *time.Location) (t time.Time, ok bool, err error) {
	if f.twelve {
		f.hour %= 12
	}
	if f.afternoon && f.hour < 12 {
		f.hour += 12
	}
	if f.zoned {
		zone = time.FixedZone("", f.offset)
	}
	if f.yearDay > 0 {
		first := time.Date(f.year, 1, f.yearDay, 0, 0, 0, 0, time.UTC)
		if first.Year() != f.year {
			return t, false, nil
		}
		f.month, f.day = int(first.Month()), first.Day()
	}
	if f.day > daysIn(f.year, time.Month(f.month)) {
		return t, false, nil
	}
	return time.Date(f.year, time.Month(f.month), f.day, f.hour, f.min, f.sec, 0, zone), true, nil
}
