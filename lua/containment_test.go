package lua

import (
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// bombs are scripts that gopher-lua runs for ever, or for seconds and with gigabytes of
// memory, or that end its process. Each is repeated until the time limit stops it, even
// if it catches an error.
var bombs = map[string]string{
	"find backtracking":        `("a"):rep(28):find(("a?"):rep(28) .. ("a"):rep(28) .. "b")`,
	"find polynomial":          `("a"):rep(3000):find(".-.-.-.-b$")`,
	"find long":                `("a"):rep(1e6):find(".-b")`,
	"gsub many matches":        `("ab"):rep(2e5):gsub("a", "b")`,
	"rep 1e9":                  `("x"):rep(1e9)`,
	"rep 1e10":                 `("x"):rep(1e10)`,
	"rep 1e15":                 `("xyz"):rep(1e15)`,
	"rep overflow":             `("x"):rep(1e6):rep(2^45)`,
	"pattern parentheses":      `("x"):find(("("):rep(4e6))`,
	"source braces":            `loadstring("return " .. ("{"):rep(2e6))`,
	"source parentheses":       `loadstring("return " .. ("("):rep(2e6))`,
	"source do":                `loadstring(("do "):rep(2e6))`,
	"source function":          `loadstring(("function f() "):rep(1e6))`,
	"source concat":            `loadstring("return x" .. ("..x"):rep(2e6))`,
	"source within the limit":  `loadstring(("do "):rep(8e4)) loadstring("return " .. ("("):rep(2e5)) loadstring("return x" .. ("..x"):rep(8e4))`,
	"array 67108862":           `local t = {} t[67108862] = 1`,
	"array 2^20":               `local t = {} t[2^20 - 1] = 1`,
	"array eight":              `local t = {} for i = 1, 8 do t[i] = {} t[i][67108862] = 1 end`,
	"format wide":              `string.format(("%999999d"):rep(500), unpack({}, 1, 500))`,
	"format wide as C has it":  `local t = {} for i = 1, 5000 do t[i] = i end string.format(("%99d"):rep(5000), unpack(t))`,
	"gmatch empty":             `for x in (("x"):rep(1e7)):gmatch("") do end`,
	"nested coroutines":        `local function f() coroutine.wrap(f)() end f()`,
	"sort without order":       `local t = {} for i = 1, 1e5 do t[i] = i end table.sort(t, function() return true end)`,
	"deep recursion":           `local function f() return 1 + f() end f()`,
	"__index recursion":        `local t t = setmetatable({}, {__index = function(_, k) return t[k] end}) local x = t.x`,
	"__index loop":             `local t = {} setmetatable(t, {__index = t}) local x = t.x`,
	"__tostring recursion":     `local t t = setmetatable({}, {__tostring = function() return tostring(t) end}) tostring(t)`,
	"gsub callback recursion":  `local function f(s) return s:gsub(".", f) end f("x")`,
	"sort comparison nested":   `local function f() table.sort({1, 2, 3}, f) end f()`,
	"unpack 1e9":               `unpack({}, 1, 1e9)`,
	"next loop":                `local t = {1, 2, 3} while true do local k = next(t) end`,
	"pairs and insert":         `local t = {1} for k in pairs(t) do t[#t + 1] = 1 end`,
	"xpcall handler loop":      `xpcall(error, function() while true do end end)`,
	"xpcall handler recursion": `local function h() error("x") end local function f() xpcall(h, f) end f()`,
	"load for ever":            `load(function() return " " end)`,
	"load for ever, code":      `load(function() return "x = 1 " end)`,
	"pcall recursion":          `local function f() pcall(f) end f()`,
	"concat of long strings":   `local s = ("x"):rep(8e6) local t = s .. s .. s`,
	"upper of long strings":    `local s = ("x"):rep(8e6) local t = s:upper() .. "x"`,
	"# of emptied list":        `local t = {} for i = 1, 1e5 do t[i] = i end while #t > 0 do t[#t] = nil end`,
	"# of list with nils":      `local t = {} for i = 1, 1e6 do t[i] = 1 end for i = 1e6, 2, -1 do t[i] = nothing end for i = 1, 1e9 do local n = #t end`,
}

// margin is the multiple of a limit that a run may use before a test fails. The race
// detector may need more; "make test" is exact.
const margin = 1.25

func TestBombsStopInTime(t *testing.T) {
	stopAt, most := time.Second, margin
	if !wholeLanguage() {
		stopAt, most = 40*time.Millisecond, 50
	}
	limit := time.Duration((most - 1) * float64(stopAt))
	for name, source := range bombs {
		t.Run(name, func(t *testing.T) {
			best := time.Hour
			for i := 0; i < tries && best > limit; i++ {
				best = min(best, overrun(t, source, stopAt))
			}
			assert.LessOrEqual(t, best, limit)
		})
	}
	countLanguage(t, "limits: %d bombs and %d hoards stopped within %v x the limit", len(bombs), len(hoards), margin)
}

// overrun repeats source until the time limit stops it, and returns how late it was
// stopped: in wall-clock time, or in processor time that was used after the limit,
// whichever is less. Other work on the machine lengthens the former; a garbage
// collector on another processor lengthens the latter.
func overrun(t *testing.T, source string, stopAt time.Duration) time.Duration {
	s := makeSandbox(Limits{Time: stopAt, MemoryBytes: 512 << 20, Instructions: 1 << 60, Coroutines: 1 << 30})
	defer s.Close()
	start := time.Now()
	uncounted := make(chan time.Duration, 1) // processor time until the limit, less how late that was looked up
	time.AfterFunc(stopAt, func() {
		used := processTime()
		uncounted <- used - (time.Since(start) - stopAt)
	})
	results, err := s.run("while true do pcall(function() " + source + " end) end")
	wall, used := time.Since(start)-stopAt, processTime()
	require.Error(t, err, "returned %v", results)
	assert.Equal(t, "time", LimitName(err), "%v", err)
	return min(wall, used-<-uncounted)
}

// hoards are ways to use memory. When such a script is stopped, it holds little more
// than its limit.
var hoards = map[string]string{
	"strings":    `local t = {} while true do t[#t + 1] = ("x"):rep(1e5) .. #t end`,
	"doubling":   `local t = {} while true do local s = "x" for i = 1, 22 do s = s .. s end t[#t + 1] = s end`,
	"eight ways": `local t, s = {}, ("x"):rep(2^18) while true do t[#t + 1] = s .. s .. s .. s .. s .. s .. s .. s end`,
	"tables":     `local t = {} while true do t[#t + 1] = {} end`,
	"closures":   `local t = {} while true do local n = #t t[n + 1] = function() return n end end`,
	"keys":       `local t = {} for i = 1, 1e9 do t["k" .. i] = i end`,
	"arrays":     `local t = {} while true do local u = {} u[2^16] = 1 t[#t + 1] = u end`,
	"coroutines": `local t = {} while true do t[#t + 1] = coroutine.create(function() end) end`,
}

func TestHoardsStopAtTheMemoryLimit(t *testing.T) {
	const limit = 64 << 20
	for name, source := range hoards {
		t.Run(name, func(t *testing.T) {
			const most = int64(margin * limit)
			assert.LessOrEqual(t, leastGrowth(most, func() int64 {
				s := makeSandbox(Limits{Time: patience, MemoryBytes: limit, Instructions: 1 << 60, Coroutines: 1 << 30})
				defer s.Close()
				_, err := s.run(source)
				assert.Equal(t, "memory", LimitName(err), "%v", err)
				runtime.GC()
				held := heapBytes()
				runtime.KeepAlive(s.L)
				return held
			})>>20, most>>20)
		})
	}
}
