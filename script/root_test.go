package script

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/lua"
	"scripter/objectdb"
)

// site is a small root.
func site(t testing.TB) *objectdb.DB {
	t.Helper()
	db := newDB(t)
	put(t, db, map[string]objectdb.Value{
		"user.webserver.saveInterval": objectdb.Number(10),
		"user.webserver.flDebug":      objectdb.Boolean(false),
		`user.webserver.["odd.name"]`: objectdb.String("odd"),
		"user.page":                   objectdb.Text("<h1>Hello</h1>"),
		"user.notes":                  objectdb.Outline("a\n\tb"),
		"user.born":                   objectdb.Date{Time: time.Date(1998, 1, 24, 10, 30, 5, 0, time.UTC)},
		"user.logo":                   objectdb.Binary{Type: "image/gif", Data: "GIF89a"},
		"user.where":                  objectdb.Address{"user", "page"},
		"user.list": objectdb.List{
			objectdb.Number(1), objectdb.String("two"), objectdb.List{objectdb.Number(3)},
		},
		"user.empty":                       objectdb.List{},
		"suites.webserver.httpheader":      objectdb.Script("return 'HTTP/1.0 200 OK'"),
		"suites.webserver.macros.counter":  objectdb.Script("return 'count ' .. (... or '')"),
		"suites.broken":                    objectdb.Script("return = 1"),
		"scratchpad.fruit.apple":           objectdb.Number(1),
		"scratchpad.fruit.Banana":          objectdb.Number(2),
		"scratchpad.fruit.cherry":          objectdb.Number(3),
		"scratchpad.deep.er.still.further": objectdb.String("here"),
	})
	return db
}

func TestReadRoot(t *testing.T) {
	db := site(t)
	for _, c := range [][2]string{
		{`return user.webserver.saveInterval`, "10"},
		{`return USER.WebServer.SAVEINTERVAL`, "10"},
		{`return tostring (user.webserver.flDebug)`, "false"},
		{`return user.webserver ["odd.name"]`, "odd"},
		{`return user.page:upper ()`, "<H1>HELLO</H1>"},
		{`return "see " .. user.notes`, "see a\n\tb"},
		{`return user.born.year .. user.born.month`, "19981"},
		{`return tostring (user.born)`, "1998-01-24 10:30:05"},
		{`return "on " .. user.born`, "on 1998-01-24 10:30:05"},
		{`return user.logo.type .. #user.logo`, "image/gif6"},
		{`return user.logo.data`, "GIF89a"},
		{`return user.where ()`, "<h1>Hello</h1>"},
		{`return user.where:get ()`, "<h1>Hello</h1>"},
		{`return user.where.name`, "page"},
		{`return tostring (user.where.parent)`, "user"},
		{`return user.list [2] .. user.list [3] [1]`, "two3"},
		{`return #user.list`, "3"},
		{`return tostring (user.nothing)`, "nil"},
		{`return scratchpad.deep.er.still.further`, "here"},
		{`return suites.webserver.httpheader ()`, "HTTP/1.0 200 OK"},
		{`return webserver.httpheader ()`, "HTTP/1.0 200 OK"},
		{`return counter ("home")`, "count home"},
		{`return type (user) .. type (counter)`, "tablefunction"},
		{`return type (user.born)`, "userdata"},
		{`return #scratchpad.fruit`, "3"},
		{`return scratchpad.fruit [2]`, "2"},
		{`return tostring (scratchpad.fruit [4])`, "nil"},
		{`return tostring (scratchpad.fruit [0])`, "nil"},
		{`return tostring (scratchpad.fruit [1.5])`, "nil"},
		{`return tostring (user [true])`, "nil"},
		{`return tostring (user == USER)`, "true"},
		{`return tostring (user.webserver ~= webserver)`, "true"},
		{`local t = {} t [user] = 1 return t [USER]`, "1"},
		{`return tostring (webserver.httpheader == suites.webserver.httpheader)`, "true"},
		{`return tostring (user.webserver)`, "table: user.webserver"},
		{`return type (next (scratchpad))`, "string"},
		{`local s = "" for k, v in pairs (scratchpad.fruit) do s = s .. k .. v end return s`, "apple1Banana2cherry3"},
		{`local s = "" for i, v in ipairs (scratchpad.fruit) do s = s .. i .. v end return s`, "112233"},
		{
			`local s, k, v = "" repeat k, v = next (scratchpad.fruit, k) if k then s = s .. k end until not k return s`,
			"appleBananacherry",
		},
		{`for k in pairs (user.empty) do return k end return "none"`, "none"},
		{`return tostring (suites.broken ~= nil)`, "true"},
		{`local f = webserver.httpheader return f ()`, "HTTP/1.0 200 OK"},
		{`return tostring (rawget (_G, "user"))`, "nil"},
		{`local user = {name = "mine"} return user.name`, "mine"},
		{`user = {name = "global"} return user.name`, "global"},
		{`x = nil return tostring (x)`, "nil"},
		{`return (select ("#", pairs (user)))`, "3"},
	} {
		source, want := c[0], c[1]
		assert.Equal(t, want, run(t, db, source), source)
	}
}

