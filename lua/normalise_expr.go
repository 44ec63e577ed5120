package lua

import (
	"strconv"

	"github.com/yuin/gopher-lua/ast"
)

func (n *normaliser) exprs(list []ast.Expr) {
	for i, e := range list {
		list[i] = n.expr(e)
	}
}

// expr normalises an expression and returns what takes its place.
func (n *normaliser) expr(e ast.Expr) ast.Expr {
	n.level(e, levelCost)
	e = n.exprHere(e)
	n.depth -= levelCost
	return e
}

// spine normalises an operand on the left.
func (n *normaliser) spine(e ast.Expr) ast.Expr {
	n.level(e, spineCost)
	e = n.exprHere(e)
	n.depth -= spineCost
	return e
}

func (n *normaliser) exprHere(e ast.Expr) ast.Expr {
	switch e := e.(type) {
	case *ast.NumberExpr:
		respellNumeral(e)
		n.constant("#" + e.Value)
	case *ast.StringExpr:
		n.constant(e.Value)
	case *ast.IdentExpr:
		n.resolve(e, e.Value)
	case *ast.AttrGetExpr:
		e.Object, e.Key = n.spine(e.Object), n.expr(e.Key)
		atEnd(e, e.Object, e.Key)
		n.describe(e, n.describeValue(e.Object))
	case *ast.TableExpr:
		n.table(e)
	case *ast.FuncCallExpr:
		n.call(e)
	case *ast.LogicalOpExpr:
		e.Lhs, e.Rhs = n.spine(e.Lhs), n.expr(e.Rhs)
		extend(e, e.Lhs, e.Rhs)
		return foldLogical(e)
	case *ast.RelationalOpExpr:
		e.Lhs, e.Rhs = n.spine(e.Lhs), n.expr(e.Rhs)
		atEnd(e, e.Lhs, e.Rhs)
	case *ast.StringConcatOpExpr:
		n.concat(e)
	case *ast.ArithmeticOpExpr:
		e.Lhs, e.Rhs = n.spine(e.Lhs), n.expr(e.Rhs)
		atEnd(e, e.Lhs, e.Rhs)
		n.describe(e, n.describeValue(e.Lhs)+"\x00"+n.describeValue(e.Rhs))
		if e.Operator == "%" && isNumeral(e.Lhs) && isNumeral(e.Rhs) { // the compiler would compute it
			e.Lhs = numeralText(e.Lhs)
		}
	case *ast.UnaryMinusOpExpr:
		e.Expr = n.expr(e.Expr)
		if number, ok := e.Expr.(*ast.NumberExpr); ok && number.Value == "0" {
			return number // the compiler would take a constant -0 for every 0 of the function
		}
		atEnd(e, e.Expr)
		n.describe(e, n.describeValue(e.Expr))
	case *ast.UnaryLenOpExpr:
		e.Expr = n.expr(e.Expr)
		atEnd(e, e.Expr)
		n.describe(e, n.describeValue(e.Expr))
	case *ast.UnaryNotOpExpr:
		e.Expr = n.expr(e.Expr)
		extend(e, e.Expr)
		if truth, ok := constantTruth(e.Expr); ok {
			folded := at(&ast.TrueExpr{}, e)
			if truth {
				folded = at(&ast.FalseExpr{}, e)
			}
			extend(folded, e)
			return folded
		}
	case *ast.FunctionExpr:
		n.function(e, "")
	}
	return e
}

func (n *normaliser) call(e *ast.FuncCallExpr) {
	if e.Func != nil {
		e.Func = n.spine(e.Func)
		atEnd(e, e.Func)
		n.exprs(e.Args)
		extend(e, e.Args...)
		n.describe(e, n.describeValue(e.Func))
		return
	}
	e.Receiver = n.spine(e.Receiver)
	atEnd(e, e.Receiver)
	n.constant(e.Method)
	n.exprs(e.Args)
	extend(e, e.Args...)
	n.describe(e, "method '"+e.Method+"'\x00"+n.describeValue(e.Receiver))
}

// function normalises a function. It reports whether the function uses an outer
// variable of the name self.
func (n *normaliser) function(e *ast.FunctionExpr, self string) bool {
	visible := n.visible
	n.fn = &scope{outer: n.fn, line: plainLine(e.Line()), self: self}
	n.enterBlock(false)
	n.declare(e.ParList.Names...)
	if e.ParList.HasVargs {
		n.declare("arg") // LUA_COMPAT_VARARG
	}
	e.Stmts = n.stmts(e.Stmts)
	n.leaveBlock()
	n.checkConstants(e)
	used := n.fn.selfUsed
	n.fn, n.visible = n.fn.outer, visible
	return used
}

// foldLogical returns what "and" and "or" give if their left side is a constant.
func foldLogical(e *ast.LogicalOpExpr) ast.Expr {
	truth, ok := constantTruth(e.Lhs)
	if !ok {
		return e
	}
	if truth == (e.Operator == "and") {
		truncate(e.Rhs)
		return e.Rhs
	}
	if _, isFunction := e.Lhs.(*ast.FunctionExpr); !isFunction { // its last line is that of its return
		extend(e.Lhs, e.Rhs)
	}
	return e.Lhs
}

// constantTruth returns the truth of a constant.
func constantTruth(e ast.Expr) (truth, ok bool) {
	switch e.(type) {
	case *ast.TrueExpr, *ast.NumberExpr, *ast.StringExpr:
		return true, true
	case *ast.FalseExpr, *ast.NilExpr:
		return false, true
	}
	return false, false
}

// truncate makes e give one value.
func truncate(e ast.Expr) {
	switch e := e.(type) {
	case *ast.FuncCallExpr:
		e.AdjustRet = true
	case *ast.Comma3Expr:
		e.AdjustRet = true
	}
}

// A localList declares locals with names of its own.
type localList struct {
	at    ast.PositionHolder
	kind  string
	names []string
	exprs []ast.Expr
}

func (l *localList) name() string {
	name := l.kind + strconv.Itoa(len(l.names)+1) + ")"
	l.names = append(l.names, name)
	return name
}

func (l *localList) stmts() []ast.Stmt {
	if len(l.names) == 0 {
		return nil
	}
	return []ast.Stmt{lined(&ast.LocalAssignStmt{Names: l.names, Exprs: l.exprs}, l.at)}
}

// atEnd puts e on the line where the last of parts ends: that is where PUC Lua
// says that an operator, an index or a call is. The parser gives the line
// where the expression begins.
func atEnd(e ast.Expr, parts ...ast.Expr) {
	extend(e, parts...)
	e.SetLine(e.LastLine())
}

// extend makes e end not before the last of parts.
func extend(e ast.Expr, parts ...ast.Expr) {
	end := max(plainLine(e.Line()), e.LastLine())
	for _, p := range parts {
		end = max(end, plainLine(p.Line()), p.LastLine())
	}
	e.SetLastLine(end)
}

func ident(near ast.PositionHolder, name string) ast.Expr {
	return at(&ast.IdentExpr{Value: name}, near)
}

// at gives e the line of near.
func at(e ast.Expr, near ast.PositionHolder) ast.Expr {
	e.SetLine(plainLine(near.Line()))
	return e
}

// lined gives s the line of near.
func lined(s ast.Stmt, near ast.PositionHolder) ast.Stmt {
	s.SetLine(plainLine(near.Line()))
	return s
}
