package script

import "scripter/objectdb"

// A Property is a cell of the root whose value is computed each time a script
// reads it. An object of the database at the same address goes before it; the
// tables on the way to it need not be there.
type Property struct {
	Address objectdb.Address
	Doc     string
	// Value gives what the cell holds, nil for nothing.
	Value func(*Thread) Value
}
