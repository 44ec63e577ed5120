package objectdb

import (
	"slices"
	"strings"
)

// Children returns what is in table t, in the order of the folded names. The
// slice is shared and must not be changed.
func (tx *Tx) Children(t *Node) ([]*Node, error) {
	nodes, err := tx.listed(t)
	if err != nil {
		return nil, err
	}
	if tx.read != nil {
		for _, n := range nodes {
			tx.readsObject(n)
		}
	}
	if tx.over != nil {
		nodes = slices.Clone(nodes) // the delta's own list goes on changing
	}
	return nodes, nil
}

// Nth returns the object that is i-th in table t, counted from 1; ErrNotFound
// when there are fewer.
func (tx *Tx) Nth(t *Node, i int) (*Node, error) {
	nodes, err := tx.listed(t)
	if err != nil {
		return nil, err
	}
	if i < 1 || i > len(nodes) {
		return nil, ErrNotFound
	}
	tx.readsObject(nodes[i-1])
	return nodes[i-1], nil
}

// manyChanges is the number of places in a table that a transaction may change before
// Last reads the whole table once, and keeps it in order from then on.
const manyChanges = 64

// Last returns the last object in table t whose folded name is from or after it, and
// before end, or ErrNotFound. It does not read the whole table, but its read counts as
// changed when any name is added to the table or removed.
func (tx *Tx) Last(t *Node, from, end string) (*Node, error) {
	t, err := tx.table(t)
	if err != nil {
		return nil, err
	}
	d := tx.changesOf(t.id)
	if d != nil && (d.listed || len(d.names) > manyChanges) {
		nodes, err := tx.listed(t)
		if err != nil {
			return nil, err
		}
		i, _ := slices.BinarySearchFunc(nodes, end, func(n *Node, fold string) int { return strings.Compare(n.fold, fold) })
		if i == 0 || nodes[i-1].fold < from {
			return nil, ErrNotFound
		}
		tx.readsObject(nodes[i-1])
		return nodes[i-1], nil
	}
	last := &Node{}
	if t.id > 0 {
		if err := tx.readsNames(t); err != nil {
			return nil, err
		}
		if last, err = tx.baseLast(t, from, end, d); err != nil {
			return nil, err
		}
	}
	if d != nil {
		for _, c := range d.names {
			if c.now.exists() && from <= c.now.fold && c.now.fold < end && (!last.exists() || last.fold < c.now.fold) {
				last = c.now
			}
		}
	}
	if !last.exists() {
		return nil, ErrNotFound
	}
	tx.readsObject(last)
	return last, nil
}

// baseLast is Last in the snapshot, without the places in d, which may be nil. It
// returns a node of kind 0 if there is none.
func (tx *Tx) baseLast(t *Node, from, end string, d *delta) (*Node, error) {
	s, err := tx.reader()
	if err != nil {
		return nil, err
	}
	for {
		row, err := s.Last(tx.ctx, t.id, from, end)
		if err == ErrNotFound {
			return &Node{}, nil
		}
		if err != nil {
			return nil, err
		}
		n, err := row.nodeIn(t.id, t)
		if err != nil {
			return nil, err
		}
		if d == nil || d.names[n.fold] == nil {
			return n, nil
		}
		end = n.fold
	}
}

// Len counts what is in table t.
func (tx *Tx) Len(t *Node) (int, error) {
	t, err := tx.table(t)
	if err != nil {
		return 0, err
	}
	if t.id < 0 || tx.lists[t.id] != nil || tx.changesOf(t.id) != nil {
		nodes, err := tx.listed(t)
		return len(nodes), err
	}
	if err := tx.readsNames(t); err != nil {
		return 0, err
	}
	if nodes := tx.db.cache.list(tx.gen, t.id); nodes != nil && !tx.uncached {
		tx.hits++
		return len(nodes), nil
	}
	tx.misses++
	s, err := tx.reader()
	if err != nil {
		return 0, err
	}
	return s.Len(tx.ctx, t.id)
}

// changesOf returns what the transaction has changed in a table, or nil.
func (tx *Tx) changesOf(table int64) *delta {
	if tx.over == nil {
		return nil
	}
	d := tx.over.tables[table]
	if d != nil && tx.read != nil {
		tx.read.own = true
	}
	return d
}

// listed returns the children of t as the transaction sees them.
func (tx *Tx) listed(t *Node) ([]*Node, error) {
	t, err := tx.table(t)
	if err != nil {
		return nil, err
	}
	d := tx.changesOf(t.id)
	if d != nil && d.listed {
		return d.list, nil
	}
	var nodes []*Node
	if t.id > 0 {
		if err := tx.readsNames(t); err != nil {
			return nil, err
		}
		if nodes, err = tx.baseList(t); err != nil {
			return nil, err
		}
	}
	if d == nil {
		return nodes, nil
	}
	return d.merge(nodes), nil
}

// readsNames adds the names in t to the read set. The session begins before that, because
// what is listed is in the read set as one, without each table among it.
func (tx *Tx) readsNames(t *Node) error {
	if tx.read == nil || t.id < 0 || t.revived {
		return nil
	}
	if _, err := tx.reader(); err != nil {
		return err
	}
	if t.ver < 0 || tx.newer { // moved by this transaction: the snapshot has it elsewhere
		n, err := tx.byID(t.id, t)
		if err != nil {
			return err
		}
		t = n
	}
	tx.readsContent(t)
	return nil
}

// baseList returns the children of t in the snapshot.
func (tx *Tx) baseList(t *Node) ([]*Node, error) {
	if nodes := tx.lists[t.id]; nodes != nil {
		return nodes, nil
	}
	if nodes := tx.db.cache.list(tx.gen, t.id); nodes != nil && !tx.uncached {
		tx.hits++
		return nodes, nil
	}
	tx.misses++
	s, err := tx.reader()
	if err != nil {
		return nil, err
	}
	nodes := []*Node{}
	err = s.Children(tx.ctx, t.id, func(row Row) error {
		n, err := row.nodeIn(t.id, t)
		nodes = append(nodes, n)
		return err
	})
	if err != nil {
		return nil, err
	}
	if tx.lists == nil {
		tx.lists = map[int64][]*Node{}
	}
	tx.lists[t.id] = nodes
	tx.db.cache.putList(tx.gen, t.id, nodes)
	return nodes, nil
}
