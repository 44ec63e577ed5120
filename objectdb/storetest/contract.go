package storetest

import (
	"context"
	"errors"
	"io/fs"
	"math"
	"strings"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
)

// oddValues are values that a store might get wrong.
var oddValues = []objectdb.Value{
	objectdb.Boolean(true), objectdb.Boolean(false),
	objectdb.Number(0), objectdb.Number(math.Copysign(0, -1)), objectdb.Number(1.5), objectdb.Number(1 << 53),
	objectdb.Number(-(1<<53 - 1)), objectdb.Number(1e300), objectdb.Number(5e-324),
	objectdb.Number(math.MaxFloat64), objectdb.Number(math.Inf(1)), objectdb.Number(math.Inf(-1)),
	objectdb.Number(math.NaN()), objectdb.Number(0.1), objectdb.Number(1e21), objectdb.Number(123456789012345680000),
	objectdb.String(""), objectdb.String("ä\u0000b"), objectdb.String("\xff\xfe"), objectdb.String("a\r\nb"),
	objectdb.String(strings.Repeat("x", int(objectdb.WholeValue)+1)), objectdb.String("\ufffd"), objectdb.String("nan"),
	objectdb.Text(""), objectdb.Text("line\n"), objectdb.Text("\x00"), objectdb.Text(strings.Repeat("ä", 100_000)),
	objectdb.Text("\ufeffbom"),
	objectdb.Outline(""), objectdb.Outline("\n"), objectdb.Outline("a\n\tb\n\t\tc\nd"), objectdb.Outline("\t\tjump"),
	objectdb.Outline("a\n\t\tb"), objectdb.Outline("a\x01"), objectdb.Outline("<&\"'>\r \t x"), objectdb.Outline("\xff"),
	objectdb.Outline("a\n"), objectdb.Outline("\t"),
	objectdb.Script("return 1\n"), objectdb.Script(""),
	objectdb.Date{Time: time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)},
	objectdb.Date{Time: time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC)},
	objectdb.Date{Time: time.Date(9999, 12, 31, 23, 59, 59, 999999999, time.UTC)},
	objectdb.Binary{Type: "image/gif", Data: "GIF89a\x00\xff"}, objectdb.Binary{Type: "", Data: ""},
	objectdb.Binary{Type: "text/x-odd; charset=\"ä\"", Data: "x"},
	objectdb.Binary{Type: "application/octet-stream", Data: strings.Repeat("\x00", 50_000)},
	objectdb.Binary{Type: "application/json", Data: "{}"},
	objectdb.List{}, objectdb.List{objectdb.Number(1), objectdb.List{objectdb.List{}, objectdb.String("x")},
		objectdb.Boolean(true), objectdb.Text("t"), objectdb.Outline("o"), objectdb.Script("s"),
		objectdb.Binary{Type: "image/png", Data: "\xff"},
		objectdb.Date{Time: time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)}, objectdb.Address{"a", "b.c"}, objectdb.Address{},
		objectdb.Number(math.NaN()), objectdb.Number(math.Inf(-1)), objectdb.Number(math.Copysign(0, -1)),
		objectdb.String("\xff"), objectdb.Text("\xff"), objectdb.String("\u2028<>&")},
	objectdb.List{objectdb.Record{}, objectdb.Null{},
		objectdb.Record{{Name: "", Value: objectdb.Null{}}, {Name: "A", Value: objectdb.List{}},
			{Name: "a", Value: objectdb.Record{{Name: "b",
				Value: objectdb.List{objectdb.Record{{Name: "c", Value: objectdb.Number(1)}}}}}},
			{Name: "x\x00\n.", Value: objectdb.Date{Time: time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)}}}},
	objectdb.List{objectdb.Record{{Name: "date", Value: objectdb.String("x")}},
		objectdb.Record{{Name: "record", Value: objectdb.Record{{Name: "record", Value: objectdb.Number(1)}}}},
		objectdb.Record{{Name: "base64", Value: objectdb.Boolean(true)}, {Name: "string", Value: objectdb.String("/w==")}},
		objectdb.Record{{Name: "binary", Value: objectdb.String("")}, {Name: "type", Value: objectdb.String("x")}},
		objectdb.Record{{Name: "base64", Value: objectdb.Number(1)}, {Name: "type", Value: objectdb.Number(1)}},
		objectdb.Record{{Name: "date", Value: objectdb.Null{}}, {Name: "text", Value: objectdb.Null{}}},
		objectdb.Record{{Name: "table", Value: objectdb.Text("t")}}},
	objectdb.Address{}, objectdb.Address{"user", "odd.name", "\"\\\n\x01"}, objectdb.Address{"ä"},
}

