package lua

import (
	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/ast"
)

// gopher-lua refuses strings as the bounds of a numeric for, which Lua takes for
// numbers.

var (
	forInitFunction  = GoFunction(func(L *lua.LState) int { return forBound(L, "initial value") })
	forLimitFunction = GoFunction(func(L *lua.LState) int { return forBound(L, "limit") })
	forStepFunction  = GoFunction(func(L *lua.LState) int { return forBound(L, "step") })
)

// numericFor makes numbers of bounds that are strings.
func (n *normaliser) numericFor(s *ast.NumberForStmt) ast.Stmt {
	s.Init, s.Limit = n.expr(s.Init), n.expr(s.Limit)
	if s.Step != nil {
		s.Step = n.expr(s.Step)
	}
	n.enterBlock(true)
	n.declare("(for)", "(for)", "(for)", s.Name)
	s.Stmts = n.stmts(s.Stmts)
	s.Stmts = loopBody(s, s.Stmts, n.leaveBlock())

	bounds := []struct {
		e        *ast.Expr
		function string
	}{{&s.Init, forInitName}, {&s.Limit, forLimitName}, {&s.Step, forStepName}}
	open := bounds[:0]
	for _, b := range bounds {
		if *b.e != nil && !isNumber(*b.e) {
			open = append(open, b)
		}
	}
	if len(open) < 2 {
		for _, b := range open {
			call := ownCall(s, b.function, *b.e)
			atEnd(call, s.Init, s.Limit)
			*b.e = call
		}
		return s
	}
	if s.Step == nil {
		s.Step = at(&ast.NumberExpr{Value: "1"}, s)
	}
	prepared := ownCall(s, forPrepName, s.Init, s.Limit, s.Step)
	prepared.AdjustRet = false
	atEnd(prepared, s.Init, s.Limit, s.Step)
	values := &localList{at: s, kind: "(f", exprs: []ast.Expr{prepared}}
	s.Init, s.Limit, s.Step = ident(s, values.name()), ident(s, values.name()), ident(s, values.name())
	do := &ast.DoBlockStmt{Stmts: append(values.stmts(), s)}
	do.SetLine(s.Line())
	do.SetLastLine(s.LastLine())
	return do
}

// isNumber tells the expressions that certainly give a number.
func isNumber(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.NumberExpr, *ast.UnaryLenOpExpr:
		return true
	case *ast.UnaryMinusOpExpr:
		return isNumber(e.Expr)
	}
	return false
}

// forBound makes a number of a bound of a numeric for, which may be a string.
func forBound(L *lua.LState, what string) int {
	L.Push(toBound(L, 1, what))
	return 1
}

func toBound(L *lua.LState, n int, what string) lua.LNumber {
	f, ok := ToNumber(L.Get(n))
	if !ok {
		fail(L, "'for' %s must be a number", what)
	}
	return lua.LNumber(f)
}

// forPrepFunction is called where several bounds of a for are not constants:
// all are evaluated before the first is looked at.
var forPrepFunction = GoFunction(func(L *lua.LState) int {
	first, limit, step := toBound(L, 1, "initial value"), toBound(L, 2, "limit"), toBound(L, 3, "step")
	L.Push(first)
	L.Push(limit)
	L.Push(step)
	return 3
})
