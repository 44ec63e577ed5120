package lua

import (
	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/ast"
)

// gopher-lua stores the items of a table constructor in groups of 50, and loses
// count: after a keyed field it stores a full group again, from registers that hold
// other values by then; the results of a call that follow a full group are stored
// over it; and a call in a keyed field at the end is taken for one that gives items.

// maxItems is how many items a table constructor may list: an instruction counts
// the groups up to 511.
const maxItems = 511 * 50

// table normalises a constructor.
func (n *normaliser) table(e *ast.TableExpr) {
	items := 0
	for _, f := range e.Fields {
		if f.Key == nil {
			items++
		} else {
			f.Key = n.expr(f.Key)
		}
		f.Value = n.expr(f.Value)
		if f.Key != nil {
			truncate(f.Value)
		}
		extend(e, f.Value)
	}
	if items > maxItems {
		refuse(e, "table constructor has more than %d items", maxItems)
	}
}

// patchConstructors mends the instructions that store a group of items. A second
// one with the number of a full group stores the results of a call, which are the
// next group, or nothing.
func patchConstructors(p *lua.FunctionProto) {
	var last [256]instruction // by the register of the table
	for pc, code := range p.Code {
		switch i := instruction(code); i.op() {
		case lua.OP_NEWTABLE:
			last[i.a()] = 0
		case lua.OP_SETLIST:
			before := last[i.a()]
			last[i.a()] = i
			if before.b() != lua.FieldsPerFlush || before.c() != i.c() {
				continue
			}
			if i.b() == 0 {
				p.Code[pc] += 1 << cShift
			} else {
				p.Code[pc] = uint32(lua.OP_NOP) << opShift
			}
		}
	}
}
