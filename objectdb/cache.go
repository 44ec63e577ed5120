package objectdb

import (
	"sync"
	"sync/atomic"
)

// cache holds what transactions have read, for all transactions of a DB.
//
// It stands for one generation of the root, gen. Each entry also knows since which
// generation it holds, and so a transaction that sees an older state may use the
// entries that were the same then. A commit of this DB brings the entries
// that it wrote up to date and moves gen on; when a transaction finds a newer
// generation than gen, another process has written, and what that has changed is
// dropped (Changes).
type cache struct {
	mu       sync.RWMutex
	gen      int64
	losses   atomic.Int64 // see State.Losses
	children halves[Place, *Node]
	lists    halves[int64, []*Node]
	derived  map[Place]map[*derivation]bool // by the places that count for them

	valueMu sync.Mutex
	values  halves[edition, Value] // those too large to stay in their node
}

// edition is one content of one object. It never changes, so it needs no generation.
type edition struct{ id, ver int64 }

func newCache(bytes int) *cache {
	return &cache{
		children: newHalves[Place, *Node](bytes / 2),
		lists:    newHalves[int64, []*Node](bytes / 8),
		values:   newHalves[edition, Value](bytes * 3 / 8),
		derived:  map[Place]map[*derivation]bool{},
	}
}

// child returns what is cached of a place in generation gen; nil when nothing is.
func (c *cache) child(gen, parent int64, fold []byte) *Node {
	c.mu.RLock()
	if gen > c.gen {
		c.mu.RUnlock()
		return nil
	}
	e, ok := c.children.young[Place{parent, string(fold)}]
	if !ok && c.children.old != nil {
		if e, ok = c.children.old[Place{parent, string(fold)}]; ok {
			c.mu.RUnlock()
			c.refresh(e)
			return e.at(gen)
		}
	}
	c.mu.RUnlock()
	if !ok {
		return nil
	}
	return e.at(gen)
}

func (e entry[V]) at(gen int64) (none V) {
	if e.since > gen {
		return none
	}
	return e.value
}

// refresh moves an entry that was used to the young half.
func (c *cache) refresh(e entry[*Node]) {
	c.mu.Lock()
	defer c.mu.Unlock()
	k := e.value.place()
	if now, ok := c.children.old[k]; ok {
		c.children.put(k, now)
	}
}

func (n *Node) place() Place { return Place{n.parent, n.fold} }

// cost is about the bytes that a node takes in the cache.
func (n *Node) cost() int {
	cost := 280 + len(n.name) + len(n.fold) + len(n.typ)
	if n.value != nil {
		cost += int(n.size)
		if n.kind == KindList || n.kind == KindAddress {
			cost += 8 * int(n.size)
		}
	}
	return cost
}

// list returns a table's children in generation gen; nil when they are not cached.
func (c *cache) list(gen, table int64) []*Node {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if gen > c.gen {
		return nil
	}
	e, ok := c.lists.young[table]
	if !ok {
		e, ok = c.lists.old[table]
	}
	if !ok {
		return nil
	}
	return e.at(gen)
}

// putChild adds what was read in generation gen.
func (c *cache) putChild(gen int64, n *Node) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if gen == c.gen {
		c.children.put(n.place(), entry[*Node]{n, gen, n.cost()})
	}
}

func (c *cache) putList(gen, table int64, nodes []*Node) {
	cost := 100
	for _, n := range nodes {
		cost += n.cost()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if gen == c.gen && nodes != nil {
		c.lists.put(table, entry[[]*Node]{nodes, gen, cost})
	}
}

// advance brings the cache to generation gen, if that is newer: it drops what
// others have changed, and everything when that is not known.
func (c *cache) advance(gen int64, changes Changes) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if gen <= c.gen {
		return
	}
	if changes.knownSince(c.gen) {
		for _, ch := range changes.Places {
			if ch.Generation > c.gen {
				c.drop(ch.Place)
			}
		}
	} else {
		c.forget()
	}
	c.gen = gen
}

// forget drops everything but values. The caller holds c.mu.
func (c *cache) forget() {
	c.children.clear()
	c.lists.clear()
	for _, slots := range c.derived {
		for s := range slots {
			*s = derivation{}
		}
	}
	clear(c.derived)
}

// reset drops everything, because the root has lost commits, and makes the cache that of
// generation gen.
func (c *cache) reset(gen, losses int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if losses <= c.losses.Load() {
		return
	}
	c.forget()
	c.gen = gen
	c.losses.Store(losses)
	c.valueMu.Lock()
	defer c.valueMu.Unlock()
	c.values.clear()
}

// drop forgets what is cached of a place. The caller holds c.mu.
func (c *cache) drop(p Place) {
	c.children.drop(p)
	c.lists.drop(p.Table)
	for s := range c.derived[p] {
		c.unlink(s)
	}
}

func (c *cache) generation() int64 {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.gen
}

// publish brings the cache from generation gen to the next one, after a commit that wrote
// these nodes and changed the children of these tables. The kind of a node is 0 where an
// object has gone.
func (c *cache) publish(gen int64, written []*Node, tables []int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.gen != gen {
		return
	}
	c.gen = gen + 1
	for _, n := range written {
		c.children.put(n.place(), entry[*Node]{n, c.gen, n.cost()})
		for s := range c.derived[n.place()] {
			c.unlink(s)
		}
	}
	for _, id := range tables {
		c.lists.drop(id)
	}
}

func (c *cache) value(e edition) (Value, bool) {
	c.valueMu.Lock()
	defer c.valueMu.Unlock()
	h, ok := c.values.young[e]
	if !ok {
		if h, ok = c.values.old[e]; ok {
			c.values.put(e, h)
		}
	}
	return h.value, ok
}

func (c *cache) putValue(e edition, v Value, size int64) {
	c.valueMu.Lock()
	defer c.valueMu.Unlock()
	c.values.put(e, entry[Value]{value: v, cost: 100 + int(size)})
}

// entry is a value, the generation since which it is right, and the bytes that it takes.
type entry[V any] struct {
	value V
	since int64
	cost  int
}

// halves is a bounded map that forgets what was not used for long: when the
// young half is full it becomes the old half, and the old one is forgotten.
type halves[K comparable, V any] struct {
	young, old map[K]entry[V]
	bytes      int // in young
	limit      int
}

func newHalves[K comparable, V any](bytes int) halves[K, V] {
	return halves[K, V]{young: map[K]entry[V]{}, limit: bytes / 2}
}

func (h *halves[K, V]) put(k K, v entry[V]) {
	h.drop(k)
	if v.cost > h.limit {
		return
	}
	if h.bytes+v.cost > h.limit {
		h.old, h.young, h.bytes = h.young, map[K]entry[V]{}, 0
	}
	h.young[k] = v
	h.bytes += v.cost
}

func (h *halves[K, V]) drop(k K) {
	delete(h.old, k)
	if before, ok := h.young[k]; ok {
		h.bytes -= before.cost
		delete(h.young, k)
	}
}

func (h *halves[K, V]) clear() {
	h.young, h.old, h.bytes = map[K]entry[V]{}, nil, 0
}
