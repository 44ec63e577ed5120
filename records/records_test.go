package records

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
	"scripter/objectdb/sqlitestore"
)

var guests = objectdb.Address{"user", "guests"}

func testRoot(t testing.TB) *objectdb.DB {
	t.Helper()
	db, err := sqlitestore.Create(filepath.Join(t.TempDir(), "site.root"), objectdb.Options{Relaxed: true})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, db.Close()) })
	return db
}

func update(t testing.TB, db *objectdb.DB, fn func(tx *objectdb.Tx) error) {
	t.Helper()
	require.NoError(t, db.Update(context.Background(), fn))
}

// addRecord adds a record with fields given in pairs.
func addRecord(tx *objectdb.Tx, key string, pairs ...any) error {
	if err := tx.NewTable(guests.Child(key)); err != nil {
		return err
	}
	for i := 0; i < len(pairs); i += 2 {
		if err := tx.Put(guests.Child(key).Child(pairs[i].(string)), pairs[i+1].(objectdb.Value)); err != nil {
			return err
		}
	}
	return nil
}

func table(t testing.TB, tx *objectdb.Tx) Table {
	n, err := tx.Find(guests)
	require.NoError(t, err)
	return Table{Tx: tx, Node: n}
}

func keysOf(f Found) (list []string) {
	for _, n := range f.Records {
		list = append(list, n.Name())
	}
	return list
}

func TestKeysGrow(t *testing.T) {
	var mu sync.Mutex
	seen := map[string]bool{}
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			last := ""
			for range 5000 {
				key := NewKey(time.Now())
				assert.Less(t, last, key)
				assert.Len(t, key, 16)
				mu.Lock()
				assert.False(t, seen[key])
				seen[key] = true
				mu.Unlock()
				last = key
			}
		})
	}
	group.Wait()
	var c clockwork
	last := ""
	for i := range 300_000 { // the clock stands, and goes back
		key := c.next(int64(1000 - i%7))
		if last >= key {
			t.Fatal(last, key)
		}
		last = key
	}
	assert.Less(t, NewKey(time.UnixMilli(1_800_000_000_000)), (&clockwork{}).next(4_000_000_000_000))
}

func TestFind(t *testing.T) {
	db := testRoot(t)
	day := objectdb.Date{Time: time.Date(2026, 1, 31, 0, 0, 0, 0, time.UTC)}
	update(t, db, func(tx *objectdb.Tx) error {
		for _, err := range []error{
			addRecord(tx, "b", "name", objectdb.String("Ada"), "age", objectdb.Number(36), "at", day),
			addRecord(tx, "c", "name", objectdb.String("ada"), "age", objectdb.Number(-1)),
			addRecord(tx, "d", "name", objectdb.Text("Zoë"), "age", objectdb.String("36")),
			addRecord(tx, "f", "name", objectdb.String("Bob"), "ok", objectdb.Boolean(true)),
			addRecord(tx, "g"),
			tx.Put(guests.Child("h"), objectdb.String("no record")),
		} {
			require.NoError(t, err)
		}
		return nil
	})
	name := func(op Op, v objectdb.Value) []Condition { return []Condition{{Field: "NAME", Op: op, Value: v}} }
	for _, c := range []struct {
		where []Condition
		order string
		want  string
	}{
		{nil, "", "b c d f g"},
		{nil, "-key", "g f d c b"},
		{nil, "name", "g b c f d"},
		{nil, "-name", "d f c b g"},
		{nil, "age, name", "g f c b d"},
		{nil, "-age, name", "d b c g f"},
		{name(Equal, objectdb.String("Ada")), "", "b"},
		{name(Equal, objectdb.String("Zoë")), "", "d"},
		{name(Is, objectdb.String("ADA")), "", "b c"},
		{name(NotEqual, objectdb.String("Ada")), "", "c d f g"},
		{name(Equal, nil), "", "g"},
		{name(NotEqual, nil), "", "b c d f"},
		{name(Begins, objectdb.String("A")), "", "b c"},
		{name(Contains, objectdb.String("O")), "", "d f"},
		{name(Greater, objectdb.String("ada")), "", "d f"},
		{name(GreaterEqual, objectdb.String("ada")), "-name", "d f c b"},
		{[]Condition{{Field: "age", Op: Greater, Value: objectdb.Number(-2)}}, "", "b c"},
		{[]Condition{{Field: "age", Op: Less, Value: objectdb.Number(36)}}, "", "c"},
		{[]Condition{{Field: "age", Op: LessEqual, Value: objectdb.Number(36)}}, "", "b c"},
		{[]Condition{{Field: "age", Op: In, Values: []objectdb.Value{objectdb.Number(36), objectdb.String("36")}}}, "", "b d"},
		{[]Condition{{Field: "at", Value: day}}, "", "b"},
		{[]Condition{{Field: "ok", Value: objectdb.Boolean(true)}}, "", "f"},
		{[]Condition{{Field: "key", Op: Greater, Value: objectdb.String("c")}}, "", "d f g"},
		{[]Condition{{Field: "key", Op: Less, Value: objectdb.String("c")}}, "-key", "b"},
		{[]Condition{{Field: "key", Op: Equal, Value: objectdb.String("d")}}, "", "d"},
	} {
		order, err := ParseOrder(c.order)
		require.NoError(t, err)
		update(t, db, func(tx *objectdb.Tx) error {
			f, err := table(t, tx).Find(Query{Where: c.where, Order: order})
			require.NoError(t, err)
			assert.Equal(t, c.want, strings.Join(keysOf(f), " "), c)
			n, err := table(t, tx).Count(c.where)
			require.NoError(t, err)
			assert.Equal(t, len(f.Records), n)
			return nil
		})
	}
	for _, q := range []Query{
		{Limit: -1},
		{Limit: MaxLimit + 1},
		{Where: []Condition{{Field: "a", Op: Less}}},
		{Where: []Condition{{Field: "a", Op: Begins, Value: objectdb.Number(1)}}},
		{Order: []Order{{"key", true}, {"name", true}}},
		{Where: make([]Condition, maxConditions+1)},
		{Order: make([]Order, maxOrders+1)},
		{Where: []Condition{{Field: "a", Op: In, Values: make([]objectdb.Value, maxListed+1)}}},
	} {
		update(t, db, func(tx *objectdb.Tx) error {
			_, err := table(t, tx).Find(q)
			assert.Error(t, err, q)
			return nil
		})
	}
}

