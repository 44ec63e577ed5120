package objectdb

import (
	"context"
	"errors"
	"io/fs"
	"math"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// open gives a new root, and looks at its end whether all that must hold of it
// holds. The tests in this file say nothing of how it is stored: a second
// way to store it is put through them by changing this function.
// patience is how long a test waits for what comes at once, or not at all: a
// busy machine may stand still for seconds.
const patience = time.Minute

var patient = Options{Relaxed: true, BusyTimeout: patience, LockTime: patience}

func open(t testing.TB) *DB { return openWith(t, patient) }

func openWith(t testing.TB, o Options) *DB {
	t.Helper()
	db, err := Create(filepath.Join(t.TempDir(), "test.root"), o)
	require.NoError(t, err)
	t.Cleanup(func() {
		requireSound(t, db)
		require.NoError(t, db.Close())
	})
	return db
}

func requireSound(t testing.TB, db *DB) {
	t.Helper()
	problems, err := db.Check(context.Background())
	require.NoError(t, err)
	require.Empty(t, problems)
}

func update(t testing.TB, db *DB, fn func(*Tx)) {
	t.Helper()
	require.NoError(t, db.Update(context.Background(), func(tx *Tx) error { fn(tx); return nil }))
}

func view(t testing.TB, db *DB, fn func(*Tx)) {
	t.Helper()
	require.NoError(t, db.View(context.Background(), func(tx *Tx) error { fn(tx); return nil }))
}

func addr(t testing.TB, s string) Address {
	t.Helper()
	a, err := ParseAddress(s)
	require.NoError(t, err)
	return a
}

// put stores values in a transaction of their own: address, value, address, value…
func put(t testing.TB, db *DB, pairs ...any) {
	t.Helper()
	update(t, db, func(tx *Tx) {
		for i := 0; i < len(pairs); i += 2 {
			require.NoError(t, tx.Put(addr(t, pairs[i].(string)), pairs[i+1].(Value)))
		}
	})
}

func get(t testing.TB, db *DB, a string) (v Value) {
	t.Helper()
	view(t, db, func(tx *Tx) {
		var err error
		v, err = tx.Get(addr(t, a))
		require.NoError(t, err)
	})
	return v
}

// names gives the children's names at a, separated by blanks.
func names(t testing.TB, tx *Tx, a string) string {
	t.Helper()
	objects, err := tx.List(addr(t, a))
	require.NoError(t, err)
	var list []string
	for _, o := range objects {
		list = append(list, o.Name)
	}
	return strings.Join(list, " ")
}

// oddValues are values that a store might get wrong.
var oddValues = []Value{
	Boolean(true), Boolean(false),
	Number(0), Number(math.Copysign(0, -1)), Number(1.5), Number(1 << 53), Number(-(1<<53 - 1)), Number(1e300), Number(5e-324),
	Number(math.MaxFloat64), Number(math.Inf(1)), Number(math.Inf(-1)), Number(math.NaN()), Number(0.1), Number(1e21), Number(123456789012345680000),
	String(""), String("ä\u0000b"), String("\xff\xfe"), String("a\r\nb"), String(strings.Repeat("x", int(wholeValue)+1)), String("\ufffd"), String("nan"),
	Text(""), Text("line\n"), Text("\x00"), Text(strings.Repeat("ä", 100_000)), Text("\ufeffbom"),
	Outline(""), Outline("\n"), Outline("a\n\tb\n\t\tc\nd"), Outline("\t\tjump"), Outline("a\n\t\tb"), Outline("a\x01"), Outline("<&\"'>\r \t x"), Outline("\xff"), Outline("a\n"), Outline("\t"),
	Script("return 1\n"), Script(""),
	Date{time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)}, Date{time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC)}, Date{time.Date(9999, 12, 31, 23, 59, 59, 999999999, time.UTC)},
	Binary{"image/gif", "GIF89a\x00\xff"}, Binary{"", ""}, Binary{"text/x-odd; charset=\"ä\"", "x"}, Binary{"application/octet-stream", strings.Repeat("\x00", 50_000)}, Binary{"application/json", "{}"},
	List{}, List{Number(1), List{List{}, String("x")}, Boolean(true), Text("t"), Outline("o"), Script("s"), Binary{"image/png", "\xff"},
		Date{time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)}, Address{"a", "b.c"}, Address{}, Number(math.NaN()), Number(math.Inf(-1)), Number(math.Copysign(0, -1)), String("\xff"), Text("\xff"), String("\u2028<>&")},
	List{Record{}, Null{}, Record{{"", Null{}}, {"A", List{}}, {"a", Record{{"b", List{Record{{"c", Number(1)}}}}}}, {"x\x00\n.", Date{time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)}}}},
	List{Record{{"date", String("x")}}, Record{{"record", Record{{"record", Number(1)}}}}, Record{{"base64", Boolean(true)}, {"string", String("/w==")}},
		Record{{"binary", String("")}, {"type", String("x")}}, Record{{"base64", Number(1)}, {"type", Number(1)}}, Record{{"date", Null{}}, {"text", Null{}}}, Record{{"table", Text("t")}}},
	Address{}, Address{"user", "odd.name", "\"\\\n\x01"}, Address{"ä"},
}

