package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"scripter/objectdb"
	"scripter/objectdb/roots"
)

func (t *tool) revertCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "revert [COPY|N]",
		Short: "go back to a saved copy",
		Long: `Revert makes the root what it was when a copy was saved: the newest copy, or the
one with the number N of "scripter saves", or the file COPY. The copy is checked first and
the present state is saved; a second "scripter revert", or "scripter undo", goes back
to it.
Servers go on: each request sees the one state or the other.`,
		Args:              args(0, 1),
		ValidArgsFunction: t.arguments(savedCopies),
		RunE: func(c *cobra.Command, args []string) error {
			return t.revert(c.Context(), strings.Join(args, ""))
		},
	}
}

func (t *tool) revert(ctx context.Context, which string) error {
	file, err := t.findCopy(which)
	if err != nil {
		return err
	}
	db, err := t.open(forWork)
	if errors.Is(err, objectdb.ErrDamaged) {
		return hintError{err,
			fmt.Sprintf("stop the servers, move the root and its -wal and -shm files away, "+
				"and copy %s into its place", file)}
	}
	if err != nil {
		return err
	}
	defer db.Close()
	o, end := t.saveOptions("saving the present state")
	r, err := db.Revert(ctx, file, o)
	end()
	if err != nil {
		return saveHint(err)
	}
	if err := t.buildIndexes(ctx, db); err != nil {
		return err
	}
	number := t.kept(ctx, db, r.Generation)
	if t.json {
		return t.printJSON(withNumber(map[string]any{"copy": file, "before": r.Before.Path,
			"restored": r.Restored, "removed": r.Removed}, number))
	}
	fmt.Fprintf(t.out, "saved the present state as %s\n", filepath.Base(r.Before.Path))
	back := ""
	if number > 0 {
		back = "; " + t.self("undo") + " takes it back"
	}
	fmt.Fprintf(t.out, "%s is as it was in %s: %s put back, %d removed%s\n",
		t.rootName(), filepath.Base(file), counted(int(r.Restored), "object"), r.Removed, back)
	return nil
}

// findCopy returns the file of a copy by its number, its name or its path, or the newest
// copy for "".
func (t *tool) findCopy(which string) (string, error) {
	list, err := roots.Copies(t.rootName())
	if err != nil {
		return "", err
	}
	n, notNumber := 1, error(nil)
	if which != "" {
		n, notNumber = strconv.Atoi(which)
	}
	if notNumber == nil {
		if n < 1 || n > len(list) {
			return "", hintError{fmt.Errorf("%s has %d saved copies, and none with the number %d",
				t.rootName(), len(list), n),
				`"scripter saves" lists them`}
		}
		return list[n-1].Path, nil
	}
	for _, c := range list {
		if which == filepath.Base(c.Path) {
			return c.Path, nil
		}
	}
	return which, nil
}
