package main

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"scripter/objectdb"
)

// momentHelp explains in the help of commands how a moment is written.
const momentHelp = `A moment is the number of a change in "scripter log", which stands for the root as that
change left it, or a time: 2026-11-22T14:00:00+01:00, "2026-11-22 14:00", 2026-11-22
(its beginning), 14:00 (the last one), yesterday (a day ago), or 90s, 30m, 2h, 3d or
1w ago. Without a zone it is UTC, as all times that Scripter prints.`

// moment is a change or a time. A command line names a state of the past by it.
type moment struct {
	text   string    // as it was written
	change int64     // its number, or 0
	time   time.Time // the time, if the moment is not a change
}

var agoForm = regexp.MustCompile(`^([0-9]+)([smhdw])$`)

// parseMoment reads a moment: see momentHelp. now is the present time.
func parseMoment(text string, now time.Time) (moment, error) {
	m := moment{text: strings.TrimSpace(text)}
	now = now.UTC()
	if n, err := strconv.ParseInt(m.text, 10, 64); err == nil && n > 0 {
		m.change = n
		return m, nil
	}
	if part := agoForm.FindStringSubmatch(strings.TrimSuffix(m.text, " ago")); part != nil {
		if n, err := strconv.Atoi(part[1]); err == nil && n < 1e6 {
			m.time = ago(now, n, part[2])
			return m, nil
		}
	}
	if m.text == "yesterday" {
		m.time = now.AddDate(0, 0, -1)
		return m, nil
	}
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02 15:04",
		time.DateOnly} {
		if t, err := time.Parse(layout, m.text); err == nil {
			m.time = t.UTC()
			return m, nil
		}
	}
	for _, layout := range []string{"15:04", "15:04:05"} {
		if t, err := time.Parse(layout, m.text); err == nil {
			m.time = time.Date(now.Year(), now.Month(), now.Day(), t.Hour(), t.Minute(), t.Second(), 0, time.UTC)
			if m.time.After(now) {
				m.time = m.time.AddDate(0, 0, -1)
			}
			return m, nil
		}
	}
	return m, usageError{hintError{fmt.Errorf("%q is neither the number of a change nor a time", text),
		`times are such as "2026-11-22 14:00" (UTC), 14:00, yesterday, 2h or 3d`}}
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

// generation returns the generation of the root that a moment stands for.
func (m moment) generation(ctx context.Context, db *objectdb.DB) (generation int64, err error) {
	err = db.View(ctx, func(tx *objectdb.Tx) error {
		generation, err = m.generationIn(tx)
		return err
	})
	return generation, err
}

// generationIn does what generation does, in a transaction.
func (m moment) generationIn(tx *objectdb.Tx) (int64, error) {
	if m.change > 0 {
		return m.change, isRemembered(tx, m.change)
	}
	if m.time.After(time.Now()) {
		return 0, usageError{fmt.Errorf("%s is still to come", shownTime(m.time))}
	}
	// The times that commands print have no fractions, so a second stands for its end.
	generation, err := tx.GenerationAt(m.time.Truncate(time.Second).Add(time.Second - 1))
	if errors.Is(err, objectdb.ErrReach) {
		return 0, reachError(tx, shownTime(m.time))
	}
	return generation, err
}

// isRemembered returns an error if the history does not have a generation.
func isRemembered(tx *objectdb.Tx, generation int64) error {
	if newest := tx.Generation(); generation > newest {
		return hintError{fmt.Errorf("there is no change %d yet: the last commit has the number %d", generation, newest),
			`"scripter log" lists the changes`}
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
	return hintError{fmt.Errorf("%s: %w, only to change %d of %s", what, objectdb.ErrReach, reach, shownTime(made)),
		`"scripter history" tells what is kept; saved copies may be older`}
}

// shownTime returns a time as commands print it.
func shownTime(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05") }
