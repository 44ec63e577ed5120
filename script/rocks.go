package script

import (
	"scripter/lua"
	"scripter/objectdb"
)

// Rocks is the address of the libraries that "scripter rocks" has added: a table for each rock, whose table
// modules has a script under the whole name of each module, such as "pl.utils".
var Rocks = objectdb.Address{"suites", "rocks"}

// rocks is what the rocks of one run share. A rock finds what Lua 5.1 has, and not the names of the root: what
// it does not find is nil, and what it assigns stays in globals. So a rock that is called json, or that assigns
// a global of that name, hides nothing from the site's scripts.
type rocks struct {
	globals *lua.LTable // _G of the rocks
	loaded  *lua.LTable // package.loaded
	preload *lua.LTable // package.preload
}

// rocksMeta is the metatable of the rocks' _G, until a rock sets another one. Scripts cannot reach it. What
// Lua has comes into _G when it is first asked for: most rocks need little of it.
var rocksMeta = lua.NewTable(0, 1)

func init() {
	lua.RawSet(rocksMeta, lua.LString("__index"), lua.GoFunction(func(L *lua.LState) int {
		lv := lua.LNil
		if name, ok := L.Get(2).(lua.LString); ok {
			t := threadOf(L)
			if lv = t.rockBuiltin(string(name)); lv == lua.LNil {
				lv = t.rawGlobal(string(name))
			}
		}
		L.Push(lv)
		return 1
	}))
}

// rockEnvironment returns what the rocks of this run share.
func (t *Thread) rockEnvironment() *rocks {
	if t.rocks == nil {
		t.rocks = &rocks{globals: lua.NewTable(0, 16), loaded: lua.NewTable(0, 8), preload: lua.NewTable(0, 0)}
		t.rocks.globals.Metatable = rocksMeta
	}
	return t.rocks
}

// rockBuiltin returns what a name means in Lua 5.1, and keeps it in the rocks' _G; LNil for nothing.
func (t *Thread) rockBuiltin(name string) lua.LValue {
	r := t.rockEnvironment()
	var lv lua.LValue = lua.LNil
	switch {
	case name == "_G":
		lv = r.globals
	case rockFunctions[name] != nil:
		lv = rockFunctions[name]
	case isRockLibrary(name):
		lv = t.rockLibrary(name)
	case name != "odb":
		lv = t.builtin(name)
	}
	if lv != lua.LNil {
		lua.RawSet(r.globals, lua.LString(name), lv)
	}
	return lv
}

func isRockLibrary(name string) bool { return rockLibraries[name] != nil || lua.IsLibrary(name) }

// rockLibrary makes a library for rocks, which may change it. Methods of strings are found in the one library
// that all strings share, so a run whose rocks use it has string.dump.
func (t *Thread) rockLibrary(name string) *lua.LTable {
	r := t.rockEnvironment()
	tb := lua.NewTable(0, 16)
	if own, ok := t.builtin(name).(*lua.LTable); ok && name == "string" {
		tb = own
	} else if ok {
		for k, v := lua.Next(own, lua.LNil); k != lua.LNil; k, v = lua.Next(own, k) {
			lua.RawSet(tb, k, v)
		}
	}
	for name, f := range rockLibraries[name] {
		lua.RawSet(tb, lua.LString(name), f)
	}
	lua.RawSet(r.loaded, lua.LString(name), tb)
	switch name {
	case "io":
		addStreams(tb)
	case "package":
		for _, c := range []struct {
			name  string
			value lua.LValue
		}{
			{"loaded", r.loaded}, {"preload", r.preload}, {"path", lua.LString("")}, {"cpath", lua.LString("")},
			{"config", lua.LString("/\n;\n?\n!\n-\n")}, {"loaders", lua.NewTable(0, 0)},
		} {
			lua.RawSet(tb, lua.LString(c.name), c.value)
		}
		lua.RawSet(r.globals, lua.LString(name), tb)
		t.settleRocks()
		lua.RawSet(r.loaded, lua.LString("_G"), r.globals)
	}
	return tb
}

// settleRocks puts everything that Lua has into the rocks' _G, for a rock that walks through it.
func (t *Thread) settleRocks() {
	set := func(name string) {
		if lua.RawGet(t.rocks.globals, lua.LString(name)) == lua.LNil {
			t.rockBuiltin(name)
		}
	}
	for name := range rockFunctions {
		set(name)
	}
	for name := range rockLibraries {
		set(name)
	}
	for _, name := range lua.GlobalNames() {
		set(name)
	}
}

// rockGlobal returns a global that a rock has assigned, nil if there is none.
func (t *Thread) rockGlobal(name string) lua.LValue {
	if t.rocks == nil || rockFunctions[name] != nil || rockLibraries[name] != nil {
		return nil
	}
	if lv := lua.RawGet(t.rocks.globals, lua.LString(name)); lv != lua.LNil {
		return lv
	}
	return nil
}

