package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"scripter/objectdb"
	"scripter/valuetext"
)

// edit is one run of "scripter edit".
type edit struct {
	put
	address objectdb.Address
	base    objectdb.Value // the value that the editor was given; nil: there was no object
	shown   string         // its text, as the editor was given it
}

func (t *tool) editCommand() *cobra.Command {
	var e edit
	var f changeFlags
	c := &cobra.Command{
		Use:   "edit ADDRESS",
		Short: "change a value in your editor",
		Long: `Edit opens a value in the editor that VISUAL names, else EDITOR, else vi, and
stores what was saved there. The kind stays as it is; for a new object --kind says
it. A value that cannot be read, such as a script that does not compile, is not
stored: at a terminal edit offers the editor again, and otherwise it says in which
file your text is. Edit refuses to overwrite what somebody else has stored in the
meantime. "scripter undo" takes an edit back.`,
		Args:              args(1, 1),
		ValidArgsFunction: t.arguments(addressOf()),
		RunE: func(c *cobra.Command, args []string) error {
			var err error
			if e.address, err = address(args[0]); err != nil {
				return err
			}
			// Ctrl-C is for the editor: emacs sends it for Ctrl-G to all programs of the terminal.
			ctx := context.WithoutCancel(c.Context())
			var done []doneObject
			err = t.edit(ctx, &e, func(text string) error {
				var err error
				done, err = t.change(ctx, f, func(tx *objectdb.Tx) ([]doneObject, error) {
					if err := e.unchangedSince(tx); err != nil {
						return nil, err
					}
					o, err := e.store(tx, e.address, text)
					return []doneObject{o}, err
				})
				return err
			})
			switch {
			case err != nil:
				return err
			case done == nil && f.quiet:
			case done == nil && t.json:
				return t.printDone(nil, 0)
			case done == nil:
				fmt.Fprintf(t.out, "unchanged %s\n", e.address)
			case done[0].kind == objectdb.KindScript && done[0].change != "unchanged":
				return t.warnOfNames(ctx, done[0].address)
			}
			return nil
		},
	}
	c.Flags().StringVar(&e.kind, "kind", "", "kind of a new object, such as script or text")
	t.flag(c, "kind", kindNames)
	c.Flags().BoolVar(&e.force, "force", false, "store a script that does not compile")
	parentsFlag(c, &e.parents)
	f.add(c)
	return c
}

// edit gives the value to the editor, and passes the saved text to store. If the text was
// not changed, edit does not call store.
func (t *tool) edit(ctx context.Context, e *edit, store func(text string) error) error {
	if err := t.view(ctx, e.read); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "scripter-edit-")
	if err != nil {
		return err
	}
	keep := false
	defer func() {
		if !keep {
			os.RemoveAll(dir)
		}
	}()
	file := filepath.Join(dir, e.fileName())
	if err := os.WriteFile(file, []byte(e.shown), 0o600); err != nil {
		return err
	}
	for {
		edited := t.runEditor(ctx, file)
		b, err := os.ReadFile(file)
		if err != nil {
			return errors.Join(edited, err)
		}
		text := e.saved(string(b))
		if edited == nil && text == e.shown {
			return nil
		}
		if err = edited; err == nil {
			err = store(text)
		}
		if err == nil {
			return nil
		}
		keep = text != e.shown
		if !keep {
			return err
		}
		if edited == nil && !errors.Is(err, errChangedMeanwhile) && t.again(err) {
			keep = false
			continue
		}
		return hintError{err, fmt.Sprintf("nothing was stored; your text is in %s", file)}
	}
}

// read reads the value that the editor is given.
func (e *edit) read(tx *objectdb.Tx) error {
	n, err := tx.Find(e.address)
	if errors.Is(err, objectdb.ErrNotFound) && e.kind != "" {
		if _, err := missingTables(tx, e.address, e.parents); err != nil {
			return err
		}
		return e.editable(e.put.kind)
	}
	if errors.Is(err, objectdb.ErrNotFound) {
		return hintError{err, "--kind script makes a new script there"}
	}
	if err != nil {
		return err
	}
	if e.kind != "" && !strings.EqualFold(e.kind, n.Kind().String()) {
		return usageError{fmt.Errorf("--kind is for a new object, and %s is a %s", e.address, n.Kind())}
	}
	e.address, e.kind = tx.Address(n), n.Kind().String()
	if err := e.editable(e.kind); err != nil {
		return err
	}
	if e.base, err = tx.Value(n); err != nil {
		return err
	}
	e.shown = valuetext.Indented(e.base)
	return nil
}

