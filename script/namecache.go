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
}

// namePool holds empty nameCaches. Making the tables costs more than most searches.
var namePool = sync.Pool{New: func() any {
	c := &nameCache{meta: lua.NewTable(0, 4), names: lua.NewTable(0, 8)}
	c.names.Metatable = environmentMeta
	for _, event := range [...]lua.LString{"__newindex", "__metatable"} {
		lua.RawSet(c.meta, event, lua.RawGet(environmentMeta, event))
	}
	lua.RawSet(c.meta, lua.LString("__index"), c.names)
	return c
}}

// get returns what a name means, LNil if it is not cached.
func (c *nameCache) get(name string) lua.LValue {
	if c == nil {
		return lua.LNil
	}
	return lua.RawGet(c.names, lua.LString(name))
}

// drop removes one name.
func (c *nameCache) drop(name string) {
	if c != nil {
		lua.RawSet(c.names, lua.LString(name), lua.LNil)
	}
}

// clear removes all names.
func (c *nameCache) clear() {
	if c == nil {
		return
	}
	for name, _ := lua.Next(c.names, lua.LNil); name != lua.LNil; name, _ = lua.Next(c.names, name) {
		lua.RawSet(c.names, name, lua.LNil)
	}
}

// remember caches what a name means, until forget.
func (t *Thread) remember(name string, lv lua.LValue) {
	if t.cached == nil {
		t.cached = namePool.Get().(*nameCache)
		t.state.Globals().Metatable = t.cached.meta
	}
	lua.RawSet(t.cached.names, lua.LString(name), lv)
}

// releaseNames empties the thread's nameCache and puts it into the pool.
func (t *Thread) releaseNames() {
	if t.cached != nil {
		t.cached.clear()
		namePool.Put(t.cached)
		t.cached = nil
	}
}
