package main

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"scripter/objectdb"
	"scripter/objectdb/roots"
)

func (t *tool) savesCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "saves",
		Short: "list the saved copies of the root",
		Long: `Saves lists the saved copies beside the root, the newest first: a number for
"scripter revert", when it was saved (UTC), its size in bytes, the number of objects,
the file. The root itself is not opened: it may be damaged or gone.`,
		Args: args(0, 0),
		RunE: func(*cobra.Command, []string) error {
			list, err := roots.Copies(t.rootName())
			if err != nil {
				return err
			}
			if t.json {
				copies := []any{}
				for i, c := range list {
					info, err := roots.Inspect(c.Path)
					copies = append(copies, jsonCopy(i+1, c, info, err))
				}
				return t.printJSON(copies)
			}
			if len(list) == 0 {
				fmt.Fprintf(t.out, "there are no saved copies of %s\n", t.rootName())
			}
			for i, c := range list {
				t.printCopy(i+1, c)
			}
			return nil
		},
	}
}

func (t *tool) printCopy(n int, c objectdb.Copy) {
	info, err := roots.Inspect(c.Path)
	note := ""
	var known *objectdb.Error
	switch {
	case errors.As(err, &known):
		note = "  (cannot be used: " + known.Err.Error() + ")"
	case c.Version != 0:
		note = fmt.Sprintf("  (of form %d, kept from before form %d)", c.Version, c.Version+1)
	}
	fmt.Fprintf(t.out, "%3d  %s  %10d  %7d  %s%s\n",
		n, c.Time.Format("2006-01-02 15:04:05"), c.Size, info.Objects, filepath.Base(c.Path), note)
}
