package script

import (
	"slices"
	"strings"
	"sync"

	"scripter/lua"
	"scripter/objectdb"
)

// A verbTable is a table of the root that holds verbs, or holds such tables.
type verbTable struct {
	address objectdb.Address
	names   []string // spelled as given, in the order of the root
	tables  map[string]*verbTable
	verbs   map[string]*lua.LFunction

	properties map[string]func(*Thread) Value

	folds map[string]string // of the names that are not folded already, as they are spelled

	once sync.Once   // makes meta
	meta *lua.LTable // metatable of a table that holds only these verbs
}

// fold folds a name. For those in the table nothing is made.
func (vt *verbTable) fold(name string) string {
	if fold, ok := vt.folds[name]; ok {
		return fold
	}
	return objectdb.Fold(name)
}

// Builtins is where the verbs are.
var Builtins = objectdb.Address{"system", "verbs", "builtins"}

// newVerbTree makes the tables that lead from the root to the verbs and
// properties.
func newVerbTree(verbs []Verb, properties []Property) *verbTable {
	root := &verbTable{}
	for i := range verbs {
		v := &verbs[i]
		at := root
		path := strings.Split(v.Name, ".")
		for _, name := range Builtins {
			at = at.table(name)
		}
		for _, name := range path[:len(path)-1] {
			at = at.table(name)
		}
		at.add(path[len(path)-1], v)
	}
	for i := range properties {
		p := &properties[i]
		at := root
		for _, name := range p.Address[:len(p.Address)-1] {
			at = at.table(name)
		}
		at.addProperty(p)
	}
	root.sort()
	return root
}

func (vt *verbTable) table(name string) *verbTable {
	fold := objectdb.Fold(name)
	if sub := vt.tables[fold]; sub != nil {
		return sub
	}
	if vt.verbs[fold] != nil || vt.properties[fold] != nil {
		panic("script: " + vt.address.Child(name).String() + " is a table and something else")
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

// nameVerbs notes the whole names of the verbs in vt, as Verb.Name has them.
func (vt *verbTable) nameVerbs(prefix string, names map[*lua.LFunction]string) {
	for _, name := range vt.names {
		fold := objectdb.Fold(name)
		if fn := vt.verbs[fold]; fn != nil {
			names[fn] = prefix + name
		}
		if sub := vt.tables[fold]; sub != nil {
			inner := prefix + name + "."
			if len(vt.address) < len(Builtins) {
				inner = "" // a table on the way to the verbs
			}
			sub.nameVerbs(inner, names)
		}
	}
}

func (vt *verbTable) addProperty(p *Property) {
	fold := objectdb.Fold(p.Address.Name())
	if vt.verbs[fold] != nil || vt.tables[fold] != nil || vt.properties[fold] != nil {
		panic("script: two things are called " + p.Address.String())
	}
	if vt.properties == nil {
		vt.properties = make(map[string]func(*Thread) Value)
	}
	vt.properties[fold] = p.Value
	vt.names = append(vt.names, p.Address.Name())
}

func (vt *verbTable) sort() {
	for _, name := range vt.names {
		if fold := objectdb.Fold(name); fold != name {
			if vt.folds == nil {
				vt.folds = make(map[string]string)
			}
			vt.folds[name] = fold
		}
	}
	slices.SortFunc(vt.names, func(a, b string) int {
		return strings.Compare(objectdb.Fold(a), objectdb.Fold(b))
	})
	for _, sub := range vt.tables {
		sub.sort()
	}
}

// verbsMeta is the metatable of the Lua tables that hold verbs under their
// names. No script has such a table in its hands.
var verbsMeta = lua.NewMetatable()

func init() {
	lua.Define(verbsMeta, map[string]lua.LGFunction{"__index": verbsIndex})
}

// verbsMeta gives the metatable of objects that hold only the verbs of vt: the
// interpreter finds them by itself, as they are spelled. Verbs are the same for all
// threads and for ever; for every other name it calls [verbsIndex], and named
// finds the table for that. It is made when it is first needed: a process that
// answers one request needs few.
func (e *Engine) verbsMeta(vt *verbTable) *lua.LTable {
	vt.once.Do(func() {
		named := lua.NewTable(0, len(vt.verbs))
		named.Metatable = verbsMeta
		for _, name := range vt.names {
			if verb := vt.verbs[objectdb.Fold(name)]; verb != nil {
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
