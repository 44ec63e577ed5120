package records

import (
	"errors"

	"scripter/objectdb"
)

// Declarations is the table that has what is declared for tables, by their addresses.
var Declarations = objectdb.Address{"user", "records", "tables"}

// Messages is the table with other texts than those of Problem.Text, by the names of the rules.
var Messages = objectdb.Address{"user", "records", "messages"}

// Declaration returns the place of what is declared for a table: its shape, for instance.
func Declaration(table objectdb.Address, what string) objectdb.Address {
	return Declarations.Child(table.String()).Child(what)
}

// found returns the node at an address, or nil if there is none.
func found(tx *objectdb.Tx, a objectdb.Address) (*objectdb.Node, error) {
	n, err := tx.Find(a)
	if errors.Is(err, objectdb.ErrNotFound) {
		return nil, nil
	}
	return n, err
}

// child returns the node of a name in a table, or nil.
func child(tx *objectdb.Tx, t *objectdb.Node, name string) (*objectdb.Node, error) {
	n, err := tx.Child(t, name)
	if errors.Is(err, objectdb.ErrNotFound) {
		return nil, nil
	}
	return n, err
}

// value returns the value of a name in a table, or nil. Of a table it returns none.
func value(tx *objectdb.Tx, t *objectdb.Node, name string) (objectdb.Value, error) {
	n, err := child(tx, t, name)
	if err != nil || n == nil || n.Kind() == objectdb.KindTable {
		return nil, err
	}
	return tx.Value(n)
}
