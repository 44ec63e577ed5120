package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"scripter/objectdb"
	"scripter/site"
	"scripter/valuetext"
)

func (t *tool) limitsCommand() *cobra.Command {
	var remove bool
	c := &cobra.Command{
		Use:   "limits [ADDRESS [NAME [VALUE]]]",
		Short: "list, check and set the limits of single scripts",
		Long: `Limits lists the rows of user.webserver.limits: the limits that are others for
a script, or for all scripts of a table, than the settings say. With an ADDRESS
it shows all limits that count for that object, and where each was set. With
NAME and VALUE it checks a limit of the object and sets it; --remove takes it
away. NAME is that of a setting, and VALUE in its unit: seconds for maxTime.`,
		Args:              args(0, 3),
		ValidArgsFunction: t.arguments(addressOf(objectdb.KindScript), limitNames, nothing),
		RunE: func(c *cobra.Command, args []string) error {
			if remove && len(args) != 2 {
				return usageError{hintError{fmt.Errorf("limits --remove takes an address and a name"),
					"usage: " + c.UseLine()}}
			}
			if len(args) == 0 {
				return t.view(c.Context(), t.listLimits)
			}
			a, err := address(args[0])
			if err != nil {
				return err
			}
			if len(args) == 1 {
				return t.view(c.Context(), func(tx *objectdb.Tx) error { return t.showLimits(tx, a) })
			}
			set, ok := site.FindLimit(args[1])
			if !ok {
				return usageError{hintError{fmt.Errorf("there is no limit %q of a script", args[1]),
					`"scripter limits ADDRESS" lists them`}}
			}
			switch {
			case remove:
				return t.update(c.Context(), func(tx *objectdb.Tx) error { return site.RemoveLimit(tx, a, set) })
			case len(args) == 2:
				return t.view(c.Context(), func(tx *objectdb.Tx) error { return t.showLimits(tx, a, set) })
			}
			return t.setLimit(c.Context(), a, set, args[2])
		},
	}
	c.Flags().BoolVar(&remove, "remove", false, "take the limit away")
	return c
}

// listLimits prints all rows; what is wrong with them follows as warnings.
func (t *tool) listLimits(tx *objectdb.Tx) error {
	rows, err := site.ReadLimitRows(tx)
	if err != nil {
		return err
	}
	if t.json {
		return t.printJSON(jsonLimitRows(rows))
	}
	if len(rows) == 0 {
		fmt.Fprintln(t.out, "no script has limits of its own; those of all are settings")
		return nil
	}
	var lines [][]string
	for _, r := range rows {
		for _, c := range r.Cells {
			if c.Value != nil {
				lines = append(lines, []string{r.Address, c.Name, valuetext.Format(c.Value)})
			}
		}
	}
	if err := t.columns(lines); err != nil {
		return err
	}
	for _, r := range rows {
		if r.Why != nil {
			t.warn("%s: %v", site.LimitRows.Child(r.Address), r.Why)
		}
		for _, c := range r.Cells {
			if c.Why != nil {
				t.warn("%s: %v", site.LimitRows.Child(r.Address).Child(c.Name), c.Why)
			}
		}
	}
	return nil
}

func jsonLimitRows(rows []site.LimitRow) []any {
	list := []any{}
	for _, r := range rows {
		for _, c := range r.Cells {
			m := map[string]any{"address": r.Address, "name": c.Name}
			if c.Value != nil {
				m["value"] = valuetext.JSON(c.Value)
			}
			for _, why := range []error{r.Why, c.Why} {
				if why != nil {
					m["why"] = why.Error()
				}
			}
			list = append(list, m)
		}
	}
	return list
}

// showLimits prints the limits of the object at a, which need not be there yet.
func (t *tool) showLimits(tx *objectdb.Tx, a objectdb.Address, only ...*site.Setting) error {
	s, err := site.Read(tx)
	if err != nil {
		return err
	}
	list := s.Limits(a).All()
	if len(only) > 0 {
		list = list[:0]
		for _, set := range only {
			list = append(list, s.Limits(a).Get(set))
		}
	}
	switch _, err := tx.Stat(a); {
	case errors.Is(err, objectdb.ErrNotFound):
		t.warn("there is no %s yet; these limits will count for it", a)
	case err != nil:
		return err
	}
	if t.json {
		return t.printJSON(jsonLimits(list))
	}
	var rows [][]string
	for _, l := range list {
		rows = append(rows, []string{l.Setting.Name, fmt.Sprint(l.Value), l.From().String()})
	}
	return t.columns(rows)
}

func jsonLimits(list []site.Limit) []any {
	out := []any{}
	for _, l := range list {
		out = append(out, map[string]any{"name": l.Setting.Name, "value": l.Value, "from": l.From().String()})
	}
	return out
}

func (t *tool) setLimit(ctx context.Context, a objectdb.Address, set *site.Setting, text string) error {
	v, err := parseValue(objectdb.KindNumber, text)
	if err != nil {
		return err
	}
	var before site.Limit
	missing := false
	err = t.update(ctx, func(tx *objectdb.Tx) error {
		s, err := site.Read(tx)
		if err != nil {
			return err
		}
		before = s.Limits(a).Get(set)
		_, err = tx.Stat(a)
		missing = err != nil
		return site.SetLimit(tx, a, set, float64(v.(objectdb.Number)))
	})
	if err != nil {
		return hintError{fmt.Errorf("%s: %w", set.Name, err), "nothing was changed"}
	}
	if missing {
		t.warn("there is no %s yet", a)
	}
	if t.json {
		return t.printJSON(map[string]any{"address": a.String(), "name": set.Name,
			"before": before.Value, "value": valuetext.JSON(v)})
	}
	fmt.Fprintf(t.out, "%s: %s (was %v)\n", set.Name, valuetext.Format(v), before.Value)
	return nil
}
