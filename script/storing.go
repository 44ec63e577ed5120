package script

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"scripter/lua"
	"scripter/objectdb"
)

// A branch is a table to be written. All of it is checked before anything is
// written, so that a value that cannot be stored leaves the root as it was.
type branch struct {
	names []string
	items []any // objectdb.Value, *branch or *Object (a table to be copied)
}

// assignError says which value cannot be stored, and where.
type assignError struct {
	address objectdb.Address
	reason  string
}

func (e *assignError) Error() string { return fmt.Sprintf("set %s: %s", e.address, e.reason) }

// maxAssignDepth bounds the nesting of a Lua table that is stored.
const maxAssignDepth = 100

// storing converts one Lua value for the root.
type storing struct {
	t *Thread
	L *lua.LState
}

// convert returns an objectdb.Value, a *branch or an *Object. at returns the address
// of the value, for messages.
func (s storing) convert(lv lua.LValue, at func() objectdb.Address, depth int) (any, error) {
	refuse := func(format string, args ...any) (any, error) {
		return nil, &assignError{at(), fmt.Sprintf(format, args...)}
	}
	switch lv := lv.(type) {
	case lua.LString:
		return objectdb.String(lv), nil
	case lua.LNumber:
		return objectdb.Number(lv), nil
	case lua.LBool:
		return objectdb.Boolean(lv), nil
	case *lua.LTable:
		return s.table(lv, at, depth, false)
	case *lua.LFunction:
		o := s.t.scripts[lv]
		if o == nil {
			return refuse("a function cannot be stored: odb.script (source) makes a script")
		}
		source, err := o.source()
		if err != nil {
			return nil, err
		}
		return objectdb.Script(source), nil
	case *lua.LUserData:
		switch v := lv.Value.(type) {
		case *Object:
			return v, nil
		case objectdb.Null:
			return refuse("null can be stored only within a list; nil deletes a cell")
		case objectdb.Value:
			return v, nil
		}
	}
	return refuse("a %s cannot be stored", lv.Type())
}

// table returns a list for a table whose keys are 1..n, and for one that is empty and marked as
// a list. For any other table it returns a branch or, within a list, a record.
func (s storing) table(lt *lua.LTable, at func() objectdb.Address, depth int, inList bool) (any, error) {
	if depth >= maxAssignDepth {
		return nil, &assignError{at(), fmt.Sprintf("the table nests more than %d deep or contains itself", maxAssignDepth)}
	}
	s.t.settle(lt)
	names, items, err := keysOf(lt, at)
	if err != nil {
		return nil, err
	}
	if s.L != nil {
		s.t.state.Charge(s.L, items+len(names))
	}
	slices.Sort(names)
	switch {
	case items > 0 || lt.Metatable == listMeta && len(names) == 0:
		return s.list(lt, items, at, depth)
	case inList:
		return s.record(lt, names, at, depth)
	}
	return s.branch(lt, names, at, depth)
}

// keysOf returns the names in a table, and the number of its numeric keys.
func keysOf(lt *lua.LTable, at func() objectdb.Address) (names []string, items int, err error) {
	for k, _ := lua.Next(lt, lua.LNil); k != lua.LNil; k, _ = lua.Next(lt, k) {
		switch k := k.(type) {
		case lua.LString:
			names = append(names, string(k))
		case lua.LNumber:
			items++
		default:
			return nil, 0, &assignError{at(), fmt.Sprintf("a name must be a string, not a %s", k.Type())}
		}
	}
	if items > 0 && len(names) > 0 {
		return nil, 0, &assignError{at(), "a table with names and numbers is neither a table nor a list of the root"}
	}
	return names, items, nil
}

// list makes a list of a table with n numeric keys.
func (s storing) list(lt *lua.LTable, n int, at func() objectdb.Address, depth int) (any, error) {
	list := make(objectdb.List, n)
	for i := range list {
		lv := lua.RawGet(lt, lua.LNumber(i+1))
		place := func() objectdb.Address { return at().Child(fmt.Sprint(i + 1)) }
		if lv == lua.LNil {
			return nil, &assignError{at(), fmt.Sprintf("a list needs the items 1 to %d, and [%d] is missing", n, i+1)}
		}
		item, err := s.item(lv, place, depth+1)
		if err != nil {
			return nil, err
		}
		list[i] = item
	}
	return list, nil
}

// item returns the stored form of an item of a list, or of a field of a record in it.
func (s storing) item(lv lua.LValue, at func() objectdb.Address, depth int) (v objectdb.Value, err error) {
	if lv == luaNull {
		return objectdb.Null{}, nil
	}
	var item any
	if lt, ok := lv.(*lua.LTable); ok {
		item, err = s.table(lt, at, depth, true)
	} else {
		item, err = s.convert(lv, at, depth)
	}
	if o, ok := item.(*Object); ok {
		return s.recordOf(o, at)
	}
	v, _ = item.(objectdb.Value)
	return v, err
}

// record makes a record of a table within a list.
func (s storing) record(lt *lua.LTable, names []string, at func() objectdb.Address, depth int) (any, error) {
	r := make(objectdb.Record, len(names))
	for i, name := range names {
		place := func() objectdb.Address { return at().Child(name) }
		if !utf8.ValidString(name) {
			return nil, &assignError{at(), fmt.Sprintf("the name %s of a field is not UTF-8", quote(name))}
		}
		v, err := s.item(lua.RawGet(lt, lua.LString(name)), place, depth+1)
		if err != nil {
			return nil, err
		}
		r[i] = objectdb.Field{Name: name, Value: v}
	}
	return r, nil
}

// recordOf returns a record of everything below a table of the root.
func (s storing) recordOf(o *Object, at func() objectdb.Address) (objectdb.Value, error) {
	if o.node == nil {
		return nil, &assignError{at(), "a table of verbs cannot be copied"}
	}
	if err := s.t.writeLists(); err != nil {
		return nil, err
	}
	b, err := s.t.read(o.node)
	if err != nil {
		return nil, err
	}
	return b.record(), nil
}

// record returns a record of everything in the branch.
func (b *branch) record() objectdb.Record {
	r := make(objectdb.Record, len(b.names))
	for i, name := range b.names {
		v, ok := b.items[i].(objectdb.Value)
		if !ok {
			v = b.items[i].(*branch).record()
		}
		r[i] = objectdb.Field{Name: name, Value: v}
	}
	return r
}

// branch makes a branch of a table with names.
func (s storing) branch(lt *lua.LTable, names []string, at func() objectdb.Address, depth int) (any, error) {
	b := &branch{names: names, items: make([]any, len(names))}
	folds := make(map[string]string, len(names))
	for i, name := range names {
		place := func() objectdb.Address { return at().Child(name) }
		if err := objectdb.CheckName(name); err != nil {
			return nil, &assignError{at(), fmt.Sprintf("%s: %v", quote(name), err)}
		}
		fold := objectdb.Fold(name)
		if other, twice := folds[fold]; twice {
			return nil, &assignError{place(), fmt.Sprintf("%s and %s are one name in the root", quote(other), quote(name))}
		}
		folds[fold] = name
		item, err := s.convert(lua.RawGet(lt, lua.LString(name)), place, depth+1)
		if err != nil {
			return nil, err
		}
		b.items[i] = item
	}
	return b, nil
}

// quote returns a name for a message, cut if it is long.
func quote(name string) string {
	if len(name) > 64 {
		name = strings.ToValidUTF8(name[:64], "") + "…"
	}
	return fmt.Sprintf("%q", name)
}
