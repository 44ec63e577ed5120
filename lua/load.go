package lua

import (
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// stepsPerSourceByte is what compiling one byte of source counts, in instructions.
const stepsPerSourceByte = 4

// baseLoadstring is loadstring (source [, chunkname]). There is no bytecode.
func baseLoadstring(L *lua.LState) int {
	source := CheckString(L, 1)
	return loadSource(L, source, OptString(L, 2, source))
}

// baseLoad is load (f [, chunkname]): f returns the source piece by piece.
func baseLoad(L *lua.LState) int {
	f := checkFunction(L, 1)
	name := OptString(L, 2, "=(load)")
	limit := Of(L).limits.SourceBytes
	var source strings.Builder
	for {
		results, failure := guardedCall(L, f, nil)
		if failure != nil {
			L.Push(lua.LNil)
			L.Push(failure)
			return 2
		}
		piece := lua.LNil
		if len(results) > 0 {
			piece = results[0]
		}
		switch piece := piece.(type) {
		case *lua.LNilType:
			return loadSource(L, source.String(), name)
		case lua.LString:
			if piece == "" {
				return loadSource(L, source.String(), name)
			}
			source.WriteString(string(piece))
		case lua.LNumber:
			source.WriteString(NumberText(float64(piece)))
		default:
			L.Push(lua.LNil)
			L.Push(lua.LString(where(L, 1) + "reader function must return a string"))
			return 2
		}
		if source.Len() > limit {
			return loadSource(L, source.String(), name)
		}
	}
}

func loadSource(L *lua.LState, source, name string) int {
	s := Of(L)
	if strings.HasPrefix(source, "\x1bLua") {
		L.Push(lua.LNil)
		L.Push(lua.LString(chunkID(name) + ": precompiled code is not accepted"))
		return 2
	}
	if len(source) <= s.limits.SourceBytes {
		s.Charge(L, stepsPerSourceByte*len(source))
	}
	proto, err := s.Compile(chunkID(name), source)
	if err != nil {
		L.Push(lua.LNil)
		L.Push(lua.LString(err.Error()))
		return 2
	}
	L.Push(L.NewFunctionFromProto(proto))
	return 1
}

// chunkID makes the name that messages show of a chunk name (luaO_chunkid).
func chunkID(name string) string {
	const size = 60 // LUA_IDSIZE
	if name == "" {
		return `[string ""]`
	}
	switch name[0] {
	case '=':
		return name[1:min(len(name), size)]
	case '@':
		name = name[1:]
		if most := size - len(" '...' ") - 1; len(name) > most {
			return "..." + name[len(name)-most:]
		}
		return name
	}
	line, _, _ := strings.Cut(name, "\n")
	line, _, _ = strings.Cut(line, "\r")
	most := size - len(` [string "..."] `) - 1
	if len(line) > most {
		line = line[:most]
	} else if len(line) == len(name) {
		return `[string "` + line + `"]`
	}
	return `[string "` + line + `..."]`
}
