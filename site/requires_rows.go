package site

import (
	"fmt"
	"strings"

	"scripter/objectdb"
)

// SetRequirement checks a requirement for the object at a and stores it in a row. The
// object need not exist.
func SetRequirement(tx *objectdb.Tx, a objectdb.Address, text string) error {
	text = strings.Join(strings.Fields(text), " ")
	if _, err := parseRequirement(text); err != nil {
		return err
	}
	if !HasURLs(a) {
		return noURLs(a)
	}
	name, err := rowName(a)
	if err != nil {
		return err
	}
	return tx.Put(RequireRows.Child(name), objectdb.String(text))
}

// SetPathRequirement checks a requirement for a path of URLs and stores it in a row.
func SetPathRequirement(tx *objectdb.Tx, path, text string) error {
	text = strings.Join(strings.Fields(text), " ")
	if _, err := parseRequirement(text); err != nil {
		return err
	}
	if err := checkRequirePath(path); err != nil {
		return err
	}
	return tx.Put(RequireRows.Child(path), objectdb.String(text))
}

// checkRequirePath returns an error unless a row can have a path as its name.
func checkRequirePath(path string) error {
	if clean := CleanPath(path); path == "" || path[0] != '/' || clean != path && clean+"/" != path {
		return fmt.Errorf(`%.80q is no path of URLs, such as "/members/"`, path)
	}
	return objectdb.CheckName(path)
}

// RemovePathRequirement removes the row of a path of URLs.
func RemovePathRequirement(tx *objectdb.Tx, path string) error {
	return removeRow(tx, RequireRows.Child(path))
}

// RemoveRequirement removes the row of the object at a.
func RemoveRequirement(tx *objectdb.Tx, a objectdb.Address) error {
	return removeRow(tx, RequireRows.Child(a.String()))
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
	nodes, err := readRows(tx, RequireRows)
	if err != nil {
		return nil, err
	}
	reader := reader{tx: tx}
	var list []RequireRow
	for _, n := range nodes {
		q := reader.requirement(n)
		r := RequireRow{Address: n.Name(), Text: q.Text, Closed: q.Err}
		if strings.HasPrefix(n.Name(), "/") {
			r.Idle = checkRequirePath(n.Name())
			list = append(list, r)
			continue
		}
		a, err := rowAddress(tx, n.Name())
		if a != nil && !HasURLs(a) {
			err = noURLs(a)
		}
		r.Idle = err
		list = append(list, r)
	}
	return list, reader.err
}
