package site

import (
	"fmt"
	"slices"
	"strings"

	"scripter/objectdb"
)

// A Table is a table of the site that a command and the web page list and change row by row.
type Table struct {
	Name    string   // of the command
	Columns []string // their names
	Keys    int      // the number of columns, from the first, that name a row
	Action  int      // the column that names an action; 0: none
	rows    func(s *Snapshot) [][]string
	notes   func(s *Snapshot, row []string) []string // nil: there are none
	set     func(tx *objectdb.Tx, row []string) (warnings []string, err error)
	remove  func(tx *objectdb.Tx, keys []string) (warnings []string, err error)
}

// The tables. Treat them as constants.
var (
	ActionRows = &Table{
		Name: "actions", Columns: []string{"name", "handler", "script"}, Keys: 1,
		rows: func(s *Snapshot) (rows [][]string) {
			for _, a := range s.Actions() {
				rows = append(rows, []string{a.Name, a.Handler, a.Object.String()})
			}
			return rows
		},
		notes: func(_ *Snapshot, row []string) []string { return handlerNotes(row[1]) },
		set: func(tx *objectdb.Tx, row []string) ([]string, error) {
			return SetAction(tx, row[0], row[1])
		},
		remove: func(tx *objectdb.Tx, keys []string) ([]string, error) {
			return RemoveAction(tx, keys[0])
		},
	}
	MimeTypeRows = &Table{
		Name: "mimetypes", Columns: []string{"extension", "type", "action"}, Keys: 1, Action: 2,
		rows: func(s *Snapshot) (rows [][]string) {
			for _, m := range s.MimeTypes() {
				rows = append(rows, []string{m.Extension, m.Type, m.Action})
			}
			return rows
		},
		notes: func(s *Snapshot, row []string) []string { return s.actionNotes(row[2]) },
		set: func(tx *objectdb.Tx, row []string) ([]string, error) {
			var action *string
			if len(row) > 2 {
				action = &row[2]
			}
			return nil, SetMimeType(tx, row[0], row[1], action)
		},
		remove: func(tx *objectdb.Tx, keys []string) ([]string, error) {
			return nil, RemoveMimeType(tx, keys[0])
		},
	}
	OverrideRows = pathRows("overrides", Overrides, 2)
	IndexRows    = pathRows("index", DirectoryIndex, 0)
)

// Tables lists the tables. Treat it as a constant.
var Tables = []*Table{ActionRows, MimeTypeRows, OverrideRows, IndexRows}

// pathRows returns a table with a row for each host and path prefix.
func pathRows(name string, table objectdb.Address, action int) *Table {
	t := &Table{
		Name: name, Columns: []string{"host", "prefix", "value"}, Keys: 2, Action: action,
		rows: func(s *Snapshot) (rows [][]string) {
			for _, r := range s.PathRows(table) {
				rows = append(rows, []string{r.Host, r.Prefix, r.Value})
			}
			return rows
		},
		set: func(tx *objectdb.Tx, row []string) ([]string, error) {
			_, err := SetPathRow(tx, table, PathRow{Host: row[0], Prefix: row[1], Value: strings.Join(row[2:], " ")})
			return nil, err
		},
		remove: func(tx *objectdb.Tx, keys []string) ([]string, error) {
			return nil, RemovePathRow(tx, table, keys[0], keys[1])
		},
	}
	if action > 0 {
		t.notes = func(s *Snapshot, row []string) []string { return s.actionNotes(row[action]) }
	}
	return t
}

// Rows returns the cells of all rows, or of those that the keys name. It ignores the case of the
// first key.
func (t *Table) Rows(s *Snapshot, keys ...string) [][]string {
	rows := t.rows(s)
	if len(keys) == 0 {
		return rows
	}
	return slices.DeleteFunc(rows, func(row []string) bool {
		return !strings.EqualFold(row[0], keys[0]) || !slices.Equal(row[1:t.Keys], keys[1:])
	})
}

// Notes says what may be wrong with a row of the table.
func (t *Table) Notes(s *Snapshot, row []string) []string {
	if t.notes == nil {
		return nil
	}
	return t.notes(s, row)
}

// Set checks a row and stores it. The row has its keys and at least one more cell. What is missing
// of the others stays as it is; what is more belongs to the last column. The warnings are for the
// owner.
func (t *Table) Set(tx *objectdb.Tx, row []string) (warnings []string, err error) {
	if len(row) <= t.Keys {
		return nil, fmt.Errorf("a row of %s has more cells than its %d keys", t.Name, t.Keys)
	}
	return t.set(tx, row)
}

// Remove removes the row that the keys name. The warnings say what still needs it.
func (t *Table) Remove(tx *objectdb.Tx, keys []string) (warnings []string, err error) {
	if len(keys) != t.Keys {
		return nil, fmt.Errorf("a row of %s is named by %d keys, not by %d", t.Name, t.Keys, len(keys))
	}
	return t.remove(tx, keys)
}
