package script

import (
	"strings"

	"scripter/lua"
)

// rockFunctions are the globals of Lua 5.1 that only rocks have, and those that differ for them.
// rockLibraries are their libraries; what needs files, processes or the inside of the interpreter says so when
// it is called.
var (
	rockFunctions map[string]*lua.LFunction
	rockLibraries map[string]map[string]*lua.LFunction
)

const (
	noFiles     = "scripts have no files: data lies in the root"
	noProcesses = "scripts have no processes"
	noInside    = "scripts do not see the inside of the interpreter"
)

func init() {
	rockFunctions = map[string]*lua.LFunction{
		"require": lua.GoFunction(rockRequire), "module": lua.GoFunction(rockModule),
		"load": lua.GoFunction(rockLoad), "loadstring": lua.GoFunction(rockLoadstring),
		"getfenv": lua.GoFunction(rockGetfenv), "setfenv": lua.GoFunction(rockSetfenv),
		"print": lua.GoFunction(rockPrint), "collectgarbage": lua.GoFunction(rockCollectgarbage),
		"gcinfo": lua.GoFunction(rockCollectgarbage),
		"dofile": unavailable("dofile", noFiles), "loadfile": missing("loadfile", noFiles),
		"newproxy": lua.GoFunction(rockNewproxy),
	}
	rockLibraries = map[string]map[string]*lua.LFunction{
		"package": {"seeall": lua.GoFunction(rockSeeall), "loadlib": missing("package.loadlib", noFiles),
			"searchpath": missing("package.searchpath", noFiles)},
		"os": {"getenv": lua.GoFunction(func(L *lua.LState) int { L.Push(lua.LNil); return 1 }),
			"setlocale": lua.GoFunction(rockSetlocale), "exit": unavailable("os.exit", noProcesses)},
		"string": {"dump": lua.GoFunction(rockDump)},
		"io":     {"write": lua.GoFunction(rockWrite), "type": lua.GoFunction(rockIOType)},
		"debug":  {"traceback": lua.GoFunction(rockTraceback), "getinfo": lua.GoFunction(rockGetinfo)},
	}
	for _, name := range strings.Fields("open popen tmpfile") {
		rockLibraries["io"][name] = missing("io."+name, noFiles)
	}
	for _, name := range strings.Fields("lines read input output close") {
		rockLibraries["io"][name] = unavailable("io."+name, noFiles)
	}
	for _, name := range strings.Fields("remove rename tmpname") {
		rockLibraries["os"][name] = missing("os."+name, noFiles)
	}
	rockLibraries["os"]["execute"] = unavailable("os.execute", noProcesses)
	for _, name := range strings.Fields("getmetatable setmetatable") { // a protected metatable stays so
		rockLibraries["debug"][name] = lua.GoFunction(func(L *lua.LState) int { return ownFunctions[name].GFunction(L) })
	}
	for _, name := range strings.Fields("debug getfenv gethook getlocal getregistry getupvalue setfenv " +
		"sethook setlocal setupvalue upvalueid upvaluejoin getuservalue setuservalue") {
		rockLibraries["debug"][name] = unavailable("debug."+name, noInside)
	}
}

// unavailable returns a function that raises an error which says why it cannot do its work.
func unavailable(name, why string) *lua.LFunction {
	return lua.GoFunction(func(L *lua.LState) int {
		threadOf(L).fail(L, "%s: %s", name, why)
		return 0
	})
}

// missing returns a function that returns nil and a message, as functions for files do in Lua.
func missing(name, why string) *lua.LFunction {
	return lua.GoFunction(func(L *lua.LState) int {
		L.Push(lua.LNil)
		L.Push(lua.LString(name + ": " + why))
		return 2
	})
}

// fileSystem are the functions of LuaFileSystem, which many rocks name and few sites need.
var fileSystem = strings.Fields("attributes chdir currentdir dir link lock lock_dir mkdir rmdir setmode " +
	"symlinkattributes touch unlock")

// rockExtra returns what makes a module that a rock may require although it is written in C; nil for others.
func rockExtra(name string) func() lua.LValue {
	switch name {
	case "lfs":
		return func() lua.LValue {
			tb := lua.NewTable(0, len(fileSystem))
			for _, name := range fileSystem {
				lua.RawSet(tb, lua.LString(name), unavailable("lfs."+name, noFiles))
			}
			lua.RawSet(tb, lua.LString("_VERSION"), lua.LString("LuaFileSystem without files"))
			return tb
		}
	case "bit", "bit32":
		return func() lua.LValue { return bitLibrary(name) }
	}
	return nil
}

