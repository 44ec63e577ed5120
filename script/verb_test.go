package script

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
)

var errStop = errors.New("stopped by a verb")

var testVerbs = []Verb{
	{Name: "test.upper", Func: func(c *Call) error {
		c.Return(strings.ToUpper(c.String(1)) + c.OptString(2, "!"))
		return nil
	}},
	{Name: "test.add", Func: func(c *Call) error {
		c.Return(c.Number(1)+float64(c.OptInt(2, 1)), c.Int(1)+c.OptInt(2, 1))
		return nil
	}},
	{Name: "test.negate", Func: func(c *Call) error {
		c.Return(!c.Bool(1), c.OptBool(2, true))
		return nil
	}},
	{Name: "test.count", Func: func(c *Call) error {
		tb := c.OptTable(1)
		if tb == nil {
			tb = c.Table(2)
		}
		n := 0
		tb.Each(func(k, v Value) bool { n++; return true })
		c.Return(n)
		return nil
	}},
	{Name: "test.text", Func: func(c *Call) error { c.Return(c.Text(1)); return nil }},
	{Name: "test.same", Func: func(c *Call) error { c.Return(c.Value(1)); return nil }},
	{Name: "test.nargs", Func: func(c *Call) error { c.Return(c.NArgs()); return nil }},
	{Name: "test.each", Func: func(c *Call) error {
		v, err := c.Thread().CallValue(c.Value(1), c.Value(2))
		c.Return(v)
		return err
	}},
	{Name: "test.fail", Func: func(c *Call) error { return errors.New("it is Monday") }},
	{Name: "test.panic", Func: func(c *Call) error { panic("secret of the house") }},
	{Name: "test.stop", Func: func(c *Call) error { c.Thread().Stop(errStop); return nil }},
	{Name: "test.list", Func: func(c *Call) error { c.Return([]string{"a", "b"}); return nil }},
	{Name: "test.nothing", Func: func(c *Call) error { return nil }},
	{Name: "test.range", Func: func(c *Call) error { c.Bad(1, "must be less than %d", 3); return nil }},
	{Name: "deep.er.verb", Func: func(c *Call) error { c.Return("deep"); return nil }},
}

func TestVerb(t *testing.T) {
	db := newDB(t)
	for _, c := range [][2]string{
		{`return test.upper ("a")`, "A!"},
		{`return test.upper (12, "?")`, "12?"},
		{`return test.upper (odb.text "ab")`, "AB!"},
		{`local a, b = test.add ("3") return a .. b`, "44"},
		{`return test.add (1.5, 2)`, "error: bad argument #1 to 'add' (number has no integer representation)"},
		{`local a, b = test.negate (false) return tostring (a and b)`, "true"},
		{`return test.negate (1)`, "error: bad argument #1 to 'negate' (boolean expected, got number)"},
		{`return test.count {1, 2, x = 3}`, "3"},
		{`return test.count (nil, {})`, "0"},
		{`return test.count ()`, "error: bad argument #2 to 'count' (table expected, got no value)"},
		{`return test.upper ()`, "error: bad argument #1 to 'upper' (string expected, got no value)"},
		{`return test.upper (nil)`, "error: bad argument #1 to 'upper' (string expected, got nil)"},
		{`return test.upper {}`, "error: bad argument #1 to 'upper' (string expected, got table)"},
		{`return test.upper (odb.date (0))`, "error: bad argument #1 to 'upper' (string expected, got date)"},
		{`return test.range (5)`, "error: bad argument #1 to 'range' (must be less than 3)"},
		{`return test.text (odb.date (0))`, "1970-01-01 00:00:00"},
		{`return test.nargs (nil, nil)`, "2"},
		{`return select ('#', test.nothing ())`, "0"},
		{`return test.list () [2]`, "b"},
		{`local t = {} return tostring (test.same (t) == t)`, "true"},
		{`return tostring (test.same (test.upper) == test.upper)`, "true"},
		{`return test.each (function (x) return x + 1 end, 2)`, "3"},
		{`return test.fail ()`, "error: test.fail: it is Monday"},
		{`return deep.er.verb ()`, "deep"},
		{`return system.verbs.builtins.test.upper ("x")`, "X!"},
		{`return SYSTEM.Verbs.Builtins.TEST.Upper ("x")`, "X!"},
		{`local s = "" for k in pairs (deep) do s = s .. k end return s`, "er"},
		{`return #system.verbs.builtins`, "2"},
		{`return tostring (system.verbs.builtins)`, "table: system.verbs.builtins"},
	} {
		source, want := c[0], c[1]
		within(t, db, ThreadOptions{}, func(th *Thread) {
			v, err := th.RunSource("test", source)
			got := ""
			if err != nil {
				var e *Error
				require.ErrorAs(t, err, &e)
				got = "error: " + e.Message
			} else if got, err = th.Text(v); err != nil {
				got = "text: " + err.Error()
			}
			assert.Equal(t, want, got, source)
		})
	}
}

