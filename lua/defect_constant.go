package lua

import "github.com/yuin/gopher-lua/ast"

// gopher-lua takes a constant that is indexed in an assignment for the local with
// the same number, so that ("x").y = 1 stores into some local. The constant is
// put into a local first: see target.

// isConstant reports whether the compiler makes a constant of e.
func isConstant(e ast.Expr) bool {
	_, ok := e.(ast.ConstExpr)
	return ok || isNumeral(e)
}

// isNumeral reports whether the compiler makes a number of e.
func isNumeral(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.NumberExpr:
		return true
	case *ast.UnaryMinusOpExpr:
		return isNumeral(e.Expr)
	case *ast.ArithmeticOpExpr:
		return isNumeral(e.Lhs) && isNumeral(e.Rhs)
	}
	return false
}

// numeralText returns an expression of the same value of which the compiler makes no
// constant, because its first numeral has become a string.
func numeralText(e ast.Expr) ast.Expr {
	switch e := e.(type) {
	case *ast.NumberExpr:
		return at(&ast.StringExpr{Value: e.Value}, e)
	case *ast.UnaryMinusOpExpr:
		e.Expr = numeralText(e.Expr)
	case *ast.ArithmeticOpExpr:
		e.Lhs = numeralText(e.Lhs)
	}
	return e
}
