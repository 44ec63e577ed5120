package lua

import "github.com/yuin/gopher-lua/ast"

// gopher-lua leaves the values that are missing in a generic for to whatever their
// registers hold, drops the further results of a call at the end of several
// expressions, and writes over the result of a call from which an expression goes
// on, as in for k in f ().x do. Only the call of a plain name is right.

// genericFor gives the loop its three values, in locals of their own where need be.
func (n *normaliser) genericFor(s *ast.GenericForStmt) ast.Stmt {
	s.SetLine(plainLine(s.Exprs[0].Line())) // where PUC Lua says that the iterator is called
	n.exprs(s.Exprs)
	n.enterBlock(true)
	n.declare("(for)", "(for)", "(for)")
	n.declare(s.Names...)
	s.Stmts = n.stmts(s.Stmts)
	s.Stmts = loopBody(s, s.Stmts, n.leaveBlock())
	if call, ok := s.Exprs[0].(*ast.FuncCallExpr); ok && len(s.Exprs) == 1 && !call.AdjustRet {
		if _, ok := call.Func.(*ast.IdentExpr); ok {
			return s
		}
	}
	values := &localList{at: s, kind: "(f", exprs: s.Exprs}
	s.Exprs = []ast.Expr{ident(s, values.name()), ident(s, values.name()), ident(s, values.name())}
	do := &ast.DoBlockStmt{Stmts: append(values.stmts(), s)}
	do.SetLine(s.Line())
	do.SetLastLine(s.LastLine())
	return do
}
