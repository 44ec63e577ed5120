package site

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"scripter/objectdb"
)

// The settings of the history, and their defaults.
var (
	HistoryInterval = &Setting{Name: "historyInterval", Default: objectdb.Number(60), Title: "Interval of history",
		Meaning: "minutes in which at most one old value of an object is kept if requests overwrite it; " +
			"scripts, texts, outlines, and all that persons overwrite, are always kept",
		Check: between(0, 60*24*365)}
	HistoryThinnedDays = &Setting{Name: "historyThinnedDays", Default: objectdb.Number(30),
		Title:   "Days of thinned values",
		Meaning: "days for which thinned values are kept (see historyInterval); 0 = for ever",
		Check:   between(0, 365*100)}
	HistoryDays = &Setting{Name: "historyDays", Default: objectdb.Number(0), Title: "Days of history",
		Meaning: "days for which all other old values are kept; 0 = for ever", Check: between(0, 365*100)}
	HistorySize = &Setting{Name: "historySize", Default: objectdb.Number(256), Title: "Size of history",
		Meaning: "megabytes that all old values may take; beyond that, thinned values are dropped first, " +
			"then the oldest; 0 = no limit",
		Check: between(0, 1<<20)}
	HistoryWhole = &Setting{Name: "historyWhole", Default: objectdb.Number(1), Title: "Longest value of history",
		Meaning: "megabytes of the longest value that is kept; of a longer one, only the length and a hash are kept",
		Check:   between(0.1, 1<<10)}
)

// HistoryRows is the table of the rules for what is kept in the history. The name of a row
// is the address of an object or a table, and its text says what is kept of the objects at
// and below that address: see parseHistoryRule. If several rows match an object, the one
// with the longest address applies.
//
// A supplied row applies even if it is missing or invalid.
var HistoryRows = home.Child("history")

// suppliedHistory has the supplied rows. They exclude temporary objects, and those that
// Scripter writes for itself.
var suppliedHistory = []objectdb.SubtreeRule{
	{Address: objectdb.Address{"scratchpad"}, Keep: objectdb.KeepNone},
	{Address: objectdb.Address{"system", "temp"}, Keep: objectdb.KeepNone},
	{Address: FlDirtyRoot.Address(), Keep: objectdb.KeepNone},
	{Address: Sessions, Keep: objectdb.KeepNone},
	{Address: FailedLogins, Keep: objectdb.KeepNone},
	{Address: LastLogins, Keep: objectdb.KeepNone},
	{Address: Visitors, Keep: objectdb.KeepNone},
	{Address: Remembered, Keep: objectdb.KeepNone},
	{Address: Outbox, Keep: objectdb.KeepNone},
	{Address: ScheduleRuns, Keep: objectdb.KeepNone},
}

// The words of a row.
const (
	keepEverything = "everything"
	keepThinned    = "thinned"
	keepNothing    = "nothing"
	keepLarge      = "large"
)

// HistoryRuleTexts are the texts that a row may have.
var HistoryRuleTexts = []string{
	keepEverything, keepEverything + " " + keepLarge, keepThinned, keepThinned + " " + keepLarge, keepNothing,
}

var errHistoryRule = fmt.Errorf("say %q, %q or %q, and %q for values of any length",
	keepEverything, keepThinned, keepNothing, keepLarge)

// parseHistoryRule reads the text of a row, words separated by blanks:
//
//	everything          each value, whoever overwrites it
//	thinned             what persons overwrite, and scripts, texts and outlines; of the other
//	                    objects that requests overwrite, one value in each historyInterval.
//	                    This is also the rule without a row
//	nothing             nothing
//	everything large    values of any length, not only up to historyWhole
//	thinned large
func parseHistoryRule(text string) (objectdb.SubtreeRule, error) {
	var r objectdb.SubtreeRule
	words := strings.Fields(strings.ToLower(text))
	if len(words) == 0 {
		return r, fmt.Errorf("it is empty: %w", errHistoryRule)
	}
	switch words[0] {
	case keepEverything:
		r.Keep = objectdb.KeepEverything
	case keepThinned:
		r.Keep = objectdb.KeepAsElsewhere
	case keepNothing:
		r.Keep = objectdb.KeepNone
	default:
		return r, fmt.Errorf("it begins with %.40q: %w", words[0], errHistoryRule)
	}
	switch {
	case len(words) == 1:
		return r, nil
	case len(words) > 2 || words[1] != keepLarge:
		return r, fmt.Errorf("%.40q follows %q: %w", words[1], words[0], errHistoryRule)
	case r.Keep == objectdb.KeepNone:
		return r, errors.New("nothing is kept, so there are no large values")
	}
	r.Large = true
	return r, nil
}

// historyRuleText returns the text of a row.
func historyRuleText(r objectdb.SubtreeRule) string {
	text := keepThinned
	switch r.Keep {
	case objectdb.KeepEverything:
		text = keepEverything
	case objectdb.KeepNone:
		text = keepNothing
	}
	if r.Large {
		text += " " + keepLarge
	}
	return text
}

