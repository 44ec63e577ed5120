package objectdb

import (
	"cmp"
	"slices"
	"strings"
)

// overlay is what a transaction has written and not committed: for each place
// what it found there and what it left there, without the order of the writes.
type overlay struct {
	tables  map[int64]*delta
	objects map[int64]*Node // the present node of each object that was written; kind 0: gone
	lost    bool            // a table has gone, and what was below it with it
}

// delta is what a transaction has changed in one table.
type delta struct {
	table  *Node
	names  map[string]*change
	list   []*Node // what is in the table, in order, if listed
	listed bool
}

// change is what a transaction has changed at one place.
type change struct {
	base *Node // what the snapshot has there; kind 0: nothing
	now  *Node
}

// merge makes the list of what is in the table, from that of the snapshot.
func (d *delta) merge(base []*Node) []*Node {
	d.list = make([]*Node, 0, len(base)+len(d.names))
	for _, n := range base {
		if d.names[n.fold] == nil {
			d.list = append(d.list, n)
		}
	}
	for _, c := range d.names {
		if c.now.exists() {
			d.list = append(d.list, c.now)
		}
	}
	slices.SortFunc(d.list, func(a, b *Node) int { return cmp.Compare(a.fold, b.fold) })
	d.listed = true
	return d.list
}

// patch keeps the list right when now is put at its place.
func (d *delta) patch(now *Node) {
	if !d.listed {
		return
	}
	i, found := slices.BinarySearchFunc(d.list, now.fold, func(n *Node, fold string) int {
		return strings.Compare(n.fold, fold)
	})
	switch {
	case found && now.exists():
		d.list[i] = now
	case found:
		d.list = slices.Delete(d.list, i, i+1)
	case now.exists():
		d.list = slices.Insert(d.list, i, now)
	}
}

// delta returns the delta of a table, which must be its present node.
func (tx *Tx) delta(t *Node) *delta {
	if tx.over == nil {
		tx.over = &overlay{tables: map[int64]*delta{}, objects: map[int64]*Node{}}
		tx.undoable(func() { tx.over = nil })
	}
	o := tx.over
	d := o.tables[t.id]
	if d == nil {
		d = &delta{table: t, names: map[string]*change{}}
		o.tables[t.id] = d
		tx.undoable(func() { delete(o.tables, t.id) })
	}
	return d
}

// stand makes n the present node of the object id.
func (tx *Tx) stand(id int64, n *Node) {
	o := tx.over
	before, ok := o.objects[id]
	o.objects[id] = n
	tx.undoable(func() {
		if ok {
			o.objects[id] = before
		} else {
			delete(o.objects, id)
		}
	})
}

// leave puts now at its place in table t. What was there before is not looked at.
func (tx *Tx) leave(t, now *Node) error {
	if _, err := tx.reader(); err != nil {
		return err
	}
	d := tx.delta(t)
	c := d.names[now.fold]
	if c == nil {
		c = &change{base: &Node{parent: t.id, fold: now.fold}}
		if t.id > 0 { // else this transaction has made the table
			var err error
			if c.base, err = tx.base(t.id, []byte(now.fold), t); err != nil {
				return err
			}
		}
		d.names[now.fold] = c
		tx.undoable(func() { delete(d.names, now.fold) })
	}
	before := c.now
	c.now = now
	tx.wrote++
	tx.undoable(func() { c.now, d.list, d.listed = before, nil, false })
	d.patch(now)
	if now.exists() {
		tx.stand(now.id, now)
	}
	return nil
}

// gone is the node of a place from which this transaction has taken something.
func gone(parent int64, fold string) *Node {
	return &Node{parent: parent, fold: fold, ver: -1}
}

// drop records that an object is gone for good, and with it what is below it.
func (tx *Tx) drop(n *Node) {
	tx.stand(n.id, gone(n.parent, n.fold))
	if o := tx.over; n.kind == KindTable && !o.lost {
		o.lost = true
		tx.undoable(func() { o.lost = false })
	}
}

