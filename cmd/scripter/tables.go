package main

import (
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"scripter/objectdb"
	"scripter/site"
)

// columns prints rows in columns; an empty cell is a dash. It makes characters that
// control a terminal visible.
func (t *tool) columns(rows [][]string) error {
	w := tabwriter.NewWriter(t.out, 0, 0, 2, ' ', 0)
	for _, r := range rows {
		for i := range r {
			if r[i] = oneLine(r[i]); r[i] == "" {
				r[i] = "-"
			}
		}
		fmt.Fprintln(w, strings.Join(r, "\t"))
	}
	return w.Flush()
}

var errRemoveWhat = usageError{errors.New("--remove takes the names of a row, and no value")}

// changed runs a change of the tables; what it warns of is printed when it
// is done.
func (t *tool) changed(c *cobra.Command, change func(tx *objectdb.Tx) ([]string, error)) error {
	var warnings []string
	err := t.update(c.Context(), func(tx *objectdb.Tx) error {
		var err error
		warnings, err = change(tx)
		return err
	})
	for _, w := range warnings {
		if err == nil {
			t.warn("%s", w)
		}
	}
	return err
}

func (t *tool) actionsCommand() *cobra.Command {
	var remove bool
	c := &cobra.Command{
		Use:   "actions [NAME [HANDLER]]",
		Short: "list, check and set the action handler table",
		Long: `Actions lists the known actions: name, URL path of the handler, and the object of
user.webserver.actions that answers. With a NAME it shows one; with a HANDLER
too it checks the row and sets it. --remove removes the row.`,
		Args: args(0, 2),
		RunE: func(c *cobra.Command, args []string) error {
			switch {
			case remove && len(args) != 1:
				return errRemoveWhat
			case remove:
				return t.changed(c, func(tx *objectdb.Tx) ([]string, error) { return site.RemoveAction(tx, args[0]) })
			case len(args) == 2:
				return t.changed(c, func(tx *objectdb.Tx) ([]string, error) {
					return site.SetAction(tx, args[0], args[1])
				})
			}
			return t.view(c.Context(), func(tx *objectdb.Tx) error { return t.listActions(tx, args) })
		},
	}
	c.Flags().BoolVar(&remove, "remove", false, "remove the row of NAME")
	return c
}

func (t *tool) listActions(tx *objectdb.Tx, only []string) error {
	s, err := site.Read(tx)
	if err != nil {
		return err
	}
	rows, objects := [][]string{}, []any{}
	for _, e := range s.Actions() {
		if len(only) > 0 && !strings.EqualFold(e.Name, only[0]) {
			continue
		}
		rows = append(rows, []string{e.Name, e.Handler, e.Object.String()})
		objects = append(objects, map[string]string{"name": e.Name, "handler": e.Handler, "script": e.Object.String()})
	}
	return t.printRows(rows, objects, only)
}

// printRows prints a table. Where rows were asked for and none is there, it
// fails.
func (t *tool) printRows(rows [][]string, objects []any, only []string) error {
	if len(only) > 0 && len(rows) == 0 {
		return fmt.Errorf("there is no row of %s", strings.Join(only, " "))
	}
	if t.json {
		return t.printJSON(objects)
	}
	return t.columns(rows)
}

func (t *tool) mimetypesCommand() *cobra.Command {
	var remove bool
	c := &cobra.Command{
		Use:   "mimetypes [.EXT [TYPE [ACTION]]]",
		Short: "list, check and set the mime extension table",
		Long: `Mimetypes lists the extensions with MIME type and action. With a TYPE it checks
the row and sets it. Without an ACTION that of the row stays; '' takes it away.
--remove removes the row.`,
		Args: args(0, 3),
		RunE: func(c *cobra.Command, args []string) error {
			switch {
			case remove && len(args) != 1:
				return errRemoveWhat
			case remove:
				return t.changed(c, func(tx *objectdb.Tx) ([]string, error) {
					return nil, site.RemoveMimeType(tx, args[0])
				})
			case len(args) > 1:
				var action *string
				if len(args) == 3 {
					action = &args[2]
				}
				return t.changed(c, func(tx *objectdb.Tx) ([]string, error) {
					return nil, site.SetMimeType(tx, args[0], args[1], action)
				})
			}
			return t.view(c.Context(), func(tx *objectdb.Tx) error { return t.listMimeTypes(tx, args) })
		},
	}
	c.Flags().BoolVar(&remove, "remove", false, "remove the row of .EXT")
	return c
}

