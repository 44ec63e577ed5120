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

// moment is a change or a time. A command line names the past by it.
type moment struct {
	text   string    // as it was written
	change int64     // its number, or 0
	time   time.Time // if it is no change
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
func (m moment) generation(ctx context.Context, db *objectdb.DB) (int64, error) {
	h, err := db.HistoryInfo(ctx)
	if err != nil {
		return 0, err
	}
	info, err := db.Info(ctx)
	if err != nil {
		return 0, err
	}
	switch {
	case m.change == 0 && m.time.After(time.Now()):
		return 0, usageError{fmt.Errorf("%s is still to come", shownTime(m.time))}
	case m.change > info.Generation:
		return 0, hintError{fmt.Errorf("there is no change %d yet: the last commit has the number %d",
			m.change, info.Generation), `"scripter log" lists the changes`}
	case m.change > 0 && m.change >= h.Reach:
		return m.change, nil
	case m.change > 0:
		return 0, reachError(fmt.Sprintf("change %d", m.change), h)
	}
	// The times that commands print have no fractions: a second stands for its end.
	end := m.time.Truncate(time.Second).Add(time.Second - 1)
	var generation int64
	err = db.View(ctx, func(tx *objectdb.Tx) (err error) {
		generation, err = tx.GenerationAt(end)
		return err
	})
	if errors.Is(err, objectdb.ErrReach) {
		return 0, reachError(shownTime(m.time), h)
	}
	return generation, err
}

// reachError is the error for what is older than what the root remembers.
func reachError(what string, h objectdb.HistoryInfo) error {
	text := fmt.Sprintf("change %d", h.Reach)
	if h.ReachTime > 0 {
		text += " of " + shownTime(time.Unix(0, h.ReachTime))
	}
	return hintError{fmt.Errorf("%s: %w, only from %s on", what, objectdb.ErrReach, text),
		`"scripter history" tells what is kept; saved copies may be older`}
}

// shownTime returns a time as commands print it.
func shownTime(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05") }
