package lint

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
	"scripter/script"
)

func TestLint(t *testing.T) {
	db := newDB(t, map[string]objectdb.Value{
		"user.name": objectdb.String(""), "suites.webserver.httpheader": objectdb.Script("return 'HTTP/1.0 200 OK'"),
		"scratchpad.fruit.apple": objectdb.Number(1), "scratchpad.fruit.Banana": objectdb.Number(2),
		"scratchpad.fruit.cherry": objectdb.Number(3),
		"user.log.1":              objectdb.String("a"), "user.log.2": objectdb.String("b"),
		`suites.rocks.lib.modules.["lib.mod"]`: objectdb.Script("return 1"),
		"user.log.10":                          objectdb.String("j"), "user.log.11": objectdb.String("k"),
	})
	names := script.NewTable()
	names.Set("scriptName", "/x.fcgi")
	for source, want := range map[string][]string{
		"return user.name, USER, webserver.httpheader (), scriptname, SCRIPTNAME": nil,
		"x = 1 return x":               nil,
		"function f () return f end":   nil,
		"_G.y = 1 return y":            nil,
		"rawset (_G, 'z', 1) return z": nil,
		"return print ('x')": {
			"1:8: undefined name: print; write (text) adds to the response"},
		"return strng.rep ('x', 3)": {"1:8: undefined name: strng; did you mean string?"},
		"return usr.name":           {"1:8: undefined name: usr; did you mean user?"},
		"local ä = 1":               {"1:7: '<name>' expected near 'ä'"},
		"return 'ä', nme, nme":      {"1:13: undefined name: nme", "1:18: undefined name: nme"},
		"return string.foo, String": {
			"1:15: string has no foo", "1:20: undefined name: String; did you mean string?"},
		"return string.upr ('x')":                      {"1:15: string has no upr; did you mean upper?"},
		"function string.foo () end return string.foo": nil,
		"return odb.gett ('x')":                        {"1:12: odb has no gett; did you mean get?"},
		"return test.uper ('x')": {
			"1:13: system.verbs.builtins.test has no uper; did you mean upper?"},
		"local f = test.uper return f": {
			"1:16: system.verbs.builtins.test has no uper; did you mean upper?"},
		"return test:uper ()": {
			"1:13: system.verbs.builtins.test has no uper; did you mean upper?"},
		"return webserver.httpHeadr ()": {
			"1:18: suites.webserver has no httpHeadr; did you mean httpheader?"},
		"return webserver.nothingLikeIt":                   nil, // a missing cell is nil
		"webserver.made = odb.script '' webserver.made ()": nil,
		"local a = 1":                                           {"1:7: nothing reads the local a"},
		"local a = 1 a = 2":                                     {"1:7: nothing reads the local a"},
		"local a = {} a.x = 1":                                  nil,
		"local ok, e = pcall (type, 1) return e":                nil,
		"local ok, e = pcall (type, 1) return ok":               {"1:11: nothing reads the local e"},
		"local _ = 1 local _why = 2":                            nil,
		"local function f () end":                               {"1:16: nothing reads the local f"},
		"for i = 1, 2 do local i = i end":                       {"1:23: nothing reads the local i"},
		"for k, v in pairs ({}) do end return function (a) end": nil,
		"repeat local done = true until done":                   nil,
		"local p = ...\nif p then\n\tlocal q\nend":              {"3:8: nothing reads the local q"},
		"local x local x return x":                              {"1:7: nothing reads the local x"},
		"return 'a <!--#b--> c'": {
			"1:8: a marker in a string stays as it is in a response: webserver.processMacros (text) replaces it"},
		"return user.log [3], user.log ['3'], scratchpad.fruit [2]": {
			`1:18: user.log [3] is a position, where the record "11" is: write user.log ["3"] for the name, or ` +
				`odb.nth (user.log, 3) for the position`},
		"user.log [9] = 1": {
			`1:11: user.log [9] is a position, where no record is, and this table has numbers for names, such as "1": ` +
				`write user.log ["9"] for the name`},
		"for i = 1, #user.log do user.log [i] = 1 end": {
			`1:35: a number is a position in user.log, which has numbers for names, such as "1": write odb.nth ` +
				`(user.log, i) for a position, or [tostring (i)] for a name`},
		"local user = {log = {}} return user.log [3]":                                  nil,
		"user.log = {} return user.log [3]":                                            nil,
		"local i = user.key return user.log [i], scratchpad.fruit [#scratchpad.fruit]": nil,
		"return webserver.processMacros ('<!--#b-->')": {
			"1:18: suites.webserver has no processMacros"},
		"return ('<!--#b-->'):len () -- lint: ok": nil,
		"return require 'string', require 'lib.mod', require ('webserver.httpheader'), require (nme)": {
			"1:88: undefined name: nme"},
		"local r = require 'none' return pcall (require, 'none'), r": {"1:19: no script and no rock is called none"},
		"local s = [[a\n<!--#b-->]]\r\nreturn s .. nme": {
			"1:11: a marker in a string stays as it is in a response: webserver.processMacros (text) replaces it",
			"3:13: undefined name: nme"},
		"x =\n\n = 1": {"3:2: unexpected symbol near '='"},
		"return {nme, [nme] = nme, a = nme}": {"1:9: undefined name: nme", "1:15: undefined name: nme",
			"1:22: undefined name: nme", "1:31: undefined name: nme"},
		"return -nme + 1 .. (not nme)": {
			"1:9: undefined name: nme", "1:25: undefined name: nme"},
		"local t = {} function t:m () return self, nme end return t": {"1:43: undefined name: nme"},
		"user.x, user [nme] = 1, 2":                                  {"1:15: undefined name: nme"},
		"nme ()\nlocal a = nme\n  .x return a": {
			"1:1: undefined name: nme", "2:11: undefined name: nme"},
	} {
		within(t, db, names, func(th *script.Thread) {
			found, err := Script(th, "user.s", source)
			require.NoError(t, err, source)
			var got []string
			for _, f := range found {
				assert.Equal(t, "user.s", f.Name)
				got = append(got, strings.TrimPrefix(f.String(), "user.s:"))
			}
			assert.Equal(t, want, got, source)
		})
	}
}

