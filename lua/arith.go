package lua

import (
	"math"

	lua "github.com/yuin/gopher-lua"
)

// Functions in place of what the machine does not do as PUC Lua: normalised
// code calls them (see patch), and the metatable of strings has them.

var (
	modFunction = GoFunction(func(L *lua.LState) int {
		x, _ := ToNumber(L.Get(1))
		y, _ := ToNumber(L.Get(2))
		L.Push(boxed(modulo(x, y)))
		return 1
	})
	forInitFunction  = GoFunction(func(L *lua.LState) int { return forBound(L, "initial value") })
	forLimitFunction = GoFunction(func(L *lua.LState) int { return forBound(L, "limit") })
	forStepFunction  = GoFunction(func(L *lua.LState) int { return forBound(L, "step") })
)

// modulo is luai_nummod: not exact as math.Mod is, but what PUC Lua gives. The
// conversion keeps the compiler from joining two roundings into one.
func modulo(a, b float64) float64 { return a - float64(math.Floor(a/b)*b) }

// small holds the numbers that need no memory of their own.
var small = func() (list [256]lua.LValue) {
	for i := range list {
		list[i] = lua.LNumber(i)
	}
	return list
}()

// boxed returns f as a value of Lua.
func boxed(f float64) lua.LValue {
	if i := int(f); i > 0 && i < len(small) && float64(i) == f { // not -0
		return small[i]
	}
	return lua.LNumber(f)
}

// forBound makes a number of a bound of a numeric for, which may be a string.
func forBound(L *lua.LState, what string) int {
	L.Push(toBound(L, 1, what))
	return 1
}

func toBound(L *lua.LState, n int, what string) lua.LNumber {
	f, ok := ToNumber(L.Get(n))
	if !ok {
		fail(L, "'for' %s must be a number", what)
	}
	return lua.LNumber(f)
}

// forPrepFunction is called where several bounds of a for are not constants:
// all are evaluated before the first is looked at.
var forPrepFunction = GoFunction(func(L *lua.LState) int {
	first, limit, step := toBound(L, 1, "initial value"), toBound(L, 2, "limit"), toBound(L, 3, "step")
	L.Push(first)
	L.Push(limit)
	L.Push(step)
	return 3
})
