package lua

import (
	"math"

	lua "github.com/yuin/gopher-lua"
)

// gopher-lua's % is wrong for an infinite divisor, and rounds otherwise than PUC
// Lua's; its compiler computes constants so. Those are left to modFunction.

var modFunction = GoFunction(func(L *lua.LState) int {
	x, _ := ToNumber(L.Get(1))
	y, _ := ToNumber(L.Get(2))
	L.Push(boxed(modulo(x, y)))
	return 1
})

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
