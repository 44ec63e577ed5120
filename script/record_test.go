package script

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// spelled gives cells that are what their names are in upper case, and one table.
type spelled struct {
	names []string
	table *Table
	asked map[string]int
}

func (s *spelled) Cell(i int) Value {
	s.asked[s.names[i]]++
	if s.names[i] == "list" {
		s.table = NewTable()
		s.table.Append("first")
		return s.table
	}
	return strings.ToUpper(s.names[i])
}

func newSpelled() (*Table, *spelled) {
	s := &spelled{names: strings.Fields("one two three four five six seven eight nine ten eleven twelve userAgent list"),
		asked: map[string]int{}}
	return NewRecord(NewShape(s.names...), s), s
}

func TestRecord(t *testing.T) {
	tb, s := newSpelled()
	other := NewRecord(NewShape(s.names...), s)
	assert.Empty(t, s.asked, "nothing is made before it is asked for")
	assert.Equal(t, "ONE", tb.Get("one"))
	assert.Nil(t, tb.Get("oNE"))
	assert.Nil(t, tb.Get("none"))
	for _, name := range []string{"userAgent", "useragent", "USERAGENT"} {
		v, ok := tb.Lookup(name)
		assert.True(t, ok, name)
		assert.Equal(t, "USERAGENT", v)
	}
	for _, name := range []string{"none", "non\u00e9", ""} {
		_, ok := tb.Lookup(name)
		assert.False(t, ok, name)
	}
	list := tb.Get("list")
	assert.Same(t, list, tb.Get("list"), "a table is made once")
	assert.Equal(t, 1, s.asked["list"])

	tb.Set("two", "changed")
	tb.Set("Two", "another name")
	tb.Delete("three")
	tb.Delete("four")
	tb.Set("four", "again")
	tb.Set("five", nil)
	for name, want := range map[string]Value{"one": "ONE", "two": "changed", "Two": "another name", "three": nil,
		"four": "again", "five": nil, "six": "SIX"} {
		assert.Equal(t, want, tb.Get(name), name)
	}
	v, ok := tb.Lookup("FOUR")
	assert.True(t, ok)
	assert.Equal(t, "again", v)
	var names []string
	tb.Each(func(k, _ Value) bool { names = append(names, k.(string)); return true })
	assert.Equal(t, "one two six seven eight nine ten eleven twelve userAgent list Two four", strings.Join(names, " "))
	assert.Equal(t, "TWO", other.Get("two"), "the shape is shared, what is changed is not")
	assert.Nil(t, other.Get("Two"))
}

func TestRecordInLua(t *testing.T) {
	db := newDB(t)
	for _, c := range []struct{ source, want string }{
		{`return p.one .. p.two .. tostring (p.none)`, "ONETWOnil"},
		{`p.one = "mine"; p.new = "x"; return p.one .. p.new .. p.two`, "minexTWO"},
		{`p.one = nil; return tostring (p.one)`, "nil"},
		{`local n = 0; for k, v in pairs (p) do n = n + 1 end; return n`, "14"},
		{`p.list [2] = "second"; return table.concat (p.list, " ")`, "first second"},
		{`return USERAGENT`, "USERAGENT"},
		{`rawset (p, "one", nil); return tostring (rawget (p, "one")) .. rawget (p, "two")`, "nilTWO"},
		{`local k = next (p); return type (k)`, "string"},
	} {
		tb, _ := newSpelled()
		within(t, db, ThreadOptions{Names: tb}, func(th *Thread) {
			v, err := th.RunSource("test", "local p = ...\n"+c.source, tb)
			require.NoError(t, err, c.source)
			text, err := th.Text(v)
			require.NoError(t, err)
			assert.Equal(t, c.want, text, c.source)
		})
	}
}