func (t *tool) listMimeTypes(tx *objectdb.Tx, only []string) error {
	s, err := site.Read(tx)
	if err != nil {
		return err
	}
	rows, objects := [][]string{}, []any{}
	for _, e := range s.MimeTypes() {
		if len(only) > 0 && !strings.EqualFold(e.Extension, only[0]) {
			continue
		}
		rows = append(rows, []string{e.Extension, e.Type, e.Action})
		objects = append(objects, map[string]string{"extension": e.Extension, "type": e.Type, "action": e.Action})
	}
	return t.printRows(rows, objects, only)
}

func (t *tool) overridesCommand() *cobra.Command {
	return t.pathRowsCommand(site.Overrides, &cobra.Command{
		Use:   "overrides [HOST PREFIX [ACTION]]",
		Short: "list, check and set Action Override: an action for a folder or file",
		Long: `Overrides lists the rows of Action Override: host (* is every host), path
prefix, action. With an ACTION it checks the row and sets it. --remove removes
the row of HOST and PREFIX.`,
		Args: args(0, 3),
	})
}

func (t *tool) indexCommand() *cobra.Command {
	return t.pathRowsCommand(site.DirectoryIndex, &cobra.Command{
		Use:   "index [HOST PREFIX [FILE…]]",
		Short: "list, check and set DirectoryIndex: the files of a folder's URL",
		Long: `Index lists the rows of DirectoryIndex: host (* is every host), path prefix, file
names, the first that is there counts. With FILE names it checks the row and
sets it. --remove removes the row of HOST and PREFIX. This is for "scripter
serve"; other web servers have a DirectoryIndex of their own.`,
		Args: args(0, -1),
	})
}

func (t *tool) pathRowsCommand(table objectdb.Address, c *cobra.Command) *cobra.Command {
	var remove bool
	c.RunE = func(c *cobra.Command, args []string) error {
		switch {
		case remove && len(args) != 2:
			return errRemoveWhat
		case remove:
			return t.changed(c, func(tx *objectdb.Tx) ([]string, error) {
				return nil, site.RemovePathRow(tx, table, args[0], args[1])
			})
		case len(args) == 1:
			return usageError{hintError{fmt.Errorf("%s takes a host and a path prefix", c.Name()),
				"usage: " + c.UseLine()}}
		case len(args) > 2:
			r := site.PathRow{Host: args[0], Prefix: args[1], Value: strings.Join(args[2:], " ")}
			return t.changed(c, func(tx *objectdb.Tx) ([]string, error) {
				_, err := site.SetPathRow(tx, table, r)
				return nil, err
			})
		}
		return t.view(c.Context(), func(tx *objectdb.Tx) error { return t.listPathRows(tx, table, args) })
	}
	c.Flags().BoolVar(&remove, "remove", false, "remove the row of HOST and PREFIX")
	return c
}

func (t *tool) listPathRows(tx *objectdb.Tx, table objectdb.Address, only []string) error {
	s, err := site.Read(tx)
	if err != nil {
		return err
	}
	rows, objects := [][]string{}, []any{}
	for _, r := range s.PathRows(table) {
		if len(only) > 0 && (!strings.EqualFold(r.Host, only[0]) || r.Prefix != only[1]) {
			continue
		}
		rows = append(rows, []string{r.Host, r.Prefix, r.Value})
		objects = append(objects, map[string]string{"host": r.Host, "prefix": r.Prefix, "value": r.Value})
	}
	return t.printRows(rows, objects, only)
}
