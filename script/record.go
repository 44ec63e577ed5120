package script

import (
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"scripter/lua"
)

// A Shape holds the names of the cells that many tables have in common. All these
// tables share it.
type Shape struct {
	cells   []cell
	index   map[string]int  // by the name
	fold    map[string]int  // by the name in lower case
	hidden  map[string]bool // names in lower case: see Hide
	later   map[string]bool // names: see Defer
	methods map[string]Method
}

// NewShape returns the shape of tables with these cells, whose names are ASCII.
func NewShape(names ...string) *Shape {
	s := &Shape{index: make(map[string]int, len(names)), fold: make(map[string]int, len(names))}
	for i, name := range names {
		s.cells = append(s.cells, cell{name: name, of: i + 1})
		s.index[name] = i
		s.fold[strings.ToLower(name)] = i
	}
	return s
}

// Hide makes [Table.Lookup] pass over these cells: they are found only in their table. It is for names
// that mean something else as bare names, such as json. It returns the shape.
func (s *Shape) Hide(names ...string) *Shape {
	s.hidden = make(map[string]bool, len(names))
	for _, name := range names {
		s.hidden[strings.ToLower(name)] = true
	}
	return s
}

// Defer says that the values of these cells may be [Deferred]. It returns the shape.
func (s *Shape) Defer(names ...string) *Shape {
	s.later = make(map[string]bool, len(names))
	for _, name := range names {
		s.later[name] = true
	}
	return s
}

// A Method is a function that a script finds in a table under a name, although it is no cell: pairs does not
// see it, and it is not stored with the table. of is what the table was made of.
type Method func(of Cells, c *Call) error

// Methods gives the tables methods, which scripts call with a dot or a colon. It returns the shape.
func (s *Shape) Methods(methods map[string]Method) *Shape {
	s.methods = methods
	return s
}

// method returns a method of the table as a Lua function, or nil.
func (tb *Table) method(name string) lua.LValue {
	if tb.record == nil {
		return lua.LNil
	}
	m, of := tb.record.shape.methods[name], tb.record.of
	if m == nil {
		return lua.LNil
	}
	return verbFunction(&Verb{Name: name, Func: func(c *Call) error {
		if self, ok := c.Value(1).(*Table); ok && self == tb {
			c.state.Remove(1)
		}
		return m(of, c)
	}})
}

// Cells returns what a table was made of that [NewRecord] made, else nil.
func (tb *Table) Cells() Cells {
	if tb.record == nil {
		return nil
	}
	return tb.record.of
}

// hides reports whether the table has a shape that hides a name.
func (tb *Table) hides(name string) bool {
	return tb.record != nil && tb.record.shape.hidden != nil && tb.record.shape.hidden[strings.ToLower(name)]
}

// A Deferred is the value of a cell that is made when a script first reads it by its name. charge counts
// steps of work: see [Call.Charge]. An error is raised in the script. Before that, neither Go nor pairs sees
// the cell.
type Deferred func(charge func(n int)) (Value, error)

// deferred makes the value of cell i, if that is Deferred, for a script that reads it in L.
func (tb *Table) deferred(L *lua.LState, i int) {
	if !tb.isDeferred(i) {
		return
	}
	c := tb.cells[i]
	make := tb.record.of.Cell(c.of - 1).(Deferred)
	t := threadOf(L)
	v, err := make(func(n int) { t.state.Charge(L, n) })
	if err != nil {
		t.raise(L, "", err)
	}
	*tb.own(i) = cell{name: c.name, value: v}
}

func (tb *Table) isDeferred(i int) bool {
	if tb.record == nil || tb.cells[i].of == 0 || !tb.record.shape.later[tb.cells[i].name] {
		return false
	}
	_, ok := tb.record.of.Cell(tb.cells[i].of - 1).(Deferred)
	return ok
}

// Cells returns the values of a table's cells, by their place in its shape.
type Cells interface {
	// Cell returns the value of a cell. It may be called more than once for a text,
	// and then returns the same one.
	Cell(i int) Value
}

// NewRecord returns a table with the cells of a shape. A value is made when it
// is first asked for, by Go or by a script.
func NewRecord(s *Shape, of Cells) *Table {
	record := &shaped{shape: s, of: of, shared: true, sharedIndex: true}
	return &Table{record: record, cells: s.cells, index: s.index, left: len(s.cells)}
}

// shaped holds the values of a table that has a shape.
type shaped struct {
	shape       *Shape
	of          Cells
	shared      bool // the table's cells are those of the shape itself
	sharedIndex bool // and so is its index
}

// value returns the value of cell i. It stores a value that Cells has made now, unless that is
// a text: so the table needs no cells of its own while only texts are read.
func (tb *Table) value(i int) Value {
	c := &tb.cells[i]
	if c.of == 0 {
		return c.value
	}
	v := tb.record.of.Cell(c.of - 1)
	if _, ok := v.(Deferred); ok {
		return nil
	}
	if _, ok := v.(string); !ok {
		*tb.own(i) = cell{name: c.name, value: v}
	}
	return v
}

// own returns cell i for a change, in cells that are not those of the shape.
func (tb *Table) own(i int) *cell {
	if tb.record != nil {
		tb.record.ownCells(tb)
	}
	return &tb.cells[i]
}

func (r *shaped) ownCells(tb *Table) {
	if r.shared {
		tb.cells, r.shared = slices.Clone(tb.cells), false
	}
}

// add adds a cell whose name is new.
func (tb *Table) add(c cell) {
	if r := tb.record; r != nil {
		r.ownCells(tb)
		if r.sharedIndex {
			tb.index, r.sharedIndex = maps.Clone(tb.index), false
		}
	}
	tb.cells = append(tb.cells, c)
	tb.left++
	if tb.index != nil {
		tb.index[c.name] = len(tb.cells) - 1
	}
}

// findFold is find without regard to case.
func (tb *Table) findFold(name string) int {
	from := 0
	if r := tb.record; r != nil && len(tb.cells) > 0 && isASCII(name) {
		if i, ok := r.shape.fold[strings.ToLower(name)]; ok && !tb.cells[i].gone {
			return i
		}
		from = len(r.shape.cells)
	}
	for i := from; i < len(tb.cells); i++ {
		if c := &tb.cells[i]; !c.gone && strings.EqualFold(c.name, name) {
			return i
		}
	}
	return -1
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
