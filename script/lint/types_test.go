package lint

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/lua"
	"scripter/objectdb"
	"scripter/script"
)

// TestTypes loads every file as Lua with our own compiler: lua-language-server
// itself is in none of the registries that the tests may use.
func TestTypes(t *testing.T) {
	db := newDB(t, map[string]objectdb.Value{
		"user.webserver.saveInterval": objectdb.Number(5),
		`user.["odd \"name\".x"]`:     objectdb.Boolean(true),
		`user.["odd table"].a`:        objectdb.String(""),
		`user.["odd_20table"].b`:      objectdb.List{},
		"user.born":                   objectdb.Date{},
		"user.end":                    objectdb.Address{"user"},
		"user.pic":                    objectdb.Binary{Type: "image/gif"},
		"suites.test.upper":           objectdb.Script("-- the same as the verb\n"),
		"suites.test.other":           objectdb.Script("-- another (x)\nreturn 1"),
		"suites.plain.run":            objectdb.Script("return 1"),
	})
	names := script.NewTable()
	names.Set("method", "GET")
	names.Set("headers", script.NewTable())
	names.Set("cookies", script.NewTable())
	within(t, db, names, func(th *script.Thread) {
		files, err := Types(th, map[string]string{"cookies": "table<string, string>"}, []script.Verb{
			{Name: "wish.equal", Params: []script.Param{script.Arg("got", "any", "")}}, {Name: "ask"},
		})
		require.NoError(t, err)
		all := ""
		for name, text := range files {
			if name == ".luarc.json" {
				var settings map[string]any
				require.NoError(t, json.Unmarshal([]byte(text), &settings))
				assert.Equal(t, "Lua 5.1", settings["runtime.version"])
				assert.Equal(t, []any{typesFolder, rocksFolder}, settings["workspace.library"])
				continue
			}
			assert.True(t, strings.HasPrefix(text, "---@meta"), name)
			assert.NoError(t, lua.Check(name, text, 0))
			all += text
		}
		assert.Contains(t, files[".types/tests.lua"], "---@class verbs.wish\nwish = {}\n")
		assert.Contains(t, files[".types/tests.lua"], "function wish.equal(got) end")
		assert.Contains(t, files[".types/tests.lua"], "function ask() end")
		for _, v := range testVerbs {
			group, word, _ := strings.Cut(v.Name, ".")
			if i := strings.LastIndexByte(v.Name, '.'); i >= 0 {
				group, word = v.Name[:i], v.Name[i+1:]
			}
			_, of, found := strings.Cut(files[".types/verbs.lua"], "---@class verbs."+group+"\n")
			require.True(t, found, group)
			of, _, _ = strings.Cut(of, "---@class ")
			assert.Contains(t, of, "function group."+word+"(")
		}
		for _, v := range script.ODB() {
			assert.Contains(t, files[".types/odb.lua"], "function "+v.Name+"(")
		}
		for _, want := range []string{
			"---@class root.user.webserver\n---@field saveInterval number\n---@field [string] any\n",
			"---@field webserver root.user.webserver\n",
			`---@field ["odd \"name\".x"] boolean` + "\n",
			"---@field [\"odd table\"] root.user.odd_20table\n", "---@field odd_20table root.user.odd_20table_2\n",
			"---@field born date\n", "---@field pic binary\n", `---@field ["end"] address` + "\n",
			"---@type root.user\nuser = nil\n", "---@type root.suites.plain\nplain = nil\n",
			"---@class root.suites.test: verbs.test\n---@field other fun(...: any): any # another (x)\n---@field [string] any\n",
			"---@field method string\n", "---@field headers table<string, any>\n",
			"---@field cookies table<string, string>\n", "---@type string\nmethod = nil\n",
		} {
			assert.Contains(t, all, want)
		}
	})
}

// TestTypesOfALargeRoot: data are no vocabulary.
func TestTypesOfALargeRoot(t *testing.T) {
	db := newDB(t, nil)
	require.NoError(t, db.Update(t.Context(), func(tx *objectdb.Tx) error {
		for i := range 600 {
			if err := tx.Put(objectdb.Address{"user", "data", strings.Repeat("x", 1+i%200) + string(rune('a'+i/200))},
				objectdb.Number(1)); err != nil {
				return err
			}
		}
		return nil
	}))
	within(t, db, nil, func(th *script.Thread) {
		files, err := Types(th, map[string]string{"cookies": "table<string, string>"}, nil)
		require.NoError(t, err)
		assert.Contains(t, files[".types/root.lua"], "---100 more cells are not described\n")
	})
}

func TestVerbType(t *testing.T) {
	v := script.Verb{Name: "a.b", Doc: "Does it.", Errors: "rain", Example: "a.b (1)", Gives: "2",
		Params: []script.Param{{Name: "end", Type: "string"},
			{Name: "n", Type: "integer", Optional: true, Default: "3", Doc: "how many"}, {Name: "…", Type: "any"}},
		Results: []script.Param{{Type: "date|nil", Doc: "nil for none"}}}
	assert.Equal(t, "---Does it.\n---Fails for: rain.\n---```lua\n---a.b (1)\n---```\n---gives 2\n"+
		"---@param end_ string\n---@param n? integer how many; 3 when it is not given\n---@param ... any\n"+
		"---@return date|nil # nil for none\n"+
		"function a.b(end_, n, ...) end\n", verbType(&v, "a.b"))
}
