package records

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"hash/fnv"
	"strings"
	"unicode/utf8"

	"scripter/objectdb"
)

// A Query says which records are found, and in which order.
type Query struct {
	Where []Condition // all of them hold
	Order []Order     // the most significant first; none: by key
	Limit int         // the most records; 0 is DefaultLimit
	After string      // Found.Next of the page before
}

// The limits of a query.
const (
	DefaultLimit  = 100
	MaxLimit      = 10_000
	maxConditions = 32
	maxOrders     = 4
	maxListed     = 1000 // values of one condition
)

// Order is a field by which records are sorted. Records without the field come first.
type Order struct {
	Field    string // KeyField for the key
	Backward bool
}

// Condition compares a field, or the key, with a value.
type Condition struct {
	Field  string
	Op     Op
	Value  objectdb.Value   // nil: records that do not have the field are equal
	Values []objectdb.Value // of In
}

// Op is a way to compare.
type Op int

// The ways to compare. Equal, NotEqual and In compare exactly, as Lua does. The others compare as Order does, without
// regard to case, and hold only for values of the same kind.
const (
	Equal Op = iota
	NotEqual
	Is // Equal without regard to case
	Less
	LessEqual
	Greater
	GreaterEqual
	Begins
	Contains
	In
)

var ops = map[string]Op{
	"=": Equal, "==": Equal, "~=": NotEqual, "!=": NotEqual, "is": Is, "<": Less, "<=": LessEqual, ">": Greater,
	">=": GreaterEqual, "begins": Begins, "contains": Contains, "in": In,
}

// ParseOp returns the way to compare with a name.
func ParseOp(s string) (Op, error) {
	if op, ok := ops[strings.ToLower(strings.TrimSpace(s))]; ok {
		return op, nil
	}
	return 0, fmt.Errorf(`%q is no comparison; there are = ~= < <= > >= is begins contains in`, s)
}

// ParseOrder reads an order such as "-added, name".
func ParseOrder(s string) ([]Order, error) {
	if strings.TrimSpace(s) == "" {
		return nil, nil
	}
	var list []Order
	for part := range strings.SplitSeq(s, ",") {
		name, backward := strings.CutPrefix(strings.TrimSpace(part), "-")
		name = strings.TrimSpace(name)
		if err := objectdb.CheckName(name); err != nil {
			return nil, fmt.Errorf("the order %q: %w", s, err)
		}
		list = append(list, Order{name, backward})
	}
	if len(list) > maxOrders {
		return nil, fmt.Errorf("the order %q has more than %d fields", s, maxOrders)
	}
	return list, nil
}

// ParseCondition reads a condition as people type it: "name=Ada", "age>=18", "name begins A". A value is a number, true
// or false if it looks so, and a text otherwise, or if it is in double quotes.
func ParseCondition(s string) (Condition, error) {
	i := strings.IndexAny(s, "=<>~! ")
	if i <= 0 {
		return Condition{}, fmt.Errorf("%q is no condition, such as name=Ada or age>=18", s)
	}
	field, rest := s[:i], strings.TrimSpace(s[i:])
	op := ""
	for _, name := range []string{"==", "~=", "!=", "<=", ">=", "=", "<", ">", "is ", "begins ", "contains "} {
		if strings.HasPrefix(rest, name) {
			op, rest = name, strings.TrimSpace(rest[len(name):])
			break
		}
	}
	if op == "" || objectdb.CheckName(field) != nil {
		return Condition{}, fmt.Errorf("%q is no condition, such as name=Ada or age>=18", s)
	}
	parsed, err := ParseOp(op)
	if err == nil && !utf8.ValidString(rest) {
		err = fmt.Errorf("%q is not UTF-8", s)
	}
	return Condition{Field: field, Op: parsed, Value: typed(rest)}, err
}

// typed returns what a person has typed as a value.
func typed(s string) objectdb.Value {
	if len(s) >= 2 && s[0] == '"' && s[len(s)-1] == '"' {
		return objectdb.String(s[1 : len(s)-1])
	}
	for _, k := range []objectdb.Kind{objectdb.KindNumber, objectdb.KindBoolean} {
		f := Field{Kind: k}
		if v := f.converted(objectdb.String(s)); v != nil && v.Kind() == k && (k == objectdb.KindNumber || len(s) > 3) {
			return v
		}
	}
	return objectdb.String(s)
}

