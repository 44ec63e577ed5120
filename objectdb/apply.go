package objectdb

import (
	"cmp"
	"iter"
	"maps"
	"slices"
)

// work is what a transaction commits, by what is to be done with each object.
type work struct {
	gen     int64 // the generation that it makes
	last    int64
	modTime int64
	real    map[int64]int64 // the ids of new objects, by those that they had in the transaction
	rules   *HistoryRules
	first   int64
	undoes  []int64
	revives bool
	deletes []Delete
	moves   []planned
	values  []planned
	inserts []planned
	touched []int64 // tables in which a name came or went
	written []*Node // what is then at each place that was changed; kind 0: nothing
	lists   []int64

	indexes   []Index
	entries   []IndexWrite
	purge     []int64
	purgeStep int
	changed   []Place // of entries
	pages     []*Node // see indexer.build
}

// planned is an object that is written, with what is kept of its present state.
type planned struct {
	*Node
	keep  Keep
	large bool
}

// plan turns the overlay into work.
func (tx *Tx) plan() (*work, error) {
	w := &work{
		gen: tx.gen + 1, last: tx.last,
		modTime: tx.db.options.Now().UnixNano(),
		real:    tx.real,
		first:   tx.first, undoes: tx.undoes, revives: tx.uncached,
	}
	var err error
	if w.rules, err = tx.historyRules(); err != nil {
		return nil, err
	}
	if w.real == nil {
		w.real = map[int64]int64{}
	}
	deltas, err := tx.living()
	if err != nil {
		return nil, err
	}
	left := departures(deltas)
	if err := w.sort(tx, deltas, left); err != nil {
		return nil, err
	}
	for _, p := range w.inserts {
		if p.id < 0 {
			w.last++
			w.real[p.id] = w.last
		}
	}
	if err := w.refresh(tx); err != nil {
		return nil, err
	}
	for _, d := range deltas {
		w.finish(d)
	}
	if err := w.delete(tx, left); err != nil {
		return nil, err
	}
	// Last, for a table may have been moved too.
	for _, d := range deltas {
		if err := w.touch(tx, d); err != nil {
			return nil, err
		}
	}
	return w, w.index(tx)
}

// living returns the deltas of the tables that are still there, in a fixed order.
func (tx *Tx) living() ([]*delta, error) {
	deltas := make([]*delta, 0, len(tx.over.tables))
	for _, d := range tx.over.tables {
		if tx.over.lost {
			if err := tx.alive(d.table); err == ErrNotFound {
				continue
			} else if err != nil {
				return nil, err
			}
		}
		deltas = append(deltas, d)
	}
	slices.SortFunc(deltas, func(a, b *delta) int { return cmp.Compare(a.table.id, b.table.id) })
	return deltas, nil
}

// departures returns, by their ids, the objects that have left their places. Their nodes are
// those of before the transaction.
func departures(deltas []*delta) map[int64]*Node {
	left := map[int64]*Node{}
	for _, d := range deltas {
		for _, c := range d.names {
			if c.base.exists() && c.base.id != c.now.id {
				left[c.base.id] = c.base
			}
		}
	}
	return left
}

// sort plans what has come to a place or was written there. It takes objects that have moved
// to another place out of left.
func (w *work) sort(tx *Tx, deltas []*delta, left map[int64]*Node) error {
	for _, d := range deltas {
		for _, c := range d.names {
			if !c.now.exists() || c.now.id == c.base.id && c.now.name == c.base.name && !c.now.dirty {
				continue
			}
			if err := w.place(tx, c, left); err != nil {
				return err
			}
		}
	}
	// In the order of creation, so that ids tell it.
	slices.SortFunc(w.inserts, func(a, b planned) int { return cmp.Compare(b.id, a.id) })
	return nil
}

