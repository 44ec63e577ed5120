package scheduler

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/robfig/cron/v3"

	"scripter/verbs/date"
)

// A Times says when a scheduled script runs.
type Times struct {
	spec cron.Schedule
	zone *time.Location
	// wall says that the hours are named, as in "30 2 * * *". Such a script runs once on each day, also
	// on one with 23 or 25 hours. One that runs in every hour, or @every so often, counts the real time.
	wall bool
}

var parser = cron.NewParser(cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow | cron.Descriptor)

// hourStar marks the field of hours that was written as *. It is a bit that the library sets.
const hourStar = 1 << 63

// shortest is the least time between two runs.
const shortest = time.Minute

// ParseTimes reads an expression as crontabs have it, or @daily and the like, in a zone such as
// "Europe/Paris"; "" is UTC.
func ParseTimes(expression, zone string) (*Times, error) {
	t := &Times{zone: time.UTC}
	var err error
	if zone != "" {
		if t.zone, err = date.Location(zone); err != nil {
			return nil, err
		}
	}
	fields := strings.Fields(expression)
	switch {
	case len(fields) == 0:
		return nil, errors.New(`there is no time: write one as crontabs do, such as "30 2 * * *", or @daily`)
	case len(expression) > 200:
		return nil, fmt.Errorf("%.40q… is too long", expression)
	case strings.Contains(fields[0], "TZ="):
		return nil, fmt.Errorf("%.40q names a zone, which is a cell of its own", fields[0])
	case len(fields) != 5 && fields[0][0] != '@':
		return nil, fmt.Errorf("%.80q does not have five fields: minute, hour, day, month, day of the week", expression)
	}
	if t.spec, err = parser.Parse(strings.Join(fields, " ")); err != nil {
		return nil, fmt.Errorf("%.80q: %w", expression, err)
	}
	switch spec := t.spec.(type) {
	case *cron.SpecSchedule:
		t.wall = spec.Hour&hourStar == 0
		spec.Location = t.zone
		if t.wall {
			spec.Location = time.UTC
		}
	case cron.ConstantDelaySchedule:
		if spec.Delay < shortest {
			return nil, fmt.Errorf("%.80q is more often than every minute", expression)
		}
	}
	if t.Next(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)).IsZero() {
		return nil, fmt.Errorf("%.80q never comes: there is no such day", expression)
	}
	return t, nil
}

// Next returns the first time after now, or the zero time if there is none within five years.
func (t *Times) Next(now time.Time) time.Time {
	if !t.wall {
		return t.spec.Next(now.In(t.zone)).In(t.zone)
	}
	// The times of the clock on the wall are computed as if they were UTC, which has no gaps.
	local := now.In(t.zone)
	wall := wallOf(local)
	for {
		wall = t.spec.Next(wall)
		if wall.IsZero() {
			return wall
		}
		if real := t.atWall(wall); real.After(now) {
			return real
		}
	}
}

// wallOf returns the time of the clock on the wall as if it was UTC.
func wallOf(t time.Time) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), time.UTC)
}

// atWall returns the first time when the clock on the wall shows wall. If the clock is put forward past
// it, this is as long after the change as wall is after the beginning of the gap.
func (t *Times) atWall(wall time.Time) time.Time {
	const day = 24 * time.Hour
	_, before := wall.Add(-day).In(t.zone).Zone()
	_, after := wall.Add(day).In(t.zone).Zone()
	for _, offset := range []int{max(before, after), min(before, after)} {
		if real := wall.Add(-time.Duration(offset) * time.Second).In(t.zone); wallOf(real).Equal(wall) {
			return real
		}
	}
	return wall.Add(-time.Duration(before) * time.Second).In(t.zone)
}
