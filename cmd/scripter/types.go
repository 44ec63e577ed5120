package main

import (
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"scripter/gateway"
	"scripter/objectdb"
)

func (t *tool) typesCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "types DIR",
		Short: "describe verbs and tables for editors",
		Long: `Types makes an editor with lua-language-server know what scripts see: it writes
DIR/.luarc.json and, below DIR/.types, descriptions of every verb, of odb, of
the parameters of a request and of the tables of the root as they are now. DIR is
the folder that the editor opens, such as one that "scripter export" wrote;
"scripter import" passes these files over. A .luarc.json that is there already
stays as it is.`,
		Args:              args(1, 1),
		ValidArgsFunction: t.arguments(folders),
		RunE: func(c *cobra.Command, args []string) error {
			var files map[string]string
			err := t.with(forReading, func(db *objectdb.DB) (err error) {
				files, err = gateway.New(gateway.Options{DB: db}).Types(c.Context())
				return err
			})
			if err != nil {
				return err
			}
			written, err := writeTypes(args[0], files)
			if err != nil {
				return err
			}
			if t.json {
				return t.printJSON(written)
			}
			for _, name := range written {
				fmt.Fprintln(t.out, name)
			}
			return nil
		},
	}
}

// writeTypes writes the files below dir, and returns the names of those that it
// has written. They describe the content of the root, so only their owner can read them.
// It follows no link out of dir.
func writeTypes(dir string, files map[string]string) ([]string, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	var written []string
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if _, err := root.Lstat(name); err == nil && name == ".luarc.json" {
			continue
		}
		if err := root.MkdirAll(path.Dir(name), 0o700); err != nil {
			return nil, err
		}
		if err := root.WriteFile(name, []byte(files[name]), 0o600); err != nil {
			return nil, err
		}
		written = append(written, filepath.Join(dir, filepath.FromSlash(name)))
	}
	return written, nil
}
