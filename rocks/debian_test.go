package rocks_test

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
	"scripter/objectdb/sqlitestore"
	"scripter/rocks"
	"scripter/script"
	"scripter/site"
	"scripter/verbs"
)

// A use is a rock as Debian packs it, and a small program with the text that it gives.
type use struct {
	debian, source, want string
}

// uses has every rock of Debian 12 that is written in Lua alone and does not need a library in C, or the inside
// of another program, for everything that it does.
var uses = []use{
	{"lua-ansicolors", `return require "ansicolors" ("%{red}x%{reset}"):gsub ("\27", "E")`, "E[0mE[31mxE[0mE[0m"},
	{"lua-argparse", `local p = require "argparse" ("script") p:option ("-n --number"):convert (tonumber) p:flag "-v"
		local a = p:parse {"-v", "--number", "3"} return a.number + 1 .. tostring (a.v)`, "4true"},
	{"lua-basexx", `local b = require "basexx"
		return b.to_base64 "Hello" .. b.from_base64 "SGVsbG8=" .. b.to_base32 "Hi" .. b.to_crockford "x" .. b.to_z85 "1234"`,
		"SGVsbG8=HelloJBUQ====F0f!$Kw"},
	{"lua-binaryheap", `local h = require "binaryheap".minUnique () h:insert (3, "c") h:insert (1, "a") h:insert (2, "b")
		h:update ("c", 0) return h:pop () .. h:pop () .. h:peek ()`, "cab"},
	{"lua-cgi", `local u = require "cgilua.urlcode" local t = {} u.parsequery ("a=1+2&b=%41", t)
		return t.a .. t.b .. u.escape "a b&"`, "1 2Aa+b%26"},
	{"lua-check", `local r = require "luacheck".check_strings ({"local x = 1", "return nope"}) return r.warnings .. r [1] [1].code`,
		"2211"},
	{"lua-cliargs", `local c = require "cliargs" c:set_name "x" c:flag ("-v, --verbose", "more") c:argument ("FILE", "it")
		local a = c:parse {"-v", "f"} return tostring (a.v) .. a.FILE`, "truef"},
	{"lua-compat53", `local c = require "compat53.module"
		return table.concat (c.table.pack (c.table.unpack {1, 2}), ",") .. c.math.type (3.5)`, "1,2float"},
	{"lua-coxpcall", `local c = require "coxpcall"
		local co = coroutine.create (function () return c.pcall (function () coroutine.yield (1) error "e" end) end)
		local _, a = coroutine.resume (co) local _, ok = coroutine.resume (co) return a .. tostring (ok)`, "1false"},
	{"lua-dbi-common", `local ok, e = pcall (require "DBI".Connect, "Nothing") return tostring (ok) .. tostring (e):match "Nothing"`,
		"falseNothing"},
	{"lua-dkjson", `local j = require "dkjson" return j.encode ({1, {a = "ä\n"}}) .. j.decode ('{"b":[true,null,1.5e3]}').b [3]`,
		`[1,{"a":"ä\n"}]1500`},
	{"lua-doc", `return require "luadoc.util".wrap ("a b c d", 3):gsub ("\n", "|")`, "a b|c|d"},
	{"lua-fifo", `local f = require "fifo" () f:push (1) f:push (2) f:insert (1, 0) return f:pop () .. f:pop () .. f:length ()`, "011"},
	{"lua-inspect", `return (require "inspect" {1, {a = "b"}, f = {}}:gsub ("%s+", " "))`, `{ 1, { a = "b" }, f = {} }`},
	{"lua-lemock", `local m = require "lemock".controller () local f = m:mock () f (1) m:returns (7) m:replay ()
		local v = f (1) m:verify () return v`, "7"},
	{"lua-ldoc", `local t = {} for kind, word in require "ldoc.lexer".lua ("local x = 'y'") do t [#t + 1] = kind end
		return table.concat (t, " ")`, "keyword iden = string"},
	{"lua-logging", `local out = {} local l = require "logging".new (function (_, level, m) out [#out + 1] = level .. m return true end)
		l:setLevel "WARN" l:info "no" l:warn "%d" l:error ("e%d", 2) return table.concat (out, "|", 2)`, "WARN%d|ERRORe2"},
	{"lua-luassert", `local assert = require "luassert" assert.are.same ({1, {2}}, {1, {2}}) assert.has_error (function () error "x" end)
		local s = require "luassert.spy".new (function () end) s (1) assert.spy (s).was.called_with (1)
		return tostring ((pcall (assert.are.equal, 1, 2)))`, "false"},
	{"lua-markdown", `return (require "markdown" ("# A\n\n*b* [c](d)"):match "^%s*(.-)%s*$")`, "<h1>A</h1>\n\n<p><em>b</em> <a href=\"d\">c</a></p>"},
	{"lua-mediator", `local m, got = require "mediator" (), "" m:subscribe ({"a", "b"}, function (x) got = got .. x end)
		m:publish ({"a", "b"}, "1") m:publish ({"a"}, "2") return got`, "1"},
	{"lua-messagepack", `local m = require "MessagePack" local t = m.unpack (m.pack {1, "x", {y = 2.5}, -300}) return t [2] .. t [3].y + t [4]`, "x-297.5"},
	{"lua-moses", `local M = require "moses" return table.concat (M.map (M.range (1, 3), function (v) return v * 2 end), ",")`, "2,4,6"},
	{"lua-orbit", `local o = require "orbit" return o.web_methods.link ({prefix = "/app"}, "/y", {a = "1 2"})`, "/app/y?a=1+2"},
	{"lua-penlight", `local List, sx = require "pl.List", require "pl.stringx"
		local t = require "pl.template".substitute ("# for i = 1, 2 do\n$(i);\n# end\n")
		return tostring (List {3, 1, 2}:sorted ():map "_ * 2") .. sx.strip "  a " .. t:gsub ("\n", "") ..
			require "pl.pretty".write ({1, 2}, "") .. require "pl.tablex".size {a = 1} .. require "pl.path".basename "x/y"`,
		"{2,4,6}a1;2;{1,2}1y"},
	{"lua-redis", `return type (require "redis".commands.get) .. type (require "redis".connect)`, "functionfunction"},
	{"lua-say", `local s = require "say" s:set_namespace "en" s:set ("hi", "hello %s") return s ("hi", {"you"})`, "hello you"},
	{"lua-unit", `local u = require "luaunit" u.assertEquals ({1, {2}}, {1, {2}}) u.assertStrContains ("abc", "b")
		local r = u.LuaUnit.new () r:setOutputType "nil"
		return r:runSuiteByInstances {{"T", {testGood = function () end, testBad = function () u.assertTrue (false) end}}}`, "1"},
	{"lua-uri", `local u = require "uri":new ("HTTP://Example.com:80/a/../b?c#d") return u:host () .. u:path () .. tostring (u)`,
		"example.com/bhttp://example.com/b?c#d"},
	{"lua-wsapi", `local u = require "wsapi.util" return u.url_encode "a b&" .. u.url_decode "%41+"`, "a+b%26A "},
}

