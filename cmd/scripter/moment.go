package main

import (
	"fmt"
	"time"

	"scripter/history"
)

// momentHelp explains in the help of commands how a moment is written.
const momentHelp = `A moment is the number of a change in "scripter log", which stands for the root as that
change left it, or a time: 2026-11-22T14:00:00+01:00, "2026-11-22 14:00", 2026-11-22
(its beginning), 14:00 (the last one), yesterday (a day ago), or 90s, 30m, 2h, 3d or
1w ago. Without a zone it is UTC, as all times that Scripter prints.`

// changeNumber reads the number of a change.
func changeNumber(text string) (int64, error) {
	m, err := history.ParseMoment(text, time.Now())
	if err != nil || m.Change == 0 {
		return 0, usageError{hintError{fmt.Errorf("%q is not the number of a change", text),
			`"scripter log" lists the changes`}}
	}
	return m.Change, nil
}
