package lua

import "github.com/yuin/gopher-lua/ast"

// gopher-lua's parser and compiler call themselves for each level of a script, and
// end the program at the end of Go's stack.

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
