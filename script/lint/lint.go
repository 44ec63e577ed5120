// Package lint looks for likely mistakes in scripts, and describes what scripts see
// to an editor. It runs no script.
package lint

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/yuin/gopher-lua/ast"

	"scripter/lua"
	"scripter/script"
)

// A Finding is something in a script that is likely to be a mistake.
type Finding struct {
	Name    string `json:"name"` // the script's address
	Line    int    `json:"line"`
	Column  int    `json:"column"` // in characters, from 1; 0 where only the line is known
	Rule    string `json:"rule"`   // "syntax", "undefined", "missing", "unused", "number", "marker" or "limit"
	Message string `json:"message"`
}

// String returns the finding in one line: "user.hello:4:7: …".
func (f Finding) String() string {
	return fmt.Sprintf("%s: %s", lua.Place(f.Name, f.Line, f.Column), f.Message)
}

// Script looks for likely mistakes in a script, with the names that the thread
// knows: libraries, names of the request, the root and its paths, verbs. name is
// the script's address. The findings are in the order of the text. It finds
//
//   - a script that does not compile ("syntax");
//   - a bare name that nothing defines and the script does not assign ("undefined");
//   - a function that a library, a group of verbs or, if it is called, a table
//     of the root does not have ("missing");
//   - a local variable that nothing reads ("unused"); parameters, variables of
//     loops, names that begin with "_", and those that stand before a name that
//     is used in the same statement, do not count;
//   - a number as a position in a table of the root whose names look like numbers
//     ("number");
//   - a string with "<!--#" that does not go through processMacros ("marker").
//
// It reports nothing for a line with a comment "lint: ok".
func Script(t *script.Thread, name, source string) ([]Finding, error) {
	if err := t.Check(name, source); err != nil {
		var s *lua.SyntaxError
		if !errors.As(err, &s) {
			return nil, err
		}
		return []Finding{{name, s.Line, s.Column, "syntax", s.Text()}}, nil
	}
	tree, err := lua.ParseTree(name, source)
	if err != nil {
		return nil, fmt.Errorf("lint %s: %w", name, err)
	}
	l := &linter{t: t, name: name, tree: tree, own: map[string]bool{}}
	l.block(tree.Stmts)
	l.rawsetNames()
	l.second = true
	l.block(tree.Stmts)
	if l.err != nil {
		return nil, fmt.Errorf("lint %s: %w", name, l.err)
	}
	passed := map[int]bool{}
	for _, c := range tree.Comments {
		passed[c.Line] = passed[c.Line] || strings.Contains(c.Text, "lint: ok")
	}
	l.found = slices.DeleteFunc(l.found, func(f Finding) bool { return passed[f.Line] })
	slices.SortStableFunc(l.found, func(a, b Finding) int {
		return cmp.Or(a.Line-b.Line, a.Column-b.Column)
	})
	return l.found, nil
}

// A linter walks through one script twice: first it notes which names the script assigns, then it
// reports what it finds.
type linter struct {
	second bool // the second walk
	t      *script.Thread
	name   string
	tree   *lua.Tree
	own    map[string]bool // globals that the script assigns, and dotted names below tables
	locals []*lintLocal    // visible now, innermost last
	marked int             // calls of processMacros around this place
	found  []Finding
	err    error

	guesses map[string]string // by undefined name
}

// A lintLocal is a local variable.
type lintLocal struct {
	name  string
	index int // of its token
	read  bool
	quiet bool       // not reported when nothing reads it
	count bool       // the variable of a numeric "for"
	next  *lintLocal // the one after it in the same statement
}

// used reports whether v, or a name that stands after it, is read.
func (v *lintLocal) used() bool {
	for ; v != nil; v = v.next {
		if v.read {
			return true
		}
	}
	return false
}

// report notes a finding at a token.
func (l *linter) report(index int, rule, format string, args ...any) {
	if !l.second {
		return
	}
	t := l.tree.Tokens[index]
	l.found = append(l.found, Finding{l.name, t.Line, t.Column, rule, fmt.Sprintf(format, args...)})
}

