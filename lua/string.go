package lua

import (
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// fromEnd returns position i counted from the start. A negative i counts from the end.
func fromEnd(i, length int) int {
	if i >= 0 {
		return i
	}
	if i < -length {
		return 0
	}
	return length + i + 1
}

// sub returns the bytes of s from i to j, as string.sub does.
func sub(s string, i, j int) string {
	i, j = max(fromEnd(i, len(s)), 1), min(fromEnd(j, len(s)), len(s))
	if i > j {
		return ""
	}
	return s[i-1 : j]
}

func stringSub(L *lua.LState) int {
	L.Push(lua.LString(sub(CheckString(L, 1), CheckInt(L, 2), optInt(L, 3, -1))))
	return 1
}

func stringLen(L *lua.LState) int {
	L.Push(lua.LNumber(len(CheckString(L, 1))))
	return 1
}

// stringByte is string.byte (s [, i [, j]]).
func stringByte(L *lua.LState) int {
	s := CheckString(L, 1)
	i := optInt(L, 2, 1)
	s = sub(s, i, optInt(L, 3, fromEnd(i, len(s))))
	if fromEnd(i, len(CheckString(L, 1))) <= 0 && L.GetTop() < 3 {
		s = ""
	}
	if len(s) >= maxResults {
		fail(L, "stack overflow (string slice too long)")
	}
	Of(L).Charge(L, len(s))
	for k := range len(s) {
		L.Push(lua.LNumber(s[k]))
	}
	return len(s)
}

func stringChar(L *lua.LState) int {
	b := make([]byte, L.GetTop())
	for i := range b {
		c := CheckInt(L, i+1)
		if c != int(byte(c)) {
			ArgumentError(L, i+1, "invalid value")
		}
		b[i] = byte(c)
	}
	L.Push(lua.LString(b))
	return 1
}

// stringRep is string.rep (s, n).
func stringRep(L *lua.LState) int {
	s, n := CheckString(L, 1), CheckInt(L, 2)
	if n <= 0 || s == "" {
		L.Push(lua.LString(""))
		return 1
	}
	most := Of(L).limits.StringBytes
	length := most + 1
	if n <= most/len(s) {
		length = n * len(s)
	}
	Of(L).CheckLength(L, length)
	L.Push(lua.LString(strings.Repeat(s, n)))
	return 1
}

func stringReverse(L *lua.LState) int {
	s := CheckString(L, 1)
	checkRoom(L, len(s))
	b := make([]byte, len(s))
	for i := range len(s) {
		b[len(s)-1-i] = s[i]
	}
	L.Push(lua.LString(b))
	return 1
}

// stringUpper and stringLower change ASCII letters only, as the C locale does;
// text in UTF-8 stays whole.
func stringUpper(L *lua.LState) int { return mapBytes(L, 'a', 'z') }

func stringLower(L *lua.LState) int { return mapBytes(L, 'A', 'Z') }

// mapBytes changes the case of the letters from first to last.
func mapBytes(L *lua.LState, first, last byte) int {
	s := CheckString(L, 1)
	checkRoom(L, len(s))
	b := []byte(s)
	for i, c := range b {
		if first <= c && c <= last {
			b[i] = c ^ 0x20
		}
	}
	L.Push(lua.LString(b))
	return 1
}
