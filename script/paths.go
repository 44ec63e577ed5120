package script

import (
	"slices"

	"scripter/lua"
	"scripter/objectdb"
)

// defaultPaths are the tables searched for a name when the root has no
// system.paths.
var defaultPaths = []objectdb.Address{
	{"suites"},
	{"suites", "webserver", "macros"},
	Builtins,
	{"apps"},
}

// searchPaths are the tables in which bare names are looked for after the root
// itself. All runs share one value, until something that it was made from changes.
type searchPaths struct {
	paths []searchPath
	ids   []int64 // of the tables whose changes may change the meaning of a bare name
}

// A searchPath leads from the root to a table of system.paths.
type searchPath []step

// A step is a table on a path: in the database, of verbs, or both.
type step struct {
	node  *objectdb.Node
	verbs *verbTable
}

// findPaths finds the tables of system.paths, once in a run.
func (t *Thread) findPaths() (err error) {
	switch {
	case t.search != nil:
	case t.root.node == nil:
		t.search, err = t.engine.makePaths(nil)
	default:
		t.search, err = t.engine.paths.Get(t.tx)
	}
	return err
}

// makePaths finds the tables of system.paths in the database, nil for none, and
// among the verbs.
func (e *Engine) makePaths(tx *objectdb.Tx) (*searchPaths, error) {
	addresses := defaultPaths
	found := &searchPaths{}
	if tx != nil {
		var err error
		if addresses, err = pathAddresses(tx); err != nil {
			return nil, err
		}
		found.ids = append(found.ids, tx.Root().ID())
	}
	for _, a := range addresses {
		p, err := e.walk(tx, a, found)
		if err != nil {
			return nil, err
		}
		if p != nil {
			found.paths = append(found.paths, p)
		}
	}
	_, err := e.walk(tx, pathsAddress, found)
	return found, err
}

// walk returns the path to a table, nil if there is none, and adds the ids of the
// tables on it to found.ids.
func (e *Engine) walk(tx *objectdb.Tx, a objectdb.Address, found *searchPaths) (searchPath, error) {
	at := step{verbs: e.tree}
	if tx != nil {
		at.node = tx.Root()
	}
	p := make(searchPath, 0, len(a))
	for _, name := range a {
		var next step
		if at.verbs != nil {
			next.verbs = at.verbs.cells[objectdb.Fold(name)].table
		}
		if at.node != nil {
			n, err := tx.Child(at.node, name)
			if err := unlessMissing(err); err != nil {
				return nil, err
			}
			if err == nil && n.Kind() != objectdb.KindTable {
				return nil, nil
			}
			if err == nil {
				next.node = n
			}
		}
		switch {
		case next.node == nil && next.verbs == nil:
			return nil, nil
		case next.node != nil && !slices.Contains(found.ids, next.node.ID()):
			found.ids = append(found.ids, next.node.ID())
		}
		p = append(p, next)
		at = next
	}
	return p, nil
}

// cell returns what Lua sees under name in the table at the end of the path, nil
// where there is nothing. It makes handles of the tables on the path only if the
// cell is in the database.
func (p searchPath) cell(t *Thread, name string) (lua.LValue, error) {
	end := step{t.root.node, t.root.verbs}
	if len(p) > 0 {
		end = p[len(p)-1]
	}
	if end.node != nil {
		_, err := t.tx.Child(end.node, name)
		if err == nil {
			return p.object(t).cell(name)
		}
		if unlessMissing(err) != nil {
			return nil, err
		}
	}
	if end.verbs == nil {
		return lua.LNil, nil
	}
	return t.ofVerbs(end.verbs, end.verbs.fold(name)), nil
}

// object returns the table at the end of the path.
func (p searchPath) object(t *Thread) *Object {
	o := t.root
	for _, s := range p {
		if s.node != nil {
			o = t.object(o, s.node, s.verbs)
		} else {
			o = t.virtualObject(s.verbs)
		}
	}
	return o
}

// Searched returns the tables in which bare names are looked for, in order.
func (t *Thread) Searched() ([]*Object, error) {
	if err := t.findPaths(); err != nil {
		return nil, err
	}
	list := []*Object{t.root}
	for _, p := range t.search.paths {
		list = append(list, p.object(t))
	}
	return list, nil
}

var pathsAddress = objectdb.Address{"system", "paths"}

// pathAddresses reads system.paths: a table or a list of addresses, which may
// be written as strings.
func pathAddresses(tx *objectdb.Tx) ([]objectdb.Address, error) {
	n, err := tx.Find(pathsAddress)
	if err != nil {
		return defaultPaths, unlessMissing(err)
	}
	var values []objectdb.Value
	if n.Kind() == objectdb.KindTable {
		nodes, err := tx.Children(n)
		if err != nil {
			return nil, err
		}
		for _, n := range nodes {
			if n.Kind() == objectdb.KindTable {
				continue
			}
			v, err := tx.Value(n)
			if err != nil {
				return nil, err
			}
			values = append(values, v)
		}
	} else {
		v, err := tx.Value(n)
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

// unlessMissing returns err, or nil if err says that an object does not exist.
func unlessMissing(err error) error {
	if objectdb.IsMissing(err) {
		return nil
	}
	return err
}
