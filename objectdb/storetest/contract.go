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

	. "scripter/objectdb"
)

// oddValues are values that a store might get wrong.
var oddValues = []Value{
	Boolean(true), Boolean(false),
	Number(0), Number(math.Copysign(0, -1)), Number(1.5), Number(1 << 53), Number(-(1<<53 - 1)), Number(1e300), Number(5e-324),
	Number(math.MaxFloat64), Number(math.Inf(1)), Number(math.Inf(-1)), Number(math.NaN()), Number(0.1), Number(1e21), Number(123456789012345680000),
	String(""), String("ä\u0000b"), String("\xff\xfe"), String("a\r\nb"), String(strings.Repeat("x", int(WholeValue)+1)), String("\ufffd"), String("nan"),
	Text(""), Text("line\n"), Text("\x00"), Text(strings.Repeat("ä", 100_000)), Text("\ufeffbom"),
	Outline(""), Outline("\n"), Outline("a\n\tb\n\t\tc\nd"), Outline("\t\tjump"), Outline("a\n\t\tb"), Outline("a\x01"), Outline("<&\"'>\r \t x"), Outline("\xff"), Outline("a\n"), Outline("\t"),
	Script("return 1\n"), Script(""),
	Date{Time: time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)}, Date{Time: time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC)}, Date{Time: time.Date(9999, 12, 31, 23, 59, 59, 999999999, time.UTC)},
	Binary{Type: "image/gif", Data: "GIF89a\x00\xff"}, Binary{Type: "", Data: ""}, Binary{Type: "text/x-odd; charset=\"ä\"", Data: "x"}, Binary{Type: "application/octet-stream", Data: strings.Repeat("\x00", 50_000)}, Binary{Type: "application/json", Data: "{}"},
	List{}, List{Number(1), List{List{}, String("x")}, Boolean(true), Text("t"), Outline("o"), Script("s"), Binary{Type: "image/png", Data: "\xff"},
		Date{Time: time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)}, Address{"a", "b.c"}, Address{}, Number(math.NaN()), Number(math.Inf(-1)), Number(math.Copysign(0, -1)), String("\xff"), Text("\xff"), String("\u2028<>&")},
	List{Record{}, Null{}, Record{{Name: "", Value: Null{}}, {Name: "A", Value: List{}}, {Name: "a", Value: Record{{Name: "b", Value: List{Record{{Name: "c", Value: Number(1)}}}}}}, {Name: "x\x00\n.", Value: Date{Time: time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)}}}},
	List{Record{{Name: "date", Value: String("x")}}, Record{{Name: "record", Value: Record{{Name: "record", Value: Number(1)}}}}, Record{{Name: "base64", Value: Boolean(true)}, {Name: "string", Value: String("/w==")}},
		Record{{Name: "binary", Value: String("")}, {Name: "type", Value: String("x")}}, Record{{Name: "base64", Value: Number(1)}, {Name: "type", Value: Number(1)}}, Record{{Name: "date", Value: Null{}}, {Name: "text", Value: Null{}}}, Record{{Name: "table", Value: Text("t")}}},
	Address{}, Address{"user", "odd.name", "\"\\\n\x01"}, Address{"ä"},
}

func testEveryValueIsKept(t *T) {
	db := open(t)
	update(t, db, func(tx *Tx) {
		for i, v := range oddValues {
			a := Address{"values", v.Kind().String() + string(rune('a'+i))}
			require.NoError(t, tx.Put(a, v))
			got, err := tx.Get(a)
			require.NoError(t, err)
			requireEqual(t, v, got)
		}
	})
	check := func(db *DB) {
		view(t, db, func(tx *Tx) {
			for i, v := range oddValues {
				got, err := tx.Get(Address{"values", v.Kind().String() + string(rune('a'+i))})
				require.NoError(t, err)
				requireEqual(t, v, got)
				assert.Equal(t, v.Kind(), got.Kind())
			}
		})
	}
	check(db) // from the cache
	again, err := t.Open(db.Path(), Options{})
	require.NoError(t, err)
	defer again.Close()
	check(again) // from the file
	check(again)
}

