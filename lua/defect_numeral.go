package lua

import (
	"strconv"

	"github.com/yuin/gopher-lua/ast"
)

// gopher-lua reads the numeral 010 as octal and 1e999 as NaN. The normaliser writes all
// numerals again, in a form that gopher-lua reads rightly.

// respellNumeral writes a numeral so that gopher-lua reads its value.
func respellNumeral(e *ast.NumberExpr) {
	f, _ := ParseNumber(e.Value)
	e.Value = strconv.FormatFloat(f, 'g', -1, 64)
}
