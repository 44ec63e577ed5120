package objectdb

import (
	"cmp"
	"slices"
	"strings"
)

// manyChanges is the number of places in a table that a transaction may change before Page, Last and
// CountUpTo read the whole table once, and keep it in order from then on.
const manyChanges = 64

// noEnd is after every folded name, because names are UTF-8.
const noEnd = "\xff"

// Page returns the first n objects in table t whose folded names are from or after it, and before
// end, in the order of the folded names. If backward is true, it returns the last n of them, in the
// same order. If end is "", no name is too late.
//
// The objects after one with the folded name f are those from f+"\x00", because no name has that
// character; those before it are those that end before f.
//
// Page does not read the whole table, and takes as long in a large table as in a small one. In the
// past (DB.At) it also looks at each name between the bounds that has come or gone since, until it
// has n. Its read counts as changed when any name is added to the table or removed.
func (tx *Tx) Page(t *Node, from, end string, backward bool, n int) ([]*Node, error) {
	if n <= 0 {
		return nil, nil
	}
	nodes, err := tx.page(t, from, cmp.Or(end, noEnd), backward, n)
	if err != nil {
		return nil, err
	}
	for _, n := range nodes {
		tx.readsObject(n)
	}
	return nodes, nil
}

// Last returns the last object in table t whose folded name is from or after it, and
// before end, or ErrNotFound. It does not read the whole table, but its read counts as
// changed when any name is added to the table or removed.
func (tx *Tx) Last(t *Node, from, end string) (*Node, error) {
	nodes, err := tx.page(t, from, end, true, 1)
	if err != nil {
		return nil, err
	}
	if len(nodes) == 0 {
		return nil, ErrNotFound
	}
	tx.readsObject(nodes[0])
	return nodes[0], nil
}

func (tx *Tx) page(t *Node, from, end string, backward bool, n int) ([]*Node, error) {
	t, d, err := tx.fewChanges(t)
	if err != nil {
		return nil, err
	}
	if t == nil {
		return slices.Clone(cut(between(d.list, from, end), backward, n)), nil
	}
	s, err := tx.reader()
	if err != nil {
		return nil, err
	}
	nodes, some := []*Node(nil), n
	if d != nil {
		some += len(d.names) // as many of the store's may be gone
	}
	err = s.Page(tx.ctx, t.id, from, end, backward, some, func(row Row) error {
		found, err := row.nodeIn(t.id, t)
		if err == nil && (d == nil || d.names[found.fold] == nil) {
			nodes = append(nodes, found)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if backward {
		slices.Reverse(nodes)
	}
	if d != nil {
		nodes = d.addTo(nodes, from, end)
	}
	return cut(nodes, backward, n), nil
}

// CountUpTo returns the number of objects in table t that Page finds between from and end, or most if
// there are more. It does not read the objects. Its read counts as changed when any name is added to
// the table or removed.
func (tx *Tx) CountUpTo(t *Node, from, end string, most int) (int, error) {
	t, d, err := tx.fewChanges(t)
	if err != nil || most <= 0 {
		return 0, err
	}
	end = cmp.Or(end, noEnd)
	if t == nil {
		return min(len(between(d.list, from, end)), most), nil
	}
	s, err := tx.reader()
	if err != nil {
		return 0, err
	}
	if d == nil {
		return s.CountUpTo(tx.ctx, t.id, from, end, most)
	}
	count, err := s.CountUpTo(tx.ctx, t.id, from, end, most+len(d.names))
	if err != nil {
		return 0, err
	}
	for _, c := range d.names {
		if c.now.exists() != c.base.exists() && from <= c.now.fold && c.now.fold < end {
			if c.now.exists() {
				count++
			} else {
				count--
			}
		}
	}
	return min(count, most), nil
}

// fewChanges returns the present node of table t, and what the transaction has changed in it, or nil.
// The node is nil if there is no store to ask, or much was changed; then the changes have the list of
// the table.
func (tx *Tx) fewChanges(t *Node) (*Node, *delta, error) {
	t, err := tx.table(t)
	if err != nil {
		return nil, nil, err
	}
	d := tx.changesOf(t.id)
	if t.id < 0 || d != nil && (d.listed || len(d.names) > manyChanges) {
		nodes, err := tx.listed(t)
		return nil, &delta{list: nodes}, err
	}
	return t, d, tx.readsNames(t)
}

// addTo adds what the transaction has put between from and end to nodes, which are in order.
func (d *delta) addTo(nodes []*Node, from, end string) []*Node {
	for _, c := range d.names {
		if c.now.exists() && from <= c.now.fold && c.now.fold < end {
			nodes = append(nodes, c.now)
		}
	}
	slices.SortFunc(nodes, func(a, b *Node) int { return strings.Compare(a.fold, b.fold) })
	return nodes
}

// between returns the part of nodes, which are in order, from a folded name on and before another one.
func between(nodes []*Node, from, end string) []*Node {
	compare := func(n *Node, fold string) int { return strings.Compare(n.fold, fold) }
	i, _ := slices.BinarySearchFunc(nodes, from, compare)
	j, _ := slices.BinarySearchFunc(nodes, end, compare)
	return nodes[i:max(i, j)]
}

// cut returns the first n of nodes, or the last n.
func cut(nodes []*Node, backward bool, n int) []*Node {
	switch {
	case len(nodes) <= n:
		return nodes
	case backward:
		return nodes[len(nodes)-n:]
	}
	return nodes[:n]
}