// editable returns an error if values of a kind have no text for an editor.
func (e *edit) editable(kind string) error {
	k, err := objectdb.ParseKind(kind)
	if err != nil {
		return usageError{err}
	}
	switch k {
	case objectdb.KindTable:
		return hintError{fmt.Errorf("%s is a table, and edit changes one value", e.address),
			`"scripter ls" lists what is in it`}
	case objectdb.KindBinary:
		return hintError{fmt.Errorf("%s is a binary, which has no text", e.address),
			`"scripter get" writes it to a file, "scripter put --file" stores one`}
	}
	return nil
}

// fileName returns the name of the file for the editor, which chooses its colours by the
// suffix.
func (e *edit) fileName() string {
	name := strings.Map(func(r rune) rune {
		if r < ' ' || strings.ContainsRune(`/\:*?"<>|`, r) {
			return '_'
		}
		return r
	}, e.address[len(e.address)-1])
	suffix := ".txt"
	switch strings.ToLower(e.kind) {
	case "script":
		suffix = ".lua"
	case "list":
		suffix = ".json"
	}
	const longest = 200 // bytes; file systems take 255
	if len(name) > longest || strings.Trim(name, ".") == "" {
		name = "value"
	}
	return name + suffix
}

// saved returns the text of the file without the newline that an editor adds at the end.
func (e *edit) saved(text string) string {
	if !strings.HasSuffix(e.shown, "\n") && (e.base != nil || strings.EqualFold(e.kind, "string")) {
		return strings.TrimSuffix(text, "\n")
	}
	return text
}

var errChangedMeanwhile = errors.New("somebody else has changed it since the editor was opened")

// unchangedSince returns an error unless the object is as the editor was given it.
func (e *edit) unchangedSince(tx *objectdb.Tx) error {
	n, err := tx.Find(e.address)
	if errors.Is(err, objectdb.ErrNotFound) && e.base == nil {
		return nil
	}
	if err == nil && e.base != nil && n.Kind() != objectdb.KindTable {
		v, err := tx.Value(n)
		if err != nil {
			return err
		}
		if objectdb.Equal(v, e.base) {
			return nil
		}
	}
	if err != nil && !errors.Is(err, objectdb.ErrNotFound) {
		return err
	}
	return fmt.Errorf("%s: %w", e.address, errChangedMeanwhile)
}

// runEditor runs the editor on a file until it ends.
func (t *tool) runEditor(ctx context.Context, file string) error {
	editor := cmp.Or(os.Getenv("VISUAL"), os.Getenv("EDITOR"), "vi")
	// The variables may have arguments: VISUAL="code --wait".
	c := exec.CommandContext(ctx, "/bin/sh", "-c", editor+` "$1"`, "sh", file)
	c.Stdin, c.Stdout, c.Stderr = t.in, t.exact, t.err
	if t.screen != nil {
		c.Stdout = t.screen // an editor wants a terminal, not a pipe
	}
	if err := c.Run(); err != nil {
		return hintError{fmt.Errorf("the editor %q failed: %w", editor, err), "VISUAL or EDITOR names your editor"}
	}
	return nil
}

// again asks at a terminal whether to edit the value again that was not stored.
func (t *tool) again(why error) bool {
	in, _ := t.in.(*os.File)
	if !isTerminal(in) || !isTerminal(t.screen) {
		return false
	}
	fmt.Fprintf(t.err, "scripter: %s\nEdit it again? [Y/n] ", visible(why.Error()))
	answer, err := bufio.NewReader(in).ReadString('\n')
	return err == nil && !strings.HasPrefix(strings.ToLower(strings.TrimSpace(answer)), "n")
}
