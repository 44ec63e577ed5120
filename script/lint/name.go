package lint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/yuin/gopher-lua/ast"

	"scripter/lua"
	"scripter/objectdb"
	"scripter/script"
)

// rawsetNames notes the globals that the script assigns by rawset (_G, "name", value).
func (l *linter) rawsetNames() {
	tokens := l.tree.Tokens
	for i := 0; i+4 < len(tokens); i++ {
		if tokens[i].Text == "rawset" && tokens[i+2].Text == "_G" && len(tokens[i+4].Text) > 2 {
			l.own[strings.Trim(tokens[i+4].Text, `"'`)] = true
		}
	}
}

// chain returns the first name of a.b ["c"], and the constant names after it.
// root is nil if the expression is something else.
func chain(e ast.Expr) (root *ast.IdentExpr, names []string) {
	switch e := e.(type) {
	case *ast.IdentExpr:
		return e, nil
	case *ast.AttrGetExpr:
		key, ok := e.Key.(*ast.StringExpr)
		if root, names = chain(e.Object); !ok || root == nil {
			return nil, nil
		}
		return root, append(names, key.Value)
	}
	return nil, nil
}

func (l *linter) exprs(list []ast.Expr) {
	for _, e := range list {
		l.expr(e)
	}
}

func (l *linter) expr(e ast.Expr) {
	switch e := e.(type) {
	case *ast.IdentExpr:
		l.read(e, nil, nil, false)
	case *ast.AttrGetExpr:
		l.get(e, false)
	case *ast.StringExpr:
		if strings.Contains(e.Value, "<!--#") && l.marked == 0 {
			l.report(l.tree.Token(e), "marker",
				"a marker in a string stays as it is in a response: webserver.processMacros (text) replaces it")
		}
	case *ast.FuncCallExpr:
		l.call(e)
	case *ast.FunctionExpr:
		l.function(e, false)
	case *ast.TableExpr:
		for _, f := range e.Fields {
			if f.Key != nil {
				l.expr(f.Key)
			}
			l.expr(f.Value)
		}
	case *ast.LogicalOpExpr:
		l.exprs([]ast.Expr{e.Lhs, e.Rhs})
	case *ast.RelationalOpExpr:
		l.exprs([]ast.Expr{e.Lhs, e.Rhs})
	case *ast.StringConcatOpExpr:
		l.exprs([]ast.Expr{e.Lhs, e.Rhs})
	case *ast.ArithmeticOpExpr:
		l.exprs([]ast.Expr{e.Lhs, e.Rhs})
	case *ast.UnaryMinusOpExpr:
		l.expr(e.Expr)
	case *ast.UnaryNotOpExpr:
		l.expr(e.Expr)
	case *ast.UnaryLenOpExpr:
		l.expr(e.Expr)
	}
}

// required checks that require "name" finds something.
func (l *linter) required(e *ast.FuncCallExpr) {
	f, ok := e.Func.(*ast.IdentExpr)
	if !ok || f.Value != "require" || len(e.Args) == 0 || l.local("require") != nil || l.own["require"] || l.err != nil {
		return
	}
	name, ok := e.Args[0].(*ast.StringExpr)
	if !ok || !l.second {
		return
	}
	found, err := l.t.CanRequire(name.Value)
	if err != nil {
		l.err = err
	} else if !found {
		l.report(l.tree.Token(name), "missing", "no script and no rock is called %s", name.Value)
	}
}

// get checks a.b. It checks a chain of constant names as a whole.
func (l *linter) get(e *ast.AttrGetExpr, called bool) {
	root, names := chain(e)
	if root == nil {
		l.expr(e.Object)
		l.expr(e.Key)
		l.position(e)
		return
	}
	var keys []int
	for get, ok := e, true; ok; get, ok = get.Object.(*ast.AttrGetExpr) {
		keys = append(keys, l.tree.Token(get.Key))
	}
	slices.Reverse(keys)
	l.read(root, names, keys, called)
}

