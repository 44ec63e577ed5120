package script

import (
	"scripter/lua"
	"scripter/objectdb"
)

// macros is the table that Resolve searches first.
var macros = objectdb.Address{"suites", "webserver", "macros"}

// environmentMeta is the metatable of _G.
var environmentMeta = lua.NewMetatable()

func init() {
	lua.Define(environmentMeta, map[string]lua.LGFunction{
		"__index":    environmentIndex,
		"__newindex": environmentNewIndex,
	})
}

// openEnvironment gives _G the metatable by which scripts find bare names.
func (t *Thread) openEnvironment() { t.state.Globals().Metatable = environmentMeta }

// environmentIndex finds a name that is neither a local nor a global with a value.
func environmentIndex(L *lua.LState) int {
	name, ok := L.Get(2).(lua.LString)
	if !ok {
		L.Push(lua.LNil)
		return 1
	}
	t := threadOf(L)
	lv, err := t.global(string(name))
	if err != nil {
		t.raise(L, "", err)
	}
	if lv == nil {
		lv = t.rockGlobal(string(name))
	}
	if lv == nil {
		if _, ok := t.assigned[string(name)]; !ok {
			t.fail(L, "undefined name: %s%s", name, Elsewhere(string(name)))
		}
		lv = lua.LNil
	}
	L.Push(lv)
	return 1
}

// Elsewhere returns a hint for a name that people know from other environments:
// what to use here instead. It returns "" for all other names.
func Elsewhere(name string) string {
	switch name {
	case "print", "echo":
		return "; write (text) adds to the response"
	case "expect", "request":
		return "; only tests have it, which \"scripter test\" runs"
	case "io", "dofile", "loadfile":
		return "; scripts have no files: data lies in the root"
	case "params":
		return "; local params = ... in the first line gets the parameters"
	}
	return ""
}

// environmentNewIndex makes a global of the run. Its name is defined from then
// on, even while its value is nil.
func environmentNewIndex(L *lua.LState) int {
	if name, ok := L.Get(2).(lua.LString); ok {
		threadOf(L).assign(string(name))
	}
	lua.RawSet(L.Get(1).(*lua.LTable), L.Get(2), L.Get(3))
	return 0
}

// assign notes that the run has a global of that name.
func (t *Thread) assign(name string) {
	if t.assigned == nil {
		t.assigned = make(map[string]struct{}, 8)
	}
	t.assigned[name] = struct{}{}
	t.cached.drop(name)
}

// global returns the meaning of a name that has no value in _G. It looks in this order: libraries,
// verbs of the thread, names of the request, the root, the tables of system.paths; params is the table of
// the names of the request. It returns nil if the name is undefined. It caches names of tables, scripts and verbs.
func (t *Thread) global(name string) (lua.LValue, error) {
	if lv := t.cached.get(name); lv != lua.LNil {
		return lv, nil
	}
	if _, own := t.assigned[name]; own {
		return nil, nil
	}
	if lv := t.builtin(name); lv != lua.LNil {
		lua.RawSet(t.state.Globals(), lua.LString(name), lv)
		t.assign(name) // if it has no value later, a script has assigned nil
		return lv, nil
	}
	if lv := t.opt.Verbs.find(t, name); lv != lua.LNil {
		return lv, nil
	}
	if v, ok := t.opt.Names.Lookup(name); ok {
		return t.toLua(v), nil
	}
	lv, _, err := t.inRoot(name)
	if err != nil {
		return nil, err
	}
	if lv == lua.LNil {
		if name == "params" && t.opt.Names != nil {
			return t.toLua(t.opt.Names), nil
		}
		return nil, nil
	}
	if isHandle(lv) {
		t.remember(name, lv)
	}
	return lv, nil
}

// rawGlobal returns the value of a name in _G, LNil for nothing.
func (t *Thread) rawGlobal(name string) lua.LValue {
	return lua.RawGet(t.state.Globals(), lua.LString(name))
}

// builtin returns what a name means in Lua's libraries, LNil for nothing.
func (t *Thread) builtin(name string) lua.LValue {
	if f := ownFunctions[name]; f != nil {
		return f
	}
	if name == "odb" {
		return newODB()
	}
	return t.state.Library(name)
}

// An Origin says where the first part of a name in a page was found.
type Origin int

// The origins of a name.
const (
	FromRoot    Origin = iota // the root, with the verbs and properties in it
	FromRequest               // ThreadOptions.Names
	FromRun                   // a global that a script of this run has assigned
	FromLua                   // Lua's libraries, and odb
)

// A Meaning is what a dotted name means in a page.
type Meaning struct {
	Value   Value // nil if the name means nothing
	Found   bool
	Origin  Origin
	Address objectdb.Address // the address of the value if it is in the root; nil for verbs
}

