package lua

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	lua "github.com/yuin/gopher-lua"
)

// allowed is every name that a script can reach, and nothing else.
const allowed = `
_G _VERSION assert error getmetatable ipairs load loadstring next pairs pcall rawequal rawget rawset select
setmetatable tonumber tostring type unpack xpcall
coroutine coroutine.create coroutine.resume coroutine.running coroutine.status coroutine.wrap coroutine.yield
math math.abs math.acos math.asin math.atan math.atan2 math.ceil math.cos math.cosh math.deg math.exp math.floor
math.fmod math.frexp math.huge math.ldexp math.log math.log10 math.max math.min math.mod math.modf math.pi math.pow
math.rad math.random math.randomseed math.sin math.sinh math.sqrt math.tan math.tanh
os os.clock os.date os.difftime os.time
string string.byte string.char string.find string.format string.gfind string.gmatch string.gsub string.len
string.lower string.match string.rep string.reverse string.sub string.upper
table table.concat table.foreach table.foreachi table.getn table.insert table.maxn table.remove table.sort`

// TestReachable walks everything that can be reached from a script: globals,
// tables, metatables, upvalues, environments, the machine's own registry.
func TestReachable(t *testing.T) {
	s := newSandbox(t, Limits{})
	s.L.G.Global.RawSetString("print", lua.LNil)
	mustRun(t, s, `for k, v in pairs(_G) do end return ("x"):upper()`)
	var names []string
	seen := map[lua.LValue]bool{}
	var walk func(name string, v lua.LValue)
	walk = func(name string, v lua.LValue) {
		names = append(names, strings.TrimPrefix(name, "_G."))
		switch v := v.(type) {
		case *lua.LTable:
			if seen[v] {
				return
			}
			seen[v] = true
			v.ForEach(func(k, v lua.LValue) { walk(name+"."+k.String(), v) })
			if r := s.visibleMetatable(v); r != lua.LNil {
				walk(name+"/meta", r)
			}
		case *lua.LFunction:
			assert.True(t, v.IsG, name)
			assert.Nil(t, v.Env, "%s has an environment", name)
			assert.Empty(t, v.Upvalues, name)
		case lua.LString, lua.LNumber:
		default:
			t.Errorf("%s is a %s", name, v.Type())
		}
	}
	walk("_G", s.L.G.Global)
	want := strings.Fields(allowed)
	slices.Sort(want)
	slices.Sort(names)
	assert.Equal(t, want, slices.Compact(names))
	for _, v := range []string{`""`, "1", "nil", "true", "print", "coroutine.create(function() end)", "_G"} {
		assert.Equal(t, []lua.LValue{lua.LNil}, mustRun(t, s, "return getmetatable("+v+")"), v)
	}
	// The tables that gopher-lua keeps for its own libraries are empty.
	n := 0
	s.L.G.Registry.ForEach(func(_, _ lua.LValue) { n++ })
	assert.Zero(t, n)
}

func (s *sandbox) visibleMetatable(v *lua.LTable) lua.LValue {
	s.L.G.Global.RawSetString("probe", v)
	defer s.L.G.Global.RawSetString("probe", lua.LNil)
	results, err := s.run("return getmetatable(probe)")
	if err != nil {
		panic(err)
	}
	return results[0]
}

func TestWhatIsNotThere(t *testing.T) {
	for _, name := range []string{
		"print", "io", "dofile", "loadfile", "require", "package", "module", "getfenv", "setfenv", "newproxy",
		"collectgarbage", "gcinfo", "_printregs", "debug", "channel", "_GOPHER_LUA_VERSION",
		"os.execute", "os.exit", "os.getenv", "os.setenv", "os.remove", "os.rename", "os.tmpname", "os.setlocale",
		"string.dump", "table.setn",
	} {
		s := newSandbox(t, Limits{})
		s.L.G.Global.RawSetString("print", lua.LNil)
		assert.Equal(t, []lua.LValue{lua.LNil}, mustRun(t, s, "return "+name), name)
	}
}

