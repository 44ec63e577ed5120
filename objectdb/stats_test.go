package objectdb

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestCacheStats: what was read once is found the next time, and counted so.
func TestCacheStats(t *testing.T) {
	db, err := Create(t.TempDir()+"/x.root", patient)
	require.NoError(t, err)
	defer db.Close()
	a := Address{"table", "name"}
	require.NoError(t, db.Update(context.Background(), func(tx *Tx) error {
		return tx.Put(a, String("x"))
	}))
	read := func(a Address) CacheStats {
		before := db.CacheStats()
		require.NoError(t, db.View(context.Background(), func(tx *Tx) error {
			_, err := tx.Get(a)
			return err
		}))
		after := db.CacheStats()
		return CacheStats{after.Hits - before.Hits, after.Misses - before.Misses}
	}
	read(a)
	again := read(a)
	assert.Zero(t, again.Misses)
	assert.Positive(t, again.Hits)

	other, err := Open(db.Path(), patient)
	require.NoError(t, err)
	defer other.Close()
	require.NoError(t, other.Update(context.Background(), func(tx *Tx) error {
		return tx.Put(a, String("y"))
	}))
	assert.Positive(t, read(a).Misses, "another program has written: nothing that was read counts")
}
