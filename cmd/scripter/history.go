package main

import (
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"scripter/objectdb"
	"scripter/site"
)

func (t *tool) historyCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "history",
		Short: "tell what the root remembers, and for how long",
		Long: `History tells how far back the root remembers, how many changes and how much of the
past it keeps, and which settings and rules bound it. "scripter log" lists the changes.`,
		Args: args(0, 0),
		RunE: func(c *cobra.Command, _ []string) error {
			return t.with(forReading, func(db *objectdb.DB) error {
				info, err := db.HistoryInfo(c.Context())
				if err != nil {
					return err
				}
				return db.View(c.Context(), func(tx *objectdb.Tx) error { return t.printHistory(tx, &info) })
			})
		},
	}
}

// historySettings are the settings that say what is remembered.
var historySettings = []*site.Setting{
	site.HistorySize, site.HistoryThinnedDays, site.HistoryDays, site.HistoryInterval, site.HistoryWhole,
}

func (t *tool) printHistory(tx *objectdb.Tx, h *objectdb.HistoryInfo) error {
	rules, err := site.ReadHistoryRows(tx)
	if err != nil {
		return err
	}
	if t.json {
		settings, rows := map[string]any{}, []any{}
		for _, s := range historySettings {
			settings[s.Name] = jsonValue(s.Read(tx).Value)
		}
		for _, r := range rules {
			row := map[string]any{"address": r.Address, "rule": r.Text, "supplied": r.Supplied}
			if r.Why != nil {
				row["why"] = r.Why.Error()
			}
			rows = append(rows, row)
		}
		m := map[string]any{"reach": h.Reach, "changes": h.Changes, "states": h.Objects, "bytes": h.Bytes,
			"thinnedStates": h.ThinnedObjects, "thinnedBytes": h.ThinnedBytes, "thinnedUpTo": h.Thinned,
			"settings": settings, "rules": rows}
		if h.ReachTime > 0 {
			m["reachTime"] = time.Unix(0, h.ReachTime).UTC()
		}
		return t.printJSON(m)
	}
	reach := "change " + strconv.FormatInt(h.Reach, 10)
	if h.ReachTime > 0 {
		reach += " of " + shownTime(time.Unix(0, h.ReachTime))
	} else {
		reach = "the beginning"
	}
	rows := [][]string{
		{"reach", "back to " + reach},
		{"changes", thousands(int(h.Changes), "change")},
		{"kept", thousands(int(h.Objects), "past state") + ", about " + thousands(int(h.Bytes), "byte")},
		{"thinned", fmt.Sprintf("%s of these, about %s, %d %%", thousands(int(h.ThinnedObjects), "state"),
			thousands(int(h.ThinnedBytes), "byte"), share(h.ThinnedBytes, h.Bytes))},
	}
	for _, s := range historySettings {
		rows = append(rows, []string{s.Name, settingText(s.Read(tx).Value) + " " + s.Meaning})
	}
	for _, r := range rules {
		text := r.Address + ": " + r.Text
		if r.Why != nil {
			text += " (has no effect: " + r.Why.Error() + ")"
		}
		rows = append(rows, []string{"rule", text})
	}
	return t.columns(rows)
}

// share returns a part of a whole in per cent.
func share(part, whole int64) int64 {
	if whole <= 0 {
		return 0
	}
	return (part*100 + whole/2) / whole
}
