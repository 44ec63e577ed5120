package script

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"scripter/lua"
	"scripter/objectdb"
)

// An Object is an object of the root as Lua sees it: a table, which looks like
// a Lua table, or a script, which is called like a function. Objects of other
// kinds are seen as their values. It is valid as long as its thread.
//
// Within a thread one object has one Object, so that handles can be compared.
type Object struct {
	thread *Thread
	node   *objectdb.Node // nil for a table that holds nothing but verbs
	verbs  *verbTable     // its cells that are verbs or tables of verbs, or nil
	beside *verbTable     // verbs that are found where it has no cell, and are not listed, or nil
	up     *Object        // the table in which it was found, nil if unknown
	ud     lua.LUserData  // what Lua holds of a table

	fn     *lua.LFunction // what Lua holds of a script
	writes int            // Thread.writes when fn was made
	opened int            // Thread.moves + 1 when the table was opened; 0: it is not one of OpenTable
}

// init sets what Lua holds of a table.
func (o *Object) init() {
	o.ud.Value = o
	o.ud.Metatable = objectMeta
	if o.node == nil && o.verbs.hasVerbs {
		o.ud.Metatable = o.thread.engine.verbsMeta(o.verbs)
	}
}

// Node returns the object's node, nil for a table of verbs that is not in the
// database.
func (o *Object) Node() *objectdb.Node { return o.node }

// Kind returns objectdb.KindTable or objectdb.KindScript.
func (o *Object) Kind() objectdb.Kind {
	if o.node == nil {
		return objectdb.KindTable
	}
	return o.node.Kind()
}

// Address returns the address of the object.
func (o *Object) Address() objectdb.Address {
	if o.node == nil {
		if o.verbs == nil {
			return nil
		}
		return o.verbs.address
	}
	if o.isOpen() {
		return o.verbs.address
	}
	if o.thread.moves > 0 {
		return o.thread.tx.Address(o.node)
	}
	n := 0
	for p := o; p != o.thread.root; p = p.up {
		if p.isOpen() {
			a := slices.Clone(p.verbs.address)
			return append(a, o.namesBelow(p, n)...)
		}
		if p.up == nil || p.node == nil {
			return o.thread.tx.Address(o.node)
		}
		n++
	}
	return o.namesBelow(o.thread.root, n)
}

// namesBelow returns the n names that lead from table p to the object.
func (o *Object) namesBelow(p *Object, n int) objectdb.Address {
	a := make(objectdb.Address, n)
	for ; o != p; o = o.up {
		n--
		a[n] = o.node.Name()
	}
	return a
}

// object returns the one Object of a node.
func (t *Thread) object(up *Object, n *objectdb.Node, verbs *verbTable) *Object {
	id := n.ID()
	if o := t.handles[id]; o != nil && o.node.Kind() == n.Kind() {
		o.node, o.up = n, up
		return o
	}
	if t.handles == nil || len(t.handles) >= maxHandles {
		t.handles = make(map[int64]*Object, 8)
	}
	o := &Object{thread: t, node: n, verbs: verbs, up: up}
	if n.Kind() == objectdb.KindTable {
		o.init()
	}
	t.handles[id] = o
	return o
}

// maxHandles bounds the memory of a script that walks through a large root. After
// that many handles an object gets another Lua value, which equals the one before.
const maxHandles = 1 << 14

// virtualObject returns the one Object of a table that holds only verbs.
func (t *Thread) virtualObject(vt *verbTable) *Object {
	o := t.virtual[vt]
	if o == nil {
		if t.virtual == nil {
			t.virtual = make(map[*verbTable]*Object, 4)
		}
		o = &Object{thread: t, verbs: vt}
		o.init()
		t.virtual[vt] = o
	}
	return o
}

// luaValue returns what Lua holds of the object.
func (o *Object) luaValue() lua.LValue {
	if o.Kind() == objectdb.KindScript {
		return o.function()
	}
	return &o.ud
}

