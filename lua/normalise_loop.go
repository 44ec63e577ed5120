package lua

import "github.com/yuin/gopher-lua/ast"

func (n *normaliser) whileStmt(s *ast.WhileStmt) ast.Stmt {
	s.Condition = n.expr(s.Condition)
	n.enterBlock(true)
	s.Stmts = n.stmts(s.Stmts)
	s.Stmts = loopBody(s, s.Stmts, n.leaveBlock())
	if truth, ok := constantTruth(s.Condition); ok && !truth {
		return &ast.DoBlockStmt{}
	} else if ok {
		s.Condition = at(&ast.TrueExpr{}, s.Condition)
	}
	return s
}

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

// genericFor gives the loop its three values: the compiler leaves those that
// are missing to whatever their registers hold, and drops the further results
// of a call at the end of several expressions. It also computes the first
// expression where the loop will have its values, takes the result of a call in
// there for one of them, and writes over it: f ().x and f () () are lost.
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

// callFirst tells the expressions that go on from the result of a call.
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

// loopBody makes the body of a loop begin with something that is not a jump,
// for the compiler's jump optimiser would follow it in circles. A guarded
// body begins with a local that a function uses, though none is ever made:
// that makes the compiler close the locals of the whole body at a break.
func loopBody(loop ast.Stmt, body []ast.Stmt, guard bool) []ast.Stmt {
	var first []ast.Stmt
	if guard {
		use := &ast.FunctionExpr{ParList: &ast.ParList{}, Stmts: []ast.Stmt{
			lined(&ast.ReturnStmt{Exprs: []ast.Expr{ident(loop, "(guard)")}}, loop),
		}}
		use.SetLine(plainLine(loop.Line()))
		use.SetLastLine(plainLine(loop.Line()))
		never := at(&ast.LogicalOpExpr{Operator: "and", Lhs: ident(loop, "(guard)"), Rhs: use}, loop)
		first = []ast.Stmt{
			lined(&ast.LocalAssignStmt{Names: []string{"(guard)"}, Exprs: []ast.Expr{at(&ast.NilExpr{}, loop)}}, loop),
			lined(&ast.LocalAssignStmt{Names: []string{"(never)"}, Exprs: []ast.Expr{never}}, loop),
		}
	} else {
		if len(body) > 0 && !mayBeginWithJump(body[0]) {
			return body
		}
		first = []ast.Stmt{lined(&ast.LocalAssignStmt{Names: []string{"(first)"}, Exprs: []ast.Expr{at(&ast.NilExpr{}, loop)}}, loop)}
	}
	return append(first, body...)
}

// mayBeginWithJump is false for statements that certainly do not.
func mayBeginWithJump(s ast.Stmt) bool {
	switch s := s.(type) {
	case *ast.LocalAssignStmt, *ast.FuncCallStmt, *ast.AssignStmt, *ast.IfStmt:
		return false
	case *ast.DoBlockStmt: // what assign makes of an assignment
		return len(s.Stmts) == 0 || mayBeginWithJump(s.Stmts[0])
	}
	return true
}
