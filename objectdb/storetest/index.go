package storetest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
)

// declare declares the indexes of a table: texts as ParseIndex reads them, and the fields of "words …".
func declare(t *T, tx *objectdb.Tx, table string, indexes ...string) {
	t.Helper()
	a := objectdb.IndexDeclarations.Child(table)
	values, words := objectdb.List{}, objectdb.List{}
	for _, s := range indexes {
		if fields, ok := strings.CutPrefix(s, "words "); ok {
			for _, f := range strings.Fields(fields) {
				words = append(words, objectdb.String(f))
			}
			continue
		}
		values = append(values, objectdb.String(s))
	}
	require.NoError(t, tx.Put(a.Child("indexes"), values))
	require.NoError(t, tx.Put(a.Child("search"), words))
}

// entries returns the entries of an index of a table, which must be there, as keys of the records.
func entries(t *T, tx *objectdb.Tx, table string, nth int, from, end string, backward bool, n int) string {
	t.Helper()
	indexes := Must(tx.Indexes(Must(tx.Find(Addr(t, table)))(t)))(t)
	require.Greater(t, len(indexes), nth)
	var list []string
	for _, e := range Must(tx.Entries(indexes[nth], from, end, backward, n))(t) {
		list = append(list, indexes[nth].Rule.FoldAt(e.Place))
	}
	return strings.Join(list, " ")
}

func ordered(v objectdb.Value) string { return string(objectdb.AppendOrdered(nil, v)) }

func testIndexes(t *T) {
	db := open(t)
	Put(t, db, "t.a.x", objectdb.Number(3), "t.B.x", objectdb.Number(1), "t.c.X", objectdb.String("Z"),
		"t.d.y", objectdb.Number(1), "t.e", objectdb.Number(1), "t.f.x.y", objectdb.Number(1))
	Update(t, db, func(tx *objectdb.Tx) {
		declare(t, tx, "t", "x", "-x, y", "words x")
		assert.Empty(t, Must(tx.Indexes(Must(tx.Find(Addr(t, "t")))(t)))(t))
	})
	all := func(tx *objectdb.Tx) {
		assert.Equal(t, "d f b a c", entries(t, tx, "t", 0, "", "\xff", false, 10))
		assert.Equal(t, "c a b f d", entries(t, tx, "t", 0, "", "\xff", true, 10))
		assert.Equal(t, "c a b f d", entries(t, tx, "t", 1, "", "\xff", false, 10))
		assert.Equal(t, "c", entries(t, tx, "t", 2, "z", "z\xff", false, 10))
		assert.Equal(t, "d f", entries(t, tx, "t", 0, "", "\xff", false, 2))
		assert.Equal(t, "b a", entries(t, tx, "t", 0, ordered(objectdb.Number(1)), ordered(objectdb.String("")), false, 10))
		assert.Equal(t, "a", entries(t, tx, "t", 0, ordered(objectdb.Number(1)), ordered(objectdb.String("")), true, 1))
		assert.Empty(t, entries(t, tx, "t", 0, "b", "a", true, 1))
	}
	View(t, db, all)
	Update(t, db, all)
	RequireSound(t, db)
	Update(t, db, func(tx *objectdb.Tx) {
		require.NoError(t, tx.Put(Addr(t, "t.a.x"), objectdb.Number(0)))
		require.NoError(t, tx.Delete(Addr(t, "t.c")))
		require.NoError(t, tx.Put(Addr(t, "t.g.x"), objectdb.Number(0.5)))
		require.NoError(t, tx.Move(Addr(t, "t.d"), Addr(t, "t.h")))
		require.NoError(t, tx.Move(Addr(t, "t.b.x"), Addr(t, "t.b.z")))
		for range 2 { // before and after it is known
			assert.Equal(t, "b f h a g", entries(t, tx, "t", 0, "", "\xff", false, 10))
			assert.Equal(t, "b f h", entries(t, tx, "t", 0, "", "\xff", false, 3))
			assert.Equal(t, "g a h", entries(t, tx, "t", 0, "", "\xff", true, 3))
		}
		failed := errors.New("fails")
		assert.Equal(t, failed, tx.Try(func() error {
			require.NoError(t, tx.Put(Addr(t, "t.i.x"), objectdb.Number(9)))
			assert.Equal(t, "i", entries(t, tx, "t", 0, "", "\xff", true, 1))
			return failed
		}))
		assert.Equal(t, "g", entries(t, tx, "t", 0, "", "\xff", true, 1))
		require.NoError(t, tx.Flush())
		assert.Equal(t, "b f h a g", entries(t, tx, "t", 0, "", "\xff", false, 10))
	})
	RequireSound(t, db)
	generation := int64(0)
	View(t, db, func(tx *objectdb.Tx) { generation = tx.Generation() })
	past := db.At(generation, nil)
	View(t, past, func(tx *objectdb.Tx) { assert.Empty(t, Must(tx.Indexes(Must(tx.Find(Addr(t, "t")))(t)))(t)) })
	Update(t, db, func(tx *objectdb.Tx) { declare(t, tx, "t", "y") })
	require.NoError(t, db.BuildIndexes(context.Background(), nil))
	View(t, db, func(tx *objectdb.Tx) { assert.Equal(t, "a b f g h", entries(t, tx, "t", 0, "", "\xff", false, 10)) })
	RequireSound(t, db)
}