func testEveryValueIsKept(t *T) {
	db := open(t)
	Update(t, db, func(tx *objectdb.Tx) {
		for i, v := range oddValues {
			a := objectdb.Address{"values", v.Kind().String() + string(rune('a'+i))}
			require.NoError(t, tx.Put(a, v))
			got, err := tx.Get(a)
			require.NoError(t, err)
			RequireEqual(t, v, got)
		}
	})
	check := func(db *objectdb.DB) {
		View(t, db, func(tx *objectdb.Tx) {
			for i, v := range oddValues {
				got, err := tx.Get(objectdb.Address{"values", v.Kind().String() + string(rune('a'+i))})
				require.NoError(t, err)
				RequireEqual(t, v, got)
				assert.Equal(t, v.Kind(), got.Kind())
			}
		})
	}
	check(db) // from the cache
	again, err := t.Open(db.Path(), objectdb.Options{})
	require.NoError(t, err)
	defer again.Close()
	check(again) // from the file
	check(again)
}

func testValuesThatCannotBeStored(t *T) {
	db := open(t)
	deep := objectdb.List{}
	for range maxListDepth + 1 {
		deep = objectdb.List{deep}
	}
	for _, v := range []objectdb.Value{
		nil, objectdb.List{nil}, deep, objectdb.Date{Time: time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)},
		objectdb.Binary{Type: "a\nb", Data: ""}, objectdb.Binary{Type: "\xff", Data: ""},
		objectdb.Binary{Type: strings.Repeat("x", 256), Data: ""},
	} {
		err := db.Update(context.Background(), func(tx *objectdb.Tx) error { return tx.Put(objectdb.Address{"x"}, v) })
		assert.ErrorIs(t, err, objectdb.ErrValue, "%#v", v)
	}
	err := db.Update(context.Background(), func(tx *objectdb.Tx) error {
		return tx.Put(objectdb.Address{"x"}, objectdb.Address{"\xff"})
	})
	assert.ErrorIs(t, err, objectdb.ErrName)
}

func testStoredValuesAreNotShared(t *T) {
	db := open(t)
	list := objectdb.List{objectdb.Number(1), objectdb.List{objectdb.Number(2)}}
	Update(t, db, func(tx *objectdb.Tx) {
		require.NoError(t, tx.Put(objectdb.Address{"list"}, list))
		list[0], list[1].(objectdb.List)[0] = objectdb.Number(9), objectdb.Number(9)
	})
	RequireEqual(t, objectdb.List{objectdb.Number(1), objectdb.List{objectdb.Number(2)}}, Get(t, db, "list"))
}

func testNamesIgnoreCaseAndKeepTheirSpelling(t *T) {
	db := open(t)
	Put(t, db, "user.Straße", objectdb.Number(1), "User.zebra", objectdb.Number(2), "USER.Äpfel", objectdb.Number(3),
		"user.apple", objectdb.Number(4), "user.Kelvin", objectdb.Number(5))
	View(t, db, func(tx *objectdb.Tx) {
		assert.Equal(t, "user", Names(t, tx, ""))
		assert.Equal(t, "apple Kelvin Straße zebra Äpfel", Names(t, tx, "user"))
		for _, a := range []string{"user.STRAßE", "user.straẞe", "USER.äPFEL", "user.\u212aelvin", "user.KELVIN"} {
			_, err := tx.Get(Addr(t, a))
			assert.NoError(t, err, a)
		}
		_, err := tx.Get(Addr(t, "user.strasse"))
		assert.ErrorIs(t, err, objectdb.ErrNotFound)
	})
	Put(t, db, "user.APPLE", objectdb.String("other"))
	View(t, db, func(tx *objectdb.Tx) {
		assert.Equal(t, "apple Kelvin Straße zebra Äpfel", Names(t, tx, "user"))
		n, err := tx.Nth(Must(tx.Find(Addr(t, "user")))(t), 2)
		require.NoError(t, err)
		assert.Equal(t, "Kelvin", n.Name())
	})
}