// Resolve returns what a dotted name means in a page. It looks for the first part among
// the standard macros (suites.webserver.macros), the names of the request, the globals of
// this run, Lua's libraries, the root and the tables of system.paths, in this order; and
// for each other part in the table that the part before it names. It ignores globals that
// are tables or functions. Scripts are *Object values and are not run.
func (t *Thread) Resolve(names []string) (Meaning, error) {
	if len(names) == 0 {
		return Meaning{}, nil
	}
	lv, m, err := t.firstName(names[0])
	if err != nil {
		return Meaning{}, err
	}
	return t.follow(lv, m, names[1:])
}

// ResolveIn returns what a dotted name means in a value, as Resolve does. The Origin is FromRequest:
// the value is data, and only tables and scripts have an Address.
func (t *Thread) ResolveIn(v Value, names []string) (Meaning, error) {
	return t.follow(t.toLua(v), Meaning{Origin: FromRequest}, names)
}

// follow looks for each of the names in the table that the one before it means. lv is what m means.
func (t *Thread) follow(lv lua.LValue, m Meaning, names []string) (_ Meaning, err error) {
	for i, name := range names {
		if lv == lua.LNil {
			break
		}
		up := objectOf(lv)
		if lv, err = t.field(lv, name); err != nil {
			return Meaning{}, err
		}
		if up != nil && m.Origin == FromRoot && i == len(names)-1 && lv != lua.LNil {
			m.Address = up.Address().Child(name)
		}
	}
	if lv == lua.LNil {
		return Meaning{}, nil
	}
	m.Value, m.Found = t.fromLua(lv), true
	switch v := m.Value.(type) {
	case *Object:
		m.Address = v.Address()
	case *Function:
		m.Address = nil
	}
	return m, nil
}

// firstName returns what the first part of a dotted name means, and its origin.
func (t *Thread) firstName(name string) (lua.LValue, Meaning, error) {
	a := append(macros[:len(macros):len(macros)], name)
	lv, err := t.valueAt(a)
	if err != nil || lv != lua.LNil {
		return lv, Meaning{Address: a}, err
	}
	if v, ok := t.opt.Names.Lookup(name); ok {
		return t.toLua(v), Meaning{Origin: FromRequest}, nil
	}
	if lv := t.cached.get(name); lv != lua.LNil {
		return lv, Meaning{}, nil
	}
	_, own := t.assigned[name]
	if lv := t.rawGlobal(name); own && isPlain(lv) && t.builtin(name) == lua.LNil {
		return lv, Meaning{Origin: FromRun}, nil
	}
	if lv := t.builtin(name); lv != lua.LNil {
		return lv, Meaning{Origin: FromLua}, nil
	}
	lv, path, err := t.inRoot(name)
	if err != nil || lv == lua.LNil {
		return lv, Meaning{}, err
	}
	if !own && isHandle(lv) {
		t.remember(name, lv)
	}
	return lv, Meaning{Address: path.object(t).Address().Child(name)}, nil
}

// isHandle reports whether a value is a table, script or verb of the root, which
// stay the same for a run.
func isHandle(lv lua.LValue) bool {
	switch lv := lv.(type) {
	case *lua.LUserData:
		return objectOf(lv) != nil
	case *lua.LFunction:
		return true
	}
	return false
}

// isPlain reports whether a value is text, a number, a boolean or a stored value, and
// neither a table nor a function.
func isPlain(lv lua.LValue) bool {
	switch lv := lv.(type) {
	case lua.LString, lua.LNumber, lua.LBool:
		return true
	case *lua.LUserData:
		return markedValue(lv) != nil
	}
	return false
}

// inRoot looks for a bare name in the root and in the tables of system.paths. It returns what
// Lua sees, and the path to the table that has the name.
func (t *Thread) inRoot(name string) (lua.LValue, searchPath, error) {
	lv, err := t.root.cell(name)
	if err != nil || lv != lua.LNil {
		return lv, nil, err
	}
	if err := t.findPaths(); err != nil {
		return nil, nil, err
	}
	for _, p := range t.search.paths {
		if lv, err = p.cell(t, name); err != nil || lv != lua.LNil {
			return lv, p, err
		}
	}
	return lua.LNil, nil, nil
}

// field returns what lies under name in the table lv, nil if lv is none.
func (t *Thread) field(lv lua.LValue, name string) (lua.LValue, error) {
	switch v := lv.(type) {
	case *lua.LUserData:
		if o := objectOf(v); o != nil {
			return o.cell(name)
		}
	case *lua.LTable:
		if v, ok := t.table(v).Lookup(name); ok {
			return t.toLua(v), nil
		}
	}
	return lua.LNil, nil
}
