package lua

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// endless has every known way to outlive a deadline or to swallow its error.
var endless = map[string]string{
	"loop":             `while true do end`,
	"repeat":           `repeat until false`,
	"for":              `for i = 1, math.huge do end`,
	"recursion":        `local function f() return f() end f()`,
	"pcall":            `while true do pcall(function() while true do end end) end`,
	"pcall swallowed":  `pcall(function() while true do end end) return "SWALLOWED"`,
	"nested pcall":     `local function f() pcall(f) while true do end end f()`,
	"xpcall":           `xpcall(function() while true do end end, function() while true do end end) return "SWALLOWED"`,
	"xpcall handler":   `xpcall(error, function() while true do end end) return "SWALLOWED"`,
	"coroutine":        `coroutine.wrap(function() while true do end end)() return "SWALLOWED"`,
	"resume":           `coroutine.resume(coroutine.create(function() while true do end end)) return "SWALLOWED"`,
	"ping pong":        `local c = coroutine.wrap(function() while true do coroutine.yield() end end) while true do c() end`,
	"nested coroutine": `local function f() pcall(coroutine.wrap(f)) while true do end end f()`,
	"new coroutines":   `while true do pcall(coroutine.create, function() end) end`,
	"__index":          `local t = setmetatable({}, {__index = function(t, k) while true do end end}) return t.x`,
	"__index chain":    `local t t = setmetatable({}, {__index = function(_, k) return t[k + 1] end}) pcall(function() return t[1] end) while true do pcall(function() return t[1] end) end`,
	"__newindex":       `setmetatable({}, {__newindex = function() while true do end end}).x = 1`,
	"__add":            `return setmetatable({}, {__add = function() while true do end end}) + 1`,
	"__concat":         `return setmetatable({}, {__concat = function() while true do end end}) .. ""`,
	"__eq":             `local m = {__eq = function() while true do end end} return setmetatable({}, m) == setmetatable({}, m)`,
	"__lt":             `local m = {__lt = function() while true do end end} return setmetatable({}, m) < setmetatable({}, m)`,
	"__call":           `setmetatable({}, {__call = function() while true do end end})()`,
	"__len":            `return #setmetatable({}, {__len = function() while true do end end})`,
	"__tostring":       `return tostring(setmetatable({}, {__tostring = function() while true do end end}))`,
	"sort":             `table.sort({3, 2, 1}, function() while true do end end)`,
	"sort long":        `local t = {} for i = 1, 1e6 do t[i] = -i end while true do table.sort(t, function(a, b) return a < b end) end`,
	"gsub":             `string.gsub("x", "x", function() while true do end end)`,
	"gsub table":       `string.gsub("x", "x", setmetatable({}, {__index = function() while true do end end}))`,
	"gmatch":           `for w in string.gmatch(("x"):rep(1e6), "x") do while true do end end`,
	"iterator":         `for k in function() return 1 end do end`,
	"next":             `local t = {1} while true do next(t) end`,
	"load pieces":      `load(function() return " " end) while true do end`,
	"load":             `while true do loadstring(("x = 1 "):rep(1000)) end`,
	"foreach":          `while true do table.foreach({1, 2, 3}, function() end) end`,
	"foreach inside":   `table.foreach({1}, function() while true do end end)`,
	"backtracking":     `while true do pcall(string.find, ("a"):rep(30), ("a?"):rep(30) .. ("a"):rep(30) .. "b") end`,
	"backtracking 2":   `while true do pcall(string.find, ("a"):rep(3000), ".-.-.-.-b$") end`,
	"scanning":         `local s = ("a"):rep(1e6) while true do pcall(string.find, s, ".-b") end`,
	"gsub large":       `local s = ("ab"):rep(1e6) while true do s:gsub("a", "b") end`,
	"concat":           `local t = {} for i = 1, 1e5 do t[i] = "abcdefghij" end while true do table.concat(t) end`,
	"strings":          `local s = ("x"):rep(8e6) while true do local u = s:upper() end`,
	"doubling":         `while true do pcall(function() local s = "x" while true do s = s .. s end end) end`,
	"array fill":       `while true do local t = {} t[2^20 - 1] = 1 end`,
	"insert first":     `local t = {} while true do table.insert(t, 1, 1) end`,
	"remove first":     `local t = {} for i = 1, 1e6 do t[i] = i end while true do table.remove(t, 1) table.insert(t, 1) end`,
	"unpack":           `local t = {} for i = 1, 5000 do t[i] = i end while true do select("#", unpack(t)) end`,
	"format":           `while true do string.format("%99d%99d%99d", 1, 2, 3) end`,
	"maxn":             `local t = {} for i = 1, 1e5 do t[-i] = i end while true do table.maxn(t) end`,
	"error loop":       `while true do pcall(error, {}) end`,
	"closures":         `while true do local x = function() end end`,
	"date":             `while true do os.date() end`,
	"random":           `while true do math.random(10) end`,
}

