package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"scripter/gateway"
	"scripter/objectdb"
	"scripter/runner"
	"scripter/script/lint"
)

func (t *tool) lintCommand() *cobra.Command {
	var at atFlag
	var folder string
	c := &cobra.Command{
		Use:   "lint [ADDRESS|FILE]",
		Short: "look for likely mistakes in scripts and pages",
		Long: `Lint reads the script at ADDRESS, or all scripts of the table there (else of
the whole root), and runs nothing. It finds scripts that do not compile, names
that nothing defines, functions that a library, a group of verbs or a table of
the root does not have, locals that nothing reads, and markers in strings, which
no response replaces. A comment "lint: ok" silences its line. Of the whole root it
also finds rows of user.webserver.limits, requires, routes, roles and history that have no effect.
It reads pages, too: the texts of the root that answer URLs, or the page in FILE, with
the parts and layouts that it names. It finds markers that are not written correctly, objects and parts
that are not there, what markers may not call or see, data in places where it is refused, and what
visitors wrote and the page inserts as HTML.
The exit status is 1 when something was found. The supplied sample with a syntax
error counts only if ADDRESS is the sample itself.`,
		Args:              args(0, 1),
		ValidArgsFunction: t.arguments(addressOf(objectdb.KindScript)),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) > 0 && isPageFile(args[0]) {
				return t.lintFile(c, at, args[0], folder)
			}
			a, err := address(strings.Join(args, ""))
			if err != nil {
				return err
			}
			return t.withAt(c.Context(), at, forReading, func(db *objectdb.DB) error { return t.lint(c, db, a) })
		},
	}
	at.add(t, c)
	c.Flags().StringVar(&folder, "site", "", "folder of the pages (DOCUMENT_ROOT); the folder of FILE, if it is not given")
	t.flag(c, "site", folders)
	return c
}

// isPageFile reports whether an argument names a file and not an object.
func isPageFile(arg string) bool {
	return strings.ContainsRune(arg, filepath.Separator) || strings.EqualFold(filepath.Ext(arg), ".mcro")
}

// lintFile looks for mistakes in a page.
func (t *tool) lintFile(c *cobra.Command, at atFlag, name, folder string) error {
	file, err := filepath.Abs(name)
	if err != nil {
		return err
	}
	if _, err := os.Stat(file); err != nil {
		return err
	}
	f := requestFlags{site: cmp.Or(folder, filepath.Dir(file))}
	r, err := f.request("/"+filepath.Base(file), t.in)
	if err != nil {
		return err
	}
	return t.withGatewayAt(c.Context(), at, forReading, func(g *gateway.Gateway) error {
		l := runner.Linted{Pages: 1}
		if l.Findings, err = g.LintFile(c.Context(), r, file); err != nil {
			return err
		}
		return t.printLinted(l)
	})
}

func (t *tool) lint(c *cobra.Command, db *objectdb.DB, a objectdb.Address) error {
	if len(a) > 0 {
		if err := checkLintable(c, db, a); err != nil {
			return err
		}
	}
	g := gateway.New(gateway.Options{DB: db})
	l, err := g.Runner().Lint(c.Context(), a)
	if err != nil {
		return err
	}
	pages, n, err := g.LintTexts(c.Context(), a)
	if err != nil {
		return err
	}
	l.Findings, l.Pages = append(l.Findings, pages...), n
	if err := withoutSample(c, db, a, &l); err != nil {
		return err
	}
	return t.printLinted(l)
}

// checkLintable refuses what is neither a script, a page nor a table.
func checkLintable(c *cobra.Command, db *objectdb.DB, a objectdb.Address) error {
	return db.View(c.Context(), func(tx *objectdb.Tx) error {
		o, err := tx.Stat(a)
		if err != nil {
			return err
		}
		switch o.Kind {
		case objectdb.KindScript, objectdb.KindTable, objectdb.KindString, objectdb.KindText, objectdb.KindOutline:
			return nil
		}
		return fmt.Errorf("lint %s: it is a %s, no script and no page", a, o.Kind)
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
		if err := t.printJSON(map[string]any{"scripts": l.Scripts, "pages": l.Pages,
			"findings": append([]lint.Finding{}, l.Findings...)}); err != nil {
			return err
		}
	} else {
		for _, f := range l.Findings {
			fmt.Fprintln(t.out, f)
		}
	}
	if len(l.Findings) > 0 {
		return fmt.Errorf("%s in %s", counted(len(l.Findings), "finding"), linted(l))
	}
	if !t.json {
		fmt.Fprintf(t.out, "%s, nothing found\n", linted(l))
	}
	return nil
}

// linted says what was looked at.
func linted(l runner.Linted) string {
	switch {
	case l.Pages == 0:
		return counted(l.Scripts, "script")
	case l.Scripts == 0:
		return counted(l.Pages, "page")
	}
	return counted(l.Scripts, "script") + " and " + counted(l.Pages, "page")
}

// counted returns a number with its noun, such as "2 files".
func counted(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}
