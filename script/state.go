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

// newState returns a fresh Lua state that runs under b. It has no library yet:
// see installLibraries. It costs about two microseconds, so every run has its
// own and nothing has to be taken back from one.
func newState(b *budget) *lua.LState {
	L := lua.NewState(lua.Options{
		SkipOpenLibs:        true,
		CallStackSize:       b.limits.CallDepth,
		RegistrySize:        256,
		RegistryMaxSize:     registryMax,
		RegistryGrowStep:    4096,
		MinimizeStackMemory: true,
	})
	L.G.MainThread, L.G.CurrentThread = L, L
	L.Panic = raise
	L.SetContext(b)
	return L
}
