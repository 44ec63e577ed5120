package objectdb_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
	"scripter/objectdb/sqlitestore"
)

// The cache does not watch places for values that a DerivedMap has forgotten.
func TestForgottenDerivedValues(t *testing.T) {
	db, err := sqlitestore.Create(t.TempDir()+"/a.root", objectdb.Options{Relaxed: true})
	require.NoError(t, err)
	defer db.Close()
	a := objectdb.Address{"numbers"}
	m := objectdb.NewDerivedMap[string, objectdb.Value](2)
	for _, name := range []string{"a", "b", "c", "b"} {
		require.NoError(t, db.Update(t.Context(), func(tx *objectdb.Tx) error {
			return tx.Put(a.Child(name), objectdb.Number(1))
		}))
		require.NoError(t, db.View(t.Context(), func(tx *objectdb.Tx) error {
			_, err := m.Get(tx, name, func(tx *objectdb.Tx) (objectdb.Value, error) { return tx.Get(a.Child(name)) })
			return err
		}))
	}
	assert.Equal(t, 3+2, db.DerivedPlaces(), "the way to b and c, and nothing of a; and that of the indexes")
}

// A derived value that a transaction makes after it has written is made once for all transactions,
// unless it depends on what the transaction has written.
func TestDerivedOfWriter(t *testing.T) {
	db, err := sqlitestore.Create(t.TempDir()+"/a.root", objectdb.Options{Relaxed: true})
	require.NoError(t, err)
	defer db.Close()
	source, other := objectdb.Address{"settings", "a"}, objectdb.Address{"counters", "n"}
	require.NoError(t, db.Update(t.Context(), func(tx *objectdb.Tx) error { return tx.Put(other, objectdb.Number(0)) }))
	made := 0
	d := objectdb.NewDerived(func(tx *objectdb.Tx) (objectdb.Value, error) {
		made++
		return tx.Get(source)
	})
	get := func(write objectdb.Address, n, want objectdb.Number) {
		t.Helper()
		for _, update := range []func(context.Context, func(*objectdb.Tx) error) error{db.Update, db.UpdateLocked} {
			require.NoError(t, update(t.Context(), func(tx *objectdb.Tx) error {
				if err := tx.Put(write, n); err != nil {
					return err
				}
				v, err := d.Get(tx)
				assert.Equal(t, want, v)
				return err
			}))
		}
	}
	get(source, 1, 1)
	assert.Equal(t, 2, made, "once for each transaction, because each has written the source")
	get(other, 5, 1)
	assert.Equal(t, 3, made, "once")
	get(other, 6, 1)
	assert.Equal(t, 3, made, "known")
	get(source, 2, 2)
	get(other, 7, 2)
	assert.Equal(t, 6, made)
}
