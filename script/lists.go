package script

import (
	"errors"

	"scripter/lua"
	"scripter/objectdb"
)

// A script reads a list of the root as an ordinary Lua table, so that everything that Lua
// does with tables works on it and on the records in it: user.l [1].a = 2,
// table.insert (user.l, x), for i, r in ipairs (user.l) do r.seen = true end. In the
// database a list is one value. So a table that a script has changed is written back as a
// whole, at the end of the run and before anything reads the database in another way.

// A readList is a list of the root that a script has read.
type readList struct {
	table   *lua.LTable
	value   objectdb.List // the list as it is in the root
	node    *objectdb.Node
	version int64 // of the node, while the list is the one that was read
}

// list returns the table of the list at node n, the same one each time.
func (t *Thread) list(n *objectdb.Node, value objectdb.List) *lua.LTable {
	if l := t.lists[n.ID()]; l != nil && l.version == n.Version() {
		return l.table
	}
	if t.lists == nil {
		t.lists = make(map[int64]*readList, 4)
	}
	l := &readList{fromList(value), value, n, n.Version()}
	t.lists[n.ID()] = l
	return l.table
}

// replaceList is called before a value is stored at a place. The table of a list that was
// read from there belongs to the script alone from now on. But if that table is the value
// that is stored, replaceList returns it.
func (t *Thread) replaceList(at *objectdb.Node, name string, lv lua.LValue) *readList {
	if len(t.lists) == 0 {
		return nil
	}
	n, err := t.tx.Child(at, name)
	if err != nil {
		return nil
	}
	l := t.lists[n.ID()]
	if l == nil {
		return nil
	}
	delete(t.lists, n.ID())
	if lv == lua.LValue(l.table) && l.version == n.Version() {
		return l
	}
	return nil
}

// stored notes that the list l, unless it is nil, was stored at a place.
func (t *Thread) stored(l *readList, at *objectdb.Node, name string) error {
	if l == nil {
		return nil
	}
	n, err := t.tx.Child(at, name)
	if err != nil {
		return err
	}
	if n.Kind() == objectdb.KindList { // else the script gave it names
		t.lists[n.ID()] = l
		return l.read(t.tx, n)
	}
	return nil
}

// read takes the list from node n.
func (l *readList) read(tx *objectdb.Tx, n *objectdb.Node) error {
	v, err := tx.Value(n)
	if err == nil {
		l.value, l.node, l.version = v.(objectdb.List), n, n.Version()
	}
	return err
}

// writeLists writes the lists that scripts have changed.
func (t *Thread) writeLists() error {
	for id, l := range t.lists {
		if isSame(l.table, l.value) {
			continue
		}
		a := t.tx.Address(l.node)
		n, err := t.tx.Find(a)
		if unlessMissing(err) != nil {
			return err
		}
		if err != nil || len(a) == 0 || n.ID() != id || n.Version() != l.version {
			delete(t.lists, id) // the root no longer has it, or has another version
			continue
		}
		up, err := t.tx.Find(a.Parent())
		if err != nil {
			return err
		}
		delete(t.lists, id)
		item, err := storing{t: t}.convert(l.table, func() objectdb.Address { return a }, 0)
		if err == nil {
			t.writes++
			err = t.store(up, a.Name(), item)
		}
		if err == nil {
			err = t.stored(l, up, a.Name())
		}
		if err != nil {
			t.lists[id] = l // the next write has the same error
			if known := new(assignError); errors.As(err, &known) {
				return err
			}
			return &objectdb.Error{Op: "set", Address: a, Err: err}
		}
	}
	return nil
}

// findLists finds the lists again after objects got other ids, versions or addresses.
// Changed lists have been written before.
func (t *Thread) findLists() error {
	before := t.lists
	t.lists = make(map[int64]*readList, len(before))
	for _, l := range before {
		n, err := t.tx.Find(t.tx.Address(l.node))
		if err := unlessMissing(err); err != nil {
			return err
		}
		if err != nil || n.Kind() != objectdb.KindList {
			continue
		}
		old := l.value
		if err := l.read(t.tx, n); err != nil {
			return err
		}
		if objectdb.Equal(old, l.value) {
			t.lists[n.ID()] = l
		}
	}
	return nil
}

// restoreLists sets the tables of lists to what the root holds, after writes were undone.
func (t *Thread) restoreLists() error {
	for id, l := range t.lists {
		n, err := t.tx.Find(t.tx.Address(l.node))
		if err := unlessMissing(err); err != nil {
			return err
		}
		if err != nil || n.ID() != id || n.Kind() != objectdb.KindList {
			delete(t.lists, id)
			continue
		}
		if err := l.read(t.tx, n); err != nil {
			return err
		}
		if isSame(l.table, l.value) {
			continue
		}
		for k, _ := lua.Next(l.table, lua.LNil); k != lua.LNil; k, _ = lua.Next(l.table, k) {
			lua.RawSet(l.table, k, lua.LNil)
		}
		for _, item := range l.value {
			lua.Append(l.table, fromItem(item))
		}
	}
	return nil
}

// isSame reports whether a Lua value equals what fromItem returned for v.
func isSame(lv lua.LValue, v objectdb.Value) bool {
	switch v := v.(type) {
	case objectdb.List:
		lt, ok := lv.(*lua.LTable)
		return ok && (len(v) > 0 || lt.Metatable == lua.LValue(listMeta)) && sameItems(lt, v)
	case objectdb.Record:
		lt, ok := lv.(*lua.LTable)
		if !ok || len(v) == 0 && lt.Metatable == lua.LValue(listMeta) || keyCount(lt, len(v)) != len(v) {
			return false
		}
		for _, f := range v {
			if !isSame(lua.RawGet(lt, lua.LString(f.Name)), f.Value) {
				return false
			}
		}
		return true
	case objectdb.Boolean:
		return lv == lua.LBool(v)
	case objectdb.Number:
		n, ok := lv.(lua.LNumber)
		return ok && objectdb.Equal(objectdb.Number(n), v)
	case objectdb.String:
		return lv == lua.LString(v)
	}
	stored := markedValue(lv)
	return stored != nil && objectdb.Equal(stored, v)
}

func sameItems(lt *lua.LTable, list objectdb.List) bool {
	if keyCount(lt, len(list)) != len(list) {
		return false
	}
	for i, item := range list {
		if !isSame(lua.RawGet(lt, lua.LNumber(i+1)), item) {
			return false
		}
	}
	return true
}

// keyCount returns the number of keys in a table, but at most one more than most.
func keyCount(lt *lua.LTable, most int) int {
	n := 0
	for k, _ := lua.Next(lt, lua.LNil); k != lua.LNil && n <= most; k, _ = lua.Next(lt, k) {
		n++
	}
	return n
}
