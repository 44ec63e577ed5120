package storetest

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
)

// sumOf adds the numbers of a table, and counts how often it did.
func sumOf(a objectdb.Address) (d *objectdb.Derived[float64], made *int) {
	made = new(int)
	return objectdb.NewDerived(func(tx *objectdb.Tx) (float64, error) {
		*made++
		t, err := tx.Find(a)
		if err != nil {
			return 0, err
		}
		nodes, err := tx.Children(t)
		total := 0.0
		for _, n := range nodes {
			v, err := tx.Value(n)
			if err != nil {
				return 0, err
			}
			total += float64(v.(objectdb.Number))
		}
		return total, err
	}), made
}

func testDerived(t *T) {
	db := open(t)
	Put(t, db, "site.numbers.a", objectdb.Number(1), "site.numbers.b", objectdb.Number(2),
		"site.other", objectdb.Number(1))
	d, made := sumOf(Addr(t, "site.numbers"))
	total := func() (total float64) {
		View(t, db, func(tx *objectdb.Tx) {
			var err error
			total, err = d.Get(tx)
			require.NoError(t, err)
		})
		return total
	}
	assert.Equal(t, 3.0, total())
	assert.Equal(t, 3.0, total())
	Put(t, db, "site.other", objectdb.Number(2))
	assert.Equal(t, 3.0, total())
	assert.Equal(t, 1, *made, "nothing that counts was written")

	for _, step := range []struct {
		what string
		do   func(*objectdb.Tx) error
		want float64
	}{
		{"a value", func(tx *objectdb.Tx) error { return tx.Put(Addr(t, "site.numbers.a"), objectdb.Number(10)) }, 12},
		{"a new name", func(tx *objectdb.Tx) error { return tx.Put(Addr(t, "site.numbers.c"), objectdb.Number(3)) }, 15},
		{"a name that goes", func(tx *objectdb.Tx) error { return tx.Delete(Addr(t, "site.numbers.b")) }, 13},
		{"a table above it", func(tx *objectdb.Tx) error {
			if err := tx.Move(Addr(t, "site"), Addr(t, "moved")); err != nil {
				return err
			}
			return tx.Put(Addr(t, "site.numbers.z"), objectdb.Number(5))
		}, 5},
	} {
		before := *made
		Update(t, db, func(tx *objectdb.Tx) { require.NoError(t, step.do(tx)) })
		assert.Equal(t, step.want, total(), step.what)
		total()
		assert.Equal(t, before+1, *made, step.what)
	}
}

func testDerivedOfAnotherProcess(t *T) {
	db := open(t)
	Put(t, db, "numbers.a", objectdb.Number(1))
	d, _ := sumOf(Addr(t, "numbers"))
	other, err := t.Open(db.Path(), Patient)
	require.NoError(t, err)
	defer other.Close()
	for i := 1.0; i < 4; i++ {
		Put(t, other, "numbers.a", objectdb.Number(i))
		View(t, db, func(tx *objectdb.Tx) {
			total, err := d.Get(tx)
			require.NoError(t, err)
			assert.Equal(t, i, total)
		})
	}
}

func testDerivedIsOfTheStateThatTheTransactionSees(t *T) {
	db := open(t)
	Put(t, db, "numbers.a", objectdb.Number(1))
	d, _ := sumOf(Addr(t, "numbers"))
	get := func(tx *objectdb.Tx) float64 {
		total, err := d.Get(tx)
		require.NoError(t, err)
		return total
	}
	View(t, db, func(older *objectdb.Tx) {
		Put(t, db, "numbers.a", objectdb.Number(2))
		View(t, db, func(tx *objectdb.Tx) { assert.Equal(t, 2.0, get(tx)) })
		assert.Equal(t, 1.0, get(older))
		View(t, db, func(tx *objectdb.Tx) { assert.Equal(t, 2.0, get(tx)) })
	})
	errGiveUp := errors.New("given up")
	err := db.Update(context.Background(), func(tx *objectdb.Tx) error {
		require.NoError(t, tx.Put(Addr(t, "numbers.a"), objectdb.Number(100)))
		assert.Equal(t, 100.0, get(tx), "its own writes included")
		return errGiveUp
	})
	require.ErrorIs(t, err, errGiveUp)
	View(t, db, func(tx *objectdb.Tx) { assert.Equal(t, 2.0, get(tx), "and nobody else's") })
}

