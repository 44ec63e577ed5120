package date

import (
	"errors"
	"math"
	"time"

	"scripter/objectdb"
	"scripter/script"
)

const zoneDoc = `a name of the IANA data base, such as "Europe/Paris": the calendar and the clock of that place`

// calendar are the verbs that count by the calendar.
var calendar = []script.Verb{
	{
		Name: "date.add",
		Doc: "The date so many years, months, weeks, days, hours, minutes and seconds later, or earlier where a number " +
			"is negative. A month later than 31 January is the last day of February. Days and longer units keep the time " +
			"of the clock in the zone, also where summer time begins or ends in between.",
		Params: []script.Param{
			script.Arg("date", "date", ""),
			script.Arg("amounts", "table",
				"years, months, weeks, days, hours, minutes, seconds: whole numbers, those that matter"),
			script.Opt("zone", "string", `"UTC"`, zoneDoc),
		},
		Results: script.Returns("date", ""),
		Errors:  "a zone that is not known; a year that is not in 0 to 9999",
		Example: `date.add (odb.date ("2026-01-31"), {months = 1, days = 1})`,
		Gives:   "2026-03-01 00:00:00",
		Page:    true,
		Func:    add,
	},
	{
		Name: "date.difference",
		Doc: "How many whole units lie between two dates, by the calendar: the years of somebody's age, the days to an " +
			"event. It is negative where the second date is earlier.",
		Params: []script.Param{
			script.Arg("from", "date", ""),
			script.Arg("to", "date", ""),
			script.Arg("unit", "string", `"years", "months", "weeks", "days", "hours", "minutes" or "seconds"`),
			script.Opt("zone", "string", `"UTC"`, zoneDoc),
		},
		Results: script.Returns("integer", ""),
		Errors:  "a zone that is not known",
		Example: `date.difference (odb.date ("1815-12-10"), odb.date ("1852-11-27"), "years")`,
		Gives:   "36",
		Page:    true,
		Func:    difference,
	},
	{
		Name: "date.startOf",
		Doc:  "The first moment of the year, month, week, day, hour or minute in which the date lies. Weeks begin on Monday.",
		Params: []script.Param{
			script.Arg("date", "date", ""),
			script.Arg("unit", "string", `"year", "month", "week", "day", "hour" or "minute"`),
			script.Opt("zone", "string", `"UTC"`, zoneDoc),
		},
		Results: script.Returns("date", ""),
		Errors:  "a zone that is not known",
		Example: `date.startOf (odb.date ("2026-07-31 23:30"), "day", "Europe/Paris")`,
		Gives:   "2026-07-31 22:00:00",
		Page:    true,
		Func:    startOf,
	},
	{
		Name: "date.parts",
		Doc: "The parts of the date in a zone: year, month, day, hour, min, sec, nsec, wday (Sunday is 1), yday, as " +
			"dates have them in UTC; and weekday (Monday is 1), week and weekYear (ISO 8601), offset (seconds east of " +
			"UTC) and isdst.",
		Params: []script.Param{
			script.Arg("date", "date", ""),
			script.Opt("zone", "string", `"UTC"`, zoneDoc),
		},
		Results: script.Returns("table", ""),
		Errors:  "a zone that is not known",
		Example: `date.parts (odb.date ("2026-07-31T18:30:00Z"), "Asia/Tokyo").hour`,
		Gives:   "3",
		Func:    parts,
	},
	{
		Name: "date.of",
		Doc: "The date with these parts in a zone. Parts may run over: day 0 is the last day of the month before. An " +
			"hour that summer time leaves out is one hour later or earlier.",
		Params: []script.Param{
			script.Arg("parts", "table", "year, month, day; hour, min, sec and nsec are 0 if they are missing"),
			script.Opt("zone", "string", `"UTC"`, zoneDoc),
		},
		Results: script.Returns("date", ""),
		Errors:  "a zone that is not known; a year that is not in 0 to 9999",
		Example: `date.of ({year = 2026, month = 7, day = 31, hour = 9}, "America/New_York")`,
		Gives:   "2026-07-31 13:00:00",
		Func:    of,
	},
}

// maxAmount bounds an amount of any unit: more than all seconds of ten thousand years.
const maxAmount = 1 << 39

var errYear = errors.New("the year is not in 0 to 9999")

// give returns a date to the script.
func give(v *script.Call, t time.Time) error {
	t = t.UTC()
	if t.Year() < 0 || t.Year() > 9999 {
		return errYear
	}
	v.Return(objectdb.Date{Time: t})
	return nil
}

func add(v *script.Call) error {
	l, err := Location(v.OptString(3, "UTC"))
	if err != nil {
		return err
	}
	t := dateArg(v, 1).In(l)
	v.Table(2)
	o := v.Options(2, "years", "months", "weeks", "days", "hours", "minutes", "seconds")
	amount := func(name string) int { return o.Int(name, 0, -maxAmount, maxAmount) }
	years, months, days := amount("years"), amount("months"), amount("weeks")*7+amount("days")
	if max(years, -years) > 20_000 || max(months, -months) > 12*20_000 || max(days, -days) > 366*20_000 {
		return errYear
	}
	t = addDays(addMonths(t, 12*years+months), days)
	seconds := amount("hours")*3600 + amount("minutes")*60 + amount("seconds")
	return give(v, addSeconds(t, seconds))
}

