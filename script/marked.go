package script

import (
	"scripter/lua"
	"scripter/objectdb"
)

// marked returns the Lua value of a kind that Lua has no type for: a date,
// binary or address, and a text, outline or script that is not an object.
func marked(v objectdb.Value) lua.LValue {
	mt := plainMeta
	switch v.(type) {
	case objectdb.Date:
		mt = dateMeta
	case objectdb.Binary:
		mt = binaryMeta
	case objectdb.Address:
		mt = addressMeta
	case objectdb.Script:
		mt = scriptMeta
	case objectdb.Null:
		return luaNull
	}
	return &lua.LUserData{Value: v, Metatable: mt}
}

var (
	// plainMeta is the metatable of text and outlines.
	plainMeta   = lua.NewMetatable()
	binaryMeta  = lua.NewMetatable()
	addressMeta = lua.NewMetatable()
	scriptMeta  = lua.NewMetatable()
	nullMeta    = lua.NewMetatable()
)

// luaNull is json.null, one value for all states, which only read it.
var luaNull = &lua.LUserData{Value: objectdb.Null{}, Metatable: nullMeta}

func init() {
	lua.Define(plainMeta, map[string]lua.LGFunction{
		"__tostring": markedToString,
		"__concat":   markedConcat,
		"__len":      plainLen,
		"__eq":       markedEq,
		"__index":    plainIndex,
		"__newindex": markedNewIndex,
	})
	lua.Define(binaryMeta, map[string]lua.LGFunction{
		"__tostring": markedToString,
		"__concat":   markedConcat,
		"__len":      plainLen,
		"__eq":       markedEq,
		"__index":    binaryIndex,
		"__newindex": markedNewIndex,
	})
	lua.Define(addressMeta, map[string]lua.LGFunction{
		"__tostring": markedToString,
		"__concat":   markedConcat,
		"__len":      addressLen,
		"__eq":       addressEq,
		"__index":    addressIndex,
		"__newindex": markedNewIndex,
		"__call":     addressCall,
	})
	lua.Define(nullMeta, map[string]lua.LGFunction{
		"__tostring": markedToString,
		"__concat":   markedConcat,
		"__eq":       markedEq,
		"__index":    nullIndex,
		"__newindex": markedNewIndex,
	})
	lua.Define(scriptMeta, map[string]lua.LGFunction{
		"__tostring": markedToString,
		"__eq":       markedEq,
		"__call":     scriptCall,
		"__newindex": markedNewIndex,
	})
}

// markedValue returns the stored value that a Lua value is the form of, nil if
// it is none.
func markedValue(lv lua.LValue) objectdb.Value {
	ud, ok := lv.(*lua.LUserData)
	if !ok || objectOf(ud) != nil {
		return nil
	}
	v, _ := ud.Value.(objectdb.Value)
	return v
}

// selfMarked returns argument 1 as the kind that the metatable says it has.
func selfMarked[V objectdb.Value](L *lua.LState) V {
	v, ok := markedValue(L.Get(1)).(V)
	if !ok {
		L.RaiseError("bad argument #1 (%s expected)", v.Kind())
	}
	return v
}

func markedToString(L *lua.LState) int {
	L.Push(lua.LString(threadOf(L).mustText(L, L.Get(1))))
	return 1
}

// markedConcat makes text of both sides of "..".
func markedConcat(L *lua.LState) int {
	t := threadOf(L)
	for i := 1; i <= 2; i++ {
		switch lv := L.Get(i).(type) {
		case lua.LString, lua.LNumber:
		case *lua.LUserData:
			if lv.Metatable == scriptMeta {
				t.fail(L, "attempt to concatenate a script")
			}
		default:
			t.fail(L, "attempt to concatenate a %s value", lv.Type())
		}
	}
	a, b := t.mustText(L, L.Get(1)), t.mustText(L, L.Get(2))
	t.state.CheckLength(L, len(a)+len(b))
	L.Push(lua.LString(a + b))
	return 1
}

