package script

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"scripter/lua"
	"scripter/objectdb"
)

// odbFunctions is the library odb: what the syntax of Lua cannot say about the
// root. [ODB] describes the functions. An address is a string ("user.webserver.prefs"), an
// address value, or the table or script itself.
var odbFunctions map[string]*lua.LFunction

func init() { // not in the declaration: the functions refer to metatables that refer to them
	odbFunctions = make(map[string]*lua.LFunction)
	for name, f := range map[string]lua.LGFunction{
		"get":     odbGet,
		"set":     odbSet,
		"defined": odbDefined,
		"append":  odbAppend,
		"nth":     odbNth,
		"delete":  odbDelete,
		"kind":    odbKind,
		"size":    odbSize,
		"name":    odbName,
		"parent":  odbParent,
		"pairs":   odbPairs,
		"move":    odbMove,
		"copy":    odbCopy,
		"rename":  odbRename,
		"text":    odbText,
		"outline": odbOutline,
		"script":  odbScript,
		"list":    odbList,
		"date":    odbDate,
		"binary":  odbBinary,
		"address": odbAddress,
	} {
		odbFunctions[name] = lua.GoFunction(f)
	}
}

// newODB makes the table odb of one run.
func newODB() *lua.LTable {
	tb := lua.NewTable(0, len(odbFunctions))
	for name, f := range odbFunctions {
		lua.RawSet(tb, lua.LString(name), f)
	}
	return tb
}

// checkAddress returns argument i as an address.
func checkAddress(L *lua.LState, i int) objectdb.Address {
	a, ok := addressOf(L, i)
	if !ok {
		t := threadOf(L)
		lua.ArgumentError(L, i, "address expected, got "+kindName(t.fromLua(L.Get(i))))
	}
	return a
}

func addressOf(L *lua.LState, i int) (objectdb.Address, bool) {
	switch v := threadOf(L).fromLua(L.Get(i)).(type) {
	case string:
		a, err := objectdb.ParseAddress(v)
		try(L, err)
		return a, true
	case objectdb.Address:
		return v, true
	case *Object:
		return v.Address(), true
	}
	return nil, false
}

// try raises an error of the root that a script may catch.
func try(L *lua.LState, err error) {
	if err != nil {
		threadOf(L).raise(L, "", err)
	}
}

func odbGet(L *lua.LState) int {
	lv, err := threadOf(L).valueAt(checkAddress(L, 1))
	try(L, err)
	if lv == lua.LNil {
		lv = L.Get(2)
	}
	L.Push(lv)
	return 1
}

func odbSet(L *lua.LState) int {
	t := threadOf(L)
	a := checkAddress(L, 1)
	if len(a) == 0 {
		lua.ArgumentError(L, 1, "the root itself cannot be replaced")
	}
	lv := L.Get(2)
	if lv == lua.LNil {
		t.remove(L, a)
		return 0
	}
	o, err := t.tableAt(a.Parent())
	try(L, err)
	if err := o.assign(L, a.Name(), lv); err != nil {
		t.raise(L, "", o.because("set", lua.LString(a.Name()), err))
	}
	return 0
}

// tableAt returns the table at a, which is made if there is nothing.
func (t *Thread) tableAt(a objectdb.Address) (*Object, error) {
	o, err := t.at(a)
	switch {
	case errors.Is(err, ErrNotScript): // neither table nor script
		return nil, &objectdb.Error{Op: "set", Address: a, Err: objectdb.ErrNotTable}
	case err != nil:
		return nil, err
	case o == nil:
		if err := t.tx.NewTable(a); err != nil {
			return nil, err
		}
		t.forget()
		n, err := t.tx.Find(a)
		if err != nil {
			return nil, err
		}
		return t.object(nil, n, nil), nil
	case o.Kind() != objectdb.KindTable:
		return nil, &objectdb.Error{Op: "set", Address: a, Err: objectdb.ErrNotTable}
	}
	return o, nil
}

func odbDefined(L *lua.LState) int {
	a, ok := addressOf(L, 1)
	if ok {
		lv, err := threadOf(L).valueAt(a)
		try(L, err)
		ok = lv != lua.LNil
	}
	L.Push(lua.LBool(ok))
	return 1
}

func odbDelete(L *lua.LState) int {
	L.Push(lua.LBool(threadOf(L).remove(L, checkAddress(L, 1))))
	return 1
}

func (t *Thread) remove(L *lua.LState, a objectdb.Address) bool {
	err := t.tx.Delete(a)
	if errors.Is(err, objectdb.ErrNotFound) {
		return false
	}
	try(L, err)
	t.forget()
	return true
}

