package sqlitestore

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	. "scripter/objectdb"
	"scripter/objectdb/storetest"
)

// TestContract runs the tests that every store must pass.
func TestContract(t *testing.T) { storetest.Run(t, storetest.Backend{Create: Create, Open: Open}) }

// openRoot returns a new root, and checks at the end of the test that everything is as it
// must be in it.
func openRoot(t testing.TB) *DB { return openRootWith(t, patient) }

func openRootWith(t testing.TB, o Options) *DB {
	t.Helper()
	db, _ := openStore(t, o)
	return db
}

// openStore is openRootWith for tests that look at the store.
func openStore(t testing.TB, o Options) (*DB, *store) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "test.root")
	require.NoError(t, create(path, o))
	s, err := open(path, o)
	require.NoError(t, err)
	db := New(s, s.options)
	t.Cleanup(func() {
		requireSound(t, db)
		require.NoError(t, db.Close())
	})
	return db, s
}

// requireCacheTrue compares what the cache says with what the file has.
func requireCacheTrue(t testing.TB, db *DB) {
	t.Helper()
	fresh, err := Open(db.Path(), Options{CacheBytes: -1})
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
)

func must[V any](v V, err error) func(testing.TB) V { return storetest.Must(v, err) }
