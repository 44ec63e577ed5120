package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"scripter/history"
	"scripter/objectdb"
)

func (t *tool) diffCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "diff ADDRESS [FROM [TO]]",
		Short: "compare an object with what it was",
		Long: `Diff compares the object at ADDRESS, or all that is in the table there, at two
moments: FROM (by default just before its last change) and TO (by default now). It
prints a unified difference for each object that differs, by line for texts. Values
whose names mean a secret are masked.

` + momentHelp,
		Args:              args(1, 3),
		ValidArgsFunction: t.arguments(addressOf(), changeNumbers, changeNumbers),
		RunE: func(c *cobra.Command, args []string) error {
			a, err := address(args[0])
			if err != nil {
				return err
			}
			var moments []history.Moment
			for _, text := range args[1:] {
				m, err := history.ParseMoment(text, time.Now())
				if err != nil {
					return err
				}
				moments = append(moments, m)
			}
			return t.with(forReading, func(db *objectdb.DB) error { return t.diff(c.Context(), db, a, moments) })
		},
	}
}

// diff compares an object in two states. moments are those of the command line.
func (t *tool) diff(ctx context.Context, db *objectdb.DB, a objectdb.Address, moments []history.Moment) error {
	from, to := history.State{}, history.Now()
	err := db.View(ctx, func(tx *objectdb.Tx) (err error) {
		if len(moments) == 0 {
			from, err = history.BeforeLast(tx, a)
			if errors.Is(err, history.ErrNoChange) {
				err = hintError{err, "give a moment that it is to be compared with, such as 1h or yesterday"}
			}
			return err
		}
		if from, err = moments[0].State(tx); err == nil && len(moments) > 1 {
			to, err = moments[1].State(tx)
		}
		return err
	})
	if err != nil {
		return err
	}
	objects, count := []any{}, 0
	for d, err := range history.Compare(ctx, db, a, from, to) {
		switch {
		case errors.Is(err, history.ErrNoObject):
			return hintError{err, `"scripter log ` + shellWord(a.String()) + `" lists its changes`}
		case err != nil:
			return err
		case t.json:
			objects = append(objects, d.Fields())
		default:
			t.printObjectDiff(d)
		}
		count++
	}
	switch {
	case t.json:
		return t.printJSON(map[string]any{"from": from.Label, "to": to.Label, "changed": objects})
	case count == 0:
		fmt.Fprintf(t.out, "%s is the same in %s and in %s\n", a, from.Label, to.Label)
	}
	return nil
}