// function returns the Lua function of a script object. If the script does not
// compile, the function raises that error.
func (o *Object) function() *lua.LFunction {
	t := o.thread
	if o.fn != nil && o.writes == t.writes {
		return o.fn
	}
	source, err := o.source()
	if err != nil {
		return lua.GoFunction(func(L *lua.LState) int { t.raise(L, "", err); return 0 })
	}
	c := t.engine.compiled(o.node.ID(), o.node.Version(), o.Address(), source)
	if old := o.fn; old != nil && old.Proto == c.proto && c.proto != nil {
		o.writes = t.writes
		return old
	}
	if err := cmp.Or(t.state.CheckSource(c.name, source), c.err); err != nil {
		o.fn = lua.GoFunction(func(L *lua.LState) int {
			t.raise(L, "", t.syntaxError(err, c.address, c.source))
			return 0
		})
	} else {
		o.fn = t.state.NewFunction(c.proto)
	}
	o.writes = t.writes
	if t.scripts == nil {
		t.scripts = make(map[*lua.LFunction]*Object, 8)
	}
	t.scripts[o.fn] = o
	t.addChunk(c.name, &c.chunk)
	return o.fn
}

// source returns the source of a script object.
func (o *Object) source() (string, error) {
	v, err := o.thread.tx.Value(o.node)
	if err != nil {
		return "", err
	}
	s, ok := v.(objectdb.Script)
	if !ok {
		return "", ErrNotScript
	}
	return string(s), nil
}

// Cell returns the value under name in table o, nil where there is nothing.
func (o *Object) Cell(name string) (Value, error) {
	lv, err := o.cell(name)
	if err != nil {
		return nil, err
	}
	return o.thread.fromLua(lv), nil
}

// Names returns the names of all cells of table o in order, verbs included.
func (o *Object) Names() ([]string, error) {
	list, err := o.entries()
	names := make([]string, len(list))
	for i, e := range list {
		names[i] = e.name
	}
	return names, err
}

// NamesWith returns the first names in table o, verbs included, that begin with a prefix without
// regard to case. It does not read the whole table.
func (o *Object) NamesWith(prefix string, most int) ([]string, error) {
	fold := objectdb.Fold(prefix)
	var names []string
	if o.verbs != nil {
		for _, name := range o.verbs.names {
			if strings.HasPrefix(o.verbs.fold(name), fold) {
				names = append(names, name)
			}
		}
	}
	if o.node != nil {
		nodes, err := o.thread.tx.Page(o.node, fold, "", false, most)
		if err != nil {
			return nil, err
		}
		for _, n := range nodes {
			f := objectdb.Fold(n.Name())
			if !strings.HasPrefix(f, fold) {
				break
			}
			names = slices.DeleteFunc(names, func(verb string) bool { return objectdb.Fold(verb) == f })
			names = append(names, n.Name())
		}
	}
	slices.SortFunc(names, func(a, b string) int { return strings.Compare(objectdb.Fold(a), objectdb.Fold(b)) })
	return names[:min(len(names), most)], nil
}

// HasVerbs reports whether some cells of table o are verbs.
func (o *Object) HasVerbs() bool { return o.verbs != nil && o.verbs.hasVerbs }

// cell returns what Lua sees under name in table o, nil where there is
// nothing.
func (o *Object) cell(name string) (lua.LValue, error) {
	t := o.thread
	var sub *verbTable
	var fold string
	if o.verbs != nil {
		fold = o.verbs.fold(name)
		sub = o.verbs.cells[fold].table
	}
	if o.node != nil {
		n, err := t.tx.Child(o.node, name)
		if err == nil {
			return o.see(n, sub)
		}
		if !errors.Is(err, objectdb.ErrNotFound) {
			return nil, err
		}
	}
	if o.beside != nil {
		return t.ofVerbs(o.beside, o.beside.fold(name)), nil
	}
	if o.verbs == nil {
		return lua.LNil, nil
	}
	return t.ofVerbs(o.verbs, fold), nil
}

// ofVerbs returns what Lua sees in a table of verbs under a folded name, where the
// database has nothing of that name; nil where there is nothing.
func (t *Thread) ofVerbs(vt *verbTable, fold string) lua.LValue {
	switch c := vt.cells[fold]; {
	case c.table != nil:
		if c.table.instead != nil {
			if v := c.table.instead(t); v != nil {
				return t.toLua(v)
			}
		}
		return &t.virtualObject(c.table).ud
	case c.verb != nil:
		return c.verb
	case c.property != nil:
		return t.toLua(c.property(t))
	}
	return lua.LNil
}

