package lua

import (
	"math/bits"
	"strings"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/ast"
)

// The compiler keeps one number for every instruction, its line, and that is
// all that an error can ask the machine for. The normaliser packs more into
// it: what the operands of the instruction are called, which is what makes
// "attempt to index field 'header' (a nil value)" possible. From the lowest
// bit: the line, the register (plus one) that operand gives, and the index
// (plus one) of the text among the constants of the function. Where int has 32
// bits there is no room, and messages have no names.
const (
	lineBits     = 20
	registerBits = 9
	lineMask     = 1<<lineBits - 1
	registerMask = 1<<registerBits - 1
	textShift    = lineBits + registerBits
	describing   = bits.UintSize >= 64
)

// plainLine returns the line without what describe has added.
func plainLine(position int) int { return position & lineMask }

// describe notes what the operands of an expression are called. Operands are
// separated by NUL.
func (n *normaliser) describe(e ast.Expr, text string) {
	if !describing || n.plain || strings.Trim(text, "\x00") == "" {
		return
	}
	n.texts = append(n.texts, text)
	e.SetLine(plainLine(e.Line()) | len(n.texts)<<textShift)
}

// describeValue says where a value comes from, "" if it has no name.
func (n *normaliser) describeValue(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.IdentExpr:
		return n.kind(e.Value) + " '" + e.Value + "'"
	case *ast.AttrGetExpr:
		if key, ok := e.Key.(*ast.StringExpr); ok {
			return "field '" + key.Value + "'"
		}
		return "field '?'"
	}
	return ""
}

// kind is resolve for a name that has been resolved before.
func (n *normaliser) kind(name string) string {
	for f := n.fn; f != nil; f = f.outer {
		for i := len(f.locals) - 1; i >= 0; i-- {
			if f.locals[i].name == name {
				if f == n.fn {
					return "local"
				}
				return "upvalue"
			}
		}
	}
	return "global"
}

// patch finishes what the compiler made of normalised code: descriptions move
// from the normaliser's list to the function that they are about, and the
// instructions of constructors are mended.
func (n *normaliser) patch(p *lua.FunctionProto) {
	placed := map[int]int{}
	for pc, position := range p.DbgSourcePositions {
		text := position >> textShift
		at := placed[text]
		if text != 0 && at == 0 {
			p.Constants = append(p.Constants, lua.LString(n.texts[text-1]))
			at = len(p.Constants)
			placed[text] = at
		}
		if describing {
			p.DbgSourcePositions[pc] = plainLine(position) | operand(p.Code[pc])<<lineBits | at<<textShift
		}
	}
	for i := range p.DbgCalls {
		c := &p.DbgCalls[i]
		if name := firstOperand(describedAt(p, p.DbgSourcePositions[c.Pc])); name != "" {
			c.Name = name
		}
	}
	patchConstructors(p)
	for _, f := range p.FunctionPrototypes {
		n.patch(f)
	}
}

// operand returns the register that holds the function of a call, the operand
// of a unary operator or what is indexed, plus one; 0 for other instructions.
func operand(code uint32) int {
	switch i := instruction(code); i.op() {
	case lua.OP_CALL, lua.OP_TAILCALL, lua.OP_TFORLOOP, lua.OP_SETTABLE, lua.OP_SETTABLEKS:
		return i.a() + 1
	case lua.OP_UNM, lua.OP_LEN, lua.OP_GETTABLE, lua.OP_GETTABLEKS, lua.OP_SELF:
		if i.b()&constant == 0 {
			return i.b() + 1
		}
	}
	return 0
}

// wanted returns how many results a call takes, -1 for all that there are.
func wanted(call instruction) int { return call.c() - 1 }

// describedAt returns the text of a position of p.
func describedAt(p *lua.FunctionProto, position int) string {
	if at := position >> textShift; at > 0 && at <= len(p.Constants) {
		return p.Constants[at-1].String()
	}
	return ""
}

// firstOperand returns the description of the first operand.
func firstOperand(text string) string {
	first, _, _ := strings.Cut(text, "\x00")
	return first
}

// operandText returns the description of the i-th operand.
func operandText(text string, i int) string {
	for ; i > 0; i-- {
		var ok bool
		if _, text, ok = strings.Cut(text, "\x00"); !ok {
			return ""
		}
	}
	return firstOperand(text)
}
