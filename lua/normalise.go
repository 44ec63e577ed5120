package lua

import "github.com/yuin/gopher-lua/ast"

// A normaliser rewrites a parsed script into one of the same meaning that the
// compiler of gopher-lua 1.1.2 translates rightly. Left alone it takes
//
//	a, b = b, a               for b, b
//	x = not y and z           for the old x, in places
//	while true do break end   at the start of a loop for an endless jump
//	break                     out of a block whose locals a function uses
//	for k in next, t do       for a loop that starts anywhere
//	for k in f ().x do        for a loop over "x".x
//	local f = function        for local function f
//	{1, …, 50, f ()}          for the results of f at 1
//	010, 1e999                for 8 and NaN
//	("x").y = z               for an assignment to a field of some local
//
// and knows no bound for nesting. Names that no script can write, such as
// "(t1)", keep the new locals apart from the script's own.
type normaliser struct {
	fn      *scope
	visible int // locals and blocks that can be seen from here
	work    int // what the compiler will have to look through
	depth   int // of statements and expressions, see level
	texts   []string
	plain   bool // no descriptions: code of this package
}

// Depth is counted in fifths: the left side of an operator and of a call costs
// one, so that long sums and chains of calls stay possible, and anything else
// five.
const (
	levelCost = 5
	spineCost = 1
	maxDepth  = maxNesting * levelCost
)

func (n *normaliser) level(at ast.PositionHolder, cost int) {
	if n.depth += cost; n.depth > maxDepth {
		refuse(at, "chunk has too many syntax levels")
	}
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
		return n.numericFor(s)
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

// assign evaluates everything before it stores anything, as the manual says
// (section 2.4.3), by way of locals.
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
	if single && len(pre.names) == 0 {
		if _, ok := s.Lhs[0].(*ast.IdentExpr); !ok || !needsTemporary(s.Rhs[0]) {
			return s
		}
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

// target normalises the left side of an assignment. What a table and its key
// are is settled before the right side is evaluated; a local that is not
// itself assigned, and a constant, can wait.
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

// isConstant reports whether the compiler makes a constant of e.
func isConstant(e ast.Expr) bool {
	_, ok := e.(ast.ConstExpr)
	return ok || isNumeral(e)
}

// needsTemporary tells the expressions that the compiler computes in the
// register of the local they are assigned to, while they still need its value.
func needsTemporary(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.LogicalOpExpr, *ast.UnaryNotOpExpr, *ast.RelationalOpExpr:
		return true
	case *ast.FuncCallExpr:
		return e.AdjustRet
	case *ast.Comma3Expr:
		return e.AdjustRet
	}
	return false
}

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
