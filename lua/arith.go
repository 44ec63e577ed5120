package lua

import (
	"math"

	lua "github.com/yuin/gopher-lua"
)

// Functions in place of what the machine does not do as PUC Lua: normalised
// code calls them (see patch), and the metatable of strings has them.

var (
	modFunction      = GoFunction(func(L *lua.LState) int { return arithmetic(L, "__mod", modulo) })
	forInitFunction  = GoFunction(func(L *lua.LState) int { return forBound(L, "initial value") })
	forLimitFunction = GoFunction(func(L *lua.LState) int { return forBound(L, "limit") })
	forStepFunction  = GoFunction(func(L *lua.LState) int { return forBound(L, "step") })
)

// textArithmetic is what the operators do with a string.
var textArithmetic = shared(map[string]lua.LGFunction{
	"__add": func(L *lua.LState) int { return arithmetic(L, "__add", func(a, b float64) float64 { return a + b }) },
	"__sub": func(L *lua.LState) int { return arithmetic(L, "__sub", func(a, b float64) float64 { return a - b }) },
	"__mul": func(L *lua.LState) int { return arithmetic(L, "__mul", func(a, b float64) float64 { return a * b }) },
	"__div": func(L *lua.LState) int { return arithmetic(L, "__div", func(a, b float64) float64 { return a / b }) },
	"__pow": func(L *lua.LState) int { return arithmetic(L, "__pow", math.Pow) },
	"__unm": func(L *lua.LState) int {
		L.SetTop(1)
		L.Push(L.Get(1)) // luaV_arith is given the operand twice
		return arithmetic(L, "__unm", func(a, _ float64) float64 { return -a })
	},
})

// modulo is luai_nummod: not exact as math.Mod is, but what PUC Lua gives. The
// conversion keeps the compiler from joining two roundings into one.
func modulo(a, b float64) float64 { return a - float64(math.Floor(a/b)*b) }

// arithmetic is a binary operator (luaV_arith): of numbers, of strings that are
// numbers, else by the metamethod of the left or the right operand.
func arithmetic(L *lua.LState, event string, op func(a, b float64) float64) int {
	a, b := L.Get(1), L.Get(2)
	x, okX := ToNumber(a)
	y, okY := ToNumber(b)
	if okX && okY {
		L.Push(boxed(op(x, y)))
		return 1
	}
	f := metaField(L, a, event)
	if f == lua.LNil {
		f = metaField(L, b, event)
	}
	if f == lua.LNil {
		bad, operand := a, 0
		if okX {
			bad, operand = b, 1
		}
		fail(L, "attempt to perform arithmetic on %s", operandAbout(L, bad, operand))
	}
	L.Push(call1(L, f, a, b))
	return 1
}

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

// shrinkFunction is called after t[k] = nil. The machine keeps the nil in the
// table's array, and "#" would walk over all of them every time: a stack that
// is emptied by t[#t] = nil would take the square of its length.
var shrinkFunction = GoFunction(func(L *lua.LState) int {
	t, ok := L.Get(1).(*lua.LTable)
	k, isNumber := L.Get(2).(lua.LNumber)
	if !ok || !isNumber || !isArrayKey(k) || t.RawGetInt(int(k)) != lua.LNil {
		return 0
	}
	for last := t.Len(); int(k) > last; k-- {
		t.Remove(int(k))
	}
	return 0
})

// isArrayKey tells the keys that the machine keeps in a table's array.
func isArrayKey(k lua.LNumber) bool {
	return k >= 1 && k < lua.LNumber(lua.MaxArrayIndex) && k == lua.LNumber(int(k))
}