func testNamesThatCannotBe(t *T) {
	db := open(t)
	for _, name := range []string{"", "a\x00b", "\xff", strings.Repeat("x", 256)} {
		err := db.Update(context.Background(), func(tx *objectdb.Tx) error {
			return tx.Put(objectdb.Address{"t", name}, objectdb.Number(1))
		})
		assert.ErrorIs(t, err, objectdb.ErrName, "%q", name)
		View(t, db, func(tx *objectdb.Tx) {
			_, err := tx.Get(objectdb.Address{name})
			assert.ErrorIs(t, err, objectdb.ErrNotFound, "%q", name)
		})
	}
	// A byte that is not UTF-8 is not taken for U+FFFD.
	Put(t, db, "[\"\ufffd\"]", objectdb.Number(1), `["`+strings.Repeat("ä", 127)+`"]`, objectdb.Number(2))
	View(t, db, func(tx *objectdb.Tx) {
		_, err := tx.Get(objectdb.Address{"\xff"})
		assert.ErrorIs(t, err, objectdb.ErrNotFound)
	})
}

func testAddressOperations(t *T) {
	db := open(t)
	Put(t, db, "a.b.c", objectdb.Number(1), "a.s", objectdb.String("x"))
	steps := []struct {
		name string
		do   func(*objectdb.Tx) error
		want error
	}{
		{"get missing", func(tx *objectdb.Tx) error { _, err := tx.Get(Addr(t, "a.x")); return err }, objectdb.ErrNotFound},
		{"get below a value", func(tx *objectdb.Tx) error {
			_, err := tx.Get(Addr(t, "a.s.x"))
			return err
		}, objectdb.ErrNotFound},
		{"get a table", func(tx *objectdb.Tx) error { _, err := tx.Get(Addr(t, "a.b")); return err }, objectdb.ErrIsTable},
		{"get the root", func(tx *objectdb.Tx) error {
			_, err := tx.Get(objectdb.Address{})
			return err
		}, objectdb.ErrIsTable},
		{"list a value", func(tx *objectdb.Tx) error { _, err := tx.List(Addr(t, "a.s")); return err }, objectdb.ErrNotTable},
		{"list missing", func(tx *objectdb.Tx) error { _, err := tx.List(Addr(t, "x")); return err }, objectdb.ErrNotFound},
		{"stat missing", func(tx *objectdb.Tx) error { _, err := tx.Stat(Addr(t, "x")); return err }, objectdb.ErrNotFound},
		{"put over a table", func(tx *objectdb.Tx) error {
			return tx.Put(Addr(t, "a.b"), objectdb.Number(1))
		}, objectdb.ErrIsTable},
		{"put at the root", func(tx *objectdb.Tx) error {
			return tx.Put(objectdb.Address{}, objectdb.Number(1))
		}, objectdb.ErrIsTable},
		{"put below a value", func(tx *objectdb.Tx) error {
			return tx.Put(Addr(t, "a.s.x.y"), objectdb.Number(1))
		}, objectdb.ErrNotTable},
		{"new table over a value", func(tx *objectdb.Tx) error { return tx.NewTable(Addr(t, "a.s")) }, objectdb.ErrExists},
		{"new table below a value", func(tx *objectdb.Tx) error {
			return tx.NewTable(Addr(t, "a.s.t"))
		}, objectdb.ErrNotTable},
		{"new table over a table", func(tx *objectdb.Tx) error { return tx.NewTable(Addr(t, "a.b")) }, nil},
		{"new table at the root", func(tx *objectdb.Tx) error { return tx.NewTable(objectdb.Address{}) }, nil},
		{"delete missing", func(tx *objectdb.Tx) error { return tx.Delete(Addr(t, "a.x")) }, objectdb.ErrNotFound},
		{"delete the root", func(tx *objectdb.Tx) error { return tx.Delete(objectdb.Address{}) }, objectdb.ErrRoot},
		{"move missing", func(tx *objectdb.Tx) error { return tx.Move(Addr(t, "x"), Addr(t, "y")) }, objectdb.ErrNotFound},
		{"move over another", func(tx *objectdb.Tx) error {
			return tx.Move(Addr(t, "a.s"), Addr(t, "a.b"))
		}, objectdb.ErrExists},
		{"move the root", func(tx *objectdb.Tx) error { return tx.Move(objectdb.Address{}, Addr(t, "y")) }, objectdb.ErrRoot},
		{"copy over another", func(tx *objectdb.Tx) error {
			return tx.Copy(Addr(t, "a.s"), Addr(t, "a.b"))
		}, objectdb.ErrExists},
		{"copy missing", func(tx *objectdb.Tx) error { return tx.Copy(Addr(t, "x"), Addr(t, "y")) }, objectdb.ErrNotFound},
	}
	for _, s := range steps {
		t.Run(s.name, func(t *T) {
			err := db.Update(context.Background(), s.do)
			if s.want == nil {
				require.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, s.want)
			var ours *objectdb.Error
			require.ErrorAs(t, err, &ours)
		})
	}
	err := db.Update(context.Background(), func(tx *objectdb.Tx) error {
		return tx.Move(Addr(t, "a"), Addr(t, "a.b.c.d"))
	})
	assert.EqualError(t, err, "objectdb: move a: a.b.c.d lies below it")
	err = db.Update(context.Background(), func(tx *objectdb.Tx) error {
		return tx.Put(Addr(t, "a.s.x"), objectdb.Number(1))
	})
	assert.EqualError(t, err, "objectdb: put a.s.x: object is not a table: a.s")
	RequireEqual(t, objectdb.Number(1), Get(t, db, "a.b.c"))
}

