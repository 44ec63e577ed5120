package requestlog

import (
	"fmt"
	"strings"

	"scripter/objectdb"
	"scripter/script"
	"scripter/site"
)

// LastParams is the table of the last request's parameters (specification, 2.2 and 2.3).
var LastParams = site.LastParams

// Bounds of the parameters, in bytes: of one text, of all texts, and the size that is
// counted for an object in addition to its text.
const (
	maxParam      = 64 << 10
	maxParams     = 256 << 10
	paramOverhead = 100
)

// StoreParams stores a parameter table at [LastParams] in place of the previous one. If
// params is nil, the table there becomes empty.
func StoreParams(tx *objectdb.Tx, params *script.Table) error {
	if err := emptyTable(tx, LastParams); err != nil || params == nil {
		return err
	}
	// The parameters that repeat others are stored last: if there is not enough room,
	// the others take precedence.
	again := []string{"fields", "allFiles"}
	late := make([]script.Value, len(again))
	for i, name := range again {
		late[i] = params.Get(name)
		params.Delete(name)
	}
	s := paramStore{tx, maxParams}
	if err := s.table(LastParams, params); err != nil {
		return err
	}
	for i, name := range again {
		if err := s.value(LastParams.Child(name), late[i]); err != nil {
			return err
		}
	}
	return nil
}

// emptyTable makes the object at a an empty table. A table there remains the same object.
func emptyTable(tx *objectdb.Tx, a objectdb.Address) error {
	if n, err := tx.Find(a); err == nil && n.Kind() == objectdb.KindTable {
		children, err := tx.Children(n)
		for _, child := range children {
			if err == nil {
				err = tx.Remove(n, child.Name())
			}
		}
		return err
	} else if err == nil {
		if err := tx.Delete(a); err != nil {
			return err
		}
	}
	return tx.NewTable(a)
}

// A paramStore stores parameters up to a total size: a visitor must not be able to fill
// the disk while Debugging is on.
type paramStore struct {
	tx   *objectdb.Tx
	left int
}

// table stores a Lua table of texts, numbers, lists and tables. It adds a number to
// names that the root cannot hold or that differ only in case.
func (s *paramStore) table(a objectdb.Address, t *script.Table) error {
	for i, name := range t.Names() {
		if s.left -= len(name) + paramOverhead; s.left < 0 {
			return nil
		}
		safe := name
		if objectdb.CheckName(safe) != nil {
			safe = fmt.Sprintf("name %d", i+1)
		}
		if _, err := s.tx.Stat(a.Child(safe)); err == nil {
			safe = fmt.Sprintf("%.200s (%d)", strings.ToValidUTF8(safe, ""), i+1)
		}
		if err := s.value(a.Child(safe), t.Get(name)); err != nil {
			return err
		}
	}
	return nil
}

func (s *paramStore) value(a objectdb.Address, v script.Value) error {
	switch v := v.(type) {
	case string:
		return s.tx.Put(a, s.text(v))
	case float64:
		return s.tx.Put(a, objectdb.Number(v))
	case *script.Table:
		if v.Len() > 0 {
			return s.list(a, v)
		}
		if err := s.tx.NewTable(a); err != nil {
			return err
		}
		return s.table(a, v)
	}
	return nil
}

// list stores the values of a field.
func (s *paramStore) list(a objectdb.Address, t *script.Table) error {
	list := objectdb.List{}
	var err error
	t.Each(func(n, v script.Value) bool {
		switch v := v.(type) {
		case string:
			list = append(list, s.text(v))
		case *script.Table: // files
			err = s.value(a.Child(fmt.Sprintf("file %v", n)), v)
		}
		return err == nil && s.left > 0
	})
	if err != nil || len(list) == 0 {
		return err
	}
	return s.tx.Put(a, list)
}

func (s *paramStore) text(text string) objectdb.String {
	text = cutText(text, min(maxParam, s.left))
	s.left -= len(text)
	return objectdb.String(text)
}
