package script

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
)

// records returns a root with a list of records.
func records(t *testing.T) *objectdb.DB {
	db := newDB(t)
	put(t, db, map[string]objectdb.Value{
		"user.l": objectdb.List{
			objectdb.Record{{Name: "a", Value: objectdb.Number(1)}, {Name: "tags", Value: objectdb.List{}}},
			objectdb.Record{{Name: "a", Value: objectdb.Number(2)}, {Name: "tags", Value: objectdb.List{objectdb.String("x")}}},
		},
		"user.flat":  objectdb.List{objectdb.Number(3), objectdb.Number(1)},
		"user.empty": objectdb.List{},
		"user.t.x":   objectdb.Number(1),
	})
	return db
}

// kept runs source in a transaction that is committed, and returns what a second
// script sees afterwards.
func kept(t *testing.T, db *objectdb.DB, source, then string) string {
	t.Helper()
	engine := NewEngine(testVerbs)
	require.NoError(t, db.Update(context.Background(), func(tx *objectdb.Tx) error {
		th := engine.NewThread(context.Background(), ThreadOptions{Tx: tx})
		defer th.Close()
		_, err := th.RunSource("test", source)
		return err
	}), source)
	return run(t, db, then)
}

func TestListsOfRecords(t *testing.T) {
	const all = `return odb.text (user.l)`
	for _, c := range [][2]string{
		{`return 1`, "{{a = 1, tags = {}}, {a = 2, tags = {x}}}"},
		{`user.l [1].a = 2`, "{{a = 2, tags = {}}, {a = 2, tags = {x}}}"},
		{`user.l [1].new = true`, "{{a = 1, new = true, tags = {}}, {a = 2, tags = {x}}}"},
		{`user.l [2].tags [2] = "y"`, "{{a = 1, tags = {}}, {a = 2, tags = {x, y}}}"},
		{`table.remove (user.l [2].tags)`, "{{a = 1, tags = {}}, {a = 2, tags = {}}}"},
		{`user.l [1].tags = nil user.l [1].a = nil`, "{{}, {a = 2, tags = {x}}}"},
		{`table.insert (user.l, 1, {b = {{}}})`, "{{b = {{}}}, {a = 1, tags = {}}, {a = 2, tags = {x}}}"},
		{`table.insert (user.l, user.t)`, "{{a = 1, tags = {}}, {a = 2, tags = {x}}, {x = 1}}"},
		{`table.remove (user.l, 1)`, "{{a = 2, tags = {x}}}"},
		{`table.sort (user.l, function (x, y) return x.a > y.a end)`, "{{a = 2, tags = {x}}, {a = 1, tags = {}}}"},
		{`for i, r in ipairs (user.l) do r.n = i end`, "{{a = 1, n = 1, tags = {}}, {a = 2, n = 2, tags = {x}}}"},
		{`for i, r in odb.pairs (user) do if i == "l" then r [2] = 0 end end`, "{{a = 1, tags = {}}, 0}"},
		{`local l = odb.get ("user.l") l [1] = "s"`, "{s, {a = 2, tags = {x}}}"},
		{`local l = user.l l [3] = 3 user.l = l l [4] = 4`, "{{a = 1, tags = {}}, {a = 2, tags = {x}}, 3, 4}"},
		{`local r = user.l [1] user.l = {r} r.a = 9`, "{{a = 1, tags = {}}}"},
		{`local l = user.l user.l = {1} l [1] = 9`, "{1}"},
		{`local l = user.l user.l = nil user.l = {1} l [1] = 9`, "{1}"},
		{`local l = user.l user.l = 5 l [1] = 9 user.l = {l [1]}`, "{9}"},
		{
			`local l = user.l user.l [1] = 1 user.l [2] = 2 return l == user.l and 1 or error ("another table")`,
			"{1, 2}",
		},
		{`local l = user.l l [1] = 9 odb.delete ("user.l") user.l = odb.list ()`, "{}"},
		{`while #user.l > 0 do table.remove (user.l) end`, "{}"},
		{`local l = user.l odb.move ("user.l", "user.m") l [1] = 1 odb.move ("user.m", "user.l") l [2] = 2`, "{1, 2}"},
		{`local l = user.l l [1] = 1 odb.rename ("user", "other") l [2] = 2 odb.rename ("other", "user")`, "{1, 2}"},
		{
			`local l = user.l [1] l.a = 7 odb.copy ("user.l", "user.m") user.l = user.m`,
			"{{a = 7, tags = {}}, {a = 2, tags = {x}}}",
		},
		{`user.l [1] = 1 user.l [2] = 2 user.copy = user assert (odb.text (user.copy.l) == "{1, 2}")`, "{1, 2}"},
		{`user.l [1] = 1 user.l [2] = 2 assert (odb.text (user):find ("l\tlist: {1, 2}", 1, true))`, "{1, 2}"},
		{`user.l [1] = 1 user.l [2] = 2 assert (odb.size ("user.l") == 5)`, "{1, 2}"},
		{`user.m = user.l user.m [1] = 0`, "{{a = 1, tags = {}}, {a = 2, tags = {x}}}"},
		{`pcall (function () user.l [1].a = 5 error ("no") end)`, "{{a = 5, tags = {}}, {a = 2, tags = {x}}}"},
	} {
		source, want := c[0], c[1]
		assert.Equal(t, want, kept(t, records(t), source, all), source)
	}
	db := records(t)
	assert.Equal(t, "table",
		kept(t, db, `table.remove (user.flat) table.remove (user.flat) user.flat.name = 1`, `return odb.kind ("user.flat")`))
	assert.Equal(t, "listlist", kept(t, db, `user.empty [1] = 1 user.empty [1] = nil user.x = {user.empty}`,
		`return odb.kind ("user.empty") .. odb.kind ("user.x")`))
	assert.Equal(t, "{{}, {}}12",
		kept(t, db, `user.x = {{}, odb.list ()} user.x [1].a = 1 user.x [2] [1] = 2 user.y = {{}, odb.list ()}`,
			`return odb.text (user.y) .. user.x [1].a .. user.x [2] [1]`))
}