func testIndexesAreBuilt(t *T) {
	db := open(t)
	const records = 2500
	Update(t, db, func(tx *objectdb.Tx) {
		for i := range records {
			require.NoError(t, tx.Put(Addr(t, fmt.Sprintf("t.r%05d.x", i)), objectdb.Number(i%7)))
		}
	})
	other := Must(t.Open(db.Path(), Patient))(t)
	defer other.Close()
	View(t, other, func(tx *objectdb.Tx) { Must(tx.IndexList())(t) })
	Update(t, db, func(tx *objectdb.Tx) { declare(t, tx, "t", "x") })
	built := func(db *objectdb.DB) (built bool) {
		View(t, db, func(tx *objectdb.Tx) {
			list := Must(tx.IndexList())(t)
			require.Len(t, list, 1)
			assert.Equal(t, "t", list[0].Table.String())
			built = list[0].Built
		})
		return built
	}
	assert.False(t, built(db))
	Put(t, db, "t.r00001.x", objectdb.Number(100), "t.r02400.x", objectdb.Number(101))
	Update(t, db, func(tx *objectdb.Tx) { require.NoError(t, tx.Delete(Addr(t, "t.r00002"))) })
	steps := 0
	require.NoError(t, other.BuildIndexes(context.Background(), func() { steps++ }))
	assert.Greater(t, steps, 1)
	assert.True(t, built(db))
	assert.True(t, built(other))
	View(t, db, func(tx *objectdb.Tx) {
		assert.Equal(t, "r02400 r00001", entries(t, tx, "t", 0, "", "\xff", true, 2))
	})
	RequireSound(t, db)

	// Many writes at once: the index is built anew.
	Update(t, db, func(tx *objectdb.Tx) {
		for i := range records {
			require.NoError(t, tx.Put(Addr(t, fmt.Sprintf("t.r%05d.x", i)), objectdb.Number(-i)))
		}
		assert.Equal(t, "r02499 r02498", entries(t, tx, "t", 0, "", "\xff", false, 2))
	})
	assert.False(t, built(other))
	RequireSound(t, db)
	for i := 0; i < 1000 && !built(db); i++ { // each commit does a little of it
		Put(t, other, "z", objectdb.Number(1))
	}
	assert.True(t, built(db))
	View(t, db, func(tx *objectdb.Tx) {
		assert.Equal(t, "r02499 r02498", entries(t, tx, "t", 0, "", "\xff", false, 2))
	})
	RequireSound(t, db)
}

