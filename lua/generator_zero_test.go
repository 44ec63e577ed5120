package lua

import (
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/yuin/gopher-lua/ast"
	"github.com/yuin/gopher-lua/parse"
)

// hasNegativeZero reports whether PUC Lua's compiler makes a constant -0 in a program.
// Every 0 of the same function is then -0, because the compiler looks for a constant by
// its value, and -0 equals 0.
func hasNegativeZero(source string) bool {
	respelt, err := checkSyntax("program", source)
	if err != nil {
		return false
	}
	chunk, err := parse.Parse(strings.NewReader(respelt), "program")
	return err == nil && negativeZeroIn(reflect.ValueOf(chunk))
}

func negativeZeroIn(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Interface, reflect.Pointer:
		if v.IsNil() {
			return false
		}
		if e, ok := v.Interface().(ast.Expr); ok {
			if f, ok := folded(e); ok && f == 0 && math.Signbit(f) {
				return true
			}
		}
		return negativeZeroIn(v.Elem())
	case reflect.Slice:
		for i := range v.Len() {
			if negativeZeroIn(v.Index(i)) {
				return true
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() && negativeZeroIn(v.Field(i)) {
				return true
			}
		}
	}
	return false
}

// folded returns the number that PUC Lua's compiler makes of an expression, as
// constfolding in its lcode.c does.
func folded(e ast.Expr) (float64, bool) {
	switch e := e.(type) {
	case *ast.NumberExpr:
		return ParseNumber(e.Value)
	case *ast.UnaryMinusOpExpr:
		f, ok := folded(e.Expr)
		return -f, ok
	case *ast.ArithmeticOpExpr:
		x, ok := folded(e.Lhs)
		y, also := folded(e.Rhs)
		if !ok || !also || y == 0 && (e.Operator == "/" || e.Operator == "%") {
			return 0, false
		}
		f := calculate(e.Operator, x, y)
		return f, f == f
	case *ast.LogicalOpExpr: // the second, where the first needs no code
		if truth, ok := foldedTruth(e.Lhs); ok && truth == (e.Operator == "and") {
			return folded(e.Rhs)
		}
	}
	return 0, false
}

func calculate(operator string, x, y float64) float64 {
	switch operator {
	case "+":
		return x + y
	case "-":
		return x - y
	case "*":
		return x * y
	case "/":
		return x / y
	case "%":
		return x - math.Floor(x/y)*y
	}
	return math.Pow(x, y)
}

// foldedTruth reports whether an expression that is a constant is true.
func foldedTruth(e ast.Expr) (truth, ok bool) {
	switch e := e.(type) {
	case *ast.TrueExpr, *ast.StringExpr:
		return true, true
	case *ast.FalseExpr, *ast.NilExpr:
		return false, true
	case *ast.UnaryNotOpExpr:
		truth, ok = foldedTruth(e.Expr)
		return !truth, ok
	case *ast.LogicalOpExpr:
		if truth, ok := foldedTruth(e.Lhs); ok && truth == (e.Operator == "and") {
			return foldedTruth(e.Rhs)
		}
	}
	_, ok = folded(e)
	return true, ok
}

func TestHasNegativeZero(t *testing.T) {
	for _, source := range []string{
		"x = -0", "x = -(0)", "x = 1 + (0 * -1)", "return function () f {g = -(7 - 7 + 0)} end", "x = 0 / -2", "x = (true and 0) * -1", "x = (nil or 0) * -3", "x = -(1 and 0)",
		"x = -(not 1 or 0)", "if x then elseif y then x:y (-0.5 * 0) end", "x = (not nil and 'a' and 0) * -1", "for i = 1, -0 do end",
	} {
		assert.True(t, hasNegativeZero(source), source)
	}
	for _, source := range []string{
		"x = 0", "x = - 1", "x = a * -1", "x = -a", "x = (a and 0) * -1", "x = (2 or 0) * -1", "x = 0 % -1", "x = -7 % 7", "x = 1 - 1", "x = -'0'", "x = 0 / 0", "x = (nil and 0) * -1", "x = -((1 == 1) and 0)",
	} {
		assert.False(t, hasNegativeZero(source), source)
	}
}