// TestListErrors: a run fails if it puts something into a list that a list cannot hold, and
// nothing that it wrote is stored.
func TestListErrors(t *testing.T) {
	db := records(t)
	for _, c := range [][2]string{
		{
			`user.t.x = 2 user.l [1].f = type`,
			"set user.l.1.f: a function cannot be stored: odb.script (source) makes a script",
		},
		{`user.t.x = 2 user.l [4] = 1`, "set user.l: a list needs the items 1 to 3, and [3] is missing"},
		{`user.t.x = 2 user.l [1] = nil`, "set user.l: a list needs the items 1 to 1, and [1] is missing"},
		{
			`user.t.x = 2 user.l.name = 1`,
			"set user.l: a table with names and numbers is neither a table nor a list of the root",
		},
		{`user.t.x = 2 user.l [1].self = user.l`, ""},
		{
			`user.t.x = 2 user.l [1].f = type odb.copy ("user.l", "user.m")`,
			"set user.l.1.f: a function cannot be stored: odb.script (source) makes a script",
		},
	} {
		source, want := c[0], c[1]
		err := db.Update(context.Background(), func(tx *objectdb.Tx) error {
			th := NewEngine(nil).NewThread(context.Background(), ThreadOptions{Tx: tx})
			defer th.Close()
			_, err := th.RunSource("test", source)
			return err
		})
		var e *Error
		require.ErrorAs(t, err, &e, source)
		if want != "" {
			assert.Equal(t, want, e.Message, source)
		} else {
			assert.Contains(t, e.Message, "the table nests more than 100 deep or contains itself", source)
		}
		assert.Equal(t, "1", run(t, db, `return user.t.x`), source)
	}
	require.NoError(t, db.View(context.Background(), func(tx *objectdb.Tx) error {
		th := NewEngine(nil).NewThread(context.Background(), ThreadOptions{Tx: tx})
		defer th.Close()
		v, err := th.RunSource("test", "return #user.l")
		require.NoError(t, err)
		assert.Equal(t, 2.0, v)
		assert.False(t, tx.Written())
		_, err = th.RunSource("test", "user.l [1].a = 5")
		assert.ErrorIs(t, err, objectdb.ErrReadOnly)
		assert.ErrorContains(t, err, "set user.l: root may only be read")
		v, err = th.RunSource("test", "return user.l [1].a")
		require.NoError(t, err, "a run after one that failed")
		assert.Equal(t, 1.0, v)
		return nil
	}))
}

// TestListsAcrossFlush: a new list stays the same table after a flush.
func TestListsAcrossFlush(t *testing.T) {
	db := records(t)
	flush := Verb{Name: "test.flush", Func: func(c *Call) error { return c.Thread().Flush() }}
	require.NoError(t, db.Update(context.Background(), func(tx *objectdb.Tx) error {
		th := NewEngine([]Verb{flush}).NewThread(context.Background(), ThreadOptions{Tx: tx})
		defer th.Close()
		_, err := th.RunSource("test", `
			user.new = {{n = 1}}
			local new, old = user.new, user.l
			new [1].n, old [1].a = 2, 2
			test.flush ()
			assert (new == user.new and old == user.l)
			new [1].n, old [1].a = new [1].n + 1, old [1].a + 1`)
		return err
	}))
	assert.Equal(t, "{{n = 3}}3", run(t, db, `return odb.text (user.new) .. user.l [1].a`))
}

