package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"scripter/objectdb"
)

// watchEvery is how often "scripter test --watch" looks for changes.
const watchEvery = 300 * time.Millisecond

// watchAndRun runs the tests, and again after each change, until the context ends.
func (f *testRun) watchAndRun(ctx context.Context) error {
	for ctx.Err() == nil {
		seen := f.state(ctx)
		if err := f.run(ctx); err != nil && ctx.Err() == nil {
			fmt.Fprintln(f.err, "scripter:", visible(err.Error()))
		}
		f.waitForChange(ctx, seen)
		if ctx.Err() == nil && !f.json && !f.tap {
			fmt.Fprintf(f.out, "\n%s: something has changed\n", time.Now().Format(time.TimeOnly))
		}
	}
	return nil
}

// waitForChange waits until the state differs from seen, and then until it stays the same, because
// an editor or git may still be writing.
func (f *testRun) waitForChange(ctx context.Context, seen string) {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for before := seen; ; {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		now := f.state(ctx)
		if now != seen && now == before {
			return
		}
		before = now
	}
}

// state returns a text that changes with the root, the folder of the tests or the pages.
func (f *testRun) state(ctx context.Context) string {
	var b strings.Builder
	if f.folder {
		b.WriteString(folderState(f.target))
	} else {
		err := f.with(forReading, func(db *objectdb.DB) error {
			info, err := db.Info(ctx)
			fmt.Fprintf(&b, "%d", info.Generation)
			return err
		})
		if err != nil {
			fmt.Fprint(&b, err)
		}
	}
	b.WriteString(folderState(f.site))
	return b.String()
}

// folderState returns the names, sizes and times of the files of a folder.
func folderState(dir string) string {
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && path != dir && strings.HasPrefix(d.Name(), ".") {
			return fs.SkipDir // git changes its files all the time
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%s %d %d\n", path, info.Size(), info.ModTime().UnixNano())
		return nil
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		fmt.Fprint(&b, err)
	}
	return b.String()
}
