package script

import (
	lua "github.com/yuin/gopher-lua"
)

func init() {
	// An assignment t[i] fills the array up to i in one instruction that
	// nothing can stop: 2^26 by default, which is a gigabyte.
	lua.MaxArrayIndex = 1 << 20
}

const (
	// registryMax is the number of values that the registers of one coroutine
	// hold: enough for calls 10,000 deep of functions with 25 locals each.
	registryMax = 1 << 18
	// maxResults is how many values a library function gives at once, as
	// LUAI_MAXCSTACK in PUC Lua.
	maxResults = 8000
)

// newState returns a Lua state for a run under b, with globals of its own. It
// has no library yet: see installLibraries. freeState ends it.
func newState(b *budget) *lua.LState {
	L := takeShell(b.limits.CallDepth)
	L.G.Global = newLuaTable(0, 8)
	L.Env = L.G.Global
	L.G.MainThread, L.G.CurrentThread = L, L
	L.Panic = raise
	L.SetContext(b)
	return L
}

// freeState takes back a state when its run is over.
func freeState(L *lua.LState) {
	L.G.Global = nil
	L.G.CurrentThread = L
	for _, v := range [...]lua.LValue{lua.LNil, lua.LTrue, lua.LNumber(0), environmentIndexFunction, lua.LString("")} {
		L.SetMetatable(v, lua.LNil) // of the type
	}
	giveShell(L)
}