// History returns a function for [objectdb.Options.History] of one DB. The function returns
// the rules of the settings and of [HistoryRows].
func History() func(*objectdb.Tx) (*objectdb.HistoryRules, error) {
	return objectdb.NewDerived(readHistory).Get
}

func readHistory(tx *objectdb.Tx) (*objectdb.HistoryRules, error) {
	r := reader{tx: tx}
	number := func(s *Setting) float64 {
		v, err := r.setting(s)
		if err != nil {
			v = s.instead(err)
		}
		return float64(v.(objectdb.Number))
	}
	rules := &objectdb.HistoryRules{
		Interval: durationOf(number(HistoryInterval), time.Minute),
		Whole:    int64(number(HistoryWhole) * (1 << 20)),
		Bounds: objectdb.HistoryBounds{
			Thinned: durationOf(number(HistoryThinnedDays), 24*time.Hour),
			All:     durationOf(number(HistoryDays), 24*time.Hour),
			Bytes:   int64(number(HistorySize) * (1 << 20)),
		},
	}
	for _, row := range r.historyRows() {
		if row.Why == nil {
			rules.Subtrees = append(rules.Subtrees, row.rule)
		}
	}
	for _, s := range suppliedHistory {
		if !slices.ContainsFunc(rules.Subtrees, func(r objectdb.SubtreeRule) bool { return isSame(r.Address, s.Address) }) {
			rules.Subtrees = append(rules.Subtrees, s)
		}
	}
	if r.err != nil {
		return nil, fmt.Errorf("read the rules of history: %w", r.err)
	}
	return rules, nil
}

// durationOf returns n units. It rounds up, because 0 has a meaning of its own.
func durationOf(n float64, unit time.Duration) time.Duration {
	return time.Duration(math.Ceil(n * float64(unit)))
}

// isSame reports whether two addresses lead to the same object.
func isSame(a, b objectdb.Address) bool { return len(a) == len(b) && isIn(a, b) }

// HistoryRow is a row of [HistoryRows], or a supplied one that is missing there.
type HistoryRow struct {
	Address  string // the address that it applies to: the name of the row
	Text     string // the rule in words, as it applies
	Supplied bool   // it applies although the row is missing or invalid
	Why      error  // why the row in the table has no effect
	rule     objectdb.SubtreeRule
}

// historyRows returns the rows of the table, with their errors.
func (r *reader) historyRows() []HistoryRow {
	table := r.node(HistoryRows.Name())
	if table != nil && table.Kind() != objectdb.KindTable {
		return nil
	}
	var list []HistoryRow
	for _, n := range r.in(table) {
		list = append(list, r.historyRow(n))
	}
	return list
}

func (r *reader) historyRow(n *objectdb.Node) HistoryRow {
	row := HistoryRow{Address: n.Name()}
	a, err := parseRowName(n.Name())
	switch {
	case err != nil:
		row.Why = err
		return row
	case n.Kind() != objectdb.KindString && n.Kind() != objectdb.KindText:
		row.Why = fmt.Errorf("it is a %s, not a text", n.Kind())
		return row
	}
	row.Text = r.text(n)
	row.rule, row.Why = parseHistoryRule(row.Text)
	for _, name := range a {
		row.rule.Address = append(row.rule.Address, objectdb.Fold(name))
	}
	if row.Why == nil {
		row.Text = historyRuleText(row.rule)
	}
	return row
}

// ReadHistoryRows returns the rows of the table, also those without effect, and the
// supplied rows that are missing there.
func ReadHistoryRows(tx *objectdb.Tx) ([]HistoryRow, error) {
	if _, err := readRows(tx, HistoryRows); err != nil {
		return nil, err
	}
	r := reader{tx: tx}
	list := r.historyRows()
	for i := range list {
		if row := &list[i]; row.Why == nil && !isSuppliedHistory(row.rule.Address) {
			if _, err := tx.Find(row.rule.Address); objectdb.IsMissing(err) {
				row.Why = fmt.Errorf("there is no %s", row.Address)
			} else {
				r.note(err)
			}
		}
	}
	for _, s := range suppliedHistory {
		counts := func(row HistoryRow) bool { return row.Why == nil && isSame(row.rule.Address, s.Address) }
		if !slices.ContainsFunc(list, counts) {
			list = append(list, HistoryRow{
				Address: s.Address.String(), Text: historyRuleText(s), Supplied: true, rule: s,
			})
		}
	}
	return list, r.err
}

func isSuppliedHistory(a objectdb.Address) bool {
	return slices.ContainsFunc(suppliedHistory, func(s objectdb.SubtreeRule) bool { return isSame(s.Address, a) })
}

// SetHistoryRule checks the rule for the objects at and below an address, and stores it in
// a row. The object need not exist.
func SetHistoryRule(tx *objectdb.Tx, a objectdb.Address, text string) error {
	r, err := parseHistoryRule(text)
	if err != nil {
		return err
	}
	name, err := rowName(a)
	if err != nil {
		return err
	}
	return tx.Put(HistoryRows.Child(name), objectdb.String(historyRuleText(r)))
}

// RemoveHistoryRule removes the row of an address.
func RemoveHistoryRule(tx *objectdb.Tx, a objectdb.Address) error {
	return removeRow(tx, HistoryRows.Child(a.String()))
}
