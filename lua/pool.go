package lua

import (
	"sync"

	lua "github.com/yuin/gopher-lua"
)

// statePool holds Lua states that run nothing: empty registers and an empty call
// stack. Making one costs more than most requests, so clean states are used again,
// for other runs and for the stacks of protected calls. What a script can reach
// (the globals, the libraries, the metatable of strings) is made anew for each run.
var statePool sync.Pool

// registrySize is the number of registers of a new state.
const registrySize = 256

// acquireState returns a state for runs whose calls nest callDepth deep.
func acquireState(callDepth int) *lua.LState {
	if L, ok := statePool.Get().(*lua.LState); ok && L.Options.CallStackSize == callDepth {
		return L
	}
	return newLuaState(callDepth)
}

func newLuaState(callDepth int) *lua.LState {
	return lua.NewState(lua.Options{
		SkipOpenLibs:        true,
		CallStackSize:       callDepth,
		RegistrySize:        registrySize,
		RegistryMaxSize:     registryMax,
		RegistryGrowStep:    4096,
		MinimizeStackMemory: true,
	})
}

// releaseState puts a state whose run is over into the pool. It leaves a state that is
// not clean, because of an error or because its registers have grown, to the garbage
// collector.
func releaseState(L *lua.LState) {
	if !clean(L) {
		return
	}
	L.RemoveContext()
	wipe(L)
	L.Env = nil
	statePool.Put(L)
}

// wipe clears the registers and the first frames of the call stack. No script can
// read what they hold, but it would not be collected.
func wipe(L *lua.LState) {
	clear(machineOf(L).reg.array)
	L.Push(wiper)
	L.Push(lua.LNumber(lua.FramesPerSegment - 1))
	L.Call(1, 0)
}

// wiper calls itself as often as its argument says.
var wiper *lua.LFunction

func init() {
	wiper = GoFunction(func(L *lua.LState) int {
		if n := L.Get(1).(lua.LNumber); n > 1 {
			L.Push(wiper)
			L.Push(n - 1)
			L.Call(1, 0)
		}
		return 0
	})
}

// clean reports whether L runs nothing, holds nothing and has the registers
// that it began with, to which no upvalue leads.
func clean(L *lua.LState) bool {
	if _, running := L.GetStack(0); running || L.Dead || L.Parent != nil || L.GetTop() != 0 {
		return false
	}
	m := machineOf(L)
	return cap(m.reg.array) == registrySize && m.uvcache == nil
}
