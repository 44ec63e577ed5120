package script

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
)

func TestOrderOfNames(t *testing.T) {
	db := site(t)
	put(t, db, map[string]objectdb.Value{
		"string.upper":               objectdb.String("not this one"),
		"referer.x":                  objectdb.String("root"),
		"suites.test":                objectdb.String("suites before verbs"),
		"apps.inApps":                objectdb.String("apps"),
		"suites.webserver.macros.of": objectdb.String("macro"),
	})
	for source, want := range map[string]string{
		`return string.upper ("a")`: "A",
		`return String.upper`:       "not this one", // exact case for libraries
		`return referer`:            "http://a/",
		`return REFERER`:            "http://a/",
		`return test`:               "suites before verbs",
		`return system.verbs.builtins.test.upper ("a")`:             "A!",
		`return inapps .. of`:                                       "appsmacro",
		`referer = "mine" return referer`:                           "mine",
		`local referer = "local" return referer`:                    "local",
		`string = {upper = "global"} return string.upper`:           "global",
		`return tostring (rawget (_G, "referer"))`:                  "nil",
		`webserver = 1 webserver = nil return tostring (webserver)`: "nil",
		`for name in pairs (_G) do end return type (suites)`:        "table",
		`next (_G) return type (suites)`:                            "table",
		`return rawget (_G, "type") (suites)`:                       "table",
	} {
		names := NewTable()
		names.Set("referer", "http://a/")
		within(t, db, ThreadOptions{Names: names}, func(th *Thread) {
			v, err := th.RunSource("test", source)
			require.NoError(t, err, source)
			assert.Equal(t, want, v, source)
		})
	}
}

func TestSystemPaths(t *testing.T) {
	for name, paths := range map[string]map[string]objectdb.Value{
		"table": {
			"system.paths.a": objectdb.Address{"user", "second"},
			"system.paths.b": objectdb.String("user.first"),
		},
		"list": {"system.paths": objectdb.List{objectdb.Address{"user", "nowhere"},
			objectdb.Address{"user", "second"}, objectdb.String("user.first")}},
	} {
		t.Run(name, func(t *testing.T) {
			db := newDB(t)
			put(t, db, map[string]objectdb.Value{
				"user.first.x":  objectdb.String("1"),
				"user.first.y":  objectdb.String("1"),
				"user.second.x": objectdb.String("2"),
				"suites.z":      objectdb.String("z"),
			})
			put(t, db, paths)
			assert.Equal(t, "21", run(t, db, "return x .. y"))
			assert.Equal(t, "undefined name: z", fails(t, db, "return z").Message)
		})
	}
}

func TestPathsMayChangeWithinARun(t *testing.T) {
	db := site(t)
	put(t, db, map[string]objectdb.Value{
		"user.other.tool": objectdb.Script("return 'other'"),
		"apps.tool":       objectdb.Script("return 'apps'"),
	})
	for source, want := range map[string]string{
		`local s = tool () system.paths = {odb.address "user.other"} return s .. tool ()`:            "appsother",
		`local s = tool () odb.delete "apps.tool" suites.tool = {n = 1} return s .. tool.n`:          "apps1",
		`local s = tool () suites.webserver.macros.tool = odb.script "return 2" return s .. tool ()`: "apps2",
		`local s = tool () odb.move ("user.other", "tool") return s .. tool.tool ()`:                 "appsother",
	} {
		assert.Equal(t, want, run(t, db, source), source)
	}
}

