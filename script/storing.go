package script

import (
	"fmt"
	"slices"
	"strings"

	lua "github.com/yuin/gopher-lua"

	"scripter/objectdb"
)

// A branch is a table to be written: everything is looked at before anything
// is written, so that a value that cannot be stored leaves the root as it was.
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

// convert returns an objectdb.Value, a *branch or an *Object. at tells where
// the value is going, for messages.
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
		if depth >= maxAssignDepth {
			return refuse("the table nests more than %d deep or contains itself", maxAssignDepth)
		}
		settle(s.L, lv)
		return s.table(lv, at, depth)
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
		case objectdb.Value:
			return v, nil
		}
	}
	return refuse("a %s cannot be stored", lv.Type())
}

// table makes a list of a table whose keys are 1..n, and a branch of one whose
// keys are strings.
func (s storing) table(lt *lua.LTable, at func() objectdb.Address, depth int) (any, error) {
	var names []string
	items := 0
	for k, _ := lt.Next(lua.LNil); k != lua.LNil; k, _ = lt.Next(k) {
		switch k := k.(type) {
		case lua.LString:
			names = append(names, string(k))
		case lua.LNumber:
			items++
		default:
			return nil, &assignError{at(), fmt.Sprintf("a name must be a string, not a %s", k.Type())}
		}
	}
	s.t.budget.charge(s.L, items+len(names))
	switch {
	case items > 0 && len(names) > 0:
		return nil, &assignError{at(), "a table with names and numbers is neither a table nor a list of the root"}
	case items > 0 || lt.Metatable == listMeta && len(names) == 0:
		return s.list(lt, items, at, depth)
	}
	return s.branch(lt, names, at, depth)
}

func (s storing) list(lt *lua.LTable, n int, at func() objectdb.Address, depth int) (any, error) {
	list := make(objectdb.List, n)
	for i := range list {
		lv := lt.RawGetInt(i + 1)
		place := func() objectdb.Address { return at().Child(fmt.Sprint(i + 1)) }
		if lv == lua.LNil {
			return nil, &assignError{at(), fmt.Sprintf("a list needs the items 1 to %d, and [%d] is missing", n, i+1)}
		}
		item, err := s.convert(lv, place, depth+1)
		if err != nil {
			return nil, err
		}
		if b, ok := item.(*branch); ok && len(b.names) == 0 {
			item = objectdb.List{}
		}
		v, ok := item.(objectdb.Value)
		if _, table := item.(*Object); table || !ok {
			return nil, &assignError{place(), "a list cannot hold a table with names"}
		}
		list[i] = v
	}
	return list, nil
}

func (s storing) branch(lt *lua.LTable, names []string, at func() objectdb.Address, depth int) (any, error) {
	slices.Sort(names)
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
		item, err := s.convert(lt.RawGetString(name), place, depth+1)
		if err != nil {
			return nil, err
		}
		b.items[i] = item
	}
	return b, nil
}

// quote shows a name in a message, cut if it is long.
func quote(name string) string {
	if len(name) > 64 {
		name = strings.ToValidUTF8(name[:64], "") + "…"
	}
	return fmt.Sprintf("%q", name)
}
