package script

import (
	gopher "github.com/yuin/gopher-lua"

	"strings"

	"scripter/lua"
	"scripter/objectdb"
)

// A tracer follows registers of a function that is running back to where
// their values came from.
type tracer struct {
	t   *Thread
	L   *lua.LState
	dbg *gopher.Debug
	fn  *lua.LFunction
}

// traceDepth bounds the length of the chains a tracer follows.
const traceDepth = 20

// register returns what a register holds now, a Go nil if it holds nothing.
func (tr tracer) register(reg int) lua.LValue {
	name, lv := tr.L.GetLocal(tr.dbg, reg+1)
	if name == "" {
		return nil
	}
	return lv
}

// local returns the name of the variable in a register before instruction pc.
func (tr tracer) local(pc, reg int) string {
	name, _ := tr.fn.LocalName(reg+1, pc)
	if strings.HasPrefix(name, "(") { // one of the normaliser's
		return ""
	}
	return name
}

// setter returns the last instruction before pc that set reg, or -1. Jumps are
// not followed: within an expression there are none but those of and and or.
func (tr tracer) setter(pc, reg int) int {
	last := -1
	code := tr.fn.Proto.Code
	for at := 0; at < pc; at++ {
		i := instruction(code[at])
		if i.sets(reg) {
			last = at
		}
		if i.op() == gopher.OP_CLOSURE { // a word follows for every upvalue
			at += int(tr.fn.Proto.FunctionPrototypes[i.bx()].NumUpvalues)
		}
	}
	return last
}

// sets reports whether the instruction changes reg.
func (i instruction) sets(reg int) bool {
	switch i.op() {
	case gopher.OP_SETGLOBAL, gopher.OP_SETUPVAL, gopher.OP_SETTABLE, gopher.OP_SETTABLEKS, gopher.OP_JMP, gopher.OP_EQ,
		gopher.OP_LT, gopher.OP_LE, gopher.OP_TEST, gopher.OP_RETURN, gopher.OP_SETLIST, gopher.OP_CLOSE, gopher.OP_NOP:
		return false
	case gopher.OP_CALL, gopher.OP_TAILCALL, gopher.OP_VARARG, gopher.OP_TFORLOOP, gopher.OP_FORLOOP, gopher.OP_FORPREP:
		return reg >= i.a()
	case gopher.OP_LOADNIL:
		return reg >= i.a() && reg <= i.b()
	case gopher.OP_SELF:
		return reg == i.a() || reg == i.a()+1
	}
	return reg == i.a()
}

// origin returns the address of the cell from which the value in reg came, nil
// if it came from elsewhere.
func (tr tracer) origin(pc, reg, depth int) objectdb.Address {
	if tr.local(pc, reg) != "" || depth > traceDepth {
		return nil
	}
	at := tr.setter(pc, reg)
	if at < 0 {
		return nil
	}
	i := instruction(tr.fn.Proto.Code[at])
	switch i.op() {
	case gopher.OP_MOVE:
		return tr.origin(at, i.b(), depth+1)
	case gopher.OP_GETTABLE, gopher.OP_GETTABLEKS, gopher.OP_SELF:
		o := objectOf(tr.value(at, i.b(), depth+1))
		key, ok := tr.operand(at, i.c(), depth+1).(lua.LString)
		if o != nil && ok {
			return o.Address().Child(string(key))
		}
	}
	return nil
}

// operand returns a constant or the value of a register.
func (tr tracer) operand(pc, rk, depth int) lua.LValue {
	if rk&constant != 0 {
		return tr.fn.Proto.Constants[rk&^constant]
	}
	return tr.value(pc, rk, depth)
}

// value works out again what was in reg before instruction pc, nil if it
// cannot be told. It reads the root and runs nothing.
func (tr tracer) value(pc, reg, depth int) lua.LValue {
	if tr.local(pc, reg) != "" {
		return tr.register(reg)
	}
	at := tr.setter(pc, reg)
	if at < 0 || depth > traceDepth {
		return nil
	}
	i := instruction(tr.fn.Proto.Code[at])
	switch i.op() {
	case gopher.OP_MOVE:
		return tr.value(at, i.b(), depth+1)
	case gopher.OP_LOADK:
		return tr.fn.Proto.Constants[i.bx()]
	case gopher.OP_GETUPVAL:
		_, lv := tr.L.GetUpvalue(tr.fn, i.b()+1)
		return lv
	case gopher.OP_GETGLOBAL:
		name := tr.fn.Proto.Constants[i.bx()].String()
		if lv := tr.L.G.Global.RawGetString(name); lv != lua.LNil {
			return lv
		}
		lv, err := tr.t.global(name)
		if err != nil {
			return nil
		}
		return lv
	case gopher.OP_GETTABLE, gopher.OP_GETTABLEKS, gopher.OP_SELF:
		o := objectOf(tr.value(at, i.b(), depth+1))
		key := tr.operand(at, i.c(), depth+1)
		if o == nil || key == nil {
			return nil
		}
		lv, err := o.cell(key.String())
		if err != nil {
			return nil
		}
		return lv
	}
	return nil
}

// trace returns a tracer for the Lua function that called, and its position.
func (t *Thread) trace(L *lua.LState) (tracer, int) {
	for level := 1; ; level++ {
		dbg, ok := L.GetStack(level)
		if !ok {
			return tracer{}, 0
		}
		caller, err := L.GetInfo("fl", dbg, lua.LNil)
		if fn, ok := caller.(*lua.LFunction); err == nil && ok && !fn.IsG {
			return tracer{t, L, dbg, fn}, dbg.CurrentLine
		}
	}
}

// An instruction of gopher-lua: 6 bits of operation, A, C, B.
type instruction uint32

func (i instruction) op() int { return int(i >> 26) }
func (i instruction) a() int  { return int(i>>18) & 0xff }
func (i instruction) b() int  { return int(i & 0x1ff) }
func (i instruction) c() int  { return int(i>>9) & 0x1ff }
func (i instruction) bx() int { return int(i & 0x3ffff) }

// constant marks an operand that is a constant and no register.
const constant = 1 << 8
