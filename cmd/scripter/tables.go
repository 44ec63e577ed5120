package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"scripter/objectdb"
	"scripter/site"
)

// tableCommand completes the command of a table. keys is what its keys are called.
func (t *tool) tableCommand(c *cobra.Command, table *site.Table, keys string) *cobra.Command {
	var remove bool
	var cells []completer
	for i := range table.Columns {
		cells = append(cells, cellsOf(table, i))
	}
	c.ValidArgsFunction = t.arguments(cells...)
	c.Flags().BoolVar(&remove, "remove", false, "remove the row of "+keys)
	c.RunE = func(c *cobra.Command, args []string) error {
		change := table.Set
		switch {
		case remove && len(args) != table.Keys:
			return usageError{errors.New("--remove takes the names of a row, and no value")}
		case remove:
			change = table.Remove
		case len(args) > 0 && len(args) < table.Keys:
			return usageError{hintError{fmt.Errorf("%s takes a host and a path prefix", c.Name()),
				"usage: " + c.UseLine()}}
		case len(args) <= table.Keys:
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
func (t *tool) listRows(tx *objectdb.Tx, table *site.Table, keys []string) error {
	s, err := site.Read(tx)
	if err != nil {
		return err
	}
	rows := table.Rows(s, keys...)
	if len(keys) > 0 && len(rows) == 0 {
		return fmt.Errorf("there is no row of %s", strings.Join(keys, " "))
	}
	if !t.json {
		return t.columns(rows)
	}
	objects := []any{}
	for _, row := range rows {
		m := map[string]string{}
		for i, column := range table.Columns {
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
	}, site.ActionRows, "NAME")
}

func (t *tool) mimetypesCommand() *cobra.Command {
	return t.tableCommand(&cobra.Command{
		Use:   "mimetypes [.EXT [TYPE [ACTION]]]",
		Short: "list, check and set the mime extension table",
		Long: `Mimetypes lists the extensions with MIME type and action. With a TYPE it checks
the row and sets it. Without an ACTION that of the row stays; '' takes it away.
--remove removes the row.`,
		Args: args(0, 3),
	}, site.MimeTypeRows, ".EXT")
}

func (t *tool) overridesCommand() *cobra.Command {
	return t.tableCommand(&cobra.Command{
		Use:   "overrides [HOST PREFIX [ACTION]]",
		Short: "list, check and set Action Override: an action for a folder or file",
		Long: `Overrides lists the rows of Action Override: host (* is every host), path
prefix, action. With an ACTION it checks the row and sets it. --remove removes
the row of HOST and PREFIX.`,
		Args: args(0, 3),
	}, site.OverrideRows, "HOST and PREFIX")
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
	}, site.IndexRows, "HOST and PREFIX")
}
