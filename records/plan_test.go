package records

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
)

func declare(t testing.TB, db *objectdb.DB, indexes ...string) {
	t.Helper()
	update(t, db, func(tx *objectdb.Tx) error {
		list := objectdb.List{}
		for _, s := range indexes {
			list = append(list, objectdb.String(s))
		}
		return tx.Put(Declaration(guests, "indexes"), list)
	})
	require.NoError(t, db.BuildIndexes(context.Background(), nil))
}

// TestPlansAndWalks compares random queries that use indexes with the same ones that walk.
func TestPlansAndWalks(t *testing.T) {
	db := testRoot(t)
	values := []objectdb.Value{
		nil, nil, objectdb.Boolean(true), objectdb.Number(-1), objectdb.Number(0), objectdb.Number(1), objectdb.Number(2),
		objectdb.Number(math.NaN()), objectdb.String(""), objectdb.String("a"), objectdb.String("A"), objectdb.String("ab"),
		objectdb.Text("b"), objectdb.String(strings.Repeat("x", 250)), objectdb.String(strings.Repeat("x", 250) + "y"),
		objectdb.List{objectdb.Number(1)}, objectdb.Date{},
	}
	r := rand.New(rand.NewPCG(1, 2))
	value := func() objectdb.Value { return values[r.IntN(len(values))] }
	n := 0
	add := func(tx *objectdb.Tx) error {
		var pairs []any
		for _, f := range []string{"a", "b", "c"} {
			if v := value(); v != nil {
				pairs = append(pairs, f, v)
			}
		}
		n++
		return addRecord(tx, fmt.Sprintf("k%04d", n), pairs...)
	}
	update(t, db, func(tx *objectdb.Tx) error {
		for range 300 {
			if err := add(tx); err != nil {
				return err
			}
		}
		return nil
	})
	used := 0
	for _, indexes := range [][]string{{"a"}, {"-b", "a, b"}, {"a, -b", "c, a, b"}, {"b, c", "-a, -b, c", "c"}} {
		declare(t, db, indexes...)
		for range 60 {
			q := Query{Limit: 1 + r.IntN(20)}
			for range r.IntN(3) {
				c := Condition{Field: string(rune('a' + r.IntN(3))), Op: Op(r.IntN(int(In) + 1)), Value: value()}
				switch {
				case c.Op == In:
					c.Values = []objectdb.Value{value(), value(), value()}
				case c.Op == Begins || c.Op == Contains:
					c.Value = objectdb.String("a")
				case c.Value == nil && c.Op != NotEqual:
					c.Op = Equal
				}
				q.Where = append(q.Where, c)
			}
			for i, f := range r.Perm(3)[:r.IntN(3)] {
				q.Order = append(q.Order, Order{string(rune('a' + f)), i == 0 && r.IntN(2) == 0 || i > 0 && r.IntN(2) == 0})
			}
			update(t, db, func(tx *objectdb.Tx) error {
				if r.IntN(3) == 0 { // what the transaction has written itself counts
					require.NoError(t, add(tx))
					key := fmt.Sprintf("k%04d", 1+r.IntN(n))
					_ = tx.Delete(guests.Child(key))
					_ = tx.Put(guests.Child("k0001").Child("a"), objectdb.Number(r.IntN(3)))
				}
				table := table(t, tx)
				f := newFinder(table, &q)
				p, err := f.choose()
				require.NoError(t, err)
				if p != nil {
					used++
				}
				walk := newFinder(table, &Query{Where: q.Where, Order: q.Order})
				walk.walks = true
				require.NoError(t, walk.run(MaxLimit))
				walk.sort()
				var want, got []string
				for _, m := range walk.matches {
					want = append(want, m.node.Name())
				}
				for cursor := ""; ; {
					q.After = cursor
					found, err := table.Find(q)
					require.NoError(t, err)
					got = append(got, keysOf(found)...)
					if cursor = found.Next; cursor == "" {
						break
					}
				}
				assert.Equal(t, want, got, "%v %+v", indexes, q)
				count, err := table.Count(q.Where)
				require.NoError(t, err)
				assert.Equal(t, len(want), count, "%v %+v", indexes, q)
				_, err = table.Explain(q)
				return err
			})
			if t.Failed() {
				return
			}
		}
		problems, err := db.Check(context.Background())
		require.NoError(t, err)
		require.Empty(t, problems)
	}
	assert.Greater(t, used, 60)
}

func TestCursorsFromOutside(t *testing.T) {
	db := testRoot(t)
	update(t, db, func(tx *objectdb.Tx) error { return addRecord(tx, "a", "x", objectdb.Number(1)) })
	declare(t, db, "-x")
	order := []Order{{"x", true}}
	s := newSorter(order)
	r := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		place := make([]byte, 1+r.IntN(12))
		for i := range place {
			place[i] = byte(r.IntN(256))
		}
		place[0] = byte(r.IntN(10))
		update(t, db, func(tx *objectdb.Tx) error {
			_, err := table(t, tx).Find(Query{Order: order, After: s.cursor(place)})
			return err
		})
	}
}

func TestExplain(t *testing.T) {
	db := testRoot(t)
	update(t, db, func(tx *objectdb.Tx) error { return addRecord(tx, "a", "x", objectdb.Number(1)) })
	declare(t, db, "name, -added", "added")
	one := objectdb.Value(objectdb.Number(1))
	for _, c := range []struct {
		q    Query
		want string
	}{
		{Query{}, "looks at all records, in the order of their keys; no index helps"},
		{Query{Order: []Order{{"x", false}}}, "looks at all records, and sorts what it has found; no index helps"},
		{Query{Order: []Order{{"added", true}}}, `reads the index "added" as a whole, which is in order`},
		{
			Query{Where: []Condition{{Field: "Name", Value: one}}, Order: []Order{{"added", true}}},
			`reads the index "name, -added" where it has the values of name, which is in order`,
		},
		{
			Query{Where: []Condition{{Field: "name", Op: Greater, Value: one}}, Order: []Order{{"added", true}}},
			`reads the index "name, -added" where it has the values of name, and sorts what it has found`,
		},
	} {
		update(t, db, func(tx *objectdb.Tx) error {
			got, err := table(t, tx).Explain(c.q)
			assert.Equal(t, c.want, got)
			return err
		})
	}
}