func TestVerbPanicIsAnErrorOfOneRequest(t *testing.T) {
	db := newDB(t)
	e := fails(t, db, "\nreturn test.panic ()")
	assert.Equal(t, "test.panic: internal error", e.Message)
	assert.Equal(t, 2, e.Line)
	assert.NotContains(t, e.Error(), "secret")
	assert.Contains(t, e.Detail(), "secret of the house")
	assert.Contains(t, e.Detail(), "verb_test.go")
	assert.Equal(t, "test.panic: internal error",
		fails(t, db, "local ok, m = pcall (test.panic) return tostring (ok)").Message, "no pcall holds it")
}

func TestObjectWinsOverVerb(t *testing.T) {
	db := newDB(t)
	put(t, db, map[string]objectdb.Value{
		"system.verbs.builtins.test.upper": objectdb.Script("return 'mine'"),
		"system.verbs.builtins.test.extra": objectdb.Script("return 'extra'"),
	})
	assert.Equal(t, "mine extra A!", run(t, db, `
		local s = test.upper ("a") .. " " .. test.extra ()
		system.verbs.builtins.test.upper = nil
		return s .. " " .. test.upper ("a")`))
	assert.Equal(t, "list", run(t, db, `
		for name in pairs (test) do
			if name == "list" then return name end
		end`))
}

// A table that holds only verbs is like any other table of the root.
func TestTableOfVerbs(t *testing.T) {
	db := newDB(t)
	for _, c := range [][2]string{
		{`return test.upper ("a") .. test.Upper ("b") .. TEST.UPPER ("c")`, "A!B!C!"},
		{`return tostring (test.nope) .. tostring (test.__index) .. tostring (test [true])`, "nilnilnil"},
		{`return tostring (test) .. tostring (#test > 5)`, "table: system.verbs.builtins.testtrue"},
		{`return tostring (test == test) .. tostring (test == system.verbs.builtins.test)`, "truetrue"},
		{`return tostring (test [1] == test.add) .. tostring (test [1000])`, "truenil"},
		{`local t = test t.mine = 1 return t.mine .. test.mine .. t.upper ("a") .. test.UPPER ("b")`, "11A!B!"},
		{`local t = test test.upper = odb.script "return 'own'" return t.upper () .. test.upper ()`, "ownown"},
		{
			`local t, n = test, 0 for name, verb in pairs (t) do n = n + 1 assert (t [name] == verb) end return ` +
				`tostring (n == #t)`,
			"true",
		},
		{`return tostring (getmetatable (test)) .. tostring (rawequal (test.upper, test.Upper))`, "falsetrue"},
		{`return tostring (pcall (setmetatable, test, {}))`, "false"},
	} {
		source, want := c[0], c[1]
		assert.Equal(t, want, run(t, db, source), source)
	}
	assert.Equal(t, "attempt to call a missing object: system.verbs.builtins.test.nope",
		fails(t, db, "test.nope ()").Message)
	assert.Equal(t, "attempt to concatenate a table: system.verbs.builtins.test", fails(t, db, "return test .. 1").Message)
}

func TestNestedErrorKeepsItsPlace(t *testing.T) {
	db := newDB(t)
	put(t, db, map[string]objectdb.Value{"user.f": objectdb.Script("\n\nerror ('oops')")})
	e := fails(t, db, "return test.each (user.f)")
	assert.Equal(t, "oops", e.Message)
	assert.Equal(t, "user.f", e.Address.String())
	assert.Equal(t, 3, e.Line)
	assert.Equal(t, "error ('oops')", e.Source)
	assert.GreaterOrEqual(t, len(e.Frames), 2)
}

func TestTwoVerbsOfOneName(t *testing.T) {
	none := func(*Call) error { return nil }
	assert.Panics(t, func() { NewEngine([]Verb{{Name: "a.b", Func: none}, {Name: "A.B", Func: none}}) })
	assert.Panics(t, func() { NewEngine([]Verb{{Name: "a.b", Func: none}, {Name: "a.b.c", Func: none}}) })
}
