package lua

import "github.com/yuin/gopher-lua/ast"

// gopher-lua evaluates and stores the variables of an assignment one after the
// other, so that a, b = b, a gives both the same value. The manual wants all
// expressions evaluated before anything is stored (section 2.4.3).

// assign evaluates everything into locals before it stores anything.
func (n *normaliser) assign(s *ast.AssignStmt) ast.Stmt {
	n.exprs(s.Rhs)
	assigned := map[string]bool{}
	for _, l := range s.Lhs {
		if id, ok := l.(*ast.IdentExpr); ok && len(s.Lhs) > 1 {
			assigned[id.Value] = true
		}
	}
	single := len(s.Lhs) == 1 && len(s.Rhs) == 1
	pre := &localList{at: s, kind: "(o"}
	for i, l := range s.Lhs {
		s.Lhs[i] = n.target(l, assigned, pre, single)
		storedAt(s.Lhs[i], s.Rhs)
	}
	if single && len(pre.names) == 0 && !needsTemporary(s) {
		return s
	}
	values := &localList{at: s, kind: "(t"}
	for range s.Lhs {
		values.name()
	}
	values.exprs = s.Rhs
	do := &ast.DoBlockStmt{Stmts: append(pre.stmts(), values.stmts()...)}
	for i := len(s.Lhs) - 1; i >= 0; i-- {
		store := &ast.AssignStmt{Lhs: s.Lhs[i : i+1], Rhs: []ast.Expr{ident(s, values.names[i])}}
		store.SetLine(s.Line())
		do.Stmts = append(do.Stmts, store)
	}
	do.SetLine(s.Line())
	do.SetLastLine(s.Line())
	return do
}

// storedAt puts an assignment to a field on the line where the statement ends,
// as PUC Lua does.
func storedAt(target ast.Expr, values []ast.Expr) {
	if _, isField := target.(*ast.AttrGetExpr); !isField {
		return
	}
	position := target.Line()
	extend(target, values...)
	target.SetLine(position&^lineMask | target.LastLine())
}

// target normalises the left side of an assignment. The table and the key of a field
// are evaluated before the right side, unless they are constants, or locals that the
// assignment does not change.
func (n *normaliser) target(l ast.Expr, assigned map[string]bool, pre *localList, single bool) ast.Expr {
	at, ok := l.(*ast.AttrGetExpr)
	if !ok {
		return n.expr(l)
	}
	at = n.expr(at).(*ast.AttrGetExpr)
	if single && !isConstant(at.Object) {
		return at
	}
	keep := func(e ast.Expr) ast.Expr {
		truncate(e)
		name := pre.name()
		pre.exprs = append(pre.exprs, e)
		return ident(e, name)
	}
	settle := func(e ast.Expr) ast.Expr {
		switch e := e.(type) {
		case ast.ConstExpr:
			return e
		case *ast.IdentExpr:
			if !assigned[e.Value] && n.resolve(e, e.Value) == "local" {
				return e
			}
		}
		return keep(e)
	}
	if isConstant(at.Object) { // the compiler takes its number for that of a local
		at.Object = keep(at.Object)
	} else {
		at.Object = settle(at.Object)
	}
	at.Key = settle(at.Key)
	return at
}
