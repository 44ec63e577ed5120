package lua

import "github.com/yuin/gopher-lua/ast"

// gopher-lua does not close the locals of a block that a break leaves, so that a
// function which uses one goes on to see its register, with the values of others.

// guardStmts returns declarations for the beginning of a loop: a local, and a function
// that uses it but is never made. They make the compiler close the locals of the whole
// body at a break.
func guardStmts(loop ast.Stmt) []ast.Stmt {
	use := &ast.FunctionExpr{ParList: &ast.ParList{}, Stmts: []ast.Stmt{
		lined(&ast.ReturnStmt{Exprs: []ast.Expr{ident(loop, "(guard)")}}, loop),
	}}
	use.SetLine(plainLine(loop.Line()))
	use.SetLastLine(plainLine(loop.Line()))
	never := at(&ast.LogicalOpExpr{Operator: "and", Lhs: ident(loop, "(guard)"), Rhs: use}, loop)
	return []ast.Stmt{
		lined(&ast.LocalAssignStmt{Names: []string{"(guard)"}, Exprs: []ast.Expr{at(&ast.NilExpr{}, loop)}}, loop),
		lined(&ast.LocalAssignStmt{Names: []string{"(never)"}, Exprs: []ast.Expr{never}}, loop),
	}
}

// noteBreak marks the blocks that a break leaves on its way out of a loop.
func (n *normaliser) noteBreak() {
	bs := n.fn.blocks
	for i := len(bs) - 1; i >= 0 && !bs[i].loop; i-- {
		bs[i].breaks = true
	}
}
