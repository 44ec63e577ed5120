package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"scripter/objectdb"
	"scripter/objectdb/roots"
	"scripter/objectfiles"
	"scripter/root"
	"scripter/site"
)

func (t *tool) initCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "init",
		Short: "make a root with the supplied objects",
		Args:  args(0, 0),

		Annotations: map[string]string{makesRoot: "yes"},
		RunE: func(c *cobra.Command, _ []string) error {
			if err := t.makeRoot(c.Context()); err != nil {
				return err
			}
			fmt.Fprintf(t.out, "made %s\n", t.rootName())
			return nil
		},
	}
}

// makeRoot makes a root with the supplied objects.
func (t *tool) makeRoot(ctx context.Context) error {
	o := forWork
	o.Origin, o.History = t.origin(), site.History()
	o.Origin.Person = false // otherwise "scripter undo" would take back the supplied objects
	return roots.Create(ctx, t.rootName(), o, func(tx *objectdb.Tx) error {
		_, err := objectfiles.Import(tx, root.FS, nil, nil)
		return err
	})
}
