package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"scripter/objectdb"
	"scripter/site"
	"scripter/valuetext"
)

func (t *tool) historyCommand() *cobra.Command {
	var remove bool
	c := &cobra.Command{
		Use:   "history [ADDRESS RULE]",
		Short: "tell what is kept of the past and for how long, and set it for a table",
		Long: `History tells how far back the past of the root is kept, how many changes and how much
it is, and which settings and rules limit it. "scripter log" lists the changes.

With an ADDRESS and a RULE it sets what is kept, from now on, of the object or table
there and of all below it; --remove removes the rule. If several rules match, the one
with the longest address applies. RULE is one of

  everything   each value, whoever overwrites it
  thinned      as without a rule: what persons overwrite, scripts, texts and outlines;
               of other objects that requests overwrite, one in historyInterval
  nothing      nothing, for secrets and temporary data

With "large" after it, as in "thinned large", values longer than historyWhole are kept
too.`,
		Args:              args(0, 3),
		ValidArgsFunction: t.arguments(addressOf(), words("everything", "thinned", "nothing"), words("large")),
		RunE: func(c *cobra.Command, args []string) error {
			switch {
			case remove && len(args) != 1:
				return usageError{hintError{errors.New("history --remove takes an address"), "usage: " + c.UseLine()}}
			case !remove && len(args) == 1:
				return usageError{hintError{errors.New("history takes an address with a rule, or neither"),
					"usage: " + c.UseLine()}}
			case len(args) > 0:
				return t.setHistoryRule(c.Context(), args[0], strings.Join(args[1:], " "))
			}
			return t.with(forReading, func(db *objectdb.DB) error {
				info, err := db.HistoryInfo(c.Context())
				if err != nil {
					return err
				}
				return db.View(c.Context(), func(tx *objectdb.Tx) error { return t.printHistory(tx, &info) })
			})
		},
	}
	c.Flags().BoolVar(&remove, "remove", false, "remove the rule")
	return c
}

// setHistoryRule sets the rule of an address, or removes it if rule is "".
func (t *tool) setHistoryRule(ctx context.Context, at, rule string) error {
	a, err := address(at)
	if err != nil {
		return err
	}
	err = t.update(ctx, func(tx *objectdb.Tx) error {
		if rule == "" {
			return site.RemoveHistoryRule(tx, a)
		}
		if err := t.warnMissing(tx, a); err != nil {
			return err
		}
		return site.SetHistoryRule(tx, a, rule)
	})
	if err != nil {
		return hintError{fmt.Errorf("history %s: %w", a, err), "nothing was changed"}
	}
	return nil
}

// historySettings are the settings of the history.
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
			settings[s.Name] = valuetext.JSON(s.Read(tx).Value)
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
		reach += " of " + valuetext.Time(time.Unix(0, h.ReachTime))
	} else {
		reach = "the beginning"
	}
	rows := [][]string{
		{"reach", "back to " + reach},
		{"changes", valuetext.Count(int(h.Changes), "change")},
		{"kept", valuetext.Count(int(h.Objects), "past state") + ", about " + valuetext.Count(int(h.Bytes), "byte")},
		{"thinned", fmt.Sprintf("%s of these, about %s, %d %%", valuetext.Count(int(h.ThinnedObjects), "state"),
			valuetext.Count(int(h.ThinnedBytes), "byte"), share(h.ThinnedBytes, h.Bytes))},
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
