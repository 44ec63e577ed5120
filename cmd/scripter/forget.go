package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"scripter/history"
	"scripter/objectdb"
	"scripter/objectdb/roots"
	"scripter/valuetext"
)

func (t *tool) forgetCommand() *cobra.Command {
	var yes bool
	c := &cobra.Command{
		Use:   "forget ADDRESS",
		Short: "remove an object from the past, such as a secret",
		Long: `Forget removes the past of the object at ADDRESS, and of all that is or was in the
table there. The present objects stay. This cannot be taken back, and changes of
these objects can no longer be undone. Saved copies stay as they are: forget names
those that may still have the object.`,
		Args:              args(1, 1),
		ValidArgsFunction: t.arguments(addressOf()),
		RunE: func(c *cobra.Command, args []string) error {
			a, err := address(args[0])
			if err != nil {
				return err
			}
			if len(a) == 0 {
				return usageError{errors.New("name an object or a table: the past of the whole root cannot be forgotten")}
			}
			return t.with(forWork, func(db *objectdb.DB) error { return t.forget(c.Context(), db, a, yes) })
		},
	}
	c.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	return c
}

func (t *tool) forget(ctx context.Context, db *objectdb.DB, a objectdb.Address, yes bool) error {
	present := false
	err := db.View(ctx, func(tx *objectdb.Tx) error {
		if _, err := history.IDsAt(tx, a); err != nil {
			return err
		}
		_, err := tx.Find(a)
		present = err == nil
		if objectdb.IsMissing(err) {
			err = nil
		}
		return err
	})
	if err != nil {
		return err
	}
	if !yes {
		if err := t.confirm(fmt.Sprintf("Forget the past of %s for ever?", a)); err != nil {
			return err
		}
	}
	f, err := db.Forget(ctx, a)
	if err != nil {
		return err
	}
	copies, err := copiesWith(ctx, t.rootName(), a)
	if err != nil {
		return err
	}
	if t.json {
		return t.printJSON(map[string]any{"address": a.String(), "states": f.Objects, "bytes": f.Bytes,
			"present": present, "copies": append([]string{}, copies...)})
	}
	stays := ""
	if present {
		stays = "; the present objects stay"
	}
	fmt.Fprintf(t.out, "forgot %s of %s, %s%s\n", valuetext.Count(int(f.Objects), "past state"), a,
		valuetext.Count(int(f.Bytes), "byte"), stays)
	if len(copies) > 0 {
		fmt.Fprintln(t.out, "these saved copies may still hold it, and forget does not change them:")
		for _, name := range copies {
			fmt.Fprintf(t.out, "  %s\n", filepath.Base(name))
		}
	}
	return nil
}

// confirm asks at a terminal whether to continue.
func (t *tool) confirm(question string) error {
	in, _ := t.in.(*os.File)
	if !isTerminal(in) {
		return usageError{hintError{errors.New("this cannot be taken back"), "--yes confirms it"}}
	}
	fmt.Fprintf(t.err, "%s [y/N] ", visible(question))
	answer, err := bufio.NewReader(in).ReadString('\n')
	if err != nil || !strings.HasPrefix(strings.ToLower(strings.TrimSpace(answer)), "y") {
		return errors.New("nothing was changed")
	}
	return nil
}

// copiesWith returns the saved copies of a root that hold an object, now or in their past,
// and those that cannot be read.
func copiesWith(ctx context.Context, root string, a objectdb.Address) (names []string, err error) {
	list, err := roots.Copies(root)
	for _, c := range list {
		holds := true
		_ = roots.Peek(ctx, c.Path, func(tx *objectdb.Tx) error {
			if ids, err := tx.IDsAt(a); err == nil {
				holds = len(ids) > 0
			}
			return nil
		})
		if holds {
			names = append(names, c.Path)
		}
	}
	return names, err
}