// writable returns the present node of a table that is to be written in.
func (tx *Tx) writable(t *Node) (*Node, error) {
	if err := tx.usable(); err != nil {
		return nil, err
	}
	if tx.mode == viewing {
		return nil, ErrReadOnly
	}
	now, err := tx.table(t)
	if err != nil {
		return nil, err
	}
	if tx.flushed || tx.over != nil && tx.over.lost {
		return now, tx.alive(now)
	}
	return now, nil
}

// Set puts v under name into table t, in the place of whatever is there, even a
// table with all below it. An object that is no table keeps its ID, its
// creation time and the spelling of its name.
func (tx *Tx) Set(t *Node, name string, v Value) error { return tx.SetLater(t, name, v, nil) }

// SetLater stores v like Set, but a large value or a list is not kept in memory until the
// commit. again returns the same value again when it is needed; if it is nil, SetLater is Set.
func (tx *Tx) SetLater(t *Node, name string, v Value, again func() (Value, error)) error {
	v, size, err := own(v)
	if err != nil {
		return err
	}
	n := &Node{kind: v.Kind(), size: size, value: v, dirty: true}
	if b, ok := v.(Binary); ok {
		n.typ = b.Type
	}
	if again != nil && (size > keptValue || n.kind == KindList) {
		n.value, n.later = nil, again
	}
	return tx.write(t, name, n)
}

// keptValue is the size in bytes up to which a value takes no more memory than the function that
// makes it again.
const keptValue = 512

// SetTable puts a new empty table under name into table t, in the place of
// whatever is there, even a table with all below it.
func (tx *Tx) SetTable(t *Node, name string) (*Node, error) {
	now := &Node{kind: KindTable, dirty: true}
	if err := tx.write(t, name, now); err != nil {
		return nil, err
	}
	return now, nil
}

// write puts a node that has only content yet under name into t.
func (tx *Tx) write(t *Node, name string, now *Node) error {
	if err := CheckName(name); err != nil {
		return err
	}
	t, err := tx.writable(t)
	if err != nil {
		return err
	}
	old, err := tx.stepIn(t, name)
	if err != nil {
		return err
	}
	now.ver = tx.db.nextUncommitted()
	now.modified = tx.db.options.Now().UnixNano()
	now.parent, now.up = t.id, t
	if old.exists() && old.kind != KindTable && now.kind != KindTable {
		now.id, now.created, now.name, now.fold, now.revived = old.id, old.created, old.name, old.fold, old.revived
		return tx.leave(t, now)
	}
	now.id, now.created, now.name, now.fold = now.ver, now.modified, name, old.fold
	if old.exists() {
		now.name = old.name
	}
	if err := tx.leave(t, now); err != nil {
		return err
	}
	if old.exists() {
		tx.drop(old)
	}
	return nil
}

// Remove takes what is called name out of table t, with all below it. It is no
// error when nothing is.
func (tx *Tx) Remove(t *Node, name string) error {
	t, err := tx.writable(t)
	if err != nil {
		return err
	}
	old, err := tx.stepIn(t, name)
	if err != nil || !old.exists() {
		return err
	}
	return tx.remove(t, old)
}

func (tx *Tx) remove(t, old *Node) error {
	if err := tx.leave(t, gone(t.id, old.fold)); err != nil {
		return err
	}
	tx.drop(old)
	return nil
}

// rename moves n to name in table to. Both must be present, and the place free
// but for n itself.
func (tx *Tx) rename(n, to *Node, name string) error {
	from, err := tx.parentOf(n)
	if err != nil {
		return err
	}
	if from, err = tx.writable(from); err != nil {
		return err
	}
	now := *n
	now.ver = tx.db.nextUncommitted()
	now.parent, now.up, now.name, now.fold = to.id, to, name, Fold(name)
	if from.id != to.id || n.fold != now.fold {
		if err := tx.leave(from, gone(from.id, n.fold)); err != nil {
			return err
		}
	}
	return tx.leave(to, &now)
}
