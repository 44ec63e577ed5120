package objectfiles

import (
	"errors"
	"fmt"

	"scripter/objectdb"
)

// An import merges objects into tables. It writes only what differs, so that an object that
// is the same keeps its version.

// mergeTable returns the table called name in t, and makes it if it does not exist.
func (m *importer) mergeTable(t *objectdb.Node, name string) (*objectdb.Node, error) {
	n, err := m.tx.Child(t, name)
	switch {
	case errors.Is(err, objectdb.ErrNotFound):
		if err := m.reportNew(t, name, objectdb.KindTable); err != nil {
			return nil, err
		}
		return m.tx.SetTable(t, name)
	case err != nil:
		return nil, err
	case n.Kind() != objectdb.KindTable:
		return nil, fmt.Errorf("%w: %s is there", objectdb.ErrNotTable, m.tx.Address(n))
	}
	if err := m.report(stateOf(n.Name() == name), n, objectdb.KindTable, nil); err != nil {
		return nil, err
	}
	return n, m.respell(t, n, name)
}

// mergeValue stores v under name in t. reread returns v again: a large value is not kept in
// memory until the commit.
func (m *importer) mergeValue(
	t *objectdb.Node, name string, v objectdb.Value, reread func() (objectdb.Value, error),
) error {
	n, err := m.tx.Child(t, name)
	switch {
	case errors.Is(err, objectdb.ErrNotFound):
		if err := m.reportNew(t, name, v.Kind()); err != nil {
			return err
		}
		return m.tx.SetLater(t, name, v, reread)
	case err != nil:
		return err
	case n.Kind() == objectdb.KindTable:
		return fmt.Errorf("%w: %s is there", objectdb.ErrIsTable, m.tx.Address(n))
	}
	old, err := m.tx.Value(n)
	if err != nil {
		return err
	}
	equal := objectdb.Equal(old, v)
	if err := m.report(stateOf(equal && n.Name() == name), n, v.Kind(), old); err != nil {
		return err
	}
	if !equal {
		if err := m.tx.SetLater(t, name, v, reread); err != nil {
			return err
		}
	}
	return m.respell(t, n, name)
}

// respell gives an object in t the spelling name.
func (m *importer) respell(t, n *objectdb.Node, name string) error {
	if n.Name() == name {
		return nil
	}
	a := m.tx.Address(t).Child(name)
	return m.tx.Move(a, a)
}

// remove removes the object at a, if it exists and is not a table with objects in it.
func (m *importer) remove(a objectdb.Address) error {
	n, err := m.tx.Find(a)
	if errors.Is(err, objectdb.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	var old objectdb.Value
	if n.Kind() == objectdb.KindTable {
		if count, err := m.tx.Len(n); err != nil || count > 0 {
			return err
		}
	} else if old, err = m.tx.Value(n); err != nil {
		return err
	}
	if err := m.report(Removed, n, n.Kind(), old); err != nil {
		return err
	}
	return m.tx.Delete(a)
}

// stateOf returns the state of an object that exists.
func stateOf(same bool) ChangeState {
	if same {
		return Same
	}
	return Changed
}

// report counts an object that exists, and calls the function of the caller.
func (m *importer) report(s ChangeState, n *objectdb.Node, kind objectdb.Kind, old objectdb.Value) error {
	m.result.count(s)
	if m.fn == nil {
		return nil
	}
	return m.fn(Change{Address: m.tx.Address(n), State: s, Kind: kind, Old: old})
}

// reportNew is report for an object that the table t will get.
func (m *importer) reportNew(t *objectdb.Node, name string, kind objectdb.Kind) error {
	m.result.count(Added)
	if m.fn == nil {
		return nil
	}
	return m.fn(Change{Address: m.tx.Address(t).Child(name), State: Added, Kind: kind})
}