func testDerivedCountsAsRead(t *T) {
	db := open(t)
	Put(t, db, "numbers.a", objectdb.Number(1))
	inner, _ := sumOf(Addr(t, "numbers"))
	double := objectdb.NewDerived(func(tx *objectdb.Tx) (float64, error) {
		total, err := inner.Get(tx)
		return 2 * total, err
	})
	for _, c := range []struct {
		what   string
		writes string
		runs   int
	}{
		{"read", "numbers.a", 2},
		{"not read", "elsewhere", 1},
	} {
		View(t, db, func(tx *objectdb.Tx) { double.Get(tx) }) // it is cached
		runs := 0
		require.NoError(t, db.Update(context.Background(), func(tx *objectdb.Tx) error {
			total, err := double.Get(tx)
			require.NoError(t, err)
			if runs++; runs == 1 {
				Put(t, db, c.writes, objectdb.Number(7+runs))
			}
			return tx.Put(Addr(t, "result"), objectdb.Number(total))
		}))
		assert.Equal(t, c.runs, runs, c.what)
		View(t, db, func(tx *objectdb.Tx) {
			total, err := double.Get(tx)
			require.NoError(t, err)
			v, err := tx.Get(Addr(t, "result"))
			require.NoError(t, err)
			assert.Equal(t, objectdb.Number(total), v, c.what)
		})
	}
}

func testDerivedAfterOwnWrites(t *T) {
	db := open(t)
	Put(t, db, "site.numbers.a", objectdb.Number(1), "site.other.x", objectdb.Number(1), "else.x", objectdb.Number(1))
	d, made := sumOf(Addr(t, "site.numbers"))
	for _, c := range []struct {
		what  string
		write func(*objectdb.Tx) error
		kept  bool
	}{
		{"nothing", func(tx *objectdb.Tx) error { return nil }, true},
		{"a value elsewhere", func(tx *objectdb.Tx) error {
			return tx.Put(Addr(t, "site.other.x"), objectdb.Number(2))
		}, true},
		{"a new table elsewhere", func(tx *objectdb.Tx) error {
			return tx.Put(Addr(t, "else.deep.deeper"), objectdb.Number(2))
		}, true},
		{"a value", func(tx *objectdb.Tx) error { return tx.Put(Addr(t, "site.numbers.a"), objectdb.Number(2)) }, false},
		{"a new name", func(tx *objectdb.Tx) error { return tx.Put(Addr(t, "site.numbers.b"), objectdb.Number(2)) }, false},
		{"a name less", func(tx *objectdb.Tx) error { return tx.Delete(Addr(t, "site.numbers.a")) }, false},
		{"the table gone", func(tx *objectdb.Tx) error { return tx.Delete(Addr(t, "site.numbers")) }, false},
		{"a table above it gone", func(tx *objectdb.Tx) error { return tx.Delete(Addr(t, "site")) }, false},
		{"a table above it moved", func(tx *objectdb.Tx) error { return tx.Move(Addr(t, "site"), Addr(t, "moved")) }, false},
		{"a new name beside the table", func(tx *objectdb.Tx) error {
			return tx.Put(Addr(t, "site.more"), objectdb.Number(2))
		}, true},
		{"very much elsewhere", func(tx *objectdb.Tx) error {
			for i := range 100 {
				if err := tx.Put(Addr(t, "else").Child(fmt.Sprint("n", i)), objectdb.Number(i)); err != nil {
					return err
				}
			}
			return nil
		}, true},
		{"very much, and a value", func(tx *objectdb.Tx) error {
			for i := range 100 {
				if err := tx.Put(Addr(t, "else").Child(fmt.Sprint("n", i)), objectdb.Number(i)); err != nil {
					return err
				}
			}
			return tx.Put(Addr(t, "site.numbers.a"), objectdb.Number(2))
		}, false},
	} {
		err := db.Update(t.Context(), func(tx *objectdb.Tx) error {
			_, err := d.Get(tx)
			require.NoError(t, err)
			before := *made
			require.NoError(t, c.write(tx), c.what)
			d.Get(tx) // an error is right too: there may be no table
			assert.Equal(t, c.kept, *made == before, c.what)
			return errUndo
		})
		require.ErrorIs(t, err, errUndo)
	}
}

