package lua

import (
	"strconv"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/ast"
)

// gopher-lua loses items of long table constructors: when the items fill whole groups
// of 50, it stores the last group again after a keyed field, and the results of a
// final call over the first items.

// maxItems is how many items a table constructor may list: the compiler loses
// count of them beyond 511 groups of 50.
const maxItems = 511 * flushItems

// flushItems is how many items the machine stores into a new table at a time
// (lua.FieldsPerFlush).
const flushItems = 50

// table normalises a constructor. When the items fill whole groups, the
// compiler stores the last group again after a keyed field, and the results of
// a final call over the first.
func (n *normaliser) table(e *ast.TableExpr) ast.Expr {
	items := 0
	keyed := false
	for _, f := range e.Fields {
		if f.Key != nil {
			f.Key = n.expr(f.Key)
			keyed = true
		} else {
			items++
		}
		f.Value = n.expr(f.Value)
	}
	for _, f := range e.Fields {
		extend(e, f.Value)
	}
	if items > maxItems {
		refuse(e, "table constructor has more than %d items", maxItems)
	}
	if items < flushItems {
		return e
	}
	if keyed {
		e.Fields = keyedFirst(e.Fields)
	}
	last := e.Fields[len(e.Fields)-1]
	if last.Key != nil || !isMulti(last.Value) || (items-1)%flushItems != 0 {
		return e
	}
	e.Fields = e.Fields[:len(e.Fields)-1]
	count := at(&ast.NumberExpr{Value: strconv.Itoa(items - 1)}, e)
	call := &ast.FuncCallExpr{Func: ident(e, appendName), Args: []ast.Expr{e, count, last.Value}, AdjustRet: true}
	call.SetLine(plainLine(e.Line()))
	return call
}

// keyedFirst moves the keyed fields before the items. A list that ended in a
// keyed field did not take all results of a call before it.
func keyedFirst(fields []*ast.Field) []*ast.Field {
	if last := fields[len(fields)-1]; last.Key != nil {
		for _, f := range fields {
			if f.Key == nil {
				truncate(f.Value)
			}
		}
	}
	out := make([]*ast.Field, 0, len(fields))
	for _, f := range fields {
		if f.Key != nil {
			out = append(out, f)
		}
	}
	for _, f := range fields {
		if f.Key == nil {
			out = append(out, f)
		}
	}
	return out
}

// appendFunction is called for {…, f ()} where the compiler would put the
// results of f in the wrong place: append (table, items, results...).
var appendFunction = GoFunction(func(L *lua.LState) int {
	t := L.Get(1).(*lua.LTable)
	n := int(L.Get(2).(lua.LNumber))
	for i := 3; i <= L.GetTop(); i++ {
		t.RawSetInt(n+i-2, L.Get(i))
	}
	L.SetTop(1)
	return 1
})
