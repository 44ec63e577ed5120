package script

import (
	"slices"
	"strings"

	"scripter/lua"
)

// A Table is a Lua table for Go code. One that NewTable made needs no Lua state
// until a script gets it; then each cell becomes a Lua value when the script first
// reads it, so that a request pays only for the parameters that it uses.
//
// A Table belongs to one thread at a time.
type Table struct {
	thread *Thread
	lua    *lua.LTable // nil until a script is given the table

	items []Value // 1..n, while lua is nil
	cells []cell  // named, in the order of Set
	index map[string]int
	left  int // cells that lua does not have yet

	record *shaped // of a table that NewRecord made
	marked bool    // it is a list, while lua is nil
}

// A cell is a named value of a Table.
type cell struct {
	name  string
	value Value
	of    int  // place in the shape + 1, while the value is not made
	gone  bool // deleted, or in the Lua table
}

// Tables with more cells than indexed have an index. With more than eager they
// become Lua tables as a whole, because a script that gets so many reads them all; so
// do further tables of a thread with maxLazy tables that are not.
const (
	indexed = 32
	eager   = 128
	maxLazy = 64
)

// NewTable returns an empty table.
func NewTable() *Table { return &Table{} }

// NewList returns an empty list: a table that is stored as a list, and encoded as one,
// even when nothing is added to it.
func NewList() *Table { return &Table{marked: true} }

// IsList reports whether the table is a list: it has items 1..n, or it is empty and was
// made as a list.
func (tb *Table) IsList() bool {
	if tb.Len() > 0 {
		return true
	}
	if tb.lua == nil {
		return tb.marked && tb.left == 0
	}
	first, _ := lua.Next(tb.lua, lua.LNil)
	return tb.lua.Metatable == listMeta && first == lua.LNil
}

// NewTableFor returns an empty table with room for n cells.
func NewTableFor(n int) *Table { return &Table{cells: make([]cell, 0, min(n, eager))} }

// Set gives the cell called name a value, replacing the one it had. A nil
// value deletes it.
func (tb *Table) Set(name string, v Value) {
	if v == nil {
		tb.Delete(name)
		return
	}
	if tb.lua != nil {
		tb.forget(name)
		lua.RawSet(tb.lua, lua.LString(name), tb.thread.toLua(v))
	} else if i := tb.find(name); i >= 0 {
		*tb.own(i) = cell{name: name, value: v}
	} else {
		tb.add(cell{name: name, value: v})
	}
}

// find returns the index of the cell called name, or -1.
func (tb *Table) find(name string) int {
	if tb.left == 0 {
		return -1
	}
	if tb.index == nil && len(tb.cells) <= indexed {
		for i := range tb.cells {
			if tb.cells[i].name == name && !tb.cells[i].gone {
				return i
			}
		}
		return -1
	}
	if tb.index == nil {
		tb.index = make(map[string]int, len(tb.cells)+indexed)
		for i := range tb.cells {
			if !tb.cells[i].gone {
				tb.index[tb.cells[i].name] = i
			}
		}
	}
	if i, ok := tb.index[name]; ok && !tb.cells[i].gone {
		return i
	}
	return -1
}

// forget drops the cell called name without giving it to Lua.
func (tb *Table) forget(name string) {
	i := tb.find(name)
	if i < 0 {
		return
	}
	*tb.own(i) = cell{gone: true}
	tb.left--
}

// Get returns the value of the cell called name, nil if there is none. Case
// counts, as in every Lua table.
func (tb *Table) Get(name string) Value {
	if i := tb.find(name); i >= 0 {
		return tb.value(i)
	}
	if tb.lua != nil {
		return tb.thread.fromLua(lua.RawGet(tb.lua, lua.LString(name)))
	}
	return nil
}

// Lookup is Get without regard to case, unless a cell is spelled exactly so. A nil Table is empty.
func (tb *Table) Lookup(name string) (v Value, found bool) {
	if tb == nil || tb.hides(name) {
		return nil, false
	}
	if v := tb.Get(name); v != nil {
		return v, true
	}
	if i := tb.findFold(name); i >= 0 {
		v := tb.value(i)
		return v, v != nil
	}
	if tb.lua == nil {
		return nil, false
	}
	for k, lv := lua.Next(tb.lua, lua.LNil); k != lua.LNil; k, lv = lua.Next(tb.lua, k) {
		if s, ok := k.(lua.LString); ok && strings.EqualFold(string(s), name) {
			return tb.thread.fromLua(lv), true
		}
	}
	return nil, false
}

// Append adds v as the last of the items 1..n.
func (tb *Table) Append(v Value) {
	if tb.lua != nil {
		lua.Append(tb.lua, tb.thread.toLua(v))
		return
	}
	tb.items = append(tb.items, v)
}

// Len returns the number n of the items 1..n, Lua's #t.
func (tb *Table) Len() int {
	if tb.lua != nil {
		return tb.lua.Len()
	}
	return len(tb.items)
}

// Index returns item i, counted from 1, and nil where there is none.
func (tb *Table) Index(i int) Value {
	if tb.lua != nil {
		return tb.thread.fromLua(lua.RawGet(tb.lua, lua.LNumber(i)))
	}
	if i < 1 || i > len(tb.items) {
		return nil
	}
	return tb.items[i-1]
}

