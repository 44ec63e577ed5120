package objectdb_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
	"scripter/objectdb/sqlitestore"
)

func TestPending(t *testing.T) {
	db, err := sqlitestore.Create(t.TempDir()+"/a.root", objectdb.Options{Relaxed: true})
	require.NoError(t, err)
	defer db.Close()
	put := func(tx *objectdb.Tx, a string, n float64) {
		t.Helper()
		at, err := objectdb.ParseAddress(a)
		require.NoError(t, err)
		require.NoError(t, tx.Put(at, objectdb.Number(n)))
	}
	require.NoError(t, db.Update(t.Context(), func(tx *objectdb.Tx) error {
		for _, a := range []string{"a.same", "a.changed", "a.gone", "a.moved", "old.x", "old.y"} {
			put(tx, a, 1)
		}
		list, err := tx.Pending()
		assert.Len(t, list, 8, "the tables too")
		return err
	}))
	errEnd := fmt.Errorf("the end")
	err = db.Update(t.Context(), func(tx *objectdb.Tx) error {
		list, err := tx.Pending()
		require.NoError(t, err)
		assert.Empty(t, list)
		put(tx, "a.changed", 2)
		put(tx, "new.z", 3)
		put(tx, "a.brief", 4)
		require.NoError(t, tx.Delete(objectdb.Address{"a", "brief"}))
		require.NoError(t, tx.Delete(objectdb.Address{"a", "gone"}))
		put(tx, "old.x", 5)
		require.NoError(t, tx.Delete(objectdb.Address{"old"}))
		require.NoError(t, tx.Move(objectdb.Address{"a", "moved"}, objectdb.Address{"new", "Moved"}))
		list, err = tx.Pending()
		require.NoError(t, err)
		var got []string
		for _, p := range list {
			line := p.Address.String()
			switch {
			case p.Node == nil:
				line += " gone"
			case p.Node.Kind() == objectdb.KindTable:
				line += " table"
			default:
				v, err := tx.Value(p.Node)
				require.NoError(t, err)
				line += fmt.Sprint(" ", v)
			}
			if p.Before != nil && p.Before.Kind() != objectdb.KindTable {
				v, err := tx.ValueBefore(p)
				require.NoError(t, err)
				line += fmt.Sprint(", before ", v)
			}
			got = append(got, line)
		}
		assert.Equal(t, []string{"a.changed 2, before 1", "a.gone gone, before 1", "a.moved gone, before 1", "new table", "new.Moved 1", "new.z 3", "old gone"}, got)
		return errEnd
	})
	require.ErrorIs(t, err, errEnd)
}
