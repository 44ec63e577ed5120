package foldersync

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"

	"scripter/objectdb"
)

// Times of a watch.
const (
	rescanTime  = 5 * time.Second       // between scans of the whole folder, because events can be lost
	pollTime    = 50 * time.Millisecond // between checks of the root
	pollShare   = 10                    // checks take at most one part in so many of the time
	burstTime   = time.Second           // the longest time that a sync waits for a series of events to end
	unwatchable = time.Second           // instead of rescanTime, if the folder cannot be watched
)

// Watch does a sync whenever folder or root change, until ctx ends or the folder vanishes. It calls report
// with the result of each sync, and with errors after which it goes on. It reports a conflict, a
// problem or an error again only after it has changed.
func (f *Folder) Watch(ctx context.Context, r Round, report func(*Result, error)) error {
	w := &watch{Folder: f, report: report, told: map[string]bool{}}
	var err error
	if w.events, err = fsnotify.NewWatcher(); err != nil {
		report(nil, fmt.Errorf("watch %s: %w; changes are found once a second", f.options.Dir, err))
	} else {
		defer w.events.Close()
	}
	for {
		w.watchFolders() // before the sync, so that later changes make an event
		result, err := f.Sync(ctx, r)
		if ctx.Err() != nil {
			err = nil
		}
		if errors.Is(err, ErrGone) || errors.Is(err, ErrOtherRoot) || errors.Is(err, ErrOtherAddress) {
			w.tell(result, nil)
			return err
		}
		w.tell(result, err)
		w.watchFolders()
		if err := w.wait(ctx); err != nil {
			return nil
		}
	}
}

// watch is one Watch.
type watch struct {
	*Folder
	events  *fsnotify.Watcher // nil if the system has none
	limited bool              // not all folders can be watched
	report  func(*Result, error)
	told    map[string]bool // conflicts, problems and the error that were reported
}

// watchFolders watches the folders that are not watched yet.
func (w *watch) watchFolders() {
	if w.events == nil || w.limited {
		return
	}
	watched := map[string]bool{}
	for _, name := range w.events.WatchList() {
		watched[name] = true
	}
	for _, dir := range append([]string{"."}, w.folders...) {
		name := filepath.Join(w.name, filepath.FromSlash(dir))
		if watched[name] {
			continue
		}
		if err := w.events.Add(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			w.limited = true
			w.report(nil, fmt.Errorf("watch %s: %w; changes are found once a second", name, err))
			return
		}
	}
}

// wait waits until something was changed.
func (w *watch) wait(ctx context.Context) error {
	rescan := rescanTime
	var events chan fsnotify.Event
	var lost chan error
	if w.events != nil {
		events, lost = w.events.Events, w.events.Errors
	}
	if w.events == nil || w.limited {
		rescan = unwatchable
	}
	again := time.NewTimer(rescan)
	defer again.Stop()
	poll := time.NewTimer(pollTime)
	defer poll.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-again.C:
			return nil
		case <-lost:
			return nil
		case e := <-events:
			if w.concerns(e.Name) {
				return w.quiet(ctx, events)
			}
		case <-poll.C:
			began := time.Now()
			changed, err := w.rootChanged(ctx)
			if err != nil || changed {
				return ctx.Err() // Sync reports the error
			}
			poll.Reset(max(pollTime, pollShare*time.Since(began)))
		}
	}
}

// quiet waits until no event has come for a time.
func (w *watch) quiet(ctx context.Context, events chan fsnotify.Event) error {
	end := time.Now().Add(burstTime)
	still := time.NewTimer(settleTime)
	defer still.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-still.C:
			return nil
		case e := <-events:
			if w.concerns(e.Name) {
				still.Reset(min(settleTime, time.Until(end)))
			}
		}
	}
}

// concerns reports whether a change of this file may need a sync: hidden files need none.
func (w *watch) concerns(name string) bool {
	base := filepath.Base(name)
	return !strings.HasPrefix(base, ".") || base == ignoreFile || name == w.name
}

// rootChanged reports whether the root has changed since the last sync.
func (w *watch) rootChanged(ctx context.Context) (bool, error) {
	changed := false
	err := w.options.DB.View(ctx, func(tx *objectdb.Tx) error {
		if w.tree == nil {
			changed = true
			return nil
		}
		now, err := w.tree.Get(tx)
		if err != nil || now == w.lastTree {
			return err
		}
		changed = w.lastTree == nil || !now.same(w.lastTree)
		w.lastTree = now
		return nil
	})
	return changed, err
}

// same reports whether two trees have the same objects.
func (t *tree) same(other *tree) bool {
	return t.table == other.table && maps.EqualFunc(t.items, other.items, func(a, b *rootItem) bool { return *a == *b })
}

// tell reports what is new.
func (w *watch) tell(result *Result, err error) {
	told := map[string]bool{}
	isNew := func(what string) bool {
		told[what] = true
		return !w.told[what]
	}
	var fresh Result
	if result != nil {
		fresh.Taken = result.Taken
		for _, c := range result.Conflicts {
			if isNew("conflict " + c.Path + " " + c.Why) {
				fresh.Conflicts = append(fresh.Conflicts, c)
			}
		}
		for _, p := range result.Problems {
			if isNew("problem " + p.Path + " " + p.Why) {
				fresh.Problems = append(fresh.Problems, p)
			}
		}
		for _, p := range result.Skipped {
			if isNew("skipped " + p.Path + " " + p.Why) {
				fresh.Skipped = append(fresh.Skipped, p)
			}
		}
	}
	if err != nil && !isNew("error "+err.Error()) {
		err = nil
	}
	if err != nil { // conflicts and problems reported before may still exist
		maps.Copy(told, w.told)
	}
	w.told = told
	if err != nil || !fresh.Empty() {
		w.report(&fresh, err)
	}
}
