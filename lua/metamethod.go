package lua

import (
	"math"

	lua "github.com/yuin/gopher-lua"
)

// gopher-lua calls a metamethod only if it is a function. In Lua it may be
// anything that can be called, and what cannot be called is an error. These
// functions do what an instruction does with operands that need a metamethod.

// metaCall calls a metamethod for its first result.
func (s *State) metaCall(L *lua.LState, f lua.LValue, args ...lua.LValue) lua.LValue {
	if _, ok := f.(*lua.LFunction); !ok {
		if _, ok := L.GetMetaField(f, "__call").(*lua.LFunction); !ok {
			complain(L, "attempt to call a %s value", typeName(f))
		}
	}
	return call1(L, f, args...)
}

// arith is a binary operator (luaV_arith): of numbers, of strings that are
// numbers, else by the metamethod of the left or the right operand.
func (s *State) arith(L *lua.LState, op int, a, b lua.LValue) lua.LValue {
	x, okX := ToNumber(a)
	y, okY := ToNumber(b)
	if okX && okY {
		return s.numbers.value(compute(op, lua.LNumber(x), lua.LNumber(y)))
	}
	event := events[op]
	f := L.GetMetaField(a, event)
	if f == lua.LNil {
		f = L.GetMetaField(b, event)
	}
	if f == lua.LNil {
		bad, operand := a, 0
		if okX {
			bad, operand = b, 1
		}
		complain(L, "attempt to perform arithmetic on %s", describeOperand(L, bad, operand))
	}
	return s.metaCall(L, f, a, b)
}

var events = [...]string{
	lua.OP_ADD: "__add", lua.OP_SUB: "__sub", lua.OP_MUL: "__mul", lua.OP_DIV: "__div", lua.OP_MOD: "__mod",
	lua.OP_POW: "__pow", lua.OP_UNM: "__unm",
}

// compute is an operator on numbers. Of OP_UNM both operands are the same.
func compute(op int, x, y lua.LNumber) lua.LNumber {
	switch op {
	case lua.OP_ADD:
		return x + y
	case lua.OP_SUB:
		return x - y
	case lua.OP_MUL:
		return x * y
	case lua.OP_DIV:
		return x / y
	case lua.OP_MOD:
		return lua.LNumber(modulo(float64(x), float64(y)))
	case lua.OP_POW:
		return lua.LNumber(math.Pow(float64(x), float64(y)))
	}
	return -x
}

// modulo is % as PUC Lua computes it (luai_nummod): not exact, as math.Mod is, and
// right for an infinite divisor, for which gopher-lua's is wrong. The conversion
// keeps Go's compiler from joining two roundings into one.
func modulo(a, b float64) float64 { return a - float64(math.Floor(a/b)*b) }

// length is the operator #.
func (s *State) length(L *lua.LState, v lua.LValue) lua.LValue {
	if f, ok := L.GetMetaField(v, "__len").(*lua.LFunction); ok {
		return call1(L, f, v)
	}
	t, ok := v.(*lua.LTable)
	if !ok {
		complain(L, "attempt to get length of %s", describeOperand(L, v, 0))
	}
	return s.numbers.value(lua.LNumber(t.Len()))
}

// checkCallable raises an error if what an instruction is to call cannot be called.
func checkCallable(L *lua.LState, v lua.LValue) {
	if _, ok := v.(*lua.LFunction); ok {
		return
	}
	if _, ok := L.GetMetaField(v, "__call").(*lua.LFunction); !ok {
		complain(L, "attempt to call %s", describeOperand(L, v, 0))
	}
}

// equal is == (luaV_equalval) of values that are not the same.
func (s *State) equal(L *lua.LState, a, b lua.LValue) bool {
	kind := a.Type()
	if kind != b.Type() || kind != lua.LTTable && kind != lua.LTUserData {
		return a == b
	}
	if a == b {
		return true
	}
	f := comparison(L, a, b, "__eq")
	return f != lua.LNil && lua.LVAsBool(s.metaCall(L, f, a, b))
}

// comparison returns the metamethod that both operands have, LNil if they do not
// have the same (get_compTM).
func comparison(L *lua.LState, a, b lua.LValue, event string) lua.LValue {
	f := L.GetMetaField(a, event)
	if f == lua.LNil || !L.RawEqual(f, L.GetMetaField(b, event)) {
		return lua.LNil
	}
	return f
}