// A name that was used a few times is found without a search; it is still
// searched for when what it leads to may be another thing.
func TestNamesUsedAgainMayChangeWithinARun(t *testing.T) {
	db := site(t)
	put(t, db, map[string]objectdb.Value{
		"user.other.tool": objectdb.Script("return 'other'"),
		"apps.tool":       objectdb.Script("return 'apps'"),
	})
	const before = `local s = "" for i = 1, 4 do s = tool () .. test.upper (i) .. " " end `
	const after = ` for i = 1, 4 do s = s .. tostring (tool and tool ()) end return s`
	for change, want := range map[string]string{
		`apps.tool = odb.script "return 'new'"`:                           "newnewnewnew",
		`suites.tool = odb.script "return 'near'"`:                        "nearnearnearnear",
		`suites.webserver.macros.tool = odb.script "return 'macro'"`:      "macromacromacromacro",
		`odb.move ("user.other.tool", "tool")`:                            "otherotherotherother",
		`system.paths = {odb.address "user.other"}`:                       "otherotherotherother",
		`tool = function () return "own" end`:                             "ownownownown",
		`_G.tool = function () return "own" end`:                          "ownownownown",
		`tool = 1 tool = nil`:                                             "nilnilnilnil",
		`rawset (_G, "tool", function () return "raw" end)`:               "rawrawrawraw",
		`apps.tool = nil test.tool = odb.script "return 1" tool = nil`:    "nilnilnilnil",
		`assert (rawget (_G, "tool") == nil and next (_G) ~= "tool")`:     "appsappsappsapps",
		`for name in pairs (_G) do assert (name ~= "tool") end`:           "appsappsappsapps",
		`assert (_G.tool == tool and _G.TOOL == tool)`:                    "appsappsappsapps",
		`assert (not pcall (setmetatable, _G, {}))`:                       "appsappsappsapps",
		`assert (getmetatable (_G) == nil)`:                               "appsappsappsapps",
		`coroutine.wrap (function () for i = 1, 3 do tool () end end) ()`: "appsappsappsapps",
		`pcall (function () for i = 1, 3 do tool () end error () end)`:    "appsappsappsapps",
	} {
		assert.Equal(t, "apps4! "+want, run(t, db, before+change+after), change)
	}
	assert.Equal(t, "apps4! appsappsappsapps", run(t, db, before+after), "what other runs have changed is gone")
	assert.Equal(t, "undefined name: tools", fails(t, db, before+"return tools").Message)
	assert.Equal(t, "undefined name: __index", fails(t, db, before+"return __index").Message)
	assert.Equal(t, "undefined name: __newindex", fails(t, db, before+"return __newindex").Message)
}

// What a run knows is gone with it, also where another root, other verbs or a
// script's own table had the name.
func TestNamesKnownToARunAreItsOwn(t *testing.T) {
	with, without := site(t), newDB(t)
	require.Equal(t, "nil", run(t, without, `own = nil return tostring (own)`))
	put(t, with, map[string]objectdb.Value{"apps.tool": objectdb.Script("return 'apps'"),
		"apps.own.x": objectdb.String("of the root")})
	for range 100 {
		require.Equal(t, "apps of the root", run(t, with, `tool () return tool () .. " " .. own.x`))
		require.Equal(t, "undefined name: tool", fails(t, without, "return tool").Message)
	}
}

// What a run has found is read by it: another's change of it is a conflict.
func TestNamesUsedAgainConflict(t *testing.T) {
	db := site(t)
	put(t, db, map[string]objectdb.Value{"apps.tool": objectdb.Script("return 'apps'")})
	runs, text := 0, ""
	require.NoError(t, db.Update(t.Context(), func(tx *objectdb.Tx) error {
		runs++
		th := NewEngine(testVerbs).NewThread(t.Context(), ThreadOptions{Tx: tx})
		defer th.Close()
		v, err := th.RunSource("test", `local s for i = 1, 4 do s = tool () end scratchpad.n = s return s`)
		if runs == 1 {
			put(t, db, map[string]objectdb.Value{"suites.tool": objectdb.Script("return 'suites'")})
		}
		text, _ = v.(string)
		return err
	}))
	assert.Equal(t, 2, runs)
	assert.Equal(t, "suites", text)
}

