package objectdb

import "slices"

// A Derived is a value that is made of what lies in the root, such as settings
// that were read and checked: it is made once and used by all transactions, until
// one of the objects that it was made of is written, by whatever process. It is
// safe for use by many goroutines; so must be its values, which nobody changes.
//
// A transaction that asks for it has read those objects: it cannot be committed
// when another one wrote one of them meanwhile.
type Derived[T any] struct {
	make func(*Tx) (T, error)
	slot derivation // as the cache keeps it
}

// NewDerived returns a Derived of db. What make returns must follow from what it
// reads in its transaction and from nothing else. An error is not kept.
func NewDerived[T any](db *DB, make func(*Tx) (T, error)) *Derived[T] {
	d := &Derived[T]{make: make}
	db.cache.mu.Lock()
	defer db.cache.mu.Unlock()
	db.cache.derived = append(db.cache.derived, &d.slot)
	return d
}

// Get gives the value as the transaction sees it. After the transaction has
// written something, it is made for it alone.
func (d *Derived[T]) Get(tx *Tx) (T, error) {
	if tx.over != nil {
		return d.make(tx)
	}
	if v, b := d.slot.at(tx.db.cache, tx.gen); b != nil {
		tx.relies(b)
		return v.(T), nil
	}
	own, read := tx.marks, new(marks)
	tx.marks = read
	v, err := d.make(tx)
	tx.marks = own
	b := &basis{places: read.places.nodes, contents: read.contents.nodes, of: &d.slot}
	for _, in := range read.derived {
		b.places, b.contents = append(b.places, in.places...), append(b.contents, in.contents...)
	}
	tx.relies(b)
	if err == nil && tx.over == nil {
		d.slot.put(tx.db.cache, tx.gen, v, b)
	}
	return v, err
}

// derivation is a slot of the cache, under its lock. The value holds from
// generation since on, up to that of the cache.
type derivation struct {
	value any
	basis *basis // nil: there is no value
	since int64
}

// basis is what a value was made of: see marks.
type basis struct {
	places, contents []*Node
	of               *derivation
	at               map[place]bool // all of them
}

// at gives the value in generation gen; a nil basis when it is not known.
func (s *derivation) at(c *cache, gen int64) (any, *basis) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if s.basis == nil || gen > c.gen || gen < s.since {
		return nil, nil
	}
	return s.value, s.basis
}

func (s *derivation) put(c *cache, gen int64, v any, b *basis) {
	b.at = make(map[place]bool, len(b.places)+len(b.contents))
	for _, nodes := range [][]*Node{b.places, b.contents} {
		for _, n := range nodes {
			b.at[n.place()] = true
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if gen == c.gen {
		*s = derivation{value: v, basis: b, since: gen}
	}
}

// drop forgets the value when one of these places counts for it.
func (s *derivation) drop(places []written) {
	if s.basis != nil && slices.ContainsFunc(places, func(w written) bool { return s.basis.at[w.place] }) {
		*s = derivation{}
	}
}

// relies notes that the transaction has read what b holds.
func (tx *Tx) relies(b *basis) {
	if tx.marks != nil && !slices.Contains(tx.marks.derived, b) {
		tx.marks.derived = append(tx.marks.derived, b)
	}
}

// stands tells whether all that b holds is as it was. The transaction sees the
// newest state.
func (tx *Tx) stands(b *basis) (bool, error) {
	if _, now := b.of.at(tx.db.cache, tx.gen); now == b {
		return true, nil
	}
	return tx.unchanged(b.places, b.contents)
}
