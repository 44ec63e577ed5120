package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"scripter/history"
	"scripter/objectdb"
	"scripter/valuetext"
)

func (t *tool) logCommand() *cobra.Command {
	var f history.Filter
	var since string
	c := &cobra.Command{
		Use:   "log [ADDRESS]",
		Short: "list the changes of the root, or of an object",
		Long: `Log lists the changes in the history, the newest first: number, time (UTC), who has
made it, what was changed, and whether the change undoes others or is undone. With
ADDRESS it lists the changes of the object there, or of all that is or was in the
table there. "scripter show" shows a change, "scripter undo" takes it back.

--since takes a moment. ` + momentHelp,
		Args:              args(0, 1),
		ValidArgsFunction: t.arguments(addressOf()),
		RunE: func(c *cobra.Command, args []string) error {
			var err error
			if f.At, err = address(strings.Join(args, "")); err != nil {
				return err
			}
			if since != "" {
				if f.Since, err = history.ParseMoment(since, time.Now()); err != nil {
					return err
				}
			}
			if f.Most < 0 {
				return usageError{errors.New("-n is no less than 0")}
			}
			return t.view(c.Context(), func(tx *objectdb.Tx) error {
				log, err := history.List(tx, f)
				if err != nil {
					return err
				}
				return t.printLog(log, &f)
			})
		},
	}
	c.Flags().IntVarP(&f.Most, "number", "n", 20, "list at most so many changes; 0 is all")
	c.Flags().StringVar(&since, "since", "", "list only the changes since a time, or after the change with a number")
	c.Flags().StringVar(&f.Who, "who", "", "list only the changes with this text in the column of who made them")
	t.flag(c, "number", nothing)
	t.flag(c, "since", changeNumbers)
	t.flag(c, "who", nothing)
	return c
}

func (t *tool) printLog(log *history.Log, f *history.Filter) error {
	if t.json {
		changes := []any{}
		for i := range log.Changes {
			changes = append(changes, log.Changes[i].Fields())
		}
		m := map[string]any{"changes": changes, "more": log.More}
		if log.Unkept != nil {
			m["presentWritten"] = log.Unkept.Modified().UTC()
		}
		return t.printJSON(m)
	}
	var rows [][]string
	for _, c := range log.Changes {
		row := []string{strconv.FormatInt(c.Generation, 10), valuetext.Time(c.When()), history.Who(c.Origin),
			c.Summary.String()}
		if m := c.Marks(); m != "" {
			row[3] += " (" + m + ")"
		}
		rows = append(rows, row)
	}
	if err := t.columns(rows); err != nil {
		return err
	}
	chosen := f.Who != "" || f.Since != history.Moment{}
	if len(log.Changes) == 0 {
		of := ""
		if len(f.At) > 0 {
			of = " of " + f.At.String()
		}
		if chosen {
			fmt.Fprintln(t.out, "there is no such change"+of)
		} else {
			fmt.Fprintln(t.out, "no change"+of+" is kept")
		}
	}
	if log.More {
		fmt.Fprintf(t.out, "there are older ones: -n %d lists more, -n 0 all\n", 5*f.Most)
	}
	if log.Unkept != nil && !chosen {
		fmt.Fprintf(t.out, "the present value was written at %s by a commit of which nothing is kept\n",
			valuetext.Time(log.Unkept.Modified()))
	}
	return nil
}
