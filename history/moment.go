package history

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"scripter/objectdb"
	"scripter/valuetext"
)

// Moment is a change or a time, by which a person names a state of the past. The zero Moment is
// none.
type Moment struct {
	Change int64     // its number, or 0
	Time   time.Time // the time, if the moment is not a change
}

var agoForm = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^([0-9]+)([smhdw])$`)
})

// ParseMoment reads a moment: the number of a change, or a time such as 2026-11-22T14:00:00+01:00,
// "2026-11-22 14:00", 2026-11-22 (its beginning), 14:00 (the last one), yesterday (a day ago), or
// 90s, 30m, 2h, 3d or 1w ago. Without a zone it is UTC. now is the present time. If the text is
// none of these, the error is ErrMoment.
func ParseMoment(text string, now time.Time) (Moment, error) {
	word := strings.TrimSpace(text)
	now = now.UTC()
	if n, err := strconv.ParseInt(word, 10, 64); err == nil && n > 0 {
		return Moment{Change: n}, nil
	}
	if part := agoForm().FindStringSubmatch(strings.TrimSuffix(word, " ago")); part != nil {
		if n, err := strconv.Atoi(part[1]); err == nil && n < 1e6 {
			return Moment{Time: ago(now, n, part[2])}, nil
		}
	}
	if word == "yesterday" {
		return Moment{Time: now.AddDate(0, 0, -1)}, nil
	}
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05", time.DateTime, "2006-01-02 15:04",
		time.DateOnly} {
		if t, err := time.Parse(layout, word); err == nil {
			return Moment{Time: t.UTC()}, nil
		}
	}
	for _, layout := range []string{"15:04", "15:04:05"} {
		if t, err := time.Parse(layout, word); err == nil {
			last := time.Date(now.Year(), now.Month(), now.Day(), t.Hour(), t.Minute(), t.Second(), 0, time.UTC)
			if last.After(now) {
				last = last.AddDate(0, 0, -1)
			}
			return Moment{Time: last}, nil
		}
	}
	return Moment{}, &Error{fmt.Sprintf("%q is neither the number of a change nor a time", text), ErrMoment}
}

func ago(now time.Time, n int, unit string) time.Time {
	switch unit {
	case "d":
		return now.AddDate(0, 0, -n)
	case "w":
		return now.AddDate(0, 0, -7*n)
	}
	d, _ := time.ParseDuration("1" + unit)
	return now.Add(-time.Duration(n) * d)
}

// Generation returns the generation of the root that a moment stands for. If the history does not
// have it, the error is ErrFuture, ErrNoChange or ErrReach of package objectdb.
func (m Moment) Generation(tx *objectdb.Tx) (int64, error) {
	if m.Change > 0 {
		return m.Change, IsRemembered(tx, m.Change)
	}
	if m.Time.After(time.Now()) {
		return 0, &Error{valuetext.Time(m.Time) + " is still to come", ErrFuture}
	}
	// The times that are shown have no fractions, so a second stands for its end.
	return GenerationAt(tx, m.Time.Truncate(time.Second).Add(time.Second-1), valuetext.Time(m.Time))
}

// GenerationAt returns the generation of the last change up to a time. The error for a time that is
// older than the history begins with what.
func GenerationAt(tx *objectdb.Tx, t time.Time, what string) (int64, error) {
	generation, err := tx.GenerationAt(t)
	if errors.Is(err, objectdb.ErrReach) {
		return 0, reachError(tx, what)
	}
	return generation, err
}

// isAfter reports whether a moment is after a change, and so after all older ones.
func (m Moment) isAfter(c *Change) bool {
	if m.Change > 0 {
		return c.Generation <= m.Change
	}
	return !m.Time.IsZero() && c.When().Before(m.Time)
}

// IsRemembered returns an error if the history does not have a generation: ErrNoChange if it is
// still to come, or ErrReach of package objectdb.
func IsRemembered(tx *objectdb.Tx, generation int64) error {
	if newest := tx.Generation(); generation > newest {
		return &Error{fmt.Sprintf("there is no change %d yet: the last commit has the number %d", generation, newest),
			ErrNoChange}
	}
	if reach, _, err := tx.Reach(); err != nil || generation >= reach {
		return err
	}
	return reachError(tx, fmt.Sprintf("change %d", generation))
}

// reachError returns the error for a moment that is older than the history.
func reachError(tx *objectdb.Tx, what string) error {
	reach, made, err := tx.Reach()
	if err != nil {
		return err
	}
	return fmt.Errorf("%s: %w, only to change %d of %s", what, objectdb.ErrReach, reach, valuetext.Time(made))
}
