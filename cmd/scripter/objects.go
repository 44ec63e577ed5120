package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"scripter/objectdb"
	"scripter/valuetext"
)

func (t *tool) getCommand() *cobra.Command {
	var at atFlag
	c := &cobra.Command{
		Use:               "get ADDRESS",
		Short:             "print the value of an object",
		Args:              args(1, 1),
		ValidArgsFunction: t.arguments(addressOf()),
		RunE: func(c *cobra.Command, args []string) error {
			a, err := address(args[0])
			if err != nil {
				return err
			}
			return t.viewAt(c.Context(), at, func(tx *objectdb.Tx) error {
				v, err := tx.Get(a)
				if errors.Is(err, objectdb.ErrIsTable) {
					return hintError{err, `"scripter ls -l ` + shellWord(a.String()) + `" lists what is in it`}
				}
				if err != nil {
					return err
				}
				if t.json {
					o, err := tx.Stat(a)
					if err != nil {
						return err
					}
					return t.printJSON(jsonObject(a, o, v))
				}
				return t.printValue(v)
			})
		},
	}
	at.add(t, c)
	return c
}

// printValue prints a value as text: texts and binaries exactly, without a
// line end of our own.
func (t *tool) printValue(v objectdb.Value) error {
	text, end := valuetext.Format(v), "\n"
	switch v.(type) {
	case objectdb.Text, objectdb.Script, objectdb.Outline, objectdb.Binary:
		end = ""
	}
	_, err := io.WriteString(t.raw(), text+end)
	return err
}