func (t *Thread) mustText(L *lua.LState, lv lua.LValue) string {
	s, err := t.Text(t.fromLua(lv))
	if err != nil {
		t.raise(L, "", err)
	}
	return s
}

func markedEq(L *lua.LState) int {
	a, b := markedValue(L.Get(1)), markedValue(L.Get(2))
	L.Push(lua.LBool(a != nil && b != nil && objectdb.Equal(a, b)))
	return 1
}

func markedNewIndex(L *lua.LState) int {
	threadOf(L).fail(L, "a %s cannot be changed, only replaced", kindName(threadOf(L).fromLua(L.Get(1))))
	return 0
}

// plainLen is # of text, outlines and binaries: bytes.
func plainLen(L *lua.LState) int {
	switch v := markedValue(L.Get(1)).(type) {
	case objectdb.Text:
		L.Push(lua.LNumber(len(v)))
	case objectdb.Outline:
		L.Push(lua.LNumber(len(v)))
	case objectdb.Binary:
		L.Push(lua.LNumber(len(v.Data)))
	default:
		L.Push(lua.LNil)
	}
	return 1
}

// plainIndex gives text the methods of a string: text:upper ().
func plainIndex(L *lua.LState) int {
	strings, ok := L.GetGlobal("string").(*lua.LTable)
	if !ok {
		L.Push(lua.LNil)
		return 1
	}
	method, ok := L.GetField(strings, lua.CheckString(L, 2)).(*lua.LFunction)
	if !ok || !method.IsG {
		L.Push(lua.LNil)
		return 1
	}
	L.Push(L.NewFunction(func(L *lua.LState) int {
		if markedValue(L.Get(1)) != nil {
			L.Replace(1, lua.LString(threadOf(L).mustText(L, L.Get(1))))
		}
		return method.GFunction(L)
	}))
	return 1
}

func nullIndex(L *lua.LState) int {
	threadOf(L).fail(L, "attempt to index json.null")
	return 0
}

// binaryIndex is binary.type and binary.data.
func binaryIndex(L *lua.LState) int {
	b := selfMarked[objectdb.Binary](L)
	v := lua.LNil
	switch L.Get(2).String() {
	case "type":
		v = lua.LString(b.Type)
	case "data":
		v = lua.LString(b.Data)
	}
	L.Push(v)
	return 1
}

// addressIndex is address.name, address.parent and address:get (default).
func addressIndex(L *lua.LState) int {
	a := selfMarked[objectdb.Address](L)
	v := lua.LNil
	switch L.Get(2).String() {
	case "name":
		v = lua.LString(a.Name())
	case "parent":
		if len(a) > 0 {
			v = marked(a.Parent())
		}
	case "get":
		v = addressGet
	}
	L.Push(v)
	return 1
}

var addressGet = lua.GoFunction(odbGet)

// addressCall is address (): what lies there, nil for nothing; the ^ of
// UserTalk.
func addressCall(L *lua.LState) int {
	L.SetTop(1)
	return odbGet(L)
}

// addressLen is the number of names.
func addressLen(L *lua.LState) int {
	L.Push(lua.LNumber(len(selfMarked[objectdb.Address](L))))
	return 1
}

// addressEq compares as the root does: without regard to case.
func addressEq(L *lua.LState) int {
	a, okA := markedValue(L.Get(1)).(objectdb.Address)
	b, okB := markedValue(L.Get(2)).(objectdb.Address)
	L.Push(lua.LBool(okA && okB && a.Equal(b)))
	return 1
}

// scriptCall runs a script that is not an object: odb.script (source) (…).
func scriptCall(L *lua.LState) int {
	t := threadOf(L)
	source := string(selfMarked[objectdb.Script](L))
	proto, err := t.state.Compile("script", source)
	if err != nil {
		t.raise(L, "", t.syntaxError(err, nil, source))
	}
	t.addChunk("script", &chunk{source: source})
	n := L.GetTop()
	L.Replace(1, t.state.NewFunction(proto))
	L.Call(n-1, lua.MultRet)
	return L.GetTop()
}
