package lua

import (
	lua "github.com/yuin/gopher-lua"
)

// gopher-lua says that a nil was indexed or called, and not which. The functions
// here find the operand of the instruction that failed and say what it is: a
// local, a field, or what the Owner knows of it. They run only when something
// has failed.

// A Source says where the value of an operand came from: it is one of a value, a
// global and a field.
type Source struct {
	Value  lua.LValue // a local, an upvalue or a constant
	Global string     // the name of a global
	Table  *Source    // the table of a field …
	Key    *Source    // … and its key
}

// describeOperand describes v, an operand on which the instruction that runs has
// failed: "local 'x' (a nil value)", or "a nil value". Operands count from 0.
func describeOperand(L *lua.LState, v lua.LValue, operand int) string {
	about := "a " + typeName(v) + " value"
	cf := machineOf(L).currentFrame
	if cf.Fn.IsG {
		return about
	}
	code := instruction(cf.Fn.Proto.Code[cf.Pc-1])
	if code.op() == lua.OP_SELF {
		operand = 1 // the receiver: 0 is the method, see describe
	}
	if owner := Of(L).owner; owner != nil {
		var from *Source
		f := frame{L, cf}
		if r := code.operands()[operand]; r&constant == 0 && f.register(r) == v {
			from = f.from(cf.Pc-1, r, 0)
		}
		if name := owner.Describe(v, from); name != "" {
			return name
		}
	}
	if name := operandText(describedAt(cf.Fn.Proto, cf.Pc-1), operand); name != "" {
		return name + " (" + about + ")"
	}
	return about
}

// operands returns the registers or constants on which the instruction may fail.
func (i instruction) operands() []int {
	switch i.op() {
	case lua.OP_SETTABLE, lua.OP_SETTABLEKS, lua.OP_CALL, lua.OP_TAILCALL, lua.OP_TFORLOOP:
		return []int{i.a()}
	case lua.OP_SELF:
		return []int{i.a(), i.b()}
	case lua.OP_ADD, lua.OP_SUB, lua.OP_MUL, lua.OP_DIV, lua.OP_MOD, lua.OP_POW:
		return []int{i.b(), i.c()}
	case lua.OP_CONCAT:
		var registers []int
		for r := i.b(); r <= i.c(); r++ {
			registers = append(registers, r)
		}
		return registers
	}
	return []int{i.b()}
}

// A frame is a call of a Lua function whose registers can be followed back to
// where their values came from.
type frame struct {
	L    *lua.LState
	call *callFrame
}

// sourceDepth bounds the length of the chains that from follows.
const sourceDepth = 20

// register returns what a register holds now.
func (f frame) register(r int) lua.LValue {
	return machineOf(f.L).reg.array[f.call.LocalBase+r]
}

// isLocal reports whether a register is that of a local of the script before the
// instruction at pc.
func (f frame) isLocal(pc, r int) bool {
	name, _ := f.call.Fn.LocalName(r+1, pc)
	return name != "" && name[0] != '(' // else one of the normaliser's
}

// from returns where the value came from that was in a register before the
// instruction at pc; nil if it is not known.
func (f frame) from(pc, r, depth int) *Source {
	if f.isLocal(pc, r) {
		return valueSource(f.register(r))
	}
	at := f.setter(pc, r)
	if at < 0 || depth > sourceDepth {
		return nil
	}
	i := instruction(f.call.Fn.Proto.Code[at])
	switch i.op() {
	case lua.OP_MOVE:
		return f.from(at, i.b(), depth+1)
	case lua.OP_LOADK:
		return valueSource(f.call.Fn.Proto.Constants[i.bx()])
	case lua.OP_GETUPVAL:
		_, v := f.L.GetUpvalue(f.call.Fn, i.b()+1)
		return valueSource(v)
	case lua.OP_GETGLOBAL:
		return &Source{Global: f.call.Fn.Proto.Constants[i.bx()].String()}
	case lua.OP_GETTABLE, lua.OP_GETTABLEKS, lua.OP_SELF:
		table := f.from(at, i.b(), depth+1)
		var key *Source
		if c := i.c(); c&constant != 0 {
			key = valueSource(f.call.Fn.Proto.Constants[c&^constant])
		} else {
			key = f.from(at, c, depth+1)
		}
		if table != nil && key != nil {
			return &Source{Table: table, Key: key}
		}
	}
	return nil
}

func valueSource(v lua.LValue) *Source {
	if v == nil {
		return nil
	}
	return &Source{Value: v}
}

// setter returns the last instruction before pc that set a register, or -1. Jumps
// are not followed: within an expression there are none but those of and and or.
func (f frame) setter(pc, r int) int {
	last := -1
	code := f.call.Fn.Proto.Code
	for at := 0; at < pc; at++ {
		i := instruction(code[at])
		if i.sets(r) {
			last = at
		}
		if i.op() == lua.OP_CLOSURE { // a word follows for every upvalue
			at += int(f.call.Fn.Proto.FunctionPrototypes[i.bx()].NumUpvalues)
		}
	}
	return last
}

// An instruction of gopher-lua: 6 bits of operation, A, C, B; or operation, A, Bx.
type instruction uint32

const (
	opShift = 26
	aShift  = 18
	cShift  = 9
)

func (i instruction) op() int { return int(i >> opShift) }
func (i instruction) a() int  { return int(i>>aShift) & 0xff }
func (i instruction) b() int  { return int(i & 0x1ff) }
func (i instruction) c() int  { return int(i>>cShift) & 0x1ff }
func (i instruction) bx() int { return int(i & 0x3ffff) }

// jump returns how far a jump goes.
func (i instruction) jump() int { return i.bx() - 1<<17 + 1 }

// constant marks an operand that is a constant and no register.
const constant = 1 << 8

// sets reports whether the instruction changes a register.
func (i instruction) sets(r int) bool {
	switch i.op() {
	case lua.OP_SETGLOBAL, lua.OP_SETUPVAL, lua.OP_SETTABLE, lua.OP_SETTABLEKS, lua.OP_JMP, lua.OP_EQ,
		lua.OP_LT, lua.OP_LE, lua.OP_TEST, lua.OP_RETURN, lua.OP_SETLIST, lua.OP_CLOSE, lua.OP_NOP:
		return false
	case lua.OP_CALL, lua.OP_TAILCALL, lua.OP_VARARG, lua.OP_TFORLOOP, lua.OP_FORLOOP, lua.OP_FORPREP:
		return r >= i.a()
	case lua.OP_LOADNIL:
		return r >= i.a() && r <= i.b()
	case lua.OP_SELF:
		return r == i.a() || r == i.a()+1
	}
	return r == i.a()
}