func (t *tool) printJSON(v any) error {
	e := json.NewEncoder(t.raw())
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

func (t *tool) lsCommand() *cobra.Command {
	var long bool
	var at atFlag
	c := &cobra.Command{
		Use:               "ls [ADDRESS]",
		Short:             "list a table",
		Args:              args(0, 1),
		ValidArgsFunction: t.arguments(addressOf()),
		RunE: func(c *cobra.Command, args []string) error {
			a, err := address(strings.Join(args, ""))
			if err != nil {
				return err
			}
			at.namesOnly = !long && !t.json
			return t.viewAt(c.Context(), at, func(tx *objectdb.Tx) error {
				list, err := listing(tx, a)
				if err != nil {
					return err
				}
				if t.json {
					objects := []any{}
					for _, o := range list {
						objects = append(objects, jsonObject(a.Child(o.Name), o, nil))
					}
					return t.printJSON(objects)
				}
				for _, o := range list {
					t.printObject(tx, a, o, long)
				}
				return nil
			})
		},
	}
	c.Flags().BoolVarP(&long, "long", "l", false,
		"kind, size (bytes, or objects of a table), time of change and the beginning of the value")
	at.add(t, c)
	return c
}

// listing lists a table, or the one object that is no table.
func listing(tx *objectdb.Tx, a objectdb.Address) ([]objectdb.Object, error) {
	if len(a) > 0 {
		o, err := tx.Stat(a)
		if err != nil {
			return nil, err
		}
		if o.Kind != objectdb.KindTable {
			return []objectdb.Object{o}, nil
		}
	}
	return tx.List(a)
}

func (t *tool) printObject(tx *objectdb.Tx, table objectdb.Address, o objectdb.Object, long bool) {
	name := objectdb.Address{o.Name}.String()
	if o.Kind == objectdb.KindTable {
		name += "."
	}
	if !long {
		fmt.Fprintln(t.out, name)
		return
	}
	preview := ""
	v, err := tx.Get(table.Child(o.Name))
	if err == nil {
		preview = firstLine(valuetext.Format(v), 40)
	} else if errors.Is(err, objectdb.ErrNotKept) {
		preview = "(its value was not kept)"
	} else if n, err := tx.Find(table.Child(o.Name)); err == nil {
		size, _ := tx.Len(n)
		o.Size = int64(size)
	}
	fmt.Fprintf(t.out, "%-8s %8d  %s  %-24s %s\n",
		o.Kind, o.Size, o.Modified.UTC().Format("2006-01-02 15:04:05"), name, preview)
}

func firstLine(s string, n int) string {
	s, _, more := strings.Cut(s, "\n")
	if !utf8.ValidString(s) {
		return "…"
	}
	if r := []rune(s); len(r) > n {
		s, more = string(r[:n]), true
	}
	if more {
		s += "…"
	}
	return strings.Map(func(r rune) rune {
		if r < ' ' {
			return ' '
		}
		return r
	}, s)
}

func (t *tool) rmCommand() *cobra.Command {
	var recursive bool
	var f changeFlags
	c := &cobra.Command{
		Use:   "rm ADDRESS…",
		Short: "remove objects",
		Long: `Rm removes objects and prints what it removed. It removes a table that is not empty
only with -r. "scripter undo" restores the objects.`,
		Args:              args(1, -1),
		ValidArgsFunction: t.arguments(addressOf()),
		RunE: func(c *cobra.Command, args []string) error {
			list, err := addresses(args)
			if err != nil {
				return err
			}
			_, err = t.change(c.Context(), f, func(tx *objectdb.Tx) (done []doneObject, err error) {
				for _, a := range list {
					o, err := remove(tx, a, recursive)
					if err != nil {
						return nil, err
					}
					done = append(done, o)
				}
				return done, nil
			})
			return err
		},
	}
	c.Flags().BoolVarP(&recursive, "recursive", "r", false, "remove tables with all below them")
	f.add(c)
	return c
}

func remove(tx *objectdb.Tx, a objectdb.Address, recursive bool) (doneObject, error) {
	o := doneObject{change: "removed"}
	if len(a) == 0 {
		return o, tx.Delete(a) // the error says that the root cannot be removed
	}
	if err := o.describe(tx, a); err != nil {
		return o, err
	}
	if o.kind == objectdb.KindTable && o.size > 0 && !recursive {
		return o, hintError{fmt.Errorf("%s is a table with %s", a, counted(o.size, "object")),
			"-r removes it with all below it"}
	}
	return o, tx.Delete(a)
}

func (t *tool) mvCommand() *cobra.Command {
	return t.twoAddresses(&cobra.Command{
		Use: "mv FROM TO", Short: "move or rename an object",
		Long: `Mv moves or renames an object, and prints what it did. It replaces nothing. A
missing table above TO is an error, unless --parents is given. "scripter undo"
moves the object back.`,
	}, "moved", (*objectdb.Tx).Move)
}

func (t *tool) cpCommand() *cobra.Command {
	return t.twoAddresses(&cobra.Command{
		Use: "cp FROM TO", Short: "copy an object with all below it",
		Long: `Cp copies an object with all below it, and prints what it did. It replaces
nothing. A missing table above TO is an error, unless --parents is given.
"scripter undo" removes the copy.`,
	}, "copied", (*objectdb.Tx).Copy)
}

func (t *tool) twoAddresses(
	c *cobra.Command, change string, do func(tx *objectdb.Tx, from, to objectdb.Address) error,
) *cobra.Command {
	var parents bool
	var f changeFlags
	c.Args = args(2, 2)
	c.ValidArgsFunction = t.arguments(addressOf(), addressOf())
	c.RunE = func(c *cobra.Command, args []string) error {
		list, err := addresses(args)
		if err != nil {
			return err
		}
		from, to := list[0], list[1]
		_, err = t.change(c.Context(), f, func(tx *objectdb.Tx) ([]doneObject, error) {
			n, err := tx.Find(from)
			if err != nil {
				return nil, err
			}
			o := doneObject{change: change, from: tx.Address(n)}
			if o.from.String() == to.String() {
				o.change, o.from = "unchanged", nil
			}
			if o.tables, err = missingTables(tx, to, parents); err != nil {
				return nil, err
			}
			if err := do(tx, from, to); err != nil {
				return nil, err
			}
			err = o.describe(tx, to)
			return []doneObject{o}, err
		})
		return err
	}
	parentsFlag(c, &parents)
	f.add(c)
	return c
}

// jsonObject returns what --json prints of an object.
func jsonObject(a objectdb.Address, o objectdb.Object, v objectdb.Value) map[string]any {
	m := map[string]any{
		"address": a.String(), "name": o.Name, "kind": o.Kind.String(), "version": o.Version,
		"created": o.Created.UTC(), "modified": o.Modified.UTC(), "size": o.Size,
	}
	if o.Type != "" {
		m["type"] = o.Type
	}
	if v != nil {
		m["value"] = valuetext.JSON(v)
	}
	return m
}