// addStreams adds the standard streams to io. Both that are written to add to the response.
func addStreams(io *lua.LTable) {
	for _, name := range []string{"stdout", "stderr", "stdin"} {
		tb := lua.NewTable(0, 8)
		for method, f := range streamMethods {
			lua.RawSet(tb, lua.LString(method), f)
		}
		if name == "stderr" {
			lua.RawSet(tb, lua.LString("write"), unavailable("io.stderr:write", "a script has no standard error"))
		}
		lua.RawSet(io, lua.LString(name), tb)
	}
}

var streamMethods map[string]*lua.LFunction

func init() {
	nothing := lua.GoFunction(func(L *lua.LState) int { L.SetTop(1); return 1 })
	streamMethods = map[string]*lua.LFunction{
		"write": lua.GoFunction(func(L *lua.LState) int {
			self := L.Get(1)
			writeArguments(L, 2, "", "")
			L.Push(self)
			return 1
		}),
		"flush": nothing, "setvbuf": nothing, "close": nothing,
		"read": unavailable("io.stdin:read", noFiles), "lines": unavailable("io.stdin:lines", noFiles),
		"seek": unavailable("seek", noFiles),
	}
	rockLibraries["io"]["flush"] = nothing
}

// writeArguments adds the arguments from first on to the response, as the verb write does.
func writeArguments(L *lua.LState, first int, between, end string) {
	t := threadOf(L)
	var b strings.Builder
	for i := first; i <= L.GetTop(); i++ {
		if i > first {
			b.WriteString(between)
		}
		L.Push(t.builtin("tostring"))
		L.Push(L.Get(i))
		L.Call(1, 1)
		b.WriteString(L.Get(-1).String())
		L.Pop(1)
	}
	b.WriteString(end)
	write, err := t.global("write")
	if f, ok := write.(*lua.LFunction); err == nil && ok {
		L.Push(f)
		L.Push(lua.LString(b.String()))
		L.Call(1, 0)
		return
	}
	t.fail(L, "there is no response to write to")
}

func rockPrint(L *lua.LState) int {
	writeArguments(L, 1, "\t", "\n")
	return 0
}

func rockWrite(L *lua.LState) int {
	writeArguments(L, 1, "", "")
	out := lua.LNil
	if io, ok := threadOf(L).rockBuiltin("io").(*lua.LTable); ok {
		out = lua.RawGet(io, lua.LString("stdout"))
	}
	L.Push(out)
	return 1
}

// rockIOType is io.type (v): there are no files.
func rockIOType(L *lua.LState) int {
	L.Push(lua.LNil)
	return 1
}

// rockSetlocale is os.setlocale ([locale]): there is only the C locale.
func rockSetlocale(L *lua.LState) int {
	switch lua.OptString(L, 1, "C") {
	case "C", "POSIX", "":
		L.Push(lua.LString("C"))
	default:
		L.Push(lua.LNil)
	}
	return 1
}

// rockCollectgarbage answers what needs no collector. The memory of a run is freed with it.
func rockCollectgarbage(L *lua.LState) int {
	L.Push(lua.LNumber(0))
	return 1
}

// rockDump is string.dump (function): the beginning of what Lua 5.1 gives, by which rocks find out what the
// machine is like. load refuses it.
func rockDump(L *lua.LState) int {
	if _, ok := L.Get(1).(*lua.LFunction); !ok {
		lua.ArgumentError(L, 1, "function expected")
	}
	L.Push(lua.LString("\x1bLua\x51\x00\x01\x04\x08\x04\x08\x00"))
	return 1
}

// rockNewproxy is newproxy ([with metatable or proxy]).
func rockNewproxy(L *lua.LState) int {
	ud := &lua.LUserData{Metatable: lua.LNil}
	switch v := L.Get(1).(type) {
	case lua.LBool:
		if v {
			ud.Metatable = lua.NewTable(0, 4)
		}
	case *lua.LUserData:
		if v.Value != nil { // an object of the root
			lua.ArgumentError(L, 1, "boolean or proxy expected")
		}
		ud.Metatable = v.Metatable
	}
	L.Push(ud)
	return 1
}

// rockLoadstring is loadstring (source [, chunkname]): the function has the globals of rocks.
func rockLoadstring(L *lua.LState) int {
	return inEnvironment(L, "loadstring", threadOf(L).rockEnvironment().globals)
}

// rockLoad is load (chunk [, chunkname [, mode [, env]]]) as Lua 5.2 has it: chunk may be a string, and the
// function gets env for its globals.
func rockLoad(L *lua.LState) int {
	env := threadOf(L).rockEnvironment().globals
	if L.GetTop() >= 4 {
		env = lua.CheckTable(L, 4)
	}
	name := "load"
	if _, ok := L.Get(1).(lua.LString); ok {
		name = "loadstring"
	}
	if L.GetTop() > 2 {
		L.SetTop(2)
	}
	return inEnvironment(L, name, env)
}

