package lint

import "github.com/yuin/gopher-lua/ast"

// walkTargets calls fn for everything that statements store into and that is no
// declaration: the left sides of assignments, and the names of functions.
func walkTargets(stmts []ast.Stmt, fn func(ast.Expr)) {
	w := targets{fn}
	for _, s := range stmts {
		w.stmt(s)
	}
}

type targets struct{ fn func(ast.Expr) }

func (w targets) stmt(s ast.Stmt) {
	blocks := func(list ...[]ast.Stmt) {
		for _, b := range list {
			walkTargets(b, w.fn)
		}
	}
	switch s := s.(type) {
	case *ast.AssignStmt:
		for _, e := range s.Lhs {
			w.fn(e)
		}
		w.exprs(s.Lhs...)
		w.exprs(s.Rhs...)
	case *ast.LocalAssignStmt:
		w.exprs(s.Exprs...)
	case *ast.FuncCallStmt:
		w.exprs(s.Expr)
	case *ast.DoBlockStmt:
		blocks(s.Stmts)
	case *ast.WhileStmt:
		w.exprs(s.Condition)
		blocks(s.Stmts)
	case *ast.RepeatStmt:
		blocks(s.Stmts)
		w.exprs(s.Condition)
	case *ast.IfStmt:
		w.exprs(s.Condition)
		blocks(s.Then, s.Else)
	case *ast.NumberForStmt:
		w.exprs(s.Init, s.Limit, s.Step)
		blocks(s.Stmts)
	case *ast.GenericForStmt:
		w.exprs(s.Exprs...)
		blocks(s.Stmts)
	case *ast.FuncDefStmt:
		if s.Name.Func != nil {
			w.fn(s.Name.Func)
		} else {
			key := &ast.StringExpr{Value: s.Name.Method}
			w.fn(&ast.AttrGetExpr{Object: s.Name.Receiver, Key: key})
		}
		blocks(s.Func.Stmts)
	case *ast.ReturnStmt:
		w.exprs(s.Exprs...)
	}
}

// exprs looks for functions within expressions.
func (w targets) exprs(list ...ast.Expr) {
	for _, e := range list {
		switch e := e.(type) {
		case *ast.FunctionExpr:
			walkTargets(e.Stmts, w.fn)
		case *ast.FuncCallExpr:
			w.exprs(e.Func, e.Receiver)
			w.exprs(e.Args...)
		case *ast.AttrGetExpr:
			w.exprs(e.Object, e.Key)
		case *ast.TableExpr:
			for _, f := range e.Fields {
				w.exprs(f.Key, f.Value)
			}
		case *ast.LogicalOpExpr:
			w.exprs(e.Lhs, e.Rhs)
		case *ast.RelationalOpExpr:
			w.exprs(e.Lhs, e.Rhs)
		case *ast.StringConcatOpExpr:
			w.exprs(e.Lhs, e.Rhs)
		case *ast.ArithmeticOpExpr:
			w.exprs(e.Lhs, e.Rhs)
		case *ast.UnaryMinusOpExpr:
			w.exprs(e.Expr)
		case *ast.UnaryNotOpExpr:
			w.exprs(e.Expr)
		case *ast.UnaryLenOpExpr:
			w.exprs(e.Expr)
		}
	}
}