// wanted is how many rocks run.
const wanted = 29

// TestDebian fetches rocks from Debian, adds them as "scripter rocks add" does, and runs each in a run of its own.
func TestDebian(t *testing.T) {
	db, err := sqlitestore.Create(filepath.Join(t.TempDir(), "site.root"), objectdb.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, db.Close()) })
	engine := script.NewEngine(verbs.All(site.NewPasswords()), verbs.Properties()...)
	for _, u := range uses {
		list, err := rocks.Open(fetch(t, u.debian), u.debian)
		require.NoError(t, err)
		require.NoError(t, db.Update(context.Background(), func(tx *objectdb.Tx) error { return rocks.Add(tx, list[0]) }))
	}
	manual, err := os.ReadFile("../docs/rocks.md")
	require.NoError(t, err)
	n := 0
	for _, u := range uses {
		assert.Contains(t, string(manual), "| "+u.debian+" |", "the manual lists it")
		t.Run(u.debian, func(t *testing.T) {
			err := db.Update(context.Background(), func(tx *objectdb.Tx) error {
				thread := engine.NewThread(context.Background(), script.ThreadOptions{Tx: tx})
				defer thread.Close()
				v, err := thread.RunSource("use", u.source)
				if err != nil {
					return err
				}
				assert.False(t, tx.Written(), "it writes the root")
				assert.Equal(t, u.want, fmt.Sprint(v))
				_, err = thread.RunSource("after", `return json.encode ({1}) .. text.trim " x " .. user.webserver`)
				assert.ErrorContains(t, err, "user", "the names of the root are what they were")
				return nil
			})
			require.NoError(t, err)
			n++
		})
	}
	assert.GreaterOrEqual(t, n, wanted)
}