// see returns what Lua sees of a node in table o. sub has the verbs in the node, if it is a
// table.
func (o *Object) see(n *objectdb.Node, sub *verbTable) (lua.LValue, error) {
	switch n.Kind() {
	case objectdb.KindTable:
		return &o.thread.object(o, n, sub).ud, nil
	case objectdb.KindScript:
		return o.thread.object(o, n, nil).function(), nil
	}
	v, err := o.thread.tx.Value(n)
	if err != nil {
		return nil, err
	}
	if list, ok := v.(objectdb.List); ok {
		return o.thread.list(n, list), nil
	}
	return fromRoot(v), nil
}

// at returns the object at a if it is a table or script, nil and no error if
// there is nothing.
func (t *Thread) at(a objectdb.Address) (*Object, error) {
	lv, err := t.valueAt(a)
	if err != nil || lv == lua.LNil {
		return nil, err
	}
	if o, ok := t.fromLua(lv).(*Object); ok {
		return o, nil
	}
	return nil, ErrNotScript
}

// valueAt returns what Lua sees at a, nil where there is nothing.
func (t *Thread) valueAt(a objectdb.Address) (lua.LValue, error) {
	var lv lua.LValue = &t.root.ud
	for i, name := range a {
		o := objectOf(lv)
		if o == nil {
			return lua.LNil, nil
		}
		v, err := o.cell(name)
		if err != nil {
			return nil, &objectdb.Error{Op: "get", Address: a[:i+1], Err: err}
		}
		lv = v
	}
	return lv, nil
}

// objectOf returns the table of the root that lv is, or nil.
func objectOf(lv lua.LValue) *Object {
	if ud, ok := lv.(*lua.LUserData); ok {
		if o, ok := ud.Value.(*Object); ok {
			return o
		}
	}
	return nil
}

// A Cell is an object in a table of the root.
type Cell struct {
	Name  string
	Value Value // as scripts see it
}

// Cells returns the next n objects of the database in the table: those after the one with a name, or
// those before it, in this order, if backward is true. An empty name stands for the beginning, or the
// end. It does not read the whole table, and no verbs that are seen in it.
func (o *Object) Cells(from string, backward bool, n int) ([]Cell, error) {
	if o.node == nil {
		return nil, nil
	}
	from = objectdb.Fold(from)
	var nodes []*objectdb.Node
	var err error
	switch {
	case backward:
		nodes, err = o.thread.tx.Page(o.node, "", from, true, n)
		slices.Reverse(nodes)
	case from == "":
		nodes, err = o.thread.tx.Page(o.node, "", "", false, n)
	default:
		nodes, err = o.thread.tx.Page(o.node, from+"\x00", "", false, n)
	}
	cells := make([]Cell, len(nodes))
	for i, n := range nodes {
		var lv lua.LValue
		if lv, err = o.see(n, nil); err != nil {
			break
		}
		cells[i] = Cell{n.Name(), o.thread.fromLua(lv)}
	}
	return cells, err
}

// An entry is one cell of a table of the root, for listings.
type entry struct {
	name string
	node *objectdb.Node // nil if only verbs lie there
}

// children returns the nodes in table o in order.
func (o *Object) children() ([]*objectdb.Node, error) {
	if o.node == nil {
		return nil, nil
	}
	return o.thread.tx.Children(o.node)
}

// entries returns all that Lua sees in table o, in order.
func (o *Object) entries() ([]entry, error) {
	nodes, err := o.children()
	if err != nil {
		return nil, err
	}
	list := make([]entry, 0, len(nodes))
	var names []string
	if o.verbs != nil {
		names = o.verbs.names
	}
	for _, name := range names {
		fold := objectdb.Fold(name)
		for len(nodes) > 0 && objectdb.Fold(nodes[0].Name()) < fold {
			list = append(list, entry{nodes[0].Name(), nodes[0]})
			nodes = nodes[1:]
		}
		if len(nodes) == 0 || objectdb.Fold(nodes[0].Name()) != fold {
			list = append(list, entry{name, nil})
		}
	}
	for _, n := range nodes {
		list = append(list, entry{n.Name(), n})
	}
	return list, nil
}

// value returns what Lua sees of an entry of table o.
func (o *Object) value(e entry) (lua.LValue, error) {
	if o.verbs == nil {
		return o.see(e.node, nil)
	}
	fold := o.verbs.fold(e.name)
	if e.node == nil {
		return o.thread.ofVerbs(o.verbs, fold), nil
	}
	return o.see(e.node, o.verbs.cells[fold].table)
}
