package lua

import (
	"maps"
	"slices"

	lua "github.com/yuin/gopher-lua"
)

// The functions of the libraries are made once for the process; a state holds
// only the tables that its script asks for, and what a script does to those is
// its own affair.
//
// They answer as PUC Lua 5.1.5 does; docs/lua.md lists the differences, each with an
// example that the tests run.

// libraries holds the libraries that one state has made.
type libraries struct {
	tables map[string]*lua.LTable
	text   *lua.LTable // metatable of strings, once the string library is there
}

// libraryTables lists the libraries that are tables.
var libraryTables map[string]map[string]lua.LValue

// baseFunctions lists what is known by a bare name.
var baseFunctions map[string]lua.LValue

func init() {
	baseFunctions = shared(map[string]lua.LGFunction{
		"assert": baseAssert, "error": baseError, "getmetatable": baseGetmetatable, "ipairs": baseIpairs,
		"load": baseLoad, "loadstring": baseLoadstring, "pairs": basePairs,
		"pcall": basePcall, "rawequal": baseRawequal, "rawget": baseRawget, "rawset": baseRawset,
		"select": baseSelect, "setmetatable": baseSetmetatable, "tonumber": baseTonumber,
		"tostring": baseTostring, "type": baseType, "unpack": baseUnpack, "xpcall": baseXpcall,
	})
	baseFunctions["next"] = nextFunction
	baseFunctions["_VERSION"] = lua.LString("Lua 5.1")
	libraryTables = map[string]map[string]lua.LValue{
		"coroutine": shared(map[string]lua.LGFunction{
			"create": coroutineCreate, "resume": coroutineResume, "running": coroutineRunning,
			"status": coroutineStatus, "wrap": coroutineWrap, "yield": coroutineYield,
		}),
		"math": mathLibrary(),
		"os": shared(map[string]lua.LGFunction{
			"clock": osClock, "date": osDate, "difftime": osDifftime, "time": osTime,
		}),
		"string": shared(map[string]lua.LGFunction{
			"byte": stringByte, "char": stringChar, "find": stringFind, "format": stringFormat,
			"gmatch": stringGmatch, "gsub": stringGsub, "len": stringLen,
			"lower": stringLower, "match": stringMatch, "rep": stringRep, "reverse": stringReverse,
			"sub": stringSub, "upper": stringUpper,
		}),
		"table": shared(map[string]lua.LGFunction{
			"concat": tableConcat, "foreach": tableForeach, "foreachi": tableForeachi, "getn": tableGetn,
			"insert": tableInsert, "maxn": tableMaxn, "remove": tableRemove, "sort": tableSort,
		}),
	}
	text := libraryTables["string"]
	text["gfind"] = text["gmatch"] // LUA_COMPAT_GFIND
	globalMeta = sharedTable(map[string]lua.LValue{"__index": GoFunction(globalIndex)})
	textMeta = sharedTable(map[string]lua.LValue{"__index": GoFunction(textIndex)})
}

func shared(fs map[string]lua.LGFunction) map[string]lua.LValue {
	out := make(map[string]lua.LValue, len(fs))
	for name, f := range fs {
		out[name] = GoFunction(f)
	}
	return out
}

// sharedTable makes a table that any number of states may read. No script may get it.
func sharedTable(fields map[string]lua.LValue) *lua.LTable {
	t := &lua.LTable{Metatable: lua.LNil}
	for name, v := range fields {
		t.RawSetString(name, v)
	}
	return t
}

var (
	globalMeta *lua.LTable // of _G
	textMeta   *lua.LTable // of strings, until the string library is there
)

// installLibraries makes the libraries known in L. Each is made when a script
// first uses its name.
func installLibraries(L *lua.LState) {
	L.G.Global.Metatable = globalMeta
	L.SetMetatable(lua.LString(""), textMeta)
}

// globalIndex makes a global of the libraries when it is first asked for.
func globalIndex(L *lua.LState) int {
	name, ok := L.Get(2).(lua.LString)
	v := lua.LNil
	if ok {
		if v = library(L, string(name)); v != lua.LNil {
			RawSet(L.G.Global, name, v)
		}
	}
	L.Push(v)
	return 1
}

// library returns what Lua itself means by a global name, LNil for nothing. It
// is the same value every time for the same state.
func library(L *lua.LState, name string) lua.LValue {
	if v, ok := baseFunctions[name]; ok {
		return v
	}
	if name == "_G" {
		return L.G.Global
	}
	functions, ok := libraryTables[name]
	if !ok {
		return lua.LNil
	}
	s := Of(L)
	if s.libraries == nil {
		s.libraries = &libraries{tables: make(map[string]*lua.LTable, 2)}
	}
	t, ok := s.libraries.tables[name]
	if !ok {
		t = L.CreateTable(0, len(functions))
		for f, v := range functions {
			t.RawSetString(f, v)
		}
		s.libraries.tables[name] = t
	}
	return t
}

// GlobalNames returns the names that Lua itself defines, in no particular order.
func GlobalNames() []string {
	return slices.AppendSeq(slices.AppendSeq([]string{"_G"}, maps.Keys(baseFunctions)), maps.Keys(libraryTables))
}

// IsLibrary reports whether name is a library: a table of functions.
func IsLibrary(name string) bool { return libraryTables[name] != nil }

// textIndex finds the methods of strings. When first used it makes the string
// library and puts that into its own place.
func textIndex(L *lua.LState) int {
	t := library(L, "string").(*lua.LTable)
	s := Of(L)
	if s.libraries.text == nil {
		mt := L.CreateTable(0, 1)
		mt.RawSetString("__index", t)
		s.libraries.text = mt
		L.SetMetatable(lua.LString(""), mt)
	}
	L.Push(RawGet(t, L.Get(2)))
	return 1
}

// NewTable makes a Lua table with room for items and names. It does not belong to a
// state yet.
func NewTable(items, names int) *lua.LTable {
	return (*lua.LState)(nil).CreateTable(items, names)
}

// GoFunction makes a Lua function of a function in Go. Any number of states may
// share it: it has no environment and no upvalues, and scripts cannot change it.
func GoFunction(f lua.LGFunction) *lua.LFunction { return &lua.LFunction{IsG: true, GFunction: f} }

// NewMetatable makes a metatable that is shared by all states, which only read
// it. Scripts cannot reach it: getmetatable answers false.
func NewMetatable() *lua.LTable {
	mt := NewTable(0, 8)
	mt.RawSetString("__metatable", lua.LFalse)
	return mt
}

// Define fills a metatable. It is called at program start, and not where the
// metatable is declared because the functions refer to metatables themselves.
func Define(mt *lua.LTable, events map[string]lua.LGFunction) {
	for event, f := range events {
		fn := GoFunction(f)
		mt.RawSetString(event, fn)
		operatorFunctions[fn] = true
	}
}
