// Package date has the verbs that write and read dates and that count by the calendar. Scripts make dates
// with clock.now and odb.date, and read their parts as fields.
package date

import (
	"fmt"
	"slices"
	"time"
	_ "time/tzdata" // time zones, for machines without them

	"scripter/httpheader"
	"scripter/lua"
	"scripter/objectdb"
	"scripter/script"
)

// Verbs are the verbs of the group.
var Verbs = slices.Concat(texts, calendar)

// texts are the verbs that write and read dates.
var texts = []script.Verb{
	{
		Name: "date.format",
		Doc:  `The date by a format of strftime, such as "%d %B %Y, %H:%M", in a zone such as "Europe/Paris".`,
		Params: []script.Param{
			script.Arg("date", "date", ""),
			script.Arg("format", "string", "at most 4096 bytes"),
			script.Opt("zone", "string", `"UTC"`, `a name of the IANA data base, such as "Europe/Paris"`),
		},
		Results: script.Returns("string", ""),
		Errors:  "a zone that is not known",
		Example: `date.format (odb.date ("2026-01-31T18:30:00Z"), "%d %B %Y, %H:%M", "Europe/Paris")`,
		Gives:   "31 January 2026, 19:30",
		Page:    true,
		Func:    format,
	},
	{
		Name:    "date.http",
		Doc:     "The date as header fields have it (RFC 9110, 5.6.7).",
		Params:  []script.Param{script.Arg("date", "date", "")},
		Results: script.Returns("string", ""),
		Example: `date.http (odb.date ("1994-11-06T08:49:37Z"))`,
		Gives:   "Sun, 06 Nov 1994 08:49:37 GMT",
		Page:    true,
		Func: func(v *script.Call) error {
			v.Return(httpheader.FormatDate(dateArg(v, 1)))
			return nil
		},
	},
	{
		Name:    "date.parseHttp",
		Doc:     "The date of a header field, in any of HTTP's three forms, or nil.",
		Params:  []script.Param{script.Arg("text", "string", "")},
		Results: script.Returns("date|nil", "nil when the text is no such date"),
		Example: `date.parseHttp ("Sunday, 06-Nov-94 08:49:37 GMT")`,
		Gives:   "1994-11-06 08:49:37",
		Page:    true,
		Func: func(v *script.Call) error {
			t, err := httpheader.ParseDate(v.String(1))
			if err != nil {
				v.Return(nil)
				return nil
			}
			v.Return(objectdb.Date{Time: t.UTC()})
			return nil
		},
	},
	{
		Name: "date.rfc3339",
		Doc:  `The date as RFC 3339 has it, such as "2026-01-31T18:30:00Z".`,
		Params: []script.Param{
			script.Arg("date", "date", ""),
			script.Opt("zone", "string", `"UTC"`, `a name of the IANA data base, such as "Europe/Paris"`),
		},
		Results: script.Returns("string", ""),
		Errors:  "a zone that is not known",
		Example: `date.rfc3339 (odb.date ("2026-07-31T18:30:00Z"), "Europe/Paris")`,
		Gives:   "2026-07-31T20:30:00+02:00",
		Page:    true,
		Func: func(v *script.Call) error {
			t, err := inZone(dateArg(v, 1), v.OptString(2, "UTC"))
			v.Return(t.Format(time.RFC3339Nano))
			return err
		},
	},
	{
		Name: "date.parse",
		Doc: `The date of a text such as "2026-01-31T18:30:00Z", "2026-01-31 18:30:00", "2026-01-31 ` +
			`18:30" or "2026-01-31", or nil. With a format of strftime, the date of a text in that form: "31.1.2026" ` +
			`by "%d.%m.%Y". A text without a zone is meant in the zone.`,
		Params: []script.Param{
			script.Arg("text", "string", ""),
			script.Opt("zone", "string", `"UTC"`, `a name of the IANA data base, such as "Europe/Paris"`),
			script.Opt("format", "string", "", "%Y %m %d %H %M %S %y %b %B %a %A %I %p %j %e %F %T %R %z %Z and %%; a "+
				"blank stands for any number of them"),
		},
		Results: script.Returns("date|nil", "nil when the text has none of these forms"),
		Errors:  "a zone that is not known; a format with other conversions",
		Example: `date.parse ("2026-01-31 18:30", "America/New_York")`,
		Gives:   "2026-01-31 23:30:00",
		Page:    true,
		Func:    parse,
	},
}

// dateArg returns argument i, a date.
func dateArg(v *script.Call, i int) time.Time {
	d, ok := v.Value(i).(objectdb.Date)
	if !ok {
		v.Bad(i, "date expected")
	}
	return d.Time
}

// inZone returns the time in a time zone.
func inZone(t time.Time, zone string) (time.Time, error) {
	l, err := Location(zone)
	return t.In(l), err
}

// Location returns a time zone. It refuses "Local", which differs between machines.
func Location(zone string) (*time.Location, error) {
	if zone != "" && zone != "Local" {
		if l, err := time.LoadLocation(zone); err == nil {
			return l, nil
		}
	}
	return time.UTC, fmt.Errorf("there is no zone %.40q", zone)
}

// maxFormat bounds a format, in bytes.
const maxFormat = 4096

func format(v *script.Call) error {
	t, err := inZone(dateArg(v, 1), v.OptString(3, "UTC"))
	if err != nil {
		return err
	}
	layout := v.String(2)
	if len(layout) > maxFormat {
		v.Bad(2, "a format has at most %d bytes", maxFormat)
	}
	v.Return(lua.FormatDate(t, layout))
	return nil
}

// layouts are the forms of a date that date.parse reads.
var layouts = []string{
	time.RFC3339Nano, "2006-01-02 15:04:05", "2006-01-02T15:04:05", "2006-01-02 15:04", "2006-01-02T15:04",
	"2006-01-02",
}

func parse(v *script.Call) error {
	l, err := Location(v.OptString(2, "UTC"))
	if err != nil {
		return err
	}
	if v.NArgs() > 2 && v.Value(3) != nil {
		return parseFormat(v, l)
	}
	for _, layout := range layouts {
		if t, err := time.ParseInLocation(layout, v.String(1), l); err == nil {
			v.Return(objectdb.Date{Time: t.UTC()})
			return nil
		}
	}
	v.Return(nil)
	return nil
}
