package objectdb

import (
	"cmp"
	"slices"
)

// Pending is what a transaction has written at one place, and not committed.
type Pending struct {
	Address Address
	Node    *Node // the object that is there now; nil if it is gone
	Before  *Node // what was there before; nil if nothing was
}

// ValueBefore returns the value of Pending.Before as it was. A table has none.
func (tx *Tx) ValueBefore(p Pending) (Value, error) {
	switch {
	case p.Before == nil:
		return nil, &Error{Op: "get", Address: p.Address, Err: ErrNotFound}
	case p.Before.kind == KindTable:
		return nil, ErrIsTable
	case p.Before.value != nil:
		return p.Before.value, nil
	}
	return tx.fetch(p.Before)
}

// Pending returns what the transaction has written and not committed, in the order of the
// addresses. Of a table that is gone, the objects in it are not listed. An object that was moved
// is gone from its old place.
func (tx *Tx) Pending() ([]Pending, error) {
	if tx.over == nil {
		return nil, nil
	}
	deltas, err := tx.living()
	if err != nil {
		return nil, err
	}
	var list []Pending
	for _, d := range deltas {
		table := tx.Address(d.table)
		for _, c := range d.names {
			var before *Node
			if c.base.exists() {
				before = c.base
			}
			switch {
			case !c.now.exists() && c.base.exists():
				list = append(list, Pending{table.Child(c.base.name), nil, before})
			case c.now.exists() && (c.now.id != c.base.id || c.now.name != c.base.name || c.now.dirty):
				list = append(list, Pending{table.Child(c.now.name), c.now, before})
			}
		}
	}
	slices.SortFunc(list, func(a, b Pending) int { return cmp.Compare(a.Address.String(), b.Address.String()) })
	return list, nil
}
