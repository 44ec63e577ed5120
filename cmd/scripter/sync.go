package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"scripter/foldersync"
	"scripter/objectdb"
	"scripter/runner"
)

// statusConflict is the exit status of sync if objects are in conflict.
const statusConflict = 3

func (t *tool) syncCommand() *cobra.Command {
	var take string
	var watch bool
	var r foldersync.Round
	c := &cobra.Command{
		Use:   "sync DIR [ADDRESS]",
		Short: "keep objects and a folder of files the same, in both directions",
		Long: `Sync compares the objects below ADDRESS (by default that of the last sync of DIR,
or the whole root) and the files in DIR with their state after the last sync, and
makes the changes of each side on the other. The files are those of "scripter
export"; DIR is made if it does not exist. What sync takes into the root is one
change, however many files it is.

If both sides have changed an object, sync merges the texts by line. If that
does not work, it writes neither side, puts the root's text into
DIR/.scripter/conflicts, and ends with exit status 3. Then edit the file, and
decide: "scripter sync DIR --take files PATH", or "--take root PATH".

A script that does not compile is not taken from the files, unless with --force.
Files that .scripterignore names are not synced (the syntax is that of .gitignore).
Unless it says otherwise, the scratchpad, tokens and password hashes are not.

With --watch, sync goes on until Ctrl-C: save in your editor, and the next request
runs it.`,
		Args: func(c *cobra.Command, list []string) error {
			if take != "" {
				return args(2, -1)(c, list)
			}
			return args(1, 2)(c, list)
		},
		ValidArgsFunction: t.arguments(folders, tableOrFile),
		RunE: func(c *cobra.Command, args []string) error {
			o := foldersync.Options{Dir: args[0]}
			switch take {
			case "":
				if len(args) > 1 {
					a, err := address(args[1])
					if err != nil {
						return err
					}
					o.Address = a
				}
			case string(foldersync.FromFiles), string(foldersync.FromRoot):
				if watch {
					return usageError{errors.New("--take decides once, and --watch goes on")}
				}
				r.Take = foldersync.Side(take)
				var err error
				if r.Paths, err = pathsIn(o.Dir, args[1:]); err != nil {
					return err
				}
			default:
				return usageError{fmt.Errorf("--take is files or root, not %q", take)}
			}
			return t.with(forWork, func(db *objectdb.DB) error {
				f, err := t.openFolder(db, o)
				if err != nil {
					return err
				}
				defer f.Close()
				if watch {
					return t.watchFolder(c.Context(), f, r)
				}
				return t.syncFolder(c.Context(), f, r)
			})
		},
	}
	c.Flags().BoolVar(&watch, "watch", false, "go on whenever a side changes")
	c.Flags().StringVar(&take, "take", "", "`SIDE` that is right for the files and folders PATH…: files or root")
	t.flag(c, "take", words(string(foldersync.FromFiles), string(foldersync.FromRoot)))
	c.Flags().BoolVar(&r.AllowDelete, "allow-delete", false, "delete more than 20 % of the objects, or more than 50")
	c.Flags().BoolVarP(&r.Force, "force", "f", false, "take scripts that do not compile")
	return c
}

// tableOrFile completes what follows the folder on the line of sync.
func tableOrFile(t *tool, c *cobra.Command, args []string, typed string) []offer {
	if c.Flags().Changed("take") {
		return files(t, c, args, typed)
	}
	return addressOf(objectdb.KindTable)(t, c, args, typed)
}

// pathsIn returns paths as they are in a folder. Each is relative to the folder, or leads into
// it from here.
func pathsIn(dir string, paths []string) ([]string, error) {
	top, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	list := make([]string, len(paths))
	for i, p := range paths {
		whole, err := filepath.Abs(p)
		if err != nil {
			return nil, err
		}
		rel, err := filepath.Rel(top, whole)
		if err != nil || rel == ".." || strings.HasPrefix(rel, "../") {
			rel = filepath.Clean(p)
		}
		list[i] = filepath.ToSlash(rel)
	}
	return list, nil
}

