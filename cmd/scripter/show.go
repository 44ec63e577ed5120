package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"scripter/objectdb"
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

// changeNumber reads the number of a change.
func changeNumber(text string) (int64, error) {
	m, err := parseMoment(text, time.Now())
	if err != nil || m.change == 0 {
		return 0, usageError{hintError{fmt.Errorf("%q is not the number of a change", text),
			`"scripter log" lists the changes`}}
	}
	return m.change, nil
}

func (t *tool) show(tx *objectdb.Tx, number int64) error {
	found, err := findChange(tx, number)
	if err != nil {
		return err
	}
	var list []objectdb.ChangedObject
	gone := 0
	for o, err := range tx.ChangedObjects(number) {
		if err != nil {
			return err
		}
		switch {
		case len(addressIn(&o)) > 0:
			list = append(list, o)
		case o.ID != objectdb.RootID: // a revert replaces the root table
			gone++
		}
	}
	c := change{Change: found}
	if c.undoneBy, err = undoneBy(tx, found, list); err != nil {
		return err
	}
	slices.SortStableFunc(list, func(a, b objectdb.ChangedObject) int {
		return slices.CompareFunc(addressIn(&a), addressIn(&b), func(a, b string) int {
			return strings.Compare(objectdb.Fold(a), objectdb.Fold(b))
		})
	})
	objects := []any{}
	if !t.json {
		t.printHead(&c)
	}
	for i := range list {
		d, err := diffOf(tx, number, &list[i])
		switch {
		case err != nil:
			return err
		case t.json:
			objects = append(objects, d.fields())
		default:
			t.printObjectDiff(d)
		}
	}
	if t.json {
		fields := c.fields(nil)
		fields["changed"], fields["forgotten"] = objects, gone
		return t.printJSON(fields)
	}
	if gone > 0 {
		fmt.Fprintf(t.out, "and %s of which nothing is kept\n", thousands(gone, "object"))
	}
	return nil
}

func (t *tool) printHead(c *change) {
	head := fmt.Sprintf("change %d of %s, %s: %s", c.Generation, shownTime(time.Unix(0, c.Time)), who(c.Origin),
		thousands(c.Count, "object"))
	if m := c.marks(); m != "" {
		head += ", " + m
	}
	t.printStyled(bold, oneLine(head))
}

// diffOf returns what a change has done to an object.
func diffOf(tx *objectdb.Tx, number int64, o *objectdb.ChangedObject) (*objectDiff, error) {
	d := &objectDiff{how: howText(o)}
	var err error
	if d.before, err = sideAt(tx, o.ID, number-1, o.Before, fmt.Sprintf("before change %d", number)); err != nil {
		return nil, err
	}
	if d.after, err = sideAt(tx, o.ID, number, o.After, fmt.Sprintf("change %d", number)); err != nil {
		return nil, err
	}
	if d.before == nil && o.How != objectdb.Inserted {
		was := *d.after
		was.value, was.note, was.why = nil, "", "no longer kept"
		d.before = &was
	}
	return d, nil
}

// undoneBy returns the change that has undone another one, or 0. It looks among the later
// changes of the same objects.
func undoneBy(tx *objectdb.Tx, of objectdb.Change, list []objectdb.ChangedObject) (int64, error) {
	const most = 1000
	var ids []int64
	for _, o := range list[:min(most, len(list))] {
		ids = append(ids, o.ID)
	}
	later, err := tx.ChangesOf(ids)
	if err != nil {
		return 0, err
	}
	seen := undoings{}
	for _, g := range later {
		if g <= of.Generation {
			break
		}
		c, err := tx.Change(g)
		if err == objectdb.ErrNotFound {
			continue
		}
		if err != nil {
			return 0, err
		}
		seen.see(c)
	}
	return seen[of.Generation], nil
}
