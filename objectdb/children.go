package objectdb

import "slices"

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
