package lua

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	lua "github.com/yuin/gopher-lua"
)

// hundredLines is an ordinary script of a hundred lines.
var hundredLines = strings.Repeat(`local function row(name, value)
  local out = {}
  out[#out + 1] = "<tr><td>" .. name .. "</td>"
  if value == nil then
    out[#out + 1] = "<td class='none'>-</td>"
  else
    out[#out + 1] = "<td>" .. tostring(value) .. "</td>"
  end
  return table.concat(out)
end
`, 10)

func BenchmarkFreshState(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		New(context.Background(), Options{}).Close()
	}
}

func BenchmarkFreshRun(b *testing.B) {
	proto, err := Compile("hello", `local who = ... return "Hello, " .. who .. "!"`)
	require.NoError(b, err)
	b.ReportAllocs()
	for b.Loop() {
		s := New(context.Background(), Options{})
		_, _, err := s.Call(nil, s.NewFunction(proto), []lua.LValue{lua.LString("world")})
		if err != nil {
			b.Fatal(err)
		}
		s.Close()
	}
}

func BenchmarkCompile100Lines(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Compile("bench", hundredLines); err != nil {
			b.Fatal(err)
		}
	}
}

var workloads = map[string]string{
	"loop":   `local s = 0 for i = 1, 100000 do s = s + i % 7 end return s`,
	"fib":    `local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end return fib(18)`,
	"table":  `local t = {} for i = 1, 20000 do t[i] = i end local s = 0 for i = 1, #t do s = s + t[i] end return s`,
	"page":   `local out = {} for i = 1, 2000 do out[#out + 1] = "<li class='item'>" .. i .. ": " .. i * 2 .. "</li>" end return #table.concat(out, "\n")`,
	"concat": `local n = 0 for i = 1, 20000 do local s = "a" .. i .. "b" n = n + #s end return n`,
	"pcall":  `local f = function(x) return x end for i = 1, 5000 do pcall(f, i) end`,
	"errors": `for i = 1, 2000 do pcall(error, "x") end`,
	"gsub":   `local s = ("hello <world> & all "):rep(800) return #(s:gsub("[<>&]", {["<"] = "&lt;", [">"] = "&gt;", ["&"] = "&amp;"}))`,
	"find":   `local s = ("x"):rep(1000) .. "needle" for i = 1, 100 do s:find("n%a+le") end`,
	"format": `for i = 1, 5000 do local s = string.format("%5.2f %d %s", i / 3, i, "x") end`,
	"sort":   `local t = {} for i = 1, 5000 do t[i] = (i * 7919) % 5003 end table.sort(t, function(a, b) return a < b end)`,
	"yield":  `local c = coroutine.wrap(function() for i = 1, 5000 do coroutine.yield(i) end end) for i = 1, 5000 do c() end`,
}

// BenchmarkLimits reports the cost of the limits: the time of some work with them,
// divided by its time without them. Both run in turns, and the least time of each
// counts, because other work on the machine only adds to it. The result is the median
// of four sorts of work.
func BenchmarkLimits(b *testing.B) {
	unlimited = newRun(context.Background(), Limits{Time: time.Hour, Instructions: 1 << 60})
	defer func() { unlimited = nil }()
	ratios := map[string]float64{}
	names := []string{"loop", "fib", "table", "page"}
	for _, name := range names {
		proto, err := Compile("bench", workloads[name])
		require.NoError(b, err)
		b.Run(name, func(b *testing.B) {
			var with, without []float64
			for b.Loop() {
				with = append(with, timed(b, proto, true))
				without = append(without, timed(b, proto, false))
			}
			ratios[name] = slices.Min(with) / slices.Min(without)
			b.ReportMetric(ratios[name], "x")
		})
	}
	var all []float64
	for _, r := range ratios {
		all = append(all, r)
	}
	b.Run("median", func(b *testing.B) {
		for b.Loop() {
		}
		b.ReportMetric(median(all), "x")
		b.ReportMetric(0, "ns/op")
	})
}

// timed runs proto in a fresh state and returns how many seconds that took.
func timed(b *testing.B, proto *lua.FunctionProto, limited bool) float64 {
	s := New(context.Background(), Options{Limits: Limits{Instructions: 1 << 60}})
	defer s.Close()
	L := s.main
	if !limited {
		L.RemoveContext()
	}
	start := time.Now()
	L.Push(L.NewFunctionFromProto(proto))
	L.Call(0, 0)
	return time.Since(start).Seconds()
}

func median(list []float64) float64 {
	list = slices.Clone(list)
	slices.Sort(list)
	n := len(list)
	return (list[(n-1)/2] + list[n/2]) / 2
}

// BenchmarkRun compares the work under a budget with the work without.
func BenchmarkRun(b *testing.B) {
	for name, source := range workloads {
		proto, err := Compile("bench", source)
		require.NoError(b, err)
		for _, budgeted := range []bool{true, false} {
			label := name + "/budget"
			if !budgeted {
				label = name + "/free"
				if !strings.Contains("loop fib table", name) { // the libraries need a budget
					continue
				}
			}
			b.Run(label, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					s := New(context.Background(), Options{Limits: Limits{Instructions: 1 << 60}})
					L := s.main
					fn := L.NewFunctionFromProto(proto)
					if budgeted {
						if _, _, err := invoke(L, fn); err != nil {
							b.Fatal(err)
						}
					} else {
						L.RemoveContext()
						L.Push(fn)
						L.Call(0, 0)
					}
					s.Close()
				}
			})
		}
	}
}

// BenchmarkStock does the same work with the stock compiler and libraries, and a
// standard context for the deadline.
func BenchmarkStock(b *testing.B) {
	for name, source := range workloads {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			for b.Loop() {
				L := lua.NewState(lua.Options{RegistrySize: 1024, RegistryMaxSize: registryMax, RegistryGrowStep: 4096})
				L.SetContext(ctx)
				if err := L.DoString(source); err != nil {
					b.Fatal(err)
				}
				L.Close()
			}
		})
	}
}
