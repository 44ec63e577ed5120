package script

import (
	"errors"
	"slices"

	"scripter/objectdb"
)

// defaultPaths are the tables searched for a name when the root has no
// system.paths.
var defaultPaths = []objectdb.Address{
	{"suites"},
	{"suites", "webserver", "macros"},
	builtins,
	{"apps"},
}

// findPaths finds the tables of system.paths, once.
func (t *Thread) findPaths() error {
	if t.pathIDs != nil {
		return nil
	}
	addresses, err := t.pathAddresses()
	if err != nil {
		return err
	}
	ids := make([]int64, 0, 16)
	mark := func(o *Object) {
		if o.node != nil && !slices.Contains(ids, o.node.ID()) {
			ids = append(ids, o.node.ID())
		}
	}
	var paths []*Object
	walk := func(a objectdb.Address) (*Object, error) {
		o := t.root
		mark(o)
		for _, name := range a {
			lv, err := o.cell(name)
			if err != nil {
				return nil, err
			}
			if o = objectOf(lv); o == nil {
				return nil, nil
			}
			mark(o)
		}
		return o, nil
	}
	for _, a := range addresses {
		o, err := walk(a)
		if err != nil {
			return err
		}
		if o != nil {
			paths = append(paths, o)
		}
	}
	if _, err := walk(pathsAddress); err != nil {
		return err
	}
	t.paths, t.pathIDs = paths, ids
	return nil
}

var pathsAddress = objectdb.Address{"system", "paths"}

// pathAddresses reads system.paths: a table or a list of addresses, which may
// be written as strings.
func (t *Thread) pathAddresses() ([]objectdb.Address, error) {
	if t.root.node == nil {
		return defaultPaths, nil
	}
	system, err := t.tx.Child(t.root.node, "system")
	if err != nil {
		return defaultPaths, unlessMissing(err)
	}
	n, err := t.tx.Child(system, "paths")
	if err != nil {
		return defaultPaths, unlessMissing(err)
	}
	var values []objectdb.Value
	if n.Kind() == objectdb.KindTable {
		nodes, err := t.tx.Children(n)
		if err != nil {
			return nil, err
		}
		for _, n := range nodes {
			if n.Kind() == objectdb.KindTable {
				continue
			}
			v, err := t.tx.Value(n)
			if err != nil {
				return nil, err
			}
			values = append(values, v)
		}
	} else {
		v, err := t.tx.Value(n)
		if err != nil {
			return nil, err
		}
		list, ok := v.(objectdb.List)
		if !ok {
			list = objectdb.List{v}
		}
		values = list
	}
	addresses := make([]objectdb.Address, 0, len(values))
	for _, v := range values {
		switch v := v.(type) {
		case objectdb.Address:
			addresses = append(addresses, v)
		case objectdb.String:
			a, err := objectdb.ParseAddress(string(v))
			if err != nil {
				return nil, &objectdb.Error{Op: "search", Address: pathsAddress, Err: err}
			}
			addresses = append(addresses, a)
		}
	}
	return addresses, nil
}

// unlessMissing returns err unless it says that something is not there.
func unlessMissing(err error) error {
	if errors.Is(err, objectdb.ErrNotFound) || errors.Is(err, objectdb.ErrNotTable) {
		return nil
	}
	return err
}
