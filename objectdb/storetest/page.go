package storetest

import (
	"context"
	"fmt"
	"strings"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
)

// page returns the names of a page, separated by blanks.
func page(t *T, tx *objectdb.Tx, table, from, end string, backward bool, n int) string {
	t.Helper()
	var names []string
	for _, n := range Must(tx.Page(Must(tx.Find(Addr(t, table)))(t), from, end, backward, n))(t) {
		names = append(names, n.Name())
	}
	return strings.Join(names, " ")
}

func testPage(t *T) {
	db := open(t)
	Put(t, db, "t.b", objectdb.Number(1), "t.A.x", objectdb.Number(2), "t.C", objectdb.Number(3),
		"t.Ä", objectdb.Number(4), "z", objectdb.Number(5))
	look := func(tx *objectdb.Tx) {
		assert.Equal(t, "A b", page(t, tx, "t", "", "", false, 2))
		assert.Equal(t, "C Ä", page(t, tx, "t", "b\x00", "", false, 2))
		assert.Equal(t, "C Ä", page(t, tx, "t", "", "", true, 2))
		assert.Equal(t, "A b", page(t, tx, "t", "", "c", true, 2))
		assert.Equal(t, "b C", page(t, tx, "t", "b", "d", true, 9))
		assert.Equal(t, "", page(t, tx, "t", "d", "b", false, 9))
		assert.Equal(t, "", page(t, tx, "t", "", "", false, 0))
		assert.Equal(t, "t z", page(t, tx, "", "", "", false, 9))
		table := Must(tx.Find(Addr(t, "t")))(t)
		for most, want := range []int{0, 1, 2, 3, 4, 4} {
			assert.Equal(t, want, Must(tx.CountUpTo(table, "", "", most))(t))
		}
		assert.Equal(t, 2, Must(tx.CountUpTo(table, "b", "d", 9))(t))
		_, err := tx.Page(Must(tx.Find(Addr(t, "z")))(t), "", "", false, 1)
		assert.ErrorIs(t, err, objectdb.ErrNotTable)
		_, err = tx.CountUpTo(Must(tx.Find(Addr(t, "z")))(t), "", "", 1)
		assert.ErrorIs(t, err, objectdb.ErrNotTable)
	}
	View(t, db, look)
	Update(t, db, look)
	generation := int64(0)
	View(t, db, func(tx *objectdb.Tx) { generation = tx.Generation() })
	Update(t, db, func(tx *objectdb.Tx) {
		require.NoError(t, tx.Put(Addr(t, "t.bb"), objectdb.Number(1)))
		require.NoError(t, tx.Delete(Addr(t, "t.a")))
		require.NoError(t, tx.Move(Addr(t, "t.c"), Addr(t, "t.0")))
		assert.Equal(t, "0 b bb", page(t, tx, "t", "", "", false, 3))
		assert.Equal(t, "bb Ä", page(t, tx, "t", "", "", true, 2))
		table := Must(tx.Find(Addr(t, "t")))(t)
		assert.Equal(t, 4, Must(tx.CountUpTo(table, "", "", 9))(t))
		for i := range 100 { // more than it merges
			require.NoError(t, tx.Put(Addr(t, fmt.Sprintf("t.c%02d", i)), objectdb.Number(1)))
		}
		assert.Equal(t, "c99 Ä", page(t, tx, "t", "", "", true, 2))
		assert.Equal(t, 104, Must(tx.CountUpTo(table, "", "", 1000))(t))
		fresh := Must(tx.SetTable(table, "fresh"))(t)
		require.NoError(t, tx.Set(fresh, "x", objectdb.Number(1)))
		assert.Equal(t, "x", page(t, tx, "t.fresh", "", "", false, 2))
	})
	View(t, db.At(generation, nil), look)
}

// testAPageCountsAsRead: a page conflicts with a new name in its table, and with another value on it.
func testAPageCountsAsRead(t *T) {
	for name, read := range map[string]func(tx *objectdb.Tx, table *objectdb.Node) error{
		"page": func(tx *objectdb.Tx, table *objectdb.Node) error {
			_, err := tx.Page(table, "", "", false, 1)
			return err
		},
		"count": func(tx *objectdb.Tx, table *objectdb.Node) error {
			_, err := tx.CountUpTo(table, "", "", 1)
			return err
		},
	} {
		t.Run(name, func(t *T) {
			db := open(t)
			Put(t, db, "t.a", objectdb.Number(1), "t.b", objectdb.Number(1))
			runs := func(other string) (n int) {
				require.NoError(t, db.Update(context.Background(), func(tx *objectdb.Tx) error {
					if err := read(tx, Must(tx.Find(Addr(t, "t")))(t)); err != nil {
						return err
					}
					if n++; n == 1 {
						Put(t, db, other, objectdb.Number(float64(len(other))))
					}
					return tx.Put(Addr(t, "out"), objectdb.Number(1))
				}))
				return n
			}
			assert.Equal(t, 2, runs("t.new"))
			assert.Equal(t, 1, runs("t.b"))
			assert.Equal(t, map[string]int{"page": 2, "count": 1}[name], runs("t.a"))
		})
	}
}
