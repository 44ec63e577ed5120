package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"scripter/objectdb"
	"scripter/textdiff"
)

// undo is one run of "scripter undo" or "scripter redo".
type undo struct {
	numbers       []int64 // the numbers of the changes; if empty, the last change
	redo          bool
	merge, dryRun bool
	only          []string
	within        []objectdb.Address // of only
}

func (t *tool) undoCommand() *cobra.Command {
	u := &undo{}
	c := &cobra.Command{
		Use:   "undo [CHANGE…]",
		Short: "take back changes",
		Long: `Undo takes back the last change that a person has made. Run again, it takes back the
one before. With CHANGE, a number of "scripter log", it takes back that change,
whoever has made it. It restores what the change has overwritten and removed, and
removes what it has added. That is a change too: "scripter redo" takes it back.

If an object was changed since, undo names it and changes nothing. --merge keeps later
changes of a text, if they can be merged by line. --only takes back only what the
change has done at and below an ADDRESS.`,
		Args:              args(0, -1),
		ValidArgsFunction: t.arguments(changeNumbers),
		RunE: func(c *cobra.Command, args []string) (err error) {
			for _, text := range args {
				n, err := changeNumber(text)
				if err != nil {
					return err
				}
				u.numbers = append(u.numbers, n)
			}
			return t.undo(c.Context(), u)
		},
	}
	u.flags(t, c)
	return c
}

func (t *tool) redoCommand() *cobra.Command {
	u := &undo{redo: true}
	c := &cobra.Command{
		Use:   "redo",
		Short: "make again what undo has taken back",
		Long: `Redo makes the changes again that the last "scripter undo" took back. After another
change of a person there is nothing to make again: "scripter undo CHANGE" takes back
any undo.`,
		Args: args(0, 0),
		RunE: func(c *cobra.Command, _ []string) error { return t.undo(c.Context(), u) },
	}
	u.flags(t, c)
	return c
}

func (u *undo) flags(t *tool, c *cobra.Command) {
	c.Flags().BoolVar(&u.merge, "merge", false, "keep later changes of the same texts, by line")
	c.Flags().StringArrayVar(&u.only, "only", nil, "only the objects at and below this ADDRESS; may be repeated")
	c.Flags().BoolVar(&u.dryRun, "dry-run", false, "print what would be done, and change nothing")
	t.flag(c, "only", addressOf())
}

// undone says what an undo has done.
type undone struct {
	objectdb.Undone
	what    string  // the changes, in words
	skipped []int64 // the last changes of persons of which nothing is left to take back
}

func (t *tool) undo(ctx context.Context, u *undo) (err error) {
	if u.within, err = addresses(u.only); err != nil {
		return err
	}
	var did undone
	var number int64
	run := func(tx *objectdb.Tx) error {
		if did, err = u.run(tx); err == nil && u.dryRun {
			err = errDryRun
		}
		return err
	}
	err = t.with(forWork, func(db *objectdb.DB) error {
		if u.dryRun {
			return db.Update(ctx, run)
		}
		number, err = t.commit(ctx, db, run)
		return err
	})
	var refused refusedUndo
	switch {
	case errors.As(err, &refused) && t.json:
		if err := t.printJSON(map[string]any{"conflicts": refused.fields()}); err != nil {
			return err
		}
	case err == nil, errors.Is(err, errDryRun):
		err = t.printUndone(u, &did, number)
	}
	return err
}

// run takes the changes back in a transaction.
func (u *undo) run(tx *objectdb.Tx) (did undone, err error) {
	o := objectdb.UndoOptions{Only: u.within}
	if u.merge {
		o.Merge = func(a objectdb.Address, before, after, theirs objectdb.Value) (objectdb.Value, error) {
			return mergeValues(tx, a, before, after, theirs)
		}
	}
	for {
		list, err := u.changes(tx, did.skipped)
		if err != nil {
			return did, err
		}
		if did.what, err = u.describe(tx, list); err != nil {
			return did, err
		}
		did.Undone, err = tx.Undo(list, o)
		var conflict *objectdb.UndoConflict
		if errors.As(err, &conflict) {
			return did, u.refused(tx, did.what, conflict)
		}
		if err == nil && len(did.Changes) > len(list) { // with other parts of the same transactions
			did.what, err = u.describe(tx, did.Changes)
		}
		if err != nil || len(u.numbers) > 0 || u.redo || did.Changed+did.Restored+did.Removed > 0 {
			return did, err
		}
		did.skipped = append(did.skipped, list...)
	}
}

// changes returns the changes that are to be taken back.
func (u *undo) changes(tx *objectdb.Tx, skip []int64) ([]int64, error) {
	for _, n := range u.numbers {
		if _, err := findChange(tx, n); err != nil {
			return nil, err
		}
	}
	if len(u.numbers) > 0 {
		return u.numbers, nil
	}
	last := func() (int64, error) { return tx.LastUndoable(skip...) }
	none := "there is nothing to take back: no change of a person is left"
	if u.redo {
		last = tx.LastRedoable
		none = "there is nothing to make again: nothing was taken back since the last change of a person"
	}
	n, err := last()
	if errors.Is(err, objectdb.ErrNothingToUndo) {
		return nil, hintError{errors.New(none),
			`"scripter log" lists the changes, "scripter undo CHANGE" takes back any of them`}
	}
	return []int64{n}, err
}

// describe names the changes that are taken back, or made again.
func (u *undo) describe(tx *objectdb.Tx, list []int64) (string, error) {
	first, err := findChange(tx, list[0])
	if err != nil {
		return "", err
	}
	if u.redo {
		list = first.Undoes
		if first, err = tx.Change(list[0]); errors.Is(err, objectdb.ErrNotFound) {
			return "change " + numbers(list), nil
		}
	}
	if err != nil || len(list) > 1 {
		return "changes " + numbers(list), err
	}
	s, err := summarize(tx, first)
	return fmt.Sprintf("change %d (%s: %s)", list[0], strings.TrimSpace(first.Origin.Why+" "+first.Origin.Path),
		s.text(first.Count)), err
}

