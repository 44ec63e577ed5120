package lua

import (
	"math"
	"math/rand"

	lua "github.com/yuin/gopher-lua"
)

func mathLibrary() map[string]lua.LValue {
	lib := shared(map[string]lua.LGFunction{
		"frexp": mathFrexp, "ldexp": mathLdexp, "max": mathMax, "min": mathMin, "modf": mathModf,
		"random": mathRandom, "randomseed": mathRandomseed,
	})
	for name, f := range map[string]func(float64) float64{
		"abs": math.Abs, "acos": math.Acos, "asin": math.Asin, "atan": math.Atan, "ceil": math.Ceil,
		"cos": math.Cos, "cosh": math.Cosh, "exp": math.Exp, "floor": math.Floor, "log": math.Log,
		"log10": math.Log10, "sin": math.Sin, "sinh": math.Sinh, "sqrt": math.Sqrt, "tan": math.Tan,
		"tanh": math.Tanh,
		"deg":  func(x float64) float64 { return x / (math.Pi / 180) },
		"rad":  func(x float64) float64 { return x * (math.Pi / 180) },
	} {
		lib[name] = GoFunction(func(L *lua.LState) int {
			L.Push(lua.LNumber(f(checkNumber(L, 1))))
			return 1
		})
	}
	for name, f := range map[string]func(x, y float64) float64{
		"atan2": math.Atan2, "fmod": math.Mod, "pow": math.Pow,
	} {
		lib[name] = GoFunction(func(L *lua.LState) int {
			y := checkNumber(L, 2) // first, as the C compiler of PUC Lua has it
			L.Push(lua.LNumber(f(checkNumber(L, 1), y)))
			return 1
		})
	}
	lib["mod"] = lib["fmod"] // LUA_COMPAT_MOD
	lib["pi"] = lua.LNumber(math.Pi)
	lib["huge"] = lua.LNumber(math.Inf(1))
	return lib
}

func mathFrexp(L *lua.LState) int {
	f, e := math.Frexp(checkNumber(L, 1))
	L.Push(lua.LNumber(f))
	L.Push(lua.LNumber(e))
	return 2
}

func mathLdexp(L *lua.LState) int {
	e := min(max(CheckInt(L, 2), -5000), 5000)
	L.Push(lua.LNumber(math.Ldexp(checkNumber(L, 1), e)))
	return 1
}

func mathModf(L *lua.LState) int {
	x := checkNumber(L, 1)
	whole, part := math.Trunc(x), 0.0
	if !math.IsInf(x, 0) {
		part = x - whole
	}
	L.Push(lua.LNumber(whole))
	L.Push(lua.LNumber(math.Copysign(part, x)))
	return 2
}

func mathMax(L *lua.LState) int {
	most := checkNumber(L, 1)
	for i := 2; i <= L.GetTop(); i++ {
		if f := checkNumber(L, i); f > most {
			most = f
		}
	}
	L.Push(lua.LNumber(most))
	return 1
}

func mathMin(L *lua.LState) int {
	least := checkNumber(L, 1)
	for i := 2; i <= L.GetTop(); i++ {
		if f := checkNumber(L, i); f < least {
			least = f
		}
	}
	L.Push(lua.LNumber(least))
	return 1
}

// mathRandom is math.random ([m [, n]]). Every run has a generator of its own,
// seeded from the process's unless the script seeds it.
func mathRandom(L *lua.LState) int {
	s := Of(L)
	if s.random == nil {
		s.random = rand.New(rand.NewSource(rand.Int63()))
	}
	r := s.random.Float64()
	low, high := 1.0, 0.0
	switch L.GetTop() {
	case 0:
		L.Push(lua.LNumber(r))
		return 1
	case 1:
		high = float64(CheckInt(L, 1))
		if high < 1 {
			ArgumentError(L, 1, "interval is empty")
		}
	case 2:
		low, high = float64(CheckInt(L, 1)), float64(CheckInt(L, 2))
		if low > high {
			ArgumentError(L, 2, "interval is empty")
		}
	default:
		fail(L, "wrong number of arguments")
	}
	L.Push(lua.LNumber(math.Floor(r*(high-low+1)) + low))
	return 1
}

// mathRandomseed is math.randomseed (x).
func mathRandomseed(L *lua.LState) int {
	Of(L).random = rand.New(rand.NewSource(int64(CheckInt(L, 1))))
	return 0
}
