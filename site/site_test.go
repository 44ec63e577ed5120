package site

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
	"scripter/objectdb/sqlitestore"
	"scripter/objectfiles"
	"scripter/root"
)

// testSite is a root with the supplied objects.
type testSite struct {
	t  testing.TB
	db *objectdb.DB
}

func newSite(t testing.TB) *testSite {
	t.Helper()
	const patience = time.Minute // a busy machine may stand still for seconds
	options := objectdb.Options{Relaxed: true, BusyTimeout: patience, LockTime: patience}
	db, err := sqlitestore.Create(filepath.Join(t.TempDir(), "test.root"), options)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, db.Close()) })
	update(t, db, func(tx *objectdb.Tx) error {
		_, err := objectfiles.Import(tx, root.FS, nil, nil)
		return err
	})
	return &testSite{t, db}
}

func update(t testing.TB, db *objectdb.DB, fn func(tx *objectdb.Tx) error) {
	t.Helper()
	require.NoError(t, db.Update(context.Background(), fn))
}

func (s *testSite) try(fn func(tx *objectdb.Tx) error) error {
	return s.db.Update(context.Background(), fn)
}

func (s *testSite) put(address string, v objectdb.Value) {
	s.t.Helper()
	a, err := objectdb.ParseAddress(address)
	require.NoError(s.t, err)
	update(s.t, s.db, func(tx *objectdb.Tx) error { return tx.Put(a, v) })
}

func (s *testSite) get(address string) (v objectdb.Value) {
	s.t.Helper()
	a, err := objectdb.ParseAddress(address)
	require.NoError(s.t, err)
	require.NoError(s.t, s.db.View(context.Background(), func(tx *objectdb.Tx) error {
		v, err = tx.Get(a)
		return err
	}), address)
	return v
}

// now reads a snapshot.
func (s *testSite) now() (snapshot *Snapshot) {
	s.t.Helper()
	require.NoError(s.t, s.db.View(context.Background(), func(tx *objectdb.Tx) (err error) {
		snapshot, err = Read(tx)
		return err
	}))
	return snapshot
}

func TestCacheKeepsTheSnapshot(t *testing.T) {
	s := newSite(t)
	cache := NewCache()
	get := func() (snapshot *Snapshot) {
		require.NoError(t, s.db.View(t.Context(), func(tx *objectdb.Tx) (err error) {
			snapshot, err = cache.Snapshot(tx)
			return err
		}))
		return snapshot
	}
	first := get()
	s.put("scratchpad.x", objectdb.Number(1))
	assert.Same(t, first, get(), "nothing of it was written")
	s.put("user.webserver.maxBody", objectdb.Number(1))
	assert.NotSame(t, first, get())
	assert.Equal(t, 1.0, get().Number(MaxBody))
	assert.Equal(t, 16.0, first.Number(MaxBody))
}

