package script

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
)

func TestODB(t *testing.T) {
	db := site(t)
	for _, c := range [][2]string{
		{`return odb.get "user.webserver.saveInterval"`, "10"},
		{`return odb.get ("user.none", "default")`, "default"},
		{`return tostring (odb.get "user.none.at.all")`, "nil"},
		{`return odb.get (odb.address ("user.webserver", "odd.name"))`, "odd"},
		{`return odb.get 'user.webserver.["odd.name"]'`, "odd"},
		{`return odb.get "suites.webserver.httpheader" ()`, "HTTP/1.0 200 OK"},
		{`return tostring (odb.get "system.verbs.builtins.test.upper" == test.upper)`, "true"},
		{`odb.set ("user.a.b.c", {d = 1}) return user.a.b.c.d`, "1"},
		{`odb.set ("user.page", nil) return tostring (user.page)`, "nil"},
		{`return tostring (odb.defined "user.page") .. tostring (odb.defined "user.none")`, "truefalse"},
		{`return tostring (odb.defined (user.none))`, "false"},
		{`return tostring (odb.defined (user.webserver))`, "true"},
		{`return tostring (odb.delete "user.page") .. tostring (odb.delete "user.page")`, "truefalse"},
		{`return odb.kind (user) .. odb.kind "user.page" .. odb.kind "suites.webserver.httpheader"`, "tabletextscript"},
		{`return tostring (odb.kind "user.none")`, "nil"},
		{`return odb.kind (odb.date ()) .. odb.kind (webserver.httpheader)`, "datescript"},
		{`return odb.kind "system.verbs.builtins.test"`, "table"},
		{`return odb.kind "user.list" .. odb.kind "user.where"`, "listaddress"},
		{`return odb.size "user.page" .. odb.size (scratchpad.fruit)`, "143"},
		{`return odb.name (user.webserver) .. odb.name "a.b"`, "webserverb"},
		{`return tostring (odb.parent (webserver.httpheader))`, "suites.webserver"},
		{`return odb.parent "user.page" ().page`, "<h1>Hello</h1>"},
		{
			`local s = "" for k, v in odb.pairs (scratchpad.fruit) do s = s .. k .. v end return s`,
			"apple1Banana2cherry3",
		},
		{`local s = "" for k, v in odb.pairs {b = 1, A = 2, 9, c = 3} do s = s .. k end return s`, "1Abc"},
		{`odb.move ("scratchpad.fruit", "user.fruit") return #user.fruit .. tostring (scratchpad.fruit)`, "3nil"},
		{`local f = scratchpad.fruit odb.move (f, "user.fruit") return tostring (f) .. f.apple`, "table: user.fruit1"},
		{`odb.copy ("scratchpad.fruit", "user.x.fruit") return #user.x.fruit .. #scratchpad.fruit`, "33"},
		{`odb.rename ("scratchpad.fruit.apple", "Apfel") return scratchpad.fruit.apfel`, "1"},
		{`odb.rename (scratchpad.fruit, "FRUIT") return tostring (scratchpad.fruit)`, "table: scratchpad.FRUIT"},
		{`return odb.text (webserver.httpheader)`, "return 'HTTP/1.0 200 OK'"},
		{`return odb.text (odb.script "return 1")`, "return 1"},
		{`return odb.text (user.list)`, "{1, two, {3}}"},
		{`return odb.text (5)`, "5"},
		{`return odb.script "return 1 + ..." (2)`, "3"},
		{`return odb.text "ab" .. "c" .. #odb.text "ab"`, "abc2"},
		{`return odb.text "abc":upper () .. odb.outline "x":rep (2)`, "ABCxx"},
		{
			`local d = odb.date (0) return d.year .. "-" .. d.month .. "-" .. d.day .. " " .. d.hour .. d.min .. ` +
				`d.sec .. d.wday .. d.yday .. d.unix`,
			"1970-1-1 000510",
		},
		{`return odb.date "1998-01-24 10:30:05".unix`, "885637805"},
		{`return odb.date ("1998-01-24T10:30:05+02:00").hour`, "8"},
		{`return odb.date ("Sat, 24 Jan 1998 10:30:05 GMT").day`, "24"},
		{`return (odb.date (100) - odb.date (40)) .. " " .. (odb.date (0) + 61)`, "60 1970-01-01 00:01:01"},
		{
			`return tostring (odb.date (1) < odb.date (2)) .. tostring (odb.date (1) <= odb.date (0)) .. tostring ` +
				`(odb.date (1) == odb.date (1))`,
			"truefalsetrue",
		},
		{`return odb.date (odb.date (7)).unix`, "7"},
		{`return odb.date ().year`, "2001"},
		{`local b = odb.binary ("abc", "image/png") return b.type .. b.data .. #b`, "image/pngabc3"},
		{`return odb.binary ("x").type`, "application/octet-stream"},
		{`return tostring (odb.address {"a", "b.c"})`, `a.["b.c"]`},
		{`return tostring (odb.address ("a.b") == odb.address ("A.B"))`, "true"},
		{`return #odb.address "a.b.c"`, "3"},
		{`return tostring (odb.address ("") ().user)`, "table: user"},
		{`return tostring (odb.binary ("a") == odb.binary ("a"))`, "true"},
	} {
		source, want := c[0], c[1]
		within(t, db, ThreadOptions{Now: func() time.Time { return time.Unix(1e9, 0) }}, func(th *Thread) {
			v, err := th.RunSource("test", source)
			require.NoError(t, err, source)
			got, err := th.Text(v)
			require.NoError(t, err)
			assert.Equal(t, want, got, source)
		})
	}
}

