package storetest

import (
	"context"
	"errors"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	. "scripter/objectdb"
)

func testBeforeSync(t *T) {
	ctx := context.Background()
	called := 0
	update := func(db *DB, fn func(*Tx) error) error {
		return db.Update(ctx, func(tx *Tx) error {
			tx.BeforeSync(func() {
				called++
				other := Number(float64(called))
				assert.NoError(t, db.Update(ctx, func(tx *Tx) error { return tx.Put(Address{"other"}, other) }),
					"neither the lock nor the connection is needed any more")
			})
			return fn(tx)
		})
	}
	db := openWith(t, Options{})
	require.NoError(t, update(db, func(tx *Tx) error { return tx.Put(Address{"n"}, Number(1)) }))
	assert.Equal(t, 1, called)
	require.NoError(t, update(db, func(tx *Tx) error {
		require.NoError(t, tx.Put(Address{"n"}, Number(2)))
		require.NoError(t, tx.Flush())
		assert.Equal(t, 1, called, "the function goes on after a Flush")
		return tx.Put(Address{"n"}, Number(3))
	}))
	assert.Equal(t, 2, called)
	require.NoError(t, update(db, func(tx *Tx) error { return nil }))
	require.Error(t, update(db, func(tx *Tx) error { return errors.New("no") }))
	assert.Equal(t, 2, called, "there is nothing to sync")

	relaxed := openWith(t, Options{Relaxed: true})
	require.NoError(t, update(relaxed, func(tx *Tx) error { return tx.Put(Address{"n"}, Number(1)) }))
	assert.Equal(t, 2, called)
}