// TestViewFollowsTheTransaction checks that a transaction sees what it has written, in
// each part of the snapshot.
func TestViewFollowsTheTransaction(t *testing.T) {
	s := newSite(t)
	cache := NewCache()
	script := objectdb.Address{"suites", "webserverScripts", "x"}
	for name, c := range map[string]struct {
		write func(tx *objectdb.Tx) error
		seen  func(s *Snapshot) bool
	}{
		"setting": {func(tx *objectdb.Tx) error { return tx.Put(MaxBody.Address(), objectdb.Number(1)) },
			func(s *Snapshot) bool { return s.Number(MaxBody) == 1 }},
		"action": {func(tx *objectdb.Tx) error { return tx.Put(actionTable.Child("NEW"), objectdb.String("/x")) },
			func(s *Snapshot) bool { a, ok := s.Action("new"); return ok && a.Handler == "/x" }},
		"object of an action": {func(tx *objectdb.Tx) error { return tx.Put(ActionObjects.Child("NEW"), objectdb.String("x")) },
			func(s *Snapshot) bool { a, _ := s.Action("new"); return a.Object != nil }},
		"MIME type": {func(tx *objectdb.Tx) error { return SetMimeType(tx, ".new", "text/new", nil) },
			func(s *Snapshot) bool { m, _ := s.MimeType(".NEW"); return m.Type == "text/new" }},
		"override": {func(tx *objectdb.Tx) error {
			_, err := SetPathRow(tx, Overrides, PathRow{"*", "/new/", "MACRO"})
			return err
		}, func(s *Snapshot) bool { return s.Override("host", "/new/x") == "MACRO" }},
		"directory index": {func(tx *objectdb.Tx) error {
			_, err := SetPathRow(tx, DirectoryIndex, PathRow{"*", "/new/", "new.html"})
			return err
		}, func(s *Snapshot) bool { return s.DirectoryIndex("host", "/new/") == "new.html" }},
		"limit": {func(tx *objectdb.Tx) error { return SetLimit(tx, script, MaxTime, 60) },
			func(s *Snapshot) bool { return s.Limits(script).Get(MaxTime).Value == 60 }},
		"requirement": {func(tx *objectdb.Tx) error { return SetRequirement(tx, script[:2], "user ada") },
			func(s *Snapshot) bool {
				r := s.Requirement(script)
				return (&Snapshot{}).Admits(r, "ada") && !(&Snapshot{}).Admits(r, "bob")
			}},
		"callback": {func(tx *objectdb.Tx) error {
			return tx.Put(home.Child("callbacks").Child("filterPage").Child("x"), objectdb.Script("return"))
		}, (*Snapshot).HasCallbacks},
		"page folders": {func(tx *objectdb.Tx) error {
			return tx.Put(home.Child("pageFolders"), objectdb.List{objectdb.String("/srv")})
		}, func(s *Snapshot) bool { return len(s.PageFolders()) == 1 }},
		"trap": {func(tx *objectdb.Tx) error { return tx.Put(traps.Child(eventID), objectdb.Script("return")) },
			func(s *Snapshot) bool { a, _ := s.Trap(); return a.Equal(traps.Child(eventID)) }},
	} {
		t.Run(name, func(t *testing.T) {
			stop := errors.New("stop")
			require.ErrorIs(t, s.try(func(tx *objectdb.Tx) error {
				v, err := cache.View(tx)
				require.NoError(t, err)
				before := v.Now()
				assert.False(t, c.seen(before))
				require.NoError(t, tx.Put(objectdb.Address{"scratchpad", "x"}, objectdb.Number(1)))
				assert.Same(t, before, v.Now(), "nothing of it was written")
				require.NoError(t, c.write(tx))
				now := v.Now()
				assert.True(t, c.seen(now))
				assert.Same(t, now, v.Now(), "it is read once")
				require.ErrorIs(t, tx.Try(func() error {
					require.NoError(t, tx.Delete(home))
					require.NoError(t, tx.Delete(traps))
					assert.False(t, c.seen(v.Now()))
					return stop
				}), stop)
				assert.True(t, c.seen(v.Now()), "what is undone does not count")
				assert.NoError(t, v.Err())
				return stop
			}), stop)
		})
	}
}

// TestReadFails checks that Read does not take an error of the database for a missing object.
func TestReadFails(t *testing.T) {
	s := newSite(t)
	var ended *objectdb.Tx
	require.NoError(t, s.db.View(t.Context(), func(tx *objectdb.Tx) error { ended = tx; return nil }))
	_, err := Read(ended)
	assert.ErrorContains(t, err, "read user.webserver: ")
}

// TestMistakesOfTheOwner checks that an object of another kind in the place of a table
// counts as an empty table; in the place of the requirements, it admits nobody.
func TestMistakesOfTheOwner(t *testing.T) {
	s := newSite(t)
	for _, name := range []string{
		"mimeTable", "actions", "actionTable", "overrides", "directoryIndex", "limits", "requires",
		"callbacks", "pageFolders",
	} {
		update(t, s.db, func(tx *objectdb.Tx) error {
			if err := tx.Delete(home.Child(name)); err != nil && !errors.Is(err, objectdb.ErrNotFound) {
				return err
			}
			return tx.Put(home.Child(name), objectdb.Number(1))
		})
	}
	now := s.now()
	assert.Empty(t, now.MimeTypes())
	assert.Empty(t, now.Actions())
	assert.Empty(t, now.PathRows(Overrides))
	assert.Equal(t, Limit{Setting: MaxTime, Value: 10}, now.Limits(Scripts).Get(MaxTime))
	assert.ErrorContains(t, now.Requirement(Scripts).Err, "user.webserver.requires is a number, not a table")
}
