package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"scripter/history"
	"scripter/objectdb"
	"scripter/runner"
)

// undo is one run of "scripter undo" or "scripter redo".
type undo struct {
	history.Undo
	only   []string
	dryRun bool
}

func (t *tool) undoCommand() *cobra.Command {
	u := &undo{Undo: history.Undo{Compiles: runner.Compiles}}
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
				u.Changes = append(u.Changes, n)
			}
			return t.undo(c.Context(), u)
		},
	}
	u.flags(t, c)
	return c
}

func (t *tool) redoCommand() *cobra.Command {
	u := &undo{Undo: history.Undo{Redo: true, Compiles: runner.Compiles}}
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
	c.Flags().BoolVar(&u.Merge, "merge", false, "keep later changes of the same texts, by line")
	c.Flags().StringArrayVar(&u.only, "only", nil, "only the objects at and below this ADDRESS; may be repeated")
	c.Flags().BoolVar(&u.dryRun, "dry-run", false, "print what would be done, and change nothing")
	t.flag(c, "only", addressOf())
}

func (t *tool) undo(ctx context.Context, u *undo) (err error) {
	if u.Only, err = addresses(u.only); err != nil {
		return err
	}
	var did history.Undone
	var number int64
	run := func(tx *objectdb.Tx) error {
		if did, err = u.Run(tx); err == nil && u.dryRun {
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
	var conflict *history.Conflict
	switch {
	case errors.As(err, &conflict):
		if t.json {
			if err := t.printJSON(map[string]any{"conflicts": conflict.Fields()}); err != nil {
				return err
			}
		}
		return hintError{err, conflictHint(conflict)}
	case err == nil, errors.Is(err, errDryRun):
		err = t.printUndone(u, &did, number)
	}
	return err
}

// conflictHint returns what may help against a conflict.
func conflictHint(c *history.Conflict) string {
	first := c.Objects[0]
	hint := fmt.Sprintf(`"scripter diff %s %d" shows what came after`, shellWord(first.Address.String()), first.Change)
	if c.MayMerge() {
		hint = "--merge keeps later changes of the same texts, " + hint
	}
	if c.Partial {
		hint = "--only ADDRESS takes back a part, " + hint
	}
	return hint
}

func (t *tool) printUndone(u *undo, did *history.Undone, number int64) error {
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
	if len(did.Skipped) > 0 {
		t.warn("of change %s nothing is left to take back", history.Numbers(did.Skipped))
	}
	if did.IsEmpty() {
		at := ""
		if len(u.only) > 0 {
			at = " at " + strings.Join(u.only, ", ")
		}
		fmt.Fprintf(t.out, "nothing of %s is left to take back%s\n", did.What, at)
		return nil
	}
	text, end := "took back "+did.What, "; "+t.self("redo")+" makes it again"
	switch {
	case u.Redo && u.dryRun:
		text = "would make " + did.What + " again"
	case u.Redo:
		text, end = "made "+did.What+" again", "; "+t.self("undo")+" takes it back"
	case u.dryRun:
		text = "would take back " + did.What
	}
	if number == 0 {
		end = ""
	}
	fmt.Fprintln(t.out, text+": "+did.String()+end)
	return nil
}

// self returns the command line of another command on the same root.
func (t *tool) self(command string) string {
	if t.root == "" {
		return "scripter " + command
	}
	return "scripter --root " + shellWord(t.root) + " " + command
}
