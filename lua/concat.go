package lua

import (
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// concatFunction is what ".." calls in normalised code; see normaliser.concat.
var concatFunction = GoFunction(concat)

// concat joins its arguments as the operator does: from the right, strings and
// numbers as text, anything else by __concat.
func concat(L *lua.LState) int {
	n := L.GetTop()
	s, ok := joinShort(L, n)
	if !ok {
		s, ok = join(L, 1, n)
	}
	if ok {
		L.Push(lua.LString(s))
		return 1
	}
	right := L.Get(n)
	for i := n - 1; i >= 1; {
		left := L.Get(i)
		if !isText(left) || !isText(right) {
			right = concatMeta(L, left, right, i)
			i--
			continue
		}
		first := i
		for first > 1 && isText(L.Get(first-1)) {
			first--
		}
		L.SetTop(i)
		L.Push(right)
		s, _ := join(L, first, i+1)
		right = lua.LString(s)
		i = first - 1
	}
	L.Push(right)
	return 1
}

// joinShort joins the n arguments if all are text and their sum is short: it
// looks at each once, and makes a string of the very length.
func joinShort(L *lua.LState, n int) (string, bool) {
	var room [128]byte
	text := room[:0]
	for i := 1; i <= n; i++ {
		switch v := L.Get(i).(type) {
		case lua.LString:
			if len(v) > len(room)-len(text) {
				return "", false
			}
			text = append(text, v...)
		case lua.LNumber:
			if numberRoom > len(room)-len(text) {
				return "", false
			}
			text = appendNumber(text, float64(v))
		default:
			return "", false
		}
	}
	Of(L).CheckLength(L, len(text))
	return string(text), true
}

// numberRoom is what the text of a number needs at most.
const numberRoom = 24

// join joins the arguments from first to last if all are text.
func join(L *lua.LState, first, last int) (string, bool) {
	length := 0
	for i := first; i <= last; i++ {
		switch v := L.Get(i).(type) {
		case lua.LString:
			length += len(v)
		case lua.LNumber:
			length += numberRoom
		default:
			return "", false
		}
	}
	Of(L).CheckLength(L, length)
	var b strings.Builder
	b.Grow(length)
	var digits [32]byte
	for i := first; i <= last; i++ {
		switch v := L.Get(i).(type) {
		case lua.LString:
			b.WriteString(string(v))
		case lua.LNumber:
			b.Write(appendNumber(digits[:0], float64(v)))
		}
	}
	return b.String(), true
}

func isText(v lua.LValue) bool { return v.Type() == lua.LTString || v.Type() == lua.LTNumber }

// concatMeta joins operand i and what is right of it by their metamethod.
func concatMeta(L *lua.LState, left, right lua.LValue, i int) lua.LValue {
	f := metaField(L, left, "__concat")
	if f == lua.LNil {
		f = metaField(L, right, "__concat")
	}
	if f != lua.LNil {
		return Of(L).metaCall(L, f, left, right)
	}
	bad, operand := left, i-1
	if isText(left) {
		bad, operand = right, i
	}
	fail(L, "attempt to concatenate %s", operandAbout(L, bad, operand))
	return lua.LNil
}

// appendFunction is called for {…, f ()} where the compiler would put the
// results of f in the wrong place: append (table, items, results...).
var appendFunction = GoFunction(func(L *lua.LState) int {
	t := L.Get(1).(*lua.LTable)
	n := int(L.Get(2).(lua.LNumber))
	for i := 3; i <= L.GetTop(); i++ {
		t.RawSetInt(n+i-2, L.Get(i))
	}
	L.SetTop(1)
	return 1
})
