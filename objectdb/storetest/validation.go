package storetest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
)

// testLargeReadSets: a transaction that has read very much is validated like any other, however
// much of the changes since then the store knows.
func testLargeReadSets(t *T) {
	const objects = 2500 // more than a commit compares under the lock
	fill := func(t *T) *objectdb.DB {
		db := open(t)
		Update(t, db, func(tx *objectdb.Tx) {
			for i := range objects {
				require.NoError(t, tx.Put(objectdb.Address{"big", fmt.Sprint("table", i%50), fmt.Sprint("object", i)},
					objectdb.Number(i)))
			}
			require.NoError(t, tx.Put(objectdb.Address{"else", "x"}, objectdb.Number(0)))
		})
		return db
	}
	write := func(a ...string) func(*objectdb.Tx) error {
		return func(tx *objectdb.Tx) error { return tx.Put(objectdb.Address(a), objectdb.String("changed")) }
	}
	for _, c := range []struct {
		what   string
		change []func(*objectdb.Tx) error
		runs   int
	}{
		{"nothing", nil, 1},
		{"something else", []func(*objectdb.Tx) error{write("else", "x")}, 1},
		{"a value", []func(*objectdb.Tx) error{write("big", "table7", "object7")}, 2},
		{"a value, and then something else", []func(*objectdb.Tx) error{write("big", "table7", "object7"),
			write("else", "x")}, 2},
		{"a new name", []func(*objectdb.Tx) error{write("big", "table7", "new")}, 2},
		{"a new table", []func(*objectdb.Tx) error{write("big", "new", "x")}, 2},
		{"a table gone", []func(*objectdb.Tx) error{func(tx *objectdb.Tx) error {
			return tx.Delete(objectdb.Address{"big", "table7"})
		}}, 2},
		{"all moved", []func(*objectdb.Tx) error{func(tx *objectdb.Tx) error {
			return tx.Move(objectdb.Address{"big"}, objectdb.Address{"moved"})
		}}, 2},
		{"very much else", []func(*objectdb.Tx) error{func(tx *objectdb.Tx) error {
			for i := range 3000 {
				if err := tx.Put(objectdb.Address{"else", fmt.Sprint(i, strings.Repeat("x", 100))},
					objectdb.Number(i)); err != nil {
					return err
				}
			}
			return nil
		}}, 1},
		{"very much else, and a value", []func(*objectdb.Tx) error{write("big", "table7", "object7"),
			func(tx *objectdb.Tx) error {
				for i := range 3000 {
					if err := tx.Put(objectdb.Address{"else", fmt.Sprint(i, strings.Repeat("x", 100))},
						objectdb.Number(i)); err != nil {
						return err
					}
				}
				return nil
			}}, 2},
	} {
		t.Run(c.what, func(t *T) {
			db := fill(t)
			other, err := t.Open(db.Path(), Patient)
			require.NoError(t, err)
			defer other.Close()
			runs := 0
			require.NoError(t, db.Update(context.Background(), func(tx *objectdb.Tx) error {
				runs++
				seen := 0
				err := tx.Walk(objectdb.Address{"big"}, func(objectdb.Address, *objectdb.Node) error { seen++; return nil })
				if err != nil && !errors.Is(err, objectdb.ErrNotFound) {
					return err
				}
				if runs == 1 {
					for _, change := range c.change {
						require.NoError(t, other.Update(context.Background(), change))
					}
				}
				return tx.Put(objectdb.Address{"seen"}, objectdb.Number(seen))
			}))
			assert.Equal(t, c.runs, runs)
			RequireSound(t, db)
			requireCacheTrue(t, db)
		})
	}
}

// testTheLockIsLimitedWhileWritesAreApplied: LockTime bounds a commit, too, whose function has
// ended.
func testTheLockIsLimitedWhileWritesAreApplied(t *T) {
	db := openWith(t, objectdb.Options{Relaxed: true, BusyTimeout: Patience, LockTime: time.Millisecond})
	err := db.Update(context.Background(), func(tx *objectdb.Tx) error {
		for i := range 20_000 {
			if err := tx.Put(objectdb.Address{"t", fmt.Sprint(i)}, objectdb.Number(i)); err != nil {
				return err
			}
		}
		return nil
	})
	assert.ErrorIs(t, err, context.DeadlineExceeded)
	assert.ErrorContains(t, err, "the writer's lock was held for 1ms")
	View(t, db, func(tx *objectdb.Tx) { assert.Equal(t, "", Names(t, tx, "")) })

	unlimited, err := t.Open(db.Path(), objectdb.Options{Relaxed: true, LockTime: -1})
	require.NoError(t, err)
	defer unlimited.Close()
	Put(t, unlimited, "x", objectdb.Number(1))
	RequireEqual(t, objectdb.Number(1), Get(t, db, "x"))
}