// addMonths returns the same day and time so many months later, or the last day of that month if it has
// fewer days.
func addMonths(t time.Time, n int) time.Time {
	if n == 0 {
		return t
	}
	first := time.Date(t.Year(), t.Month()+time.Month(n), 1, 0, 0, 0, 0, time.UTC)
	day := min(t.Day(), daysIn(first.Year(), first.Month()))
	return at(t, first.Year(), first.Month(), day)
}

func addDays(t time.Time, n int) time.Time {
	if n == 0 { // at would lose which of two equal times of the clock it is
		return t
	}
	return at(t, t.Year(), t.Month(), t.Day()+n)
}

// at returns another day at the same time of the clock.
func at(t time.Time, year int, month time.Month, day int) time.Time {
	return time.Date(year, month, day, t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), t.Location())
}

// addSeconds adds seconds, which may be more than a time.Duration holds.
func addSeconds(t time.Time, n int) time.Time {
	return time.Unix(t.Unix()+int64(n), int64(t.Nanosecond()))
}

func daysIn(year int, month time.Month) int {
	return time.Date(year, month+1, 0, 0, 0, 0, 0, time.UTC).Day()
}

// seconds has the units that are always as long.
var seconds = map[string]int64{"hours": 3600, "minutes": 60, "seconds": 1}

func difference(v *script.Call) error {
	l, err := Location(v.OptString(4, "UTC"))
	if err != nil {
		return err
	}
	from, to, unit := dateArg(v, 1).In(l), dateArg(v, 2).In(l), v.String(3)
	sign := 1
	if to.Before(from) {
		from, to, sign = to, from, -1
	}
	var n int
	switch unit {
	case "years", "months":
		step := 1
		if unit == "years" {
			step = 12
		}
		n = (to.Year()-from.Year())*12 + int(to.Month()-from.Month())
		for n /= step; n > 0 && addMonths(from, n*step).After(to); {
			n--
		}
		n = max(n, 0)
	case "weeks", "days":
		n = dayNumber(to) - dayNumber(from)
		for n > 0 && addDays(from, n).After(to) {
			n--
		}
		if unit == "weeks" {
			n /= 7
		}
	default:
		length, ok := seconds[unit]
		if !ok {
			v.Bad(3, "%.40q is no unit: years, months, weeks, days, hours, minutes or seconds", unit)
		}
		whole := to.Unix() - from.Unix()
		if to.Nanosecond() < from.Nanosecond() {
			whole--
		}
		n = int(whole / length)
	}
	v.Return(float64(sign * n))
	return nil
}

// dayNumber returns the number of a day, in the zone of t.
func dayNumber(t time.Time) int {
	return int(time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC).Unix() / 86400)
}

func startOf(v *script.Call) error {
	l, err := Location(v.OptString(3, "UTC"))
	if err != nil {
		return err
	}
	t, unit := dateArg(v, 1).In(l), v.String(2)
	year, month, day := t.Date()
	switch unit {
	case "year":
		month, day = 1, 1
	case "month":
		day = 1
	case "week":
		day -= (int(t.Weekday()) + 6) % 7
	case "day":
	case "hour", "minute":
		// Offsets of zones are whole minutes in our time; before, they had seconds.
		past := time.Duration(t.Second())*time.Second + time.Duration(t.Nanosecond())
		if unit == "hour" {
			past += time.Duration(t.Minute()) * time.Minute
		}
		return give(v, t.Add(-past))
	default:
		v.Bad(2, "%.40q is no unit: year, month, week, day, hour or minute", unit)
	}
	start := time.Date(year, month, day, 0, 0, 0, 0, l)
	if want := time.Date(year, month, day, 0, 0, 0, 0, time.UTC).Day(); start.Day() != want {
		start = start.Add(time.Hour) // summer time begins at midnight there
	}
	return give(v, start)
}

func parts(v *script.Call) error {
	t, err := inZone(dateArg(v, 1), v.OptString(2, "UTC"))
	if err != nil {
		return err
	}
	_, offset := t.Zone()
	weekYear, week := t.ISOWeek()
	p := script.NewTable()
	for _, c := range []struct {
		name  string
		value int
	}{
		{"year", t.Year()}, {"month", int(t.Month())}, {"day", t.Day()}, {"hour", t.Hour()}, {"min", t.Minute()},
		{"sec", t.Second()}, {"nsec", t.Nanosecond()}, {"wday", int(t.Weekday()) + 1}, {"yday", t.YearDay()},
		{"weekday", (int(t.Weekday())+6)%7 + 1}, {"week", week}, {"weekYear", weekYear}, {"offset", offset},
	} {
		p.Set(c.name, float64(c.value))
	}
	p.Set("isdst", t.IsDST())
	v.Return(p)
	return nil
}

func of(v *script.Call) error {
	l, err := Location(v.OptString(2, "UTC"))
	if err != nil {
		return err
	}
	t := v.Table(1)
	part := func(name string, missing float64) int {
		value := t.Get(name)
		if value == nil && !math.IsNaN(missing) {
			return int(missing)
		}
		n, ok := value.(float64)
		if !ok || n != math.Trunc(n) || math.Abs(n) > 1<<31 {
			v.Bad(1, "%s is missing, or no whole number", name)
		}
		return int(n)
	}
	need := math.NaN()
	year, month, day := part("year", need), part("month", need), part("day", need)
	hour, minute, sec, nsec := part("hour", 0), part("min", 0), part("sec", 0), part("nsec", 0)
	if year < 0 || year > 9999 {
		return errYear
	}
	return give(v, time.Date(year, time.Month(month), day, hour, minute, sec, nsec, l))
}
