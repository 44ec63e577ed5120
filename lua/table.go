package lua

import (
	"slices"
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// tableConcat is table.concat (t [, sep [, i [, j]]]).
func tableConcat(L *lua.LState) int {
	sep := OptString(L, 2, "") // checked first, as in PUC Lua
	t := CheckTable(L, 1)
	i := optInt(L, 3, 1)
	j := 0
	if L.Get(4) == lua.LNil {
		j = t.Len()
	} else {
		j = CheckInt(L, 4)
	}
	if i > j {
		L.Push(lua.LString(""))
		return 1
	}
	length := measure(L, t, len(sep), i, j)
	Of(L).CheckLength(L, length)
	var b strings.Builder
	b.Grow(length)
	var digits [32]byte
	for k := i; ; k++ {
		switch v := rawInt(t, k).(type) {
		case lua.LString:
			b.WriteString(string(v))
		case lua.LNumber:
			b.Write(appendNumber(digits[:0], float64(v)))
		}
		if k == j {
			break
		}
		b.WriteString(sep)
	}
	L.Push(lua.LString(b.String()))
	return 1
}

// measure returns an upper bound for the length of t[i]..sep..…..t[j].
func measure(L *lua.LState, t *lua.LTable, sep, i, j int) int {
	s := Of(L)
	length := 0
	for k := i; ; k++ {
		switch v := rawInt(t, k).(type) {
		case lua.LString:
			length += len(v)
		case lua.LNumber:
			length += 24
		default:
			fail(L, "invalid value (%s) at index %d in table for 'concat'", typeName(v), k)
		}
		if k&1023 == 0 {
			s.Charge(L, 1024)
		}
		if k == j {
			return length
		}
		if length += sep; length > s.limits.StringBytes {
			return length
		}
	}
}

// tableInsert is table.insert (t, [pos,] v).
func tableInsert(L *lua.LState) int {
	t := CheckTable(L, 1)
	e := t.Len() + 1
	switch L.GetTop() {
	case 2:
		setRawInt(t, e, L.Get(2))
	case 3:
		pos := CheckInt(L, 2)
		v := L.Get(3)
		if pos >= e || pos < 1 {
			insertSlowly(L, t, pos, e, v)
			return 0
		}
		Of(L).Charge(L, (e-pos)>>5)
		t.Insert(pos, v)
		itemsOf(t).gather()
	default:
		fail(L, "wrong number of arguments to 'insert'")
	}
	return 0
}

// insertSlowly moves the items one by one, as PUC Lua does.
func insertSlowly(L *lua.LState, t *lua.LTable, pos, e int, v lua.LValue) {
	s := Of(L)
	for i := max(e, pos); i > pos; i-- {
		s.Charge(L, 1)
		setRawInt(t, i, rawInt(t, i-1))
	}
	setRawInt(t, pos, v)
}

// tableRemove is table.remove (t [, pos]).
func tableRemove(L *lua.LState) int {
	t := CheckTable(L, 1)
	e := t.Len()
	pos := optInt(L, 2, e)
	if pos < 1 || pos > e {
		return 0
	}
	Of(L).Charge(L, (e-pos)>>5)
	L.Push(t.Remove(pos))
	return 1
}

func tableGetn(L *lua.LState) int {
	L.Push(lua.LNumber(CheckTable(L, 1).Len()))
	return 1
}

// tableMaxn is table.maxn (t): the largest positive key.
func tableMaxn(L *lua.LState) int {
	t := CheckTable(L, 1)
	most := lua.LNumber(t.MaxN())
	n := 0
	t.ForEach(func(k, _ lua.LValue) {
		n++
		if f, ok := k.(lua.LNumber); ok && f > most {
			most = f
		}
	})
	Of(L).Charge(L, n)
	L.Push(most)
	return 1
}

// tableForeach is table.foreach (t, f), which 5.1 still has.
func tableForeach(L *lua.LState) int {
	t, f := CheckTable(L, 1), checkFunction(L, 2)
	materialise(L, t)
	for k, v := Next(t, lua.LNil); k != lua.LNil; k, v = Next(t, k) {
		if r := call1(L, f, k, v); r != lua.LNil {
			L.Push(r)
			return 1
		}
	}
	return 0
}

// tableForeachi is table.foreachi (t, f).
func tableForeachi(L *lua.LState) int {
	t, f := CheckTable(L, 1), checkFunction(L, 2)
	for i, n := 1, t.Len(); i <= n; i++ {
		if r := call1(L, f, lua.LNumber(i), rawInt(t, i)); r != lua.LNil {
			L.Push(r)
			return 1
		}
	}
	return 0
}

// tableSort is table.sort (t [, less]).
func tableSort(L *lua.LState) int {
	t := CheckTable(L, 1)
	s := &sorter{L: L, b: Of(L), t: t}
	if L.Get(2) != lua.LNil {
		s.less = checkFunction(L, 2)
	}
	n := t.Len()
	if s.less != nil || !sortPlain(s.b, L, t, n) {
		s.sort(1, n)
	}
	return 0
}

// sortPlain sorts a list that has only numbers or only strings. It returns false for
// other lists.
func sortPlain(s *State, L *lua.LState, t *lua.LTable, n int) bool {
	if n < 2 {
		return true
	}
	switch rawInt(t, 1).(type) {
	case lua.LNumber:
		return sortAll[lua.LNumber](s, L, t, n)
	case lua.LString:
		return sortAll[lua.LString](s, L, t, n)
	}
	return false
}

func sortAll[T interface {
	lua.LNumber | lua.LString
	lua.LValue
}](s *State, L *lua.LState, t *lua.LTable, n int) bool {
	list := make([]T, n)
	for i := range list {
		v, ok := rawInt(t, i+1).(T)
		if !ok || v != v {
			return false
		}
		list[i] = v
	}
	s.Charge(L, 16*n)
	slices.Sort(list)
	s.Charge(L, 1)
	for i, v := range list {
		setRawInt(t, i+1, v)
	}
	return true
}
