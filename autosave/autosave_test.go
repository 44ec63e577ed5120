package autosave

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/internal/testlog"
	"scripter/objectdb"
	"scripter/objectdb/sqlitestore"
	"scripter/site"
)

// patient has long timeouts, because any step may take seconds on a busy machine.
var patient = objectdb.Options{Relaxed: true, BusyTimeout: time.Minute, LockTime: time.Minute}

// testRoot is a root without supplied objects: all settings have their defaults.
type testRoot struct {
	t   *testing.T
	db  *objectdb.DB
	log testlog.Buffer
}

func newRoot(t *testing.T) *testRoot {
	db, err := sqlitestore.Create(filepath.Join(t.TempDir(), "test.root"), patient)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, db.Close()) })
	return &testRoot{t: t, db: db}
}

func (r *testRoot) logger() *slog.Logger { return slog.New(slog.NewTextHandler(&r.log, nil)) }

func (r *testRoot) agent() *Agent { return New(Options{DB: r.db, Log: r.logger()}) }

func (r *testRoot) update(fn func(tx *objectdb.Tx) error) {
	r.t.Helper()
	require.NoError(r.t, r.db.Update(context.Background(), fn))
}

func (r *testRoot) set(s *site.Setting, v objectdb.Value) {
	r.t.Helper()
	r.update(func(tx *objectdb.Tx) error { return tx.Put(s.Address(), v) })
}

// isDirty reports whether the dirty root flag is set.
func (r *testRoot) isDirty() (dirty bool) {
	r.t.Helper()
	require.NoError(r.t, r.db.View(context.Background(), func(tx *objectdb.Tx) error {
		s, err := site.Read(tx)
		dirty = err == nil && s.Flag(site.FlDirtyRoot)
		return err
	}))
	return dirty
}

var changed = objectdb.Address{"workspace", "changed"}

// change commits a change.
func (r *testRoot) change() {
	r.t.Helper()
	r.update(func(tx *objectdb.Tx) error { return tx.Put(changed, objectdb.String(time.Now().String())) })
}

func (r *testRoot) copies() []objectdb.Copy {
	r.t.Helper()
	list, err := sqlitestore.Copies(r.db.Path())
	require.NoError(r.t, err)
	return list
}

// inFakeTime runs a test with a fake clock.
func inFakeTime(t *testing.T, fn func(t *testing.T, r *testRoot)) {
	synctest.Test(t, func(t *testing.T) { fn(t, newRoot(t)) })
}

// TestAutoSave checks Auto-Save, Use Dirty Root Flag and Set Save Interval (specification,
// 2.2, 2.3 and 8).
//
// Specification: 2.2.7, 2.2.8, 2.2.9, 2.3.6, 2.3.7, 8.2
func TestAutoSave(t *testing.T) {
	inFakeTime(t, func(t *testing.T, r *testRoot) {
		defer r.agent().Start()()
		time.Sleep(time.Hour)
		assert.Empty(t, r.copies(), "Auto-Save is not checked")

		r.set(site.FlAutoSave, objectdb.Boolean(true))
		time.Sleep(time.Minute)
		assert.Len(t, r.copies(), 1, "the first one at once")
		r.change()
		time.Sleep(8 * time.Minute)
		assert.Len(t, r.copies(), 1, "the interval is not over")
		time.Sleep(2 * time.Minute)
		assert.Len(t, r.copies(), 2)
		time.Sleep(time.Hour)
		assert.Len(t, r.copies(), 2, "nothing was changed")

		r.set(site.SaveInterval, objectdb.Number(60))
		time.Sleep(50 * time.Minute)
		assert.Len(t, r.copies(), 2)
		time.Sleep(20 * time.Minute)
		assert.Len(t, r.copies(), 3, "the new interval counts")

		r.set(site.MaxSaves, objectdb.Number(2))
		for range 3 {
			r.change()
			time.Sleep(61 * time.Minute)
		}
		assert.Len(t, r.copies(), 2)
		assert.NotContains(t, r.log.String(), "level=WARN")
	})
}

// Specification: 2.2.8, 2.3.6, 2.3.11
func TestDirtyRoot(t *testing.T) {
	inFakeTime(t, func(t *testing.T, r *testRoot) {
		r.set(site.FlAutoSave, objectdb.Boolean(true))
		r.set(site.FlUseDirtyRoot, objectdb.Boolean(true))
		defer r.agent().Start()()
		r.change()
		time.Sleep(time.Hour)
		assert.Empty(t, r.copies(), "the flag is not set")

		r.update(SetDirtyRoot)
		assert.True(t, r.isDirty())
		time.Sleep(time.Minute)
		assert.Len(t, r.copies(), 1)
		assert.False(t, r.isDirty(), "a finished save clears it")
		r.change()
		time.Sleep(time.Hour)
		assert.Len(t, r.copies(), 1)
	})
}

// If the flag is set again during a save, it stays set: the copy does not have that change.
//
// Specification: 2.2.8, 2.3.6
func TestDirtyRootSetDuringSave(t *testing.T) {
	r := newRoot(t)
	n := 0
	write := func(int64, int64) {
		n++
		r.update(func(tx *objectdb.Tx) error {
			if err := tx.Put(changed, objectdb.Number(n)); err != nil {
				return err
			}
			return SetDirtyRoot(tx)
		})
	}
	write(0, 0)
	c, err := Save(context.Background(), r.db, objectdb.SaveOptions{Progress: write})
	require.NoError(t, err)
	assert.Greater(t, n, 1)
	assert.True(t, r.isDirty())
	saved, err := sqlitestore.Open(c.Path, objectdb.Options{ReadOnly: true})
	require.NoError(t, err)
	defer saved.Close()
	require.NoError(t, saved.View(context.Background(), func(tx *objectdb.Tx) error {
		v, err := tx.Get(changed)
		assert.Equal(t, objectdb.Number(1), v)
		return err
	}))

	_, err = Save(context.Background(), r.db, objectdb.SaveOptions{})
	require.NoError(t, err)
	assert.False(t, r.isDirty())

	// A save that fails clears nothing.
	r.update(SetDirtyRoot)
	ctx, cancel := context.WithCancel(context.Background())
	_, err = Save(ctx, r.db, objectdb.SaveOptions{Due: func() error { cancel(); return ctx.Err() }})
	require.ErrorIs(t, err, context.Canceled)
	assert.True(t, r.isDirty())
}

