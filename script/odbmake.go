package script

import (
	"scripter/lua"
	"scripter/objectdb"
)

// odbText has two uses. For a string it returns a text: the same string, which is
// stored as an object of kind text. For anything else it returns the text as a
// string: the source of a script, the cells of a table, a date as it prints.
func odbText(L *lua.LState) int {
	if s, ok := L.Get(1).(lua.LString); ok {
		L.Push(marked(objectdb.Text(s)))
		return 1
	}
	L.Push(lua.LString(threadOf(L).mustText(L, lua.CheckAny(L, 1))))
	return 1
}

func odbOutline(L *lua.LState) int {
	L.Push(marked(objectdb.Outline(lua.CheckString(L, 1))))
	return 1
}

// odbScript refuses source that does not compile, so that the error comes when the
// script is made and not when it is called.
func odbScript(L *lua.LState) int {
	source := lua.CheckString(L, 1)
	t := threadOf(L)
	if _, err := t.state.Compile("script", source); err != nil {
		t.raise(L, "", t.syntaxError(err, nil, source))
	}
	t.state.Charge(L, len(source))
	L.Push(marked(objectdb.Script(source)))
	return 1
}

func odbList(L *lua.LState) int {
	n := L.GetTop()
	tb := lua.NewTable(n, 0)
	tb.Metatable = listMeta
	for i := 1; i <= n; i++ {
		lua.RawSet(tb, lua.LNumber(i), L.Get(i))
	}
	L.Push(tb)
	return 1
}

func odbBinary(L *lua.LState) int {
	data := lua.CheckString(L, 1)
	mime := lua.OptString(L, 2, "application/octet-stream")
	L.Push(marked(objectdb.Binary{Type: mime, Data: data}))
	return 1
}

// odbAddress adds names to an address one by one, whatever characters they
// hold: the safe way to a cell whose name came from outside.
func odbAddress(L *lua.LState) int {
	var a objectdb.Address
	if tb, ok := L.Get(1).(*lua.LTable); ok {
		for i := 1; i <= tb.Len(); i++ {
			a = append(a, checkName(L, 1, lua.RawGet(tb, lua.LNumber(i))))
		}
	} else {
		a = checkAddress(L, 1)
	}
	for i := 2; i <= L.GetTop(); i++ {
		a = a.Child(checkName(L, i, L.Get(i)))
	}
	L.Push(marked(a))
	return 1
}

func checkName(L *lua.LState, i int, lv lua.LValue) string {
	s, ok := lv.(lua.LString)
	if !ok {
		lua.ArgumentError(L, i, "name expected, got "+kindName(threadOf(L).fromLua(lv)))
	}
	if err := objectdb.CheckName(string(s)); err != nil {
		lua.ArgumentError(L, i, err.Error())
	}
	return string(s)
}
