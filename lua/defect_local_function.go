package lua

import "github.com/yuin/gopher-lua/ast"

// gopher-lua takes "local f = function" for "local function f", so that the function
// sees itself under the name, and not an outer variable of that name.

// local normalises a declaration. The parser gives "local function f" the line
// of its end and "local f = function" none; the compiler takes both for the
// former, in which the function sees its own name.
func (n *normaliser) local(s *ast.LocalAssignStmt) ast.Stmt {
	fn, isFunction := ast.Expr(nil), false
	if len(s.Names) == 1 && len(s.Exprs) == 1 {
		fn = s.Exprs[0]
		_, isFunction = fn.(*ast.FunctionExpr)
	}
	switch {
	case isFunction && s.LastLine() != 0:
		n.declare(s.Names[0])
		n.function(fn.(*ast.FunctionExpr), "")
	case isFunction:
		usesName := n.function(fn.(*ast.FunctionExpr), s.Names[0])
		if usesName {
			s.Names = append(s.Names, "(unused)")
		}
		n.declare(s.Names...)
	default:
		n.exprs(s.Exprs)
		n.declare(s.Names...)
	}
	return s
}
