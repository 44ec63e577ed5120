package sqlitestore

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"scripter/objectdb"
	"scripter/objectdb/storetest"
)

// TestContract runs the tests that every store must pass.
func TestContract(t *testing.T) {
	storetest.Run(t, storetest.Backend{
		Path:   func(t testing.TB) string { return filepath.Join(t.TempDir(), "test.root") },
		Create: Create, Open: Open, Import: Import, OpenCopy: Open,
		Beside: func(path string) string { return strings.TrimSuffix(path, ".root") },
	})
}

// openRoot returns a new root, which is checked at the end of the test.
func openRoot(t testing.TB) *objectdb.DB { return openRootWith(t, patient) }

func openRootWith(t testing.TB, o objectdb.Options) *objectdb.DB {
	t.Helper()
	db, _ := openStore(t, o)
	return db
}

// openStore is openRootWith for tests that look at the store.
func openStore(t testing.TB, o objectdb.Options) (*objectdb.DB, *store) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "test.root")
	require.NoError(t, create(path, o))
	s, err := open(path, o)
	require.NoError(t, err)
	db := objectdb.New(s, s.options)
	t.Cleanup(func() {
		requireSound(t, db)
		require.NoError(t, db.Close())
	})
	return db, s
}

// requireCacheTrue compares the cache with the file.
func requireCacheTrue(t testing.TB, db *objectdb.DB) {
	t.Helper()
	fresh, err := Open(db.Path(), objectdb.Options{CacheBytes: -1})
	require.NoError(t, err)
	defer fresh.Close()
	storetest.RequireSame(t, fresh, db)
}

const patience = storetest.Patience

var (
	patient      = storetest.Patient
	update       = storetest.Update
	view         = storetest.View
	addr         = storetest.Addr
	put          = storetest.Put
	get          = storetest.Get
	names        = storetest.Names
	requireEqual = storetest.RequireEqual
	requireSound = storetest.RequireSound
	increment    = storetest.Increment
	save         = storetest.Save
	revert       = storetest.Revert
	state        = storetest.State
)

func must[V any](v V, err error) func(testing.TB) V { return storetest.Must(v, err) }

// originStore is a store that remembers the origins of commits.
type originStore struct {
	*store
	origins []objectdb.Origin
}

type originWriter struct {
	objectdb.Writer
	store *originStore
}

func (s *originStore) BeginWrite(
	ctx context.Context, since int64, wait *time.Duration,
) (objectdb.Writer, objectdb.State, error) {
	w, state, err := s.store.BeginWrite(ctx, since, wait)
	return originWriter{w, s}, state, err
}

func (w originWriter) Commit(ctx context.Context, c *objectdb.Commit) (func(context.Context) error, error) {
	w.store.origins = append(w.store.origins, c.Origin)
	return w.Writer.Commit(ctx, c)
}

// The origin of a transaction, or that of the DB, reaches the store.
func TestOriginReachesTheStore(t *testing.T) {
	_, s := openStore(t, patient)
	recording := &originStore{store: s}
	o := patient
	o.Origin = objectdb.Origin{Who: "ada", Why: "scripter serve"}
	request := objectdb.Origin{Who: "carol", Why: "POST", Path: "/guestbook.fcgi"}
	db := objectdb.New(recording, o)
	n := objectdb.Address{"n"}
	require.NoError(t, db.Update(t.Context(), func(tx *objectdb.Tx) error { return increment(tx, n) }))
	require.NoError(t, db.Update(t.Context(), func(tx *objectdb.Tx) error {
		tx.Origin = request
		return errors.Join(increment(tx, n), tx.Flush(), increment(tx, n))
	}))
	require.NoError(t, db.UpdateLocked(t.Context(), func(tx *objectdb.Tx) error { return increment(tx, n) }))
	require.Equal(t, []objectdb.Origin{o.Origin, request, request, o.Origin}, recording.origins)
}
