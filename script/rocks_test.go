package script

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
)

// rockModules are modules of two rocks, written as rocks are.
var rockModules = map[string]map[string]string{
	"one": {
		"one":          `local M = {} M.n = 0 function M.raise () M.n = M.n + 1 return M.n end return M`,
		"one.sub.init": `return "sub of " .. ...`,
		"one.sub":      `return "beside a folder"`,
		"folder.init":  `return {name = ...}`,
		"a-b":          `return "odd name"`,
		"optional":     `return tostring (bit or jit or undefinedName) .. type (bit or require "bit")`,
		"loop":         `return require "loop"`,
		"fails":        `error "broken"`,
		"false":        `package.loaded ["false"] = 7`,
		"long":         `local x = "` + strings.Repeat("x", 300<<10) + `" return #x`,
		"globals": `json = {encode = function () return "mine" end} user = "mine"
			shared = (shared or 0) + 1 return json.encode ()`,
		"old": `module ("old.name", package.seeall)
			function hello () return _NAME .. type (string) .. tostring (hi) end`,
		"env": `local f = function () return here end setfenv (f, {here = "set"}) return f () .. tostring (getfenv (f).here) ..
			load ("return here", "x", "t", {here = "load"}) () ..
			tostring (loadstring "shared2 = 1 return shared2" ()) .. shared2`,
		"seen": `local t = {}
			for _, n in ipairs {"user", "webserver", "json", "odb", "clock"} do t [#t + 1] = type (_G [n]) end return table.concat (t, " ")`,
		"bits": `local b, c = require "bit32", require "bit" return b.band (0xFF, 0x0F) .. " " .. b.lshift (1, 31) .. " " .. c.lshift (1, 31) .. " " ..
			b.bnot (0) .. " " .. c.tohex (-1) .. " " .. b.extract (0xABCD, 4, 8) .. " " .. b.rrotate (1, 1) .. " " .. c.arshift (-8, 1) .. tostring (b.btest (1, 2))`,
		"strict": `local mt = getmetatable (_G) assert (mt == nil) setmetatable (_G, {__index = function (_, n) error ("undeclared " .. n, 2) end})
			return select (2, pcall (function () return nope end))`,
		"call": `local f, arg = ... return function (g, ...) return g (...) end`,
	},
	"two": {"two": `local M = require "one" return {raise = M.raise, missing = select (2, pcall (require, "lpeg"))}`},
}

// updateRoot commits what fn writes.
func updateRoot(t testing.TB, db *objectdb.DB, fn func(tx *objectdb.Tx)) {
	require.NoError(t, db.Update(context.Background(), func(tx *objectdb.Tx) error { fn(tx); return nil }))
}

// TestRocks runs each expression in a run of its own.
func TestRocks(t *testing.T) {
	db := newDB(t)
	updateRoot(t, db, func(tx *objectdb.Tx) {
		for rock, modules := range rockModules {
			for name, source := range modules {
				require.NoError(t, tx.Put(Rocks.Child(rock).Child("modules").Child(name), objectdb.Script(source)))
			}
		}
		require.NoError(t, tx.Put(objectdb.Address{"user", "seen"}, objectdb.String("in the root")))
	})
	engine := NewEngine(testVerbs)
	for source, want := range map[string]string{
		`return require "one".raise () .. require "one".raise () .. require "two".raise ()`: "123",
		`return require "one".raise ()`:                                          "1", // fresh in every run
		`return require "one.sub" .. require "folder".name .. require "a-b"`:     "beside a folderfolderodd name",
		`return require "optional"`:                                              "niltable",
		`return select (2, pcall (require, "loop"))`:                             "loop or previous error loading module 'loop'",
		`pcall (require, "fails") return (select (2, pcall (require, "fails")))`: "broken",
		`return require "false"`:                                                 "7",
		`return require "long"`:                                                  "307200",
		`return require "globals" .. user.seen .. test.upper "x" .. shared`:      "minein the rootX!1",
		`require "old" return require "old.name".hello ()`:                       "old.nametablenil",
		`return require "env"`:                                                   "setsetload11",
		`return require "seen"`:                                                  "nil nil nil nil nil",
		`return require "bits"`:                                                  "15 2147483648 -2147483648 4294967295 ffffffff 188 2147483648 -4false",
		`return require "strict"`:                                                "undeclared nope",
		`return require "two".missing`:                                           "module 'lpeg' not found: no rock in suites.rocks has it",
		`return require "string" == string or type (require "math".floor)`:       "true",
		`mine = 5 return require "call" (function () return mine end)`:           "5",
		`return type (require "os".exit)`:                                        "nil",
		`return require "io"`:                                                    `require "io": no script has this name`,
		`return require "package"`:                                               `require "package": no script has this name`,
		`require "one" return print`:                                             "undefined name: print",
		`require "one" return setfenv`:                                           "undefined name: setfenv",
		`require "one" return undefinedName`:                                     "undefined name: undefinedName",
		`return require "none"`:                                                  `require "none": no script has this name`,
		`return require "none-of-it"`:                                            `require "none-of-it": parse address`,
	} {
		updateRoot(t, db, func(tx *objectdb.Tx) {
			thread := engine.NewThread(context.Background(), ThreadOptions{Tx: tx})
			defer thread.Close()
			v, err := thread.RunSource("test", source)
			got, _ := thread.Text(v)
			if err != nil {
				got = err.Error()
			}
			assert.Contains(t, got, want, source)
			assert.False(t, tx.Written(), source)
		})
	}
}

