package main

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/spf13/cobra"

	"scripter/objectdb"
	"scripter/objectdb/roots"
	"scripter/rootname"
)

func (t *tool) copyCommand() *cobra.Command {
	var move, unmark bool
	c := &cobra.Command{
		Use:   "copy FROM TO",
		Short: "copy a whole root, from a file or PostgreSQL to the other",
		Long: `Copy makes a new root TO that has everything of the root FROM, in one state: objects,
versions and the history. Each is a file or a URL of PostgreSQL. Servers that use FROM go
on. TO appears whole or not at all, and must not exist before.

What was written is read again. For each table in the root table, copy prints the number
of objects, the number of past states in the history, and a checksum, which is the same
for both: if one is not, there is no copy, and an error names the table.

With --move, FROM refuses every write from the moment of the copy on, also in programs that
are running, and says where the root is now; it can still be read. So nothing is lost
while servers change to TO. If the copy fails, FROM can be written again. If scripter is
killed meanwhile, look whether there is a root TO ("scripter --root TO check"). If there is
none, "scripter copy --unmark FROM" makes FROM writable again.`,
		Args: func(c *cobra.Command, list []string) error {
			n := 2
			if unmark {
				n = 1
			}
			return args(n, n)(c, list)
		},
		ValidArgsFunction: t.arguments(files, files),
		RunE: func(c *cobra.Command, args []string) error {
			for _, name := range args {
				if err := rootname.CheckPublic(name); err != nil {
					return usageError{err}
				}
			}
			t.root = args[0]
			switch {
			case unmark && move:
				return usageError{errors.New("--move and --unmark exclude each other")}
			case unmark:
				return t.unmark(c.Context())
			}
			return t.copyRoot(c.Context(), args[1], move)
		},
	}
	c.Flags().BoolVar(&move, "move", false, "let FROM refuse writes from then on, and say where the root is")
	c.Flags().BoolVar(&unmark, "unmark", false, "make FROM writable again after --move")
	return c
}

func (t *tool) copyRoot(ctx context.Context, to string, move bool) error {
	target := to
	if !rootname.IsURL(to) {
		full, err := filepath.Abs(to)
		if err != nil {
			return err
		}
		target = full
	}
	if there, err := roots.Exists(to); err != nil || there {
		if err == nil {
			err = &objectdb.Error{Op: "copy to", Path: to, Err: fs.ErrExist}
		}
		return err
	}
	o := forReading
	if move {
		o = forWork
	}
	db, err := t.open(o)
	if err != nil {
		return err
	}
	defer db.Close()
	read := db.Dump
	if move {
		read = func(ctx context.Context, fn func(*objectdb.Dump) error) error { return db.Move(ctx, target, fn) }
	}
	p := t.progress("copying "+t.rootName(), 0)
	var sums []objectdb.Sum
	var changes int64
	err = read(ctx, func(d *objectdb.Dump) (err error) {
		d.Progress = func(done, all int64) {
			p.total = all
			p.add(done - p.done)
		}
		changes = d.History.Changes
		sums, err = roots.Import(ctx, to, objectdb.Options{}, d)
		return err
	})
	p.end()
	if err != nil {
		return err
	}
	made, err := roots.Open(to, objectdb.Options{LockTime: -1})
	if err != nil {
		return err
	}
	defer made.Close()
	if err := t.buildIndexes(ctx, made); err != nil {
		return err
	}
	return t.printCopied(to, sums, changes, move)
}

func (t *tool) printCopied(to string, sums []objectdb.Sum, changes int64, moved bool) error {
	var objects, states int64
	for _, s := range sums {
		objects, states = objects+s.Objects, states+s.States
	}
	if t.json {
		tables := []any{}
		for _, s := range sums {
			tables = append(tables, map[string]any{"table": s.Table, "objects": s.Objects, "states": s.States,
				"checksum": hex.EncodeToString(s.Checksum[:])})
		}
		return t.printJSON(map[string]any{"from": t.rootName(), "to": to, "moved": moved,
			"objects": objects, "states": states, "changes": changes, "tables": tables})
	}
	fmt.Fprintf(t.out, "%10s %12s  %-32s  %s\n", "objects", "past states", "checksum, equal in both", "table")
	for _, s := range sums {
		name := s.Table
		if name == "" {
			name = "(in no table)"
		}
		fmt.Fprintf(t.out, "%10d %12d  %s  %s\n", s.Objects, s.States, hex.EncodeToString(s.Checksum[:16]), name)
	}
	fmt.Fprintf(t.out, "copied %s to %s: %s, %s, %s\n", t.rootName(), to, counted(int(objects), "object"),
		counted(int(states), "past state"), counted(int(changes), "change"))
	if moved {
		fmt.Fprintf(t.out, "%s can now only be read; let all programs use %s\n", t.rootName(), to)
	}
	return nil
}

// unmark makes a root that was moved writable again.
func (t *tool) unmark(ctx context.Context) error {
	return t.with(forWork, func(db *objectdb.DB) error {
		target, err := db.Unmark(ctx)
		switch {
		case err != nil:
			return err
		case t.json:
			return t.printJSON(map[string]any{"root": t.rootName(), "wasMovedTo": target})
		case target == "":
			fmt.Fprintf(t.out, "%s was not moved, and can be written\n", t.rootName())
		default:
			fmt.Fprintf(t.out, "%s can be written again; it was moved to %s\n", t.rootName(), target)
		}
		return nil
	})
}
