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

// describeOperand describes v, an operand on which the function at a level failed.
// registersOf returns the registers of the operands of instructions that may
// have failed so.
func describeOperand(L *lua.LState, level int, v lua.LValue, operand int, registersOf func(instruction) []int) string {
	about := "a " + typeName(v) + " value"
	l, ok := levelAt(L, level)
	if !ok || l.fn.IsG {
		return about
	}
	if owner := Of(L).owner; owner != nil {
		var from *Source
		if d, ok := L.GetStack(level); ok {
			from = frame{L, d, l.fn}.source(l.line, v, operand, registersOf)
		}
		if name := owner.Describe(v, from); name != "" {
			return name
		}
	}
	if name := operandText(describedAt(l.fn.Proto, l.line), operand); name != "" {
		return name + " (" + about + ")"
	}
	return about
}

// indexed returns the register of what an instruction indexes.
func indexed(i instruction) []int {
	switch i.op() {
	case lua.OP_GETTABLE, lua.OP_GETTABLEKS, lua.OP_SELF:
		return []int{i.b()}
	case lua.OP_SETTABLE, lua.OP_SETTABLEKS:
		return []int{i.a()}
	}
	return nil
}

// called returns the register of what an instruction calls.
func called(i instruction) []int {
	switch i.op() {
	case lua.OP_CALL, lua.OP_TAILCALL, lua.OP_TFORLOOP:
		return []int{i.a()}
	}
	return nil
}

// calculated returns the registers of the operands of an operator.
func calculated(i instruction) []int {
	switch i.op() {
	case lua.OP_ADD, lua.OP_SUB, lua.OP_MUL, lua.OP_DIV, lua.OP_MOD, lua.OP_POW:
		return []int{i.b(), i.c()}
	case lua.OP_UNM, lua.OP_LEN:
		return []int{i.b()}
	case lua.OP_CONCAT:
		var registers []int
		for r := i.b(); r <= i.c(); r++ {
			registers = append(registers, r)
		}
		return registers
	}
	return nil
}

// A frame is a call of a Lua function whose registers can be followed back to
// where their values came from.
type frame struct {
	L   *lua.LState
	dbg *lua.Debug
	fn  *lua.LFunction
}

// sourceDepth bounds the length of the chains that source follows.
const sourceDepth = 20

// source returns where an operand with the value v came from, nil if it is not
// known or a local. position is that of the instruction which failed.
func (f frame) source(position int, v lua.LValue, operand int, registersOf func(instruction) []int) *Source {
	proto := f.fn.Proto
	for pc, code := range proto.Code {
		if proto.DbgSourcePositions[pc] != position {
			continue
		}
		registers := registersOf(instruction(code))
		if instruction(code).op() == lua.OP_SELF {
			operand = 0 // operand 1 is the receiver, see describe
		}
		if operand >= len(registers) || registers[operand]&constant != 0 {
			continue
		}
		register := registers[operand]
		if now := f.register(register); now != nil && now != v {
			continue
		}
		if s := f.from(pc, register, 0); s != nil {
			return s
		}
	}
	return nil
}

// register returns what a register holds now, a Go nil if it holds nothing.
func (f frame) register(r int) lua.LValue {
	name, v := f.L.GetLocal(f.dbg, r+1)
	if name == "" {
		return nil
	}
	return v
}

// isLocal reports whether a register is that of a local of the script before the
// instruction at pc.
func (f frame) isLocal(pc, r int) bool {
	name, _ := f.fn.LocalName(r+1, pc)
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
	i := instruction(f.fn.Proto.Code[at])
	switch i.op() {
	case lua.OP_MOVE:
		return f.from(at, i.b(), depth+1)
	case lua.OP_LOADK:
		return valueSource(f.fn.Proto.Constants[i.bx()])
	case lua.OP_GETUPVAL:
		_, v := f.L.GetUpvalue(f.fn, i.b()+1)
		return valueSource(v)
	case lua.OP_GETGLOBAL:
		return &Source{Global: f.fn.Proto.Constants[i.bx()].String()}
	case lua.OP_GETTABLE, lua.OP_GETTABLEKS, lua.OP_SELF:
		table := f.from(at, i.b(), depth+1)
		var key *Source
		if c := i.c(); c&constant != 0 {
			key = valueSource(f.fn.Proto.Constants[c&^constant])
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
	code := f.fn.Proto.Code
	for at := 0; at < pc; at++ {
		i := instruction(code[at])
		if i.sets(r) {
			last = at
		}
		if i.op() == lua.OP_CLOSURE { // a word follows for every upvalue
			at += int(f.fn.Proto.FunctionPrototypes[i.bx()].NumUpvalues)
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