func testValuesThatCannotBeStored(t *T) {
	db := open(t)
	deep := List{}
	for range maxListDepth + 1 {
		deep = List{deep}
	}
	for _, v := range []Value{
		nil, List{nil}, deep, Date{Time: time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)},
		Binary{Type: "a\nb", Data: ""}, Binary{Type: "\xff", Data: ""}, Binary{Type: strings.Repeat("x", 256), Data: ""},
	} {
		err := db.Update(context.Background(), func(tx *Tx) error { return tx.Put(Address{"x"}, v) })
		assert.ErrorIs(t, err, ErrValue, "%#v", v)
	}
	err := db.Update(context.Background(), func(tx *Tx) error { return tx.Put(Address{"x"}, Address{"\xff"}) })
	assert.ErrorIs(t, err, ErrName)
}

func testStoredValuesAreNotShared(t *T) {
	db := open(t)
	list := List{Number(1), List{Number(2)}}
	update(t, db, func(tx *Tx) {
		require.NoError(t, tx.Put(Address{"list"}, list))
		list[0], list[1].(List)[0] = Number(9), Number(9)
	})
	requireEqual(t, List{Number(1), List{Number(2)}}, get(t, db, "list"))
}

func testNamesIgnoreCaseAndKeepTheirSpelling(t *T) {
	db := open(t)
	put(t, db, "user.Straße", Number(1), "User.zebra", Number(2), "USER.Äpfel", Number(3), "user.apple", Number(4), "user.Kelvin", Number(5))
	view(t, db, func(tx *Tx) {
		assert.Equal(t, "user", names(t, tx, ""))
		assert.Equal(t, "apple Kelvin Straße zebra Äpfel", names(t, tx, "user"))
		for _, a := range []string{"user.STRAßE", "user.straẞe", "USER.äPFEL", "user.\u212aelvin", "user.KELVIN"} {
			_, err := tx.Get(addr(t, a))
			assert.NoError(t, err, a)
		}
		_, err := tx.Get(addr(t, "user.strasse"))
		assert.ErrorIs(t, err, ErrNotFound)
	})
	put(t, db, "user.APPLE", String("other"))
	view(t, db, func(tx *Tx) {
		assert.Equal(t, "apple Kelvin Straße zebra Äpfel", names(t, tx, "user"))
		n, err := tx.Nth(must(tx.Find(addr(t, "user")))(t), 2)
		require.NoError(t, err)
		assert.Equal(t, "Kelvin", n.Name())
	})
}

func testNamesThatCannotBe(t *T) {
	db := open(t)
	for _, name := range []string{"", "a\x00b", "\xff", strings.Repeat("x", 256)} {
		err := db.Update(context.Background(), func(tx *Tx) error { return tx.Put(Address{"t", name}, Number(1)) })
		assert.ErrorIs(t, err, ErrName, "%q", name)
		view(t, db, func(tx *Tx) {
			_, err := tx.Get(Address{name})
			assert.ErrorIs(t, err, ErrNotFound, "%q", name)
		})
	}
	// A byte that is no UTF-8 is not taken for the character that stands for such.
	put(t, db, "[\"\ufffd\"]", Number(1), `["`+strings.Repeat("ä", 127)+`"]`, Number(2))
	view(t, db, func(tx *Tx) {
		_, err := tx.Get(Address{"\xff"})
		assert.ErrorIs(t, err, ErrNotFound)
	})
}

