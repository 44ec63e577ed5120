package script

import (
	"sync"

	"scripter/lua"
)

// A nameCache holds what bare names of the root mean in a run. The interpreter finds
// them without a call into Go, in a table between _G and environmentIndex. Scripts
// cannot reach its tables.
type nameCache struct {
	meta  *lua.LTable // of _G, once a name is cached
	names *lua.LTable // its __index
	list  []string    // the names in it
	added int         // names so far, in all runs
}

// namePool holds empty nameCaches. Making the tables costs more than most searches.
var namePool sync.Pool

func acquireNames() *nameCache {
	if c, ok := namePool.Get().(*nameCache); ok {
		return c
	}
	c := &nameCache{meta: lua.NewTable(0, 4), names: lua.NewTable(0, 8)}
	c.names.Metatable = environmentMeta
	for _, event := range [...]string{"__newindex", "__metatable"} {
		c.meta.RawSetString(event, environmentMeta.RawGetString(event))
	}
	c.meta.RawSetString("__index", c.names)
	return c
}

// get returns what a name means, LNil if it is not cached.
func (c *nameCache) get(name string) lua.LValue {
	if c == nil {
		return lua.LNil
	}
	return c.names.RawGetString(name)
}

// drop removes one name.
func (c *nameCache) drop(name string) {
	if c != nil {
		c.names.RawSetString(name, lua.LNil)
	}
}

func (c *nameCache) clear() {
	if c == nil {
		return
	}
	for _, name := range c.list {
		c.names.RawSetString(name, lua.LNil)
	}
	clear(c.list)
	c.list = c.list[:0]
}

// mostAdded is the number of names after which a nameCache is not used again: its
// tables keep the places of their keys.
const mostAdded = 1024

// remember caches what a name means, until forget.
func (t *Thread) remember(name string, lv lua.LValue) {
	if t.cached == nil {
		t.cached = acquireNames()
		t.state.Globals().Metatable = t.cached.meta
	}
	t.cached.list = append(t.cached.list, name)
	t.cached.added++
	t.cached.names.RawSetString(name, lv)
}

// releaseNames empties the thread's nameCache and puts it into the pool.
func (t *Thread) releaseNames() {
	if c := t.cached; c != nil && c.added < mostAdded {
		c.clear()
		namePool.Put(c)
	}
	t.cached = nil
}
