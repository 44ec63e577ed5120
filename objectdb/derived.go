package objectdb

import (
	"slices"
	"sync"
)

// A Derived is a value that is made of what lies in the root, such as settings
// that were read and checked: it is made once and used by all transactions, until
// one of the objects that it was made of is written, by whatever process. It is
// safe for use by many goroutines; so must be its values, which must not be changed.
//
// A transaction that asks for it has read those objects: it cannot be committed
// when another one wrote one of them meanwhile.
type Derived[T any] struct {
	make func(*Tx) (T, error)
	slot derivation // as the cache keeps it
}

// NewDerived returns a Derived, for transactions of one DB. What make returns must
// follow from what it reads in its transaction and from nothing else. An error is
// not cached.
func NewDerived[T any](make func(*Tx) (T, error)) *Derived[T] {
	return &Derived[T]{make: make}
}

// Get returns the value as the transaction sees it. If the transaction has itself
// written something that the value was made of, a value is made for it alone.
func (d *Derived[T]) Get(tx *Tx) (T, error) { return derive(tx, &d.slot, false, d.make) }

// touches reports whether something was written that b depends on.
func (o *overlay) touches(b *dependencies) bool {
	for id := range b.listed {
		if o.tables[id] != nil {
			return true
		}
	}
	names := 0
	for id, d := range o.tables {
		for fold := range d.names {
			if names++; names > len(b.at) {
				return o.wroteAt(b)
			}
			if b.at[Place{id, fold}] {
				return true
			}
		}
	}
	return false
}

// wroteAt reports whether one of the places of b was written. It takes no longer after
// many writes.
func (o *overlay) wroteAt(b *dependencies) bool {
	for p := range b.at {
		if d := o.tables[p.Table]; d != nil && d.names[p.Fold] != nil {
			return true
		}
	}
	return false
}

// A DerivedMap holds a Derived for each key, up to a number of keys.
type DerivedMap[K comparable, T any] struct {
	most int

	mu    sync.RWMutex
	slots map[K]*derivation
}

// NewDerivedMap returns a DerivedMap that keeps at most so many values.
func NewDerivedMap[K comparable, T any](most int) *DerivedMap[K, T] {
	return &DerivedMap[K, T]{most: most, slots: map[K]*derivation{}}
}

// Get returns the value for a key, or makes it: see [NewDerived] and [Derived.Get].
func (m *DerivedMap[K, T]) Get(tx *Tx, key K, make func(*Tx) (T, error)) (T, error) {
	m.mu.RLock()
	slot := m.slots[key]
	m.mu.RUnlock()
	if slot == nil {
		slot = m.add(tx.db.cache, key)
	}
	return derive(tx, slot, true, make)
}

// add makes a slot. When there are too many, all others are forgotten.
func (m *DerivedMap[K, T]) add(c *cache, key K) *derivation {
	m.mu.Lock()
	defer m.mu.Unlock()
	if slot := m.slots[key]; slot != nil {
		return slot
	}
	if len(m.slots) >= m.most {
		c.mu.Lock()
		for _, slot := range m.slots {
			c.unlink(slot)
			slot.gone = true
		}
		c.mu.Unlock()
		clear(m.slots)
	}
	slot := new(derivation)
	m.slots[key] = slot
	return slot
}

func derive[T any](tx *Tx, slot *derivation, keyed bool, make func(*Tx) (T, error)) (none T, err error) {
	if v, b := slot.at(tx.db.cache, tx.gen); b != nil && (tx.over == nil || !tx.over.touches(b)) {
		tx.relies(b)
		return v.(T), nil
	}
	if _, err := tx.reader(); err != nil { // what make reads is not in the read set that reader compares
		return none, err
	}
	own, read := tx.read, new(readSet)
	tx.read = read
	v, err := make(tx)
	tx.read = own
	if own != nil {
		own.own = own.own || read.own
		own.ranges = append(own.ranges, read.ranges...)
	}
	b := &dependencies{places: read.places.nodes, contents: read.contents.nodes, of: slot, keyed: keyed}
	for _, in := range read.derived {
		b.places, b.contents = append(b.places, in.places...), append(b.contents, in.contents...)
	}
	tx.relies(b)
	if err == nil && !read.own && len(read.ranges) == 0 {
		slot.put(tx.db.cache, tx.gen, v, b)
	}
	return v, err
}

// derivation is a slot of the cache, under its lock. The value is right from
// generation since on, up to that of the cache.
type derivation struct {
	value any
	from  *dependencies // nil: there is no value
	since int64
	gone  bool // the map has forgotten it
}

// dependencies are what a value was made of: see readSet.
type dependencies struct {
	places, contents []*Node
	of               *derivation
	keyed            bool           // the value is of a DerivedMap
	at               map[Place]bool // all of them
	listed           map[int64]bool // the tables among contents
}

// at returns the value in generation gen and its dependencies; nil when it is not cached.
func (s *derivation) at(c *cache, gen int64) (any, *dependencies) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if s.from == nil || gen > c.gen || gen < s.since {
		return nil, nil
	}
	return s.value, s.from
}

func (s *derivation) put(c *cache, gen int64, v any, b *dependencies) {
	b.at = make(map[Place]bool, len(b.places)+len(b.contents))
	b.listed = map[int64]bool{}
	for _, nodes := range [][]*Node{b.places, b.contents} {
		for _, n := range nodes {
			b.at[n.place()] = true
		}
	}
	for _, n := range b.contents {
		if n.kind == KindTable {
			b.listed[n.id] = true
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if gen == c.gen && !s.gone {
		c.unlink(s)
		*s = derivation{value: v, from: b, since: gen}
		c.link(s)
	}
}

// link makes the places of a value lead to it. The caller holds c.mu.
func (c *cache) link(s *derivation) {
	for p := range s.from.at {
		if c.derived[p] == nil {
			c.derived[p] = map[*derivation]bool{}
		}
		c.derived[p][s] = true
	}
}

// unlink drops a value. The caller holds c.mu.
func (c *cache) unlink(s *derivation) {
	if s.from == nil {
		return
	}
	for p := range s.from.at {
		if delete(c.derived[p], s); len(c.derived[p]) == 0 {
			delete(c.derived, p)
		}
	}
	*s = derivation{}
}

// relies adds b to the read set.
func (tx *Tx) relies(b *dependencies) {
	if tx.read != nil && !slices.Contains(tx.read.derived, b) {
		tx.read.derived = append(tx.read.derived, b)
	}
}

// stands reports whether all of b is as it was. The transaction sees the
// newest state.
func (tx *Tx) stands(b *dependencies, changed changedPlaces) (bool, error) {
	if _, now := b.of.at(tx.db.cache, tx.gen); now == b {
		return true, nil
	}
	return tx.unchanged(changed, b.places, b.contents)
}