// place plans the change of one place. It takes an object that has moved there out of left.
func (w *work) place(tx *Tx, c *change, left map[int64]*Node) error {
	p := planned{Node: c.now}
	old := c.base
	if c.now.id != c.base.id {
		old = left[c.now.id]
		delete(left, c.now.id)
	}
	if c.now.id < 0 || c.now.revived {
		keep, _, err := w.rules.keep(tx, c.now)
		w.inserts = append(w.inserts, planned{c.now, keep, false})
		return err
	}
	if old == nil { // its table is gone
		row, err := tx.session.Object(tx.ctx, c.now.id)
		if err == ErrNotFound {
			return ErrConflict
		}
		if err != nil {
			return err
		}
		old = row.node(nil)
		// Caches may find the object, and what is in it, by its old place.
		w.written = append(w.written, &Node{parent: old.parent, fold: old.fold})
	}
	moved := c.now.id != c.base.id || c.now.name != c.base.name
	var err error
	if p.keep, p.large, err = w.rules.keep(tx, old); err != nil {
		return err
	}
	// A moved object is always kept, because the past must not have two objects at one place.
	if p.keep == KeepThinned && !moved && old.kept > w.modTime-int64(w.rules.Interval) {
		p.keep = KeepNothing
	}
	p.kept = old.kept
	if moved {
		w.moves = append(w.moves, p)
	}
	if c.now.dirty {
		switch {
		case tx.Origin.Person: // what a person writes is kept in any case
			p.kept = 0
		case p.keep != KeepNothing:
			p.kept = w.modTime
		}
		w.values = append(w.values, p)
	}
	return nil
}

// delete plans the deletion of the objects in gone. Objects below them that have a rule of
// their own are deleted first.
func (w *work) delete(tx *Tx, gone map[int64]*Node) error {
	for _, id := range slices.Sorted(maps.Keys(gone)) {
		n := gone[id]
		if n.kind == KindTable {
			if err := w.deleteRuled(tx, n); err != nil {
				return err
			}
		}
		if err := w.deleteOne(tx, n); err != nil {
			return err
		}
	}
	return nil
}

// deleteOne plans the deletion of one object.
func (w *work) deleteOne(tx *Tx, n *Node) error {
	keep, large, err := w.rules.keep(tx, n)
	w.deletes = append(w.deletes, Delete{ID: n.id, Table: n.kind == KindTable, Keep: keep, Large: large})
	return err
}

// deleteRuled plans the deletion of objects below a table that have a rule of their own,
// the deepest first.
func (w *work) deleteRuled(tx *Tx, table *Node) error {
	found := slices.Clone(w.rules.Subtrees)
	slices.SortStableFunc(found, func(a, b SubtreeRule) int { return cmp.Compare(len(b.Address), len(a.Address)) })
	for _, r := range found {
		n, err := w.goesWith(tx, table, r.Address)
		if err != nil {
			return err
		}
		planned := func(d Delete) bool { return d.ID == n.id }
		if n == nil || slices.ContainsFunc(w.deletes, planned) {
			continue
		}
		if err := w.deleteOne(tx, n); err != nil {
			return err
		}
	}
	return nil
}

// goesWith returns the object at an address before the transaction, if it is deleted with a
// table above it. Otherwise it returns nil.
func (w *work) goesWith(tx *Tx, table *Node, a Address) (*Node, error) {
	n, below := tx.root, false
	for _, name := range a {
		below = below || n.id == table.id
		if n.kind != KindTable {
			return nil, nil
		}
		var err error
		if n, err = tx.base(n.id, []byte(Fold(name)), n); err != nil || !n.exists() {
			return nil, err
		}
		if !below {
			continue
		}
		// Objects that this transaction has moved out of the table stay.
		if now := tx.over.objects[n.id]; now != nil && now.exists() {
			if err := tx.alive(now); err != ErrNotFound {
				return nil, err
			}
		}
	}
	if !below {
		return nil, nil
	}
	return n, nil
}

// refresh reads the content of objects that were moved and not written: another
// transaction may have written it since they were seen.
func (w *work) refresh(tx *Tx) error {
	for _, p := range w.moves {
		n := p.Node
		if n.dirty {
			continue
		}
		now, err := tx.session.Object(tx.ctx, n.id)
		if err == ErrNotFound {
			return ErrConflict
		}
		if err != nil {
			return err
		}
		n.kind, n.created, n.modified = now.Kind, now.Created, now.Modified
		n.size, n.typ, n.value, n.kept = now.Size, now.Type, now.Value, now.Kept
	}
	return nil
}

