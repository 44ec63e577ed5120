package script

import (
	"slices"
	"strings"

	"scripter/objectdb"
)

// OpenTable returns the table at an address, which need not exist: then it is empty, and the first
// assignment to one of its cells makes it. The verbs of a group are found in it where it has no cell of
// their name, and cannot be assigned. [Object.Open] makes it stand for another table.
func (t *Thread) OpenTable(a objectdb.Address, group string) (*Object, error) {
	o := &Object{thread: t, beside: t.engine.tree.find(slices.Concat(Builtins, strings.Split(group, ".")))}
	o.verbs, o.opened = &verbTable{address: a}, t.moves+1
	err := o.find()
	o.init()
	return o, err
}

// isOpen reports whether a table is one of OpenTable that nothing can have moved since it was opened.
func (o *Object) isOpen() bool { return o.opened == o.thread.moves+1 }

// Open makes a table of [Thread.OpenTable] stand for the table at another address.
func (o *Object) Open(a objectdb.Address) error {
	t := o.thread
	if o.node != nil && t.handles[o.node.ID()] == o {
		delete(t.handles, o.node.ID())
	}
	o.node, o.up = nil, nil
	o.verbs = &verbTable{address: a}
	if err := o.find(); err != nil {
		return err
	}
	o.init()
	err := t.moved()
	o.opened = t.moves + 1
	return err
}

// find finds the node of an open table, if it exists.
func (o *Object) find() error {
	t := o.thread
	n, err := t.tx.Find(o.verbs.address)
	switch {
	case objectdb.IsMissing(err):
		o.node = nil
		return nil
	case err != nil:
		return err
	}
	o.node = n
	if t.handles == nil {
		t.handles = make(map[int64]*Object, 8)
	}
	t.handles[n.ID()] = o
	return nil
}

// unmake finds the tables again that makeReal has made, after some of them may have been undone.
func (t *Thread) unmake() error {
	for _, o := range t.made {
		if o.node != nil {
			delete(t.handles, o.node.ID())
		}
		if err := o.find(); err != nil {
			return err
		}
		o.init()
	}
	if len(t.made) > 0 {
		t.virtual = nil
		t.forget()
	}
	return nil
}
