package lua

import (
	lua "github.com/yuin/gopher-lua"
)

// This file has what getfenv, setfenv and debug.getinfo need. Scripts do not have these functions; rocks do.

// FunctionAt returns the function at a level of the calls under way, as debug.getinfo counts them: 0 is the
// function in Go that asks, 1 the one that called it. line is where it is now, 0 if that is not known.
func FunctionAt(L *lua.LState, i int) (fn *lua.LFunction, line int, ok bool) {
	l, ok := levelAt(L, i)
	if !ok {
		return nil, 0, false
	}
	return l.fn, max(plainLine(l.line), 0), true
}

// EnvironmentArgument returns the function that argument 1 of getfenv or setfenv is, or the one at the level
// that it is; nil for level 0. Without argument it is the caller.
func EnvironmentArgument(L *lua.LState) *lua.LFunction {
	if f, ok := L.Get(1).(*lua.LFunction); ok {
		return f
	}
	i := optInt(L, 1, 1)
	if i < 0 {
		ArgumentError(L, 1, "level must be non-negative")
	}
	if i == 0 {
		return nil
	}
	fn, _, ok := FunctionAt(L, i)
	if !ok {
		ArgumentError(L, 1, "invalid level")
	}
	return fn
}