// declare makes a variable visible.
func (l *linter) declare(name string, index int, quiet bool) *lintLocal {
	v := &lintLocal{name: name, index: index, quiet: quiet || strings.HasPrefix(name, "_") || name == "arg"}
	l.locals = append(l.locals, v)
	return v
}

// local returns the variable that a name means here, nil if it is a global.
func (l *linter) local(name string) *lintLocal {
	for i := len(l.locals) - 1; i >= 0; i-- {
		if l.locals[i].name == name {
			return l.locals[i]
		}
	}
	return nil
}

// scoped runs fn and ends the scope of the locals that it declared.
func (l *linter) scoped(fn func()) {
	n := len(l.locals)
	fn()
	for _, v := range l.locals[n:] {
		if !v.quiet && !v.used() {
			l.report(v.index, "unused", "nothing reads the local %s", v.name)
		}
	}
	l.locals = l.locals[:n]
}

func (l *linter) block(stmts []ast.Stmt) {
	l.scoped(func() { l.stmts(stmts) })
}

func (l *linter) stmts(stmts []ast.Stmt) {
	for _, s := range stmts {
		l.stmt(s)
	}
}

func (l *linter) stmt(s ast.Stmt) {
	switch s := s.(type) {
	case *ast.AssignStmt:
		l.exprs(s.Rhs)
		for _, e := range s.Lhs {
			l.target(e)
		}
	case *ast.LocalAssignStmt:
		l.localStmt(s)
	case *ast.FuncCallStmt:
		l.expr(s.Expr)
	case *ast.DoBlockStmt:
		l.block(s.Stmts)
	case *ast.WhileStmt:
		l.expr(s.Condition)
		l.block(s.Stmts)
	case *ast.RepeatStmt:
		l.scoped(func() {
			l.stmts(s.Stmts)
			l.expr(s.Condition)
		})
	case *ast.IfStmt:
		l.expr(s.Condition)
		l.block(s.Then)
		l.block(s.Else)
	case *ast.NumberForStmt:
		l.exprs([]ast.Expr{s.Init, s.Limit})
		if s.Step != nil {
			l.expr(s.Step)
		}
		l.scoped(func() {
			l.declare(s.Name, l.tree.Token(s)+1, true).count = true
			l.stmts(s.Stmts)
		})
	case *ast.GenericForStmt:
		l.exprs(s.Exprs)
		l.scoped(func() {
			for i, name := range s.Names {
				l.declare(name, l.tree.Token(s)+1+2*i, true)
			}
			l.stmts(s.Stmts)
		})
	case *ast.FuncDefStmt:
		if s.Name.Func != nil {
			l.target(s.Name.Func)
		} else {
			l.target(&ast.AttrGetExpr{Object: s.Name.Receiver, Key: &ast.StringExpr{Value: s.Name.Method}})
		}
		l.function(s.Func, s.Name.Method != "")
	case *ast.ReturnStmt:
		l.exprs(s.Exprs)
	}
}

// localStmt is "local a, b = …" and "local function f".
func (l *linter) localStmt(s *ast.LocalAssignStmt) {
	first := l.tree.Token(s) + 1
	if l.tree.Tokens[first].Text == "function" {
		l.declare(s.Names[0], first+1, false)
		l.exprs(s.Exprs)
		return
	}
	l.exprs(s.Exprs)
	for i, name := range s.Names {
		l.declare(name, first+2*i, false)
	}
	made := l.locals[len(l.locals)-len(s.Names):] // one before a name that is used has to be there
	for i, v := range made[:len(made)-1] {
		v.next = made[i+1]
	}
}

// target walks through the left side of an assignment, or the name of a function. The
// assignment gives a value to a global, or to a cell of a table. It does not read a
// local.
func (l *linter) target(e ast.Expr) {
	if root, names := chain(e); root != nil && !l.second {
		if root.Value == "_G" && len(names) == 1 {
			l.own[names[0]] = true
		}
		l.own[strings.Join(append([]string{root.Value}, names...), ".")] = true
	}
	if _, ok := e.(*ast.IdentExpr); ok {
		return
	}
	if get, ok := e.(*ast.AttrGetExpr); ok {
		l.expr(get.Object)
		l.expr(get.Key)
		l.position(get)
	}
}