func testIndexesFollowTheirTables(t *T) {
	db := open(t)
	rule := func(table string, n int) {
		t.Helper()
		View(t, db, func(tx *objectdb.Tx) { assert.Len(t, Must(tx.Indexes(Must(tx.Find(Addr(t, table)))(t)))(t), n) })
		RequireSound(t, db)
	}
	Update(t, db, func(tx *objectdb.Tx) { declare(t, tx, "a.t", "x", "words x") })
	Put(t, db, "a.t.r.x", objectdb.String("one"))
	rule("a.t", 2)
	Update(t, db, func(tx *objectdb.Tx) { require.NoError(t, tx.Move(Addr(t, "a.t"), Addr(t, "a.u"))) })
	rule("a.u", 0)
	Put(t, db, "a.t.r.x", objectdb.String("two"))
	rule("a.t", 2)
	generation := int64(0)
	Update(t, db, func(tx *objectdb.Tx) {
		tx.Origin.Person = true
		require.NoError(t, tx.Delete(Addr(t, "a")))
	})
	View(t, db, func(tx *objectdb.Tx) { generation = tx.Generation() })
	RequireSound(t, db)
	Update(t, db, func(tx *objectdb.Tx) {
		_, err := tx.Undo([]int64{generation}, objectdb.UndoOptions{})
		require.NoError(t, err)
	})
	rule("a.t", 2)
	View(t, db, func(tx *objectdb.Tx) { assert.Equal(t, "r", entries(t, tx, "a.t", 1, "two", "two\xff", false, 9)) })
	Update(t, db, func(tx *objectdb.Tx) {
		require.NoError(t, tx.Delete(Addr(t, "a.t")))
		require.NoError(t, tx.Put(Addr(t, "a.t.s.x"), objectdb.String("three")))
	})
	rule("a.t", 2)
	View(t, db, func(tx *objectdb.Tx) { assert.Equal(t, "s", entries(t, tx, "a.t", 0, "", "\xff", false, 9)) })
	Update(t, db, func(tx *objectdb.Tx) { require.NoError(t, tx.Delete(objectdb.IndexDeclarations)) })
	rule("a.t", 0)
}

func testReadsOfIndexesConflict(t *T) {
	db := open(t)
	Update(t, db, func(tx *objectdb.Tx) { declare(t, tx, "t", "x", "words w") })
	Put(t, db, "t.a.x", objectdb.Number(1), "t.b.x", objectdb.Number(5), "t.b.w", objectdb.String("word"))
	other := Must(t.Open(db.Path(), Patient))(t)
	defer other.Close()
	one := ordered(objectdb.Number(1))
	read := func(tx *objectdb.Tx) { entries(t, tx, "t", 0, one, one+"\xff", false, 9) }
	search := func(tx *objectdb.Tx) { entries(t, tx, "t", 1, "word", "word\xff", false, 9) }
	for i, c := range []struct {
		read      func(*objectdb.Tx)
		write     func(*objectdb.Tx)
		conflicts bool
	}{
		{read, func(tx *objectdb.Tx) { require.NoError(t, tx.Put(Addr(t, "t.c.x"), objectdb.Number(1))) }, true},
		{read, func(tx *objectdb.Tx) { require.NoError(t, tx.Put(Addr(t, "t.d.x"), objectdb.Number(2))) }, false},
		{read, func(tx *objectdb.Tx) { require.NoError(t, tx.Put(Addr(t, "t.b.x"), objectdb.Number(6))) }, false},
		{read, func(tx *objectdb.Tx) { require.NoError(t, tx.Put(Addr(t, "t.b.x"), objectdb.Number(1))) }, true},
		{read, func(tx *objectdb.Tx) { require.NoError(t, tx.Put(Addr(t, "t.b.x"), objectdb.Number(7))) }, true},
		{read, func(tx *objectdb.Tx) { require.NoError(t, tx.Put(Addr(t, "t.b.y"), objectdb.Number(7))) }, false},
		{read, func(tx *objectdb.Tx) { require.NoError(t, tx.Delete(Addr(t, "t.d"))) }, false},
		{read, func(tx *objectdb.Tx) { require.NoError(t, tx.Delete(Addr(t, "t.c"))) }, true},
		{search, func(tx *objectdb.Tx) { require.NoError(t, tx.Put(Addr(t, "t.a.w"), objectdb.String("a word"))) }, true},
		{search, func(tx *objectdb.Tx) { require.NoError(t, tx.Put(Addr(t, "t.a.x"), objectdb.Number(9))) }, false},
		{read, func(tx *objectdb.Tx) { declare(t, tx, "t", "words w") }, true},
	} {
		for _, writer := range []*objectdb.DB{db, other} {
			runs := 0
			require.NoError(t, db.Update(context.Background(), func(tx *objectdb.Tx) error {
				c.read(tx)
				if runs++; runs == 1 && writer == other {
					Update(t, other, c.write)
				}
				if runs > 1 {
					return nil // the index may be gone
				}
				return tx.Put(Addr(t, "z"), objectdb.Number(i))
			}))
			if writer == other {
				assert.Equal(t, c.conflicts, runs > 1, "case %d", i)
			}
			if i == 10 {
				return
			}
		}
	}
}

