package lua

import "github.com/yuin/gopher-lua/ast"

// A normaliser rewrites a parsed script into one of the same meaning that the
// compiler of gopher-lua translates rightly. The files defect_*.go have what is
// wrong with it. Names that no script can write, such as "(t1)", keep the new
// locals apart from the script's own.
type normaliser struct {
	fn      *scope
	visible int      // visible locals and blocks
	work    int      // names that the compiler will look through
	depth   int      // of statements and expressions, see level
	texts   []string // descriptions of operands, see describe
	plain   bool     // make no descriptions: the code is this package's
}

// chunk normalises a whole script.
func (n *normaliser) chunk(stmts []ast.Stmt) []ast.Stmt {
	n.fn = &scope{}
	n.enterBlock(false)
	stmts = n.stmts(stmts)
	n.leaveBlock()
	if len(stmts) > 0 {
		n.checkConstants(stmts[0])
	}
	return stmts
}

func (n *normaliser) stmts(list []ast.Stmt) []ast.Stmt {
	for i, s := range list {
		n.level(s, levelCost)
		list[i] = n.stmt(s)
		n.depth -= levelCost
	}
	return list
}

// block normalises statements that have their own locals.
func (n *normaliser) block(list []ast.Stmt) []ast.Stmt {
	n.enterBlock(false)
	list = n.stmts(list)
	n.leaveBlock()
	return list
}

func (n *normaliser) stmt(s ast.Stmt) ast.Stmt {
	switch s := s.(type) {
	case *ast.AssignStmt:
		return n.assign(s)
	case *ast.LocalAssignStmt:
		return n.local(s)
	case *ast.FuncCallStmt:
		s.Expr = n.expr(s.Expr)
	case *ast.DoBlockStmt:
		s.Stmts = n.block(s.Stmts)
	case *ast.IfStmt:
		return n.ifStmt(s)
	case *ast.WhileStmt:
		return n.whileStmt(s)
	case *ast.RepeatStmt:
		n.enterBlock(true)
		s.Stmts = n.stmts(s.Stmts)
		s.Condition = n.expr(s.Condition)
		s.Stmts = loopBody(s, s.Stmts, n.leaveBlock())
	case *ast.NumberForStmt:
		n.numericFor(s)
	case *ast.GenericForStmt:
		return n.genericFor(s)
	case *ast.FuncDefStmt:
		n.funcDef(s)
	case *ast.ReturnStmt:
		n.exprs(s.Exprs)
	case *ast.BreakStmt:
		n.noteBreak()
	case *ast.LabelStmt, *ast.GotoStmt:
		refuse(s, "goto and labels are not part of Lua 5.1")
	}
	return s
}

// numericFor also puts the loop on the line where its bounds end: there PUC Lua
// says that one of them is no number.
func (n *normaliser) numericFor(s *ast.NumberForStmt) {
	s.Init, s.Limit = n.expr(s.Init), n.expr(s.Limit)
	last := s.Limit
	if s.Step != nil {
		s.Step = n.expr(s.Step)
		last = s.Step
	}
	s.SetLine(max(plainLine(last.Line()), last.LastLine()))
	n.enterBlock(true)
	n.declare("(for)", "(for)", "(for)", s.Name)
	s.Stmts = n.stmts(s.Stmts)
	s.Stmts = loopBody(s, s.Stmts, n.leaveBlock())
}

func (n *normaliser) ifStmt(s *ast.IfStmt) ast.Stmt {
	s.Condition = n.expr(s.Condition)
	n.enterBlock(false)
	s.Then = n.stmts(s.Then)
	n.leaveBlock()
	n.enterBlock(false)
	if next, ok := elseIf(s); ok { // does not nest deeper for the reader
		s.Else[0] = n.ifStmt(next)
	} else {
		s.Else = n.stmts(s.Else)
	}
	n.leaveBlock()
	if truth, ok := constantTruth(s.Condition); ok {
		do := &ast.DoBlockStmt{Stmts: s.Else}
		if truth {
			do.Stmts = s.Then
		}
		do.SetLine(s.Line())
		do.SetLastLine(s.LastLine())
		return do
	}
	return s
}

func elseIf(s *ast.IfStmt) (*ast.IfStmt, bool) {
	if len(s.Else) != 1 {
		return nil, false
	}
	next, ok := s.Else[0].(*ast.IfStmt)
	return next, ok
}

func (n *normaliser) funcDef(s *ast.FuncDefStmt) {
	if s.Name.Func != nil {
		s.Name.Func = n.expr(s.Name.Func)
		n.function(s.Func, "")
		return
	}
	// A method is a field with one parameter more. The compiler's own way has no
	// place for what the receiver is called.
	target := &ast.AttrGetExpr{Object: s.Name.Receiver, Key: at(&ast.StringExpr{Value: s.Name.Method}, s)}
	s.Name.Func = n.expr(at(target, s))
	s.Name.Receiver, s.Name.Method = nil, ""
	s.Func.ParList.Names = append([]string{"self"}, s.Func.ParList.Names...)
	n.function(s.Func, "")
}

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