func odbKind(L *lua.LState) int {
	if v := markedValue(L.Get(1)); v != nil && v.Kind() != objectdb.KindAddress {
		L.Push(lua.LString(v.Kind().String()))
		return 1
	}
	t := threadOf(L)
	a := checkAddress(L, 1)
	n, err := t.tx.Find(a)
	if err == nil {
		L.Push(lua.LString(n.Kind().String()))
		return 1
	}
	if !errors.Is(err, objectdb.ErrNotFound) {
		try(L, err)
	}
	lv, err := t.valueAt(a) // verbs are not in the database
	try(L, err)
	if lv == lua.LNil {
		L.Push(lv)
	} else {
		L.Push(lua.LString(kindName(t.fromLua(lv))))
	}
	return 1
}

func odbSize(L *lua.LState) int {
	t := threadOf(L)
	a := checkAddress(L, 1)
	try(L, t.writeLists())
	o, err := t.at(a)
	if o != nil && o.Kind() == objectdb.KindTable {
		n, err := o.len()
		try(L, err)
		L.Push(lua.LNumber(n))
		return 1
	}
	if err != nil && !errors.Is(err, ErrNotScript) {
		try(L, err)
	}
	n, err := t.tx.Find(a)
	try(L, err)
	L.Push(lua.LNumber(n.Size()))
	return 1
}

func odbName(L *lua.LState) int {
	L.Push(lua.LString(checkAddress(L, 1).Name()))
	return 1
}

func odbParent(L *lua.LState) int {
	a := checkAddress(L, 1)
	if len(a) == 0 {
		L.Push(lua.LNil)
	} else {
		L.Push(marked(a.Parent()))
	}
	return 1
}

// odbPairs goes through a Lua table with numbers first and then names, as the
// root sorts them.
func odbPairs(L *lua.LState) int {
	if o := objectOf(L.Get(1)); o != nil {
		return o.iterate(L)
	}
	lt := lua.CheckTable(L, 1)
	settle(L, lt)
	keys := sortedKeys(lt)
	threadOf(L).state.Charge(L, len(keys))
	i := 0
	L.Push(L.NewFunction(func(L *lua.LState) int {
		for i < len(keys) {
			k := keys[i]
			i++
			if lv := lua.RawGet(lt, k); lv != lua.LNil {
				L.Push(k)
				L.Push(lv)
				return 2
			}
		}
		L.Push(lua.LNil)
		return 1
	}))
	L.Push(lt)
	L.Push(lua.LNil)
	return 3
}

// sortedKeys returns the keys of a table: numbers, then strings in the order
// of the root, then whatever else there is.
func sortedKeys(lt *lua.LTable) []lua.LValue {
	var keys []lua.LValue
	for k, _ := lua.Next(lt, lua.LNil); k != lua.LNil; k, _ = lua.Next(lt, k) {
		keys = append(keys, k)
	}
	rank := func(k lua.LValue) int {
		switch k.(type) {
		case lua.LNumber:
			return 0
		case lua.LString:
			return 1
		}
		return 2
	}
	slices.SortStableFunc(keys, func(a, b lua.LValue) int {
		if d := rank(a) - rank(b); d != 0 {
			return d
		}
		switch a := a.(type) {
		case lua.LNumber:
			return cmp.Compare(a, b.(lua.LNumber))
		case lua.LString:
			b := string(b.(lua.LString))
			if d := cmp.Compare(objectdb.Fold(string(a)), objectdb.Fold(b)); d != 0 {
				return d
			}
			return strings.Compare(string(a), b)
		}
		return 0
	})
	return keys
}

func odbMove(L *lua.LState) int {
	t := threadOf(L)
	try(L, t.writeLists())
	try(L, t.tx.Move(checkAddress(L, 1), checkAddress(L, 2)))
	try(L, t.moved())
	return 0
}

func odbCopy(L *lua.LState) int {
	t := threadOf(L)
	try(L, t.writeLists())
	try(L, t.tx.Copy(checkAddress(L, 1), checkAddress(L, 2)))
	t.forget()
	return 0
}

func odbRename(L *lua.LState) int {
	t := threadOf(L)
	from, name := checkAddress(L, 1), lua.CheckString(L, 2)
	if len(from) == 0 {
		lua.ArgumentError(L, 1, "the root has no name")
	}
	try(L, t.writeLists())
	try(L, t.tx.Move(from, from.Parent().Child(name)))
	try(L, t.moved())
	return 0
}
