package objectdb

import (
	"slices"
	"unicode/utf8"
)

// base returns what the snapshot holds at a place: a node, which says nothing is
// there when its kind is 0, and never nil. The cache is asked first. up is a node
// of the table, if the caller has one.
func (tx *Tx) base(parent int64, fold []byte, up *Node) (*Node, error) {
	if n := tx.db.cache.child(tx.gen, parent, fold); n != nil && !tx.uncached {
		tx.hits++
		return n, nil
	}
	tx.misses++
	s, err := tx.reader()
	if err != nil {
		return nil, err
	}
	n := &Node{parent: parent, fold: string(fold), up: up}
	switch row, err := s.Child(tx.ctx, parent, n.fold); {
	case err == nil:
		if n, err = row.nodeIn(parent, up); err != nil {
			return nil, err
		}
	case err != ErrNotFound:
		return nil, err
	}
	tx.db.cache.putChild(tx.gen, n)
	return n, nil
}

// at returns what the transaction sees at a place, as base does.
func (tx *Tx) at(parent int64, fold []byte, up *Node) (*Node, error) {
	if d := tx.changesOf(parent); d != nil {
		if c := d.names[string(fold)]; c != nil {
			return c.now, nil
		}
	}
	if parent < 0 { // a table that the transaction has made
		return &Node{parent: parent, fold: string(fold)}, nil
	}
	return tx.base(parent, fold, up)
}

// step returns the object with a name in a table, or a node of kind 0.
func (tx *Tx) step(t *Node, name string) (*Node, error) {
	t, err := tx.table(t)
	if err != nil {
		return nil, err
	}
	return tx.stepIn(t, name)
}

// stepIn is step in a table that is known to be one and to be there.
func (tx *Tx) stepIn(t *Node, name string) (*Node, error) {
	var buffer [MaxName]byte
	if len(name) > MaxName || name == "" || !utf8.ValidString(name) {
		return &Node{}, nil
	}
	n, err := tx.at(t.id, appendFold(buffer[:0], name), t)
	if err != nil {
		return nil, err
	}
	tx.readsPlace(n)
	return n, nil
}

// table returns the present node of a table, or an error if it is no table or gone.
func (tx *Tx) table(t *Node) (*Node, error) {
	if t.kind != KindTable {
		return nil, ErrNotTable
	}
	if tx.steady() && !tx.done {
		return t, nil
	}
	return tx.present(t)
}

// steady reports whether all nodes are still as they were found.
func (tx *Tx) steady() bool { return tx.over == nil && !tx.flushed && !tx.tries.failed }

// present returns the node that now stands for the object of n; ErrNotFound when
// it is gone.
func (tx *Tx) present(n *Node) (*Node, error) {
	if err := tx.usable(); err != nil {
		return nil, err
	}
	id := n.id
	if id < 0 && tx.flushed {
		if r, ok := tx.real[id]; ok {
			id = r
		}
	}
	if tx.over != nil {
		if now, ok := tx.over.objects[id]; ok {
			if !now.exists() {
				return nil, ErrNotFound
			}
			return now, nil
		}
	}
	if tx.flushed {
		return tx.byID(id, n)
	}
	if n.ver < 0 && tx.tries.failed { // what was written was undone
		if id < 0 {
			return nil, ErrNotFound
		}
		return tx.byID(id, n)
	}
	return n, nil
}

// byID returns the object with this id as the snapshot has it; hint is where it
// was once.
func (tx *Tx) byID(id int64, hint *Node) (*Node, error) {
	s, err := tx.reader() // the read set does not have what is read here
	if err != nil {
		return nil, err
	}
	if hint != nil && hint.parent >= 0 {
		n, err := tx.base(hint.parent, []byte(hint.fold), nil)
		if err != nil || n.id == id {
			return n, err
		}
	}
	row, err := s.Object(tx.ctx, id)
	if err != nil {
		return nil, err
	}
	return row.node(nil), nil
}

// parentOf returns the table that holds n, whose node must be the present one.
func (tx *Tx) parentOf(n *Node) (*Node, error) {
	if n.parent == RootID {
		return tx.root, nil
	}
	if tx.over != nil {
		if now, ok := tx.over.objects[n.parent]; ok {
			if !now.exists() {
				return nil, ErrNotFound
			}
			return now, nil
		}
	}
	hint := n.up
	if hint != nil && hint.id != n.parent {
		hint = nil
	}
	return tx.byID(n.parent, hint)
}

// Root returns the root table.
func (tx *Tx) Root() *Node { return tx.root }

// Child returns the object called name in table t. ErrNotFound says that there is
// none, ErrNotTable that t cannot have any.
func (tx *Tx) Child(t *Node, name string) (*Node, error) {
	n, err := tx.step(t, name)
	if err != nil {
		return nil, err
	}
	if !n.exists() {
		return nil, ErrNotFound
	}
	tx.readsObject(n)
	return n, nil
}

// Value returns what n holds; ErrIsTable when it holds other objects,
// ErrNotFound when it is gone.
func (tx *Tx) Value(n *Node) (Value, error) {
	if !tx.steady() {
		now, err := tx.present(n)
		if err != nil {
			return nil, err
		}
		n = now
	}
	if n.kind == KindTable {
		return nil, ErrIsTable
	}
	tx.readsContent(n)
	if n.later != nil {
		return n.later()
	}
	if n.value != nil {
		return n.value, nil
	}
	return tx.fetch(n)
}

// fetch reads a value that was too large to come with its node.
func (tx *Tx) fetch(n *Node) (Value, error) {
	if err := tx.usable(); err != nil {
		return nil, err
	}
	e := edition{n.id, n.ver}
	if v, ok := tx.db.cache.value(e); ok && n.ver >= 0 {
		tx.hits++
		return v, nil
	}
	tx.misses++
	s, err := tx.reader()
	if err != nil {
		return nil, err
	}
	v, err := s.Value(tx.ctx, n.id)
	if err == nil && n.ver >= 0 { // else it was moved by this transaction, and not written
		tx.db.cache.putValue(e, v, n.size)
	}
	return v, err
}

// Address returns the address of n as it is now, spelled as its names are. That
// of an object that is gone is its name alone.
func (tx *Tx) Address(n *Node) Address {
	names := []string{}
	for n.id != RootID {
		now, err := tx.present(n)
		if err != nil {
			now = n
		}
		names = append(names, now.name)
		if err != nil {
			break
		}
		if n, err = tx.parentOf(now); err != nil {
			break
		}
	}
	slices.Reverse(names)
	return Address(names)
}

// alive returns ErrNotFound if t or a table above it is gone, and adds the way to it to
// the read set.
func (tx *Tx) alive(t *Node) error {
	for n := t; n.id != RootID; {
		now, err := tx.present(n)
		if err != nil {
			return err
		}
		if now.parent >= 0 {
			if seen, err := tx.at(now.parent, []byte(now.fold), nil); err != nil {
				return err
			} else if seen.id != now.id {
				return ErrNotFound
			} else {
				tx.readsPlace(seen)
			}
		}
		if n, err = tx.parentOf(now); err != nil {
			return err
		}
	}
	return nil
}
