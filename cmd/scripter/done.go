package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"scripter/history"
	"scripter/objectdb"
	"scripter/script/lint"
	"scripter/valuetext"
)

// changeFlags are the flags of the commands that print what they have changed.
type changeFlags struct {
	quiet bool
}

// change runs a command that changes objects, in one transaction. It prints and returns
// what the command has done.
func (t *tool) change(
	ctx context.Context, f changeFlags, fn func(tx *objectdb.Tx) ([]doneObject, error),
) (done []doneObject, err error) {
	var number int64
	err = t.with(forWork, func(db *objectdb.DB) error {
		number, err = t.commit(ctx, db, func(tx *objectdb.Tx) (err error) {
			done, err = fn(tx)
			return err
		})
		return err
	})
	if err != nil || f.quiet {
		return done, err
	}
	return done, t.printDone(done, number)
}

// commit commits what fn changes, and returns the number of the change: see kept.
func (t *tool) commit(ctx context.Context, db *objectdb.DB, fn func(tx *objectdb.Tx) error) (number int64, err error) {
	if number, err = history.Commit(ctx, db, fn); err != nil || number == 0 {
		return 0, err
	}
	if err := t.buildIndexes(ctx, db); err != nil {
		return 0, err
	}
	return t.kept(ctx, db, number), nil
}

// kept returns the number of a change that was made. The number is 0 if nothing is kept of what was
// replaced, because "scripter undo" would then take back another change.
func (t *tool) kept(ctx context.Context, db *objectdb.DB, number int64) int64 {
	kept, err := history.Kept(context.WithoutCancel(ctx), db, number)
	if err != nil {
		t.warn("it is done, but its change cannot be read: %v", err)
	}
	if !kept {
		return 0
	}
	return number
}

func (f *changeFlags) add(c *cobra.Command) {
	c.Flags().BoolVarP(&f.quiet, "quiet", "q", false, "print nothing when all went well")
}

func parentsFlag(c *cobra.Command, parents *bool) {
	c.Flags().BoolVarP(parents, "parents", "p", false, "make the missing tables above it")
}

// doneObject is what a command has done to one object.
type doneObject struct {
	change  string // added, changed, unchanged, removed, moved, copied
	address objectdb.Address
	from    objectdb.Address // the old address of what was moved or copied
	kind    objectdb.Kind
	was     objectdb.Kind // the old kind of what was changed
	size    int           // bytes, or objects of a table
	tables  []string      // the new tables above it
}

// describe notes the kind and the size of the object at a.
func (o *doneObject) describe(tx *objectdb.Tx, a objectdb.Address) error {
	n, err := tx.Find(a)
	if err != nil {
		return err
	}
	o.address, o.kind, o.size = tx.Address(n), n.Kind(), int(n.Size())
	if o.kind == objectdb.KindTable {
		o.size, err = tx.Len(n)
	}
	return err
}

func (o *doneObject) String() string {
	text := o.change + " "
	if o.from != nil {
		text += o.from.String() + " to "
	}
	text += o.address.String()
	if o.change == "changed" && o.was != o.kind {
		text += fmt.Sprintf(", was %s, is now", o.was)
	} else {
		text += ","
	}
	if o.kind == objectdb.KindTable {
		text += " table"
		if o.size > 0 {
			text += " with " + valuetext.Count(o.size, "object")
		}
	} else {
		text += " " + o.kind.String() + ", " + valuetext.Count(o.size, "byte")
	}
	switch len(o.tables) {
	case 0:
		return text
	case 1:
		return text + ", with the new table " + o.tables[0]
	}
	return text + ", with the new tables " + strings.Join(o.tables, ", ")
}

// printDone prints what was done, one line for each object. number is that of the change:
// see commit.
func (t *tool) printDone(done []doneObject, number int64) error {
	if t.json {
		objects := []any{}
		for _, o := range done {
			m := map[string]any{"address": o.address.String(), "change": o.change,
				"kind": o.kind.String(), "size": o.size}
			if o.change == "changed" {
				m["was"] = o.was.String()
			}
			if o.from != nil {
				m["from"] = o.from.String()
			}
			m["newTables"] = append([]string{}, o.tables...)
			objects = append(objects, m)
		}
		return t.printJSON(withNumber(map[string]any{"objects": objects}, number))
	}
	for i, o := range done {
		end := ""
		switch {
		case number == 0 || i < len(done)-1:
		case i == 0:
			end = "; " + t.self("undo") + " takes it back"
		default:
			end = "; " + t.self("undo") + " takes all of it back"
		}
		fmt.Fprintln(t.out, o.String()+end)
	}
	return nil
}

// withNumber adds to what --json prints whether "scripter undo" takes a change back, and
// its number.
func withNumber(m map[string]any, number int64) map[string]any {
	if m["undo"] = number > 0; number > 0 {
		m["number"] = number
	}
	return m
}

// missingTables returns the missing tables above a. If they may not be made, a missing
// table is an error, because its name may be misspelled.
func missingTables(tx *objectdb.Tx, a objectdb.Address, parents bool) ([]string, error) {
	var made []string
	for i := 1; i < len(a); i++ {
		n, err := tx.Find(a[:i])
		if err == nil && n.Kind() != objectdb.KindTable {
			return nil, fmt.Errorf("%s is a %s, not a table: nothing can be at %s", a[:i], n.Kind(), a)
		}
		if err == nil {
			continue
		}
		if !errors.Is(err, objectdb.ErrNotFound) {
			return nil, err
		}
		if !parents {
			return nil, hintError{fmt.Errorf("there is no table %s for %s", a[:i], a),
				nearTable(tx, a, i) + "--parents (-p) makes the tables that are missing"}
		}
		made = append(made, a[:i].String())
	}
	return made, nil
}

// nearTable returns "did you mean x? " with the existing table that a most likely means,
// or "". The first at-1 tables of a exist.
func nearTable(tx *objectdb.Tx, a objectdb.Address, at int) string {
	in := a[:at-1]
	var names []string
	list, err := tx.List(in)
	if err != nil {
		return ""
	}
	for _, o := range list {
		if o.Kind == objectdb.KindTable {
			names = append(names, o.Name)
		}
	}
	best := lint.Nearest(a[at-1], names)
	if best == "" {
		return ""
	}
	found := in.Child(best)
	// The rest of the address may be right.
	for i := at; i < len(a)-1; i++ {
		n, err := tx.Find(found.Child(a[i]))
		if err != nil || n.Kind() != objectdb.KindTable {
			break
		}
		found = tx.Address(n)
	}
	return fmt.Sprintf("did you mean %s? ", found)
}