func (l *linter) call(e *ast.FuncCallExpr) {
	macros := false
	switch {
	case e.Func == nil:
		l.method(e)
		macros = e.Method == "processMacros"
	default:
		if get, ok := e.Func.(*ast.AttrGetExpr); ok {
			l.get(get, true)
		} else {
			l.expr(e.Func)
		}
		l.required(e)
		if root, names := chain(e.Func); root != nil {
			macros = strings.EqualFold(append([]string{root.Value}, names...)[len(names)], "processMacros")
		}
	}
	if macros {
		l.marked++
		defer func() { l.marked-- }()
	}
	l.exprs(e.Args)
}

// method checks a:b ().
func (l *linter) method(e *ast.FuncCallExpr) {
	root, names := chain(e.Receiver)
	if root == nil || len(names) > 0 {
		l.expr(e.Receiver)
		return
	}
	at := l.tree.Token(root)
	l.read(root, []string{e.Method}, []int{at + 2}, true)
}

func (l *linter) function(f *ast.FunctionExpr, method bool) {
	l.scoped(func() {
		if method {
			l.declare("self", l.tree.Token(f), true)
		}
		if f.ParList != nil {
			for _, name := range f.ParList.Names {
				l.declare(name, l.tree.Token(f), true)
			}
		}
		l.stmts(f.Stmts)
	})
}

// read checks a name that the script reads, and the names after it in the tables that
// it means. keys are their tokens.
func (l *linter) read(root *ast.IdentExpr, names []string, keys []int, called bool) {
	if v := l.local(root.Value); v != nil {
		v.read = true
		return
	}
	if !l.second || l.own[root.Value] || root.Value == "_G" || l.err != nil {
		return
	}
	v, err := l.t.Lookup(root.Value)
	if err != nil {
		l.err = err
	} else if v == nil {
		l.report(l.tree.Token(root), "undefined", "undefined name: %s%s", root.Value, l.meant(root.Value))
	} else {
		l.names(root.Value, v, names, keys, called)
	}
}

// names checks the names after a global, table by table.
func (l *linter) names(path string, v script.Value, names []string, keys []int, called bool) {
	for i, name := range names {
		parent := path
		path += "." + name
		if l.own[path] {
			return
		}
		if lib, ok := v.(*script.Table); ok && l.isLibrary(parent) {
			if lib.Get(name) == nil {
				l.report(keys[i], "missing", "%s has no %s%s", parent, name, near(name, fieldNames(lib)))
			}
			return
		}
		o := table(v)
		if o == nil {
			return
		}
		cell, err := o.Cell(name)
		if err != nil {
			l.err = err
			return
		}
		if cell == nil {
			l.missing(o, name, keys[i], called && i == len(names)-1)
			return
		}
		v = cell
	}
}

// position checks t [number], where t is a table of the root: a number is a position,
// but the author may mean a name if the names of the table look like numbers.
func (l *linter) position(e *ast.AttrGetExpr) {
	if !l.second || l.err != nil || !l.isCount(e.Key) {
		return
	}
	o := l.tableOf(e.Object)
	if o == nil {
		return
	}
	at := l.tree.Token(e.Key)
	if key, ok := literalNumber(e.Key); ok {
		why, err := o.CheckPosition(key)
		if why != "" {
			l.report(at, "number", "%s", why)
		}
		l.err = err
		return
	}
	first, err := o.NumericName()
	if first != "" {
		l.report(at, "number", "a number is a position in %s, which has numbers for names, such as %q: "+
			"write odb.nth (%[1]s, i) for a position, or [tostring (i)] for a name", o.Label(), first)
	}
	l.err = err
}

// isCount reports whether an expression is certainly a number.
func (l *linter) isCount(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.NumberExpr, *ast.UnaryMinusOpExpr, *ast.UnaryLenOpExpr, *ast.ArithmeticOpExpr:
		return true
	case *ast.IdentExpr:
		v := l.local(e.Value)
		return v != nil && v.count
	}
	return false
}

