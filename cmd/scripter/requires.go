package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"scripter/objectdb"
	"scripter/site"
)

func (t *tool) requiresCommand() *cobra.Command {
	var remove bool
	c := &cobra.Command{
		Use:   "requires [ADDRESS|/PATH [WHO...]]",
		Short: "list and set who may call a script, or see the pages of a folder",
		Long: `Requires lists the rows of user.webserver.requires: who may call a script, or all
scripts of a table, by any URL that leads to it. With an ADDRESS it shows the row
that applies to that object; with WHO it sets the row of ADDRESS, and --remove
removes it. A path such as /members/ stands for all URLs below it that the root
answers: pages with markers and scripts, but not the files that the web server
sends by itself. WHO is one of

  user              a visitor whom the web server has checked (REMOTE_USER), or who
                    logs in with a name and password of user.webserver.users.default
  user NAME...      the same, if the name is one of these
  role ROLE...      the same, with one of these roles (scripter users)
  realm REALM       a visitor who logs in with a name and password of that realm of
                    user.webserver.users
  anyone            everybody: for one public script in a protected table`,
		Args:              args(0, -1),
		ValidArgsFunction: t.arguments(addressOf(objectdb.KindScript), requirement),
		RunE: func(c *cobra.Command, args []string) error {
			if remove && len(args) != 1 {
				return usageError{hintError{fmt.Errorf("requires --remove takes an address"), "usage: " + c.UseLine()}}
			}
			if len(args) == 0 {
				return t.view(c.Context(), t.listRequirements)
			}
			if strings.HasPrefix(args[0], "/") {
				return t.pathRequirement(c.Context(), args[0], strings.Join(args[1:], " "), remove)
			}
			a, err := address(args[0])
			if err != nil {
				return err
			}
			switch {
			case remove:
				return t.update(c.Context(), func(tx *objectdb.Tx) error { return site.RemoveRequirement(tx, a) })
			case len(args) == 1:
				return t.view(c.Context(), func(tx *objectdb.Tx) error { return t.showRequirement(tx, a) })
			}
			who := strings.Join(args[1:], " ")
			err = t.update(c.Context(), func(tx *objectdb.Tx) error {
				if err := t.warnMissing(tx, a); err != nil {
					return err
				}
				return site.SetRequirement(tx, a, who)
			})
			if err != nil {
				return hintError{fmt.Errorf("requires %s: %w", a, err), "nothing was changed"}
			}
			return nil
		},
	}
	c.Flags().BoolVar(&remove, "remove", false, "remove the row")
	return c
}

// pathRequirement shows, sets or removes the requirement of a path of URLs.
func (t *tool) pathRequirement(ctx context.Context, path, who string, remove bool) error {
	switch {
	case remove:
		return t.update(ctx, func(tx *objectdb.Tx) error { return site.RemovePathRequirement(tx, path) })
	case who == "":
		return t.view(ctx, func(tx *objectdb.Tx) error {
			s, err := site.Read(tx)
			if err != nil {
				return err
			}
			return t.printRequirement(path, s.PathRequirement(path))
		})
	}
	err := t.update(ctx, func(tx *objectdb.Tx) error { return site.SetPathRequirement(tx, path, who) })
	if err != nil {
		return hintError{fmt.Errorf("requires %s: %w", path, err), "nothing was changed"}
	}
	return nil
}

func (t *tool) warnMissing(tx *objectdb.Tx, a objectdb.Address) error {
	_, err := tx.Stat(a)
	if errors.Is(err, objectdb.ErrNotFound) {
		t.warn("there is no %s yet", a)
		return nil
	}
	return err
}

// listRequirements prints all rows, and then warnings about them.
func (t *tool) listRequirements(tx *objectdb.Tx) error {
	rows, err := site.ReadRequireRows(tx)
	if err != nil {
		return err
	}
	if t.json {
		list := []any{}
		for _, r := range rows {
			m := map[string]any{"address": r.Address, "requires": r.Text}
			if r.Closed != nil {
				m["closed"] = r.Closed.Error()
			}
			if r.Idle != nil {
				m["why"] = r.Idle.Error()
			}
			list = append(list, m)
		}
		return t.printJSON(list)
	}
	if len(rows) == 0 {
		fmt.Fprintln(t.out, "no script requires a user: everybody may call them all")
		return nil
	}
	var lines [][]string
	for _, r := range rows {
		lines = append(lines, []string{r.Address, r.Text})
	}
	if err := t.columns(lines); err != nil {
		return err
	}
	for _, r := range rows {
		if r.Closed != nil {
			t.warn("%s admits nobody: %v", site.RequireRows.Child(r.Address), r.Closed)
		}
		if r.Idle != nil {
			t.warn("%s: %v", site.RequireRows.Child(r.Address), r.Idle)
		}
	}
	return nil
}

// showRequirement prints the row that applies to the object at a.
func (t *tool) showRequirement(tx *objectdb.Tx, a objectdb.Address) error {
	if err := t.warnMissing(tx, a); err != nil {
		return err
	}
	s, err := site.Read(tx)
	if err != nil {
		return err
	}
	return t.printRequirement(a.String(), s.Requirement(a))
}

func (t *tool) printRequirement(of string, r site.Requirement) error {
	if r.Text == "" && r.Err != nil {
		return r.Err
	}
	if t.json {
		return t.printJSON(map[string]any{"address": of, "requires": r.Text, "from": r.From.String()})
	}
	fmt.Fprintln(t.out, strings.TrimSpace(r.Text+"  "+r.From.String()))
	return nil
}
