package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"scripter/objectdb"
	"scripter/runner"
)

func (t *tool) checkCommand() *cobra.Command {
	var strict bool
	c := &cobra.Command{
		Use:   "check",
		Short: "check every invariant of the root, and that every script compiles",
		Long: `Check looks at every page and row of the root, and compiles every script.
A damaged root is a failure; a script that does not compile is a warning, and a
failure with --strict (the supplied samples hold one such script on purpose).`,
		Args: args(0, 0),
		RunE: func(c *cobra.Command, _ []string) error {
			db, err := t.open(forReading)
			if err != nil {
				return err
			}
			defer db.Close()
			problems, err := db.Check(c.Context())
			if err != nil {
				return err
			}
			objects, broken := 0, []string{}
			if len(problems) == 0 {
				err = db.View(c.Context(), func(tx *objectdb.Tx) error {
					objects, broken, err = compileAll(tx)
					return err
				})
				if err != nil {
					return err
				}
			}
			info, err := db.Info(c.Context())
			if err != nil {
				return err
			}
			if err := t.printCheck(problems, objects, broken, info.Moved); err != nil {
				return err
			}
			switch {
			case len(problems) > 0:
				return hintError{fmt.Errorf("%s is damaged", t.rootName()),
					"restore the newest copy that passes this check"}
			case strict && len(broken) == 1:
				return errors.New("1 script does not compile")
			case strict && len(broken) > 0:
				return fmt.Errorf("%d scripts do not compile", len(broken))
			}
			return nil
		},
	}
	c.Flags().BoolVar(&strict, "strict", false, "fail when a script does not compile")
	return c
}

func compileAll(tx *objectdb.Tx) (objects int, broken []string, err error) {
	err = tx.Walk(nil, func(a objectdb.Address, n *objectdb.Node) error {
		objects++
		if n.Kind() != objectdb.KindScript {
			return nil
		}
		v, err := tx.Value(n)
		if err != nil {
			return err
		}
		if err := runner.Compiles(tx, a, v.(objectdb.Script)); err != nil {
			broken = append(broken, err.Error())
		}
		return nil
	})
	return objects, broken, err
}

func (t *tool) printCheck(problems []objectdb.Problem, objects int, broken []string, moved string) error {
	if t.json {
		list := []string{}
		for _, p := range problems {
			list = append(list, p.Message)
		}
		m := map[string]any{"objects": objects, "problems": list, "scripts": append([]string{}, broken...)}
		if moved != "" {
			m["movedTo"] = moved
		}
		return t.printJSON(m)
	}
	for _, p := range problems {
		fmt.Fprintf(t.out, "damaged: %s\n", p.Message)
	}
	for _, b := range broken {
		fmt.Fprintf(t.out, "warning: %s\n", b)
	}
	if len(problems) == 0 {
		fmt.Fprintf(t.out, "%s is sound: %d objects\n", t.rootName(), objects)
	}
	if moved != "" {
		fmt.Fprintf(t.out, "it was moved to %s, and may only be read\n", moved)
	}
	return nil
}