// testIndexesInRaces moves a record while another transaction writes in it, and drops an index while another one uses it.
func testIndexesInRaces(t *T) {
	db := open(t)
	Update(t, db, func(tx *objectdb.Tx) { declare(t, tx, "t", "x"); declare(t, tx, "u", "x") })
	Put(t, db, "t.a.x", objectdb.Number(1), "t.b.x", objectdb.Number(2), "u.c.x", objectdb.Number(3))
	other := Must(t.Open(db.Path(), Patient))(t)
	defer other.Close()
	moved := false
	Update(t, db, func(tx *objectdb.Tx) {
		record, err := tx.Find(Addr(t, "t.a"))
		if moved {
			record, err = tx.Find(Addr(t, "u.a"))
		}
		require.NoError(t, err)
		require.NoError(t, tx.Set(record, "x", objectdb.Number(9)))
		if !moved {
			moved = true
			Update(t, other, func(tx *objectdb.Tx) { require.NoError(t, tx.Move(Addr(t, "t.a"), Addr(t, "u.a"))) })
		}
	})
	RequireSound(t, db)
	RequireSound(t, other)

	dropped := false
	Update(t, db, func(tx *objectdb.Tx) {
		table := Must(tx.Find(Addr(t, "u")))(t)
		if !dropped {
			dropped = true
			Update(t, other, func(tx *objectdb.Tx) { require.NoError(t, tx.Delete(objectdb.IndexDeclarations)) })
			require.NoError(t, other.BuildIndexes(context.Background(), nil))
		}
		for _, x := range Must(tx.Indexes(table))(t) {
			assert.NotEmpty(t, Must(tx.Entries(x, "", "\xff", false, 9))(t))
		}
		require.NoError(t, tx.Put(Addr(t, "z"), objectdb.Number(1)))
	})
}

// testRandomRecords compares the entries of indexes with the records after random writes, within the transaction and
// after it, in this process and in another one.
func testRandomRecords(t *T) {
	for seed := range t.sequences(12, 1) {
		r := rand.New(rand.NewPCG(seed, 2))
		db := open(t)
		other := Must(t.Open(db.Path(), Patient))(t)
		Update(t, db, func(tx *objectdb.Tx) { declare(t, tx, "t", "x", "-x, y", "words x y") })
		Put(t, db, "t.k0.x", objectdb.Number(1), "u.k0.x", objectdb.Number(1))
		dbs := []*objectdb.DB{db, other}
		var undoable []int64
		for range 40 {
			d := dbs[r.IntN(2)]
			aborted := errors.New("aborted")
			err := d.Update(context.Background(), func(tx *objectdb.Tx) error {
				tx.Origin.Person = true
				for range 1 + r.IntN(6) {
					randomRecordWrite(t, tx, r)
					compareIndexes(t, tx)
				}
				if r.IntN(6) == 0 {
					_ = tx.Try(func() error { randomRecordWrite(t, tx, r); compareIndexes(t, tx); return aborted })
					compareIndexes(t, tx)
				}
				if r.IntN(8) == 0 {
					require.NoError(t, tx.Flush())
					compareIndexes(t, tx)
				}
				if r.IntN(6) == 0 {
					return aborted
				}
				return nil
			})
			if err == nil {
				View(t, d, func(tx *objectdb.Tx) { undoable = append(undoable, tx.Generation()) })
			} else {
				require.Equal(t, aborted, err)
			}
			if len(undoable) > 0 && r.IntN(6) == 0 {
				_ = d.Update(context.Background(), func(tx *objectdb.Tx) error {
					_, err := tx.Undo([]int64{undoable[r.IntN(len(undoable))]}, objectdb.UndoOptions{})
					return err
				})
			}
			View(t, dbs[r.IntN(2)], func(tx *objectdb.Tx) { compareIndexes(t, tx) })
		}
		RequireSound(t, db)
		require.NoError(t, other.Close())
	}
}

