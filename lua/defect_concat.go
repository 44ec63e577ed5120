package lua

import (
	"strings"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/ast"
)

// gopher-lua writes numbers in its own way where ".." joins them (2^53 .. "" gives
// 9007199254740992), and has no limit for the length of a string. So the loop joins
// the operands itself, see run.

// concat normalises a chain of "..", for which there is one instruction.
func (n *normaliser) concat(e *ast.StringConcatOpExpr) {
	text := ""
	for last := e; ; {
		last.Lhs = n.expr(last.Lhs)
		extend(e, last.Lhs)
		text += n.describeValue(last.Lhs) + "\x00"
		next, ok := last.Rhs.(*ast.StringConcatOpExpr)
		if !ok {
			last.Rhs = n.expr(last.Rhs)
			text += n.describeValue(last.Rhs)
			atEnd(e, last.Rhs)
			break
		}
		last = next
	}
	n.describe(e, text)
}

// concat joins its operands as ".." does: from the right, strings and numbers as
// text, anything else by __concat.
func (s *State) concat(L *lua.LState, operands []lua.LValue) lua.LValue {
	if text, ok := s.join(L, operands...); ok {
		return text
	}
	i := len(operands) - 1
	joined := operands[i]
	for i--; i >= 0; i-- {
		left := operands[i]
		if text, ok := s.join(L, left, joined); ok {
			joined = text
			continue
		}
		f := metaField(L, left, "__concat")
		if f == lua.LNil {
			f = metaField(L, joined, "__concat")
		}
		if f == lua.LNil {
			bad, operand := left, i
			if isText(left) {
				bad, operand = joined, i+1
			}
			complain(L, "attempt to concatenate %s", describeOperand(L, bad, operand))
		}
		joined = s.metaCall(L, f, left, joined)
	}
	return joined
}

// join joins strings and numbers. ok is false if there is another value among them.
func (s *State) join(L *lua.LState, operands ...lua.LValue) (joined lua.LString, ok bool) {
	length := 0
	for _, v := range operands {
		switch v := v.(type) {
		case lua.LString:
			length += len(v)
		case lua.LNumber:
			length += numberRoom
		default:
			return "", false
		}
	}
	s.CheckLength(L, length)
	var room [128]byte
	if length <= len(room) { // so the string needs no more memory than its length
		text := room[:0]
		for _, v := range operands {
			switch v := v.(type) {
			case lua.LString:
				text = append(text, v...)
			case lua.LNumber:
				text = appendNumber(text, float64(v))
			}
		}
		return lua.LString(text), true
	}
	var b strings.Builder
	b.Grow(length)
	for _, v := range operands {
		switch v := v.(type) {
		case lua.LString:
			b.WriteString(string(v))
		case lua.LNumber:
			b.Write(appendNumber(room[:0], float64(v)))
		}
	}
	return lua.LString(b.String()), true
}

// numberRoom is the greatest length of the text of a number.
const numberRoom = 24

func isText(v lua.LValue) bool { return v.Type() == lua.LTString || v.Type() == lua.LTNumber }
