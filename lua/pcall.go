package lua

import lua "github.com/yuin/gopher-lua"

// basePcall is pcall (f, ...). It cannot catch the end of a run.
func basePcall(L *lua.LState) int {
	fn := CheckAny(L, 1)
	results, failure := guardedCall(L, fn, arguments(L, 2))
	return pushOutcome(L, results, failure)
}

// baseXpcall is xpcall (f, handler). The handler is called when the calls below
// it have been unwound; scripts have no means to tell.
func baseXpcall(L *lua.LState) int {
	handler := L.Get(2)
	if L.GetTop() < 2 {
		ArgumentError(L, 2, "value expected")
	}
	results, failure := guardedCall(L, L.Get(1), nil)
	if failure == nil {
		return pushOutcome(L, results, nil)
	}
	var again lua.LValue
	if _, ok := handler.(*lua.LFunction); ok {
		results, again = guardedCall(L, handler, []lua.LValue{failure})
	} else { // a table with __call is not a function here, see luaG_errormsg
		again = failure
	}
	if again != nil {
		failure = lua.LString("error in error handling")
	} else {
		failure = lua.LNil
		if len(results) > 0 {
			failure = results[0]
		}
	}
	return pushOutcome(L, nil, failure)
}

// guardedCall is protect for pcall: it raises again what nobody may catch.
func guardedCall(L *lua.LState, fn lua.LValue, args []lua.LValue) (results []lua.LValue, failure lua.LValue) {
	s := Of(L)
	s.guarded++
	results, failure = s.protect(L, fn, args)
	s.guarded--
	if s.err.Load() != nil {
		s.RaiseStop(L)
	}
	return results, failure
}

// arguments returns the arguments from the n-th on.
func arguments(L *lua.LState, n int) []lua.LValue {
	args := make([]lua.LValue, 0, max(0, L.GetTop()-n+1))
	for ; n <= L.GetTop(); n++ {
		args = append(args, L.Get(n))
	}
	return args
}

func pushOutcome(L *lua.LState, results []lua.LValue, failure lua.LValue) int {
	if failure != nil {
		L.Push(lua.LFalse)
		L.Push(failure)
		return 2
	}
	L.Push(lua.LTrue)
	for _, v := range results {
		L.Push(v)
	}
	return len(results) + 1
}
