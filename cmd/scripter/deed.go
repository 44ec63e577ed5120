package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"scripter/objectdb"
	"scripter/script/lint"
)

// changeFlags are the flags of the commands that undo takes back.
type changeFlags struct {
	noUndo, quiet bool
}

func (f *changeFlags) add(c *cobra.Command) {
	c.Flags().BoolVar(&f.noUndo, "no-undo", false, "do not keep what is replaced")
	c.Flags().BoolVarP(&f.quiet, "quiet", "q", false, "print nothing when all went well")
}

func parentsFlag(c *cobra.Command, parents *bool) {
	c.Flags().BoolVarP(parents, "parents", "p", false, "make the missing tables above it")
}

// deed is what a command has done; the command prints it.
type deed struct {
	what    string
	objects []doneObject
	kept    bool // undo takes it back
}

// doneObject is what a command has done to one object.
type doneObject struct {
	change  string // added, changed, unchanged, removed, moved, copied
	address objectdb.Address
	from    objectdb.Address // the old address of what was moved or copied
	kind    objectdb.Kind
	was     objectdb.Kind // the old kind of what was changed
	size    int           // bytes, or objects of a table
	tables  []objectdb.Address
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
			text += " with " + thousands(o.size, "object")
		}
	} else {
		text += " " + o.kind.String() + ", " + thousands(o.size, "byte")
	}
	if len(o.tables) > 0 {
		names := make([]string, len(o.tables))
		for i, a := range o.tables {
			names[i] = a.String()
		}
		noun := "table"
		if len(names) > 1 {
			noun = "tables"
		}
		text += fmt.Sprintf(", with the new %s %s", noun, strings.Join(names, ", "))
	}
	return text
}

// thousands returns a count with its noun, such as "1,204 bytes".
func thousands(n int, noun string) string {
	digits := strconv.Itoa(n)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	if n != 1 {
		noun += "s"
	}
	return digits + " " + noun
}

// printDeed prints what was done, one line for each object.
func (t *tool) printDeed(d deed, quiet bool) error {
	if quiet {
		return nil
	}
	if t.json {
		objects := []any{}
		for _, o := range d.objects {
			m := map[string]any{"address": o.address.String(), "change": o.change,
				"kind": o.kind.String(), "size": o.size}
			if o.change == "changed" {
				m["was"] = o.was.String()
			}
			if o.from != nil {
				m["from"] = o.from.String()
			}
			tables := []string{}
			for _, a := range o.tables {
				tables = append(tables, a.String())
			}
			m["newTables"] = tables
			objects = append(objects, m)
		}
		return t.printJSON(map[string]any{"objects": objects, "undo": d.kept})
	}
	for i, o := range d.objects {
		end := ""
		if i == len(d.objects)-1 && d.kept {
			end = "; " + t.self(undoStack) + " takes it back"
			if i > 0 {
				end = "; " + t.self(undoStack) + " takes all of it back"
			}
		}
		fmt.Fprintln(t.out, o.String()+end)
	}
	return nil
}

// missingTables returns the missing tables above a. If they may not be made, a missing
// table is an error, because its name may be misspelled.
func missingTables(tx *objectdb.Tx, a objectdb.Address, parents bool) ([]objectdb.Address, error) {
	var made []objectdb.Address
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
		made = append(made, a[:i])
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