// rockScript returns the script of a module of some rock, nil if there is none. As in a folder, "a.b" is also
// found as "a.b.init".
func (t *Thread) rockScript(name string) (*objectdb.Node, objectdb.Address, error) {
	if t.tx == nil {
		return nil, nil, nil
	}
	top, err := t.tx.Find(Rocks)
	if err != nil || top.Kind() != objectdb.KindTable {
		return nil, nil, unlessMissing(err)
	}
	list, err := t.tx.Children(top)
	if err != nil {
		return nil, nil, err
	}
	for _, file := range [...]string{name, name + ".init"} {
		for _, rock := range list {
			if rock.Kind() != objectdb.KindTable {
				continue
			}
			modules, err := t.tx.Child(rock, "modules")
			if objectdb.IsMissing(err) || err == nil && modules.Kind() != objectdb.KindTable {
				continue
			}
			if err != nil {
				return nil, nil, err
			}
			n, err := t.tx.Child(modules, file)
			if err == nil && n.Kind() == objectdb.KindScript {
				return n, Rocks.Child(rock.Name()).Child("modules").Child(n.Name()), nil
			}
			if unlessMissing(err) != nil {
				return nil, nil, err
			}
		}
	}
	return nil, nil, nil
}

// rockFunction returns the function of a module of some rock, nil if there is none. Its source may be longer
// than that of other scripts.
func (t *Thread) rockFunction(name string) (*lua.LFunction, error) {
	n, a, err := t.rockScript(name)
	if n == nil || err != nil {
		return nil, err
	}
	v, err := t.tx.Value(n)
	if err != nil {
		return nil, err
	}
	source, ok := v.(objectdb.Script)
	if !ok {
		return nil, ErrNotScript
	}
	c := t.engine.compiled(n.ID(), n.Version(), a, string(source))
	if c.err != nil {
		return nil, t.syntaxError(c.err, c.address, c.source)
	}
	fn := t.state.NewFunction(c.proto)
	fn.Env = t.rockEnvironment().globals
	t.addChunk(c.name, &c.chunk)
	return fn, nil
}

// requireRock loads a module as Lua's own require does: from package.loaded, package.preload, and the rocks. It
// reports whether there is such a module, and pushes what it gave.
func (t *Thread) requireRock(L *lua.LState, name string) (found bool) {
	key := lua.LString(name)
	if t.rocks == nil && !isRockLibrary(name) { // most scripts require no rock
		if n, _, err := t.rockScript(name); n == nil && err == nil && rockExtra(name) == nil {
			return false
		}
	}
	r := t.rockEnvironment()
	if isRockLibrary(name) && lua.RawGet(r.loaded, key) == lua.LNil {
		t.rockBuiltin(name)
	}
	if lv := lua.RawGet(r.loaded, key); lv != lua.LNil && lv != lua.LFalse {
		if lv == loading {
			t.fail(L, "loop or previous error loading module '%s'", name)
		}
		L.Push(lv)
		return true
	}
	fn, ok := lua.RawGet(r.preload, key).(*lua.LFunction)
	if !ok {
		var err error
		if fn, err = t.rockFunction(name); err != nil {
			t.raise(L, "error loading module '"+name+"': ", err)
		}
	}
	if fn == nil {
		extra := rockExtra(name)
		if extra == nil {
			return false
		}
		lv := extra()
		lua.RawSet(r.loaded, key, lv)
		L.Push(lv)
		return true
	}
	lua.RawSet(r.loaded, key, loading)
	defer func() {
		if lua.RawGet(r.loaded, key) == loading { // it failed: let the next require try again
			lua.RawSet(r.loaded, key, lua.LNil)
		}
	}()
	L.Push(fn)
	L.Push(key)
	L.Call(1, 1)
	lv := L.Get(-1)
	L.Pop(1)
	if lv != lua.LNil {
		lua.RawSet(r.loaded, key, lv)
	} else if lv = lua.RawGet(r.loaded, key); lv == loading {
		lv = lua.LTrue
		lua.RawSet(r.loaded, key, lv)
	}
	L.Push(lv)
	return true
}

// rockRequire is require (name) in rocks. What no rock has may be a script of the site.
func rockRequire(L *lua.LState) int {
	t := threadOf(L)
	name := lua.CheckString(L, 1)
	if t.requireRock(L, name) {
		return 1
	}
	if fn, err := t.module(name); err == nil && fn != nil {
		return requireScript(L)
	}
	t.fail(L, "module '%s' not found: no rock in %s has it", name, Rocks)
	return 0
}

// CanRequire reports whether require finds something of a name: a script of the root, a module of a rock or a
// library of Lua. It runs nothing.
func (t *Thread) CanRequire(name string) (bool, error) {
	if fn, err := t.module(name); fn != nil && err == nil || lua.IsLibrary(name) || rockExtra(name) != nil {
		return true, nil
	}
	n, _, err := t.rockScript(name)
	return n != nil, err
}

// EachRockModule calls f for the name and the source of every module of the rocks in the root.
func EachRockModule(tx *objectdb.Tx, f func(name, source string)) error {
	err := tx.Walk(Rocks, func(at objectdb.Address, n *objectdb.Node) error {
		if n.Kind() != objectdb.KindScript || len(at) != len(Rocks)+3 {
			return nil
		}
		v, err := tx.Value(n)
		if source, ok := v.(objectdb.Script); ok {
			f(n.Name(), string(source))
		}
		return err
	})
	return unlessMissing(err)
}

// IsRock reports whether an address lies in [Rocks].
func IsRock(a objectdb.Address) bool {
	if len(a) < len(Rocks) {
		return false
	}
	for i, name := range Rocks {
		if objectdb.Fold(a[i]) != name {
			return false
		}
	}
	return true
}
