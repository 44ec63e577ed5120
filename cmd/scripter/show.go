package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"scripter/history"
	"scripter/objectdb"
	"scripter/valuetext"
)

func (t *tool) showCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "show CHANGE",
		Short: "show what a change has done",
		Long: `Show prints when a change was made, by whom, and what it has done to each object: a
unified difference, by line for texts. CHANGE is a number of "scripter log". Values
whose names mean a secret are masked.`,
		Args:              args(1, 1),
		ValidArgsFunction: t.arguments(changeNumbers),
		RunE: func(c *cobra.Command, args []string) error {
			number, err := changeNumber(args[0])
			if err != nil {
				return err
			}
			return t.view(c.Context(), func(tx *objectdb.Tx) error { return t.show(tx, number) })
		},
	}
}

func (t *tool) show(tx *objectdb.Tx, number int64) error {
	c, err := history.Show(tx, number, 0)
	if err != nil {
		return err
	}
	objects := []any{}
	if !t.json {
		t.printHead(&c.Change)
	}
	for i := range c.Objects {
		d, err := history.DiffOf(tx, number, &c.Objects[i])
		switch {
		case err != nil:
			return err
		case t.json:
			objects = append(objects, d.Fields())
		default:
			t.printObjectDiff(d)
		}
	}
	if t.json {
		fields := c.Fields()
		fields["changed"], fields["forgotten"] = objects, c.Forgotten
		return t.printJSON(fields)
	}
	if c.Forgotten > 0 {
		fmt.Fprintf(t.out, "and %s of which nothing is kept\n", valuetext.Count(c.Forgotten, "object"))
	}
	return nil
}

func (t *tool) printHead(c *history.Change) {
	head := fmt.Sprintf("change %d of %s, %s: %s", c.Generation, valuetext.Time(c.When()), history.Who(c.Origin),
		valuetext.Count(c.Count, "object"))
	if m := c.Marks(); m != "" {
		head += ", " + m
	}
	t.printStyled(bold, oneLine(head))
}

// printObjectDiff prints how the object has changed.
func (t *tool) printObjectDiff(d *history.Diff) {
	t.printStyled(bold, oneLine(d.Headline()))
	for _, n := range d.Notes() {
		fmt.Fprintf(t.out, "(%s)\n", n)
	}
	if text := d.Unified(); text != "" {
		t.printDifference(text)
	}
}