// TestRocksSayWhatIsNotThere: what cannot be had has its name, and says why when it is called.
func TestRocksSayWhatIsNotThere(t *testing.T) {
	db := newDB(t)
	for source, want := range map[string]string{
		`io.open "x"`: "nil io.open: scripts have no files", `io.lines ()`: "io.lines: scripts have no files",
		`os.execute "x"`: "os.execute: scripts have no processes", `os.exit ()`: "os.exit: scripts have no processes",
		`os.getenv "HOME"`: "nil", `os.remove "x"`: "nil os.remove: scripts have no files", `os.setlocale ()`: "C",
		`debug.sethook ()`: "debug.sethook: scripts do not see", `debug.getupvalue (print, 1)`: "debug.getupvalue: scripts do not",
		`debug.getmetatable (_G)`: "nil", `debug.getmetatable ("")`: "nil", `debug.traceback "m"`: "m",
		`debug.getinfo (1).currentline`: "1", `debug.getinfo (print).what`: "C", `debug.getinfo (99)`: "nil",
		`dofile "x"`: "dofile: scripts have no files", `loadfile "x"`: "nil loadfile: scripts have no files",
		`load (string.dump (print))`: "precompiled code is not accepted", `require "lfs".dir "."`: "lfs.dir: scripts have no files",
		`print "x"`: "there is no response to write to", `io.stderr:write "x"`: "io.stderr:write: a script has no standard error",
		`io.stdin:read ()`: "io.stdin:read: scripts have no files", `package.loadlib "x"`: "nil package.loadlib: scripts have no files",
		`setfenv (print, {})`: "'setfenv' cannot change environment", `setfenv (0, {})`: "'setfenv' cannot change environment",
		`collectgarbage "count"`: "0", `type (newproxy (true))`: "userdata", `io.type (io.stdout)`: "nil", `require (5)`: "module '5'",
		`module ()`: "bad argument #1 to 'module'", `getfenv (50)`: "bad argument #1 to 'getfenv' (invalid level)",
	} {
		updateRoot(t, db, func(tx *objectdb.Tx) {
			a := Rocks.Child("r").Child("modules").Child("m")
			require.NoError(t, tx.Put(a, objectdb.Script("local a, b = "+source+" return tostring (a) .. ' ' .. tostring (b)")))
			thread := NewEngine(testVerbs).NewThread(context.Background(), ThreadOptions{Tx: tx})
			defer thread.Close()
			v, err := thread.RunSource("test", `return require "m"`)
			got, _ := thread.Text(v)
			if err != nil {
				got = err.Error()
			}
			assert.Contains(t, got, want, source)
		})
	}
}

// BenchmarkRequireRock is a run that requires a small rock.
func BenchmarkRequireRock(b *testing.B) {
	db := newDB(b)
	updateRoot(b, db, func(tx *objectdb.Tx) {
		a := Rocks.Child("one").Child("modules").Child("one")
		require.NoError(b, tx.Put(a, objectdb.Script(rockModules["one"]["one"])))
	})
	engine := NewEngine(testVerbs)
	require.NoError(b, db.View(context.Background(), func(tx *objectdb.Tx) error {
		b.ReportAllocs()
		for b.Loop() {
			thread := engine.NewThread(context.Background(), ThreadOptions{Tx: tx})
			_, err := thread.RunSource("test", `return require "one".raise ()`)
			require.NoError(b, err)
			thread.Close()
		}
		return nil
	}))
}