func TestWriteRoot(t *testing.T) {
	db := site(t)
	for _, c := range [][2]string{
		{`user.x = 5 return user.x + 1`, "6"},
		{`user.webserver.saveInterval = 7 return user.webserver.saveInterval`, "7"},
		{`user.x = true user.x = nil return tostring (user.x)`, "nil"},
		{`user.webserver = nil return tostring (user.webserver)`, "nil"},
		{`user.t = {a = 1, B = {c = "x"}} return user.t.A .. user.t.b.C`, "1x"},
		{`user.t = {10, 20, {30}} return user.t [2] .. odb.kind "user.t"`, "20list"},
		{`user.t = {} return odb.kind "user.t" .. #user.t`, "table0"},
		{`user.t = odb.list () return odb.kind "user.t"`, "list"},
		{`user.empty = user.empty return odb.kind "user.empty"`, "list"},
		{`user.page = user.page .. "!" return odb.kind "user.page" .. user.page`, "text<h1>Hello</h1>!"},
		{`user.notes = "c" return odb.kind "user.notes"`, "outline"},
		{`user.x = odb.text "t" return odb.kind "user.x" .. user.x`, "textt"},
		{`user.t = {page = odb.text "t", list = {odb.text "u"}} return odb.kind "user.t.page"`, "text"},
		{`user.copy = scratchpad.fruit user.copy.apple = 9 return user.copy.apple .. scratchpad.fruit.apple`, "91"},
		{`user.fruit = {mine = scratchpad.fruit} return user.fruit.mine.cherry`, "3"},
		{`user.f = webserver.httpheader return user.f () .. odb.kind "user.f"`, "HTTP/1.0 200 OKscript"},
		{`user.f = odb.script "return 6 * ..." return user.f (7)`, "42"},
		{`scratchpad.deep = scratchpad.deep.er return scratchpad.deep.still.further`, "here"},
		{`scratchpad.deep.er.all = scratchpad.deep return scratchpad.deep.er.all.er.still.further`, "here"},
		{`scratchpad.fruit = scratchpad.fruit return #scratchpad.fruit`, "3"},
		{`scratchpad.fruit [2] = "b" return scratchpad.fruit.banana`, "b"},
		{
			`scratchpad.fruit.BANANA = 5 local s = "" for k in pairs (scratchpad.fruit) do s = s .. k end return s`,
			"appleBananacherry",
		},
		{`for k in pairs (scratchpad.fruit) do scratchpad.fruit [k] = nil end return #scratchpad.fruit`, "0"},
		{
			`for k in pairs (scratchpad.fruit) do scratchpad.fruit.cherry = nil scratchpad.fruit.zebra = 1 user.last ` +
				`= k end return user.last`,
			"Banana",
		},
		{`local k = next (scratchpad.fruit) scratchpad.fruit [k] = nil return (next (scratchpad.fruit, k))`, "Banana"},
		{`user.born = odb.date {year = 2000, month = 2, day = 29} return tostring (user.born)`, "2000-02-29 12:00:00"},
		{`user.t = {["a.b"] = 1} return user.t ["a.b"]`, "1"},
		{`user.n = 2^53 return user.n == 2^53 and "exact" or "lost"`, "exact"},
		{`local w = user.where user.x = w return tostring (user.x == w)`, "true"},
		{`suites.webserver.extra = odb.script "return 'new'" return webserver.extra ()`, "new"},
		{`local a = webserver suites.webserver = {other = 1} return webserver.other`, "1"},
	} {
		source, want := c[0], c[1]
		assert.Equal(t, want, run(t, db, source), source)
	}
}

