package lua

import (
	lua "github.com/yuin/gopher-lua"
)

// newLuaTable makes a Lua table with room for items and names. It belongs to
// no state until a state is given it.
func NewTable(items, names int) *lua.LTable {
	return (*lua.LState)(nil).CreateTable(items, names)
}

// goFunction makes a Lua function of a function in Go. Any number of states may
// share it: it has no environment and no upvalues, and scripts cannot change it.
func GoFunction(f lua.LGFunction) *lua.LFunction { return &lua.LFunction{IsG: true, GFunction: f} }

// newMetatable makes a metatable that is shared by all states, which only read
// it. Scripts cannot reach it: getmetatable answers false.
func NewMetatable() *lua.LTable {
	mt := NewTable(0, 8)
	mt.RawSetString("__metatable", lua.LFalse)
	return mt
}

// define fills a metatable. It is called at program start, and not where the
// metatable is declared because the functions refer to metatables themselves.
func Define(mt *lua.LTable, events map[string]lua.LGFunction) {
	for event, f := range events {
		fn := GoFunction(f)
		mt.RawSetString(event, fn)
		operatorFunctions[fn] = true
	}
}

// operatorFunctions are the functions that stand for an operator. A traceback
// leaves them out: the line of the operator says it all.
var operatorFunctions = map[*lua.LFunction]bool{}
