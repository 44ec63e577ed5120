package lua

import (
	"slices"
	"sync"

	lua "github.com/yuin/gopher-lua"
)

// gopher-lua's own functions switch between coroutines. This file adds the limits,
// which a coroutine would escape otherwise, and PUC Lua's answers.
var machineCreate, machineResume = func() (create, resume lua.LGFunction) {
	L := lua.NewState(lua.Options{SkipOpenLibs: true, RegistrySize: 256, CallStackSize: 8, MinimizeStackMemory: true})
	lua.OpenCoroutine(L)
	t := L.Get(-1).(*lua.LTable)
	get := func(name string) lua.LGFunction { return t.RawGetString(name).(*lua.LFunction).GFunction }
	return get("create"), get("resume")
}()

// ownChunk is the chunk name of Lua code that belongs to this package.
const ownChunk = "=[Scripter]"

// bodyProto is the prototype of the function that starts a coroutine: it makes
// the coroutine raise errors in our way, and its first result tells it from
// one that has yielded.
var bodyProto = sync.OnceValue(func() *lua.FunctionProto {
	const source = "local enter, f return function (...) enter () return true, f (...) end"
	proto, err := (&normaliser{plain: true}).compile(ownChunk, source, maxSource)
	if err != nil {
		panic(err)
	}
	return proto.FunctionPrototypes[0]
})

// enter is the first thing that a coroutine calls.
var enter = GoFunction(func(L *lua.LState) int {
	L.Panic = raise
	return 0
})

// newCoroutine makes a coroutine of the function at argument 1.
func newCoroutine(L *lua.LState) *lua.LState {
	fn, ok := L.Get(1).(*lua.LFunction)
	if !ok || fn.IsG {
		ArgumentError(L, 1, "Lua function expected")
	}
	s := Of(L)
	if s.coroutines++; s.coroutines > s.limits.Coroutines {
		s.refuse(L, "coroutines", "limit of %d coroutines exceeded", s.limits.Coroutines)
	}
	body := &lua.LFunction{Env: L.Env, Proto: bodyProto(), Upvalues: []*lua.Upvalue{{}, {}}}
	body.Upvalues[0].SetValue(enter)
	body.Upvalues[1].SetValue(fn)
	L.SetTop(1)
	L.Replace(1, body)
	machineCreate(L)
	th := L.Get(-1).(*lua.LState)
	s.use(th)
	return th
}

func coroutineCreate(L *lua.LState) int {
	L.Push(newCoroutine(L))
	return 1
}

// coroutineWrap is coroutine.wrap (f).
func coroutineWrap(L *lua.LState) int {
	th := newCoroutine(L)
	L.Push(L.NewClosure(wrapped, th))
	return 1
}

func wrapped(L *lua.LState) int {
	th := L.Get(lua.UpvalueIndex(1)).(*lua.LState)
	L.Insert(th, 1)
	n := resume(L, th, false)
	if L.Get(-n) == lua.LTrue {
		return n - 1
	}
	v := L.Get(-1)
	switch m := v.(type) { // luaB_auxwrap adds where the coroutine was called
	case lua.LString:
		v = lua.LString(where(L, 1)) + m
	case lua.LNumber:
		v = lua.LString(where(L, 1) + NumberText(float64(m)))
	}
	// The frames are those of the coroutine, unless its end left none.
	s := Of(L)
	s.passing = len(s.frames) > 0
	Throw(L, v)
	return 0
}

// coroutineResume is coroutine.resume (co, ...).
func coroutineResume(L *lua.LState) int {
	th, ok := L.Get(1).(*lua.LState)
	if !ok {
		ArgumentError(L, 1, "coroutine expected")
	}
	return resume(L, th, true)
}

