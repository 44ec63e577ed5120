package storetest

import (
	"context"
	"errors"
	"strings"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
)

func updateLocked(t *T, db *objectdb.DB, fn func(*objectdb.Tx)) {
	require.NoError(t, db.UpdateLocked(context.Background(), func(tx *objectdb.Tx) error { fn(tx); return nil }))
}

// reads returns the addresses that a transaction has read, separated by blanks, with "[]" after those
// of tables.
func reads(tx *objectdb.Tx) string {
	var list []string
	for n := range tx.Reads() {
		a := tx.AddressRead(n).String()
		if n.Kind() == objectdb.KindTable {
			a += "[]"
		}
		list = append(list, a)
	}
	return strings.Join(list, " ")
}

func testReads(t *T) {
	db := open(t)
	Put(t, db, "t.a", objectdb.Number(1), "t.b", objectdb.Number(2), "t.in.x", objectdb.Number(3),
		"u.y", objectdb.Number(4), "z", objectdb.Number(5))
	look := func(tx *objectdb.Tx) {
		tx.RecordReads()
		for range 2 {
			Must(tx.Get(Addr(t, "u.Y")))(t)
			Must(tx.Get(Addr(t, "t.b")))(t)
		}
		_, err := tx.Get(Addr(t, "t.nothing"))
		assert.ErrorIs(t, err, objectdb.ErrNotFound)
		Must(tx.Find(Addr(t, "t.in")))(t)
		Must(tx.Len(Must(tx.Find(Addr(t, "u")))(t)))(t)
		Must(tx.Children(tx.Root()))(t)
		assert.Equal(t, "u.y t.b u[] [] z", reads(tx))
		for n := range tx.Reads() {
			assert.Equal(t, "y", n.Name())
			break
		}
	}
	for range 2 { // from the store, and from the cache
		Update(t, db, look)
		View(t, db, look)
		updateLocked(t, db, look)
	}

	Update(t, db, func(tx *objectdb.Tx) {
		Must(tx.Get(Addr(t, "z")))(t)
		assert.Empty(t, reads(tx), "nobody has asked for it")
	})

	// What it writes itself is not read; what it has read keeps the address that it had.
	for _, update := range []func(context.Context, func(*objectdb.Tx) error) error{db.Update, db.UpdateLocked} {
		undone := errors.New("undone")
		err := update(context.Background(), func(tx *objectdb.Tx) error {
			tx.RecordReads()
			require.NoError(t, tx.Put(Addr(t, "t.new"), objectdb.Number(1)))
			Must(tx.Get(Addr(t, "t.new")))(t)
			require.NoError(t, tx.Put(Addr(t, "t.a"), objectdb.Number(9)))
			Must(tx.Get(Addr(t, "t.a")))(t)
			assert.Empty(t, reads(tx))
			Must(tx.Get(Addr(t, "t.in.x")))(t)
			require.NoError(t, tx.Move(Addr(t, "t.in"), Addr(t, "moved")))
			Must(tx.Get(Addr(t, "moved.x")))(t)
			assert.Equal(t, "t.in.x", reads(tx))
			require.NoError(t, tx.Delete(Addr(t, "moved")))
			require.NoError(t, tx.Delete(Addr(t, "t")))
			assert.Equal(t, "t.in.x", reads(tx))
			return undone
		})
		assert.ErrorIs(t, err, undone)
	}

	// A table was renamed; the objects in it, which are cached, have the new address.
	View(t, db, func(tx *objectdb.Tx) { Must(tx.Get(Addr(t, "t.in.x")))(t) })
	Update(t, db, func(tx *objectdb.Tx) { require.NoError(t, tx.Move(Addr(t, "t.in"), Addr(t, "t.inner"))) })
	Update(t, db, func(tx *objectdb.Tx) {
		tx.RecordReads()
		children := Must(tx.Children(Must(tx.Find(Addr(t, "t")))(t)))(t)
		Must(tx.Child(children[2], "x"))(t)
		assert.Equal(t, "t[] t.a t.b t.inner.x", reads(tx))
	})
}

func testReadsBeyondFlush(t *T) {
	db := open(t)
	Put(t, db, "a", objectdb.Number(1), "t.b", objectdb.Number(2), "c", objectdb.Number(3))
	for _, update := range []func(context.Context, func(*objectdb.Tx) error) error{db.Update, db.UpdateLocked} {
		require.NoError(t, update(context.Background(), func(tx *objectdb.Tx) error {
			tx.RecordReads()
			Must(tx.Get(Addr(t, "t.b")))(t)
			require.NoError(t, Increment(tx, Addr(t, "a")))
			require.NoError(t, tx.Flush())
			Must(tx.Get(Addr(t, "a")))(t)
			Must(tx.Get(Addr(t, "c")))(t)
			assert.Equal(t, "t.b a c", reads(tx))
			return nil
		}))
	}
	Update(t, db, func(tx *objectdb.Tx) {
		tx.RecordReads()
		Must(tx.Get(Addr(t, "t.b")))(t)
		require.NoError(t, tx.Delete(Addr(t, "t")))
		require.NoError(t, tx.Flush())
		assert.Equal(t, "t.b", reads(tx), "its table is gone")
	})
	View(t, db, func(tx *objectdb.Tx) {
		tx.RecordReads()
		Must(tx.Get(Addr(t, "a")))(t)
		require.NoError(t, tx.Flush())
		Must(tx.Get(Addr(t, "c")))(t)
		assert.Equal(t, "a c", reads(tx))
	})
}

// testReadsOfTheLastRun checks that a transaction that is run again has read what its last run read.
func testReadsOfTheLastRun(t *T) {
	db := open(t)
	Put(t, db, "first", objectdb.Number(1), "second", objectdb.Number(2), "n", objectdb.Number(0))
	runs := 0
	Update(t, db, func(tx *objectdb.Tx) {
		tx.RecordReads()
		a := Addr(t, []string{"first", "second"}[runs])
		runs++
		Must(tx.Get(a))(t)
		require.NoError(t, Increment(tx, Addr(t, "n")))
		if runs == 1 {
			Put(t, db, "n", objectdb.Number(10))
			assert.Equal(t, "first n", reads(tx))
			return
		}
		assert.True(t, tx.Locked())
		assert.Equal(t, "second n", reads(tx))
	})
	assert.Equal(t, 2, runs)
}

// testReadsOfDerived checks that the value of a DerivedMap, cached or not, counts as read, and a Derived does not.
func testReadsOfDerived(t *T) {
	db := open(t)
	Put(t, db, "a", objectdb.Number(1), "b", objectdb.Number(2), "setting", objectdb.Number(3))
	setting := objectdb.NewDerived(func(tx *objectdb.Tx) (objectdb.Value, error) { return tx.Get(Addr(t, "setting")) })
	texts := objectdb.NewDerivedMap[string, objectdb.Value](10)
	for range 3 {
		for _, update := range []func(context.Context, func(*objectdb.Tx) error) error{db.Update, db.UpdateLocked, db.View} {
			require.NoError(t, update(context.Background(), func(tx *objectdb.Tx) error {
				tx.RecordReads()
				Must(setting.Get(tx))(t)
				Must(texts.Get(tx, "a", func(tx *objectdb.Tx) (objectdb.Value, error) { return tx.Get(Addr(t, "a")) }))(t)
				assert.Equal(t, "a", reads(tx))
				return nil
			}))
		}
	}
}
