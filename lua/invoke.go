package lua

import (
	"fmt"

	lua "github.com/yuin/gopher-lua"
)

// maxGoDepth bounds the nesting of calls that pass through Go: pcall in
// pcall, coroutine in coroutine. PUC Lua allows 200 (LUAI_MAXCCALLS).
const maxGoDepth = 195

// A callRecord is a protected call that is under way: in runs fn for from.
type callRecord struct {
	in, from *lua.LState
	fn       lua.LValue
}

// invoke calls fn in L and returns its results. An error comes back as a
// *lua.ApiError whose Object is the error value, with the calls that led to
// it, innermost first. If the budget has ended, the error is the budget's.
func invoke(L *lua.LState, fn lua.LValue, args ...lua.LValue) (results []lua.LValue, frames []Frame, err error) {
	s := Of(L)
	guarded := s.guarded
	s.guarded, s.frames = 0, nil
	results, failure := s.protect(L, fn, args)
	s.guarded, frames = guarded, s.frames
	switch end := s.Err(); {
	case end != nil:
		return nil, frames, end
	case failure != nil:
		return nil, frames, &lua.ApiError{Type: lua.ApiErrorRun, Object: failure}
	}
	return results, nil, nil
}

// protect calls fn and returns its results, or the value of the error. The call gets
// a stack of its own, because an error makes gopher-lua close the upvalues of every
// function on its stack, also of those that go on.
func (s *State) protect(L *lua.LState, fn lua.LValue, args []lua.LValue) (results []lua.LValue, failure lua.LValue) {
	if s.depth >= maxGoDepth {
		return nil, lua.LString("C stack overflow")
	}
	lent := stack{L: L}
	if !s.idle(L) {
		lent = s.stack(L)
	}
	th := lent.L
	s.depth++
	s.protected = append(s.protected, callRecord{th, L, fn})
	results, failure, whole := protectedCall(th, fn, args)
	s.protected = s.protected[:len(s.protected)-1]
	s.depth--
	if whole && th != L {
		s.spare = append(s.spare, lent)
	}
	return results, failure
}

// idle reports whether L is the main state and runs nothing, so that its own
// stack will do.
func (s *State) idle(L *lua.LState) bool {
	if s.depth > 0 || L != L.G.MainThread || L.GetTop() > 0 {
		return false
	}
	_, running := L.GetStack(0)
	return !running
}

// A stack is a state in which another state makes its protected calls. For that time it
// has the globals of the other state.
type stack struct {
	L   *lua.LState
	own *lua.Global
}

// stack returns a state that shares L's globals and has a stack of its own.
func (s *State) stack(L *lua.LState) stack {
	if last := len(s.spare) - 1; last >= 0 {
		lent := s.spare[last]
		s.spare = s.spare[:last]
		return lent
	}
	th := acquireState(s.limits.CallDepth)
	lent := stack{th, th.G}
	th.G, th.Env = L.G, L.Env
	s.use(th)
	return lent
}

// releaseStacks releases the stacks of a run that is over.
func (s *State) releaseStacks() {
	for _, lent := range s.spare {
		lent.L.G = lent.own
		releaseState(lent.L)
	}
	s.spare = nil
}

// protectedCall calls fn in th. whole reports whether th is as it was before.
func protectedCall(
	th *lua.LState, fn lua.LValue, args []lua.LValue,
) (results []lua.LValue, failure lua.LValue, whole bool) {
	defer func() {
		if !whole { // PCall itself has panicked
			failure = panicValue(recover())
		}
	}()
	th.Push(guard)
	th.Push(fn)
	for _, a := range args {
		th.Push(a)
	}
	if err := th.PCall(len(args)+1, lua.MultRet, nil); err != nil {
		return nil, panicValue(err), true
	}
	if n := th.GetTop(); n > 0 {
		results = make([]lua.LValue, n)
		for i := range results {
			results[i] = th.Get(i + 1)
		}
		th.SetTop(0)
	}
	return results, nil, true
}

// guard is the function at the bottom of a protected call. It calls its first
// argument with the others.
var guard = GoFunction(func(L *lua.LState) int {
	L.Panic = raise
	defer rescue(L)
	if fn := L.Get(1); fn.Type() != lua.LTFunction && L.GetMetaField(fn, "__call") == lua.LNil {
		fail0(L, "attempt to call a "+typeName(fn)+" value")
	}
	L.Call(L.GetTop()-1, lua.MultRet)
	return L.GetTop()
})

// rescue turns a panic in Go into an error of Lua before the stack is unwound.
func rescue(L *lua.LState) {
	switch r := recover().(type) {
	case nil:
	case *lua.ApiError:
		panic(r)
	default:
		v, ok := Of(L).overflow(L, r)
		if !ok {
			v = panicValue(r)
		}
		Throw(L, v)
	}
}

const stackOverflow = lua.LString("stack overflow")

// callsOverflow is what gopher-lua panics with if calls nest too deep.
const callsOverflow = "lua callstack overflow"

// overflow returns the error of a state that panicked with r because its calls or
// their registers were too many. It returns false if r is another panic.
func (s *State) overflow(L *lua.LState, r any) (lua.LValue, bool) {
	if panicValue(r) != stackOverflow {
		return nil, false
	}
	if r == callsOverflow {
		s.tooDeep()
	}
	if l, ok := levelAt(L, 0); ok {
		return lua.LString(l.prefix()) + stackOverflow, true
	}
	return stackOverflow, true
}

// tooDeep remembers that the limit of nested calls was reached. The message that a
// script can catch is Lua's own, which does not name the limit.
func (s *State) tooDeep() {
	err := s.limitError("depth", "%s: calls nest more than %d deep", stackOverflow, s.limits.CallDepth)
	s.Because(string(stackOverflow), err)
}

// panicValue returns the Lua value of a panic of gopher-lua.
func panicValue(r any) lua.LValue {
	switch r := r.(type) {
	case *lua.ApiError:
		return errorValue(r.Object)
	case string:
		return errorValue(lua.LString(r))
	}
	return errorValue(lua.LString(fmt.Sprint(r)))
}

// errorValue returns "stack overflow" for two panics of gopher-lua: that of a full
// call stack, and that of a call for which there were no registers left.
func errorValue(v lua.LValue) lua.LValue {
	switch v {
	case lua.LString(callsOverflow), lua.LString("runtime error: index out of range [-1]"):
		return stackOverflow
	}
	return v
}
