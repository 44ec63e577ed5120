package lua

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	lua "github.com/yuin/gopher-lua"
)

// The test files of Lua 5.1 come inside the gopher-lua module. They run from
// where the go command keeps it; nothing of them is copied.

// An omission is a range of lines that is not run, and why. Lines count from 1.
type omission struct {
	from, to int
	why      string
}

const (
	noDebug         = "needs debug, which shows one function the locals of another"
	platform        = "Debian's lua5.1 fails there too: a long has 64 bits"
	emptyStatement  = "PUC Lua 5.1 refuses the empty statement (;) too"
	laterMistake    = "a script with two mistakes: the grammar is looked at first, then the upvalues"
	hiddenMetatable = "the metatables of values that are no tables cannot be seen"
)

// officialFiles are the files that run, with what is left out of them.
var officialFiles = map[string][]omission{
	"calls.lua":      {{241, 241, "asks for the chunk name behind the one that messages show"}},
	"closure.lua":    {{411, 422, "the environment of a coroutine: there is no setfenv"}},
	"constructs.lua": {},
	"errors.lua": {

		{107, 107, "needs collectgarbage"}, {111, 111, "needs io"}, {152, 167, noDebug}, {238, 238, laterMistake},
	},
	"events.lua": {
		{333, 333, hiddenMetatable}, {338, 338, hiddenMetatable}, {341, 341, hiddenMetatable}, {346, 346, hiddenMetatable},
		{349, 349, hiddenMetatable}, {355, 355, hiddenMetatable},
	},
	"literals.lua": {},
	"locals.lua":   {},
	"math.lua":     {{47, 48, platform}, {52, 52, platform}, {126, 146, "needs files"}, {164, 165, "needs require, and tables of the C machine"}},
	"nextvar.lua":  {},
	"pm.lua":       {{87, 91, emptyStatement}},
	"sort.lua":     {},
	"strings.lua":  {},
	"vararg.lua":   {},
}

// officialLeftOut are the files that do not run.
var officialLeftOut = map[string]string{
	"all.lua":        "runs the others",
	"api.lua":        "tests the interface for C, by way of a library of the C tests",
	"attrib.lua":     "needs require and package, which look for files",
	"big.lua":        "needs strings of more than 2 GB and require",
	"checktable.lua": "looks into the tables of the C machine, by way of a library of the C tests",
	"code.lua":       "looks at the code of the C compiler, by way of a library of the C tests",
	"db.lua":         noDebug,
	"files.lua":      "needs files",
	"gc.lua":         "needs collectgarbage, gcinfo and weak tables",
	"main.lua":       "starts the program lua as a process",
	"verybig.lua":    "writes a file and runs it with dofile",
}

func TestOfficialFiles(t *testing.T) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/yuin/gopher-lua").Output()
	require.NoError(t, err)
	folder := filepath.Join(strings.TrimSpace(string(out)), "_lua5.1-tests")
	found, err := filepath.Glob(filepath.Join(folder, "*.lua"))
	require.NoError(t, err)
	var all []string
	for name := range officialFiles {
		all = append(all, name)
	}
	for name := range officialLeftOut {
		all = append(all, name)
	}
	lines, omitted := 0, 0
	for _, path := range found {
		name := filepath.Base(path)
		require.Contains(t, all, name, "a file that nothing is said of")
		all = slices.DeleteFunc(all, func(s string) bool { return s == name })
		omissions, runs := officialFiles[name]
		if !runs {
			continue
		}
		if name == "constructs.lua" && !wholeLanguage() {
			continue // seconds, and minutes with the race detector
		}
		t.Run(name, func(t *testing.T) {
			source, err := os.ReadFile(path)
			require.NoError(t, err)
			text := strings.Split(string(source), "\n")
			lines += len(text)
			for _, o := range omissions {
				require.LessOrEqual(t, o.to, len(text), o.why)
				omitted += o.to - o.from + 1
				clear(text[o.from-1 : o.to])
			}
			runOfficial(t, name, strings.Join(text, "\n"))
		})
	}
	assert.Empty(t, all, "files that are not there")
	countLanguage(t, "official test files of Lua 5.1: %d run, %d left out; %d of %d lines left out of those that run",
		len(officialFiles), len(officialLeftOut), omitted, lines)
}

func runOfficial(t *testing.T, name, source string) {
	s := makeSandbox(Limits{
		Time: 5 * time.Minute, Instructions: 1 << 40, MemoryBytes: 1 << 30, StringBytes: 64 << 20, SourceBytes: 4 << 20, Coroutines: 1 << 20,
	})
	defer s.Close()
	for global, f := range standIns {
		s.L.G.Global.RawSetString(global, GoFunction(f))
	}
	debug := s.L.NewTable()
	debug.RawSetString("getinfo", GoFunction(standInGetinfo))
	debug.RawSetString("setmetatable", GoFunction(func(L *lua.LState) int {
		L.SetMetatable(L.Get(1), L.Get(2))
		return 0
	}))
	s.L.G.Global.RawSetString("debug", debug)
	library(s.L, "os").(*lua.LTable).RawSetString("setlocale", GoFunction(func(*lua.LState) int { return 0 }))
	proto, err := Compile(name, source)
	require.NoError(t, err)
	_, frames, err := invoke(s.L, s.L.NewFunctionFromProto(proto))
	require.NoError(t, err, "%v", frames)
}

// standIns are functions that the tests use and scripts do not have. They are
// here so that the tests around them can run.
var standIns = map[string]lua.LGFunction{
	"collectgarbage": func(L *lua.LState) int {
		L.Push(lua.LNumber(0))
		return 1
	},
	"getfenv": func(L *lua.LState) int {
		if f := functionArgument(L); f != nil && !f.IsG {
			L.Push(f.Env)
		} else {
			L.Push(L.Env)
		}
		return 1
	},
	"setfenv": func(L *lua.LState) int {
		f := functionArgument(L)
		if f == nil {
			L.Env = CheckTable(L, 2)
			return 0
		}
		if f.IsG {
			fail(L, "'setfenv' cannot change environment of given object")
		}
		f.Env = CheckTable(L, 2)
		L.Push(f)
		return 1
	},
}

// functionArgument returns the function that argument 1 is or is the level of,
// nil for level 0.
func functionArgument(L *lua.LState) *lua.LFunction {
	if f, ok := L.Get(1).(*lua.LFunction); ok {
		return f
	}
	if l, ok := levelAt(L, optInt(L, 1, 1)); ok && optInt(L, 1, 1) > 0 {
		return l.fn
	}
	return nil
}

// standInGetinfo is debug.getinfo (function or level).
func standInGetinfo(L *lua.LState) int {
	l := level{fn: functionArgument(L)}
	if _, ok := L.Get(1).(lua.LNumber); ok {
		l, _ = levelAt(L, CheckInt(L, 1))
	}
	info := L.NewTable()
	info.RawSetString("source", lua.LString(l.fn.Proto.SourceName))
	info.RawSetString("linedefined", lua.LNumber(l.fn.Proto.LineDefined))
	info.RawSetString("currentline", lua.LNumber(plainLine(l.line)))
	_, name := splitName(l.name)
	info.RawSetString("name", lua.LString(name))
	L.Push(info)
	return 1
}
