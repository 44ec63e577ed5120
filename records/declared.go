package records

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"scripter/objectdb"
)

// Declarations is the table that has what is declared for tables, by their addresses.
var Declarations = objectdb.IndexDeclarations

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

// Declared is what is declared for a table.
type Declared struct {
	Table   objectdb.Address
	Exists  bool
	Fields  []string // of its shape
	Indexes []DeclaredIndex
}

// DeclaredIndex is an index that is declared.
type DeclaredIndex struct {
	Text  string // the fields
	Words bool   // it is for the search of words
	Built bool
}

// ReadDeclared returns what is declared for tables, in the order of their addresses.
func ReadDeclared(tx *objectdb.Tx) ([]Declared, error) {
	t, err := found(tx, Declarations)
	if err != nil || t == nil || t.Kind() != objectdb.KindTable {
		return nil, err
	}
	nodes, err := tx.Children(t)
	if err != nil {
		return nil, err
	}
	indexes, err := tx.IndexList()
	if err != nil {
		return nil, err
	}
	var list []Declared
	for _, n := range nodes {
		a, err := objectdb.ParseAddress(n.Name())
		if err != nil || n.Kind() != objectdb.KindTable {
			continue
		}
		d := Declared{Table: a}
		table, err := found(tx, a)
		if err != nil {
			return nil, err
		}
		d.Exists = table != nil && table.Kind() == objectdb.KindTable
		shape, err := child(tx, n, "shape")
		if err != nil {
			return nil, err
		}
		if shape != nil && shape.Kind() == objectdb.KindTable {
			fields, err := tx.Children(shape)
			if err != nil {
				return nil, err
			}
			for _, f := range fields {
				d.Fields = append(d.Fields, f.Name())
			}
		}
		rules, err := tx.ReadIndexes(n)
		if err != nil {
			return nil, err
		}
		for _, r := range rules {
			built := slices.ContainsFunc(indexes, func(i objectdb.IndexInfo) bool {
				return i.Built && i.Table.Equal(a) && i.Rule.String() == r.String()
			})
			d.Indexes = append(d.Indexes, DeclaredIndex{strings.Trim(Describe(r), `"`), r.Words, built})
		}
		list = append(list, d)
	}
	return list, nil
}

// DeclaredIndexes returns the indexes that are declared for a table, as they were written, and the fields that are
// searched.
func DeclaredIndexes(tx *objectdb.Tx, table objectdb.Address) (indexes, search []string, err error) {
	for what, list := range map[string]*[]string{"indexes": &indexes, "search": &search} {
		n, err := found(tx, Declaration(table, what))
		if err != nil {
			return nil, nil, err
		}
		if n == nil || n.Kind() != objectdb.KindList {
			continue
		}
		v, err := tx.Value(n)
		if err != nil {
			return nil, nil, err
		}
		for _, item := range v.(objectdb.List) {
			if s, ok := item.(objectdb.String); ok {
				*list = append(*list, string(s))
			}
		}
	}
	return indexes, search, nil
}

// SameIndex reports whether a declaration says the same as a rule.
func SameIndex(s string, r objectdb.IndexRule) bool {
	other, err := objectdb.ParseIndex(s)
	return err == nil && other.String() == r.String()
}

// DeclareIndexes declares the indexes of a table, instead of those before, and the fields that are searched.
func DeclareIndexes(tx *objectdb.Tx, table objectdb.Address, indexes, search []string) error {
	if len(indexes) > objectdb.MaxIndexes {
		return fmt.Errorf("a table has at most %d indexes", objectdb.MaxIndexes)
	}
	values, words := objectdb.List{}, objectdb.List{}
	for _, s := range indexes {
		if _, err := objectdb.ParseIndex(s); err != nil {
			return err
		}
		values = append(values, objectdb.String(s))
	}
	for _, s := range search {
		words = append(words, objectdb.String(s))
	}
	if len(search) > 0 {
		if _, err := objectdb.ParseWordIndex(search); err != nil {
			return err
		}
	}
	for what, list := range map[string]objectdb.List{"indexes": values, "search": words} {
		a := Declaration(table, what)
		if len(list) > 0 {
			if err := tx.Put(a, list); err != nil {
				return err
			}
		} else if err := tx.Delete(a); err != nil && !errors.Is(err, objectdb.ErrNotFound) {
			return err
		}
	}
	return nil
}
