package storetest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	. "scripter/objectdb"
)

// testLargeReadSets: a transaction that has read very much is validated like any other,
// whatever the store still knows of what was changed meanwhile.
func testLargeReadSets(t *T) {
	const objects = 5000
	fill := func(t *T) *DB {
		db := open(t)
		update(t, db, func(tx *Tx) {
			for i := range objects {
				require.NoError(t, tx.Put(Address{"big", fmt.Sprint("table", i%50), fmt.Sprint("object", i)}, Number(i)))
			}
			require.NoError(t, tx.Put(Address{"else", "x"}, Number(0)))
		})
		return db
	}
	write := func(a ...string) func(*Tx) error {
		return func(tx *Tx) error { return tx.Put(Address(a), String("changed")) }
	}
	for _, c := range []struct {
		what   string
		change []func(*Tx) error
		runs   int
	}{
		{"nothing", nil, 1},
		{"something else", []func(*Tx) error{write("else", "x")}, 1},
		{"a value", []func(*Tx) error{write("big", "table7", "object7")}, 2},
		{"a value, and then something else", []func(*Tx) error{write("big", "table7", "object7"), write("else", "x")}, 2},
		{"a new name", []func(*Tx) error{write("big", "table7", "new")}, 2},
		{"a new table", []func(*Tx) error{write("big", "new", "x")}, 2},
		{"a table gone", []func(*Tx) error{func(tx *Tx) error { return tx.Delete(Address{"big", "table7"}) }}, 2},
		{"all moved", []func(*Tx) error{func(tx *Tx) error { return tx.Move(Address{"big"}, Address{"moved"}) }}, 2},
		{"very much else", []func(*Tx) error{func(tx *Tx) error {
			for i := range 3000 {
				if err := tx.Put(Address{"else", fmt.Sprint(i, strings.Repeat("x", 100))}, Number(i)); err != nil {
					return err
				}
			}
			return nil
		}}, 1},
		{"very much else, and a value", []func(*Tx) error{write("big", "table7", "object7"), func(tx *Tx) error {
			for i := range 3000 {
				if err := tx.Put(Address{"else", fmt.Sprint(i, strings.Repeat("x", 100))}, Number(i)); err != nil {
					return err
				}
			}
			return nil
		}}, 2},
	} {
		t.Run(c.what, func(t *T) {
			db := fill(t)
			other, err := t.Open(db.Path(), patient)
			require.NoError(t, err)
			defer other.Close()
			runs := 0
			require.NoError(t, db.Update(context.Background(), func(tx *Tx) error {
				runs++
				seen := 0
				err := tx.Walk(Address{"big"}, func(Address, *Node) error { seen++; return nil })
				if err != nil && !errors.Is(err, ErrNotFound) {
					return err
				}
				if runs == 1 {
					for _, change := range c.change {
						require.NoError(t, other.Update(context.Background(), change))
					}
				}
				return tx.Put(Address{"seen"}, Number(seen))
			}))
			assert.Equal(t, c.runs, runs)
			requireSound(t, db)
			requireCacheTrue(t, db)
		})
	}
}

// testTheLockIsLimitedWhileWritesAreApplied: that the function has ended does not let a
// commit hold the lock for longer.
func testTheLockIsLimitedWhileWritesAreApplied(t *T) {
	db := openWith(t, Options{Relaxed: true, BusyTimeout: patience, LockTime: time.Millisecond})
	err := db.Update(context.Background(), func(tx *Tx) error {
		for i := range 20_000 {
			if err := tx.Put(Address{"t", fmt.Sprint(i)}, Number(i)); err != nil {
				return err
			}
		}
		return nil
	})
	assert.ErrorIs(t, err, context.DeadlineExceeded)
	assert.ErrorContains(t, err, "the writer's lock was held for 1ms")
	view(t, db, func(tx *Tx) { assert.Equal(t, "", names(t, tx, "")) })

	unlimited, err := t.Open(db.Path(), Options{Relaxed: true, LockTime: -1})
	require.NoError(t, err)
	defer unlimited.Close()
	put(t, unlimited, "x", Number(1))
	requireEqual(t, Number(1), get(t, db, "x"))
}
