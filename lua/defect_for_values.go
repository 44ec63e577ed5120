package lua

import "github.com/yuin/gopher-lua/ast"

// gopher-lua leaves the values that are missing in a generic for to whatever their
// registers hold, drops the further results of a call at the end of several
// expressions, and writes over the result of a call from which an expression goes
// on, as in for k in f ().x do.

// genericFor gives the loop its three values.
func (n *normaliser) genericFor(s *ast.GenericForStmt) ast.Stmt {
	s.SetLine(plainLine(s.Exprs[0].Line())) // where PUC Lua says that the iterator is called
	n.exprs(s.Exprs)
	n.enterBlock(true)
	n.declare("(for)", "(for)", "(for)")
	n.declare(s.Names...)
	s.Stmts = n.stmts(s.Stmts)
	s.Stmts = loopBody(s, s.Stmts, n.leaveBlock())
	switch last := s.Exprs[len(s.Exprs)-1]; {
	case len(s.Exprs) == 1 && isMulti(last) && !callFirst(last):
		return s
	case isMulti(last) || callFirst(s.Exprs[0]):
		values := &localList{at: s, kind: "(f", exprs: s.Exprs}
		s.Exprs = []ast.Expr{ident(s, values.name()), ident(s, values.name()), ident(s, values.name())}
		do := &ast.DoBlockStmt{Stmts: append(values.stmts(), s)}
		do.SetLine(s.Line())
		do.SetLastLine(s.LastLine())
		return do
	}
	for len(s.Exprs) < 3 {
		s.Exprs = append(s.Exprs, at(&ast.NilExpr{}, s))
	}
	return s
}

// callFirst reports whether an expression goes on from the result of a call.
func callFirst(e ast.Expr) bool {
	var first ast.Expr
	switch e := e.(type) {
	case *ast.AttrGetExpr:
		first = e.Object
	case *ast.FuncCallExpr:
		if first = e.Func; first == nil {
			first = e.Receiver
		}
	case *ast.ArithmeticOpExpr:
		first = e.Lhs
	case *ast.RelationalOpExpr:
		first = e.Lhs
	case *ast.LogicalOpExpr:
		first = e.Lhs
	case *ast.UnaryMinusOpExpr:
		first = e.Expr
	case *ast.UnaryLenOpExpr:
		first = e.Expr
	case *ast.UnaryNotOpExpr:
		first = e.Expr
	}
	if _, isCall := first.(*ast.FuncCallExpr); isCall {
		return true
	}
	return first != nil && callFirst(first)
}
