package lua

import (
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// baseAssert is assert (v [, message]).
func baseAssert(L *lua.LState) int {
	if !lua.LVAsBool(CheckAny(L, 1)) {
		fail(L, "%s", OptString(L, 2, "assertion failed!"))
	}
	return L.GetTop()
}

// fail0 raises an error whose message has a position already or needs none.
func fail0(L *lua.LState, message string) { Throw(L, lua.LString(message)) }

// baseError is error (message [, level]).
func baseError(L *lua.LState) int {
	v := L.Get(1)
	level := optInt(L, 2, 1)
	switch m := v.(type) {
	case lua.LString:
		if level > 0 {
			v = lua.LString(where(L, level)) + m
		}
	case lua.LNumber:
		if level > 0 {
			v = lua.LString(where(L, level) + NumberText(float64(m)))
		}
	}
	Throw(L, v)
	return 0
}

// baseGetmetatable hides the metatables that belong to Scripter: those of
// strings and of _G.
func baseGetmetatable(L *lua.LState) int {
	v := CheckAny(L, 1)
	mt := lua.LNil
	switch v := v.(type) {
	case *lua.LTable:
		if v != L.G.Global {
			mt = v.Metatable
		}
	case *lua.LUserData:
		mt = v.Metatable
	}
	if t, ok := mt.(*lua.LTable); ok {
		if p := t.RawGetString("__metatable"); p != lua.LNil {
			mt = p
		}
	}
	L.Push(mt)
	return 1
}

// baseSetmetatable is setmetatable (table, metatable).
func baseSetmetatable(L *lua.LState) int {
	t := CheckTable(L, 1)
	mt := L.Get(2)
	if _, ok := mt.(*lua.LTable); !ok && (mt != lua.LNil || L.GetTop() < 2) {
		ArgumentError(L, 2, "nil or table expected")
	}
	if t == L.G.Global || metaField(L, t, "__metatable") != lua.LNil {
		fail(L, "cannot change a protected metatable")
	}
	t.Metatable = mt
	L.SetTop(1)
	return 1
}

// nextFunction is the function next. The loop does its work itself, see run.
var nextFunction *lua.LFunction

func init() { nextFunction = GoFunction(baseNext) }

// baseNext is next (table [, key]).
func baseNext(L *lua.LState) int {
	t := CheckTable(L, 1)
	k := L.Get(2)
	if k == lua.LNil {
		materialise(L, t)
	}
	k, v := Next(t, k)
	L.Push(k)
	if k == lua.LNil {
		return 1
	}
	L.Push(v)
	return 2
}

// materialise creates all libraries if t is _G, so that a walk over _G finds them.
func materialise(L *lua.LState, t *lua.LTable) {
	if t != L.G.Global {
		return
	}
	set := func(name string) {
		if t.RawGetString(name) == lua.LNil {
			RawSet(t, lua.LString(name), library(L, name))
		}
	}
	for name := range baseFunctions {
		set(name)
	}
	for name := range libraryTables {
		set(name)
	}
	set("_G")
}

// basePairs is pairs (table).
func basePairs(L *lua.LState) int {
	t := CheckTable(L, 1)
	L.Push(nextFunction)
	L.Push(t)
	L.Push(lua.LNil)
	return 3
}

// baseIpairs is ipairs (table).
func baseIpairs(L *lua.LState) int {
	t := CheckTable(L, 1)
	L.Push(ipairsFunction)
	L.Push(t)
	L.Push(lua.LNumber(0))
	return 3
}

var ipairsFunction = GoFunction(func(L *lua.LState) int {
	i := CheckInt(L, 2) + 1
	v := rawInt(CheckTable(L, 1), i)
	if v == lua.LNil {
		L.Push(lua.LNil)
		return 1
	}
	L.Push(lua.LNumber(i))
	L.Push(v)
	return 2
})

// rawInt returns t[i] without metamethods, whether gopher-lua keeps the item
// in the table's array or not.
func rawInt(t *lua.LTable, i int) lua.LValue {
	return itemsOf(t).getInt(i)
}

// setRawInt stores t[i] without metamethods.
func setRawInt(t *lua.LTable, i int, v lua.LValue) { RawSet(t, lua.LNumber(i), v) }

func baseRawequal(L *lua.LState) int {
	L.Push(lua.LBool(L.RawEqual(CheckAny(L, 1), CheckAny(L, 2))))
	return 1
}

func baseRawget(L *lua.LState) int {
	t := CheckTable(L, 1)
	k := CheckAny(L, 2)
	v := RawGet(t, k)
	if s, ok := k.(lua.LString); ok && v == lua.LNil && t == L.G.Global {
		v = library(L, string(s))
	}
	L.Push(v)
	return 1
}

func baseRawset(L *lua.LState) int {
	t := CheckTable(L, 1)
	k := CheckAny(L, 2)
	v := CheckAny(L, 3)
	setItem(L, t, k, v)
	L.SetTop(1)
	return 1
}

// baseSelect is select (n, ...).
func baseSelect(L *lua.LState) int {
	n := L.GetTop()
	if s, ok := L.Get(1).(lua.LString); ok && strings.HasPrefix(string(s), "#") {
		L.Push(lua.LNumber(n - 1))
		return 1
	}
	i := CheckInt(L, 1)
	if i < 0 {
		i = n + i
	} else if i > n {
		i = n
	}
	if i < 1 {
		ArgumentError(L, 1, "index out of range")
	}
	return n - i
}

// baseTonumber is tonumber (v [, base]).
func baseTonumber(L *lua.LState) int {
	base := optInt(L, 2, 10)
	var f float64
	var ok bool
	if base == 10 {
		f, ok = ToNumber(CheckAny(L, 1))
	} else {
		s := CheckString(L, 1)
		if base < 2 || base > 36 {
			ArgumentError(L, 2, "base out of range")
		}
		f, ok = parseInBase(s, base)
	}
	if !ok {
		L.Push(lua.LNil)
		return 1
	}
	L.Push(lua.LNumber(f))
	return 1
}

// baseTostring is tostring (v).
func baseTostring(L *lua.LState) int {
	v := CheckAny(L, 1)
	if f := metaField(L, v, "__tostring"); f != lua.LNil {
		L.Push(call1(L, f, v))
		return 1
	}
	L.Push(lua.LString(plainText(v)))
	return 1
}

// plainText returns the text of a value, without metamethods.
func plainText(v lua.LValue) string {
	switch v := v.(type) {
	case lua.LString:
		return string(v)
	case lua.LNumber:
		return NumberText(float64(v))
	}
	return v.String()
}

func baseType(L *lua.LState) int {
	L.Push(lua.LString(typeName(CheckAny(L, 1))))
	return 1
}

// baseUnpack is unpack (table [, i [, j]]).
func baseUnpack(L *lua.LState) int {
	t := CheckTable(L, 1)
	i := optInt(L, 2, 1)
	j := L.Get(3)
	last := 0
	if j == lua.LNil {
		last = t.Len()
	} else {
		last = CheckInt(L, 3)
	}
	if i > last {
		return 0
	}
	n := uint(last) - uint(i)
	if n >= maxResults {
		fail(L, "too many results to unpack")
	}
	Of(L).Charge(L, int(n))
	for k := i; ; k++ {
		L.Push(rawInt(t, k))
		if k == last {
			return int(n) + 1
		}
	}
}
