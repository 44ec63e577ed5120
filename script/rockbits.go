package script

import (
	"math"
	"math/bits"

	"scripter/lua"
)

// Many rocks work with bits by the libraries bit (of LuaJIT) or bit32 (of Lua 5.2), which are written in C.

// bitFunctions are what both have. bit gives numbers from -2^31 on, bit32 from 0 on.
var bitFunctions = map[string]func(L *lua.LState) uint32{
	"band": func(L *lua.LState) uint32 {
		return foldBits(L, math.MaxUint32, func(a, b uint32) uint32 { return a & b })
	},
	"bor":    func(L *lua.LState) uint32 { return foldBits(L, 0, func(a, b uint32) uint32 { return a | b }) },
	"bxor":   func(L *lua.LState) uint32 { return foldBits(L, 0, func(a, b uint32) uint32 { return a ^ b }) },
	"bnot":   func(L *lua.LState) uint32 { return ^bitsArgument(L, 1) },
	"tobit":  func(L *lua.LState) uint32 { return bitsArgument(L, 1) },
	"bswap":  func(L *lua.LState) uint32 { return bits.ReverseBytes32(bitsArgument(L, 1)) },
	"lshift": func(L *lua.LState) uint32 { return shiftBits(L, 1) },
	"rshift": func(L *lua.LState) uint32 { return shiftBits(L, -1) },
	"arshift": func(L *lua.LState) uint32 {
		return uint32(int32(bitsArgument(L, 1)) >> min(bitsArgument(L, 2), 31))
	},
	"rol":     func(L *lua.LState) uint32 { return bits.RotateLeft32(bitsArgument(L, 1), int(bitsArgument(L, 2)&31)) },
	"ror":     func(L *lua.LState) uint32 { return bits.RotateLeft32(bitsArgument(L, 1), -int(bitsArgument(L, 2)&31)) },
	"lrotate": func(L *lua.LState) uint32 { return bits.RotateLeft32(bitsArgument(L, 1), int(bitsArgument(L, 2)&31)) },
	"rrotate": func(L *lua.LState) uint32 { return bits.RotateLeft32(bitsArgument(L, 1), -int(bitsArgument(L, 2)&31)) },
	"extract": func(L *lua.LState) uint32 {
		at, mask := bitField(L, 2)
		return bitsArgument(L, 1) >> at & mask
	},
	"replace": func(L *lua.LState) uint32 {
		at, mask := bitField(L, 3)
		return bitsArgument(L, 1)&^(mask<<at) | bitsArgument(L, 2)&mask<<at
	},
}

// bitNames are the functions of each library.
var bitNames = map[string][]string{
	"bit": {"band", "bor", "bxor", "bnot", "tobit", "bswap", "lshift", "rshift", "arshift", "rol", "ror"},
	"bit32": {"band", "bor", "bxor", "bnot", "lshift", "rshift", "arshift", "lrotate", "rrotate", "extract",
		"replace"},
}

// bitLibrary returns the library bit or bit32.
func bitLibrary(name string) *lua.LTable {
	tb := lua.NewTable(0, 16)
	for _, f := range bitNames[name] {
		do, signed := bitFunctions[f], name == "bit"
		lua.RawSet(tb, lua.LString(f), lua.GoFunction(func(L *lua.LState) int {
			n := do(L)
			if signed {
				L.Push(lua.LNumber(int32(n)))
			} else {
				L.Push(lua.LNumber(n))
			}
			return 1
		}))
	}
	if name == "bit32" {
		lua.RawSet(tb, lua.LString("btest"), lua.GoFunction(func(L *lua.LState) int {
			L.Push(lua.LBool(bitFunctions["band"](L) != 0))
			return 1
		}))
		return tb
	}
	lua.RawSet(tb, lua.LString("tohex"), lua.GoFunction(func(L *lua.LState) int {
		const digits = "0123456789abcdef"
		n := bitsArgument(L, 1)
		var text [8]byte
		for i := range text {
			text[i] = digits[n>>(28-4*i)&15]
		}
		L.Push(lua.LString(text[:]))
		return 1
	}))
	return tb
}

// bitsArgument returns argument i modulo 2^32.
func bitsArgument(L *lua.LState, i int) uint32 {
	n, ok := lua.ToNumber(L.Get(i))
	if !ok {
		lua.ArgumentError(L, i, "number expected, got "+L.Get(i).Type().String())
	}
	n = math.Mod(math.Floor(n), 1<<32)
	if n < 0 {
		n += 1 << 32
	}
	if math.IsNaN(n) {
		return 0
	}
	return uint32(n)
}

func foldBits(L *lua.LState, start uint32, f func(a, b uint32) uint32) uint32 {
	for i := 1; i <= L.GetTop(); i++ {
		start = f(start, bitsArgument(L, i))
	}
	return start
}

// shiftBits shifts to the left for direction 1, to the right for -1, and the other way by a negative number.
func shiftBits(L *lua.LState, direction int) uint32 {
	by := int(int32(bitsArgument(L, 2))) * direction
	switch {
	case by >= 0:
		return bitsArgument(L, 1) << by
	default:
		return bitsArgument(L, 1) >> -by
	}
}

// bitField returns the place of a field and its mask at the place 0.
func bitField(L *lua.LState, i int) (at int, mask uint32) {
	at = int(bitsArgument(L, i))
	width := 1
	if L.Get(i+1) != lua.LNil {
		width = int(bitsArgument(L, i+1))
	}
	if width < 1 || at+width > 32 {
		lua.ArgumentError(L, i, "trying to access non-existent bits")
	}
	return at, math.MaxUint32 >> (32 - width)
}
