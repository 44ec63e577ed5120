package gateway

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"scripter/objectdb"
	"scripter/script/lint"
)

// Requirement returns the requirement of the object at a, "anyone" if there is none,
// and the address of its row.
func Requirement(tx *objectdb.Tx, a objectdb.Address) (text string, from objectdb.Address, err error) {
	s := readSettings(tx)
	row, err := s.requireRow(a)
	if row == nil {
		return requireAnyone, nil, err
	}
	text, err = s.requireText(row)
	return text, RequireRows.Child(row.Name()), err
}

// SetRequirement checks a requirement for the object at a and stores it in a row. The
// object need not exist.
func SetRequirement(tx *objectdb.Tx, a objectdb.Address, text string) error {
	text = strings.Join(strings.Fields(text), " ")
	if _, err := parseRequirement(text); err != nil {
		return err
	}
	if !hasURLs(a) {
		return noURLs(a)
	}
	name := a.String()
	if err := objectdb.CheckName(name); err != nil {
		return fmt.Errorf("the address %.60s… cannot be the name of a row: %w", name, err)
	}
	return tx.Put(RequireRows.Child(name), objectdb.String(text))
}

// RemoveRequirement removes the row of the object at a.
func RemoveRequirement(tx *objectdb.Tx, a objectdb.Address) error {
	return removeRow(tx, RequireRows.Child(a.String()))
}

// actionScripts is the table of the scripts of actions.
var actionScripts = objectdb.Address{"user", "webserver", "actions"}

// hasURLs reports whether a URL can lead to the object at a or to an object in it.
func hasURLs(a objectdb.Address) bool {
	for _, home := range []objectdb.Address{webserverScripts, actionScripts} {
		n := min(len(a), len(home))
		if slices.EqualFunc(a[:n], home[:n], func(x, y string) bool { return objectdb.Fold(x) == objectdb.Fold(y) }) {
			return true
		}
	}
	return false
}

func noURLs(a objectdb.Address) error {
	return fmt.Errorf("no URL leads to %s: URLs lead to objects in %s and to the actions in %s",
		a, webserverScripts, actionScripts)
}

// RequireRow is a row of [RequireRows].
type RequireRow struct {
	Address string // the address that it applies to: the name of the row
	Text    string // the requirement
	Closed  error  // why it admits nobody
	Idle    error  // why it has no effect
}

// ReadRequireRows returns all rows, with their errors.
func ReadRequireRows(tx *objectdb.Tx) ([]RequireRow, error) {
	s := readSettings(tx)
	home, err := tx.Find(RequireRows)
	if errors.Is(err, objectdb.ErrNotFound) || errors.Is(err, objectdb.ErrNotTable) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if home.Kind() != objectdb.KindTable {
		return nil, fmt.Errorf("%s is a %s, not a table", RequireRows, home.Kind())
	}
	nodes, err := tx.Children(home)
	if err != nil {
		return nil, err
	}
	var list []RequireRow
	for _, n := range nodes {
		r := RequireRow{Address: n.Name()}
		if r.Text, r.Closed = s.requireText(n); r.Closed == nil {
			_, r.Closed = parseRequirement(r.Text)
		}
		a, err := objectdb.ParseAddress(n.Name())
		switch {
		case err != nil:
			r.Idle = fmt.Errorf("its name is not an address: %w", err)
		case !strings.EqualFold(a.String(), n.Name()):
			r.Idle = fmt.Errorf("the address is written %s", a)
		case !hasURLs(a):
			r.Idle = noURLs(a)
		default:
			if _, err := tx.Find(a); err != nil {
				r.Idle = fmt.Errorf("there is no %s", a)
			}
		}
		list = append(list, r)
	}
	return list, nil
}

// lintRequires returns findings for rows that admit nobody or have no effect, if a is
// the table of rows or a table above it.
func lintRequires(s settings, a objectdb.Address) ([]lint.Finding, error) {
	if len(a) > len(RequireRows) || !strings.EqualFold(RequireRows[:len(a)].String(), a.String()) {
		return nil, nil
	}
	rows, err := ReadRequireRows(s.tx)
	if err != nil {
		return nil, err
	}
	var list []lint.Finding
	for _, r := range rows {
		at := RequireRows.Child(r.Address).String()
		if r.Closed != nil {
			list = append(list, lint.Finding{Name: at, Rule: "requires", Message: "it admits nobody: " + r.Closed.Error()})
		}
		if r.Idle != nil {
			list = append(list, lint.Finding{Name: at, Rule: "requires", Message: r.Idle.Error()})
		}
	}
	return list, nil
}

// lintRows returns findings for the tables whose rows are named by addresses.
func lintRows(s settings, a objectdb.Address) ([]lint.Finding, error) {
	list, err := lintLimits(s, a)
	if err != nil {
		return nil, err
	}
	more, err := lintRequires(s, a)
	return append(list, more...), err
}