// Delete removes the cell called name, if there is one.
func (tb *Table) Delete(name string) {
	tb.forget(name)
	if tb.lua != nil {
		lua.RawSet(tb.lua, lua.LString(name), lua.LNil)
	}
}

// Names returns the names of the table, in order.
func (tb *Table) Names() []string {
	var names []string
	tb.Each(func(k, _ Value) bool {
		if name, ok := k.(string); ok {
			names = append(names, name)
		}
		return true
	})
	slices.Sort(names)
	return names
}

// Each calls f for every item in order and then for every other cell, until f
// returns false. Keys are strings and float64. f may delete the cell that it gets.
func (tb *Table) Each(f func(k, v Value) bool) {
	if tb.lua != nil {
		tb.materialise()
		for k, lv := lua.Next(tb.lua, lua.LNil); k != lua.LNil; k, lv = lua.Next(tb.lua, k) {
			if !f(tb.thread.fromLua(k), tb.thread.fromLua(lv)) {
				return
			}
		}
		return
	}
	for i, v := range tb.items {
		if !f(float64(i+1), v) {
			return
		}
	}
	for i := range tb.cells {
		name := tb.cells[i].name
		if tb.cells[i].gone {
			continue
		}
		if v := tb.value(i); v != nil && !f(name, v) {
			return
		}
	}
}

// expose returns the table as a Lua table of thread t.
func (tb *Table) expose(t *Thread) *lua.LTable {
	if tb.lua != nil {
		return tb.lua
	}
	tb.thread = t
	if tb.left > eager || len(t.lazy) >= maxLazy && tb.record == nil {
		tb.lua = lua.NewTable(len(tb.items), tb.left)
		tb.giveItems()
		tb.materialise()
		return tb.lua
	}
	tb.lua = lua.NewTable(len(tb.items), 8)
	tb.giveItems()
	if tb.marked && tb.left == 0 {
		tb.lua.Metatable = listMeta
	}
	if tb.left > 0 {
		if t.lazy == nil {
			t.lazy = make(map[*lua.LTable]*Table, 8)
		}
		t.lazy[tb.lua] = tb
		tb.lua.Metatable = lazyMeta
	}
	return tb.lua
}

// giveItems moves the items to the Lua table.
func (tb *Table) giveItems() {
	for _, v := range tb.items {
		lua.Append(tb.lua, tb.thread.toLua(v))
	}
	tb.items = nil
}

// give moves cell i to the Lua table and returns its value.
func (tb *Table) give(i int) lua.LValue {
	name := tb.cells[i].name
	lv := tb.thread.toLua(tb.value(i))
	*tb.own(i) = cell{gone: true}
	tb.left--
	lua.RawSet(tb.lua, lua.LString(name), lv)
	if tb.left == 0 {
		tb.settled()
	}
	return lv
}

// materialise moves all cells that are left to the Lua table, which is an ordinary
// one from then on, unless it has a [Deferred] cell.
func (tb *Table) materialise() {
	for i := 0; tb.left > 0 && i < len(tb.cells); i++ {
		if !tb.cells[i].gone && !tb.isDeferred(i) {
			tb.give(i)
		}
	}
}

// settled drops what an ordinary Lua table does not need.
func (tb *Table) settled() {
	tb.cells, tb.index = nil, nil
	if tb.record != nil && tb.record.shape.methods != nil {
		return // they are found by the metatable
	}
	if tb.lua.Metatable == lazyMeta {
		tb.lua.Metatable = lua.LNil
		delete(tb.thread.lazy, tb.lua)
	}
}

// lazyMeta is the metatable of tables whose cells Lua does not have yet.
var lazyMeta = lua.NewMetatable()

func init() {
	lua.Define(lazyMeta, map[string]lua.LGFunction{
		"__index":    lazyIndex,
		"__newindex": lazyNewIndex,
	})
}

func lazyIndex(L *lua.LState) int {
	v := lua.LNil
	if tb := threadOf(L).lazy[L.Get(1).(*lua.LTable)]; tb != nil {
		if s, ok := L.Get(2).(lua.LString); ok {
			if i := tb.find(string(s)); i >= 0 {
				tb.deferred(L, i)
				v = tb.give(i)
			} else {
				v = tb.method(string(s))
			}
		}
	}
	L.Push(v)
	return 1
}

func lazyNewIndex(L *lua.LState) int {
	lt := L.Get(1).(*lua.LTable)
	if tb := threadOf(L).lazy[lt]; tb != nil {
		if s, ok := L.Get(2).(lua.LString); ok {
			tb.forget(string(s))
			if tb.left == 0 {
				tb.settled()
			}
		}
	}
	lua.RawSet(lt, L.Get(2), L.Get(3))
	return 0
}

// settle makes an ordinary table of one whose cells Lua does not have yet. The
// library functions that look at a table without its metatable call it first.
func settle(L *lua.LState, lt *lua.LTable) {
	if lt.Metatable == lazyMeta {
		threadOf(L).settle(lt)
	}
}

func (t *Thread) settle(lt *lua.LTable) {
	if tb := t.lazy[lt]; tb != nil {
		tb.materialise()
	}
}
