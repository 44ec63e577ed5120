package script

import (
	"errors"
	"math"
	"time"

	"scripter/lua"
	"scripter/objectdb"
)

// dateMeta is the metatable of dates.
var dateMeta = lua.NewMetatable()

func init() {
	lua.Define(dateMeta, map[string]lua.LGFunction{
		"__tostring": markedToString,
		"__concat":   markedConcat,
		"__eq":       markedEq,
		"__lt":       dateLt,
		"__le":       dateLe,
		"__add":      dateAdd,
		"__sub":      dateSub,
		"__index":    dateIndex,
		"__newindex": markedNewIndex,
	})
}

// dateIndex is date.year and so on: the fields of os.date ("!*t"), and nsec
// and unix.
func dateIndex(L *lua.LState) int {
	d := selfMarked[objectdb.Date](L).Time
	v := lua.LNil
	switch L.Get(2).String() {
	case "year":
		v = lua.LNumber(d.Year())
	case "month":
		v = lua.LNumber(d.Month())
	case "day":
		v = lua.LNumber(d.Day())
	case "hour":
		v = lua.LNumber(d.Hour())
	case "min":
		v = lua.LNumber(d.Minute())
	case "sec":
		v = lua.LNumber(d.Second())
	case "nsec":
		v = lua.LNumber(d.Nanosecond())
	case "wday":
		v = lua.LNumber(d.Weekday() + 1)
	case "yday":
		v = lua.LNumber(d.YearDay())
	case "unix":
		v = lua.LNumber(unixSeconds(d))
	}
	L.Push(v)
	return 1
}

// unixSeconds returns the seconds since 1970, fractions included.
func unixSeconds(d time.Time) float64 {
	return float64(d.Unix()) + float64(d.Nanosecond())/1e9
}

// fromUnix is the inverse of unixSeconds, as exact as a number can be: to the
// microsecond in our time.
func fromUnix(s float64) (objectdb.Date, error) {
	whole, part := math.Modf(s)
	if math.IsNaN(s) || math.Abs(whole) > 1<<40 {
		return objectdb.Date{}, errors.New("time is out of range")
	}
	return objectdb.Date{Time: time.Unix(int64(whole), int64(math.Round(part*1e6))*1e3).UTC()}, nil
}

func dates(L *lua.LState) (a, b time.Time) {
	x, okX := markedValue(L.Get(1)).(objectdb.Date)
	y, okY := markedValue(L.Get(2)).(objectdb.Date)
	if !okX || !okY {
		t := threadOf(L)
		t.fail(L, "attempt to compare %s with %s", kindName(t.fromLua(L.Get(1))), kindName(t.fromLua(L.Get(2))))
	}
	return x.Time, y.Time
}

func dateLt(L *lua.LState) int {
	a, b := dates(L)
	L.Push(lua.LBool(a.Before(b)))
	return 1
}

func dateLe(L *lua.LState) int {
	a, b := dates(L)
	L.Push(lua.LBool(!b.Before(a)))
	return 1
}

// dateAdd is date + seconds or seconds + date.
func dateAdd(L *lua.LState) int {
	d, ok := markedValue(L.Get(1)).(objectdb.Date)
	n, okN := L.Get(2).(lua.LNumber)
	if !ok {
		d, ok = markedValue(L.Get(2)).(objectdb.Date)
		n, okN = L.Get(1).(lua.LNumber)
	}
	if !ok || !okN {
		threadOf(L).fail(L, "a date can only be added to a number of seconds")
	}
	L.Push(marked(shift(L, d, float64(n))))
	return 1
}

// dateSub is date - seconds, a date, and date - date, seconds.
func dateSub(L *lua.LState) int {
	d, ok := markedValue(L.Get(1)).(objectdb.Date)
	if !ok {
		threadOf(L).fail(L, "a date cannot be subtracted from a %s", L.Get(1).Type())
	}
	if other, ok := markedValue(L.Get(2)).(objectdb.Date); ok {
		seconds := d.Unix() - other.Unix()
		L.Push(lua.LNumber(float64(seconds) + float64(d.Nanosecond()-other.Nanosecond())/1e9))
		return 1
	}
	n, ok := L.Get(2).(lua.LNumber)
	if !ok {
		threadOf(L).fail(L, "only a date or a number of seconds can be subtracted from a date")
	}
	L.Push(marked(shift(L, d, -float64(n))))
	return 1
}

func shift(L *lua.LState, d objectdb.Date, seconds float64) objectdb.Date {
	whole, part := math.Modf(seconds)
	if math.IsNaN(seconds) || math.Abs(whole) > 1<<40 {
		threadOf(L).fail(L, "time is out of range")
	}
	sum := time.Unix(d.Unix()+int64(whole), int64(d.Nanosecond())+int64(math.Round(part*1e9)))
	return objectdb.Date{Time: sum.UTC()}
}

// dateLayouts are the forms of a date that odb.date reads, all in UTC unless
// the text says otherwise.
var dateLayouts = []string{
	time.RFC3339Nano,
	dateLayout,
	"2006-01-02T15:04:05",
	"2006-01-02 15:04",
	"2006-01-02",
	time.RFC1123, // RFC 9110, 5.6.7: the date of a header field
}

func odbDate(L *lua.LState) int {
	var d objectdb.Date
	switch v := L.Get(1).(type) {
	case *lua.LNilType:
		d = objectdb.Date{Time: threadOf(L).Now().UTC()}
	case lua.LNumber:
		var err error
		if d, err = fromUnix(float64(v)); err != nil {
			lua.ArgumentError(L, 1, err.Error())
		}
	case lua.LString:
		d = parseDate(L, string(v))
	case *lua.LTable:
		settle(L, v)
		d = dateOfFields(L, v)
	default:
		if md, ok := markedValue(v).(objectdb.Date); ok {
			d = md
			break
		}
		lua.ArgumentError(L, 1, "number, string or table expected, got "+kindName(threadOf(L).fromLua(v)))
	}
	if y := d.UTC().Year(); y < 0 || y > 9999 {
		lua.ArgumentError(L, 1, "the year is not in 0 to 9999")
	}
	L.Push(marked(d))
	return 1
}

func parseDate(L *lua.LState, s string) objectdb.Date {
	for _, layout := range dateLayouts {
		if when, err := time.Parse(layout, s); err == nil {
			return objectdb.Date{Time: when.UTC()}
		}
	}
	lua.ArgumentError(L, 1, quote(s)+` is no date: write "2006-01-02 15:04:05"`)
	return objectdb.Date{}
}

// dateOfFields reads the fields that date.year and the others give. As in
// os.time, the hour is 12 if it is missing, and fields may run over.
func dateOfFields(L *lua.LState, tb *lua.LTable) objectdb.Date {
	field := func(name string, missing int) int {
		switch v := lua.RawGet(tb, lua.LString(name)).(type) {
		case lua.LNumber:
			if v >= -1<<31 && v <= 1<<31 {
				return int(v)
			}
			lua.ArgumentError(L, 1, "field '"+name+"' is out of range")
		case *lua.LNilType:
			if missing < 0 {
				lua.ArgumentError(L, 1, "field '"+name+"' is missing")
			}
			return missing
		default:
			lua.ArgumentError(L, 1, "field '"+name+"' must be a number")
		}
		return 0
	}
	return objectdb.Date{Time: time.Date(field("year", -1), time.Month(field("month", -1)), field("day", -1),
		field("hour", 12), field("min", 0), field("sec", 0), field("nsec", 0), time.UTC)}
}