func testPutReplacesAnyValue(t *T) {
	db := open(t)
	Put(t, db, "x", objectdb.Number(1))
	before := Stat(t, db, "x")
	Put(t, db, "X", objectdb.Script("return 2"))
	after := Stat(t, db, "x")
	assert.Equal(t, "x", after.Name)
	assert.Equal(t, objectdb.KindScript, after.Kind)
	assert.Equal(t, int64(8), after.Size)
	assert.Equal(t, before.Created, after.Created)
	assert.Greater(t, after.Version, before.Version)
}

func testTimesComeFromTheClock(t *T) {
	now := time.Date(2026, 5, 1, 12, 0, 0, 7, time.UTC)
	db := openWith(t, objectdb.Options{Relaxed: true, Now: func() time.Time { return now }})
	Put(t, db, "t.x", objectdb.Number(1))
	first := now
	now = now.Add(time.Hour)
	Put(t, db, "t.x", objectdb.Number(2))
	o, table := Stat(t, db, "t.x"), Stat(t, db, "t")
	assert.Equal(t, first, o.Created)
	assert.Equal(t, now, o.Modified)
	assert.Equal(t, first, table.Modified, "no name came or went")
	Put(t, db, "t.y", objectdb.Number(2))
	assert.Equal(t, now, Stat(t, db, "t").Modified)
	assert.Greater(t, Stat(t, db, "t").Version, table.Version)
}

func testMoveAndCopy(t *T) {
	db := open(t)
	big := objectdb.Text(strings.Repeat("big", int(objectdb.WholeValue)))
	Put(t, db, "a.b.c", objectdb.Number(1), "a.b.big", big, "z.q", objectdb.Number(2))
	id := func(a string) (n int64) {
		View(t, db, func(tx *objectdb.Tx) { n = Must(tx.Find(Addr(t, a)))(t).ID() })
		return n
	}
	before := id("a.b.c")
	Update(t, db, func(tx *objectdb.Tx) {
		require.NoError(t, tx.Move(Addr(t, "a.b"), Addr(t, "new.place.B")))
		assert.Equal(t, "", Names(t, tx, "a"))
		assert.Equal(t, "big c", Names(t, tx, "new.place.b"))
		RequireEqual(t, big, Must(tx.Get(Addr(t, "new.place.b.big")))(t))
		assert.Equal(t, "new.place.B.c", tx.Address(Must(tx.Find(Addr(t, "new.place.b.c")))(t)).String())
	})
	assert.Equal(t, before, id("new.place.b.c"))
	RequireEqual(t, big, Get(t, db, "new.place.b.big"))
	Update(t, db, func(tx *objectdb.Tx) { require.NoError(t, tx.Move(Addr(t, "new"), Addr(t, "NEW"))) })
	Update(t, db, func(tx *objectdb.Tx) { require.NoError(t, tx.Copy(Addr(t, "NEW"), Addr(t, "new.copy"))) })
	View(t, db, func(tx *objectdb.Tx) {
		assert.Equal(t, "a NEW z", Names(t, tx, ""))
		assert.Equal(t, "copy place", Names(t, tx, "new"))
		assert.Equal(t, "place", Names(t, tx, "new.copy"))
		RequireEqual(t, big, Must(tx.Get(Addr(t, "new.copy.place.b.big")))(t))
	})
	assert.NotEqual(t, before, id("new.copy.place.b.c"))
}

