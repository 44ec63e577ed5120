package script

import (
	"sync"

	"scripter/lua"
)

// knownNames is what a run has found some bare names of the root to mean, where
// the interpreter finds it without a call into Go: in a table between _G and
// environmentIndex. Scripts reach neither of the two tables.
type knownNames struct {
	meta  *lua.LTable // of _G, once something is known
	names *lua.LTable // where it sends those who look for more
	list  []string    // the names in it
	added int         // names so far, in all runs
}

// spareNames are knownNames without names, for runs to come. To make the tables
// costs more than most searches.
var spareNames sync.Pool

func newKnownNames() *knownNames {
	if k, ok := spareNames.Get().(*knownNames); ok {
		return k
	}
	k := &knownNames{meta: lua.NewTable(0, 4), names: lua.NewTable(0, 8)}
	k.names.Metatable = environmentMeta
	for _, event := range [...]string{"__newindex", "__metatable"} {
		k.meta.RawSetString(event, environmentMeta.RawGetString(event))
	}
	k.meta.RawSetString("__index", k.names)
	return k
}

// get returns what a name means, LNil if that is not known.
func (k *knownNames) get(name string) lua.LValue {
	if k == nil {
		return lua.LNil
	}
	return k.names.RawGetString(name)
}

// drop forgets one name.
func (k *knownNames) drop(name string) {
	if k != nil {
		k.names.RawSetString(name, lua.LNil)
	}
}

func (k *knownNames) clear() {
	if k == nil {
		return
	}
	for _, name := range k.list {
		k.names.RawSetString(name, lua.LNil)
	}
	clear(k.list)
	k.list = k.list[:0]
}

// mostAdded is how many names the tables are used for: a Lua table that was
// emptied still knows its keys.
const mostAdded = 1024

// remember makes it known what a name means, until forget.
func (t *Thread) remember(name string, lv lua.LValue) {
	if t.known == nil {
		t.known = newKnownNames()
		t.state.Globals().Metatable = t.known.meta
	}
	t.known.list = append(t.known.list, name)
	t.known.added++
	t.known.names.RawSetString(name, lv)
}

// giveKnown empties what the thread knows, for others: its state has ended.
func (t *Thread) giveKnown() {
	if k := t.known; k != nil && k.added < mostAdded {
		k.clear()
		spareNames.Put(k)
	}
	t.known = nil
}