// resume runs the coroutine at argument 1 with the arguments after it. It
// leaves true and the results, or false and an error, on top of the stack, and
// returns how many that are. guarded says that the error ends here.
func resume(L, th *lua.LState, guarded bool) int {
	s := Of(L)
	if status := s.status(th); status != "suspended" {
		return pushFailure(L, "cannot resume "+status+" coroutine")
	}
	if s.depth >= maxGoDepth {
		return pushFailure(L, "C stack overflow")
	}
	outside := s.guarded
	if guarded {
		s.guarded++
	}
	s.depth++
	s.active = append(s.active, th)
	n := resumeMachine(L)
	s.active = s.active[:len(s.active)-1]
	s.depth--
	s.guarded = outside
	if s.err.Load() != nil {
		s.RaiseStop(L)
	}
	if th.Dead {
		s.coroutines--
	}
	switch {
	case n >= 2 && L.Get(-n) == lua.LFalse:
		v := errorValue(L.Get(-1))
		if L.Get(-1) == lua.LString(callsOverflow) {
			s.tooDeep()
		}
		L.Pop(1)
		L.Push(v)
	case th.Dead && n >= 2: // it returned: its first result is its body's own
		L.Remove(L.GetTop() - n + 2)
		n--
	}
	return n
}

// resumeMachine resumes the coroutine at argument 1. A panic of gopher-lua becomes an
// error of the coroutine.
func resumeMachine(L *lua.LState) (n int) {
	top := L.GetTop()
	if n := resultsAwaited(L.Get(1).(*lua.LState)); n >= 0 {
		L.SetTop(1 + n)
	}
	defer func() {
		if r := recover(); r != nil {
			L.G.CurrentThread = L
			L.SetTop(min(top, L.GetTop()))
			n = 2
			L.Push(lua.LFalse)
			L.Push(panicValue(r))
		}
	}()
	return machineResume(L)
}

// resultsAwaited returns the number of values that the call of yield takes in which th
// waits, or -1 for all values. gopher-lua passes on what resume was given, without
// cutting it or filling it up. Variables for which there was no value then lay above
// the top of the stack, where the next call overwrote them, and "return
// (coroutine.yield ())" returned all values.
func resultsAwaited(th *lua.LState) int {
	cf := machineOf(th).currentFrame
	if cf == nil || cf.Fn.IsG || cf.Pc == 0 { // not started
		return -1
	}
	call := instruction(cf.Fn.Proto.Code[cf.Pc-1])
	if call.op() != lua.OP_CALL {
		return -1
	}
	return wanted(call)
}

func pushFailure(L *lua.LState, message string) int {
	L.Push(lua.LFalse)
	L.Push(lua.LString(message))
	return 2
}

// status returns the state of a coroutine in the manual's words.
func (s *State) status(th *lua.LState) string {
	switch i := slices.Index(s.active, th); {
	case i >= 0 && i == len(s.active)-1:
		return "running"
	case i >= 0:
		return "normal"
	case th.Dead:
		return "dead"
	}
	return "suspended"
}

func coroutineStatus(L *lua.LState) int {
	th, ok := L.Get(1).(*lua.LState)
	if !ok {
		ArgumentError(L, 1, "coroutine expected")
	}
	L.Push(lua.LString(Of(L).status(th)))
	return 1
}

// coroutineRunning is coroutine.running (). It does not show the states in which
// protected calls run.
func coroutineRunning(L *lua.LState) int {
	if active := Of(L).active; len(active) > 0 {
		L.Push(active[len(active)-1])
	} else {
		L.Push(lua.LNil)
	}
	return 1
}

// coroutineYield is coroutine.yield (...). As in PUC Lua 5.1 there must be no
// function in Go between the coroutine's start and here: neither pcall nor sort
// nor a metamethod nor the iterator of a for.
func coroutineYield(L *lua.LState) int {
	s := Of(L)
	if len(s.active) == 0 || s.active[len(s.active)-1] != L || !s.mayYield {
		fail0(L, "attempt to yield across metamethod/C-call boundary")
	}
	return -1
}
