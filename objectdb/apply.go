package objectdb

import (
	"cmp"
	"iter"
	"slices"
)

// work is what a transaction commits, by what is to be done with each object.
type work struct {
	gen     int64 // the generation that it makes
	last    int64
	modTime int64
	real    map[int64]int64 // the ids of new objects, by those that they had in the transaction
	deletes []*Node
	moves   []*Node
	values  []*Node
	inserts []*Node
	touched []int64 // tables in which a name came or went
	written []*Node // what is then at each place that was changed; kind 0: nothing
	lists   []int64
}

// plan turns the overlay into work.
func (tx *Tx) plan() (*work, error) {
	w := &work{
		gen: tx.gen + 1, last: tx.last,
		modTime: tx.db.options.Now().UnixNano(),
		real:    tx.real,
	}
	if w.real == nil {
		w.real = map[int64]int64{}
	}
	deltas, err := tx.living()
	if err != nil {
		return nil, err
	}
	arrived := w.sort(deltas)
	for _, n := range w.inserts {
		w.last++
		w.real[n.id] = w.last
	}
	if err := w.refresh(tx); err != nil {
		return nil, err
	}
	for _, d := range deltas {
		w.finish(d, arrived)
	}
	// Last, for a table may have been moved too.
	for _, d := range deltas {
		if err := w.touch(tx, d); err != nil {
			return nil, err
		}
	}
	return w, nil
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

// sort puts each change where it belongs, and returns the objects that have
// moved in from elsewhere.
func (w *work) sort(deltas []*delta) map[int64]bool {
	arrived := map[int64]bool{}
	for _, d := range deltas {
		for _, c := range d.names {
			switch {
			case !c.now.exists():
			case c.now.id < 0:
				w.inserts = append(w.inserts, c.now)
			case c.now.id != c.base.id:
				arrived[c.now.id] = true
				w.moves = append(w.moves, c.now)
			default:
				if c.now.name != c.base.name {
					w.moves = append(w.moves, c.now)
				}
			}
			if c.now.id > 0 && c.now.dirty {
				w.values = append(w.values, c.now)
			}
		}
	}
	// In the order of creation, so that ids tell it.
	slices.SortFunc(w.inserts, func(a, b *Node) int { return cmp.Compare(b.id, a.id) })
	return arrived
}

// refresh reads the content of objects that were moved and not written: another
// transaction may have written it since they were seen.
func (w *work) refresh(tx *Tx) error {
	for _, n := range w.moves {
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
		n.size, n.typ, n.value = now.Size, now.Type, now.Value
	}
	return nil
}

// finish records what a delta takes away, and the places for the cache.
func (w *work) finish(d *delta, arrived map[int64]bool) {
	table := w.id(d.table.id)
	for fold, c := range d.names {
		if c.base.exists() && c.base.id != c.now.id && !arrived[c.base.id] {
			w.deletes = append(w.deletes, c.base)
		}
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
	if err != nil {
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
	final.up, final.dirty = nil, false
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
	final.up, final.dirty, final.later = nil, false, nil
	if n.size > WholeValue {
		final.value = nil
	}
	return &final
}

// commit returns the work in the form that stores take.
func (w *work) commit(o Origin) *Commit {
	c := &Commit{
		Generation: w.gen, LastID: w.last, Time: w.modTime, Origin: o,
		Deletes: make([]Delete, len(w.deletes)), Moves: make([]Row, len(w.moves)), Touched: w.touched,
		Values: w.rows(w.values), Inserts: w.rows(w.inserts), Changed: make([]Place, len(w.written)),
	}
	for i, n := range w.deletes {
		c.Deletes[i] = Delete{n.id, n.kind == KindTable}
	}
	for i, n := range w.moves {
		c.Moves[i] = w.row(n)
	}
	for i, n := range w.written {
		c.Changed[i] = n.place()
	}
	return c
}

// row returns the row of a node as the next generation has it, without its value.
func (w *work) row(n *Node) Row {
	r := n.row()
	r.ID, r.Parent, r.Version = w.id(n.id), w.id(n.parent), w.gen
	return r
}

// rows returns the rows of nodes that were written. One value at a time is in memory, if
// the transaction does not keep them.
func (w *work) rows(nodes []*Node) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		for _, n := range nodes {
			r := w.row(n)
			v, err := n.written()
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
	c.publish(w.gen-1, w.written, w.lists)
}
