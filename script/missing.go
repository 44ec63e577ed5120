package script

import (
	gopher "github.com/yuin/gopher-lua"

	"scripter/lua"
)

// This file makes the messages for what scripts most often do wrong: to use a
// cell that is not there. The interpreter only says that a nil was indexed.
// The functions here look at the instruction that did it, as Lua's own
// interpreter does, follow its operand back to where it came from, and so name
// the address. They cost nothing until something fails.

var (
	nilMeta      = lua.NewMetatable()
	scalarMeta   = lua.NewMetatable()
	functionMeta = lua.NewMetatable()
)

func init() {
	lua.Define(nilMeta, map[string]lua.LGFunction{
		"__index":    wrongIndex,
		"__newindex": wrongNewIndex,
		"__call":     wrongCall,
		"__concat":   wrongConcat,
		"__add":      wrongArith,
		"__sub":      wrongArith,
		"__mul":      wrongArith,
		"__div":      wrongArith,
		"__mod":      wrongArith,
		"__pow":      wrongArith,
		"__unm":      wrongArith,
	})
	lua.Define(scalarMeta, map[string]lua.LGFunction{
		"__index":    wrongIndex,
		"__newindex": wrongNewIndex,
		"__call":     wrongCall,
	})
	lua.Define(functionMeta, map[string]lua.LGFunction{
		"__index":    wrongIndex,
		"__newindex": wrongNewIndex,
	})
}

// openMessages gives the types that cannot be indexed metatables that say so.
func (t *Thread) openMessages() {
	t.state.SetTypeMetatable(lua.LNil, nilMeta)
	t.state.SetTypeMetatable(lua.LTrue, scalarMeta)
	t.state.SetTypeMetatable(lua.LNumber(0), scalarMeta)
	t.state.SetTypeMetatable(addressGet, functionMeta)
}

func wrongIndex(L *lua.LState) int {
	t := threadOf(L)
	t.fail(L, "attempt to index %s", t.describe(L, L.Get(1), indexed1))
	return 0
}

func wrongNewIndex(L *lua.LState) int {
	t := threadOf(L)
	t.fail(L, "attempt to index %s", t.describe(L, L.Get(1), assigned1))
	return 0
}

func wrongCall(L *lua.LState) int {
	t := threadOf(L)
	t.fail(L, "attempt to call %s", t.describe(L, L.Get(1), called1))
	return 0
}

func wrongConcat(L *lua.LState) int {
	t := threadOf(L)
	lv := L.Get(1)
	if gopher.LVCanConvToString(lv) {
		lv = L.Get(2)
	}
	t.fail(L, "attempt to concatenate %s", t.describe(L, lv, concatenated))
	return 0
}

func wrongArith(L *lua.LState) int {
	t := threadOf(L)
	lv := L.Get(1)
	if _, ok := lua.ToNumber(lv); ok {
		lv = L.Get(2)
	}
	t.fail(L, "attempt to perform arithmetic on %s", t.describe(L, lv, calculated))
	return 0
}

// These tell which registers an instruction that may fail works on.

func indexed1(i instruction) []int {
	switch i.op() {
	case gopher.OP_GETTABLE, gopher.OP_GETTABLEKS, gopher.OP_SELF:
		return []int{i.b()}
	}
	return nil
}

func assigned1(i instruction) []int {
	switch i.op() {
	case gopher.OP_SETTABLE, gopher.OP_SETTABLEKS:
		return []int{i.a()}
	}
	return nil
}

func called1(i instruction) []int {
	switch i.op() {
	case gopher.OP_CALL, gopher.OP_TAILCALL:
		return []int{i.a()}
	case gopher.OP_TFORLOOP:
		return []int{i.a()}
	}
	return nil
}

// concatenated: normalised code calls a function for "..".
func concatenated(i instruction) []int {
	if i.op() != gopher.OP_CALL && i.op() != gopher.OP_TAILCALL {
		return nil
	}
	var regs []int
	for r := i.a() + 1; r < i.a()+i.b(); r++ {
		regs = append(regs, r)
	}
	return regs
}

func calculated(i instruction) []int {
	switch i.op() {
	case gopher.OP_ADD, gopher.OP_SUB, gopher.OP_MUL, gopher.OP_DIV, gopher.OP_MOD, gopher.OP_POW:
		return []int{i.b(), i.c()}
	case gopher.OP_UNM:
		return []int{i.b()}
	case gopher.OP_CALL: // "%"
		return concatenated(i)
	}
	return nil
}

// describe names lv, on which an instruction of the calling function failed:
// "a missing object: user.x", "a number: user.n", "local 'x' (a nil value)",
// "a nil value". works tells the registers of such an instruction.
func (t *Thread) describe(L *lua.LState, lv lua.LValue, works func(instruction) []int) string {
	if fn, ok := lv.(*lua.LFunction); ok && t.scripts[fn] != nil {
		return "a script: " + t.scripts[fn].label()
	}
	what := "a " + lv.Type().String()
	tr, position := t.trace(L)
	if tr.fn == nil {
		return what + " value"
	}
	proto := tr.fn.Proto
	for pc, code := range proto.Code {
		if proto.DbgSourcePositions[pc] != position {
			continue
		}
		for n, reg := range works(instruction(code)) {
			if reg&constant != 0 {
				continue
			}
			now := tr.register(reg)
			if now == nil {
				now = tr.value(pc, reg, 0)
			}
			if now != nil && now != lv {
				continue
			}
			if a := tr.origin(pc, reg, 0); a != nil {
				if lv == lua.LNil {
					what = "a missing object"
				}
				return what + ": " + a.String()
			}
			text := lua.DescribedAt(proto, position)
			if instruction(code).op() == gopher.OP_SELF {
				n = 1 // the receiver: the first operand is the method
			}
			if name := lua.OperandText(text, n); name != "" {
				return name + " (" + what + " value)"
			}
		}
	}
	return what + " value"
}