func randomRecordWrite(t *T, tx *objectdb.Tx, r *rand.Rand) {
	key := func() string { return fmt.Sprintf("%s.k%d", []string{"t", "t", "t", "u"}[r.IntN(4)], r.IntN(8)) }
	field := func() string { return key() + "." + []string{"x", "y", "X", "z"}[r.IntN(4)] }
	var err error
	switch r.IntN(14) {
	case 0:
		err = tx.Delete(Addr(t, key()))
	case 1:
		err = tx.Delete(Addr(t, field()))
	case 2:
		err = tx.Move(Addr(t, key()), Addr(t, key()))
	case 3:
		err = tx.Move(Addr(t, field()), Addr(t, field()))
	case 4:
		err = tx.Put(Addr(t, key()), objectdb.Number(1))
	case 5:
		err = tx.Copy(Addr(t, key()), Addr(t, key()))
	case 6:
		if r.IntN(4) == 0 {
			err = tx.Move(Addr(t, "t"), Addr(t, "v"))
		} else {
			err = tx.Move(Addr(t, "v"), Addr(t, "t"))
		}
	case 7:
		if r.IntN(6) == 0 {
			err = tx.Delete(Addr(t, "t"))
		}
	default:
		values := []objectdb.Value{objectdb.Number(r.IntN(4)), objectdb.String("Word " + strings.Repeat("ä", r.IntN(3))),
			objectdb.Boolean(true), objectdb.List{objectdb.String("word")}, objectdb.Text(strings.Repeat("long ", 300))}
		err = tx.Put(Addr(t, field()), values[r.IntN(len(values))])
	}
	if errors.Is(err, objectdb.ErrConflict) {
		require.NoError(t, err)
	}
}

// compareIndexes compares what the indexes of t have with its records.
func compareIndexes(t *T, tx *objectdb.Tx) {
	t.Helper()
	table, err := tx.Find(Addr(t, "t"))
	if err != nil || table.Kind() != objectdb.KindTable {
		return
	}
	for _, x := range Must(tx.Indexes(table))(t) {
		var want []string
		for _, n := range Must(tx.Children(table))(t) {
			if n.Kind() != objectdb.KindTable {
				continue
			}
			value := func(name string) objectdb.Value {
				f, err := tx.Child(n, name)
				if err != nil || f.Kind() == objectdb.KindTable {
					return nil
				}
				return Must(tx.Value(f))(t)
			}
			fold := objectdb.Fold(n.Name())
			if x.Rule.Words {
				for _, k := range objectdb.WordsOf([]string{objectdb.SearchedText(value("x")), objectdb.SearchedText(value("y"))}) {
					want = append(want, k.Key+fold)
				}
				continue
			}
			var key []byte
			for _, f := range x.Rule.Fields {
				if f.Backward {
					key = objectdb.AppendReversed(key, value(f.Name))
				} else {
					key = objectdb.AppendOrdered(key, value(f.Name))
				}
			}
			want = append(want, string(key)+fold)
		}
		var got []string
		for _, e := range Must(tx.Entries(x, "", "\xff", false, 10_000))(t) {
			got = append(got, e.Place)
		}
		require.ElementsMatch(t, want, got)
		require.IsIncreasing(t, append([]string{""}, got...))
	}
}