// openFolder opens a folder that is synced with a root.
func (t *tool) openFolder(db *objectdb.DB, o foldersync.Options) (*foldersync.Folder, error) {
	o.DB, o.Origin = db, t.origin()
	o.Check = func(tx *objectdb.Tx, a objectdb.Address, s objectdb.Script) error {
		err := runner.Compiles(tx, a, s)
		if err == nil || supplied(s) {
			return nil
		}
		return syntaxDetail(err)
	}
	f, err := foldersync.Open(o)
	return f, syncHint(o.Dir, err)
}

// syncHint adds a hint to an error of a sync.
func syncHint(dir string, err error) error {
	var deletion *foldersync.DeletionError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &deletion):
		return hintError{err, "--allow-delete deletes them on the other side too"}
	case errors.Is(err, foldersync.ErrOtherRoot), errors.Is(err, foldersync.ErrOtherAddress):
		return hintError{err, fmt.Sprintf("to begin anew, remove %s", filepath.Join(dir, ".scripter"))}
	}
	return err
}

func (t *tool) syncFolder(ctx context.Context, f *foldersync.Folder, r foldersync.Round) error {
	result, err := f.Sync(ctx, r)
	if t.json {
		err = errors.Join(err, t.printJSON(jsonSync(result)))
	} else {
		t.printSync(f.Name(), result)
		if err == nil && result.Empty() {
			fmt.Fprintln(t.out, "nothing changed")
		}
	}
	switch {
	case err != nil:
		return syncHint(f.Name(), err)
	case len(result.Conflicts) > 0:
		return statusError{hintError{fmt.Errorf("%s in conflict", are(len(result.Conflicts), "object")),
			fmt.Sprintf("edit the file and decide: %q, or --take root", fmt.Sprintf("scripter sync %s --take files %s",
				f.Name(), result.Conflicts[0].Path))}, statusConflict}
	case len(result.Problems) > 0:
		return fmt.Errorf("%s not taken", are(len(result.Problems), "file"))
	}
	return nil
}

// are returns "1 object is" or "2 objects are".
func are(n int, what string) string {
	if n == 1 {
		return "1 " + what + " is"
	}
	return counted(n, what) + " are"
}

func (t *tool) watchFolder(ctx context.Context, f *foldersync.Folder, r foldersync.Round) error {
	return syncHint(f.Name(), f.Watch(ctx, r, func(result *foldersync.Result, err error) {
		if result != nil && !result.Empty() {
			if t.json {
				_ = t.printJSON(jsonSync(result)) // written remembers an error
			} else {
				t.printSync(f.Name(), result)
			}
		}
		if err != nil {
			t.warn("%v", err)
		}
	}))
}

// printSync prints a line for each object that was taken, or could not be.
func (t *tool) printSync(dir string, r *foldersync.Result) {
	line := func(from, change, path, why string) {
		if why != "" {
			why = ": " + why
		}
		fmt.Fprintf(t.out, "%-10s  %-9s  %s%s\n", from, change, path, visible(why))
	}
	for _, x := range r.Taken {
		line("from "+string(x.From), x.Change, x.Path, "")
	}
	for _, c := range r.Conflicts {
		why := c.Why
		if c.Other != "" {
			why += "; the root's text is in " + filepath.Join(dir, filepath.FromSlash(c.Other))
		}
		line("", "conflict", c.Path, why)
	}
	for _, p := range r.Problems {
		line("", "not taken", p.Path, p.Why)
	}
	for _, p := range r.Skipped {
		line("", "skipped", p.Path, p.Why)
	}
}

func jsonSync(r *foldersync.Result) map[string]any {
	taken, conflicts, problems, skipped := []any{}, []any{}, []any{}, []any{}
	if r != nil {
		for _, x := range r.Taken {
			taken = append(taken, map[string]any{
				"path": x.Path, "address": x.Address.String(), "from": x.From, "change": x.Change})
		}
		for _, c := range r.Conflicts {
			conflicts = append(conflicts, map[string]any{
				"path": c.Path, "address": c.Address.String(), "why": c.Why, "other": c.Other})
		}
		for _, p := range r.Problems {
			problems = append(problems, map[string]any{"path": p.Path, "why": p.Why})
		}
		for _, p := range r.Skipped {
			skipped = append(skipped, map[string]any{"path": p.Path, "why": p.Why})
		}
	}
	return map[string]any{"taken": taken, "conflicts": conflicts, "notTaken": problems, "skipped": skipped}
}