// TestOwnTests runs the tests that rocks of Debian bring along, with the numbers of those that pass and fail.
func TestOwnTests(t *testing.T) {
	examples := func(folder string) string { return filepath.Join("usr/share/doc", folder, "examples") }
	for _, c := range []struct {
		name, debian, tests, source, want string
	}{
		{"lua-uri", "lua-uri-dev", examples("lua-uri-dev"), `require "lunit"
			for _, name in ipairs {"_generic", "_pristine", "_relative", "_resolve", "_util", "data", "ftp", "http", "pop", "rtsp",
				"telnet", "urn-isbn", "urn-issn", "urn-oid", "urn"} do
				require ("test." .. name)
			end
			local r = lunit.run () return r.passed .. " " .. r.failed .. " " .. r.errors`, "126 0 2"},
		{"lua-unit", "lua-unit", examples("lua-unit"), `require "test_luaunit" local u = require "luaunit" local r = u.LuaUnit.new ()
			r:setOutputType "nil" local failed = r:runSuite () return r.result.successCount .. " " .. failed`, "204 2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			db, err := sqlitestore.Create(filepath.Join(t.TempDir(), "site.root"), objectdb.Options{})
			require.NoError(t, err)
			t.Cleanup(func() { assert.NoError(t, db.Close()) })
			list, err := rocks.Open(fetch(t, c.name), c.name)
			require.NoError(t, err)
			require.NoError(t, db.Update(context.Background(), func(tx *objectdb.Tx) error { return rocks.Add(tx, list[0]) }))
			own := &rocks.Rock{Name: "tests", Modules: map[string]string{}}
			folder := os.DirFS(filepath.Join(fetch(t, c.debian), c.tests))
			require.NoError(t, fs.WalkDir(folder, ".", func(p string, d fs.DirEntry, err error) error {
				if module, ok := strings.CutSuffix(p, ".lua"); ok && err == nil {
					source, err := fs.ReadFile(folder, p)
					own.Modules[strings.ReplaceAll(module, "/", ".")] = strings.TrimPrefix(string(source), "#")
					return err
				}
				return err
			}))
			var out strings.Builder
			write := script.Verb{Name: "write", Func: func(v *script.Call) error { out.WriteString(v.Text(1)); return nil }}
			engine := script.NewEngine([]script.Verb{write})
			require.NoError(t, db.Update(context.Background(), func(tx *objectdb.Tx) error {
				require.NoError(t, rocks.Add(tx, own))
				thread := engine.NewThread(context.Background(), script.ThreadOptions{Tx: tx})
				defer thread.Close()
				v, err := thread.RunSource("tests", c.source)
				require.NoError(t, err, out.String())
				assert.Equal(t, c.want, v, out.String())
				return nil
			}))
		})
	}
}

// fetch returns a folder with the files of a package of Debian. The package is downloaded once.
func fetch(t *testing.T, name string) string {
	cache, err := os.UserCacheDir()
	require.NoError(t, err)
	cache = filepath.Join(cache, "scripter-rocks")
	require.NoError(t, os.MkdirAll(cache, 0o700))
	find := func() []string {
		found, err := filepath.Glob(filepath.Join(cache, name+"_*.deb"))
		require.NoError(t, err)
		return found
	}
	if len(find()) == 0 {
		c := exec.Command("apt-get", "download", name)
		c.Dir = cache
		if out, err := c.CombinedOutput(); err != nil {
			if os.Getenv("SCRIPTER_REQUIRE_SERVERS") == "" {
				t.Skipf("apt-get download %s: %v: %s", name, err, out)
			}
			require.NoError(t, err, string(out))
		}
	}
	folder := filepath.Join(t.TempDir(), name)
	out, err := exec.Command("dpkg-deb", "-x", find()[0], folder).CombinedOutput()
	require.NoError(t, err, strings.TrimSpace(string(out)))
	return folder
}
