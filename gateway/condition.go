package gateway

import (
	"fmt"
	"strconv"
	"strings"

	"scripter/macros"
	"scripter/objectdb"
	"scripter/script"
)

// Test reports whether the condition of an if is true.
func (e *evaluator) Test(m *macros.Marker) (yes bool, err error) {
	err = e.begin(m, func() (err error) {
		yes, err = e.holds(m.Expr)
		return err
	})
	return yes, err
}

// holds reports whether a condition is true.
func (e *evaluator) holds(x macros.Expr) (bool, error) {
	switch x := x.(type) {
	case macros.Not:
		yes, err := e.holds(x.X)
		return !yes, err
	case macros.Operation:
		if x.Op != "and" && x.Op != "or" {
			return e.compare(x)
		}
		yes, err := e.holds(x.X)
		if err != nil || yes == (x.Op == "or") {
			return yes, err
		}
		return e.holds(x.Y)
	}
	v, err := e.operand(x)
	if err != nil {
		return false, err
	}
	return isTrue(v)
}

// isTrue reports whether a value counts as true: everything but nothing, false, an empty text, and a
// table or list without items.
func isTrue(v script.Value) (bool, error) {
	switch v := v.(type) {
	case nil, objectdb.Null:
		return false, nil
	case bool:
		return v, nil
	case string:
		return v != "", nil
	case *script.Table:
		some := false
		v.Each(func(_, _ script.Value) bool { some = true; return false })
		return some, nil
	case *script.Object:
		cells, err := v.Cells("", false, 1)
		return len(cells) > 0, err
	}
	return true, nil
}

// operand returns the value of a part of a condition. A name that means nothing is nil.
func (e *evaluator) operand(x macros.Expr) (script.Value, error) {
	switch x := x.(type) {
	case macros.Nil:
		return nil, nil
	case macros.Name:
		m, err := e.lookup(x.Path)
		if err != nil || !m.Found {
			return nil, err
		}
		return e.meant(m, x.Path)
	case macros.Not, macros.Operation:
		return e.holds(x)
	}
	return e.value(x, false)
}

// compare reports whether a comparison is true.
func (e *evaluator) compare(x macros.Operation) (bool, error) {
	a, err := e.operand(x.X)
	if err != nil {
		return false, err
	}
	b, err := e.operand(x.Y)
	if err != nil {
		return false, err
	}
	order, ok := ordered(a, b)
	switch {
	case x.Op == "==" || x.Op == "~=":
		if !ok {
			ok = isNothing(a) && isNothing(b) || a == true && b == true || a == false && b == false
			order = 0
		}
		return (ok && order == 0) == (x.Op == "=="), tableError(a, b)
	case !ok:
		return false, tableError(a, b)
	case x.Op == "<":
		return order < 0, nil
	case x.Op == "<=":
		return order <= 0, nil
	case x.Op == ">":
		return order > 0, nil
	}
	return order >= 0, nil
}

// tableError returns an error if one of two values is a table and the other one is not nothing.
func tableError(a, b script.Value) error {
	if !isNothing(a) && !isNothing(b) && (kindOf(a) == "table" || kindOf(b) == "table") {
		return fmt.Errorf("a %s cannot be compared with a %s", kindOf(a), kindOf(b))
	}
	return nil
}

func isNothing(v script.Value) bool {
	_, null := v.(objectdb.Null)
	return v == nil || null
}

// ordered compares two numbers, texts or dates. A text that reads as a number is compared with a number
// as a number, because what comes from a form is always text. ok is false if the values have no order.
func ordered(a, b script.Value) (order int, ok bool) {
	switch x := a.(type) {
	case string:
		if y, ok := b.(string); ok {
			return strings.Compare(x, y), true
		}
	case objectdb.Date:
		if y, ok := b.(objectdb.Date); ok {
			return x.Compare(y.Time), true
		}
	}
	x, ok := numberOf(a)
	y, also := numberOf(b)
	switch {
	case !ok || !also:
		return 0, false
	case x < y:
		return -1, true
	case x > y:
		return 1, true
	}
	return 0, x == y
}

// numberOf returns the number that a value is, or that a text reads as.
func numberOf(v script.Value) (float64, bool) {
	switch v := v.(type) {
	case float64:
		return v, true
	case string:
		v = strings.TrimSpace(v)
		if strings.Trim(v, "0123456789.eE+-") != "" {
			return 0, false
		}
		n, err := strconv.ParseFloat(v, 64)
		return n, err == nil
	}
	return 0, false
}
