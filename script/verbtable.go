package script

import (
	"slices"
	"strings"
	"sync"

	"scripter/lua"
	"scripter/objectdb"
)

// A verbTable is a table of the root that holds verbs or properties, or holds such tables.
type verbTable struct {
	address objectdb.Address
	names   []string // spelled as given, in the order of the root
	cells   map[string]verbCell
	folds   map[string]string // of the names that are not folded already, as they are spelled
	// hasVerbs says that some of the cells are verbs.
	hasVerbs bool
	// instead returns what scripts see in place of the table; nil: the table itself. It is a property.
	instead func(*Thread) Value

	once sync.Once   // makes meta
	meta *lua.LTable // metatable of a table that holds only these cells
}

// A verbCell is a cell of a verbTable. One of its fields is set.
type verbCell struct {
	table    *verbTable
	verb     *lua.LFunction
	property func(*Thread) Value
}

// fold folds a name. It makes no string for a name of the table.
func (vt *verbTable) fold(name string) string {
	if fold, ok := vt.folds[name]; ok {
		return fold
	}
	return objectdb.Fold(name)
}

// Builtins is the address of the verbs.
var Builtins = objectdb.Address{"system", "verbs", "builtins"}

// newVerbTree returns the root of the tables that lead to the verbs below the table at a, and to
// the properties; and the verbs by their functions.
func newVerbTree(a objectdb.Address, verbs []Verb, properties []Property) (*verbTable, map[*lua.LFunction]*Verb) {
	root := &verbTable{}
	functions := make(map[*lua.LFunction]*Verb, len(verbs))
	for i := range verbs {
		v := &verbs[i]
		fn := verbFunction(v)
		root.add(slices.Concat(a, strings.Split(v.Name, ".")), verbCell{verb: fn})
		functions[fn] = v
	}
	for _, p := range properties {
		if group := root.find(p.Address); group != nil {
			group.instead = p.Value
			continue
		}
		root.add(p.Address, verbCell{property: p.Value})
	}
	root.sort()
	return root, functions
}

// find returns the table at an address below vt, or nil.
func (vt *verbTable) find(a objectdb.Address) *verbTable {
	for _, name := range a {
		if vt = vt.cells[objectdb.Fold(name)].table; vt == nil {
			return nil
		}
	}
	return vt
}

// add adds a cell at an address below vt, and the tables above it.
func (vt *verbTable) add(a objectdb.Address, c verbCell) {
	for len(a) > 1 {
		sub := vt.cells[objectdb.Fold(a[0])].table
		if sub == nil {
			sub = &verbTable{address: vt.address.Child(a[0])}
			vt.addCell(a[0], verbCell{table: sub})
		}
		vt, a = sub, a[1:]
	}
	vt.addCell(a[0], c)
}

func (vt *verbTable) addCell(name string, c verbCell) {
	fold := objectdb.Fold(name)
	if _, taken := vt.cells[fold]; taken {
		panic("script: two verbs or properties are called " + vt.address.Child(name).String())
	}
	if vt.cells == nil {
		vt.cells = make(map[string]verbCell)
		vt.folds = make(map[string]string)
	}
	vt.cells[fold] = c
	vt.names = append(vt.names, name)
	if fold != name {
		vt.folds[name] = fold
	}
	vt.hasVerbs = vt.hasVerbs || c.verb != nil
}

func (vt *verbTable) sort() {
	slices.SortFunc(vt.names, func(a, b string) int {
		return strings.Compare(objectdb.Fold(a), objectdb.Fold(b))
	})
	for _, c := range vt.cells {
		if c.table != nil {
			c.table.sort()
		}
	}
}

// verbNamesMeta is the metatable of the Lua tables that hold verbs under their
// names. Scripts cannot reach such a table.
var verbNamesMeta = lua.NewMetatable()

func init() {
	lua.Define(verbNamesMeta, map[string]lua.LGFunction{"__index": verbsIndex})
}

// verbsMeta returns the metatable of objects that hold only the cells of vt. Its
// __index is a table of the verbs as they are spelled, in which the interpreter finds
// them without a call into Go. For all other names it calls [verbsIndex], which finds
// vt in e.named. All threads share the metatable. It is made on first use, because a
// process that answers one request needs few.
func (e *Engine) verbsMeta(vt *verbTable) *lua.LTable {
	vt.once.Do(func() {
		named := lua.NewTable(0, len(vt.cells))
		named.Metatable = verbNamesMeta
		for _, name := range vt.names {
			if verb := vt.cells[objectdb.Fold(name)].verb; verb != nil {
				lua.RawSet(named, lua.LString(name), verb)
			}
		}
		e.named.Store(named, vt)
		vt.meta = lua.NewTable(0, 8)
		for event, f := lua.Next(objectMeta, lua.LNil); event != lua.LNil; event, f = lua.Next(objectMeta, event) {
			lua.RawSet(vt.meta, event, f)
		}
		lua.RawSet(vt.meta, lua.LString("__index"), named)
	})
	return vt.meta
}

// verbsIndex finds in a table of verbs what is no verb, or is spelled otherwise.
func verbsIndex(L *lua.LState) int {
	t := threadOf(L)
	vt, _ := t.engine.named.Load(L.Get(1))
	o := t.virtualObject(vt.(*verbTable))
	L.Push(o.index(L, L.Get(2)))
	return 1
}