func requireEqual(t testing.TB, want, got Value) {
	t.Helper()
	if !Equal(want, got) {
		require.Equal(t, want, got)
		t.Fatalf("want %#v, got %#v", want, got)
	}
}

func TestEveryValueIsKept(t *testing.T) {
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
	again, err := Open(db.Path(), Options{})
	require.NoError(t, err)
	defer again.Close()
	check(again) // from the file
	check(again)
}

func TestValuesThatCannotBeStored(t *testing.T) {
	db := open(t)
	deep := List{}
	for range maxListDepth + 1 {
		deep = List{deep}
	}
	for _, v := range []Value{
		nil, List{nil}, deep, Date{time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)},
		Binary{"a\nb", ""}, Binary{"\xff", ""}, Binary{strings.Repeat("x", 256), ""},
	} {
		err := db.Update(context.Background(), func(tx *Tx) error { return tx.Put(Address{"x"}, v) })
		assert.ErrorIs(t, err, ErrValue, "%#v", v)
	}
	err := db.Update(context.Background(), func(tx *Tx) error { return tx.Put(Address{"x"}, Address{"\xff"}) })
	assert.ErrorIs(t, err, ErrName)
}

func TestStoredValuesAreNotShared(t *testing.T) {
	db := open(t)
	list := List{Number(1), List{Number(2)}}
	update(t, db, func(tx *Tx) {
		require.NoError(t, tx.Put(Address{"list"}, list))
		list[0], list[1].(List)[0] = Number(9), Number(9)
	})
	requireEqual(t, List{Number(1), List{Number(2)}}, get(t, db, "list"))
}

func TestNamesIgnoreCaseAndKeepTheirSpelling(t *testing.T) {
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

func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		require.NoError(t, err)
		return v
	}
}

func TestNamesThatCannotBe(t *testing.T) {
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

func TestAddressOperations(t *testing.T) {
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
		{"delete the root", func(tx *Tx) error { return tx.Delete(Address{}) }, errRoot},
		{"move missing", func(tx *Tx) error { return tx.Move(addr(t, "x"), addr(t, "y")) }, ErrNotFound},
		{"move over another", func(tx *Tx) error { return tx.Move(addr(t, "a.s"), addr(t, "a.b")) }, ErrExists},
		{"move the root", func(tx *Tx) error { return tx.Move(Address{}, addr(t, "y")) }, errRoot},
		{"copy over another", func(tx *Tx) error { return tx.Copy(addr(t, "a.s"), addr(t, "a.b")) }, ErrExists},
		{"copy missing", func(tx *Tx) error { return tx.Copy(addr(t, "x"), addr(t, "y")) }, ErrNotFound},
	}
	for _, s := range steps {
		t.Run(s.name, func(t *testing.T) {
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

func TestPutReplacesAnyValue(t *testing.T) {
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

func stat(t testing.TB, db *DB, a string) (o Object) {
	t.Helper()
	view(t, db, func(tx *Tx) { o = must(tx.Stat(addr(t, a)))(t) })
	return o
}

func TestTimesComeFromTheClock(t *testing.T) {
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

func TestMoveAndCopy(t *testing.T) {
	db := open(t)
	big := Text(strings.Repeat("big", int(wholeValue)))
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

func TestObjectsChangePlaces(t *testing.T) {
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

func TestWritesBelowADeletedTableAreRefused(t *testing.T) {
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

func TestNodes(t *testing.T) {
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

func TestWalk(t *testing.T) {
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

func TestAnErrorLeavesTheRootAsItWas(t *testing.T) {
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
