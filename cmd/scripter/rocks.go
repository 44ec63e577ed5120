package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"scripter/objectdb"
	"scripter/rocks"
	"scripter/script"
)

func (t *tool) rocksCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "rocks",
		Short: "list, add and remove libraries in Lua, as LuaRocks packs them",
		Long: `Rocks lists the rocks in the root: name, version, number of modules, licence. A rock is
a library in Lua. Its modules lie in suites.rocks.NAME.modules, and scripts load them
with require.`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return usageError{hintError{fmt.Errorf("there is no command %q", "rocks "+args[0]),
				"the commands are rocks add and rocks rm"}}
		},
		RunE: func(c *cobra.Command, _ []string) error { return t.view(c.Context(), t.listRocks) },
	}
	c.AddCommand(t.rocksAddCommand(), t.rocksRemoveCommand())
	return c
}

func (t *tool) listRocks(tx *objectdb.Tx) error {
	list, err := rocks.List(tx)
	if err != nil {
		return err
	}
	if t.json {
		all := []any{}
		for _, r := range list {
			all = append(all, jsonRock(&r))
		}
		return t.printJSON(all)
	}
	if len(list) == 0 {
		fmt.Fprintf(t.out, "there are no rocks: %s\n", t.self("rocks add FOLDER|ARCHIVE"))
		return nil
	}
	var lines [][]string
	for _, r := range list {
		lines = append(lines, []string{r.Name, r.Version, counted(len(r.Modules), "module"), r.Licence})
	}
	return t.columns(lines)
}

func jsonRock(r *rocks.Rock) map[string]any {
	m := map[string]any{"name": r.Name, "modules": r.Names()}
	for name, text := range map[string]string{"version": r.Version, "licence": r.Licence, "summary": r.Summary} {
		if text != "" {
			m[name] = text
		}
	}
	if len(r.Needs) > 0 {
		m["needs"] = r.Needs
	}
	if len(r.Left) > 0 {
		m["left"] = r.Left
	}
	return m
}

func (t *tool) rocksAddCommand() *cobra.Command {
	var name string
	c := &cobra.Command{
		Use:   "add FOLDER|ARCHIVE...",
		Short: "add rocks to the root, or newer versions of them",
		Long: `Add adds the rocks in folders and archives (zip, tar.gz, .rock, one .lua file): what a
rockspec describes; every rock of a tree that "luarocks install --tree DIR NAME" has
filled, with what it needs; or else all files of Lua, from share/lua/5.1, lua, src or
the top. A rock of the same name is replaced. Modules that are written in C or do not
compile are left out, and named. Everything is added, or nothing. "scripter undo" takes
it back.`,
		Args:              args(1, -1),
		ValidArgsFunction: t.arguments(files),
		RunE: func(c *cobra.Command, args []string) error {
			if name != "" && len(args) > 1 {
				return usageError{errors.New("--name is for one folder or archive")}
			}
			return t.addRocks(c.Context(), args, name)
		},
	}
	c.Flags().StringVar(&name, "name", "", "the `NAME` of the rock, if no rockspec says it")
	t.flag(c, "name", nothing)
	return c
}

func (t *tool) addRocks(ctx context.Context, from []string, name string) error {
	var list []*rocks.Rock
	for _, file := range from {
		found, err := rocks.Open(file, name)
		if err != nil {
			return err
		}
		list = append(list, found...)
	}
	missing := map[string][]string{} // names of rocks by what they need
	err := t.with(forWork, func(db *objectdb.DB) error {
		_, err := t.commit(ctx, db, func(tx *objectdb.Tx) error {
			for _, r := range list {
				if err := rocks.Add(tx, r); err != nil {
					return err
				}
			}
			clear(missing)
			for _, r := range list {
				needs, err := rocks.Missing(tx, r)
				if err != nil {
					return err
				}
				for _, n := range needs {
					missing[n] = append(missing[n], r.Name)
				}
			}
			return nil
		})
		return err
	})
	if err != nil {
		return err
	}
	if t.json {
		all := []any{}
		for _, r := range list {
			all = append(all, jsonRock(r))
		}
		err = t.printJSON(all)
	}
	for _, r := range list {
		if !t.json {
			fmt.Fprintf(t.out, "added %s, %s\n", strings.TrimSpace(r.Name+" "+r.Version), counted(len(r.Modules), "module"))
		}
		for _, module := range slices.Sorted(maps.Keys(r.Left)) {
			t.warn("%s: the module %s is left out: %s", r.Name, module, r.Left[module])
		}
	}
	for _, n := range slices.Sorted(maps.Keys(missing)) {
		t.warn("%s needs the rock %s, which is not there", strings.Join(missing[n], ", "), n)
	}
	return err
}

func (t *tool) rocksRemoveCommand() *cobra.Command {
	return &cobra.Command{
		Use:               "rm NAME...",
		Aliases:           []string{"remove"},
		Short:             "remove rocks",
		Args:              args(1, -1),
		ValidArgsFunction: t.arguments(nothing),
		RunE: func(c *cobra.Command, names []string) error {
			var needed []string
			err := t.with(forWork, func(db *objectdb.DB) error {
				_, err := t.commit(c.Context(), db, func(tx *objectdb.Tx) error {
					for _, name := range names {
						if err := rocks.Remove(tx, name); errors.Is(err, rocks.ErrNone) {
							return hintError{err, fmt.Sprintf("%q lists the rocks", t.self("rocks"))}
						} else if err != nil {
							return err
						}
					}
					needed = needed[:0]
					list, err := rocks.List(tx)
					for _, r := range list {
						for _, n := range r.Needs {
							if slices.ContainsFunc(names, func(s string) bool { return strings.EqualFold(s, n) }) {
								needed = append(needed, fmt.Sprintf("%s needs the rock %s, which is not there any more", r.Name, n))
							}
						}
					}
					return err
				})
				return err
			})
			if err != nil {
				return err
			}
			for _, name := range names {
				fmt.Fprintf(t.out, "removed %s\n", script.Rocks.Child(name))
			}
			for _, text := range needed {
				t.warn("%s", text)
			}
			return nil
		},
	}
}
