package script

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
)

// contents lists a table's names and items.
func contents(tb *Table) []string {
	var list []string
	tb.Each(func(k, v Value) bool {
		list = append(list, fmt.Sprint(k, "=", v))
		return true
	})
	return list
}

func TestTableInGo(t *testing.T) {
	tb := NewTable()
	tb.Set("b", 1)
	tb.Set("a", "x")
	tb.Set("b", 2)
	tb.Set("gone", true)
	tb.Set("gone", nil)
	tb.Append("first")
	assert.Equal(t, []string{"1=first", "b=2", "a=x"}, contents(tb))
	assert.Equal(t, 2, tb.Get("b"))
	assert.Nil(t, tb.Get("B"), "case counts")
	assert.Nil(t, tb.Get("gone"))
	assert.Equal(t, 1, tb.Len())
	assert.Equal(t, "first", tb.Index(1))
	assert.Nil(t, tb.Index(2))
	tb.Delete("b")
	assert.Equal(t, []string{"1=first", "a=x"}, contents(tb))
}

func TestTableWithManyCells(t *testing.T) {
	tb := NewTable()
	for i := range 1000 {
		tb.Set(fmt.Sprint("n", i), i)
	}
	for i := range 1000 {
		if i%3 == 0 {
			tb.Delete(fmt.Sprint("n", i))
		}
	}
	assert.Nil(t, tb.Get("n999"))
	assert.Equal(t, 998, tb.Get("n998"))
	assert.Len(t, contents(tb), 666)
	db := newDB(t)
	assert.Equal(t, "666", run(t, db, "local n = 0 for k, v in pairs (...) do n = n + 1 end return n", tb))
}

// A table made in Go is to a script what a Lua table is.
func TestTableInLua(t *testing.T) {
	db := newDB(t)
	for _, c := range [][2]string{
		{`return t.name .. t.n`, "Ada3"},
		{`return t.sub.x`, "1"},
		{`return #t .. t [1] .. t [2]`, "2onetwo"},
		{`return type (t)`, "table"},
		{`return tostring (t.none)`, "nil"},
		{`return tostring (getmetatable (t))`, "nil"},
		{`return rawget (t, "name")`, "Ada"},
		{`t.name = "Bob" return t.name`, "Bob"},
		{`t.name = nil return tostring (t.name)`, "nil"},
		{`t.name = nil local s = 0 for k in pairs (t) do s = s + 1 end return s`, "4"},
		{`rawset (t, "name", "x") return t.name`, "x"},
		{`t.new = 1 return t.new`, "1"},
		{
			`local s = {} for k in pairs (t) do s [#s + 1] = tostring (k) end table.sort (s) return table.concat (s, ",")`,
			"1,2,n,name,sub",
		},
		{`local n = 0 local k = next (t) while k do n = n + 1 k = next (t, k) end return n`, "5"},
		{`setmetatable (t, {__index = function (t, k) return k .. "?" end}) return t.name .. t.other`, "Adaother?"},
		{`table.insert (t, "three") return t [3]`, "three"},
		{`return table.concat (t, "+")`, "one+two"},
		{`user.kept = {name = t.name, sub = t.sub} return user.kept.sub.x`, "1"},
		{`return tostring (t.sub == t.sub)`, "true"},
		{`local keep = t.sub keep.x = 2 return t.sub.x`, "2"},
	} {
		source, want := c[0], c[1]
		within(t, db, ThreadOptions{}, func(th *Thread) {
			require.NoError(t, th.tx.NewTable(objectdb.Address{"user"}))
			sub := NewTable()
			sub.Set("x", 1)
			tb := NewTable()
			tb.Set("name", "Ada")
			tb.Set("n", 3)
			tb.Set("sub", sub)
			tb.Append("one")
			tb.Append("two")
			v, err := th.RunSource("test", "local t = ... "+source, tb)
			require.NoError(t, err, source)
			got, err := th.Text(v)
			require.NoError(t, err)
			assert.Equal(t, want, got, source)
		})
	}
}

// What Go does to a table after a script has it, the script sees, and the
// other way round.
func TestTableIsShared(t *testing.T) {
	db := newDB(t)
	within(t, db, ThreadOptions{}, func(th *Thread) {
		tb := NewTable()
		tb.Set("a", 1)
		tb.Set("b", 2)
		_, err := th.RunSource("test", "t = ... t.a = 'lua' t.c = 3", tb)
		require.NoError(t, err)
		assert.Equal(t, "lua", tb.Get("a"))
		assert.Equal(t, 2, tb.Get("b"))
		tb.Set("b", "go")
		tb.Set("d", 4)
		tb.Append("item")
		v, err := th.RunSource("test", "return t.b .. t.d .. t [1] .. t.c, t")
		require.NoError(t, err)
		assert.Equal(t, "go4item3", v)
		v, err = th.RunSource("test", "return t")
		require.NoError(t, err)
		list := contents(v.(*Table))
		slices.Sort(list)
		assert.Equal(t, []string{"1=item", "a=lua", "b=go", "c=3", "d=4"}, list)
	})
}

func BenchmarkTableGivenToLua(b *testing.B) {
	db := newDB(b)
	within(b, db, ThreadOptions{}, func(th *Thread) {
		f, err := th.RunSource("test", "return function (t) return t.n7 end")
		require.NoError(b, err)
		names := make([]string, 40)
		for i := range names {
			names[i] = fmt.Sprint("n", i)
		}
		b.ReportAllocs()
		for b.Loop() {
			th.lazy = nil // as in the next request
			tb := NewTable()
			for _, name := range names {
				tb.Set(name, name)
			}
			if v, err := th.CallValue(f, tb); v != "n7" {
				b.Fatal(v, err)
			}
		}
	})
}