func TestWriteIsCommitted(t *testing.T) {
	db := site(t)
	require.NoError(t, db.Update(context.Background(), func(tx *objectdb.Tx) error {
		th := NewEngine(nil).NewThread(context.Background(), ThreadOptions{Tx: tx})
		defer th.Close()
		_, err := th.RunSource("test", `user.made = {by = "me", n = {1, 2}} user.x = scratchpad user.x.fruit = nil`)
		return err
	}))
	require.NoError(t, db.View(context.Background(), func(tx *objectdb.Tx) error {
		v, err := tx.Get(address(t, "user.made.n"))
		assert.Equal(t, objectdb.List{objectdb.Number(1), objectdb.Number(2)}, v)
		return err
	}))
	problems, err := db.Check(context.Background())
	require.NoError(t, err)
	assert.Empty(t, problems)
}

func TestRootErrors(t *testing.T) {
	db := site(t)
	for _, c := range [][2]string{
		{`return user.nothing.x`, "attempt to index a missing object: user.nothing"},
		{`return user.webserver.nothing.x`, "attempt to index a missing object: user.webserver.nothing"},
		{`return webserver.nothing.x`, "attempt to index a missing object: suites.webserver.nothing"},
		{`return user ["odd.one"].x`, `attempt to index a missing object: user.["odd.one"]`},
		{`local h = "host" return user.visits [h]`, "attempt to index a missing object: user.visits"},
		{`local h = "host" return user [h].x`, "attempt to index a missing object: user.host"},
		{`local u = user return u.nothing.x`, "attempt to index a missing object: user.nothing"},
		{
			`local u = user return (function () return u.nothing.x end) ()`,
			"attempt to index a missing object: user.nothing",
		},
		{`user.nothing.x = 5`, "attempt to index a missing object: user.nothing"},
		{`user.nothing.x = user.webserver.saveInterval`, "attempt to index a missing object: user.nothing"},
		{
			`scratchpad.visits ["a"] = (scratchpad.visits ["a"] or 0) + 1`,
			"attempt to index a missing object: scratchpad.visits",
		},
		{`user.webserver.saveInterval.x = 1`, "attempt to index a number: user.webserver.saveInterval"},
		{`return user.webserver.flDebug.x`, "attempt to index a boolean: user.webserver.flDebug"},
		{`webserver.httpheader.x = 1`, "attempt to index a script: suites.webserver.httpheader"},
		{`return webserver.httpheader.x`, "attempt to index a script: suites.webserver.httpheader"},
		{`return webserver.nosuch ()`, "attempt to call a missing object: suites.webserver.nosuch"},
		{`webserver.nosuch (user.page)`, "attempt to call a missing object: suites.webserver.nosuch"},
		{`return user.webserver ()`, "attempt to call a table: user.webserver"},
		{`return user.webserver.saveInterval ()`, "attempt to call a number: user.webserver.saveInterval"},
		{`return user.count + 1`, "attempt to perform arithmetic on a missing object: user.count"},
		{`return 1 + user.count`, "attempt to perform arithmetic on a missing object: user.count"},
		{`return -user.count`, "attempt to perform arithmetic on a missing object: user.count"},
		{`return "a" .. user.nothing .. user.page`, "attempt to concatenate a missing object: user.nothing"},
		{`local a = {} return "a" .. a.b`, "attempt to concatenate field 'b' (a nil value)"},
		{`local n return n.x`, "attempt to index local 'n' (a nil value)"},
		{`local n = {} return n.a.b`, "attempt to index field 'a' (a nil value)"},
		{`return undefinedThing`, "undefined name: undefinedThing"},
		{`undefinedThing ()`, "undefined name: undefinedThing"},
		{`return (nil) ()`, "attempt to call a nil value"},
		{`user.f = function () end`, "set user.f: a function cannot be stored: odb.script (source) makes a script"},
		{`user.f = coroutine.create (function () end)`, "set user.f: a thread cannot be stored"},
		{`user.t = {a = 1, 2}`, "set user.t: a table with names and numbers is neither a table nor a list of the root"},
		{
			`user.t = {1, {a = 2, 3}}`,
			"set user.t.2: a table with names and numbers is neither a table nor a list of the root",
		},
		{`user.t = {1, {a = type}}`, "set user.t.2.a: a function cannot be stored: odb.script (source) makes a script"},
		{`user.t = {{["\255"] = 1}}`, `set user.t.1: the name "\xff" of a field is not UTF-8`},
		{`user.t = {{[true] = 1}}`, "set user.t.1: a name must be a string, not a boolean"},
		{`user.t = {system.verbs}`, "set user.t.1: a table of verbs cannot be copied"},
		{`local t = {} t [1] = {t} user.t = t`, ""}, // see below
		{`user.t = {[1] = 1, [3] = 3}`, "set user.t: a list needs the items 1 to 2, and [2] is missing"},
		{`user.t = {[true] = 1}`, "set user.t: a name must be a string, not a boolean"},
		{`user.t = {a = 1, A = 2}`, `set user.t.a: "A" and "a" are one name in the root`},
		{`user.t = {x = {f = print or type}}`, "undefined name: print; write (text) adds to the response"},
		{
			`user.t = {x = {f = type}}`,
			"set user.t.x.f: a function cannot be stored: odb.script (source) makes a script",
		},
		{`local t = {} t.t = t user.t = t`, ""}, // see below
		{
			`scratchpad.fruit [9] = 1`,
			"scratchpad.fruit has no cell [9]: a new one needs a name, or odb.append (scratchpad.fruit, value)",
		},
		{`user [true] = 1`, "a name in user must be a string, not a boolean"},
		{`user [""] = 1`, ""},
		{`user.born.year = 5`, "a date cannot be changed, only replaced"},
		{`return "a" .. user.webserver`, "attempt to concatenate a table: user.webserver"},
		{`suites.broken ()`, "unexpected symbol near '='"},
		{
			`return setmetatable (user, {})`,
			"bad argument #1 to 'setmetatable' (table expected, got the table user of the root; pairs, next, # and " +
				"assignment work on it, and odb)",
		},
		{
			`table.insert (user.webserver, 1)`,
			"bad argument #1 to 'insert' (table expected, got the table user.webserver of the root; pairs, next, # " +
				"and assignment work on it, and odb)",
		},
		{
			`table.sort (scratchpad.fruit)`,
			"bad argument #1 to 'sort' (table expected, got the table scratchpad.fruit of the root; pairs, next, # " +
				"and assignment work on it, and odb)",
		},
	} {
		source, want := c[0], c[1]
		e := fails(t, db, source)
		switch {
		case want != "":
			assert.Equal(t, want, e.Message, source)
		default:
			assert.Contains(t, e.Message, "user", source)
		}
		assert.NotZero(t, e.Line, source)
	}
}

