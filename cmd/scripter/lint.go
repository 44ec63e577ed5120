package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"scripter/gateway"
	"scripter/objectdb"
	"scripter/runner"
	"scripter/script/lint"
)

func (t *tool) lintCommand() *cobra.Command {
	var at atFlag
	c := &cobra.Command{
		Use:   "lint [ADDRESS]",
		Short: "look for likely mistakes in scripts",
		Long: `Lint reads the script at ADDRESS, or all scripts of the table there (else of
the whole root), and runs nothing. It finds scripts that do not compile, names
that nothing defines, functions that a library, a group of verbs or a table of
the root does not have, locals that nothing reads, and markers in strings, which
no response replaces. A comment "lint: ok" silences its line. Of the whole root it
also finds rows of user.webserver.limits, requires, roles and history that have no effect.
The exit status is 1 when something was found. The supplied sample with a syntax
error counts only if ADDRESS is the sample itself.`,
		Args:              args(0, 1),
		ValidArgsFunction: t.arguments(addressOf(objectdb.KindScript)),
		RunE: func(c *cobra.Command, args []string) error {
			a, err := address(strings.Join(args, ""))
			if err != nil {
				return err
			}
			return t.withAt(c.Context(), at, forReading, func(db *objectdb.DB) error { return t.lint(c, db, a) })
		},
	}
	at.add(t, c)
	return c
}

func (t *tool) lint(c *cobra.Command, db *objectdb.DB, a objectdb.Address) error {
	if len(a) > 0 {
		if err := checkLintable(c, db, a); err != nil {
			return err
		}
	}
	l, err := gateway.New(gateway.Options{DB: db}).Runner().Lint(c.Context(), a)
	if err != nil {
		return err
	}
	if err := withoutSample(c, db, a, &l); err != nil {
		return err
	}
	return t.printLinted(l)
}

// checkLintable refuses what is neither a script nor a table.
func checkLintable(c *cobra.Command, db *objectdb.DB, a objectdb.Address) error {
	return db.View(c.Context(), func(tx *objectdb.Tx) error {
		o, err := tx.Stat(a)
		if err == nil && o.Kind != objectdb.KindScript && o.Kind != objectdb.KindTable {
			err = fmt.Errorf("lint %s: it is a %s, no script", a, o.Kind)
		}
		return err
	})
}

// withoutSample drops the finding that a supplied script does not compile, unless it was
// asked for: a sample shows such a mistake, and a new root would never pass.
func withoutSample(c *cobra.Command, db *objectdb.DB, asked objectdb.Address, l *runner.Linted) error {
	return db.View(c.Context(), func(tx *objectdb.Tx) error {
		var kept []lint.Finding
		for _, f := range l.Findings {
			if f.Rule == "syntax" {
				a, err := address(f.Name)
				if err != nil {
					return err
				}
				v, err := tx.Get(a)
				if err != nil && !errors.Is(err, objectdb.ErrNotFound) {
					return err
				}
				if source, ok := v.(objectdb.Script); ok && supplied(source) &&
					!strings.EqualFold(a.String(), asked.String()) {
					continue
				}
			}
			kept = append(kept, f)
		}
		l.Findings = kept
		return nil
	})
}

func (t *tool) printLinted(l runner.Linted) error {
	if t.json {
		if err := t.printJSON(map[string]any{"scripts": l.Scripts,
			"findings": append([]lint.Finding{}, l.Findings...)}); err != nil {
			return err
		}
	} else {
		for _, f := range l.Findings {
			fmt.Fprintln(t.out, f)
		}
	}
	if len(l.Findings) > 0 {
		return fmt.Errorf("%s in %s", counted(len(l.Findings), "finding"), counted(l.Scripts, "script"))
	}
	if !t.json {
		fmt.Fprintf(t.out, "%s, nothing found\n", counted(l.Scripts, "script"))
	}
	return nil
}

// counted returns a number with its noun, such as "2 files".
func counted(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}
