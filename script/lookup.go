package script

import (
	"errors"

	"scripter/lua"
	"scripter/objectdb"
)

// Lookup returns what a dotted name means in a script of this thread, nil for
// nothing: the first name as a bare one, each other one in the table that the name
// before it means. A script is an *Object and is not run.
func (t *Thread) Lookup(names ...string) (Value, error) {
	var lv lua.LValue = lua.LNil
	for i, name := range names {
		var err error
		if i > 0 {
			if i == len(names)-1 {
				if o := t.scriptIn(lv, name); o != nil {
					return o, nil
				}
			}
			lv, err = t.field(lv, name)
		} else if lv = t.rawGlobal(name); lv == lua.LNil {
			lv, err = t.global(name)
		}
		if err != nil || lv == nil || lv == lua.LNil {
			return nil, err
		}
	}
	return t.fromLua(lv), nil
}

// scriptIn returns the script of the database that lies under name in a table of
// the root, without compiling it; nil where there is something else.
func (t *Thread) scriptIn(lv lua.LValue, name string) *Object {
	o := objectOf(lv)
	if o == nil || o.node == nil {
		return nil
	}
	n, err := t.tx.Child(o.node, name)
	if err != nil || n.Kind() != objectdb.KindScript {
		return nil
	}
	return t.object(o, n, nil)
}

// Stored returns the value and the address of the object of the database that a name of
// several parts means, as [Thread.Resolve] does. It returns nil if the name means a table, a
// script or something that is not an object.
func (t *Thread) Stored(names []string) (objectdb.Value, objectdb.Address, error) {
	last := len(names) - 1
	if last < 1 {
		return nil, nil, nil
	}
	m, err := t.Resolve(names[:last])
	o, ok := m.Value.(*Object)
	if err != nil || !ok || o.node == nil || o.Kind() != objectdb.KindTable {
		return nil, nil, err
	}
	n, err := t.tx.Child(o.node, names[last])
	if errors.Is(err, objectdb.ErrNotFound) {
		return nil, nil, nil
	}
	if err != nil || n.Kind() == objectdb.KindTable || n.Kind() == objectdb.KindScript {
		return nil, nil, err
	}
	v, err := t.tx.Value(n)
	return v, o.Address().Child(n.Name()), err
}

// IsLua reports whether the function is written in Lua: it is neither a verb nor a
// function of Lua's libraries.
func (f *Function) IsLua() bool { return !f.fn.IsG }

// VerbName returns the name of a function that is a verb, as Verb.Name has it,
// and "" for everything else.
func (t *Thread) VerbName(v Value) string {
	if f, ok := v.(*Function); ok {
		return t.nameOf(f.fn)
	}
	return ""
}

// IsForPages reports whether v is a verb that markers may call: see Verb.Page.
func (t *Thread) IsForPages(v Value) bool {
	f, ok := v.(*Function)
	return ok && t.engine.byFn[f.fn] != nil && t.engine.byFn[f.fn].Page
}

// Untouched reports whether bare names in the thread's scripts have the meaning that
// the root gives them: no script has assigned one as a global, and none is a name of
// the request. It returns false if the run was stopped.
func (t *Thread) Untouched(names ...string) bool {
	if t.state.Err() != nil {
		return false
	}
	for _, name := range names {
		if _, own := t.assigned[name]; own || t.rawGlobal(name) != lua.LNil {
			return false
		}
		if _, ok := t.opt.Names.Lookup(name); ok {
			return false
		}
	}
	return true
}
