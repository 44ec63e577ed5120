package script

import (
	"cmp"
	"slices"

	"scripter/lua"
	"scripter/objectdb"
)

// objectMeta makes a table of the root look like a Lua table.
var objectMeta = lua.NewMetatable()

func init() {
	lua.Define(objectMeta, map[string]lua.LGFunction{
		"__index":    objectIndex,
		"__newindex": objectNewIndex,
		"__len":      objectLen,
		"__eq":       objectEq,
		"__tostring": objectToString,
		"__concat":   objectConcat,
		"__call":     objectCall,
	})
}

// selfObject returns argument 1, which the metatable says is an Object.
func selfObject(L *lua.LState) *Object { return L.Get(1).(*lua.LUserData).Value.(*Object) }

// objectIndex is t.name and t[3].
func objectIndex(L *lua.LState) int {
	L.Push(selfObject(L).index(L, L.Get(2)))
	return 1
}

// index returns what Lua sees under key, a name or a number.
func (o *Object) index(L *lua.LState, key lua.LValue) (lv lua.LValue) {
	var err error
	switch key := key.(type) {
	case lua.LString:
		lv, err = o.cell(string(key))
	case lua.LNumber:
		lv = lua.LNil
		var e entry
		if e, err = o.position(float64(key)); err == nil && e.name != "" {
			lv, err = o.value(e)
		}
	default:
		lv = lua.LNil
	}
	if err != nil {
		o.thread.raise(L, "", o.because("get", key, err))
	}
	return lv
}

// nth returns what Lua sees as the i-th cell in the order of the root.
func (o *Object) nth(i float64) (lua.LValue, error) {
	e, err := o.entryAt(i)
	if err != nil || e.name == "" {
		return lua.LNil, err
	}
	return o.value(e)
}

// objectNewIndex is t.name = value and t[3] = value.
func objectNewIndex(L *lua.LState) int {
	o := selfObject(L)
	t := o.thread
	name := ""
	switch key := L.Get(2).(type) {
	case lua.LString:
		name = string(key)
	case lua.LNumber:
		e, err := o.position(float64(key))
		if err != nil {
			t.raise(L, "", o.because("set", key, err))
		}
		if name = e.name; name == "" {
			t.fail(L, "%s has no cell [%s]: a new one needs a name, or odb.append (%[1]s, value)",
				o.Label(), lua.NumberText(float64(key)))
		}
	default:
		t.fail(L, "a name in %s must be a string, not a %s", o.Label(), kindName(t.fromLua(key)))
	}
	if err := o.assign(L, name, L.Get(3)); err != nil {
		t.raise(L, "", o.because("set", lua.LString(name), err))
	}
	return 0
}

// objectLen is #t, the number of cells.
func objectLen(L *lua.LState) int {
	o := selfObject(L)
	n, err := o.len()
	if err != nil {
		o.thread.raise(L, "", o.because("count", nil, err))
	}
	L.Push(lua.LNumber(n))
	return 1
}

func (o *Object) len() (int, error) {
	if o.verbs == nil {
		return o.thread.tx.Len(o.node)
	}
	list, err := o.entries()
	return len(list), err
}

func objectEq(L *lua.LState) int {
	a, b := objectOf(L.Get(1)), objectOf(L.Get(2))
	L.Push(lua.LBool(a == b || a != nil && b != nil && a.same(b)))
	return 1
}

// same reports whether two handles are of one object. A flush gives new objects
// the ids that they keep, so ids alone do not say it of them.
func (o *Object) same(p *Object) bool {
	if o.node == nil || p.node == nil {
		return o.node == p.node && o.verbs == p.verbs
	}
	a, b := o.node.ID(), p.node.ID()
	return a == b || (a < 0 || b < 0) && o.Address().Equal(p.Address())
}

func objectToString(L *lua.LState) int {
	L.Push(lua.LString("table: " + selfObject(L).Label()))
	return 1
}

func objectConcat(L *lua.LState) int {
	o := objectOf(L.Get(1))
	if o == nil {
		o = objectOf(L.Get(2))
	}
	o.thread.fail(L, "attempt to concatenate a table: %s", o.Label())
	return 0
}

func objectCall(L *lua.LState) int {
	o := selfObject(L)
	o.thread.fail(L, "attempt to call a table: %s", o.Label())
	return 0
}

// Label is what messages call the object: its address, or "root".
func (o *Object) Label() string {
	if a := o.Address(); len(a) > 0 {
		return a.String()
	}
	return "root"
}

// because adds the address of a cell to what the database said.
func (o *Object) because(op string, key lua.LValue, err error) error {
	if _, ok := err.(*objectdb.Error); ok {
		return err
	}
	switch err.(type) {
	case *assignError, *positionError:
		return err
	}
	a := o.Address()
	if key != nil {
		a = a.Child(key.String())
	}
	return &objectdb.Error{Op: op, Address: a, Err: err}
}

// next returns the entry after the one called name, the first for no name. A
// name that is gone still has its place, so the loop may delete what it sees.
func (o *Object) next(name *string) (*entry, error) {
	nodes, err := o.children()
	if err != nil {
		return nil, err
	}
	if o.verbs != nil {
		list, err := o.entries()
		if err != nil {
			return nil, err
		}
		i := place(list, name, func(e entry) string { return e.name })
		if i == len(list) {
			return nil, nil
		}
		return &list[i], nil
	}
	i := place(nodes, name, (*objectdb.Node).Name)
	if i == len(nodes) {
		return nil, nil
	}
	return &entry{name: nodes[i].Name(), node: nodes[i]}, nil
}

// place returns the index of the first element after name.
func place[E any](list []E, name *string, of func(E) string) int {
	if name == nil {
		return 0
	}
	i, found := slices.BinarySearchFunc(list, objectdb.Fold(*name), func(e E, fold string) int {
		return cmp.Compare(objectdb.Fold(of(e)), fold)
	})
	if found {
		i++
	}
	return i
}

// iterate pushes the three values of a generic for over table o: names and
// values in the order of the root. The names are those of its beginning; what
// the loop deletes before it gets there is passed over.
func (o *Object) iterate(L *lua.LState) int {
	t := o.thread
	list, err := o.entries()
	if err != nil {
		t.raise(L, "", o.because("list", nil, err))
	}
	t.state.Charge(L, len(list))
	i, writes := 0, t.writes
	L.Push(L.NewFunction(func(L *lua.LState) int {
		for i < len(list) {
			e := list[i]
			i++
			var lv lua.LValue
			var err error
			if writes == t.writes {
				lv, err = o.value(e)
			} else {
				lv, err = o.cell(e.name)
			}
			if err != nil {
				t.raise(L, "", o.because("get", lua.LString(e.name), err))
			}
			if lv != lua.LNil {
				L.Push(lua.LString(e.name))
				L.Push(lv)
				return 2
			}
		}
		L.Push(lua.LNil)
		return 1
	}))
	L.Push(&o.ud)
	L.Push(lua.LNil)
	return 3
}