func testAddressOperations(t *T) {
	db := open(t)
	put(t, db, "a.b.c", Number(1), "a.s", String("x"))
	steps := []struct {
		name string
		do   func(*Tx) error
		want error
	}{
		{"get missing", func(tx *Tx) error { _, err := tx.Get(addr(t, "a.x")); return err }, ErrNotFound},
		{"get below a value", func(tx *Tx) error { _, err := tx.Get(addr(t, "a.s.x")); return err }, ErrNotFound},
		{"get a table", func(tx *Tx) error { _, err := tx.Get(addr(t, "a.b")); return err }, ErrIsTable},
		{"get the root", func(tx *Tx) error { _, err := tx.Get(Address{}); return err }, ErrIsTable},
		{"list a value", func(tx *Tx) error { _, err := tx.List(addr(t, "a.s")); return err }, ErrNotTable},
		{"list missing", func(tx *Tx) error { _, err := tx.List(addr(t, "x")); return err }, ErrNotFound},
		{"stat missing", func(tx *Tx) error { _, err := tx.Stat(addr(t, "x")); return err }, ErrNotFound},
		{"put over a table", func(tx *Tx) error { return tx.Put(addr(t, "a.b"), Number(1)) }, ErrIsTable},
		{"put at the root", func(tx *Tx) error { return tx.Put(Address{}, Number(1)) }, ErrIsTable},
		{"put below a value", func(tx *Tx) error { return tx.Put(addr(t, "a.s.x.y"), Number(1)) }, ErrNotTable},
		{"new table over a value", func(tx *Tx) error { return tx.NewTable(addr(t, "a.s")) }, ErrExists},
		{"new table below a value", func(tx *Tx) error { return tx.NewTable(addr(t, "a.s.t")) }, ErrNotTable},
		{"new table over a table", func(tx *Tx) error { return tx.NewTable(addr(t, "a.b")) }, nil},
		{"new table at the root", func(tx *Tx) error { return tx.NewTable(Address{}) }, nil},
		{"delete missing", func(tx *Tx) error { return tx.Delete(addr(t, "a.x")) }, ErrNotFound},
		{"delete the root", func(tx *Tx) error { return tx.Delete(Address{}) }, ErrRoot},
		{"move missing", func(tx *Tx) error { return tx.Move(addr(t, "x"), addr(t, "y")) }, ErrNotFound},
		{"move over another", func(tx *Tx) error { return tx.Move(addr(t, "a.s"), addr(t, "a.b")) }, ErrExists},
		{"move the root", func(tx *Tx) error { return tx.Move(Address{}, addr(t, "y")) }, ErrRoot},
		{"copy over another", func(tx *Tx) error { return tx.Copy(addr(t, "a.s"), addr(t, "a.b")) }, ErrExists},
		{"copy missing", func(tx *Tx) error { return tx.Copy(addr(t, "x"), addr(t, "y")) }, ErrNotFound},
	}
	for _, s := range steps {
		t.Run(s.name, func(t *T) {
			err := db.Update(context.Background(), s.do)
			if s.want == nil {
				require.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, s.want)
			var ours *Error
			require.ErrorAs(t, err, &ours)
		})
	}
	err := db.Update(context.Background(), func(tx *Tx) error { return tx.Move(addr(t, "a"), addr(t, "a.b.c.d")) })
	assert.EqualError(t, err, "objectdb: move a: a.b.c.d lies below it")
	err = db.Update(context.Background(), func(tx *Tx) error { return tx.Put(addr(t, "a.s.x"), Number(1)) })
	assert.EqualError(t, err, "objectdb: put a.s.x: object is not a table: a.s")
	requireEqual(t, Number(1), get(t, db, "a.b.c"))
}

func testPutReplacesAnyValue(t *T) {
	db := open(t)
	put(t, db, "x", Number(1))
	before := stat(t, db, "x")
	put(t, db, "X", Script("return 2"))
	after := stat(t, db, "x")
	assert.Equal(t, "x", after.Name)
	assert.Equal(t, KindScript, after.Kind)
	assert.Equal(t, int64(8), after.Size)
	assert.Equal(t, before.Created, after.Created)
	assert.Greater(t, after.Version, before.Version)
}

func testTimesComeFromTheClock(t *T) {
	now := time.Date(2026, 5, 1, 12, 0, 0, 7, time.UTC)
	db := openWith(t, Options{Relaxed: true, Now: func() time.Time { return now }})
	put(t, db, "t.x", Number(1))
	first := now
	now = now.Add(time.Hour)
	put(t, db, "t.x", Number(2))
	o, table := stat(t, db, "t.x"), stat(t, db, "t")
	assert.Equal(t, first, o.Created)
	assert.Equal(t, now, o.Modified)
	assert.Equal(t, first, table.Modified, "no name came or went")
	put(t, db, "t.y", Number(2))
	assert.Equal(t, now, stat(t, db, "t").Modified)
	assert.Greater(t, stat(t, db, "t").Version, table.Version)
}