func testObjectsChangePlaces(t *T) {
	db := open(t)
	Put(t, db, "a.x", objectdb.Number(1), "b.x", objectdb.Number(2))
	Update(t, db, func(tx *objectdb.Tx) {
		require.NoError(t, tx.Move(Addr(t, "a"), Addr(t, "tmp")))
		require.NoError(t, tx.Move(Addr(t, "b"), Addr(t, "a")))
		require.NoError(t, tx.Move(Addr(t, "tmp"), Addr(t, "b")))
		require.NoError(t, tx.Move(Addr(t, "b.x"), Addr(t, "out")))
		require.NoError(t, tx.Delete(Addr(t, "b")))
	})
	View(t, db, func(tx *objectdb.Tx) { assert.Equal(t, "a out", Names(t, tx, "")) })
	RequireEqual(t, objectdb.Number(2), Get(t, db, "a.x"))
	RequireEqual(t, objectdb.Number(1), Get(t, db, "out"))
}

func testWritesBelowADeletedTableAreRefused(t *T) {
	db := open(t)
	Put(t, db, "a.b.c.d", objectdb.Number(1))
	Update(t, db, func(tx *objectdb.Tx) {
		c := Must(tx.Find(Addr(t, "a.b.c")))(t)
		fresh := Must(tx.SetTable(c, "fresh"))(t)
		require.NoError(t, tx.Set(fresh, "x", objectdb.Number(1)))
		require.NoError(t, tx.Delete(Addr(t, "a")))
		assert.ErrorIs(t, tx.Set(c, "e", objectdb.Number(2)), objectdb.ErrNotFound)
		assert.ErrorIs(t, tx.Set(fresh, "e", objectdb.Number(2)), objectdb.ErrNotFound)
		require.NoError(t, tx.Put(Addr(t, "a.new"), objectdb.Number(3)))
	})
	View(t, db, func(tx *objectdb.Tx) { assert.Equal(t, "new", Names(t, tx, "a")) })
}

func testNodes(t *T) {
	db := open(t)
	Put(t, db, "t.b", objectdb.Number(1), "t.a.x", objectdb.Number(2), "t.C", objectdb.Number(3))
	Update(t, db, func(tx *objectdb.Tx) {
		table := Must(tx.Child(tx.Root(), "T"))(t)
		_, err := tx.Child(table, "zzz")
		assert.Equal(t, objectdb.ErrNotFound, err)
		_, err = tx.Child(Must(tx.Child(table, "b"))(t), "x")
		assert.ErrorIs(t, err, objectdb.ErrNotTable)
		require.NoError(t, tx.Set(table, "b", objectdb.String("new")))
		require.NoError(t, tx.Set(table, "a", objectdb.String("a table was here")))
		require.NoError(t, tx.Set(table, "0", objectdb.Number(0)))
		require.NoError(t, tx.Remove(table, "c"))
		require.NoError(t, tx.Remove(table, "never was"))
		assert.Equal(t, 3, Must(tx.Len(table))(t))
		assert.Equal(t, "0", Must(tx.Nth(table, 1))(t).Name())
		_, err = tx.Nth(table, 4)
		assert.ErrorIs(t, err, objectdb.ErrNotFound)
		_, err = tx.Nth(table, 0)
		assert.ErrorIs(t, err, objectdb.ErrNotFound)
		sub := Must(tx.SetTable(table, "b"))(t)
		assert.Negative(t, sub.ID())
		assert.Equal(t, 0, Must(tx.Len(sub))(t))
		require.NoError(t, tx.Set(sub, "deep", objectdb.Number(7)))
		require.NoError(t, tx.Set(sub, "Deeper", objectdb.Number(8)))
		assert.Equal(t, 2, Must(tx.Len(sub))(t))
		assert.Equal(t, "t.b.Deeper", tx.Address(Must(tx.Child(sub, "deeper"))(t)).String())
		assert.Equal(t, "t.b", tx.Address(sub).String())
		_, err = tx.Value(sub)
		assert.ErrorIs(t, err, objectdb.ErrIsTable)
		assert.True(t, tx.Written())
	})
	View(t, db, func(tx *objectdb.Tx) {
		assert.Equal(t, "0 a b", Names(t, tx, "t"))
		assert.ErrorIs(t, tx.Set(tx.Root(), "x", objectdb.Number(1)), objectdb.ErrReadOnly)
		assert.ErrorIs(t, tx.Put(objectdb.Address{"x"}, objectdb.Number(1)), objectdb.ErrReadOnly)
		assert.ErrorIs(t, tx.Delete(objectdb.Address{"t"}), objectdb.ErrReadOnly)
		assert.Equal(t, objectdb.Address{}, tx.Address(tx.Root()))
	})
}