// finish records the places of a delta for the cache.
func (w *work) finish(d *delta) {
	table := w.id(d.table.id)
	for fold, c := range d.names {
		final := &Node{parent: table, fold: fold}
		if c.now.exists() {
			final = w.final(c.now)
		}
		w.written = append(w.written, final)
	}
	w.lists = append(w.lists, table)
}

// renamed reports whether a name in the table came, went or is spelled anew.
func (d *delta) renamed() bool {
	for _, c := range d.names {
		if c.base.id != c.now.id || c.base.name != c.now.name {
			return true
		}
	}
	return false
}

// touch records that a table is written because its names have changed.
func (w *work) touch(tx *Tx, d *delta) error {
	if d.table.id < 0 || !d.renamed() {
		return nil
	}
	t, err := tx.present(d.table)
	if err != nil || t.revived {
		return err
	}
	w.touched = append(w.touched, w.id(t.id))
	final := *t
	if t.ver >= 0 { // not moved itself: what the database has now is sure
		now, err := tx.byID(t.id, t)
		if err != nil {
			return err
		}
		final = *now
	}
	final.parent, final.ver, final.modified = w.id(final.parent), w.gen, w.modTime
	final.up, final.dirty = final.committedUp(), false
	w.written = append(w.written, &final)
	w.lists = append(w.lists, final.parent)
	return nil
}

func (w *work) id(id int64) int64 {
	if id < 0 {
		return w.real[id]
	}
	return id
}

// final returns the node as the next generation has it.
func (w *work) final(n *Node) *Node {
	final := *n
	final.id, final.parent, final.ver = w.id(n.id), w.id(n.parent), w.gen
	final.up, final.dirty, final.revived, final.later = n.committedUp(), false, false, nil
	if n.size > WholeValue {
		final.value = nil
	}
	return &final
}

// committedUp returns the node of the table that n is in, unless the transaction has made or moved
// that table. With it, the rules for the history are found without the store.
func (n *Node) committedUp() *Node {
	if n.up == nil || n.up.id < 0 || n.up.ver < 0 {
		return nil
	}
	return n.up
}

// commit returns the work in the form that stores take.
func (w *work) commit(o Origin) *Commit {
	c := &Commit{
		Generation: w.gen, LastID: w.last, Time: w.modTime, Origin: o,
		Deletes: w.deletes, Moves: make([]Write, len(w.moves)), Touched: w.touched,
		Values: w.rows(w.values), Inserts: w.rows(w.inserts), Changed: make([]Place, len(w.written)),
		First: w.first, Undoes: w.undoes, Revives: w.revives,
		Whole: w.rules.Whole, Bounds: w.rules.Bounds,
		Indexes: w.indexes, Entries: w.entries, Purge: w.purge, PurgeStep: w.purgeStep,
	}
	for i, p := range w.moves {
		c.Moves[i] = w.row(p)
	}
	for i, n := range w.written {
		c.Changed[i] = n.place()
	}
	c.Changed = append(c.Changed, w.changed...)
	return c
}

// row returns an object as the next generation has it, without its value.
func (w *work) row(p planned) Write {
	r := p.row()
	r.ID, r.Parent, r.Version = w.id(p.id), w.id(p.parent), w.gen
	return Write{Row: r, Keep: p.keep, Large: p.large}
}

// rows returns objects that were written. If the transaction does not keep their values in
// memory, only one value at a time is in memory.
func (w *work) rows(list []planned) iter.Seq2[Write, error] {
	return func(yield func(Write, error) bool) {
		for _, p := range list {
			r := w.row(p)
			v, err := p.written()
			r.Value = v
			if !yield(r, err) || err != nil {
				return
			}
		}
	}
}

// written returns the value that a node was written with.
func (n *Node) written() (Value, error) {
	if n.later != nil {
		return n.later()
	}
	return n.value, nil
}

// publish brings the cache to the generation that was committed.
func (w *work) publish(c *cache) {
	if w.revives {
		c.advance(w.gen, Changes{})
		return
	}
	c.publish(w.gen-1, w.written, w.lists)
}
