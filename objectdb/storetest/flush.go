package storetest

import (
	"context"
	"errors"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
)

func testBeforeSync(t *T) {
	ctx := context.Background()
	called := 0
	update := func(db *objectdb.DB, fn func(*objectdb.Tx) error) error {
		return db.Update(ctx, func(tx *objectdb.Tx) error {
			tx.BeforeSync(func() {
				called++
				other := objectdb.Number(float64(called))
				assert.NoError(t, db.Update(ctx, func(tx *objectdb.Tx) error { return tx.Put(objectdb.Address{"other"}, other) }),
					"neither the lock nor the connection is needed any more")
			})
			return fn(tx)
		})
	}
	db := openWith(t, objectdb.Options{})
	require.NoError(t, update(db, func(tx *objectdb.Tx) error {
		return tx.Put(objectdb.Address{"n"}, objectdb.Number(1))
	}))
	assert.Equal(t, 1, called)
	require.NoError(t, update(db, func(tx *objectdb.Tx) error {
		require.NoError(t, tx.Put(objectdb.Address{"n"}, objectdb.Number(2)))
		require.NoError(t, tx.Flush())
		assert.Equal(t, 1, called, "the function goes on after a Flush")
		return tx.Put(objectdb.Address{"n"}, objectdb.Number(3))
	}))
	assert.Equal(t, 2, called)
	require.NoError(t, update(db, func(tx *objectdb.Tx) error { return nil }))
	require.Error(t, update(db, func(tx *objectdb.Tx) error { return errors.New("no") }))
	assert.Equal(t, 2, called, "there is nothing to sync")

	relaxed := openWith(t, objectdb.Options{Relaxed: true})
	require.NoError(t, update(relaxed, func(tx *objectdb.Tx) error {
		return tx.Put(objectdb.Address{"n"}, objectdb.Number(1))
	}))
	assert.Equal(t, 2, called)
}
