package expect

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"scripter/lua"
	"scripter/objectdb"
	"scripter/script"
)

func equal(v *script.Call) error {
	if v.NArgs() < 2 {
		v.Bad(2, "value expected")
	}
	r := reader{call: v}
	got, err := r.read(v.Value(1), 0)
	if err != nil {
		return err
	}
	wanted, err := r.read(v.Value(2), 0)
	if err != nil {
		return err
	}
	d, differs := r.compare(got, wanted)
	if !differs {
		return nil
	}
	f := &Failure{Got: got.whole(), Wanted: wanted.whole()}
	f.Message = about(v.OptString(3, "")) + d.String()
	return f
}

// A value is a value of Lua or of the root, in a form that can be compared and shown.
type value struct {
	plain script.Value // nil, a boolean, number, string, date, binary, address, script or function
	cells []cell       // of a table, in the order of their names
	table bool
}

// A cell is a cell of a table.
type cell struct {
	name  string // the name as a message shows it: .a, ["a b"], [1]
	order float64
	value value
}

// maxDepth bounds how deep tables nest.
const maxDepth = 100

// reader reads values.
type reader struct{ call *script.Call }

func (r reader) read(v script.Value, depth int) (value, error) {
	r.call.Charge(1)
	if depth > maxDepth {
		return value{}, fmt.Errorf("tables nest deeper than %d levels, or contain themselves", maxDepth)
	}
	switch v := v.(type) {
	case objectdb.Text:
		return value{plain: string(v)}, nil
	case objectdb.Outline:
		return value{plain: string(v)}, nil
	case *script.Table:
		return r.table(v, depth)
	case *script.Object:
		if v.Kind() == objectdb.KindTable {
			return r.object(v, depth)
		}
		source, err := r.call.Thread().Text(v)
		return value{plain: objectdb.Script(source)}, err
	}
	return value{plain: v}, nil
}

func (r reader) table(t *script.Table, depth int) (value, error) {
	out := value{table: true}
	var err error
	t.Each(func(k, v script.Value) bool {
		c := cell{order: math.Inf(1)}
		switch k := k.(type) {
		case string:
			c.name = cellName(k)
		case float64:
			c.name, c.order = " ["+lua.NumberText(k)+"]", k
		case bool:
			c.name = fmt.Sprintf(" [%v]", k)
		default:
			err = errors.New("a table with keys that are neither texts nor numbers cannot be compared")
			return false
		}
		c.value, err = r.read(v, depth+1)
		out.cells = append(out.cells, c)
		return err == nil
	})
	slices.SortFunc(out.cells, compareCells)
	return out, err
}

// object reads a table of the root.
func (r reader) object(o *script.Object, depth int) (value, error) {
	out := value{table: true}
	names, err := o.Names()
	if err != nil {
		return out, err
	}
	for _, name := range names {
		v, err := o.Cell(name)
		if err != nil {
			return out, err
		}
		c := cell{name: cellName(name), order: math.Inf(1)}
		if c.value, err = r.read(v, depth+1); err != nil {
			return out, err
		}
		out.cells = append(out.cells, c)
	}
	slices.SortFunc(out.cells, compareCells)
	return out, nil
}

// compareCells orders cells: those with numbers first.
func compareCells(a, b cell) int {
	return cmp.Or(cmp.Compare(a.order, b.order), strings.Compare(a.name, b.name))
}

// cellName returns the name of a cell as a message shows it.
func cellName(name string) string {
	if lua.IsName(name) {
		return "." + name
	}
	return " [" + quote(name) + "]"
}

// A difference is the first place where two values differ.
type difference struct {
	at          string // "" for the whole
	got, wanted value
}

func (d difference) String() string {
	text := ""
	if d.at != "" {
		text = "at " + strings.TrimSpace(d.at) + ": "
	}
	got, wanted := d.got, d.wanted
	a, textA := got.plain.(string)
	b, textB := wanted.plain.(string)
	if textA && textB && strings.Contains(a+b, "\n") {
		n := 1
		for ; ; n++ {
			lineA, restA, moreA := strings.Cut(a, "\n")
			lineB, restB, moreB := strings.Cut(b, "\n")
			if lineA != lineB || moreA != moreB {
				if lineA == lineB {
					return fmt.Sprintf("%sone text ends after line %d, the other does not", text, n)
				}
				got.plain, wanted.plain = lineA, lineB
				break
			}
			a, b = restA, restB
		}
		text += fmt.Sprintf("line %d: ", n)
	}
	return fmt.Sprintf("%sgot %s, wanted %s", text, got.short(), wanted.short())
}

// compare returns the first difference of two values.
func (r reader) compare(got, wanted value) (difference, bool) {
	if !got.table || !wanted.table {
		return difference{"", got, wanted}, got.table != wanted.table || !r.same(got.plain, wanted.plain)
	}
	i, j := 0, 0
	for i < len(got.cells) || j < len(wanted.cells) {
		var a, b value
		order := -1
		switch {
		case i == len(got.cells):
			order = 1
		case j < len(wanted.cells):
			order = compareCells(got.cells[i], wanted.cells[j])
		}
		name := ""
		if order <= 0 {
			name, a = got.cells[i].name, got.cells[i].value
			i++
		}
		if order >= 0 {
			name, b = wanted.cells[j].name, wanted.cells[j].value
			j++
		}
		if d, differs := r.compare(a, b); differs {
			d.at = name + d.at
			return d, true
		}
	}
	return difference{}, false
}

// same reports whether two values that are not tables are equal. NaN equals NaN, because a test
// that wants NaN means that.
func (r reader) same(a, b script.Value) bool {
	x, isNumber := a.(float64)
	y, areNumbers := b.(float64)
	if isNumber && areNumbers && math.IsNaN(x) {
		return math.IsNaN(y)
	}
	if x, ok := a.(objectdb.Value); ok {
		y, ok := b.(objectdb.Value)
		return ok && objectdb.Equal(x, y)
	}
	return r.call.Thread().IsSame(a, b)
}
