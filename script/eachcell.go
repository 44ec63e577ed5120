package script

import "scripter/objectdb"

// Field returns the cell called name of a value that is a Lua table or a table of the root, and nil if
// there is none or v is no table.
func Field(v Value, name string) (Value, error) {
	switch v := v.(type) {
	case *Table:
		return v.Get(name), nil
	case *Object:
		if v.Kind() == objectdb.KindTable {
			return v.Cell(name)
		}
	}
	return nil, nil
}

// IsTable reports whether a value is a Lua table or a table of the root.
func IsTable(v Value) bool {
	switch v := v.(type) {
	case *Table:
		return true
	case *Object:
		return v.Kind() == objectdb.KindTable
	}
	return false
}

// EachItem calls f for the items 1 to n of a Lua table, or for all cells of a table of the root in the
// order of the names, until f returns an error.
func EachItem(v Value, f func(Value) error) error {
	switch v := v.(type) {
	case *Table:
		for i := 1; i <= v.Len(); i++ {
			if err := f(v.Index(i)); err != nil {
				return err
			}
		}
	case *Object:
		last := ""
		for {
			cells, err := v.Cells(last, false, cellsAtOnce)
			if err != nil {
				return err
			}
			for _, c := range cells {
				if err := f(c.Value); err != nil {
					return err
				}
				last = c.Name
			}
			if len(cells) < cellsAtOnce {
				return nil
			}
		}
	}
	return nil
}

// cellsAtOnce is the number of cells of a table of the root that EachItem reads at a time.
const cellsAtOnce = 100