func TestEndlessScriptsEndAtTheDeadline(t *testing.T) {
	for name, source := range endless {
		t.Run(name, func(t *testing.T) {
			s := newSandbox(t, Limits{Time: 30 * time.Millisecond, MemoryBytes: 256 << 20, Instructions: 1 << 60})
			start := time.Now()
			results, err := s.run(source)
			took := time.Since(start)
			require.Error(t, err, "returned %v", results)
			assert.Equal(t, "time", LimitName(err), "%v", err)
			assert.ErrorContains(t, err, "time limit of 30ms exceeded")
			// How soon it ends is measured by TestBombsStopInTime, without the
			// race detector; here a busy machine must not matter.
			assert.Less(t, took, 20*time.Second)
		})
	}
}

// Specification: 8.3
func TestLimitsAreNamed(t *testing.T) {
	for limit, c := range map[string]struct {
		limits Limits
		source string
	}{
		"time":         {Limits{Time: 20 * time.Millisecond}, `while true do end`},
		"instructions": {Limits{Instructions: 100_000}, `while true do end`},
		"memory":       {Limits{Time: patience, MemoryBytes: 48 << 20, Instructions: 1 << 60}, `local t = {} for i = 1, 1e8 do t[i % 1e6 + 1] = {i, i} t["k" .. i] = i end`},
	} {
		t.Run(limit, func(t *testing.T) {
			s := newSandbox(t, c.limits)
			_, err := s.run(c.source)
			require.Error(t, err)
			assert.Equal(t, limit, LimitName(err), "%v", err)
			assert.ErrorContains(t, err, limit)
			_, err = s.run(`return 1`)
			assert.Equal(t, limit, LimitName(err), "an ended budget stays so")
		})
	}
}

// These limits are errors that a script may catch.
func TestLimitsThatAScriptCanCatch(t *testing.T) {
	for name, c := range map[string]struct{ source, want string }{
		"rep":         {`return pcall(string.rep, "x", 1e9)`, "false string length limit of 16777216 bytes exceeded"},
		"rep 1e15":    {`return pcall(string.rep, "xyz", 1e15)`, "false string length limit of 16777216 bytes exceeded"},
		"concat":      {`local s = ("x"):rep(2^24) return pcall(function() return s .. s end)`, "false test:1: string length limit of 16777216 bytes exceeded"},
		"doubling":    {`local s = "x" return pcall(function() while true do s = s .. s end end)`, "false test:1: string length limit of 16777216 bytes exceeded"},
		"table":       {`local t = {} for i = 1, 40 do t[i] = ("x"):rep(2^20) end return pcall(table.concat, t)`, "false string length limit of 16777216 bytes exceeded"},
		"gsub":        {`local s = ("x"):rep(2^20) return pcall(string.gsub, s, "x", ("y"):rep(100))`, "false string length limit of 16777216 bytes exceeded"},
		"format":      {`local s = ("x"):rep(2^23) return pcall(string.format, "%s%s%s", s, s, s)`, "false string length limit of 16777216 bytes exceeded"},
		"patterns":    {`return pcall(string.find, ("a"):rep(40), ("a?"):rep(40) .. ("a"):rep(40) .. "b")`, "false limit of 20000000 pattern steps exceeded"},
		"parentheses": {`return pcall(string.find, "x", ("("):rep(4e6))`, "false too many captures"},
		"pattern":     {`return pcall(string.find, ("a"):rep(1e5), ("a?"):rep(1e5))`, "false pattern too complex"},
		"recursion":   {`local function f() return 1 + f() end return pcall(f)`, "false test:1: stack overflow"},
		"unpack":      {`return pcall(unpack, {}, 1, 1e9)`, "false too many results to unpack"},
		"registers":   {`local function f(n, ...) return 1 + f(n, unpack({}, 1, n)) end return pcall(f, 8000)`, "false test:1: stack overflow"},
		"pcalls":      {`local function f() return pcall(f) end local t = {f()} return t[#t], #t`, "C stack overflow 196"},
		"coroutines":  {`local n = 0 local ok, e = pcall(function() while true do coroutine.create(function() end) n = n + 1 end end) return n, e`, "1000 test:1: limit of 1000 coroutines exceeded"},
		"ended":       {`for i = 1, 3000 do coroutine.wrap(function() end)() pcall(coroutine.wrap(function() error() end)) end return "all"`, "all"},
		"source":      {`return loadstring(("x = 1 "):rep(1e5))`, `nil [string "x = 1 x = 1 x = 1 x = 1 x = 1 x = 1 x = 1 x..."]:1: source is longer than 262144 bytes`},
		"nesting":     {`return loadstring("return " .. ("("):rep(1e5) .. "1" .. (")"):rep(1e5), "=n")`, "nil n:1: chunk has too many syntax levels"},
		"bytecode":    {`return loadstring("\27Lua", "=b")`, "nil b: precompiled code is not accepted"},
		"metamethods": {`local t t = setmetatable({}, {__index = function(_, k) return t[k] end}) return pcall(function() return t.x end)`, "false test:1: stack overflow"},
	} {
		t.Run(name, func(t *testing.T) { assert.Equal(t, c.want, eval(t, c.source)) })
	}
}