func TestODBErrors(t *testing.T) {
	db := site(t)
	for _, c := range [][2]string{
		{`odb.get ()`, "bad argument #1 to 'get' (address expected, got nil)"},
		{`odb.get (5)`, "bad argument #1 to 'get' (address expected, got number)"},
		{`odb.set ("", 1)`, "bad argument #1 to 'set' (the root itself cannot be replaced)"},
		{`odb.set ("user.page.x", 1)`, "set user.page: object is not a table"},
		{
			`odb.set ("user.x", {1, a = 1})`,
			"set user.x: a table with names and numbers is neither a table nor a list of the root",
		},
		{`odb.copy ("user.page", "user.notes")`, "copy user.page: an object is there already: user.notes"},
		{`odb.rename ("user.none", "x")`, "move user.none: no such object"},
		{`odb.script "return ="`, "unexpected symbol near '='"},
		{`odb.date "yesterday"`, `bad argument #1 to 'date' ("yesterday" is no date: write "2006-01-02 15:04:05")`},
		{`odb.date {year = 1}`, "bad argument #1 to 'date' (field 'month' is missing)"},
		{`odb.date (1e300)`, "bad argument #1 to 'date' (time is out of range)"},
		{`return odb.date (0) + "x"`, "a date can only be added to a number of seconds"},
		{`odb.size "user.none"`, "find user.none: no such object"},
		{`odb.get "user..page"`, `parse address: name cannot be used: "user..page", column 6: a name is wanted here`},
		{`odb.address ("user", 5)`, "bad argument #2 to 'address' (name expected, got number)"},
	} {
		source, want := c[0], c[1]
		assert.Equal(t, want, fails(t, db, source).Message, source)
	}
}

// randomValue makes a value of any kind; lists nest to depth.
func randomValue(r *rand.Rand, depth int) objectdb.Value {
	text := func() string {
		b := make([]byte, r.IntN(20))
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		return string(b)
	}
	n := 10
	if depth == 0 {
		n = 9
	}
	switch r.IntN(n) {
	case 0:
		return objectdb.Boolean(r.IntN(2) == 0)
	case 1:
		return objectdb.Number([]float64{0, math.Copysign(0, -1), 1 << 53, -1, 0.1, math.Inf(1), math.NaN(),
			math.SmallestNonzeroFloat64, r.NormFloat64()}[r.IntN(9)])
	case 2:
		return objectdb.String(text())
	case 3:
		return objectdb.Text(text())
	case 4:
		return objectdb.Outline(text())
	case 5:
		return objectdb.Script("return " + "1")
	case 6:
		return objectdb.Date{Time: time.Unix(r.Int64N(1<<33), r.Int64N(1e9)).UTC()}
	case 7:
		return objectdb.Binary{Type: "image/gif", Data: text()}
	case 8:
		return objectdb.Address{"user", "odd " + string(rune('a'+r.IntN(26))) + "."}
	}
	list := make(objectdb.List, r.IntN(4))
	for i := range list {
		list[i] = randomItem(r, depth-1)
	}
	return list
}

// randomItem returns an item of a list, which may be a record or null.
func randomItem(r *rand.Rand, depth int) objectdb.Value {
	switch {
	case r.IntN(10) == 0:
		return objectdb.Null{}
	case r.IntN(4) > 0 || depth == 0:
		return randomValue(r, depth)
	}
	fields := map[string]objectdb.Value{}
	for range r.IntN(4) {
		fields[[]string{"", "a", "A", "ä", "date", "odd\x00"}[r.IntN(6)]] = randomItem(r, depth-1)
	}
	return objectdb.NewRecord(fields)
}

// Values of every kind survive Lua and come back as they were: assigned to
// their own place, and in a list to any.
func TestEveryKindSurvivesLua(t *testing.T) {
	db := newDB(t)
	r := rand.New(rand.NewPCG(1, 2))
	within(t, db, ThreadOptions{}, func(th *Thread) {
		f, err := th.RunSource("test", "return function () local v = user.v user.v = v user.w = user.l end")
		if err != nil {
			require.NoError(t, err)
		}
		at := objectdb.Address{"user"}
		for range 2000 {
			v, l := randomValue(r, 3), objectdb.List{randomItem(r, 3)}
			require.NoError(t, th.tx.Put(at.Child("v"), v))
			require.NoError(t, th.tx.Put(at.Child("l"), l))
			th.writes++ // written behind the thread's back
			_, err := th.CallValue(f)
			require.NoError(t, err)
			got, err := th.tx.Get(at.Child("v"))
			require.NoError(t, err)
			require.True(t, objectdb.Equal(v, got), "%#v became %#v", v, got)
			got, err = th.tx.Get(at.Child("w"))
			require.NoError(t, err)
			require.True(t, objectdb.Equal(l, got), "%#v became %#v", l, got)
		}
	})
}

func TestConflictCannotBeCaught(t *testing.T) {
	db := site(t)
	engine := NewEngine([]Verb{{Name: "test.conflict", Func: func(*Call) error {
		return &objectdb.Error{Op: "flush", Err: objectdb.ErrConflict}
	}}})
	err := db.View(context.Background(), func(tx *objectdb.Tx) error {
		th := engine.NewThread(context.Background(), ThreadOptions{Tx: tx})
		defer th.Close()
		_, err := th.RunSource("test", "pcall (test.conflict) return 1")
		return err
	})
	assert.ErrorIs(t, err, objectdb.ErrConflict)
}