// inEnvironment calls a function of Lua's library that compiles, and gives what it returns an environment.
func inEnvironment(L *lua.LState, name string, env *lua.LTable) int {
	n := original(L, name)
	if fn, ok := L.Get(-n).(*lua.LFunction); ok && n == 1 {
		fn.Env = env
	}
	return n
}

func rockGetfenv(L *lua.LState) int {
	env := threadOf(L).rockEnvironment().globals
	if f := lua.EnvironmentArgument(L); f != nil && !f.IsG && f.Env != nil {
		env = f.Env
	}
	L.Push(env)
	return 1
}

func rockSetfenv(L *lua.LState) int {
	env := lua.CheckTable(L, 2)
	f := lua.EnvironmentArgument(L)
	if f == nil || f.IsG {
		threadOf(L).fail(L, "'setfenv' cannot change environment of given object")
	}
	f.Env = env
	L.Push(f)
	return 1
}

// rockSeeall is package.seeall (module).
func rockSeeall(L *lua.LState) int {
	m := lua.CheckTable(L, 1)
	mt, ok := m.Metatable.(*lua.LTable)
	if !ok {
		mt = lua.NewTable(0, 1)
		m.Metatable = mt
	}
	lua.RawSet(mt, lua.LString("__index"), threadOf(L).rockEnvironment().globals)
	return 0
}

// rockModule is module (name [, ...]) of Lua 5.1: it makes the table of a module, a global for it, and the
// environment of the function that calls.
func rockModule(L *lua.LState) int {
	t := threadOf(L)
	r := t.rockEnvironment()
	name := lua.CheckString(L, 1)
	m, ok := lua.RawGet(r.loaded, lua.LString(name)).(*lua.LTable)
	if !ok {
		m = r.globals
		for _, part := range strings.Split(name, ".") {
			next := lua.RawGet(m, lua.LString(part))
			if next == lua.LNil {
				next = lua.NewTable(0, 8)
				lua.RawSet(m, lua.LString(part), next)
			}
			if m, ok = next.(*lua.LTable); !ok {
				t.fail(L, "name conflict for module '%s'", name)
			}
		}
		lua.RawSet(r.loaded, lua.LString(name), m)
	}
	if lua.RawGet(m, lua.LString("_NAME")) == lua.LNil {
		lua.RawSet(m, lua.LString("_M"), m)
		lua.RawSet(m, lua.LString("_NAME"), lua.LString(name))
		lua.RawSet(m, lua.LString("_PACKAGE"), lua.LString(name[:strings.LastIndexByte(name, '.')+1]))
	}
	fn, _, ok := lua.FunctionAt(L, 1)
	if !ok || fn.IsG {
		t.fail(L, "'module' not called from a Lua function")
	}
	fn.Env = m
	for i, n := 2, L.GetTop(); i <= n; i++ {
		L.Push(L.Get(i))
		L.Push(m)
		L.Call(1, 0)
	}
	return 0
}

// rockTraceback is debug.traceback ([message]): the message. What failed where is in the log anyway.
func rockTraceback(L *lua.LState) int {
	v := L.Get(1)
	if v == lua.LNil {
		v = lua.LString("")
	}
	L.Push(v)
	return 1
}

// rockGetinfo is debug.getinfo (function or level): what does not show other functions' variables.
func rockGetinfo(L *lua.LState) int {
	fn, ok := L.Get(1).(*lua.LFunction)
	line := -1
	if !ok {
		var at int
		if n, isNumber := L.Get(1).(lua.LNumber); isNumber {
			at = int(n)
		} else {
			lua.ArgumentError(L, 1, "function or level expected")
		}
		if fn, line, ok = lua.FunctionAt(L, at); !ok {
			L.Push(lua.LNil)
			return 1
		}
	}
	info := lua.NewTable(0, 12)
	set := func(name string, lv lua.LValue) { lua.RawSet(info, lua.LString(name), lv) }
	set("func", fn)
	set("namewhat", lua.LString(""))
	set("currentline", lua.LNumber(line))
	if fn.IsG {
		set("what", lua.LString("C"))
		set("source", lua.LString("=[C]"))
		set("short_src", lua.LString("[C]"))
		set("linedefined", lua.LNumber(-1))
		set("lastlinedefined", lua.LNumber(-1))
	} else {
		what := "Lua"
		if fn.Proto.LineDefined == 0 {
			what = "main"
		}
		set("what", lua.LString(what))
		set("source", lua.LString("@"+fn.Proto.SourceName))
		set("short_src", lua.LString(fn.Proto.SourceName))
		set("linedefined", lua.LNumber(fn.Proto.LineDefined))
		set("lastlinedefined", lua.LNumber(fn.Proto.LastLineDefined))
		set("nparams", lua.LNumber(fn.Proto.NumParameters))
		set("isvararg", lua.LBool(fn.Proto.IsVarArg != 0))
	}
	set("nups", lua.LNumber(len(fn.Upvalues)))
	L.Push(info)
	return 1
}
