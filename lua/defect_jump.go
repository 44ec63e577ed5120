package lua

import "github.com/yuin/gopher-lua/ast"

// gopher-lua follows a jump at the beginning of a loop in circles, so that
// while true do break end within a loop never ends.

// loopBody makes the body of a loop begin with a statement that is no jump. guard
// says that a break leaves a block whose locals a function uses: see guardStmts.
func loopBody(loop ast.Stmt, body []ast.Stmt, guard bool) []ast.Stmt {
	if guard {
		return append(guardStmts(loop), body...)
	}
	if len(body) > 0 && !mayBeginWithJump(body[0]) {
		return body
	}
	none := &ast.LocalAssignStmt{Names: []string{"(first)"}, Exprs: []ast.Expr{at(&ast.NilExpr{}, loop)}}
	return append([]ast.Stmt{lined(none, loop)}, body...)
}

// mayBeginWithJump returns false for statements that certainly do not.
func mayBeginWithJump(s ast.Stmt) bool {
	switch s := s.(type) {
	case *ast.LocalAssignStmt, *ast.FuncCallStmt, *ast.AssignStmt, *ast.IfStmt:
		return false
	case *ast.DoBlockStmt: // what assign makes of an assignment
		return len(s.Stmts) == 0 || mayBeginWithJump(s.Stmts[0])
	}
	return true
}
