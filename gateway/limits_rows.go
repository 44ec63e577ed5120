package gateway

import (
	"errors"
	"fmt"
	"strings"

	"scripter/objectdb"
	"scripter/script/lint"
)

// Limit is a limit as it counts for a request.
type Limit struct {
	Name  string           `json:"name"` // of its setting
	Value float64          `json:"value"`
	From  objectdb.Address `json:"-"` // where it was set
}

// Own tells that the limit was set for a script, in a row of [LimitRows].
func (l Limit) Own() bool { return len(l.From) > len(LimitRows) }

// Limits gives the limits of requests that the object at a answers, and of
// "scripter run". They are those of its row in [LimitRows], or of the row of a
// table above it, or of the settings.
func Limits(tx *objectdb.Tx, a objectdb.Address) []Limit {
	return readLimits(readSettings(tx).limitsOf(a))
}

func readLimits(l limits) []Limit {
	var list []Limit
	for _, set := range limitSettings {
		n, row := l.find(set)
		list = append(list, Limit{set.Name, n, limitAddress(set, row)})
	}
	return list
}

// traceLimits tells of the limits that differ from the settings.
func (c *attempt) traceLimits(list []Limit) {
	for _, l := range list {
		if l.Own() {
			c.request.trace("limit %s %v (%s)", l.Name, l.Value, l.From)
		}
	}
}

// SetLimit checks a limit of the object at a and puts it into its row. The
// object need not be there yet.
func SetLimit(tx *objectdb.Tx, a objectdb.Address, set *Setting, value float64) error {
	name := a.String()
	if err := objectdb.CheckName(name); err != nil {
		return fmt.Errorf("the address %.60s… cannot be the name of a row: %w", name, err)
	}
	if err := set.Check(objectdb.Number(value)); err != nil {
		return err
	}
	return tx.Put(LimitRows.Child(name).Child(set.Name), objectdb.Number(value))
}

// RemoveLimit takes a limit of the object at a away, and the row with its last one.
func RemoveLimit(tx *objectdb.Tx, a objectdb.Address, set *Setting) error {
	row := LimitRows.Child(a.String())
	if err := removeRow(tx, row.Child(set.Name)); err != nil {
		return err
	}
	cells, err := tx.List(row)
	if err == nil && len(cells) == 0 {
		err = tx.Delete(row)
	}
	return err
}

// LimitRow is a row of [LimitRows].
type LimitRow struct {
	Address string // what it is for, as its name says
	Cells   []LimitCell
	Why     error // why it has no effect
}

// LimitCell is a cell of a row.
type LimitCell struct {
	Name  string
	Value objectdb.Value
	Why   error // why it has no effect
}

// ReadLimitRows reads all rows, with what is wrong with them.
func ReadLimitRows(tx *objectdb.Tx) ([]LimitRow, error) {
	home, err := tx.Find(LimitRows)
	if errors.Is(err, objectdb.ErrNotFound) || errors.Is(err, objectdb.ErrNotTable) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if home.Kind() != objectdb.KindTable {
		return nil, fmt.Errorf("%s is a %s, not a table", LimitRows, home.Kind())
	}
	nodes, err := tx.Children(home)
	if err != nil {
		return nil, err
	}
	var list []LimitRow
	for _, n := range nodes {
		r, err := readLimitRow(readSettings(tx), n)
		if err != nil {
			return nil, err
		}
		list = append(list, r)
	}
	return list, nil
}

func readLimitRow(s settings, n *objectdb.Node) (LimitRow, error) {
	r := LimitRow{Address: n.Name()}
	if n.Kind() != objectdb.KindTable {
		r.Why = fmt.Errorf("it is a %s: a row is a table of limits", n.Kind())
		return r, nil
	}
	a, err := objectdb.ParseAddress(n.Name())
	switch {
	case err != nil:
		r.Why = fmt.Errorf("its name is no address: %w", err)
	case !strings.EqualFold(a.String(), n.Name()):
		r.Why = fmt.Errorf("the address is written %s", a)
	default:
		if _, err := s.tx.Find(a); err != nil {
			r.Why = fmt.Errorf("there is no %s", a)
		}
	}
	cells, err := s.tx.Children(n)
	if err != nil {
		return r, err
	}
	for _, c := range cells {
		cell := LimitCell{Name: c.Name()}
		set, ok := FindLimit(c.Name())
		if !ok {
			cell.Why = errors.New("there is no such limit of a script")
		} else if cell.Value, cell.Why = s.checked(c, set); cell.Why == nil {
			cell.Name = set.Name
		}
		r.Cells = append(r.Cells, cell)
	}
	return r, nil
}

// lintLimits finds rows and cells that have no effect, when a is the root, the
// rows, or a table above them.
func lintLimits(s settings, a objectdb.Address) ([]lint.Finding, error) {
	if len(a) > len(LimitRows) || !strings.EqualFold(LimitRows[:len(a)].String(), a.String()) {
		return nil, nil
	}
	rows, err := ReadLimitRows(s.tx)
	if err != nil {
		return nil, err
	}
	var list []lint.Finding
	find := func(at objectdb.Address, why error) {
		if why != nil {
			list = append(list, lint.Finding{Name: at.String(), Rule: "limit", Message: why.Error()})
		}
	}
	for _, r := range rows {
		find(LimitRows.Child(r.Address), r.Why)
		for _, c := range r.Cells {
			find(LimitRows.Child(r.Address).Child(c.Name), c.Why)
		}
	}
	return list, nil
}
