package lua

import (
	"fmt"
	"math"
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// Arguments of library functions are checked as PUC Lua does (lauxlib.c), with
// its messages.

// ArgumentError raises "bad argument #n to 'f' (why)".
func ArgumentError(L *lua.LState, n int, why string) {
	kind, name := "", ""
	if l, ok := levelAt(L, 0); ok {
		kind, name = splitName(l.name)
	}
	if name == "" {
		name = "?"
	}
	if kind == "method" {
		if n--; n == 0 {
			fail(L, "calling '%s' on bad self (%s)", name, why)
		}
	}
	fail(L, "bad argument #%d to '%s' (%s)", n, name, why)
}

// typeError raises "bad argument #n to 'f' (want expected, got …)".
func typeError(L *lua.LState, n int, want string) {
	got := "no value"
	if n <= L.GetTop() {
		got = typeName(L.Get(n))
		if o := Of(L).owner; o != nil {
			if name := o.TypeName(L.Get(n)); name != "" {
				got = name
			}
		}
	}
	ArgumentError(L, n, want+" expected, got "+got)
}

// fail raises an error with the position of the script: that of the instruction
// which failed, or that of the call of a function in Go (luaL_error).
func fail(L *lua.LState, format string, args ...any) {
	i := 0
	if l, ok := levelAt(L, 0); ok && l.fn.IsG {
		i = 1
	}
	Throw(L, lua.LString(where(L, i)+fmt.Sprintf(format, args...)))
}

// complain raises the error of an operator. The message has the position of the
// instruction, or none if a function in Go asked for the operation (luaG_runerror).
func complain(L *lua.LState, format string, args ...any) {
	position := ""
	if l, ok := levelAt(L, 0); ok {
		position = l.prefix()
	}
	Throw(L, lua.LString(position+fmt.Sprintf(format, args...)))
}

// CheckAny returns argument n, which must be given but may be nil.
func CheckAny(L *lua.LState, n int) lua.LValue {
	if n > L.GetTop() {
		ArgumentError(L, n, "value expected")
	}
	return L.Get(n)
}

// CheckString returns argument n, a string or a number.
func CheckString(L *lua.LState, n int) string {
	switch v := L.Get(n).(type) {
	case lua.LString:
		return string(v)
	case lua.LNumber:
		return NumberText(float64(v))
	}
	typeError(L, n, "string")
	return ""
}

// OptString is CheckString with a default for nil and none.
func OptString(L *lua.LState, n int, def string) string {
	if L.Get(n) == lua.LNil {
		return def
	}
	return CheckString(L, n)
}

// checkNumber returns argument n, a number or a string that can be read as one.
func checkNumber(L *lua.LState, n int) float64 {
	f, ok := ToNumber(L.Get(n))
	if !ok {
		typeError(L, n, "number")
	}
	return f
}

// optNumber is checkNumber with a default for nil and none.
func optNumber(L *lua.LState, n int, def float64) float64 {
	if L.Get(n) == lua.LNil {
		return def
	}
	return checkNumber(L, n)
}

// CheckInt returns argument n cut to an integer.
func CheckInt(L *lua.LState, n int) int { return toInt(checkNumber(L, n)) }

// optInt is CheckInt with a default for nil and none.
func optInt(L *lua.LState, n int, def int) int {
	if L.Get(n) == lua.LNil {
		return def
	}
	return CheckInt(L, n)
}

// toInt cuts a number to an integer. A number that is too large or too small becomes
// the largest or the smallest integer.
func toInt(f float64) int {
	switch {
	case f != f:
		return math.MinInt
	case f >= math.MaxInt:
		return math.MaxInt
	case f <= math.MinInt:
		return math.MinInt
	}
	return int(f)
}

func ToNumber(v lua.LValue) (float64, bool) {
	switch v := v.(type) {
	case lua.LNumber:
		return float64(v), true
	case lua.LString:
		return ParseNumber(string(v))
	}
	return 0, false
}

// CheckTable returns argument n, a table.
func CheckTable(L *lua.LState, n int) *lua.LTable {
	t, ok := L.Get(n).(*lua.LTable)
	if !ok {
		typeError(L, n, "table")
	}
	return t
}

// checkFunction returns argument n, a function.
func checkFunction(L *lua.LState, n int) *lua.LFunction {
	f, ok := L.Get(n).(*lua.LFunction)
	if !ok {
		typeError(L, n, "function")
	}
	return f
}

// trimSpace cuts C's white space from both ends.
func trimSpace(s string) string { return strings.Trim(s, " \t\n\v\f\r") }

// call1 calls fn with args and returns its first result.
func call1(L *lua.LState, fn lua.LValue, args ...lua.LValue) lua.LValue {
	L.Push(fn)
	for _, a := range args {
		L.Push(a)
	}
	L.Call(len(args), 1)
	v := L.Get(-1)
	L.Pop(1)
	return v
}

// metaField returns a field of v's metatable, LNil if there is none.
func metaField(L *lua.LState, v lua.LValue, name string) lua.LValue {
	switch v := v.(type) {
	case *lua.LTable:
		if mt, ok := v.Metatable.(*lua.LTable); ok {
			return mt.RawGetString(name)
		}
	case *lua.LUserData:
		if mt, ok := v.Metatable.(*lua.LTable); ok {
			return mt.RawGetString(name)
		}
	}
	return lua.LNil
}
