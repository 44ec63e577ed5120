package script

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
)

// TestRootInLua goes through what scripts are promised of the root, sentence by
// sentence.
func TestRootInLua(t *testing.T) {
	db := newDB(t)
	put(t, db, map[string]objectdb.Value{
		"user.saveInterval":         objectdb.Number(5),
		"user.referer":              objectdb.String("a cell"),
		"referer":                   objectdb.String("of the root"),
		"string":                    objectdb.String("of the root"),
		"scratchpad.visits.host":    objectdb.Number(2),
		"suites.twice":              objectdb.String("suites"),
		"suites.webserver.head":     objectdb.Script("return 'head ' .. tostring (...)"),
		"suites.webserver.macros.m": objectdb.String("macro"),
		"apps.twice":                objectdb.String("apps"),
		"apps.only":                 objectdb.String("apps"),
		"user.lib":                  objectdb.Script("scratchpad.loads = (scratchpad.loads or 0) + 1\nreturn {name = ...}"),
		"user.list":                 objectdb.List{objectdb.Number(3), objectdb.Number(1)},
	})
	names := NewTable()
	names.Set("referer", "of the request")
	for _, c := range []struct{ sentence, source, want string }{
		{"the root is seen as Lua tables", `user.saveInterval = 6 return user.saveInterval`, "6"},
		{
			"a cell by a name in a variable",
			`local host = "host" scratchpad.visits [host] = scratchpad.visits [host] + 1 return scratchpad.visits.host`,
			"3",
		},
		{"locals come first", `local user = {saveInterval = "local"} return user.saveInterval`, "local"},
		{"then globals assigned in this run", `referer = "global" return referer`, "global"},
		{"then Lua's libraries", `return type (string)`, "table"},
		{"in exact case", `return String`, "of the root"},
		{"then names of the request", `return referer`, "of the request"},
		{"in any case", `return REFERER`, "of the request"},
		{"then the root's top tables, in any case", `return USER.SaveInterval`, "5"},
		{"then the tables of system.paths, in their order", `return twice .. only`, "suitesapps"},
		{"the macros among them", `return m`, "macro"},
		{"the verbs among them", `return test.upper ("x")`, "X!"},
		{"verbs lie at system.verbs.builtins", `return system.verbs.builtins.test.upper ("x")`, "X!"},
		{"a bare assignment makes a global of the run", `user = 5 return odb.kind ("user") .. user`, "table5"},
		{"a script is called like a function", `return webserver.head (1)`, "head 1"},
		{"a table with names makes a table", `user.t = {a = {b = 1}} return odb.kind ("user.t") .. user.t.a.b`, "table1"},
		{"one of 1..n makes a list", `user.t = {1, 2} return odb.kind ("user.t")`, "list"},
		{"nil deletes", `user.saveInterval = nil return tostring (odb.defined ("user.saveInterval"))`, "false"},
		{"a missing cell is nil", `return tostring (user.nothing)`, "nil"},
		{"rawget (_G, name) asks without an error", `return tostring (rawget (_G, "nothing"))`, "nil"},
		{
			"require runs a script once, with its name",
			`return require ("user.lib").name .. tostring (require ("user.lib") == require ("USER.LIB")) .. scratchpad.loads`,
			"user.libtrue1",
		},
		{
			"a list that was read is the list itself",
			`local l = user.list table.insert (l, 2) table.sort (l) return table.concat (user.list, " ")`,
			"1 2 3",
		},
		{"and may be assigned back", `local l = user.list table.insert (l, 2) user.list = l return #user.list`, "3"},
		{"a copy is odb.list", `local l = odb.list (unpack (user.list)) table.insert (l, 2) return #l .. #user.list`, "32"},
		{
			"iteration is in the order of the names",
			`local s = "" for n in pairs (suites.webserver) do s = s .. n .. " " end return s`,
			"head macros ",
		},
	} {
		within(t, db, ThreadOptions{Names: names}, func(th *Thread) {
			v, err := th.RunSource("test", c.source)
			require.NoError(t, err, c.sentence)
			text, err := th.Text(v)
			require.NoError(t, err, c.sentence)
			assert.Equal(t, c.want, text, c.sentence)
		})
	}
	for source, want := range map[string]string{
		`return user.nothing.more`:        "attempt to index a missing object: user.nothing",
		`user.nothing.more = 1`:           "attempt to index a missing object: user.nothing",
		`return nothing`:                  "undefined name: nothing",
		`return require ("user.nothing")`: `require "user.nothing": no script has this name`,
	} {
		assert.Equal(t, want, fails(t, db, source).Message, source)
	}
}

// TestRunsAreAlone: what one run assigns to bare names, another does not see.
func TestRunsAreAlone(t *testing.T) {
	db := newDB(t)
	within(t, db, ThreadOptions{}, func(th *Thread) {
		_, err := th.RunSource("one", `left = 1 string.left = 2 getmetatable ("x")`)
		require.NoError(t, err)
	})
	within(t, db, ThreadOptions{}, func(th *Thread) {
		v, err := th.RunSource("two", `return tostring (rawget (_G, "left")) .. tostring (string.left)`)
		require.NoError(t, err)
		assert.Equal(t, "nilnil", v)
	})
}

// TestODBIsComplete: the functions that the design lists.
func TestODBIsComplete(t *testing.T) {
	for _, name := range []string{"get", "set", "defined", "delete", "kind", "size", "name", "parent", "pairs", "move",
		"copy", "rename", "text", "script", "date", "binary", "address"} {
		assert.Contains(t, odbFunctions, name)
	}
}