func TestBudgetStop(t *testing.T) {
	reason := errors.New("the client has gone")
	s := newSandbox(t, Limits{Time: patience})
	go func() {
		time.Sleep(20 * time.Millisecond)
		s.Stop(reason)
		s.Stop(errors.New("too late"))
	}()
	results, err := s.run(`while true do pcall(function() while true do end end) end`)
	assert.ErrorIs(t, err, reason)
	assert.Empty(t, results)
	assert.ErrorIs(t, s.Err(), reason)
}

func TestParentContextStopsTheRun(t *testing.T) {
	ctx, cancel := context.WithCancelCause(context.Background())
	s := New(ctx, Options{})
	defer s.Close()
	reason := errors.New("abort")
	cancel(reason)
	proto, err := Compile("test", `while true do end`)
	require.NoError(t, err)
	_, _, err = invoke(s.main, s.NewFunction(proto))
	assert.ErrorIs(t, err, reason)
}

// What a run leaves behind must not count against the next.
func TestGarbageIsNoMemory(t *testing.T) {
	s := newSandbox(t, Limits{Time: patience, MemoryBytes: 32 << 20})
	_, err := s.run(`for i = 1, 200 do local s = ("x"):rep(2^20) .. i end`)
	assert.NoError(t, err)
}

func TestMemoryStaysNearItsLimit(t *testing.T) {
	for name, source := range map[string]string{
		"doubling":   `local t = {} while true do local s = "x" for i = 1, 24 do s = s .. s end t[#t + 1] = s end`,
		"array fill": `local t = {} while true do local u = {} u[2^20 - 1] = 1 t[#t + 1] = u end`,
		"keys":       `local t = {} for i = 1, 1e9 do t["k" .. i] = i end`,
		"closures":   `local t = {} for i = 1, 1e9 do t[i % 1e6] = function() return i end end local n = 0 while true do n = n + 1 t[-n] = {} end`,
		"coroutines": `local t = {} for i = 1, 900 do local c = coroutine.wrap(function(...) coroutine.yield() return ... end) c(unpack({}, 1, 7000)) t[i] = c end while true do t[#t + 1] = {} end`,
		"upper":      `local t, s = {}, ("x"):rep(2^23) while true do t[#t + 1] = s:upper() end`,
	} {
		t.Run(name, func(t *testing.T) {
			const most = 256 << 20
			assert.LessOrEqual(t, leastGrowth(most, func() int64 {
				s := makeSandbox(Limits{Time: patience, MemoryBytes: 64 << 20, Instructions: 1 << 60})
				defer s.Close()
				_, err := s.run(source)
				assert.Equal(t, "memory", LimitName(err), "%v", err)
				return heapBytes()
			})>>20, int64(most>>20))
		})
	}
}

func TestCheckLengthHasNoOverflow(t *testing.T) {
	assert.Contains(t, eval(t, `return pcall(string.rep, ("x"):rep(100), 2^62)`), "string length limit")
	assert.Contains(t, eval(t, `return pcall(table.concat, {1, 2}, ("x"):rep(2^23), 1, 2)`), "true")
}

func TestCloseEndsTheWatch(t *testing.T) {
	s := newSandbox(t, Limits{})
	mustRun(t, s, `return 1`)
	assert.True(t, s.watched)
	s.Close()
	watch.mu.Lock()
	defer watch.mu.Unlock()
	assert.NotContains(t, watch.runs, s.State)
}

func ExampleDefaultLimits() {
	l := DefaultLimits()
	fmt.Println(l.Time, l.MemoryBytes>>20, "MB", l.StringBytes>>20, "MB")
	// Output: 10s 64 MB 16 MB
}
