package site

import (
	"errors"
	"fmt"
	"strings"

	"scripter/objectdb"
)

// SetLimit checks a limit for the object at a and stores it. The object need not exist.
func SetLimit(tx *objectdb.Tx, a objectdb.Address, set *Setting, value float64) error {
	name, err := rowName(a)
	if err != nil {
		return err
	}
	if err := set.Check(objectdb.Number(value)); err != nil {
		return err
	}
	return tx.Put(LimitRows.Child(name).Child(set.Name), objectdb.Number(value))
}

// RemoveLimit removes a limit of the object at a, and its row if no limit remains.
func RemoveLimit(tx *objectdb.Tx, a objectdb.Address, set *Setting) error {
	return removeFrom(tx, LimitRows.Child(a.String()), set.Name)
}

// LimitRow is a row of [LimitRows].
type LimitRow struct {
	Address string // the address that it applies to: the name of the row
	Cells   []LimitCell
	Why     error // why it has no effect
}

// LimitCell is a cell of a row.
type LimitCell struct {
	Setting *Setting // nil: there is no such limit
	Name    string
	Value   objectdb.Value
	Why     error // why it has no effect
}

// ReadLimitRows returns all rows, with their errors.
func ReadLimitRows(tx *objectdb.Tx) ([]LimitRow, error) {
	nodes, err := readRows(tx, LimitRows)
	if err != nil {
		return nil, err
	}
	var list []LimitRow
	for _, n := range nodes {
		r, err := readLimitRow(tx, n)
		if err != nil {
			return nil, err
		}
		list = append(list, r)
	}
	return list, nil
}

// readRows returns the objects in a table whose rows are named by addresses.
func readRows(tx *objectdb.Tx, table objectdb.Address) ([]*objectdb.Node, error) {
	n, err := tx.Find(table)
	if objectdb.IsMissing(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if n.Kind() != objectdb.KindTable {
		return nil, notTable(table, n)
	}
	return tx.Children(n)
}

func notTable(a objectdb.Address, n *objectdb.Node) error {
	return fmt.Errorf("%s is a %s, not a table", a, n.Kind())
}

func readLimitRow(tx *objectdb.Tx, n *objectdb.Node) (LimitRow, error) {
	r := LimitRow{Address: n.Name()}
	if n.Kind() != objectdb.KindTable {
		r.Why = fmt.Errorf("it is a %s: a row is a table of limits", n.Kind())
		return r, nil
	}
	_, r.Why = rowAddress(tx, n.Name())
	reader := reader{tx: tx}
	r.Cells = reader.limitCells(n)
	return r, reader.err
}

// limitCells returns the cells of a row, with their errors.
func (r *reader) limitCells(row *objectdb.Node) []LimitCell {
	var cells []LimitCell
	for _, n := range r.in(row) {
		c := LimitCell{Name: n.Name()}
		if c.Setting = limitNamed(n.Name()); c.Setting == nil {
			c.Why = errors.New("there is no such limit of a script")
		} else if c.Value, c.Why = r.checked(n, c.Setting); c.Why == nil {
			c.Name = c.Setting.Name
		}
		cells = append(cells, c)
	}
	return cells
}

// rowAddress returns the address that a row applies to, and why it has no effect.
func rowAddress(tx *objectdb.Tx, row string) (objectdb.Address, error) {
	a, err := parseRowName(row)
	if err != nil {
		return nil, err
	}
	if _, err := tx.Find(a); err != nil {
		return a, fmt.Errorf("there is no %s", a)
	}
	return a, nil
}

// parseRowName returns the address that is the name of a row.
func parseRowName(row string) (objectdb.Address, error) {
	a, err := objectdb.ParseAddress(row)
	if err != nil {
		return nil, fmt.Errorf("its name is not an address: %w", err)
	}
	if !strings.EqualFold(a.String(), row) {
		return nil, fmt.Errorf("the address is written %s", a)
	}
	return a, nil
}
