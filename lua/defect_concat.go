package lua

import (
	"strings"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/ast"
)

// gopher-lua writes numbers in its own way where ".." joins them (2^53 .. "" gives
// 9007199254740992), and knows no limit for the length of a string. So ".." is a
// call of a function in Go.

// maxOperands is how many operands of one concatenation are given to concat in
// one call; each takes a register.
const maxOperands = 50

// concat makes a call of a ".." chain: the machine's own operator knows no
// bound for the length of a string and writes numbers in its own way.
func (n *normaliser) concat(e *ast.StringConcatOpExpr) ast.Expr {
	var operands []ast.Expr
	for {
		operands = append(operands, n.expr(e.Lhs))
		next, ok := e.Rhs.(*ast.StringConcatOpExpr)
		if !ok {
			operands = append(operands, n.expr(e.Rhs))
			break
		}
		e = next
	}
	for {
		from := max(0, len(operands)-maxOperands)
		last := operands[from:]
		text := ""
		for _, o := range last {
			text += n.describeValue(o) + "\x00"
		}
		truncate(last[len(last)-1])
		call := &ast.FuncCallExpr{Func: ident(e, concatName), Args: append([]ast.Expr(nil), last...), AdjustRet: true}
		atEnd(call, last...)
		n.describe(call, text)
		if from == 0 {
			return call
		}
		operands = append(operands[:from:from], call)
	}
}

// concatFunction is what ".." calls in normalised code; see normaliser.concat.
var concatFunction = GoFunction(concat)

// concat joins its arguments as the operator does: from the right, strings and
// numbers as text, anything else by __concat.
func concat(L *lua.LState) int {
	n := L.GetTop()
	s, ok := joinShort(L, n)
	if !ok {
		s, ok = join(L, 1, n)
	}
	if ok {
		L.Push(lua.LString(s))
		return 1
	}
	right := L.Get(n)
	for i := n - 1; i >= 1; {
		left := L.Get(i)
		if !isText(left) || !isText(right) {
			right = concatMeta(L, left, right, i)
			i--
			continue
		}
		first := i
		for first > 1 && isText(L.Get(first-1)) {
			first--
		}
		L.SetTop(i)
		L.Push(right)
		s, _ := join(L, first, i+1)
		right = lua.LString(s)
		i = first - 1
	}
	L.Push(right)
	return 1
}

// joinShort joins the n arguments if all are text and their sum is short: it
// looks at each once, and makes a string of the very length.
func joinShort(L *lua.LState, n int) (string, bool) {
	var room [128]byte
	text := room[:0]
	for i := 1; i <= n; i++ {
		switch v := L.Get(i).(type) {
		case lua.LString:
			if len(v) > len(room)-len(text) {
				return "", false
			}
			text = append(text, v...)
		case lua.LNumber:
			if numberRoom > len(room)-len(text) {
				return "", false
			}
			text = appendNumber(text, float64(v))
		default:
			return "", false
		}
	}
	Of(L).CheckLength(L, len(text))
	return string(text), true
}

// numberRoom is what the text of a number needs at most.
const numberRoom = 24

// join joins the arguments from first to last if all are text.
func join(L *lua.LState, first, last int) (string, bool) {
	length := 0
	for i := first; i <= last; i++ {
		switch v := L.Get(i).(type) {
		case lua.LString:
			length += len(v)
		case lua.LNumber:
			length += numberRoom
		default:
			return "", false
		}
	}
	Of(L).CheckLength(L, length)
	var b strings.Builder
	b.Grow(length)
	var digits [32]byte
	for i := first; i <= last; i++ {
		switch v := L.Get(i).(type) {
		case lua.LString:
			b.WriteString(string(v))
		case lua.LNumber:
			b.Write(appendNumber(digits[:0], float64(v)))
		}
	}
	return b.String(), true
}

func isText(v lua.LValue) bool { return v.Type() == lua.LTString || v.Type() == lua.LTNumber }

// concatMeta joins operand i and what is right of it by their metamethod.
func concatMeta(L *lua.LState, left, right lua.LValue, i int) lua.LValue {
	f := metaField(L, left, "__concat")
	if f == lua.LNil {
		f = metaField(L, right, "__concat")
	}
	if f != lua.LNil {
		return Of(L).metaCall(L, f, left, right)
	}
	bad, operand := left, i-1
	if isText(left) {
		bad, operand = right, i
	}
	fail(L, "attempt to concatenate %s", operandAbout(L, bad, operand))
	return lua.LNil
}
