package lua

import (
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// stringFind is string.find (s, pattern [, init [, plain]]).
func stringFind(L *lua.LState) int { return find(L, true) }

// stringMatch is string.match (s, pattern [, init]).
func stringMatch(L *lua.LState) int { return find(L, false) }

func find(L *lua.LState, positions bool) int {
	s, p := CheckString(L, 1), CheckString(L, 2)
	init := fromEnd(optInt(L, 3, 1), len(s)) - 1
	init = min(max(init, 0), len(s))
	if positions && (lua.LVAsBool(L.Get(4)) || !strings.ContainsAny(p, "^$*+?.([%-")) {
		Of(L).Charge(L, (len(s)-init)>>6)
		i := strings.Index(s[init:], p)
		if i < 0 {
			L.Push(lua.LNil)
			return 1
		}
		L.Push(lua.LNumber(init + i + 1))
		L.Push(lua.LNumber(init + i + len(p)))
		return 2
	}
	var m matcher
	m.start(L, s, p)
	anchor := 0
	if p != "" && p[0] == '^' {
		anchor = 1
	}
	for ; ; init++ {
		if end := m.at(init, anchor); end != noMatch {
			if !positions {
				return m.push(init, end, true)
			}
			L.Push(lua.LNumber(init + 1))
			L.Push(lua.LNumber(end))
			return m.push(init, end, false) + 2
		}
		if init >= len(s) || anchor == 1 {
			L.Push(lua.LNil)
			return 1
		}
	}
}

// stringGmatch is string.gmatch (s, pattern). A '^' is no anchor here, as in
// PUC Lua 5.1.
func stringGmatch(L *lua.LState) int {
	s, p := CheckString(L, 1), CheckString(L, 2)
	at := 0
	L.Push(L.NewFunction(func(L *lua.LState) int {
		var m matcher
		m.start(L, s, p)
		for ; at <= len(s); at++ {
			end := m.at(at, 0)
			if end == noMatch {
				continue
			}
			from := at
			if at = end; end == from {
				at++
			}
			return m.push(from, end, true)
		}
		return 0
	}))
	return 1
}

// stringGsub is string.gsub (s, pattern, repl [, n]).
func stringGsub(L *lua.LState) int {
	s, p := CheckString(L, 1), CheckString(L, 2)
	repl, most := L.Get(3), optInt(L, 4, len(s)+1)
	switch r := repl.(type) {
	case lua.LString, *lua.LTable, *lua.LFunction:
	case lua.LNumber:
		repl = lua.LString(NumberText(float64(r)))
	default:
		ArgumentError(L, 3, "string/function/table expected")
	}
	var m matcher
	m.start(L, s, p)
	anchor := 0
	if p != "" && p[0] == '^' {
		anchor = 1
	}
	out := &text{L: L}
	n, at, copied := 0, 0, 0
	for n < most {
		end := m.at(at, anchor)
		if end != noMatch {
			n++
			out.add(s[copied:at])
			m.replace(out, repl, at, end)
			copied = end
		}
		switch {
		case end != noMatch && end > at:
			at = end
		case at < len(s):
			if end != noMatch { // the match is empty, so the character stays
				copied = at
			}
			at++
		default:
			at = len(s) + 1
		}
		if at > len(s) || anchor == 1 {
			break
		}
	}
	if n == 0 {
		L.Push(lua.LString(s))
	} else {
		out.add(s[copied:])
		L.Push(lua.LString(out.String()))
	}
	L.Push(lua.LNumber(n))
	return 2
}

// replace adds the replacement of the match from s to end.
func (m *matcher) replace(out *text, repl lua.LValue, s, end int) {
	var v lua.LValue
	switch r := repl.(type) {
	case lua.LString:
		m.template(out, string(r), s, end)
		return
	case *lua.LTable:
		v = m.b.getIndex(m.L, r, m.value(0, s, end))
	case *lua.LFunction:
		m.L.Push(r)
		n := m.push(s, end, true)
		m.L.Call(n, 1)
		v = m.L.Get(-1)
		m.L.Pop(1)
	}
	switch v := v.(type) {
	case lua.LString:
		out.add(string(v))
	case lua.LNumber:
		out.add(NumberText(float64(v)))
	default:
		if lua.LVAsBool(v) {
			fail(m.L, "invalid replacement value (a %s)", typeName(v))
		}
		out.add(m.subject[s:end])
	}
}

// template adds the string r, in which %0 to %9 stand for the captures of the match
// from s to end.
func (m *matcher) template(out *text, r string, s, end int) {
	for {
		i := strings.IndexByte(r, '%')
		if i < 0 {
			out.add(r)
			return
		}
		if i == len(r)-1 { // in C the zero at the end of the string follows
			out.add(r[:i] + "\x00")
			return
		}
		out.add(r[:i])
		switch c := r[i+1]; {
		case !isDigit(c):
			out.add(r[i+1 : i+2])
		case c == '0':
			out.add(m.subject[s:end])
		default:
			switch v := m.value(int(c-'1'), s, end).(type) {
			case lua.LNumber:
				out.add(NumberText(float64(v)))
			case lua.LString:
				out.add(string(v))
			}
		}
		r = r[i+2:]
	}
}

// A text is a string that is being built. It cannot grow beyond the limit for strings.
type text struct {
	strings.Builder
	L *lua.LState
}

func (t *text) add(s string) {
	if n := t.Len() + len(s); n > t.Cap() {
		checkRoom(t.L, n)
	}
	t.WriteString(s)
}

// checkRoom raises an error if a string of n bytes is too long.
func checkRoom(L *lua.LState, n int) { Of(L).CheckLength(L, n) }
