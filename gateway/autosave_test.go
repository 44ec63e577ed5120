package gateway

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

// inFakeTime runs a test in which an hour takes no time.
func inFakeTime(t *testing.T, fn func(t *testing.T, s *testSite)) {
	synctest.Test(t, func(t *testing.T) {
		fn(t, newSite(t))
		time.Sleep(time.Minute) // what looks after the scripts goes on for a moment
	})
}

func (s *testSite) copies() []objectdb.Copy {
	s.t.Helper()
	list, err := sqlitestore.Copies(s.db.Path())
	require.NoError(s.t, err)
	return list
}

// change commits something that is to be saved.
func (s *testSite) change() { s.put("workspace.changed", objectdb.String(time.Now().String())) }

// Auto-Save, Use Dirty Root Flag and Set Save Interval (specification, 2.2, 2.3 and 8).
//
// Specification: 2.2.7, 2.2.8, 2.2.9, 2.3.6, 2.3.7, 8.2
func TestAutoSave(t *testing.T) {
	inFakeTime(t, func(t *testing.T, s *testSite) {
		defer s.g.StartAutoSave()()
		time.Sleep(time.Hour)
		assert.Empty(t, s.copies(), "Auto-Save is not checked")

		s.put("user.webserver.flAutoSave", objectdb.Boolean(true))
		time.Sleep(time.Minute)
		assert.Len(t, s.copies(), 1, "the first one at once")
		s.change()
		time.Sleep(8 * time.Minute)
		assert.Len(t, s.copies(), 1, "the interval is not over")
		time.Sleep(2 * time.Minute)
		assert.Len(t, s.copies(), 2)
		time.Sleep(time.Hour)
		assert.Len(t, s.copies(), 2, "nothing was changed")

		s.put("user.webserver.saveInterval", objectdb.Number(60))
		time.Sleep(50 * time.Minute)
		assert.Len(t, s.copies(), 2)
		time.Sleep(20 * time.Minute)
		assert.Len(t, s.copies(), 3, "the new interval counts")

		s.put("user.webserver.maxSaves", objectdb.Number(2))
		for range 3 {
			s.change()
			time.Sleep(61 * time.Minute)
		}
		assert.Len(t, s.copies(), 2)
		assert.NotContains(t, s.log.String(), "level=WARN")
	})
}

// Specification: 2.2.8, 2.3.6, 2.3.11
func TestDirtyRoot(t *testing.T) {
	inFakeTime(t, func(t *testing.T, s *testSite) {
		s.put("user.webserver.flAutoSave", objectdb.Boolean(true))
		s.put("user.webserver.flUseDirtyRoot", objectdb.Boolean(true))
		s.script("writes", `scratchpad.n = (scratchpad.n or 0) + 1 webserver.setDirtyRoot () return "ok"`)
		defer s.g.StartAutoSave()()
		s.change()
		time.Sleep(time.Hour)
		assert.Empty(t, s.copies(), "the flag is not set")

		require.Equal(t, "ok", s.ask("/writes.fcgi", nil).Body)
		assert.Equal(t, objectdb.Boolean(true), s.get("user.webserver.flDirtyRoot"))
		time.Sleep(time.Minute)
		assert.Len(t, s.copies(), 1)
		assert.Equal(t, objectdb.Boolean(false), s.get("user.webserver.flDirtyRoot"), "a finished save clears it")
		s.change()
		time.Sleep(time.Hour)
		assert.Len(t, s.copies(), 1)
	})
}

// The flag is set again while the copy is made: that change is not in it.
//
// Specification: 2.2.8, 2.3.6
func TestDirtyRootSetWhileSaving(t *testing.T) {
	s := newSite(t)
	s.script("writes", `scratchpad.n = (scratchpad.n or 0) + 1 webserver.setDirtyRoot () return "ok"`)
	require.Equal(t, "ok", s.ask("/writes.fcgi", nil).Body)
	again := func(int64, int64) { require.Equal(t, "ok", s.ask("/writes.fcgi", nil).Body) }
	c, err := Save(context.Background(), s.db, objectdb.SaveOptions{Progress: again})
	require.NoError(t, err)
	assert.Equal(t, objectdb.Boolean(true), s.get("user.webserver.flDirtyRoot"))
	saved, err := sqlitestore.Open(c.Path, objectdb.Options{ReadOnly: true})
	require.NoError(t, err)
	defer saved.Close()
	require.NoError(t, saved.View(context.Background(), func(tx *objectdb.Tx) error {
		n, err := tx.Get(objectdb.Address{"scratchpad", "n"})
		assert.Equal(t, objectdb.Number(1), n)
		return err
	}))

	_, err = Save(context.Background(), s.db, objectdb.SaveOptions{})
	require.NoError(t, err)
	assert.Equal(t, objectdb.Boolean(false), s.get("user.webserver.flDirtyRoot"))

	// A save that fails clears nothing.
	s.put("user.webserver.flDirtyRoot", objectdb.Boolean(true))
	ctx, cancel := context.WithCancel(context.Background())
	_, err = Save(ctx, s.db, objectdb.SaveOptions{Due: func() error { cancel(); return ctx.Err() }})
	require.ErrorIs(t, err, context.Canceled)
	assert.Equal(t, objectdb.Boolean(true), s.get("user.webserver.flDirtyRoot"))
}

