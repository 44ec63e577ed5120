package lua

import (
	"math/bits"
	"strings"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/ast"
)

// The compiler stores one number for each instruction: its line. The normaliser stores
// a second one in the bits above the line, so that a message can say "attempt to index
// field 'header' (a nil value)". It is the index, plus one, of a constant of the
// function: a text that names the operands. Where int has 32 bits, there is no room for
// it, and messages name no operands.
const (
	lineBits   = 20
	lineMask   = 1<<lineBits - 1
	describing = bits.UintSize >= 64
)

// plainLine returns the line without what describe has added.
func plainLine(position int) int { return position & lineMask }

// describe stores the names of the operands of e for messages. NUL separates them in
// text.
func (n *normaliser) describe(e ast.Expr, text string) {
	if !describing || n.plain || strings.Trim(text, "\x00") == "" {
		return
	}
	n.texts = append(n.texts, text)
	e.SetLine(plainLine(e.Line()) | len(n.texts)<<lineBits)
}

// describeValue returns what messages call the value of e, such as "local 'x'", or ""
// if it has no name.
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

// kind returns what resolve has returned for the name. It counts nothing.
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

// patch completes the code that the compiler has made of a normalised function. It
// moves descriptions from the normaliser's list to the constants of the function, and
// mends the instructions of constructors.
func (n *normaliser) patch(p *lua.FunctionProto) {
	placed := map[int]int{}
	for pc, position := range p.DbgSourcePositions {
		text := position >> lineBits
		at := placed[text]
		if text != 0 && at == 0 {
			p.Constants = append(p.Constants, lua.LString(n.texts[text-1]))
			at = len(p.Constants)
			placed[text] = at
		}
		if describing {
			p.DbgSourcePositions[pc] = plainLine(position) | at<<lineBits
		}
	}
	for i := range p.DbgCalls {
		c := &p.DbgCalls[i]
		if name := operandText(describedAt(p, c.Pc), 0); name != "" {
			c.Name = name
		}
	}
	patchConstructors(p)
	for _, f := range p.FunctionPrototypes {
		n.patch(f)
	}
}

// wanted returns the number of results that a call asks for, or -1 for all.
func wanted(call instruction) int { return call.c() - 1 }

// describedAt returns the text that describe has stored for an instruction of p, or ""
// if there is none.
func describedAt(p *lua.FunctionProto, pc int) string {
	if at := p.DbgSourcePositions[pc] >> lineBits; at > 0 && at <= len(p.Constants) {
		return p.Constants[at-1].String()
	}
	return ""
}

// operandText returns the name of the i-th operand in such a text.
func operandText(text string, i int) string {
	for ; i > 0; i-- {
		_, text, _ = strings.Cut(text, "\x00")
	}
	text, _, _ = strings.Cut(text, "\x00")
	return text
}