var errUndo = errors.New("undo")

func testDerivedErrorIsNotKept(t *T) {
	db := open(t)
	d, made := sumOf(Addr(t, "numbers"))
	for range 2 {
		View(t, db, func(tx *objectdb.Tx) {
			_, err := d.Get(tx)
			assert.ErrorIs(t, err, objectdb.ErrNotFound)
		})
	}
	assert.Equal(t, 2, *made)
}

func testDerivedMap(t *T) {
	db := open(t)
	Put(t, db, "numbers.a", objectdb.Number(1), "numbers.b", objectdb.Number(2), "numbers.c", objectdb.Number(3))
	m := objectdb.NewDerivedMap[string, objectdb.Value](2)
	made := ""
	get := func(name string) (v objectdb.Value) {
		View(t, db, func(tx *objectdb.Tx) {
			var err error
			v, err = m.Get(tx, name, func(tx *objectdb.Tx) (objectdb.Value, error) {
				made += name
				return tx.Get(Addr(t, "numbers").Child(name))
			})
			require.NoError(t, err)
		})
		return v
	}
	assert.Equal(t, objectdb.Number(1), get("a"))
	assert.Equal(t, objectdb.Number(2), get("b"))
	get("a")
	Put(t, db, "numbers.a", objectdb.Number(10))
	assert.Equal(t, objectdb.Number(10), get("a"))
	get("b")
	assert.Equal(t, "aba", made, "b was not written")
	assert.Equal(t, objectdb.Number(3), get("c"))
	get("b")
	get("c")
	assert.Equal(t, "abacb", made, "a third one makes it forget the others")
	Put(t, db, "numbers.a", objectdb.Number(11))
	get("b")
	get("c")
	assert.Equal(t, "abacb", made)
}

// Whatever reads and writes run at once, the value is that of the state that is seen.
func testDerivedUnderLoad(t *T) {
	db := open(t)
	Put(t, db, "numbers.a", objectdb.Number(0), "numbers.b", objectdb.Number(0), "other.c", objectdb.Number(0))
	d := objectdb.NewDerived(func(tx *objectdb.Tx) (total float64, err error) {
		for _, name := range []string{"numbers.a", "numbers.b"} {
			v, err := tx.Get(Addr(t, name))
			if err != nil {
				return 0, err
			}
			total += float64(v.(objectdb.Number))
		}
		return total, nil
	})
	var group sync.WaitGroup
	for w := range 4 {
		group.Go(func() {
			for i := range 100 {
				name := []string{"numbers.a", "numbers.b", "other.c"}[(w+i)%3]
				assert.NoError(t, db.Update(context.Background(), func(tx *objectdb.Tx) error {
					total, err := d.Get(tx)
					if err != nil {
						return err
					}
					a, err := tx.Get(Addr(t, "numbers.a"))
					if err != nil {
						return err
					}
					b, err := tx.Get(Addr(t, "numbers.b"))
					if err != nil {
						return err
					}
					assert.Equal(t, float64(a.(objectdb.Number)+b.(objectdb.Number)), total)
					v, err := tx.Get(Addr(t, name))
					if err != nil {
						return err
					}
					return tx.Put(Addr(t, name), v.(objectdb.Number)+1)
				}))
			}
		})
	}
	group.Wait()
	View(t, db, func(tx *objectdb.Tx) {
		total, err := d.Get(tx)
		require.NoError(t, err)
		c, err := tx.Get(Addr(t, "other.c"))
		require.NoError(t, err)
		assert.Equal(t, 400.0, total+float64(c.(objectdb.Number)))
	})
}
