package lua

import "github.com/yuin/gopher-lua/ast"

// gopher-lua computes some expressions in the register of the local that they are
// assigned to, while they still need its old value: x = not y and x.

// needsTemporary reports whether a single assignment is to a variable and its value
// must be computed elsewhere.
func needsTemporary(s *ast.AssignStmt) bool {
	if _, ok := s.Lhs[0].(*ast.IdentExpr); !ok {
		return false
	}
	switch e := s.Rhs[0].(type) {
	case *ast.LogicalOpExpr, *ast.UnaryNotOpExpr, *ast.RelationalOpExpr:
		return true
	case *ast.FuncCallExpr:
		return e.AdjustRet
	case *ast.Comma3Expr:
		return e.AdjustRet
	}
	return false
}
