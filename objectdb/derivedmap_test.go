package objectdb_test

import (
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
	assert.Equal(t, 3, db.DerivedPlaces(), "the way to b and c, and nothing of a")
}