func TestErrorTellsPlaceAndFrames(t *testing.T) {
	db := newDB(t)
	put(t, db, map[string]objectdb.Value{
		"user.outer": objectdb.Script("local x = 1\nreturn user.inner (x) .. ''"),
		"user.inner": objectdb.Script("-- a comment\n\n  return user.missing.cell"),
	})
	within(t, db, ThreadOptions{}, func(th *Thread) {
		_, err := th.Run(address(t, "user.outer"))
		var e *Error
		require.ErrorAs(t, err, &e)
		assert.Equal(t, "attempt to index a missing object: user.missing", e.Message)
		assert.Equal(t, objectdb.Address{"user", "inner"}, e.Address)
		assert.Equal(t, "user.inner", e.Name)
		assert.Equal(t, 3, e.Line)
		assert.Equal(t, "  return user.missing.cell", e.Source)
		assert.EqualError(t, e, "user.inner:3: attempt to index a missing object: user.missing")
		require.Len(t, e.Frames, 2)
		assert.Equal(t, "user.outer", e.Frames[1].Source)
		assert.Equal(t, 2, e.Frames[1].Line)
	})
}

func TestSyntaxErrorTellsPlace(t *testing.T) {
	db := newDB(t)
	put(t, db, map[string]objectdb.Value{"user.bad": objectdb.Script("local a = 1\nlocal b = = 2\nreturn a")})
	within(t, db, ThreadOptions{}, func(th *Thread) {
		_, err := th.Run(address(t, "user.bad"))
		var e *Error
		require.ErrorAs(t, err, &e)
		assert.Equal(t, "user.bad", e.Address.String())
		assert.Equal(t, 2, e.Line)
		assert.Equal(t, "local b = = 2", e.Source)
		var s *lua.SyntaxError
		assert.ErrorAs(t, err, &s)

		_, err = th.RunSource("typed", "return 1 +")
		require.ErrorAs(t, err, &e)
		assert.Equal(t, "typed", e.Name)
		assert.Nil(t, e.Address)
	})
}

