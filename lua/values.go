package lua

import (
	lua "github.com/yuin/gopher-lua"
)

// The types and values of gopher-lua that functions for scripts work with.
// Packages above name them by this package, and need no second one.
type (
	LValue        = lua.LValue
	LNilType      = lua.LNilType
	LBool         = lua.LBool
	LNumber       = lua.LNumber
	LString       = lua.LString
	LTable        = lua.LTable
	LFunction     = lua.LFunction
	LUserData     = lua.LUserData
	LState        = lua.LState
	LGFunction    = lua.LGFunction
	FunctionProto = lua.FunctionProto
	ApiError      = lua.ApiError
)

var (
	LNil   = lua.LNil
	LTrue  = lua.LTrue
	LFalse = lua.LFalse
)

// MultRet asks a call for all its results.
const MultRet = lua.MultRet