// literalNumber returns the value of a numeric literal.
func literalNumber(e ast.Expr) (float64, bool) {
	n, ok := e.(*ast.NumberExpr)
	if !ok {
		return 0, false
	}
	return lua.ParseNumber(n.Value)
}

// tableOf returns the table of the root that an expression names, or nil.
func (l *linter) tableOf(e ast.Expr) *script.Object {
	root, names := chain(e)
	if root == nil || l.local(root.Value) != nil || l.own[root.Value] {
		return nil
	}
	v, err := l.t.Lookup(root.Value)
	path := root.Value
	for _, name := range names {
		path += "." + name
		o := table(v)
		if o == nil || err != nil || l.own[path] {
			break
		}
		v, err = o.Cell(name)
	}
	if err != nil {
		l.err = err
		return nil
	}
	return table(v)
}

// table returns the table of the root that v is, or nil.
func table(v script.Value) *script.Object {
	if o, ok := v.(*script.Object); ok && o.Kind() == objectdb.KindTable {
		return o
	}
	return nil
}

// missing reports a cell that does not exist: in a table of verbs always, in
// another one when it is called.
func (l *linter) missing(o *script.Object, name string, at int, called bool) {
	if !called && !o.HasVerbs() {
		return
	}
	names, err := o.Names()
	if err != nil {
		l.err = err
		return
	}
	l.report(at, "missing", "%s has no %s%s", o.Label(), name, near(name, names))
}

// isLibrary reports whether a name is one of Lua's libraries, or odb.
func (l *linter) isLibrary(name string) bool { return lua.IsLibrary(name) || name == "odb" }

func fieldNames(t *script.Table) []string {
	var names []string
	t.Each(func(k, _ script.Value) bool {
		names = append(names, fmt.Sprint(k))
		return true
	})
	return names
}

// meant returns a hint for an undefined name: what its author may have meant.
func (l *linter) meant(name string) string {
	if text, ok := l.guesses[name]; ok {
		return text
	}
	if l.guesses == nil {
		l.guesses = map[string]string{}
	}
	l.guesses[name] = l.guess(name)
	return l.guesses[name]
}

func (l *linter) guess(name string) string {
	if text := script.Elsewhere(name); text != "" {
		return text
	}
	known := []string{"odb", "require"}
	known = append(known, lua.GlobalNames()...)
	tables, err := l.t.Searched()
	if err != nil {
		return ""
	}
	for _, o := range tables {
		names, err := o.Names()
		if err != nil {
			return ""
		}
		known = append(known, names...)
	}
	return near(name, known)
}

// near returns "; did you mean x?" for the known name that differs least, "" if
// none is similar.
func near(name string, known []string) string {
	if best := Nearest(name, known); best != "" {
		return "; did you mean " + best + "?"
	}
	return ""
}

// Nearest returns the known name that differs least from name, or "" if none is
// similar.
func Nearest(name string, known []string) string {
	best, least := "", 1+len(name)/3
	slices.Sort(known)
	name = objectdb.Fold(name)
	for _, k := range known {
		fold := objectdb.Fold(k)
		d := distance(name, fold)
		if d > 1 && (name == "" || fold == "" || name[0] != fold[0]) {
			continue // few people miss the first letter and another one
		}
		if d <= least && (best == "" || d < least) {
			best, least = k, d
		}
	}
	return best
}

// distance returns how many bytes must be changed, added, left out or swapped with
// their neighbour to make b of a (optimal string alignment).
func distance(a, b string) int {
	if len(a)-len(b) > 3 || len(b)-len(a) > 3 || len(a) > 64 {
		return 99
	}
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			d := min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d = min(d, rows[i-2][j-2]+1)
			}
			rows[i][j] = d
		}
	}
	return rows[len(a)][len(b)]
}