// TestLintRunsNothing: no script is run and nothing is written.
func TestLintRunsNothing(t *testing.T) {
	db := newDB(t, map[string]objectdb.Value{"suites.webserver.httpheader": objectdb.Script("user.y = 1")})
	within(t, db, nil, func(th *script.Thread) {
		_, err := Script(th, "user.s", `user.x = 1 webserver.httpheader () test.panic ()`)
		require.NoError(t, err)
		assert.False(t, th.Tx().Written())
	})
}

func TestDistance(t *testing.T) {
	for pair, want := range map[[2]string]int{
		{"", ""}: 0, {"abc", "abc"}: 0, {"abc", "acb"}: 1, {"abc", "ab"}: 1, {"abc", "xabc"}: 1, {"abc", "xyz"}: 3,
		{"a", "abcdefgh"}: 99,
	} {
		assert.Equal(t, want, distance(pair[0], pair[1]), pair)
	}
}

func TestNearest(t *testing.T) {
	known := []string{"xml", "html", "text", "records"}
	for name, want := range map[string]string{
		"nme": "", "htm": "html", "txt": "text", "hmtl": "html", "recrods": "records", "reocrd": "records", "x": "", "": "",
	} {
		assert.Equal(t, want, Nearest(name, known), name)
	}
}

var anyLineEnd = regexp.MustCompile("\r\n|\n\r|\r|\n")

func FuzzLint(f *testing.F) {
	for _, s := range []string{
		"return user.x", "local a, b = 1\nfor k in pairs (user) do end", "x = [==[\r\n]==] y = 'a\\\n' -- lint: ok",
		"a.b:c ('<!--#d-->')", "f\n(g)", "return 1e+5 .. 0x1p",
	} {
		f.Add(s)
	}
	db := newDB(f, map[string]objectdb.Value{"user.x": objectdb.Number(1)})
	f.Fuzz(func(t *testing.T, source string) {
		within(t, db, nil, func(th *script.Thread) {
			found, err := Script(th, "user.s", source)
			require.NoError(t, err, "what compiles can be taken apart")
			lines := len(anyLineEnd.FindAllString(source, -1))
			for _, f := range found {
				assert.GreaterOrEqual(t, f.Line, 1)
				assert.LessOrEqual(t, f.Line, lines+1)
			}
		})
	})
}