// The twelve ways in which one run could leave something to the next if they
// shared a state. Each mark is made by one run and looked for by another.
func TestNothingIsLeftBehind(t *testing.T) {
	for name, c := range map[string]struct{ leave, find string }{
		"global":                {`leak = 1`, `return leak`},
		"string table":          {`string.leak = 1 string.upper = nil`, `return string.leak or (string.upper == nil) or nil`},
		"method of strings":     {`local s = "" pcall(function() getmetatable(s).x = 1 getmetatable(s).__index.leak = 1 end) string.leak = 2`, `return ("").leak`},
		"setmetatable string":   {`pcall(setmetatable, "", {__index = {leak = 1}})`, `return ("").leak`},
		"getfenv 0":             {`pcall(function() getfenv(0).leak = 1 end)`, `return leak`},
		"getfenv of a function": {`pcall(function() getfenv(tostring).leak = 1 end)`, `return leak`},
		"_G":                    {`_G.leak = 1`, `return leak`},
		"rawset":                {`rawset(_G, "leak", 1) rawset(string, "leak", 1)`, `return leak or string.leak`},
		"stacks of pcalls":      {`local function f(a, b) local c = {"leak"} return pcall(function(...) local d = c return a, d end, a, b) end f("leak", f(1, 2)) pcall(f, "leak")`, `return pcall(function(...) local a, b, c return ..., a, b, c end) == "leak" or select("#", pcall(function(...) return ... end)) ~= 1 or nil`},
		"metatable of _G":       {`pcall(function() getmetatable(_G).__index = function() return 1 end end) pcall(setmetatable, _G, {__index = function() return 1 end})`, `return leak`},
		"setfenv":               {`pcall(function() setfenv(0, {leak = 1}) setfenv(1, {leak = 1}) end)`, `return leak`},
		"package.loaded":        {`pcall(function() package.loaded.string = {leak = 1} end)`, `return string.leak`},
		"module":                {`pcall(function() module("leak") end)`, `return leak`},
		"debug":                 {`pcall(function() debug.setmetatable("", {__index = {leak = 1}}) debug.getregistry().leak = 1 end)`, `return ("").leak`},
		"library replaced":      {`table = nil pairs = nil math.floor = function() return "leak" end`, `if not table or not pairs or math.floor(1) ~= 1 then return "leak" end`},
		"random numbers":        {`math.randomseed(42) leak = math.random()`, `local a = math.random(2^40) math.randomseed(42) math.random() return a == math.random(2^40) or nil`},
		"coroutine":             {`leak = coroutine.create(function() end)`, `return coroutine.running()`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := newSandbox(t, Limits{}).run(c.leave)
			require.NoError(t, err)
			results, err := newSandbox(t, Limits{}).run(c.find)
			require.NoError(t, err)
			for _, v := range results {
				assert.Equal(t, lua.LNil, v)
			}
		})
	}
}

// States that run at the same time share functions and prototypes; the race
// detector watches.
func TestStatesTogether(t *testing.T) {
	const source = `
		local t = {}
		for i = 1, 50 do t[#t + 1] = ("%d"):format(i):rep(2) .. i end
		table.sort(t)
		local ok = pcall(function() string.leak = 1 error("x") end)
		local c = coroutine.wrap(function() coroutine.yield(#table.concat(t)) end)
		return c(), math.floor(2.5), os.time() > 0`
	proto, err := Compile("shared", source)
	require.NoError(t, err)
	done := make(chan error)
	for range 64 {
		go func() {
			var err error
			for range 5 {
				s := newSandbox(t, Limits{})
				var results []lua.LValue
				if results, _, err = invoke(s.L, s.L.NewFunctionFromProto(proto)); err != nil {
					break
				}
				_ = results
			}
			done <- err
		}()
	}
	for range 64 {
		assert.NoError(t, <-done)
	}
}
