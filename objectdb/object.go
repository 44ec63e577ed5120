package objectdb

import (
	"fmt"
)

// find returns the node at a, of kind 0 if there is no object.
func (tx *Tx) find(a Address) (*Node, error) {
	if err := tx.usable(); err != nil {
		return nil, err
	}
	n := tx.root
	for _, name := range a {
		if n.kind != KindTable {
			return &Node{}, nil
		}
		next, err := tx.step(n, name)
		if err != nil {
			return nil, err
		}
		if !next.exists() {
			return next, nil
		}
		n = next
	}
	return n, nil
}

// Find returns the node at a.
func (tx *Tx) Find(a Address) (*Node, error) {
	n, err := tx.mustFind(a)
	return n, at("find", a, err)
}

func (tx *Tx) mustFind(a Address) (*Node, error) {
	n, err := tx.find(a)
	if err != nil {
		return nil, err
	}
	if !n.exists() {
		return nil, ErrNotFound
	}
	tx.readsObject(n)
	return n, nil
}

// Get returns the value at a: ErrNotFound when there is none, ErrIsTable when
// a table is there.
func (tx *Tx) Get(a Address) (Value, error) {
	n, err := tx.mustFind(a)
	if err != nil {
		return nil, at("get", a, err)
	}
	v, err := tx.Value(n)
	return v, at("get", a, err)
}

// Stat returns what is known of the object at a.
func (tx *Tx) Stat(a Address) (Object, error) {
	if _, err := tx.reader(); err != nil {
		return Object{}, at("stat", a, err)
	}
	n, err := tx.mustFind(a)
	if err == nil && n.kind == KindTable {
		err = tx.readsNames(n)
	}
	if err != nil {
		return Object{}, at("stat", a, err)
	}
	return n.object(), nil
}

// List returns what is in the table at a, in order: ErrNotTable when something
// else is there.
func (tx *Tx) List(a Address) ([]Object, error) {
	t, err := tx.mustFind(a)
	if err != nil {
		return nil, at("list", a, err)
	}
	nodes, err := tx.Children(t)
	if err != nil {
		return nil, at("list", a, err)
	}
	objects := make([]Object, len(nodes))
	for i, n := range nodes {
		objects[i] = n.object()
		if n.kind == KindTable {
			if err := tx.readsNames(n); err != nil {
				return nil, at("list", a, err)
			}
		}
	}
	return objects, nil
}

// Put stores v at a, in the place of a value of any kind, and makes the tables
// above it. If a holds a table, Put fails with ErrIsTable rather than losing
// what is inside; if something above is no table, with ErrNotTable.
func (tx *Tx) Put(a Address, v Value) error {
	return at("put", a, tx.put(a, v))
}

func (tx *Tx) put(a Address, v Value) error {
	if len(a) == 0 {
		return ErrIsTable
	}
	v, _, err := own(v)
	if err != nil {
		return err
	}
	old, err := tx.find(a)
	if err != nil {
		return err
	}
	if old.kind == KindTable {
		return ErrIsTable
	}
	t, err := tx.makeTables(a[:len(a)-1], a)
	if err != nil {
		return err
	}
	return tx.Set(t, a.Name(), v)
}

// NewTable makes a table at a, and those above it. It is fine if one is there
// already; if something else is, the error is ErrExists.
func (tx *Tx) NewTable(a Address) error {
	n, err := tx.find(a)
	if err == nil && n.exists() && n.kind != KindTable {
		err = ErrExists
	}
	if err == nil {
		_, err = tx.makeTables(a, a)
	}
	return at("make table", a, err)
}

// makeTables returns the table at a, made if need be with those above it. Nothing
// is made unless all the names that full has can be used.
func (tx *Tx) makeTables(a, full Address) (*Node, error) {
	if err := tx.usable(); err != nil {
		return nil, err
	}
	if tx.mode == viewing {
		return nil, ErrReadOnly
	}
	for _, name := range full {
		if err := CheckName(name); err != nil {
			return nil, err
		}
	}
	t := tx.root
	for i, name := range a {
		n, err := tx.step(t, name)
		if err != nil {
			return nil, err
		}
		if n.exists() && n.kind != KindTable {
			return nil, fmt.Errorf("%w: %s", ErrNotTable, a[:i+1])
		}
		if !n.exists() {
			if n, err = tx.SetTable(t, name); err != nil {
				return nil, err
			}
		}
		t = n
	}
	return t, nil
}

// Delete removes the object at a with all below it. The root cannot go.
func (tx *Tx) Delete(a Address) error {
	return at("delete", a, tx.delete(a))
}

func (tx *Tx) delete(a Address) error {
	if len(a) == 0 {
		return ErrRoot
	}
	n, err := tx.find(a)
	if err != nil {
		return err
	}
	if !n.exists() {
		return ErrNotFound
	}
	t, err := tx.parentOf(n)
	if err != nil {
		return err
	}
	if t, err = tx.writable(t); err != nil {
		return err
	}
	return tx.remove(t, n)
}

// Move moves the object at from, with all below it, to the address to, and makes the
// tables above it. Nothing may be there already (ErrExists), except
// the object itself: so the case of its name can be changed. An object cannot be
// moved to below itself.
func (tx *Tx) Move(from, to Address) error {
	return at("move", from, tx.move(from, to))
}

func (tx *Tx) move(from, to Address) error {
	n, err := tx.source(from, to)
	if err != nil {
		return err
	}
	if there, err := tx.find(to); err != nil {
		return err
	} else if there.exists() && there.id != n.id {
		return fmt.Errorf("%w: %s", ErrExists, to)
	} else if there.exists() && there.name == to.Name() {
		return nil
	}
	if n.kind == KindTable && len(to) > len(from) && to.hasPrefix(from) {
		return fmt.Errorf("%s lies below it", to)
	}
	t, err := tx.makeTables(to[:len(to)-1], to)
	if err != nil {
		return err
	}
	return tx.rename(n, t, to.Name())
}

func (tx *Tx) source(from, to Address) (*Node, error) {
	if tx.mode == viewing {
		return nil, ErrReadOnly
	}
	if len(from) == 0 || len(to) == 0 {
		return nil, ErrRoot
	}
	n, err := tx.find(from)
	if err == nil && !n.exists() {
		err = ErrNotFound
	}
	return n, err
}