// less is < (luaV_lessthan).
func (s *State) less(L *lua.LState, a, b lua.LValue) bool {
	if x, ok := a.(lua.LNumber); ok {
		if y, ok := b.(lua.LNumber); ok {
			return x < y
		}
	}
	if x, ok := a.(lua.LString); ok {
		if y, ok := b.(lua.LString); ok {
			return x < y
		}
	}
	if a.Type() == b.Type() {
		if f := comparison(L, a, b, "__lt"); f != lua.LNil {
			return lua.LVAsBool(s.metaCall(L, f, a, b))
		}
	}
	return notOrdered(L, a, b)
}

// lessEqual is <= (lessequal in lvm.c).
func (s *State) lessEqual(L *lua.LState, a, b lua.LValue) bool {
	if x, ok := a.(lua.LNumber); ok {
		if y, ok := b.(lua.LNumber); ok {
			return x <= y
		}
	}
	if x, ok := a.(lua.LString); ok {
		if y, ok := b.(lua.LString); ok {
			return x <= y
		}
	}
	if a.Type() == b.Type() {
		if f := comparison(L, a, b, "__le"); f != lua.LNil {
			return lua.LVAsBool(s.metaCall(L, f, a, b))
		}
		if f := comparison(L, b, a, "__lt"); f != lua.LNil {
			return !lua.LVAsBool(s.metaCall(L, f, b, a))
		}
	}
	return notOrdered(L, a, b)
}

// notOrdered raises the error of two values without an order (luaG_ordererror).
func notOrdered(L *lua.LState, a, b lua.LValue) bool {
	if left, right := typeName(a), typeName(b); left != right {
		complain(L, "attempt to compare %s with %s", left, right)
	} else {
		complain(L, "attempt to compare two %s values", left)
	}
	return false
}

// getIndex returns object[key] (luaV_gettable).
func (s *State) getIndex(L *lua.LState, object, key lua.LValue) lua.LValue {
	first := object
	for range lua.MaxTableGetLoop {
		t, isTable := object.(*lua.LTable)
		if isTable {
			if v := itemsOf(t).get(key); v != lua.LNil || t.Metatable == lua.LNil {
				return v
			}
		}
		f := L.GetMetaField(object, "__index")
		switch f.(type) {
		case *lua.LFunction:
			return call1(L, f, object, key)
		case *lua.LNilType:
			if !isTable {
				notIndexed(L, first, object)
			}
			return lua.LNil
		}
		object = f
	}
	complain(L, "loop in gettable")
	return lua.LNil
}

// notIndexed raises the error of an object that has no fields. It is the operand, or
// its metatable leads there.
func notIndexed(L *lua.LState, operand, object lua.LValue) {
	about := "a " + typeName(object) + " value"
	if object == operand {
		about = describeOperand(L, operand, 0)
	}
	complain(L, "attempt to index %s", about)
}

// setIndex is object[key] = value (luaV_settable).
func (s *State) setIndex(L *lua.LState, object, key, value lua.LValue) {
	first := object
	for range lua.MaxTableGetLoop {
		t, isTable := object.(*lua.LTable)
		if isTable && (t.Metatable == lua.LNil || itemsOf(t).get(key) != lua.LNil) {
			setItem(L, t, key, value)
			return
		}
		f := L.GetMetaField(object, "__newindex")
		switch f.(type) {
		case *lua.LFunction:
			L.Push(f)
			L.Push(object)
			L.Push(key)
			L.Push(value)
			L.Call(3, 0)
			return
		case *lua.LNilType:
			if !isTable {
				notIndexed(L, first, object)
			}
			setItem(L, t, key, value)
			return
		}
		object = f
	}
	complain(L, "loop in settable")
}

// setItem stores t[key], or raises an error if it is no key.
func setItem(L *lua.LState, t *lua.LTable, key, value lua.LValue) {
	switch k := key.(type) {
	case lua.LNumber:
		if k != k {
			complain(L, "table index is NaN")
		}
	case *lua.LNilType:
		complain(L, "table index is nil")
	}
	itemsOf(t).set(key, value)
}
