package script

import (
	"scripter/lua"
	"scripter/objectdb"
)

// loading marks a script whose require has not returned.
var loading = lua.LValue(&lua.LUserData{Metatable: lua.LNil})

// requireScript is require (name): it runs the script that the dotted name means,
// with the name as its argument, and returns its result, or true if it has none. It
// runs a script once in a run and returns the same result again. What is no script may be a module of a
// rock, or a library of Lua.
func requireScript(L *lua.LState) int {
	t := threadOf(L)
	name := lua.CheckString(L, 1)
	fn, err := t.module(name)
	if fn == nil && lua.IsLibrary(name) {
		L.Push(t.builtin(name))
		return 1
	}
	if fn == nil && !isRockLibrary(name) && t.requireRock(L, name) {
		return 1
	}
	if err != nil { // also of a name such as "a-b", which is no address but may be that of a module
		t.raise(L, "require "+quote(name)+": ", err)
	}
	if fn == nil {
		t.fail(L, "require %s: no script has this name", quote(name))
	}
	if lv, ok := t.modules[fn]; ok {
		if lv == loading {
			t.fail(L, "require %s: the script requires itself", quote(name))
		}
		L.Push(lv)
		return 1
	}
	if t.modules == nil {
		t.modules = make(map[*lua.LFunction]lua.LValue)
	}
	t.modules[fn] = loading
	L.Push(fn)
	L.Push(lua.LString(name))
	defer func() {
		if t.modules[fn] == loading { // it failed: let the next require try again
			delete(t.modules, fn)
		}
	}()
	L.Call(1, 1)
	lv := L.Get(-1)
	if lv == lua.LNil {
		lv = lua.LTrue
	}
	t.modules[fn] = lv
	L.Push(lv)
	return 1
}

// module returns the script that a dotted name means in the root, or nil.
// Globals of the run do not hide it: lib = require "lib" makes one.
func (t *Thread) module(name string) (*lua.LFunction, error) {
	a, err := objectdb.ParseAddress(name)
	if err != nil || len(a) == 0 {
		return nil, err
	}
	lv, _, err := t.inRoot(a[0])
	for i := 1; err == nil && i < len(a) && lv != lua.LNil; i++ {
		lv, err = t.field(lv, a[i])
	}
	fn, ok := lv.(*lua.LFunction)
	if err != nil || !ok || t.scripts[fn] == nil {
		return nil, err
	}
	return fn, nil
}
