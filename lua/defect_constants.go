package lua

import "github.com/yuin/gopher-lua/ast"

// gopher-lua compiles in a time that grows with the square of the constants of a
// function, and of the names that can be seen. Nothing can interrupt it.

// maxWork bounds the time of the compiler, which looks every name up in a list
// of all that is visible.
const maxWork = 50_000_000

// checkConstants refuses a function on whose constants the compiler would
// spend too long: it compares each with all the others.
func (n *normaliser) checkConstants(at ast.PositionHolder) {
	all := n.fn.constants
	if len(all) <= maxConstants {
		return
	}
	distinct := make(map[string]bool, len(all))
	for _, s := range all {
		distinct[s] = true
	}
	if len(distinct) > maxConstants || len(all)*len(distinct) > 4*maxConstants*maxConstants {
		refuse(at, "function has too many constants")
	}
}