// Several programs on one root, as mod_fcgid starts them, some at other times:
// one copy in each interval.
//
// Specification: 2.2.7, 8.2
func TestAutoSaveAmongMany(t *testing.T) {
	inFakeTime(t, func(t *testing.T, s *testSite) {
		s.put("user.webserver.flAutoSave", objectdb.Boolean(true))
		s.put("user.webserver.maxSaves", objectdb.Number(100))
		for i := range 4 {
			db, err := sqlitestore.Open(s.db.Path(), patient)
			require.NoError(t, err)
			defer db.Close()
			defer New(Options{DB: db}).StartAutoSave()()
			time.Sleep(time.Duration(i) * time.Minute)
		}
		begun := len(s.copies())
		require.Equal(t, 1, begun)
		for range 12 * 60 {
			s.change()
			time.Sleep(10 * time.Second)
		}
		assert.InDelta(t, 12, len(s.copies())-begun, 1, "in two hours, every ten minutes")
	})
}

// A program that is started anew all the time goes by the age of the newest copy.
//
// Specification: 2.2.9, 8.2
func TestAutoSaveOfShortLives(t *testing.T) {
	inFakeTime(t, func(t *testing.T, s *testSite) {
		s.put("user.webserver.flAutoSave", objectdb.Boolean(true))
		s.put("user.webserver.maxSaves", objectdb.Number(100))
		for range 120 {
			s.change()
			stop := New(Options{DB: s.db}).StartAutoSave()
			time.Sleep(time.Minute)
			stop()
		}
		assert.InDelta(t, 12, len(s.copies()), 1)
	})
}

// The clock of the wall jumps: no storm of saves, and none is left out for ever.
func TestAutoSaveWhenTheClockJumps(t *testing.T) {
	now := time.Date(2026, 1, 31, 18, 30, 0, 0, time.UTC)
	clock := func() time.Time { return now }
	db, err := sqlitestore.Open(newSite(t).db.Path(), objectdb.Options{Relaxed: true, BusyTimeout: patience, LockTime: patience, Now: clock})
	require.NoError(t, err)
	defer db.Close()
	g := New(Options{DB: db, Now: clock})
	n := 0
	change := func() {
		n++
		update(t, db, func(tx *objectdb.Tx) error {
			if err := tx.Put(site.FlAutoSave.Address(), objectdb.Boolean(true)); err != nil {
				return err
			}
			return tx.Put(objectdb.Address{"workspace", "n"}, objectdb.Number(n))
		})
	}
	requests := func(want bool) {
		t.Helper()
		change()
		require.Equal(t, want, g.SaveDue(context.Background()))
		if want {
			require.NoError(t, g.SaveIfDue(context.Background()))
		}
		for range 3 {
			change()
			require.False(t, g.SaveDue(context.Background()), "once")
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
	assert.Greater(t, info.Generation, int64(20), "the newest one is the newest one by its name, too")
}

// A save that fails is logged, once an interval, and harms no request; the
// next one that succeeds clears all away.
func TestAutoSaveThatFails(t *testing.T) {
	inFakeTime(t, func(t *testing.T, s *testSite) {
		var log testlog.Buffer
		s.g.log = slog.New(slog.NewTextHandler(&log, nil))
		s.put("user.webserver.flAutoSave", objectdb.Boolean(true))
		s.put("user.webserver.flDirtyRoot", objectdb.Boolean(true))
		s.script("hello", `return "hello"`)
		inTheWay := filepath.Join(filepath.Dir(s.db.Path()), "test.saving")
		require.NoError(t, os.Mkdir(inTheWay, 0o700))
		stop := s.g.StartAutoSave()
		time.Sleep(25 * time.Minute)
		assert.Equal(t, "hello", s.ask("/hello.fcgi", nil).Body)
		require.NoError(t, os.Remove(inTheWay))
		time.Sleep(10 * time.Minute)
		stop()
		assert.Equal(t, 3, strings.Count(log.String(), "auto-save failed"), log.String())
		assert.Contains(t, log.String(), "test.saving: is a directory")
		assert.Equal(t, 1, strings.Count(log.String(), "saved a copy"), log.String())
		assert.Len(t, s.copies(), 1)
		assert.Equal(t, objectdb.Boolean(false), s.get("user.webserver.flDirtyRoot"))
	})
}

func TestTheAgentStops(t *testing.T) {
	s := newSite(t)
	s.put("user.webserver.flAutoSave", objectdb.Boolean(true))
	stop := s.g.StartAutoSave()
	stop()
	before := s.copies()
	s.change()
	require.NoError(t, s.db.Close())
	assert.Equal(t, before, s.copies())
	Unavailable(nil).StartAutoSave()()
	assert.False(t, Unavailable(nil).SaveDue(context.Background()))
}
