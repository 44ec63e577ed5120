package script

import (
	"slices"
	"strings"

	lua "github.com/yuin/gopher-lua"

	"scripter/objectdb"
)

// A verbTable is a table of the root that holds verbs, or holds such tables.
type verbTable struct {
	address objectdb.Address
	names   []string // spelled as given, in the order of the root
	tables  map[string]*verbTable
	verbs   map[string]*lua.LFunction
}

// builtins is where the verbs are.
var builtins = objectdb.Address{"system", "verbs", "builtins"}

// newVerbTree makes the tables that lead from the root to the verbs.
func newVerbTree(verbs []Verb) *verbTable {
	root := &verbTable{}
	for i := range verbs {
		v := &verbs[i]
		at := root
		path := strings.Split(v.Name, ".")
		for _, name := range builtins {
			at = at.table(name)
		}
		for _, name := range path[:len(path)-1] {
			at = at.table(name)
		}
		at.add(path[len(path)-1], v)
	}
	root.sort()
	return root
}

func (vt *verbTable) table(name string) *verbTable {
	fold := objectdb.Fold(name)
	if sub := vt.tables[fold]; sub != nil {
		return sub
	}
	if vt.verbs[fold] != nil {
		panic("script: " + vt.address.Child(name).String() + " is a verb and a table")
	}
	if vt.tables == nil {
		vt.tables = make(map[string]*verbTable)
	}
	sub := &verbTable{address: vt.address.Child(name)}
	vt.tables[fold] = sub
	vt.names = append(vt.names, name)
	return sub
}

func (vt *verbTable) add(name string, v *Verb) {
	fold := objectdb.Fold(name)
	if vt.verbs[fold] != nil || vt.tables[fold] != nil {
		panic("script: two verbs are called " + v.Name)
	}
	if vt.verbs == nil {
		vt.verbs = make(map[string]*lua.LFunction)
	}
	vt.verbs[fold] = verbFunction(v)
	vt.names = append(vt.names, name)
}

func (vt *verbTable) sort() {
	slices.SortFunc(vt.names, func(a, b string) int {
		return strings.Compare(objectdb.Fold(a), objectdb.Fold(b))
	})
	for _, sub := range vt.tables {
		sub.sort()
	}
}
