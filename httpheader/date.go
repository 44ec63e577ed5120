package httpheader

import (
	"fmt"
	"time"
)

// imfFixdate is the only form that is sent (RFC 9110, 5.6.7).
const imfFixdate = "Mon, 02 Jan 2006 15:04:05 GMT"

// FormatDate formats a time as HTTP does: Sun, 06 Nov 1994 08:49:37 GMT.
func FormatDate(t time.Time) string { return t.UTC().Format(imfFixdate) }

// ParseDate parses a date in any of the three forms of HTTP:
//
//	Sun, 06 Nov 1994 08:49:37 GMT
//	Sunday, 06-Nov-94 08:49:37 GMT
//	Sun Nov  6 08:49:37 1994
func ParseDate(s string) (time.Time, error) { return parseDate(s, time.Now()) }

func parseDate(s string, now time.Time) (time.Time, error) {
	if t, err := time.Parse(imfFixdate, s); err == nil {
		return t, nil
	}
	if t, err := time.Parse("Monday, 02-Jan-06 15:04:05 GMT", s); err == nil {
		return nearestCentury(t, now), nil
	}
	if t, err := time.Parse(time.ANSIC, s); err == nil {
		return t, nil
	}
	return time.Time{}, fmt.Errorf("%s is not a date such as %s", excerpt(s), imfFixdate)
}

// nearestCentury corrects the century of a year with two digits: a year more than 50
// years in the future means the latest past year with these digits (RFC 9110, 5.6.7).
func nearestCentury(t, now time.Time) time.Time {
	year := now.Year() - now.Year()%100 + t.Year()%100
	u := time.Date(year, t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), 0, time.UTC)
	if u.After(now.AddDate(50, 0, 0)) {
		u = u.AddDate(-100, 0, 0)
	}
	return u
}
