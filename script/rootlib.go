package script

import "scripter/lua"

// ownFunctions replace functions of Lua's library. They know tables of the root,
// and tables whose cells the Lua table does not have yet.
var ownFunctions map[string]*lua.LFunction

func init() {
	ownFunctions = map[string]*lua.LFunction{
		"type":         lua.GoFunction(rootType),
		"pairs":        lua.GoFunction(rootPairs),
		"ipairs":       lua.GoFunction(rootIpairs),
		"next":         lua.GoFunction(rootNext),
		"rawget":       settled("rawget"),
		"rawset":       settled("rawset"),
		"setmetatable": settled("setmetatable"),
		"getmetatable": lua.GoFunction(rootGetmetatable),
		"require":      lua.GoFunction(requireScript),
	}
}

// original calls the function of Lua's library that one of ownFunctions replaces.
func original(L *lua.LState, name string) int {
	return lua.Of(L).Library(name).(*lua.LFunction).GFunction(L)
}

// settled returns a library function that first makes its argument an ordinary table.
func settled(name string) *lua.LFunction {
	return lua.GoFunction(func(L *lua.LState) int {
		settleArgument(L)
		return original(L, name)
	})
}

func settleArgument(L *lua.LState) {
	if lt, ok := L.Get(1).(*lua.LTable); ok {
		if lt == L.G.Global {
			threadOf(L).settleGlobals()
		} else if t := threadOf(L); t.rocks != nil && lt == t.rocks.globals && lt.Metatable == rocksMeta {
			t.settleRocks()
		}
		settle(L, lt)
	}
}

// settleGlobals puts ownFunctions into _G, so that a script that walks _G, or reads
// it by rawget, does not get Lua's functions of these names.
func (t *Thread) settleGlobals() {
	for name := range ownFunctions {
		if _, own := t.assigned[name]; !own {
			lua.RawSet(t.state.Globals(), lua.LString(name), t.builtin(name))
			t.assign(name)
		}
	}
}

func rootType(L *lua.LState) int {
	if objectOf(L.Get(1)) != nil {
		L.Push(lua.LString("table"))
		return 1
	}
	return original(L, "type")
}

// rootGetmetatable hides the metatables that mark tables for this package.
func rootGetmetatable(L *lua.LState) int {
	if lt, ok := L.Get(1).(*lua.LTable); ok && (lt.Metatable == lazyMeta || lt.Metatable == listMeta || lt.Metatable == rocksMeta) {
		L.Push(lua.LNil)
		return 1
	}
	return original(L, "getmetatable")
}

func rootPairs(L *lua.LState) int {
	if o := objectOf(L.Get(1)); o != nil {
		return o.iterate(L)
	}
	settleArgument(L)
	return original(L, "pairs")
}

// rootIpairs walks through the cells of a table of the root by their positions.
func rootIpairs(L *lua.LState) int {
	o := objectOf(L.Get(1))
	if o == nil {
		return original(L, "ipairs")
	}
	L.Push(ipairsStep)
	L.Push(&o.ud)
	L.Push(lua.LNumber(0))
	return 3
}

var ipairsStep = lua.GoFunction(func(L *lua.LState) int {
	o, i := objectOf(L.Get(1)), L.ToNumber(2)+1
	if o == nil {
		L.RaiseError("bad argument #1 to 'for iterator' (table of the root expected)")
	}
	lv, err := o.nth(float64(i))
	if err != nil {
		o.thread.raise(L, "", o.because("get", i, err))
	}
	if lv == lua.LNil {
		L.Push(lua.LNil)
		return 1
	}
	L.Push(i)
	L.Push(lv)
	return 2
})

func rootNext(L *lua.LState) int {
	o := objectOf(L.Get(1))
	if o == nil {
		settleArgument(L)
		return original(L, "next")
	}
	var name *string
	if s, ok := L.Get(2).(lua.LString); ok {
		name = (*string)(&s)
	}
	e, err := o.next(name)
	if err != nil {
		o.thread.raise(L, "", o.because("list", nil, err))
	}
	if e == nil {
		L.Push(lua.LNil)
		return 1
	}
	lv, err := o.value(*e)
	if err != nil {
		o.thread.raise(L, "", o.because("get", lua.LString(e.name), err))
	}
	L.Push(lua.LString(e.name))
	L.Push(lv)
	return 2
}