func testMoveAndCopy(t *T) {
	db := open(t)
	big := Text(strings.Repeat("big", int(WholeValue)))
	put(t, db, "a.b.c", Number(1), "a.b.big", big, "z.q", Number(2))
	id := func(a string) (n int64) {
		view(t, db, func(tx *Tx) { n = must(tx.Find(addr(t, a)))(t).ID() })
		return n
	}
	before := id("a.b.c")
	update(t, db, func(tx *Tx) {
		require.NoError(t, tx.Move(addr(t, "a.b"), addr(t, "new.place.B")))
		assert.Equal(t, "", names(t, tx, "a"))
		assert.Equal(t, "big c", names(t, tx, "new.place.b"))
		requireEqual(t, big, must(tx.Get(addr(t, "new.place.b.big")))(t))
		assert.Equal(t, "new.place.B.c", tx.Address(must(tx.Find(addr(t, "new.place.b.c")))(t)).String())
	})
	assert.Equal(t, before, id("new.place.b.c"))
	requireEqual(t, big, get(t, db, "new.place.b.big"))
	update(t, db, func(tx *Tx) { require.NoError(t, tx.Move(addr(t, "new"), addr(t, "NEW"))) })
	update(t, db, func(tx *Tx) { require.NoError(t, tx.Copy(addr(t, "NEW"), addr(t, "new.copy"))) })
	view(t, db, func(tx *Tx) {
		assert.Equal(t, "a NEW z", names(t, tx, ""))
		assert.Equal(t, "copy place", names(t, tx, "new"))
		assert.Equal(t, "place", names(t, tx, "new.copy"))
		requireEqual(t, big, must(tx.Get(addr(t, "new.copy.place.b.big")))(t))
	})
	assert.NotEqual(t, before, id("new.copy.place.b.c"))
}

func testObjectsChangePlaces(t *T) {
	db := open(t)
	put(t, db, "a.x", Number(1), "b.x", Number(2))
	update(t, db, func(tx *Tx) {
		require.NoError(t, tx.Move(addr(t, "a"), addr(t, "tmp")))
		require.NoError(t, tx.Move(addr(t, "b"), addr(t, "a")))
		require.NoError(t, tx.Move(addr(t, "tmp"), addr(t, "b")))
		require.NoError(t, tx.Move(addr(t, "b.x"), addr(t, "out")))
		require.NoError(t, tx.Delete(addr(t, "b")))
	})
	view(t, db, func(tx *Tx) { assert.Equal(t, "a out", names(t, tx, "")) })
	requireEqual(t, Number(2), get(t, db, "a.x"))
	requireEqual(t, Number(1), get(t, db, "out"))
}

func testWritesBelowADeletedTableAreRefused(t *T) {
	db := open(t)
	put(t, db, "a.b.c.d", Number(1))
	update(t, db, func(tx *Tx) {
		c := must(tx.Find(addr(t, "a.b.c")))(t)
		fresh := must(tx.SetTable(c, "fresh"))(t)
		require.NoError(t, tx.Set(fresh, "x", Number(1)))
		require.NoError(t, tx.Delete(addr(t, "a")))
		assert.ErrorIs(t, tx.Set(c, "e", Number(2)), ErrNotFound)
		assert.ErrorIs(t, tx.Set(fresh, "e", Number(2)), ErrNotFound)
		require.NoError(t, tx.Put(addr(t, "a.new"), Number(3)))
	})
	view(t, db, func(tx *Tx) { assert.Equal(t, "new", names(t, tx, "a")) })
}

func testNodes(t *T) {
	db := open(t)
	put(t, db, "t.b", Number(1), "t.a.x", Number(2), "t.C", Number(3))
	update(t, db, func(tx *Tx) {
		table := must(tx.Child(tx.Root(), "T"))(t)
		_, err := tx.Child(table, "zzz")
		assert.Equal(t, ErrNotFound, err)
		_, err = tx.Child(must(tx.Child(table, "b"))(t), "x")
		assert.ErrorIs(t, err, ErrNotTable)
		require.NoError(t, tx.Set(table, "b", String("new")))
		require.NoError(t, tx.Set(table, "a", String("a table was here")))
		require.NoError(t, tx.Set(table, "0", Number(0)))
		require.NoError(t, tx.Remove(table, "c"))
		require.NoError(t, tx.Remove(table, "never was"))
		assert.Equal(t, 3, must(tx.Len(table))(t))
		assert.Equal(t, "0", must(tx.Nth(table, 1))(t).Name())
		_, err = tx.Nth(table, 4)
		assert.ErrorIs(t, err, ErrNotFound)
		_, err = tx.Nth(table, 0)
		assert.ErrorIs(t, err, ErrNotFound)
		sub := must(tx.SetTable(table, "b"))(t)
		assert.Negative(t, sub.ID())
		assert.Equal(t, 0, must(tx.Len(sub))(t))
		require.NoError(t, tx.Set(sub, "deep", Number(7)))
		require.NoError(t, tx.Set(sub, "Deeper", Number(8)))
		assert.Equal(t, 2, must(tx.Len(sub))(t))
		assert.Equal(t, "t.b.Deeper", tx.Address(must(tx.Child(sub, "deeper"))(t)).String())
		assert.Equal(t, "t.b", tx.Address(sub).String())
		_, err = tx.Value(sub)
		assert.ErrorIs(t, err, ErrIsTable)
		assert.True(t, tx.Written())
	})
	view(t, db, func(tx *Tx) {
		assert.Equal(t, "0 a b", names(t, tx, "t"))
		assert.ErrorIs(t, tx.Set(tx.Root(), "x", Number(1)), ErrReadOnly)
		assert.ErrorIs(t, tx.Put(Address{"x"}, Number(1)), ErrReadOnly)
		assert.ErrorIs(t, tx.Delete(Address{"t"}), ErrReadOnly)
		assert.Equal(t, Address{}, tx.Address(tx.Root()))
	})
}