func testWalk(t *T) {
	db := open(t)
	Put(t, db, "a.b.c", objectdb.Number(1), "a.d", objectdb.Number(2), "e", objectdb.Number(3))
	walked := func(skip string, with error) string {
		var seen []string
		View(t, db, func(tx *objectdb.Tx) {
			require.NoError(t, tx.Walk(objectdb.Address{}, func(a objectdb.Address, n *objectdb.Node) error {
				seen = append(seen, a.String()+":"+n.Kind().String())
				if a.String() == skip {
					return with
				}
				return nil
			}))
		})
		return strings.Join(seen, " ")
	}
	assert.Equal(t, ":table a:table a.b:table a.b.c:number a.d:number e:number", walked("", nil))
	assert.Equal(t, ":table a:table a.b:table a.d:number e:number", walked("a.b", fs.SkipDir))
	assert.Equal(t, ":table a:table a.b:table", walked("a.b", fs.SkipAll))
	boom := errors.New("boom")
	err := db.View(context.Background(), func(tx *objectdb.Tx) error {
		return tx.Walk(objectdb.Address{"a"}, func(objectdb.Address, *objectdb.Node) error { return boom })
	})
	assert.Equal(t, boom, err)
}

func testAnErrorLeavesTheRootAsItWas(t *T) {
	db := open(t)
	Put(t, db, "x", objectdb.Number(1))
	boom := errors.New("boom")
	err := db.Update(context.Background(), func(tx *objectdb.Tx) error {
		require.NoError(t, tx.Put(objectdb.Address{"x"}, objectdb.Number(2)))
		require.NoError(t, tx.Put(objectdb.Address{"y"}, objectdb.Number(2)))
		return boom
	})
	assert.Equal(t, boom, err)
	assert.Panics(t, func() {
		_ = db.Update(context.Background(), func(tx *objectdb.Tx) error {
			require.NoError(t, tx.Put(objectdb.Address{"x"}, objectdb.Number(3)))
			panic("boom")
		})
	})
	ctx, cancel := context.WithCancel(context.Background())
	err = db.Update(ctx, func(tx *objectdb.Tx) error {
		cancel()
		return tx.Put(objectdb.Address{"x"}, objectdb.Number(4))
	})
	assert.ErrorIs(t, err, context.Canceled)
	RequireEqual(t, objectdb.Number(1), Get(t, db, "x"))
	View(t, db, func(tx *objectdb.Tx) { assert.Equal(t, "x", Names(t, tx, "")) })
}

// TestRecordsAreOfLists: no object is a record or null, and a stored list shares nothing
// with the caller's.
func testRecordsAreOfLists(t *T) {
	db := open(t)
	Update(t, db, func(tx *objectdb.Tx) {
		a := objectdb.Address{"x"}
		require.ErrorContains(t, tx.Put(a, objectdb.Record{}), "a record can only be within a list")
		require.ErrorContains(t, tx.Put(a, objectdb.Null{}), "a null can only be within a list")
		require.ErrorContains(t, tx.Put(a, objectdb.List{objectdb.Record{{Name: "a", Value: objectdb.Number(1)},
			{Name: "a", Value: objectdb.Number(2)}}}), `the field "a" occurs twice`)
		require.ErrorContains(t, tx.Put(a, objectdb.List{objectdb.Record{{Name: "\xff", Value: objectdb.Number(1)}}}),
			"is not UTF-8")
		require.ErrorContains(t, tx.Put(a, objectdb.List{objectdb.Record{{Name: "b", Value: nil}}}), `item 1: field "b"`)
		deep := objectdb.Value(objectdb.List{})
		for range maxListDepth {
			deep = objectdb.List{deep}
		}
		require.ErrorContains(t, tx.Put(a, deep), "nest more than 200 deep")

		r := objectdb.Record{{Name: "b", Value: objectdb.Number(2)}, {Name: "a", Value: objectdb.Number(1)}}
		require.NoError(t, tx.Put(a, objectdb.List{r}))
		r[0].Value = objectdb.Number(3)
		got, err := tx.Get(a)
		require.NoError(t, err)
		RequireEqual(t, objectdb.List{objectdb.Record{{Name: "a", Value: objectdb.Number(1)},
			{Name: "b", Value: objectdb.Number(2)}}}, got)
	})
	_, err := objectdb.ParseKind("record")
	assert.ErrorContains(t, err, "the kinds are boolean, number, string, text, outline, script, date, binary, "+
		"list, address, table")
}
