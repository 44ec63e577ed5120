package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"scripter/autosave"
	"scripter/objectdb"
	"scripter/objectdb/roots"
)

// saveWait is how long a command waits for another program that saves.
const saveWait = time.Minute

func (t *tool) saveCommand() *cobra.Command {
	var due bool
	c := &cobra.Command{
		Use:   "save",
		Short: "save a copy of the root",
		Long: `Save makes a copy of the root beside it, of one state, while servers and scripts go
on. Its name carries the time in UTC. The oldest copies are removed when there are more than
the setting maxSaves says. "scripter saves" lists the copies, "scripter revert"
goes back to one.

With --due, a copy is saved only if the settings of Auto-Save want one now: for a timer,
where no scripter-fcgi runs.`,
		Args: args(0, 0),
		RunE: func(c *cobra.Command, _ []string) error {
			if due {
				return t.saveIfDue(c.Context())
			}
			db, err := t.open(forWork)
			if err != nil {
				return err
			}
			defer db.Close()
			o, end := t.saveOptions("saving " + t.rootName())
			saved, err := autosave.Save(c.Context(), db, o)
			end()
			if saved.Path == "" {
				return saveHint(err)
			}
			return errors.Join(t.printSaved(saved), err)
		},
	}
	c.Flags().BoolVar(&due, "due", false, "save a copy only if Auto-Save is on and one is due")
	return c
}

// saveIfDue saves the copy that the Auto-Save agent would save now.
func (t *tool) saveIfDue(ctx context.Context) error {
	db, err := t.open(forWork)
	if err != nil {
		return err
	}
	defer db.Close()
	a := autosave.New(autosave.Options{DB: db, Log: t.log(slog.LevelWarn)})
	if !a.IsDue(ctx) {
		return nil
	}
	return a.SaveIfDue(ctx)
}

// saveOptions waits for other programs and draws a bar, which end removes.
func (t *tool) saveOptions(what string) (o objectdb.SaveOptions, end func()) {
	p := t.progress(what, 0)
	o.Wait = saveWait
	o.Progress = func(done, all int64) {
		p.total = all
		p.add(done - p.done)
	}
	return o, p.end
}

func saveHint(err error) error {
	if errors.Is(err, objectdb.ErrSaving) {
		return hintError{err, "try again when the other program has finished; one that was killed is not in the way"}
	}
	return err
}

func (t *tool) printSaved(c objectdb.Copy) error {
	info, err := roots.Inspect(c.Path)
	if err != nil {
		return err
	}
	if t.json {
		return t.printJSON(jsonCopy(1, c, info, nil))
	}
	fmt.Fprintf(t.out, "saved %s: %d objects, %d bytes\n", filepath.Base(c.Path), info.Objects, c.Size)
	return nil
}

// jsonCopy is a copy as programs read it; n is its number for revert.
func jsonCopy(n int, c objectdb.Copy, info objectdb.Info, err error) map[string]any {
	m := map[string]any{
		"number": n, "file": c.Path, "time": c.Time.Format(time.RFC3339), "size": c.Size,
		"objects": info.Objects, "rootForm": info.Version, "generation": info.Generation,
	}
	if c.Version != 0 {
		m["beforeForm"] = c.Version + 1
	}
	if err != nil {
		m["error"] = err.Error()
	}
	return m
}
