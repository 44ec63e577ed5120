package script

import (
	"errors"
	"fmt"
	"slices"

	"scripter/lua"
	"scripter/objectdb"
)

// fromRoot returns the Lua form of a stored value. Text and outlines are read
// as strings, a list as a new table. (A list object has one shared table: see Thread.list.)
func fromRoot(v objectdb.Value) lua.LValue {
	switch v := v.(type) {
	case objectdb.Boolean:
		return lua.LBool(v)
	case objectdb.Number:
		return lua.LNumber(v)
	case objectdb.String:
		return lua.LString(v)
	case objectdb.Text:
		return lua.LString(v)
	case objectdb.Outline:
		return lua.LString(v)
	case objectdb.List:
		return fromList(v)
	case objectdb.Record:
		return fromItem(v)
	}
	return marked(v)
}

// fromList returns a table with the items of a list.
func fromList(list objectdb.List) *lua.LTable {
	tb := lua.NewTable(len(list), 0)
	tb.Metatable = listMeta
	for _, v := range list {
		lua.Append(tb, fromItem(v))
	}
	return tb
}

// fromItem returns the Lua form of an item of a list or a field of a record. Text,
// outlines and scripts in it keep their kind, so that they are written back unchanged.
func fromItem(v objectdb.Value) lua.LValue {
	switch v := v.(type) {
	case objectdb.Text, objectdb.Outline:
		return marked(v)
	case objectdb.Record:
		tb := lua.NewTable(0, len(v))
		for _, f := range v {
			lua.RawSet(tb, lua.LString(f.Name), fromItem(f.Value))
		}
		return tb
	}
	return fromRoot(v)
}

// listMeta marks tables that are lists even when they are empty: those read from a
// list of the root or from JSON, and those of odb.list.
var listMeta = lua.NewMetatable()

// assign stores lv as the cell called name of table o; nil deletes it.
func (o *Object) assign(L *lua.LState, name string, lv lua.LValue) error {
	t := o.thread
	if o.beside != nil {
		if verb := o.beside.cells[o.beside.fold(name)].verb; verb != nil {
			return fmt.Errorf("%s is a verb: give the value another name", t.nameOf(verb))
		}
		if o.node == nil && lv == lua.LNil {
			return nil
		}
	}
	if err := o.makeReal(); err != nil {
		return err
	}
	if lv == lua.LNil {
		t.replaceList(o.node, name, nil)
		t.changed(o)
		return t.tx.Remove(o.node, name)
	}
	s := storing{t: t, L: L}
	item, err := s.convert(lv, func() objectdb.Address { return o.Address().Child(name) }, 0)
	if err != nil {
		return err
	}
	if s, ok := item.(objectdb.String); ok {
		item, err = o.keepKind(name, s)
		if err != nil {
			return err
		}
	}
	list := t.replaceList(o.node, name, lv)
	t.changed(o)
	if err := t.store(o.node, name, item); err != nil {
		return err
	}
	return t.stored(list, o.node, name)
}

// keepKind returns the string as text if it replaces text, and as an outline if it
// replaces an outline: scripts see both as strings, so an edit would change the kind.
func (o *Object) keepKind(name string, s objectdb.String) (objectdb.Value, error) {
	n, err := o.thread.tx.Child(o.node, name)
	switch {
	case errors.Is(err, objectdb.ErrNotFound):
		return s, nil
	case err != nil:
		return nil, err
	case n.Kind() == objectdb.KindText:
		return objectdb.Text(s), nil
	case n.Kind() == objectdb.KindOutline:
		return objectdb.Outline(s), nil
	}
	return s, nil
}

// makeReal makes the table in the database if it is only one of verbs.
func (o *Object) makeReal() error {
	if o.node != nil {
		return nil
	}
	t := o.thread
	a := o.Address()
	if err := t.tx.NewTable(a); err != nil {
		return err
	}
	n, err := t.tx.Find(a)
	if err != nil {
		return err
	}
	o.node = n
	o.init()
	t.made = append(t.made, o)
	t.virtual = nil // the tables above are real now too
	if t.handles == nil {
		t.handles = make(map[int64]*Object, 8)
	}
	t.handles[n.ID()] = o
	t.forget()
	return nil
}

// store writes item under name in table at, replacing whatever is there.
func (t *Thread) store(at *objectdb.Node, name string, item any) error {
	switch item := item.(type) {
	case *Object:
		return t.copyTo(item, at, name)
	case objectdb.Value:
		return t.tx.Set(at, name, item)
	case *branch:
		sub, err := t.tx.SetTable(at, name)
		if err != nil {
			return err
		}
		for i, name := range item.names {
			if err := t.store(sub, name, item.items[i]); err != nil {
				return err
			}
		}
		return nil
	}
	panic(fmt.Sprintf("script: a %T cannot be stored", item))
}

// copyTo makes the cell called name of table at a copy of table o. Copying a
// table to its own place changes nothing.
func (t *Thread) copyTo(o *Object, at *objectdb.Node, name string) error {
	if o.node == nil {
		return errors.New("a table of verbs cannot be copied")
	}
	if err := t.writeLists(); err != nil {
		return err
	}
	from := t.tx.Address(o.node)
	to := t.tx.Address(at).Child(name)
	if from.Equal(to) {
		return nil
	}
	if !below(from, to) && !below(to, from) {
		if err := t.tx.Remove(at, name); err != nil {
			return err
		}
		return t.tx.Copy(from, to)
	}
	// One of the tables contains the other: read it before anything is replaced.
	b, err := t.read(o.node)
	if err != nil {
		return err
	}
	return t.store(at, name, b)
}

// below reports whether a lies in the table b.
func below(a, b objectdb.Address) bool {
	return len(a) > len(b) && a[:len(b)].Equal(b)
}

// read returns all that is in table n.
func (t *Thread) read(n *objectdb.Node) (*branch, error) {
	nodes, err := t.tx.Children(n)
	if err != nil {
		return nil, err
	}
	b := &branch{}
	for _, c := range nodes {
		var item any
		if c.Kind() == objectdb.KindTable {
			item, err = t.read(c)
		} else {
			item, err = t.tx.Value(c)
		}
		if err != nil {
			return nil, err
		}
		b.names = append(b.names, c.Name())
		b.items = append(b.items, item)
	}
	return b, nil
}

// changed tells the thread that a cell of table o is about to change.
func (t *Thread) changed(o *Object) {
	t.writes++
	if o == t.root || t.search != nil && slices.Contains(t.search.ids, o.node.ID()) {
		t.forget()
	}
}

// forget empties the caches of what names mean.
func (t *Thread) forget() {
	t.writes++
	t.cached.clear()
	t.search = nil
}

// moved tells the thread that objects have other addresses than before.
func (t *Thread) moved() error {
	t.forget()
	t.moves++
	return t.findLists()
}
