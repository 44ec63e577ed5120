package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"scripter/objectdb"
	"scripter/objectdb/sqlitestore"
	"scripter/objectfiles"
	"scripter/root"
	"scripter/site"
)

func (t *tool) initCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "init",
		Short: "make a root with the supplied objects",
		Args:  args(0, 0),
		RunE: func(c *cobra.Command, _ []string) error {
			if err := t.makeRoot(c.Context(), t.rootFile()); err != nil {
				return err
			}
			fmt.Fprintf(t.out, "made %s\n", t.rootFile())
			return nil
		},
	}
}

// makeRoot makes a root with the supplied objects: under another name first,
// so that it appears whole or not at all.
func (t *tool) makeRoot(ctx context.Context, file string) error {
	if _, err := os.Lstat(file); err == nil {
		return fmt.Errorf("make %s: %w", file, fs.ErrExist)
	}
	folder := filepath.Dir(file)
	if _, err := os.Stat(folder); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("make %s: there is no folder %s", file, folder)
	}
	unfinished := fmt.Sprintf("%s.%d", file, os.Getpid())
	if err := t.fill(ctx, unfinished); err != nil {
		os.Remove(unfinished)
		var named *objectdb.Error
		if errors.As(err, &named) && named.Path == unfinished {
			return &objectdb.Error{Op: named.Op, Path: file, Err: named.Err}
		}
		return err
	}
	defer os.Remove(unfinished)
	// Unlike a rename, a link never replaces what somebody else made meanwhile.
	return os.Link(unfinished, file)
}

func (t *tool) fill(ctx context.Context, file string) error {
	o := forWork
	o.Origin, o.History = t.origin(), site.History()
	o.Origin.Person = false // otherwise "scripter undo" would take back the supplied objects
	db, err := sqlitestore.Create(file, o)
	if err != nil {
		return err
	}
	err = db.UpdateLocked(ctx, func(tx *objectdb.Tx) error {
		_, err := objectfiles.Import(tx, root.FS, nil, nil)
		return err
	})
	return errors.Join(err, db.Close())
}
