package outbox

import (
	"slices"

	"scripter/objectdb"
)

// A Watch lists the rows that wait again and again. It reads only rows that were written since the
// last list. One goroutine uses it.
type Watch struct{ known map[string]watched }

type watched struct {
	id, version int64
	row         Row
	ok          bool
}

// Rows returns the rows that wait, those that are due first at the beginning. What cannot be read is
// left out.
func (w *Watch) Rows(tx *objectdb.Tx) ([]Row, error) {
	list, err := nodes(tx, Waiting)
	if err != nil {
		return nil, err
	}
	known := make(map[string]watched, len(list))
	rows := make([]Row, 0, len(list))
	for _, n := range list {
		if n.Kind() == objectdb.KindTable {
			continue
		}
		k := w.known[n.Name()]
		if k.id != n.ID() || k.version != n.Version() {
			v, err := tx.Value(n)
			if err != nil {
				return nil, err
			}
			k = watched{id: n.ID(), version: n.Version()}
			if k.row, err = parseRow(n.Name(), v); err == nil {
				k.ok = true
			}
		}
		known[n.Name()] = k
		if k.ok {
			rows = append(rows, k.row)
		}
	}
	w.known = known
	slices.SortStableFunc(rows, func(a, b Row) int { return a.Due().Compare(b.Due()) })
	return rows, nil
}