// TestListsThatWereTried: when a part of a run fails, its changes to a list are undone, and
// those before it stay.
func TestListsThatWereTried(t *testing.T) {
	db := records(t)
	try := Verb{Name: "test.try", Func: func(c *Call) error {
		f := c.Value(1)
		failed := c.Thread().Try(func() error {
			_, err := c.Thread().CallValue(f)
			_ = c.Thread().Tx() // a verb that reads the root
			return err
		})
		c.Return(failed == nil)
		return nil
	}}
	require.NoError(t, db.Update(context.Background(), func(tx *objectdb.Tx) error {
		th := NewEngine([]Verb{try}).NewThread(context.Background(), ThreadOptions{Tx: tx})
		defer th.Close()
		_, err := th.RunSource("test", `
			local l, flat = user.l, user.flat
			l [1].a = 10
			assert (not test.try (function () error ("at once") end))
			assert (l == user.l and l [1].a == 10)
			assert (not test.try (function () l [2].a = 20 user.flat = {7} user.empty [1] = 1 error ("late") end))
			assert (l == user.l and l [2].a == 2 and flat == user.flat and #user.empty == 0)
			flat [3] = 5
			assert (test.try (function () l [2].a = 30 end))`)
		return err
	}))
	assert.Equal(t, "{{a = 10, tags = {}}, {a = 30, tags = {x}}}{3, 1, 5}{}",
		run(t, db, `return odb.text (user.l) .. odb.text (user.flat) .. odb.text (user.empty)`))
}

// TestUnchangedListsAreNotWritten: reading a list does not write it.
func TestUnchangedListsAreNotWritten(t *testing.T) {
	db := newDB(t)
	r := rand.New(rand.NewPCG(3, 4))
	within(t, db, ThreadOptions{}, func(th *Thread) {
		for range 500 {
			require.NoError(t, th.tx.Put(objectdb.Address{"user", "l"}, objectdb.List{randomItem(r, 3), randomItem(r, 3)}))
			before, err := th.tx.Find(objectdb.Address{"user", "l"})
			require.NoError(t, err)
			_, err = th.RunSource("test", `for _, v in ipairs (user.l) do local _ = type (v) == "table" and #v end`)
			require.NoError(t, err)
			after, err := th.tx.Find(objectdb.Address{"user", "l"})
			require.NoError(t, err)
			require.Equal(t, before.Version(), after.Version())
		}
	})
}

func BenchmarkReadList(b *testing.B) {
	db := newDB(b)
	list := make(objectdb.List, 1000)
	for i := range list {
		list[i] = objectdb.Record{{Name: "n", Value: objectdb.Number(i)}, {Name: "name", Value: objectdb.String("Ada")}}
	}
	put(b, db, map[string]objectdb.Value{"user.l": list})
	within(b, db, ThreadOptions{}, func(*Thread) {})
	require.NoError(b, db.View(context.Background(), func(tx *objectdb.Tx) error {
		for b.Loop() {
			th := NewEngine(nil).NewThread(context.Background(), ThreadOptions{Tx: tx})
			if _, err := th.RunSource("test", `return #user.l`); err != nil {
				return err
			}
			th.Close()
		}
		return nil
	}))
}

// Package lua keeps items that are stored in another order than 1 to n outside a table's array.
func TestListsStoredInAnyOrder(t *testing.T) {
	const want = `assert (#user.l == 3000 and user.l [1] == 1 and user.l [3000] == 3000)
		local text = odb.text (user.l) return text:sub (1, 6) .. text:sub (-12)`
	for _, fill := range []string{
		`for i = 3000, 1, -1 do l [i] = i end`,
		`l [3000] = 3000 for i = 1, 2999 do l [i] = i end`,
		`for i = 1, 3000 do l [i + 3000] = i end for i = 1, 3000 do l [i] = l [i + 3000] l [i + 3000] = nil end`,
		`for i = 1, 3000 do l [i] = i if i > 1 then l [i - 1] = nil end end for i = 1, 2999 do l [i] = i end`,
	} {
		assert.Equal(t, "{1, 2, 2999, 3000}", kept(t, records(t), `local l = {} `+fill+` user.l = l`, want), fill)
		assert.Equal(t, "{1, 2, 2999, 3000}", kept(t, records(t), `local l = user.l `+fill, want), "in place: "+fill)
	}
	e := fails(t, records(t), `user.l = {[1] = 1, [2] = 2, [1000000] = 3}`)
	assert.Equal(t, "set user.l: a list needs the items 1 to 3, and [3] is missing", e.Message)
}
