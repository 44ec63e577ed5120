package lua

import (
	"sync"

	lua "github.com/yuin/gopher-lua"
)

// A shell is a Lua state without a run: registers and a call stack, all of them
// empty, and nothing that a script has a name for. To make one costs more than
// most requests, so those that are given back clean serve again, as the state
// of another run or as the stack of a protected call. What a script can reach,
// the globals, the libraries and the metatable of strings, is made anew for
// every run.
var shells sync.Pool

// registrySize is the number of registers that a state has to begin with.
const registrySize = 256

// takeShell returns a shell for runs whose calls nest callDepth deep.
func takeShell(callDepth int) *lua.LState {
	if L, ok := shells.Get().(*lua.LState); ok && L.Options.CallStackSize == callDepth {
		return L
	}
	return newShell(callDepth)
}

func newShell(callDepth int) *lua.LState {
	return lua.NewState(lua.Options{
		SkipOpenLibs:        true,
		CallStackSize:       callDepth,
		RegistrySize:        registrySize,
		RegistryMaxSize:     registryMax,
		RegistryGrowStep:    4096,
		MinimizeStackMemory: true,
	})
}

// giveShell takes back a state that nothing will run in any more. One that is
// not clean, because an error left it as it was or its registers have grown, is
// left to the garbage collector.
func giveShell(L *lua.LState) {
	if !clean(L) {
		return
	}
	L.RemoveContext()
	wipe(L)
	L.Env = nil
	shells.Put(L)
}

// wipe overwrites what values the registers and the first frames of the call
// stack still hold. No script could read them, but they would keep alive what
// the last run had.
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