func testWalk(t *T) {
	db := open(t)
	put(t, db, "a.b.c", Number(1), "a.d", Number(2), "e", Number(3))
	walked := func(skip string, with error) string {
		var seen []string
		view(t, db, func(tx *Tx) {
			require.NoError(t, tx.Walk(Address{}, func(a Address, n *Node) error {
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
	err := db.View(context.Background(), func(tx *Tx) error {
		return tx.Walk(Address{"a"}, func(Address, *Node) error { return boom })
	})
	assert.Equal(t, boom, err)
}

func testAnErrorLeavesTheRootAsItWas(t *T) {
	db := open(t)
	put(t, db, "x", Number(1))
	boom := errors.New("boom")
	err := db.Update(context.Background(), func(tx *Tx) error {
		require.NoError(t, tx.Put(Address{"x"}, Number(2)))
		require.NoError(t, tx.Put(Address{"y"}, Number(2)))
		return boom
	})
	assert.Equal(t, boom, err)
	assert.Panics(t, func() {
		_ = db.Update(context.Background(), func(tx *Tx) error {
			require.NoError(t, tx.Put(Address{"x"}, Number(3)))
			panic("boom")
		})
	})
	ctx, cancel := context.WithCancel(context.Background())
	err = db.Update(ctx, func(tx *Tx) error {
		cancel()
		return tx.Put(Address{"x"}, Number(4))
	})
	assert.ErrorIs(t, err, context.Canceled)
	requireEqual(t, Number(1), get(t, db, "x"))
	view(t, db, func(tx *Tx) { assert.Equal(t, "x", names(t, tx, "")) })
}

// TestRecordsAreOfLists: no object is a record or null, and a stored list shares nothing
// with the caller's.
func testRecordsAreOfLists(t *T) {
	db := open(t)
	update(t, db, func(tx *Tx) {
		a := Address{"x"}
		require.ErrorContains(t, tx.Put(a, Record{}), "a record can only be within a list")
		require.ErrorContains(t, tx.Put(a, Null{}), "a null can only be within a list")
		require.ErrorContains(t, tx.Put(a, List{Record{{Name: "a", Value: Number(1)}, {Name: "a", Value: Number(2)}}}), `the field "a" occurs twice`)
		require.ErrorContains(t, tx.Put(a, List{Record{{Name: "\xff", Value: Number(1)}}}), "is not UTF-8")
		require.ErrorContains(t, tx.Put(a, List{Record{{Name: "b", Value: nil}}}), `item 1: field "b"`)
		deep := Value(List{})
		for range maxListDepth {
			deep = List{deep}
		}
		require.ErrorContains(t, tx.Put(a, deep), "nest more than 200 deep")

		r := Record{{Name: "b", Value: Number(2)}, {Name: "a", Value: Number(1)}}
		require.NoError(t, tx.Put(a, List{r}))
		r[0].Value = Number(3)
		got, err := tx.Get(a)
		require.NoError(t, err)
		requireEqual(t, List{Record{{Name: "a", Value: Number(1)}, {Name: "b", Value: Number(2)}}}, got)
	})
	_, err := ParseKind("record")
	assert.ErrorContains(t, err, "the kinds are boolean, number, string, text, outline, script, date, binary, list, address, table")
}
