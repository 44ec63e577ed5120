package script

import (
	"fmt"

	"scripter/lua"
	"scripter/objectdb"
)

// A Value passes between Go and Lua. Scripts give Go nil, bool, float64, string,
// *Table, *Function, *Object, objectdb.Date, objectdb.Binary, objectdb.Address
// and objectdb.Null.
//
// Go may give scripts more: int, int64, []string, and every objectdb.Value. Text
// and outlines become Lua strings, a list becomes a fresh Lua table, with records as
// Lua tables in it. objectdb.Null is json.null.
//
// A script that was not read from the root (odb.script), and a text or outline
// that a script marked as such (odb.text, odb.outline) come as objectdb.Script,
// objectdb.Text and objectdb.Outline.
type Value any

// A Function is a Lua function: a closure of the running script, a library
// function or a verb. It belongs to its thread.
type Function struct {
	fn *lua.LFunction
}

// foreign is a Lua value that Go has no form for: a coroutine.
type foreign struct {
	lv lua.LValue
}

// toLua returns the Lua form of a Go value. It panics on a type that Value does
// not list, which is a mistake in a verb.
func (t *Thread) toLua(v Value) lua.LValue {
	switch v := v.(type) {
	case nil:
		return lua.LNil
	case bool:
		return lua.LBool(v)
	case float64:
		return lua.LNumber(v)
	case int:
		return lua.LNumber(v)
	case int64:
		return lua.LNumber(v)
	case string:
		return lua.LString(v)
	case []string:
		list := lua.NewTable(len(v), 0)
		for _, s := range v {
			lua.Append(list, lua.LString(s))
		}
		return list
	case *Table:
		if v == nil {
			return lua.LNil
		}
		return v.expose(t)
	case *Function:
		if v == nil {
			return lua.LNil
		}
		return v.fn
	case *Object:
		if v == nil {
			return lua.LNil
		}
		return v.luaValue()
	case objectdb.Value:
		return fromRoot(v)
	case foreign:
		return v.lv
	}
	panic(fmt.Sprintf("script: a %T cannot be given to Lua", v))
}

// fromLua returns the Go form of a Lua value. Tables and functions are passed
// by reference.
func (t *Thread) fromLua(lv lua.LValue) Value {
	switch lv := lv.(type) {
	case lua.LString:
		return string(lv)
	case lua.LNumber:
		return float64(lv)
	case lua.LBool:
		return bool(lv)
	case *lua.LNilType:
		return nil
	case *lua.LTable:
		return t.table(lv)
	case *lua.LFunction:
		if o := t.scripts[lv]; o != nil {
			return o
		}
		return &Function{fn: lv}
	case *lua.LUserData:
		switch v := lv.Value.(type) {
		case *Object:
			return v
		case objectdb.Value:
			return v
		}
	}
	return foreign{lv}
}

// table returns the Table of a Lua table: the same one if Go made it and the Lua table does not
// have all of its cells yet.
func (t *Thread) table(tb *lua.LTable) *Table {
	if tb.Metatable == lazyMeta {
		if own := t.lazy[tb]; own != nil {
			return own
		}
	}
	return &Table{thread: t, lua: tb}
}

// IsSame reports whether two values are the same in Lua, as rawequal does.
func (t *Thread) IsSame(a, b Value) bool { return t.toLua(a) == t.toLua(b) }