func TestReadOnly(t *testing.T) {
	db := site(t)
	require.NoError(t, db.View(context.Background(), func(tx *objectdb.Tx) error {
		th := NewEngine(nil).NewThread(context.Background(), ThreadOptions{Tx: tx})
		defer th.Close()
		_, err := th.RunSource("test", "user.x = 1")
		assert.ErrorIs(t, err, objectdb.ErrReadOnly)
		v, err := th.RunSource("test", "local ok, m = pcall (function () user.x = 1 end) return m")
		require.NoError(t, err)
		assert.Equal(t, "test:1: set user.x: root may only be read", v)
		return nil
	}))
}

func BenchmarkHello(b *testing.B) {
	db := newDB(b)
	put(b, db, map[string]objectdb.Value{
		"user.name":                   objectdb.String("Ada"),
		"suites.webserver.httpheader": objectdb.Script("return 'HTTP/1.0 200 OK\\r\\n\\r\\n'"),
		"suites.webserverScripts.hello": objectdb.Script(`local params = ...
local name = params.name
if not name then
	name = user.name
end
local page = "<html><body>"
page = page .. "<h1>Hello " .. name .. "</h1>"
for i = 1, 3 do page = page .. i end
return webserver.httpheader () .. page .. "</body></html>"
`),
	})
	at := objectdb.Address{"suites", "webserverScripts", "hello"}
	engine := NewEngine(nil)
	require.NoError(b, db.View(context.Background(), func(tx *objectdb.Tx) error {
		b.ReportAllocs()
		for b.Loop() {
			params := NewTable()
			params.Set("method", "GET")
			params.Set("referer", "")
			t := engine.NewThread(context.Background(), ThreadOptions{Tx: tx, Names: params})
			if _, err := t.Run(at, params); err != nil {
				b.Fatal(err)
			}
			t.Close()
		}
		return nil
	}))
}

// Errors about operands that are not of the root have the same text as in PUC Lua.
func TestOperandsAreNamed(t *testing.T) {
	db := site(t)
	for source, want := range map[string]string{
		`local t t.x = 1`:                   "attempt to index local 't' (a nil value)",
		`local h h:read ()`:                 "attempt to index local 'h' (a nil value)",
		`local t = {} t.a.b = 1`:            "attempt to index field 'a' (a nil value)",
		`local t = {} t.a:b ()`:             "attempt to index field 'a' (a nil value)",
		`local t = {} t:b ()`:               "attempt to call method 'b' (a nil value)",
		`local f = function () end f.x = 1`: "attempt to index local 'f' (a function value)",
		`local n = 5 n:foo ()`:              "attempt to index local 'n' (a number value)",
		`local a, b = {} b [a] = 1`:         "attempt to index local 'b' (a nil value)",
	} {
		assert.Equal(t, want, fails(t, db, source).Message, source)
	}
}
