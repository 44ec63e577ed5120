package storetest

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
)

func testAFailedAttemptIsUndone(t *T) {
	boom := errors.New("boom")
	tests := []struct {
		name    string
		attempt func(*T, *objectdb.Tx)
	}{
		{"a value is written", func(t *T, tx *objectdb.Tx) {
			require.NoError(t, tx.Put(objectdb.Address{"t", "x"}, objectdb.Number(9)))
		}},
		{"and written again", func(t *T, tx *objectdb.Tx) {
			require.NoError(t, tx.Put(objectdb.Address{"t", "x"}, objectdb.Number(8)))
			require.NoError(t, tx.Put(objectdb.Address{"t", "x"}, objectdb.Number(9)))
		}},
		{"what was written before is written", func(t *T, tx *objectdb.Tx) {
			require.NoError(t, tx.Put(objectdb.Address{"early"}, objectdb.String("late")))
		}},
		{"names come", func(t *T, tx *objectdb.Tx) {
			require.NoError(t, tx.Put(objectdb.Address{"new", "deep", "x"}, objectdb.Number(9)))
		}},
		{"a name goes", func(t *T, tx *objectdb.Tx) { require.NoError(t, tx.Delete(objectdb.Address{"t", "x"})) }},
		{"a table goes", func(t *T, tx *objectdb.Tx) {
			require.NoError(t, tx.Put(objectdb.Address{"t", "y"}, objectdb.Number(9)))
			require.NoError(t, tx.Delete(objectdb.Address{"t"}))
		}},
		{"a table is replaced", func(t *T, tx *objectdb.Tx) {
			_, err := tx.SetTable(tx.Root(), "t")
			require.NoError(t, err)
			require.NoError(t, tx.Put(objectdb.Address{"t", "z"}, objectdb.Number(9)))
		}},
		{"things move", func(t *T, tx *objectdb.Tx) {
			require.NoError(t, tx.Move(objectdb.Address{"t"}, objectdb.Address{"u", "t"}))
			require.NoError(t, tx.Move(objectdb.Address{"early"}, objectdb.Address{"EARLY"}))
		}},
		{"an inner attempt fails", func(t *T, tx *objectdb.Tx) {
			require.NoError(t, tx.Put(objectdb.Address{"t", "x"}, objectdb.Number(8)))
			assert.Equal(t, boom, tx.Try(func() error {
				require.NoError(t, tx.Delete(objectdb.Address{"t"}))
				return boom
			}))
			RequireEqual(t, objectdb.Number(8), Must(tx.Get(objectdb.Address{"t", "x"}))(t))
		}},
		{"an inner attempt succeeds", func(t *T, tx *objectdb.Tx) {
			require.NoError(t, tx.Try(func() error { return tx.Put(objectdb.Address{"t", "x"}, objectdb.Number(9)) }))
			RequireEqual(t, objectdb.Number(9), Must(tx.Get(objectdb.Address{"t", "x"}))(t))
		}},
	}
	for _, test := range tests {
		for _, early := range []bool{false, true} {
			t.Run(test.name, func(t *T) {
				db := open(t)
				Put(t, db, "t.x", objectdb.Number(1), "u.x", objectdb.Number(2), "early", objectdb.String("first"))
				generation := Must(db.Info(context.Background()))(t).Generation
				Update(t, db, func(tx *objectdb.Tx) {
					if early {
						require.NoError(t, tx.Put(objectdb.Address{"early"}, objectdb.String("second")))
						require.NoError(t, tx.Put(objectdb.Address{"t", "early"}, objectdb.Number(3)))
						assert.Equal(t, "early x", Names(t, tx, "t"))
					}
					before := fromWithin(t, tx)
					assert.Equal(t, boom, tx.Try(func() error { test.attempt(t, tx); return boom }))
					assert.Equal(t, before, fromWithin(t, tx))
					assert.Equal(t, early, tx.Written())
				})
				View(t, db, func(tx *objectdb.Tx) { assert.Equal(t, "early t u", Names(t, tx, "")) })
				RequireEqual(t, objectdb.Number(1), Get(t, db, "t.x"))
				if !early {
					assert.Equal(t, generation, Must(db.Info(context.Background()))(t).Generation, "there was nothing to commit")
				}
				requireCacheTrue(t, db)
			})
		}
	}
}

// fromWithin returns all that a transaction sees.
func fromWithin(t testing.TB, tx *objectdb.Tx) map[string]objectdb.Value {
	t.Helper()
	all := map[string]objectdb.Value{}
	require.NoError(t, tx.Walk(objectdb.Address{}, func(a objectdb.Address, n *objectdb.Node) error {
		all[a.String()] = nil
		if n.Kind() != objectdb.KindTable {
			all[a.String()] = Must(tx.Value(n))(t)
		}
		return nil
	}))
	return all
}

