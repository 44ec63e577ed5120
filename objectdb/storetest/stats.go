package storetest

import (
	"context"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
)

// testCacheStats: what was read once is found the next time, and counted so.
func testCacheStats(t *T) {
	db := open(t)
	a := objectdb.Address{"table", "name"}
	require.NoError(t, db.Update(context.Background(), func(tx *objectdb.Tx) error {
		return tx.Put(a, objectdb.String("x"))
	}))
	read := func(a objectdb.Address) objectdb.CacheStats {
		before := db.CacheStats()
		require.NoError(t, db.View(context.Background(), func(tx *objectdb.Tx) error {
			_, err := tx.Get(a)
			return err
		}))
		after := db.CacheStats()
		return objectdb.CacheStats{Hits: after.Hits - before.Hits, Misses: after.Misses - before.Misses}
	}
	read(a)
	again := read(a)
	assert.Zero(t, again.Misses)
	assert.Positive(t, again.Hits)

	other, err := t.Open(db.Path(), Patient)
	require.NoError(t, err)
	defer other.Close()
	require.NoError(t, other.Update(context.Background(), func(tx *objectdb.Tx) error {
		return tx.Put(a, objectdb.String("y"))
	}))
	assert.Positive(t, read(a).Misses, "another program has written: nothing that was read counts")
}
