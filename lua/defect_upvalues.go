package lua

import "github.com/yuin/gopher-lua/ast"

// gopher-lua counts the upvalues of a function in a byte, and does not check whether
// they fit.

// maxUpvalues is how many outer locals one function may use, as in PUC Lua.
const maxUpvalues = 60

// noteUpvalue counts name among the upvalues of every function inside owner.
func (n *normaliser) noteUpvalue(at ast.PositionHolder, name string, owner *scope) {
	var full *scope // the outermost
	for f := n.fn; f != owner; f = f.outer {
		if f.upvalues == nil {
			f.upvalues = map[string]bool{}
		}
		f.upvalues[name] = true
		if len(f.upvalues) > maxUpvalues {
			full = f
		}
	}
	if full != nil {
		refuse(at, "%s", tooMany(full.line, maxUpvalues, "upvalues"))
	}
}