// Handles from a failed attempt stand for what is there now, or for nothing.
func testHandlesFromAFailedAttempt(t *T) {
	db := open(t)
	Put(t, db, "t.x", objectdb.Number(1), "t.sub.y", objectdb.Number(2))
	for _, written := range []bool{false, true} {
		Update(t, db, func(tx *objectdb.Tx) {
			if written {
				require.NoError(t, tx.Put(objectdb.Address{"other"}, objectdb.Number(1)))
			}
			var x, fresh, inFresh, moved *objectdb.Node
			assert.Error(t, tx.Try(func() error {
				require.NoError(t, tx.Put(objectdb.Address{"t", "x"}, objectdb.Number(9)))
				x = Must(tx.Find(objectdb.Address{"t", "x"}))(t)
				fresh = Must(tx.SetTable(tx.Root(), "fresh"))(t)
				require.NoError(t, tx.Set(fresh, "z", objectdb.Number(9)))
				inFresh = Must(tx.Child(fresh, "z"))(t)
				require.NoError(t, tx.Move(objectdb.Address{"t", "sub"}, objectdb.Address{"fresh", "sub"}))
				moved = Must(tx.Find(objectdb.Address{"fresh", "sub"}))(t)
				return errors.New("boom")
			}))
			RequireEqual(t, objectdb.Number(1), Must(tx.Value(x))(t))
			assert.Equal(t, "t.sub", tx.Address(moved).String())
			RequireEqual(t, objectdb.Number(2), Must(tx.Value(Must(tx.Child(moved, "y"))(t)))(t))
			for _, err := range []error{
				tx.Set(fresh, "q", objectdb.Number(1)),
				second(tx.Children(fresh)), second(tx.Len(fresh)), second(tx.Child(fresh, "z")), second(tx.Value(inFresh)),
			} {
				assert.ErrorIs(t, err, objectdb.ErrNotFound)
			}
			require.NoError(t, tx.Set(moved, "z", objectdb.Number(3)))
		})
	}
	RequireEqual(t, objectdb.Number(3), Get(t, db, "t.sub.z"))
}

func second[T any](_ T, err error) error { return err }

func testAFlushWithinAnAttemptStays(t *T) {
	db := open(t)
	Update(t, db, func(tx *objectdb.Tx) {
		require.NoError(t, tx.Put(objectdb.Address{"before"}, objectdb.Number(1)))
		assert.Error(t, tx.Try(func() error {
			require.NoError(t, tx.Put(objectdb.Address{"sent"}, objectdb.Number(2)))
			return tx.Try(func() error {
				require.NoError(t, tx.Flush())
				require.NoError(t, tx.Put(objectdb.Address{"lost"}, objectdb.Number(3)))
				return errors.New("boom")
			})
		}))
		assert.False(t, tx.Written())
		assert.Equal(t, "before sent", Names(t, tx, ""))
	})
	View(t, db, func(tx *objectdb.Tx) { assert.Equal(t, "before sent", Names(t, tx, "")) })
}

// What a failed attempt has read still counts: that it failed may be due to it.
func testAFailedAttemptHasRead(t *T) {
	db := open(t)
	Put(t, db, "n", objectdb.Number(0))
	runs := 0
	require.NoError(t, db.Update(context.Background(), func(tx *objectdb.Tx) error {
		runs++
		err := tx.Try(func() error {
			if Must(tx.Get(objectdb.Address{"n"}))(t) == objectdb.Number(0) {
				return errors.New("n is 0")
			}
			return nil
		})
		if runs == 1 {
			Put(t, db, "n", objectdb.Number(1))
		}
		return tx.Put(objectdb.Address{"failed"}, objectdb.Boolean(err != nil))
	}))
	assert.Equal(t, 2, runs)
	RequireEqual(t, objectdb.Boolean(false), Get(t, db, "failed"))
}

func testAPanicInAnAttemptIsUndone(t *T) {
	db := open(t)
	Update(t, db, func(tx *objectdb.Tx) {
		assert.Panics(t, func() {
			_ = tx.Try(func() error {
				require.NoError(t, tx.Put(objectdb.Address{"x"}, objectdb.Number(1)))
				panic("boom")
			})
		})
		assert.Equal(t, "", Names(t, tx, ""))
	})
}

func testWritesTellsWhetherTheTransactionSeesSomethingElse(t *T) {
	db := open(t)
	Update(t, db, func(tx *objectdb.Tx) {
		last := tx.Writes()
		changed := func() bool { before := last; last = tx.Writes(); return last != before }
		require.NoError(t, tx.Put(objectdb.Address{"x"}, objectdb.Number(1)))
		assert.True(t, changed(), "a write")
		_, err := tx.Get(objectdb.Address{"x"})
		require.NoError(t, err)
		require.NoError(t, tx.Try(func() error { return nil }))
		assert.False(t, changed(), "no write")
		require.ErrorIs(t, tx.Try(func() error {
			require.NoError(t, tx.Put(objectdb.Address{"x"}, objectdb.Number(2)))
			changed()
			return errUndo
		}), errUndo)
		assert.True(t, changed(), "a write undone")
		require.NoError(t, tx.Delete(objectdb.Address{"x"}))
		assert.True(t, changed(), "a deletion")
		require.NoError(t, tx.Flush())
		assert.True(t, changed(), "a flush, after which it sees what others have written")
	})
}