// mergeValues returns a text with the changes made since a change, but without that change: see
// objectdb.UndoOptions.
func mergeValues(tx *objectdb.Tx, a objectdb.Address, before, after, theirs objectdb.Value) (objectdb.Value, error) {
	k := theirs.Kind()
	if before.Kind() != k || after.Kind() != k {
		return nil, errors.New("its kind was changed")
	}
	switch k {
	case objectdb.KindString, objectdb.KindText, objectdb.KindOutline, objectdb.KindScript:
	default:
		return nil, fmt.Errorf("a %s has no lines", k)
	}
	text, clean := textdiff.Merge(valueText(after), valueText(before), valueText(theirs))
	if !clean {
		return nil, errors.New("the same lines were changed since")
	}
	v, err := parseValue(k, text, "")
	if source, ok := v.(objectdb.Script); ok && err == nil {
		if err := compiles(tx, a, source); err != nil {
			return nil, fmt.Errorf("the result does not compile: %w", err)
		}
	}
	return v, err
}

// refusedUndo says which objects were changed since.
type refusedUndo struct {
	what    string // the changes that are not taken back
	redo    bool
	objects []objectdb.ConflictingObject
	since   []string // who has made the change Since of each of objects, or ""
}

func (u *undo) refused(tx *objectdb.Tx, what string, c *objectdb.UndoConflict) error {
	r := refusedUndo{what: what, redo: u.redo, objects: c.Objects}
	hint := fmt.Sprintf(`"scripter diff %s %d" shows what came after`, shellWord(c.Objects[0].Address.String()),
		c.Objects[0].Change)
	if slices.ContainsFunc(c.Objects, func(o objectdb.ConflictingObject) bool { return o.Merge }) {
		hint = "--merge keeps later changes of the same texts, " + hint
	}
	for _, o := range c.Objects {
		text := ""
		if later, err := tx.Change(o.Since); err == nil {
			text = who(later.Origin)
		}
		r.since = append(r.since, text)
	}
	if changed, err := tx.Change(c.Objects[0].Change); err == nil && changed.Count > len(c.Objects) {
		hint = "--only ADDRESS takes back a part, " + hint
	}
	return hintError{r, hint}
}

func (r refusedUndo) Error() string {
	not := " is not taken back: "
	if r.redo {
		not = " is not made again: "
	}
	const most = 20
	var lines []string
	for i, o := range r.objects[:min(most, len(r.objects))] {
		line := o.Address.String() + " " + o.Why
		if o.Since > 0 {
			line += fmt.Sprintf(" (change %d", o.Since)
			if r.since[i] != "" {
				line += ": " + r.since[i]
			}
			line += ")"
		}
		lines = append(lines, line)
	}
	if len(lines) == 1 {
		return r.what + not + lines[0]
	}
	if more := len(r.objects) - most; more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", more))
	}
	return r.what + not + "\n\t" + strings.Join(lines, "\n\t")
}

func (r refusedUndo) fields() []any {
	list := []any{}
	for i, o := range r.objects {
		m := map[string]any{"address": o.Address.String(), "change": o.Change, "why": o.Why}
		if o.Since > 0 {
			m["since"], m["sinceBy"] = o.Since, r.since[i]
		}
		list = append(list, m)
	}
	return list
}

func (t *tool) printUndone(u *undo, did *undone, number int64) error {
	if t.json {
		merged := []string{}
		for _, a := range did.Merged {
			merged = append(merged, a.String())
		}
		m := map[string]any{"changes": did.Changes, "changed": did.Changed, "added": did.Restored,
			"removed": did.Removed, "merged": merged, "dryRun": u.dryRun}
		if number > 0 {
			m["number"] = number
		}
		return t.printJSON(m)
	}
	if len(did.skipped) > 0 {
		t.warn("of change %s nothing is left to take back", numbers(did.skipped))
	}
	if did.Changed+did.Restored+did.Removed == 0 {
		at := ""
		if len(u.only) > 0 {
			at = " at " + strings.Join(u.only, ", ")
		}
		fmt.Fprintf(t.out, "nothing of %s is left to take back%s\n", did.what, at)
		return nil
	}
	text, end := "took back "+did.what, "; "+t.self("redo")+" makes it again"
	switch {
	case u.redo && u.dryRun:
		text = "would make " + did.what + " again"
	case u.redo:
		text, end = "made "+did.what+" again", "; "+t.self("undo")+" takes it back"
	case u.dryRun:
		text = "would take back " + did.what
	}
	if number == 0 {
		end = ""
	}
	fmt.Fprintln(t.out, text+": "+did.text()+end)
	return nil
}

// text returns what was done: "1 object changed, 2 objects added".
func (u *undone) text() string {
	var parts []string
	for _, p := range []struct {
		n    int
		what string
	}{{u.Changed, "changed"}, {u.Restored, "added"}, {u.Removed, "removed"}} {
		if p.n > 0 {
			parts = append(parts, thousands(p.n, "object")+" "+p.what)
		}
	}
	if len(u.Merged) > 0 {
		parts = append(parts, fmt.Sprintf("%d of them merged", len(u.Merged)))
	}
	return strings.Join(parts, ", ")
}

// self returns the command line of another command on the same root.
func (t *tool) self(command string) string {
	if t.root == "" {
		return "scripter " + command
	}
	return "scripter --root " + shellWord(t.root) + " " + command
}
