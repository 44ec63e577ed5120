package script

import (
	"slices"
	"strings"

	"scripter/objectdb"
)

// A Property is a cell of the root whose value is computed each time a script
// reads it. An object of the database at the same address hides it; the tables
// above it need not exist. At the address of a group of verbs, scripts see the value in
// place of the group, and the group where Value returns nil.
type Property struct {
	Address objectdb.Address
	Doc     string
	// Value returns the value of the cell, nil for nothing.
	Value func(*Thread) Value
}

// Properties returns the names of the properties in a group of verbs, in order.
func (e *Engine) Properties(group string) []string {
	vt := e.tree.find(slices.Concat(Builtins, strings.Split(group, ".")))
	if vt == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(vt.names), func(name string) bool {
		return vt.cells[objectdb.Fold(name)].property == nil
	})
}
