package records

import (
	"slices"

	"scripter/objectdb"
)

// A Table is a table of the root whose tables are records.
type Table struct {
	Tx   *objectdb.Tx
	Node *objectdb.Node
	// Charge is called with the number of values that are read. It may end the work by a panic. It may be nil.
	Charge func(n int)
}

// Found is what Find returns.
type Found struct {
	Records []*objectdb.Node // the tables that are records; their names are the keys
	Next    string           // the cursor of the next page; "" if there are no more
}

// Find returns the records for which all conditions of a query hold, in its order.
func (t Table) Find(q Query) (Found, error) {
	if err := q.check(); err != nil {
		return Found{}, err
	}
	if q.Limit == 0 {
		q.Limit = DefaultLimit
	}
	f := newFinder(t, &q)
	if err := f.run(q.Limit + 1); err != nil {
		return Found{}, err
	}
	f.sort()
	found := Found{}
	for i, m := range f.matches {
		if i == q.Limit {
			found.Next = f.sorter.cursor(f.matches[i-1].place)
			break
		}
		found.Records = append(found.Records, m.node)
	}
	return found, nil
}

// Count returns the number of records for which all conditions hold.
func (t Table) Count(where []Condition) (int, error) {
	q := Query{Where: where}
	if err := q.check(); err != nil {
		return 0, err
	}
	f := newFinder(t, &q)
	f.counting = true
	err := f.run(0)
	return f.count, err
}

// Get returns the record with a key, or nil if there is none.
func (t Table) Get(key string) (*objectdb.Node, error) {
	n, err := child(t.Tx, t.Node, key)
	if err != nil || n == nil || n.Kind() != objectdb.KindTable {
		return nil, err
	}
	return n, nil
}

// match is a record that was found, and its place in the order.
type match struct {
	node  *objectdb.Node
	place []byte
}

// finder is one search.
type finder struct {
	Table
	where    []Condition
	sorter   sorter
	after    []byte // the place after which records are wanted, or nil
	most     int    // the most matches that are kept; 0: none are
	counting bool
	inOrder  bool // the records are looked at in the order of the query
	walks    bool // no index is used; for tests
	matches  []match
	count    int
}

func newFinder(t Table, q *Query) *finder {
	f := &finder{Table: t, where: q.Where, sorter: newSorter(q.Order)}
	if q.After != "" {
		f.after = f.sorter.parseCursor(q.After)
	}
	return f
}

func (f *finder) charge(n int) {
	if f.Charge != nil {
		f.Charge(n)
	}
}

// run finds the first records, so many at most.
func (f *finder) run(most int) error {
	f.most = most
	if !f.walks {
		p, err := f.choose()
		if err != nil {
			return err
		}
		if p != nil {
			return f.scan(p)
		}
	}
	f.inOrder = len(f.sorter.order) == 0
	return f.walk()
}

// Pages of a walk. A walk that finds what it wants at once reads little.
const (
	firstPage = 50
	largePage = 1000
)

// walk looks at all records, in the order of their keys.
func (f *finder) walk() error {
	from, end := f.keyRange()
	backward := f.sorter.backward && len(f.sorter.order) == 0
	for n := firstPage; ; n = min(4*n, largePage) {
		nodes, err := f.Tx.Page(f.Node, from, end, backward, n)
		if err != nil {
			return err
		}
		if backward {
			slices.Reverse(nodes)
		}
		for _, node := range nodes {
			more, err := f.look(node)
			if err != nil || !more {
				return err
			}
		}
		if len(nodes) < n {
			return nil
		}
		last := objectdb.Fold(nodes[len(nodes)-1].Name())
		if backward {
			end = last
		} else {
			from = last + "\x00"
		}
	}
}

// keyRange returns the folded keys between which the records lie, as far as the conditions for the key and the cursor
// say it.
func (f *finder) keyRange() (from, end string) {
	if f.after != nil && len(f.sorter.order) == 0 {
		if f.sorter.backward {
			end = string(f.after)
		} else {
			from = string(f.after) + "\x00"
		}
	}
	for _, c := range f.where {
		text, ok := textOf(c.Value)
		if objectdb.Fold(c.Field) != KeyField || !ok {
			continue
		}
		fold := objectdb.Fold(text)
		switch c.Op {
		case Equal, Is:
			from = max(from, fold)
			end = earlier(end, fold+"\x00")
		case Begins:
			from = max(from, fold)
			end = earlier(end, fold+"\xff")
		case Less, LessEqual:
			end = earlier(end, fold+"\x00")
		case Greater, GreaterEqual:
			from = max(from, fold)
		}
	}
	return from, end
}

// earlier returns the earlier of two ends, of which "" is none.
func earlier(end, other string) string {
	if end == "" {
		return other
	}
	return min(end, other)
}

// look adds an object to the matches if it is a record for which the conditions hold. It reports whether more are wanted.
func (f *finder) look(n *objectdb.Node) (more bool, err error) {
	f.charge(1 + len(f.where) + len(f.sorter.order))
	if n.Kind() != objectdb.KindTable {
		return true, nil
	}
	for i := range f.where {
		c := &f.where[i]
		v, err := f.field(n, c.Field)
		if err != nil {
			return false, err
		}
		if !c.holds(v) {
			return true, nil
		}
	}
	if f.counting {
		f.count++
		return true, nil
	}
	place, err := f.place(n)
	if err != nil {
		return false, err
	}
	if f.after != nil && !f.sorter.before(f.after, place) {
		return true, nil
	}
	f.matches = append(f.matches, match{n, place})
	if f.inOrder {
		return len(f.matches) < f.most, nil
	}
	if len(f.matches) >= 2*f.most+largePage {
		f.sort()
	}
	return true, nil
}

// sort sorts the matches, and forgets those that are too many.
func (f *finder) sort() {
	slices.SortFunc(f.matches, func(a, b match) int {
		switch {
		case f.sorter.before(a.place, b.place):
			return -1
		case f.sorter.before(b.place, a.place):
			return 1
		}
		return 0
	})
	if len(f.matches) > f.most {
		clear(f.matches[f.most:])
		f.matches = f.matches[:f.most]
	}
}

// field returns the value of a field of a record, or its key.
func (f *finder) field(n *objectdb.Node, name string) (objectdb.Value, error) {
	if objectdb.Fold(name) == KeyField {
		return objectdb.String(n.Name()), nil
	}
	return value(f.Tx, n, name)
}

// place returns the place of a record in the order.
func (f *finder) place(n *objectdb.Node) ([]byte, error) {
	var place []byte
	for i, o := range f.sorter.order {
		v, err := value(f.Tx, n, o.Field)
		if err != nil {
			return nil, err
		}
		place = f.sorter.append(place, i, v)
	}
	return append(place, objectdb.Fold(n.Name())...), nil
}