// check reports what is wrong with a query.
func (q *Query) check() error {
	switch {
	case q.Limit < 0 || q.Limit > MaxLimit:
		return fmt.Errorf("the limit is 1 to %d", MaxLimit)
	case len(q.Where) > maxConditions:
		return fmt.Errorf("there are more than %d conditions", maxConditions)
	case len(q.Order) > maxOrders:
		return fmt.Errorf("the order has more than %d fields", maxOrders)
	}
	for i, o := range q.Order {
		if objectdb.Fold(o.Field) == KeyField && (i < len(q.Order)-1 || o.Backward != q.Order[0].Backward) {
			return errors.New("in an order the key comes last, in the direction of the first field")
		}
	}
	for _, c := range q.Where {
		if len(c.Values) > maxListed {
			return fmt.Errorf("%s: there are more than %d values", c.Field, maxListed)
		}
		if _, text := textOf(c.Value); (c.Op == Begins || c.Op == Contains) && !text {
			return fmt.Errorf("%s: a text is wanted here", c.Field)
		}
		if c.Value == nil && c.Op != Equal && c.Op != NotEqual && c.Op != In {
			return fmt.Errorf("%s: a value is wanted here", c.Field)
		}
	}
	return nil
}

// compare compares two values as orders do.
func compare(a, b objectdb.Value) int {
	return bytes.Compare(objectdb.AppendOrdered(nil, a), objectdb.AppendOrdered(nil, b))
}

// textOf returns a value that is a text.
func textOf(v objectdb.Value) (string, bool) {
	switch v := v.(type) {
	case objectdb.String:
		return string(v), true
	case objectdb.Text:
		return string(v), true
	case objectdb.Outline:
		return string(v), true
	}
	return "", false
}

// same reports whether two values are equal as in Lua, where a text is a string.
func same(a, b objectdb.Value) bool {
	s, text := textOf(a)
	if t, other := textOf(b); text && other {
		return s == t
	}
	if n, ok := a.(objectdb.Number); ok {
		m, ok := b.(objectdb.Number)
		return ok && n == m
	}
	return objectdb.Equal(a, b)
}

// holds reports whether the condition holds for a value, which is nil if the record does not have the field.
func (c *Condition) holds(v objectdb.Value) bool {
	switch c.Op {
	case Equal:
		return same(v, c.Value)
	case NotEqual:
		return !same(v, c.Value)
	case In:
		for _, one := range c.Values {
			if same(v, one) {
				return true
			}
		}
		return false
	case Is:
		return v != nil && compare(v, c.Value) == 0
	case Begins, Contains:
		s, ok := textOf(v)
		if !ok {
			return false
		}
		part, _ := textOf(c.Value)
		s, part = objectdb.Fold(s), objectdb.Fold(part)
		if c.Op == Begins {
			return strings.HasPrefix(s, part)
		}
		return strings.Contains(s, part)
	}
	a, b := objectdb.AppendOrdered(nil, v), objectdb.AppendOrdered(nil, c.Value)
	if v == nil || a[0] != b[0] {
		return false
	}
	n := bytes.Compare(a, b)
	switch c.Op {
	case Less:
		return n < 0
	case LessEqual:
		return n <= 0
	case Greater:
		return n > 0
	}
	return n >= 0
}

// sorter makes the places of records in an order: bytes that sort forward, or backward if backward is true. What comes
// after the values is the folded key, so that every record has a place of its own.
type sorter struct {
	order    []Order // without the key
	backward bool
}

func newSorter(order []Order) sorter {
	s := sorter{order: order}
	if len(order) > 0 {
		s.backward = order[0].Backward
		if last := len(order) - 1; objectdb.Fold(order[last].Field) == KeyField {
			s.order = order[:last]
		}
	}
	return s
}

// append appends the value of field i.
func (s *sorter) append(place []byte, i int, v objectdb.Value) []byte {
	if s.order[i].Backward != s.backward {
		return objectdb.AppendReversed(place, v)
	}
	return objectdb.AppendOrdered(place, v)
}

// before reports whether a place comes before another one.
func (s *sorter) before(a, b []byte) bool {
	if s.backward {
		a, b = b, a
	}
	return bytes.Compare(a, b) < 0
}

// stamp stands for the order in cursors, so that a cursor of another order is known.
func (s *sorter) stamp() byte {
	h := fnv.New32a()
	fmt.Fprint(h, s.backward)
	for _, o := range s.order {
		fmt.Fprintf(h, "%q%v", objectdb.Fold(o.Field), o.Backward)
	}
	return byte(h.Sum32())
}

// cursor returns the cursor that stands for a place.
func (s *sorter) cursor(place []byte) string {
	return base64.RawURLEncoding.EncodeToString(append([]byte{s.stamp()}, place...))
}

// maxCursor is the length of the longest cursor.
const maxCursor = 4096

// parseCursor returns the place that a cursor stands for, or nil if it is no cursor of this order. Cursors come from
// visitors.
func (s *sorter) parseCursor(cursor string) []byte {
	if len(cursor) > maxCursor {
		return nil
	}
	b, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil || len(b) < 2 || b[0] != s.stamp() {
		return nil
	}
	return b[1:]
}
