package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"scripter/objectdb"
	"scripter/site"
)

// siteTable is a table of the site that a command lists and changes row by row.
type siteTable struct {
	columns []string // their names for --json
	keys    int      // the number of columns, from the first, that name a row
	name    string   // what the keys are called
	list    func(s *site.Snapshot) [][]string
	set     func(tx *objectdb.Tx, row []string) (warnings []string, err error)
	remove  func(tx *objectdb.Tx, keys []string) (warnings []string, err error)
	action  int // the column that names an action; 0: none
}

// tableCommand completes the command of a table.
func (t *tool) tableCommand(c *cobra.Command, table siteTable) *cobra.Command {
	var remove bool
	var cells []completer
	for i := range table.columns {
		cells = append(cells, table.column(i))
	}
	c.ValidArgsFunction = t.arguments(cells...)
	c.Flags().BoolVar(&remove, "remove", false, "remove the row of "+table.name)
	c.RunE = func(c *cobra.Command, args []string) error {
		change := table.set
		switch {
		case remove && len(args) != table.keys:
			return usageError{errors.New("--remove takes the names of a row, and no value")}
		case remove:
			change = table.remove
		case len(args) > 0 && len(args) < table.keys:
			return usageError{hintError{fmt.Errorf("%s takes a host and a path prefix", c.Name()),
				"usage: " + c.UseLine()}}
		case len(args) <= table.keys:
			return t.view(c.Context(), func(tx *objectdb.Tx) error { return t.listRows(tx, table, args) })
		}
		var warnings []string
		err := t.update(c.Context(), func(tx *objectdb.Tx) (err error) {
			warnings, err = change(tx, args)
			return err
		})
		if err != nil {
			return err
		}
		for _, w := range warnings {
			t.warn("%s", w)
		}
		return nil
	}
	return c
}

// listRows prints the row that keys name, or all rows.
func (t *tool) listRows(tx *objectdb.Tx, table siteTable, keys []string) error {
	s, err := site.Read(tx)
	if err != nil {
		return err
	}
	rows := table.list(s)
	if len(keys) > 0 {
		rows = slices.DeleteFunc(rows, func(row []string) bool {
			return !strings.EqualFold(row[0], keys[0]) || !slices.Equal(row[1:table.keys], keys[1:])
		})
		if len(rows) == 0 {
			return fmt.Errorf("there is no row of %s", strings.Join(keys, " "))
		}
	}
	if !t.json {
		return t.columns(rows)
	}
	objects := []any{}
	for _, row := range rows {
		m := map[string]string{}
		for i, column := range table.columns {
			m[column] = row[i]
		}
		objects = append(objects, m)
	}
	return t.printJSON(objects)
}

func (t *tool) actionsCommand() *cobra.Command {
	return t.tableCommand(&cobra.Command{
		Use:   "actions [NAME [HANDLER]]",
		Short: "list, check and set the action handler table",
		Long: `Actions lists the known actions: name, URL path of the handler, and the object of
user.webserver.actions that answers. With a NAME it shows one; with a HANDLER
too it checks the row and sets it. --remove removes the row.`,
		Args: args(0, 2),
	}, siteTable{
		columns: []string{"name", "handler", "script"}, keys: 1, name: "NAME",
		list: func(s *site.Snapshot) (rows [][]string) {
			for _, a := range s.Actions() {
				rows = append(rows, []string{a.Name, a.Handler, a.Object.String()})
			}
			return rows
		},
		set: func(tx *objectdb.Tx, row []string) ([]string, error) {
			return site.SetAction(tx, row[0], row[1])
		},
		remove: func(tx *objectdb.Tx, keys []string) ([]string, error) {
			return site.RemoveAction(tx, keys[0])
		},
	})
}

func (t *tool) mimetypesCommand() *cobra.Command {
	return t.tableCommand(&cobra.Command{
		Use:   "mimetypes [.EXT [TYPE [ACTION]]]",
		Short: "list, check and set the mime extension table",
		Long: `Mimetypes lists the extensions with MIME type and action. With a TYPE it checks
the row and sets it. Without an ACTION that of the row stays; '' takes it away.
--remove removes the row.`,
		Args: args(0, 3),
	}, siteTable{
		columns: []string{"extension", "type", "action"}, keys: 1, name: ".EXT", action: 2,
		list: func(s *site.Snapshot) (rows [][]string) {
			for _, m := range s.MimeTypes() {
				rows = append(rows, []string{m.Extension, m.Type, m.Action})
			}
			return rows
		},
		set: func(tx *objectdb.Tx, row []string) ([]string, error) {
			var action *string
			if len(row) == 3 {
				action = &row[2]
			}
			return nil, site.SetMimeType(tx, row[0], row[1], action)
		},
		remove: func(tx *objectdb.Tx, keys []string) ([]string, error) {
			return nil, site.RemoveMimeType(tx, keys[0])
		},
	})
}

func (t *tool) overridesCommand() *cobra.Command {
	return t.tableCommand(&cobra.Command{
		Use:   "overrides [HOST PREFIX [ACTION]]",
		Short: "list, check and set Action Override: an action for a folder or file",
		Long: `Overrides lists the rows of Action Override: host (* is every host), path
prefix, action. With an ACTION it checks the row and sets it. --remove removes
the row of HOST and PREFIX.`,
		Args: args(0, 3),
	}, pathTable(site.Overrides, 2))
}

func (t *tool) indexCommand() *cobra.Command {
	return t.tableCommand(&cobra.Command{
		Use:   "index [HOST PREFIX [FILE…]]",
		Short: "list, check and set DirectoryIndex: the files of a folder's URL",
		Long: `Index lists the rows of DirectoryIndex: host (* is every host), path prefix, file
names, the first that is there counts. With FILE names it checks the row and
sets it. --remove removes the row of HOST and PREFIX. This is for "scripter
serve"; other web servers have a DirectoryIndex of their own.`,
		Args: args(0, -1),
	}, pathTable(site.DirectoryIndex, 0))
}

// pathTable is a table with a row for each host and path prefix.
func pathTable(table objectdb.Address, action int) siteTable {
	return siteTable{
		columns: []string{"host", "prefix", "value"}, keys: 2, name: "HOST and PREFIX", action: action,
		list: func(s *site.Snapshot) (rows [][]string) {
			for _, r := range s.PathRows(table) {
				rows = append(rows, []string{r.Host, r.Prefix, r.Value})
			}
			return rows
		},
		set: func(tx *objectdb.Tx, row []string) ([]string, error) {
			_, err := site.SetPathRow(tx, table,
				site.PathRow{Host: row[0], Prefix: row[1], Value: strings.Join(row[2:], " ")})
			return nil, err
		},
		remove: func(tx *objectdb.Tx, keys []string) ([]string, error) {
			return nil, site.RemovePathRow(tx, table, keys[0], keys[1])
		},
	}
}
