package objectdb

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
)

// Copy puts a copy of the object at from, with all below it, to the address
// to, and makes the tables above it. Nothing may be there already (ErrExists).
func (tx *Tx) Copy(from, to Address) error {
	return at("copy", from, tx.copy(from, to))
}

func (tx *Tx) copy(from, to Address) error {
	n, err := tx.source(from, to)
	if err != nil {
		return err
	}
	if there, err := tx.find(to); err != nil {
		return err
	} else if there.exists() {
		return fmt.Errorf("%w: %s", ErrExists, to)
	}
	// The whole is read before anything is written: it may go below itself.
	read, err := tx.readTree(n)
	if err != nil {
		return err
	}
	t, err := tx.makeTables(to[:len(to)-1], to)
	if err != nil {
		return err
	}
	return tx.writeTree(t, to.Name(), read)
}

// tree is an object in memory with all below it.
type tree struct {
	name     string
	value    Value // nil: a table
	children []tree
}

func (tx *Tx) readTree(n *Node) (tree, error) {
	read := tree{name: n.name}
	if n.kind != KindTable {
		var err error
		read.value, err = tx.Value(n)
		return read, err
	}
	nodes, err := tx.listed(n)
	if err != nil {
		return read, err
	}
	read.children = make([]tree, len(nodes))
	for i, child := range nodes {
		if read.children[i], err = tx.readTree(child); err != nil {
			return read, err
		}
	}
	return read, nil
}

func (tx *Tx) writeTree(t *Node, name string, w tree) error {
	if w.value != nil {
		return tx.Set(t, name, w.value)
	}
	made, err := tx.SetTable(t, name)
	if err != nil {
		return err
	}
	for _, child := range w.children {
		if err := tx.writeTree(made, child.name, child); err != nil {
			return err
		}
	}
	return nil
}

// Walk calls fn for the object at a and all below it, each table before what is
// in it, children in order. If fn returns fs.SkipDir for a table, what is in it is
// left out; fs.SkipAll ends the walk; any other error is returned.
func (tx *Tx) Walk(a Address, fn func(Address, *Node) error) error {
	n, err := tx.mustFind(a)
	if err != nil {
		return at("walk", a, err)
	}
	if err := tx.walk(a, n, nil, fn); err != nil && !errors.Is(err, fs.SkipAll) {
		return err
	}
	return nil
}

// walk is Walk below the tables above. Only in a damaged file is n one of them.
func (tx *Tx) walk(a Address, n *Node, above []int64, fn func(Address, *Node) error) error {
	if slices.Contains(above, n.id) {
		return at("walk", a, fmt.Errorf("%w: object %d lies in itself", ErrDamaged, n.id))
	}
	err := fn(a, n)
	if n.kind != KindTable || err != nil {
		if errors.Is(err, fs.SkipDir) {
			return nil
		}
		return err
	}
	nodes, err := tx.Children(n)
	if err != nil {
		return at("walk", a, err)
	}
	for _, child := range nodes {
		if err := tx.walk(a.Child(child.name), child, append(above, n.id), fn); err != nil {
			return err
		}
	}
	return nil
}
