package lua

import (
	"fmt"
	"math"
	"strings"
	"time"

	lua "github.com/yuin/gopher-lua"
)

var processStart = time.Now()

// greenwich is UTC under the name GMT, which C's strftime prints after gmtime.
var greenwich = time.FixedZone("GMT", 0)

// osClock is os.clock (): seconds since the process began, which scripts use to measure
// time.
func osClock(L *lua.LState) int {
	L.Push(lua.LNumber(Of(L).now().Sub(processStart).Seconds()))
	return 1
}

func osDifftime(L *lua.LState) int {
	from := toInt(optNumber(L, 2, 0))
	L.Push(lua.LNumber(toInt(checkNumber(L, 1)) - from))
	return 1
}

// osTime is os.time ([table]): seconds since 1970.
func osTime(L *lua.LState) int {
	if L.Get(1) == lua.LNil {
		L.Push(lua.LNumber(Of(L).now().Unix()))
		return 1
	}
	t := CheckTable(L, 1)
	field := func(name string, def int) int {
		v := t.RawGetString(name)
		f, ok := ToNumber(v)
		if !ok && def < 0 {
			fail(L, "field '%s' missing in date table", name)
		}
		if !ok {
			return def
		}
		return min(max(toInt(f), -1<<31), 1<<31-1)
	}
	sec, minute, hour := field("sec", 0), field("min", 0), field("hour", 12)
	day, month, year := field("day", -1), field("month", -1), field("year", -1)
	date := time.Date(year, time.Month(month), day, hour, minute, sec, 0, time.Local)
	if isdst := t.RawGetString("isdst"); isdst == lua.LTrue && !date.IsDST() {
		date = date.Add(-time.Hour)
	} else if isdst == lua.LFalse && date.IsDST() {
		date = date.Add(time.Hour)
	}
	L.Push(lua.LNumber(date.Unix()))
	return 1
}

// osDate is os.date ([format [, time]]), in the C locale.
func osDate(L *lua.LState) int {
	format := OptString(L, 1, "%c")
	seconds := math.Floor(optNumber(L, 2, float64(Of(L).now().Unix())))
	if math.Abs(seconds) > 1<<40 || seconds != seconds {
		L.Push(lua.LNil)
		return 1
	}
	t := time.Unix(int64(seconds), 0)
	if rest, utc := strings.CutPrefix(format, "!"); utc {
		t, format = t.In(greenwich), rest
	}
	if strings.HasPrefix(format, "*t") {
		L.Push(dateTable(L, t))
		return 1
	}
	out := &text{L: L}
	for {
		i := strings.IndexByte(format, '%')
		if i < 0 || i == len(format)-1 {
			out.add(format)
			break
		}
		out.add(format[:i])
		out.add(dateField(t, format[i+1]))
		format = format[i+2:]
	}
	L.Push(lua.LString(out.String()))
	return 1
}

func dateTable(L *lua.LState, t time.Time) *lua.LTable {
	d := L.CreateTable(0, 9)
	for name, n := range map[string]int{
		"sec": t.Second(), "min": t.Minute(), "hour": t.Hour(), "day": t.Day(), "month": int(t.Month()),
		"year": t.Year(), "wday": int(t.Weekday()) + 1, "yday": t.YearDay(),
	} {
		d.RawSetString(name, lua.LNumber(n))
	}
	d.RawSetString("isdst", lua.LBool(t.IsDST()))
	return d
}

// goLayouts holds Go's layouts for the conversions of strftime that have one.
var goLayouts = map[byte]string{
	'a': "Mon", 'A': "Monday", 'b': "Jan", 'B': "January", 'c': "Mon Jan _2 15:04:05 2006", 'd': "02",
	'D': "01/02/06", 'e': "_2", 'F': "2006-01-02", 'h': "Jan", 'H': "15", 'I': "03", 'm': "01", 'M': "04", 'p': "PM",
	'r': "03:04:05 PM", 'R': "15:04", 'S': "05", 'T': "15:04:05", 'x': "01/02/06", 'X': "15:04:05",
	'y': "06", 'Y': "2006", 'z': "-0700", 'Z': "MST",
}

// dateField formats one conversion; an unknown one stays as it is.
func dateField(t time.Time, c byte) string {
	if layout, ok := goLayouts[c]; ok {
		return t.Format(layout)
	}
	weekday := int(t.Weekday())
	switch c {
	case 'C':
		return fmt.Sprintf("%02d", t.Year()/100)
	case 'j':
		return fmt.Sprintf("%03d", t.YearDay())
	case 'n':
		return "\n"
	case 's':
		return fmt.Sprint(t.Unix())
	case 't':
		return "\t"
	case 'u':
		return fmt.Sprint((weekday+6)%7 + 1)
	case 'U': // weeks begin on Sunday
		return fmt.Sprintf("%02d", (t.YearDay()+6-weekday)/7)
	case 'w':
		return fmt.Sprint(weekday)
	case 'W': // weeks begin on Monday
		return fmt.Sprintf("%02d", (t.YearDay()+6-(weekday+6)%7)/7)
	case 'G', 'V', 'g':
		year, week := t.ISOWeek()
		switch c {
		case 'G':
			return fmt.Sprint(year)
		case 'g':
			return fmt.Sprintf("%02d", year%100)
		}
		return fmt.Sprintf("%02d", week)
	case '%':
		return "%"
	}
	return "%" + string(rune(c))
}

// FormatDate formats a time as os.date does, in the time's own zone.
func FormatDate(t time.Time, format string) string {
	var b strings.Builder
	for {
		i := strings.IndexByte(format, '%')
		if i < 0 || i == len(format)-1 {
			b.WriteString(format)
			return b.String()
		}
		b.WriteString(format[:i])
		b.WriteString(dateField(t, format[i+1]))
		format = format[i+2:]
	}
}
