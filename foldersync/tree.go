package foldersync

import (
	"errors"
	"path"

	"scripter/objectdb"
	"scripter/objectfiles"
)

// rootItem is an object of the root.
type rootItem struct {
	object        // Sum is empty until it is needed
	key           string
	id, version   int64
	fileName      string // the name of its file in an export, perhaps with another suffix
	ignoredInside bool   // a table that holds ignored objects
}

// tree has the objects in the synced table of the root, without their values.
type tree struct {
	items map[string]*rootItem
	table bool // the synced table exists
}

// readTree reads the names in the synced table, and in the tables in it.
func readTree(tx *objectdb.Tx, a objectdb.Address, ignore *ignoreRules) (*tree, error) {
	t := &tree{items: map[string]*rootItem{}}
	n, err := tx.Find(a)
	if errors.Is(err, objectdb.ErrNotFound) {
		return t, nil
	}
	if err != nil {
		return nil, err
	}
	if n.Kind() != objectdb.KindTable {
		return nil, &objectdb.Error{Op: "sync", Address: a, Err: objectdb.ErrNotTable}
	}
	t.table = true
	_, err = t.read(tx, n, "", ".", ignore)
	return t, err
}

// read reads a table. It reports whether an object in it is ignored.
func (t *tree) read(tx *objectdb.Tx, table *objectdb.Node, key, dir string, ignore *ignoreRules) (bool, error) {
	nodes, err := tx.Children(table)
	if err != nil {
		return false, err
	}
	hidden := false
	for _, n := range nodes {
		isTable := n.Kind() == objectdb.KindTable
		file := fileName(n)
		name := path.Join(dir, file)
		if ignore.ignores(name, isTable) {
			hidden = true
			continue
		}
		r := &rootItem{key: childKey(key, n.Name()), id: n.ID(), version: n.Version(), fileName: file}
		r.Name = n.Name()
		t.items[r.key] = r
		if !isTable {
			continue
		}
		r.Sum = tableSum
		if r.ignoredInside, err = t.read(tx, n, r.key, name, ignore); err != nil {
			return false, err
		}
	}
	return hidden, nil
}

// fileName returns the name of the file of an object, whose value is not known. The file of an
// outline may have another suffix.
func fileName(n *objectdb.Node) string {
	var v objectdb.Value
	switch n.Kind() {
	case objectdb.KindTable:
	case objectdb.KindScript:
		v = objectdb.Script("")
	case objectdb.KindText:
		v = objectdb.Text("")
	case objectdb.KindString:
		v = objectdb.String("")
	case objectdb.KindOutline:
		v = objectdb.Outline("")
	case objectdb.KindBinary:
		v = objectdb.Binary{Type: n.Type()}
	default:
		v = objectdb.Boolean(false)
	}
	return objectfiles.FileOf(n.Name(), v).Name
}

// addressOf returns the address of an object. spelled returns the name of an object as it is spelled.
func addressOf(top objectdb.Address, key string, spelled func(key string) string) objectdb.Address {
	if key == "" {
		return top
	}
	return addressOf(top, parentKey(key), spelled).Child(spelled(key))
}
