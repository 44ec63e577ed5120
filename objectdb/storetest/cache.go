package storetest

import (
	"context"
	"errors"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
)

// When another process writes one object, the others stay cached.
func testTheCacheForgetsOnlyWhatOthersChanged(t *T) {
	db := open(t)
	Put(t, db, "a.x", objectdb.Number(1), "a.y", objectdb.Number(1), "b.x", objectdb.Number(1),
		"b.t.x", objectdb.Number(1))
	other, err := t.Open(db.Path(), Patient)
	require.NoError(t, err)
	defer other.Close()
	made := 0
	b := objectdb.NewDerived(func(tx *objectdb.Tx) (objectdb.Value, error) {
		made++
		return tx.Get(objectdb.Address{"b", "x"})
	})
	misses := func() uint64 {
		before := db.CacheStats().Misses
		View(t, db, func(tx *objectdb.Tx) {
			for _, a := range []string{"a.x", "a.y", "b.x", "b.t.x"} {
				_, err := tx.Get(Addr(t, a))
				require.True(t, err == nil || errors.Is(err, objectdb.ErrNotFound))
			}
			require.NotEmpty(t, Names(t, tx, "b"))
			_, err := b.Get(tx)
			require.NoError(t, err)
		})
		return db.CacheStats().Misses - before
	}
	misses()
	require.Zero(t, misses())
	made = 0
	change := func(fn func(tx *objectdb.Tx) error) {
		t.Helper()
		require.NoError(t, other.Update(context.Background(), fn))
	}
	for _, test := range []struct {
		what   string
		do     func(tx *objectdb.Tx) error
		misses uint64
		made   int
	}{
		{"a value", func(tx *objectdb.Tx) error { return tx.Put(objectdb.Address{"a", "x"}, objectdb.Number(2)) }, 1, 0},
		{"a new name: its table was written too", func(tx *objectdb.Tx) error {
			return tx.Put(objectdb.Address{"a", "new"}, objectdb.Number(2))
		}, 1, 0},
		{"a name goes", func(tx *objectdb.Tx) error { return tx.Delete(objectdb.Address{"a", "y"}) }, 2, 0},
		{"what a value was made of, in a table that is listed", func(tx *objectdb.Tx) error {
			return tx.Put(objectdb.Address{"b", "x"}, objectdb.Number(2))
		}, 2, 1},
		{"a table moves", func(tx *objectdb.Tx) error { return tx.Move(objectdb.Address{"b"}, objectdb.Address{"c"}) }, 0, 0},
		{"and comes back", func(tx *objectdb.Tx) error {
			return tx.Move(objectdb.Address{"c"}, objectdb.Address{"b"})
		}, 2, 1},
	} {
		made = 0
		change(test.do)
		if test.what == "a table moves" {
			continue // not looked at before it is back
		}
		assert.Equal(t, test.misses, misses(), test.what)
		assert.Equal(t, test.made, made, test.what)
		assert.Zero(t, misses(), test.what)
		requireCacheTrue(t, db)
	}
}

// Two tables that change their order are not taken for a table in itself.
func testTablesThatChangeTheirOrderAreNotDamaged(t *T) {
	db := open(t)
	Put(t, db, "y.x.z.v", objectdb.Number(1))
	RequireEqual(t, objectdb.Number(1), Get(t, db, "y.x.z.v"))
	Update(t, db, func(tx *objectdb.Tx) { require.NoError(t, tx.Move(Addr(t, "y.x"), Addr(t, "x"))) })
	RequireEqual(t, objectdb.Number(1), Get(t, db, "x.z.v"))
	Update(t, db, func(tx *objectdb.Tx) { require.NoError(t, tx.Move(Addr(t, "y"), Addr(t, "x.z.y"))) })
	View(t, db, func(tx *objectdb.Tx) { assert.Equal(t, "v y", Names(t, tx, "x.z")) })
	requireCacheTrue(t, db)
}

// What is moved out of a table that is deleted is found at its new place.
func testWhatIsMovedOutOfADeletedTable(t *T) {
	db := open(t)
	other, err := t.Open(db.Path(), Patient)
	require.NoError(t, err)
	defer other.Close()
	Put(t, db, "x.y.b.v", objectdb.Number(1))
	address := func(db *objectdb.DB, a string) (is string) {
		View(t, db, func(tx *objectdb.Tx) { is = tx.Address(Must(tx.Find(Addr(t, a)))(t)).String() })
		return is
	}
	for _, db := range []*objectdb.DB{db, other} {
		require.Equal(t, "x.y.b.v", address(db, "x.y.b.v"))
	}
	Update(t, db, func(tx *objectdb.Tx) {
		require.NoError(t, tx.Move(Addr(t, "x.y.b"), Addr(t, "c")))
		require.NoError(t, tx.Delete(Addr(t, "x")))
	})
	for _, db := range []*objectdb.DB{db, other} {
		require.Equal(t, "c.v", address(db, "c.v"))
	}
	requireCacheTrue(t, db)
	requireCacheTrue(t, other)
}
