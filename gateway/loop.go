package gateway

import (
	"fmt"
	"slices"
	"strings"

	"scripter/macros"
	"scripter/objectdb"
	"scripter/runner"
	"scripter/script"
	"scripter/site"
)

// item is an item of a loop in a page.
type item struct {
	name  string       // of the variable
	key   script.Value // its name in the table, or its place in the list
	index int          // from 1
	value script.Value
	in    objectdb.Address // of the table; nil: it is not in the root
}

// item returns the item of a loop that a name begins with, or nil.
func (e *evaluator) item(path []string) *item {
	for _, it := range slices.Backward(e.items) {
		if strings.EqualFold(it.name, path[0]) {
			return it
		}
	}
	return nil
}

// find returns what a name means in the item. key and index are always those of the loop.
func (it *item) find(t *script.Thread, path []string) (script.Meaning, error) {
	if len(path) == 1 {
		switch {
		case strings.EqualFold(path[0], "key"):
			return script.Meaning{Value: it.key, Found: true, Origin: script.FromRequest}, nil
		case strings.EqualFold(path[0], "index"):
			return script.Meaning{Value: float64(it.index), Found: true, Origin: script.FromRequest}, nil
		}
	}
	return t.ResolveIn(it.value, path)
}

// address returns the address of what a name means in the item, or nil.
func (it *item) address(path []string) objectdb.Address {
	if it.in == nil {
		return nil
	}
	a := it.in.Child(it.key.(string))
	if isWord(path, "key") || isWord(path, "index") {
		return a
	}
	for _, name := range path {
		a = a.Child(name)
	}
	return a
}

// eachItem expands the body of a for with each item of a table or list.
func (e *evaluator) eachItem(m *macros.Marker, body func() error) (found bool, err error) {
	var items func() (*item, error)
	if err := e.begin(m, func() (err error) {
		items, err = e.itemsOf(m.Expr.(macros.Loop))
		return err
	}); err != nil {
		return false, err
	}
	outer, limit := e.items, e.c.Size(site.MaxResponse)
	defer func() { e.items = outer }()
	for index := 1; ; index++ {
		it, err := items()
		if err != nil {
			if err = e.failed(m, err); err == nil {
				err = macros.ErrFailed
			}
			return found, err
		}
		if it == nil {
			return found, nil
		}
		found = true
		if err := e.count(); err != nil {
			return found, err
		}
		if err := e.checkLength(limit); err != nil {
			return found, err
		}
		it.name, it.index = m.Expr.(macros.Loop).Var, index
		e.items = append(outer[:len(outer):len(outer)], it)
		if err := body(); err != nil {
			return found, err
		}
	}
}

// begin evaluates a marker that begins a block by fn. It returns macros.ErrFailed if the marker has
// failed, and every other error that ends the whole request.
func (e *evaluator) begin(m *macros.Marker, fn func() error) error {
	if err := e.count(); err != nil {
		return err
	}
	ok, err := e.try(m, func() error {
		if m.Err != nil {
			return syntaxError(m)
		}
		return fn()
	})
	if err == nil && !ok {
		return macros.ErrFailed
	}
	return err
}

// checkLength returns an error if the page is longer than a response may be.
func (e *evaluator) checkLength(limit runner.Bound) error {
	if int64(e.out.Len()) > limit.Most {
		return limit.Error("%s: the page is longer than %d bytes", e.page, limit.Most)
	}
	return nil
}

// itemsOf returns a function that returns the items of a loop one after another, and nil after the
// last one. A name that means nothing has no items.
func (e *evaluator) itemsOf(l macros.Loop) (func() (*item, error), error) {
	v, err := e.operand(l.In)
	if err != nil {
		return nil, err
	}
	left := -1 // no limit
	if l.Limit != nil {
		if left, err = e.limit(l.Limit); err != nil {
			return nil, err
		}
	}
	var next func() (*item, error)
	switch v := v.(type) {
	case nil:
		left = 0
	case *script.Object:
		m := meaning{Meaning: script.Meaning{Value: v, Address: v.Address()}}
		if e.c.isInSession(m.Address) { // operand has checked the name
			m.Origin = script.FromRequest
		}
		if err := e.checkArgument(m, m.Address); err != nil {
			return nil, err
		}
		next = cellsOf(v, l.Reverse, left)
	case *script.Table:
		next = itemsIn(v, l.Reverse)
	default:
		return nil, fmt.Errorf("%s is a %s, and a loop goes over a table or a list", described(l.In), kindOf(v))
	}
	return func() (*item, error) {
		if left == 0 {
			return nil, nil
		}
		left--
		return next()
	}, nil
}

// limit returns the number of items that the limit of a loop allows.
func (e *evaluator) limit(x macros.Expr) (int, error) {
	v, err := e.operand(x)
	if err != nil {
		return 0, err
	}
	n, ok := numberOf(v)
	if !ok || n < 0 {
		return 0, fmt.Errorf("the limit %s is no number from 0 on", described(x))
	}
	return int(min(n, 1<<30)), nil
}

// maxCells is the number of objects that a loop reads at a time.
const maxCells = 100

// cellsOf returns the objects in a table of the root one after another, without reading the table as a
// whole. If the body of the loop adds or removes objects further on, the loop sees that.
func cellsOf(table *script.Object, reverse bool, most int) func() (*item, error) {
	var cells []script.Cell
	last, in := "", table.Address()
	n := maxCells
	if most >= 0 {
		n = min(n, most)
	}
	ended := false
	return func() (*item, error) {
		if len(cells) == 0 && !ended {
			var err error
			if cells, err = table.Cells(last, reverse, n); err != nil {
				return nil, err
			}
			ended = len(cells) < n
		}
		if len(cells) == 0 {
			return nil, nil
		}
		c := cells[0]
		cells, last = cells[1:], c.Name
		return &item{key: c.Name, value: c.Value, in: in}, nil
	}
}

// itemsIn returns the items of a list, or else the values of a Lua table in the order of their names.
func itemsIn(table *script.Table, reverse bool) func() (*item, error) {
	n := table.Len()
	var names []string
	if n == 0 {
		names = table.Names()
		n = len(names)
	}
	done := 0
	return func() (*item, error) {
		if done == n {
			return nil, nil
		}
		i := done
		if reverse {
			i = n - 1 - done
		}
		done++
		if names != nil {
			return &item{key: names[i], value: table.Get(names[i])}, nil
		}
		return &item{key: float64(i + 1), value: table.Index(i + 1)}, nil
	}
}

// described returns what a message calls a part of a marker.
func described(x macros.Expr) string {
	switch x := x.(type) {
	case macros.Name:
		return objectdb.Address(x.Path).String()
	case macros.Call:
		return objectdb.Address(x.Path).String() + " ()"
	}
	return fmt.Sprint(x)
}

// kindOf returns what a message calls the kind of a value.
func kindOf(v script.Value) string {
	switch v := v.(type) {
	case nil:
		return "nil"
	case string:
		return "text"
	case float64:
		return "number"
	case bool:
		return "boolean"
	case objectdb.Value:
		return v.Kind().String()
	}
	return "table"
}