// TestPages reads a table page by page in many orders, while others add and remove records between the pages.
func TestPages(t *testing.T) {
	db := testRoot(t)
	n := 0
	update(t, db, func(tx *objectdb.Tx) error {
		for ; n < 300; n++ {
			err := addRecord(tx, fmt.Sprintf("k%04d", n), "name", objectdb.String(strings.Repeat(string(rune('a'+rand.IntN(4))), rand.IntN(3))),
				"age", objectdb.Number(rand.IntN(5)))
			require.NoError(t, err)
		}
		return nil
	})
	for _, text := range []string{"", "-key", "name", "-name", "age, -name", "-age, name", "age, name, key"} {
		order, err := ParseOrder(text)
		require.NoError(t, err)
		var all, paged []string
		update(t, db, func(tx *objectdb.Tx) error {
			f, err := table(t, tx).Find(Query{Order: order, Limit: MaxLimit})
			all = keysOf(f)
			return err
		})
		cursor := ""
		for {
			update(t, db, func(tx *objectdb.Tx) error {
				f, err := table(t, tx).Find(Query{Order: order, Limit: 1 + rand.IntN(40), After: cursor})
				require.NoError(t, err)
				paged = append(paged, keysOf(f)...)
				cursor = f.Next
				if cursor != "" { // what comes after the end of the page is still found, once
					n++
					if err := addRecord(tx, fmt.Sprintf("k%04d", n), "new", objectdb.Boolean(true)); err != nil {
						return err
					}
					return tx.Delete(guests.Child(keysOf(f)[0]))
				}
				return err
			})
			if cursor == "" {
				break
			}
		}
		kept := slices.DeleteFunc(slices.Clone(paged), func(key string) bool { return !slices.Contains(all, key) })
		assert.Equal(t, all, kept, text)
	}
}

func TestCursorsOfOthers(t *testing.T) {
	s, other := newSorter([]Order{{"name", false}}), newSorter([]Order{{"name", true}})
	cursor := s.cursor([]byte("place"))
	assert.Equal(t, "place", string(s.parseCursor(cursor)))
	for _, bad := range []string{"", "!", "AA", cursor + "=", strings.Repeat("A", maxCursor+1)} {
		assert.Nil(t, s.parseCursor(bad), bad)
	}
	assert.Nil(t, other.parseCursor(cursor))
}

func FuzzQuery(f *testing.F) {
	for _, s := range []string{"name=Ada", "age >= 18", "name begins A", "-a, b", "=", "a=\"", "a is \"x\""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if c, err := ParseCondition(s); err == nil {
			c.holds(c.Value)
			c.holds(nil)
		}
		order, err := ParseOrder(s)
		if err != nil {
			return
		}
		sorter := newSorter(order)
		if place := sorter.parseCursor(s); place != nil && sorter.cursor(place) == "" {
			t.Error(s)
		}
	})
}