// mod_fcgid starts several programs on one root, at different times. They save one copy
// in each interval.
//
// Specification: 2.2.7, 8.2
func TestAutoSaveByManyPrograms(t *testing.T) {
	inFakeTime(t, func(t *testing.T, r *testRoot) {
		r.set(site.FlAutoSave, objectdb.Boolean(true))
		r.set(site.MaxSaves, objectdb.Number(100))
		for i := range 4 {
			db, err := sqlitestore.Open(r.db.Path(), patient)
			require.NoError(t, err)
			defer db.Close()
			defer New(Options{DB: db}).Start()()
			time.Sleep(time.Duration(i) * time.Minute)
		}
		begun := len(r.copies())
		require.Equal(t, 1, begun)
		for range 12 * 60 {
			r.change()
			time.Sleep(10 * time.Second)
		}
		assert.InDelta(t, 12, len(r.copies())-begun, 1, "in two hours, every ten minutes")
	})
}

// A program that is started for each request decides by the age of the newest copy.
//
// Specification: 2.2.9, 8.2
func TestAutoSaveByShortPrograms(t *testing.T) {
	inFakeTime(t, func(t *testing.T, r *testRoot) {
		r.set(site.FlAutoSave, objectdb.Boolean(true))
		r.set(site.MaxSaves, objectdb.Number(100))
		for range 120 {
			r.change()
			stop := New(Options{DB: r.db}).Start()
			time.Sleep(time.Minute)
			stop()
		}
		assert.InDelta(t, 12, len(r.copies()), 1)
	})
}

// If the wall clock jumps, the agent neither saves at each request nor stops saving.
func TestAutoSaveWhenTheClockJumps(t *testing.T) {
	now := time.Date(2026, 1, 31, 18, 30, 0, 0, time.UTC)
	clock := func() time.Time { return now }
	r := newRoot(t)
	r.set(site.FlAutoSave, objectdb.Boolean(true))
	options := patient
	options.Now = clock
	db, err := sqlitestore.Open(r.db.Path(), options)
	require.NoError(t, err)
	defer db.Close()
	agent := New(Options{DB: db, Now: clock})
	requests := func(want bool) {
		t.Helper()
		r.change()
		require.Equal(t, want, agent.IsDue(context.Background()))
		if want {
			require.NoError(t, agent.SaveIfDue(context.Background()))
		}
		for range 3 {
			r.change()
			require.False(t, agent.IsDue(context.Background()), "once")
		}
	}
	requests(true)
	now = now.Add(5 * time.Minute)
	requests(false)
	now = now.Add(5 * time.Minute)
	requests(true)
	now = now.Add(10 * 365 * 24 * time.Hour)
	requests(true)
	now = now.Add(-10 * 365 * 24 * time.Hour)
	requests(true)
	now = now.Add(-time.Hour)
	requests(true)
	now = now.Add(9 * time.Minute)
	requests(false)
	now = now.Add(time.Minute)
	requests(true)
	list, err := sqlitestore.Copies(db.Path())
	require.NoError(t, err)
	assert.Len(t, list, 5)
	info, err := sqlitestore.Inspect(list[0].Path)
	require.NoError(t, err)
	assert.Greater(t, info.Generation, int64(20), "the newest copy is also the newest by its name")
}

// A save that fails is logged once in each interval; the next one that succeeds clears
// the flag and removes what is left of the failed one.
func TestAutoSaveFails(t *testing.T) {
	inFakeTime(t, func(t *testing.T, r *testRoot) {
		r.set(site.FlAutoSave, objectdb.Boolean(true))
		r.update(SetDirtyRoot)
		inTheWay := filepath.Join(filepath.Dir(r.db.Path()), "test.saving")
		require.NoError(t, os.Mkdir(inTheWay, 0o700))
		var saved []bool
		agent := New(Options{DB: r.db, Log: r.logger(), Saved: func(err error) { saved = append(saved, err == nil) }})
		stop := agent.Start()
		time.Sleep(25 * time.Minute)
		require.NoError(t, os.Remove(inTheWay))
		time.Sleep(10 * time.Minute)
		stop()
		assert.Equal(t, []bool{false, false, false, true}, saved)
		assert.Equal(t, 3, strings.Count(r.log.String(), "auto-save failed"), r.log.String())
		assert.Contains(t, r.log.String(), "test.saving: is a directory")
		assert.Equal(t, 1, strings.Count(r.log.String(), "saved a copy"), r.log.String())
		assert.Len(t, r.copies(), 1)
		assert.False(t, r.isDirty())
	})
}

func TestAgentStops(t *testing.T) {
	r := newRoot(t)
	r.set(site.FlAutoSave, objectdb.Boolean(true))
	stop := r.agent().Start()
	stop()
	before := r.copies()
	r.change()
	require.NoError(t, r.db.Close())
	assert.Equal(t, before, r.copies())
}