func TestResolve(t *testing.T) {
	db := site(t)
	put(t, db, map[string]objectdb.Value{"user.greeting": objectdb.String("hi"), "method.x": objectdb.String("root")})
	names := NewTable()
	names.Set("referer", "http://a/")
	names.Set("counter", "from the request")
	names.Set("method", "GET")
	args := NewTable()
	args.Set("who", "me")
	names.Set("argTable", args)
	within(t, db, ThreadOptions{Names: names}, func(th *Thread) {
		_, err := th.RunSource("test",
			`title = "of the run" method = "of the run" page = {title = "hidden"} function helper () end`)
		require.NoError(t, err)
		for _, c := range []struct {
			path    []string
			want    string
			origin  Origin
			address string
		}{
			{[]string{"user", "greeting"}, "hi", FromRoot, "user.greeting"},
			{[]string{"User", "Greeting"}, "hi", FromRoot, "user.Greeting"},
			{[]string{"REFERER"}, "http://a/", FromRequest, ""},
			{[]string{"argtable", "WHO"}, "me", FromRequest, ""},
			{[]string{"method"}, "GET", FromRequest, ""},
			{[]string{"method", "x"}, "", FromRoot, ""},
			{[]string{"nothing"}, "", FromRoot, ""},
			{[]string{"user", "nothing"}, "", FromRoot, ""},
			{[]string{"user", "greeting", "more"}, "", FromRoot, ""},
			{[]string{"user", "webserver", "odd.name"}, "odd", FromRoot, `user.webserver.["odd.name"]`},
			{[]string{"math", "huge"}, "inf", FromLua, ""},
			{[]string{"title"}, "of the run", FromRun, ""},
			{[]string{"method"}, "GET", FromRequest, ""},
			{[]string{"page", "title"}, "", FromRoot, ""},
			{[]string{"helper"}, "", FromRoot, ""},
		} {
			m, err := th.Resolve(c.path)
			require.NoError(t, err)
			got, err := th.Text(m.Value)
			require.NoError(t, err)
			assert.Equal(t, c.want, got, c.path)
			assert.Equal(t, c.origin, m.Origin, c.path)
			assert.Equal(t, c.want != "", m.Found, c.path)
			assert.Equal(t, c.address, m.Address.String(), c.path)
		}

		m, err := th.Resolve([]string{"counter"})
		require.NoError(t, err)
		assert.True(t, m.Found && m.Origin == FromRoot, "a macro comes before the request")
		require.IsType(t, &Object{}, m.Value)
		assert.Equal(t, "suites.webserver.macros.counter", m.Address.String())
		v, err := th.CallValue(m.Value, "home")
		require.NoError(t, err)
		assert.Equal(t, "count home", v)

		m, err = th.Resolve([]string{"test", "upper"})
		require.NoError(t, err)
		require.True(t, m.Found)
		v, err = th.CallValue(m.Value, "a")
		require.NoError(t, err)
		assert.Equal(t, "A!", v)
	})
}

func TestRequire(t *testing.T) {
	db := newDB(t)
	put(t, db, map[string]objectdb.Value{
		"suites.lib.tools": objectdb.Script(`user.loads = (user.loads or 0) + 1 return {name = ...}`),
		"suites.lib.none":  objectdb.Script(``),
		"suites.lib.self":  objectdb.Script(`return require "lib.self"`),
		"suites.lib.bad":   objectdb.Script(`error ("no good", 0)`),
		"user.loads":       objectdb.Number(0),
	})
	assert.Equal(t, "lib.tools1",
		run(t, db, `local a = require "lib.tools" local b = require "suites.lib.TOOLS" return b.name .. user.loads`))
	assert.Equal(t, "true",
		run(t, db, `tools = require "lib.tools" lib = {} return tostring (tools == require "lib.tools")`))
	assert.Equal(t, "true", run(t, db, `return tostring (require "lib.none")`))
	assert.Contains(t, fails(t, db, `require "lib.self"`).Message, "the script requires itself")
	assert.Equal(t, `require "no.such": no script has this name`, fails(t, db, `require "no.such"`).Message)
	assert.Equal(t, "no good", fails(t, db, `pcall (require, "lib.bad") require "lib.bad"`).Message)
}

// Names that people know from elsewhere: the message says what there is here.
func TestNamesFromElsewhere(t *testing.T) {
	db := site(t)
	for source, want := range map[string]string{
		`print ("x")`:              "undefined name: print; write (text) adds to the response",
		`return io.open ("x")`:     "undefined name: io; scripts have no files: data lies in the root",
		`return params.argTable.x`: "undefined name: params; local params = ... in the first line gets the parameters",
	} {
		assert.Equal(t, want, fails(t, db, source).Message)
	}
	assert.Equal(t, "5", run(t, db, "print = 5 return tostring (print)"), "a script may have such a global of its own")
}
