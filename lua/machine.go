package lua

//lint:file-ignore U1000 Fields that nothing uses keep the others in their places.

import (
	"context"
	"fmt"
	"reflect"
	"unsafe"

	lua "github.com/yuin/gopher-lua"
)

// gopher-lua has no way to change what an instruction does, or how a table
// stores its items. loop.go and table_items.go need both: without them a queue
// and sparse keys take quadratic time and memory, and callable metamethods are
// not called. So this file declares the private types of gopher-lua once more.
// checkLayout compares the two when the program starts: a gopher-lua that is
// laid out in another way ends it with a message, and runs no script.

// machine is lua.LState.
type machine struct {
	G            *lua.Global
	Parent       *lua.LState
	Env          *lua.LTable
	Panic        func(*lua.LState)
	Dead         bool
	Options      lua.Options
	stop         int32
	reg          *registers
	stack        callStack
	alloc        unsafe.Pointer
	currentFrame *callFrame
	wrapped      bool
	uvcache      *upvalue
	hasErrorFunc bool
	mainLoop     func(*lua.LState, *callFrame)
	ctx          context.Context
	ctxCancelFn  context.CancelFunc
}

// registers is the registry of gopher-lua: the registers of all calls of a
// state, one after the other. What lies beyond top is nil.
type registers struct {
	array []lua.LValue
	top   int
	_     int // growBy
	_     int // maxSize
	_     unsafe.Pointer
	_     interface{ registryOverflow() }
}

// callFrame is one call.
type callFrame struct {
	Idx        int
	Fn         *lua.LFunction
	Parent     *callFrame
	Pc         int
	Base       int
	LocalBase  int
	ReturnBase int
	NArgs      int
	NRet       int
	TailCall   int
}

// callStack holds the frames of a state.
type callStack interface {
	Push(v callFrame)
	Pop() *callFrame
	Last() *callFrame
	SetSp(sp int)
	Sp() int
	At(sp int) *callFrame
	IsFull() bool
	IsEmpty() bool
	FreeAll()
}

// segments is the callStack that our states have.
type segments struct {
	segments []*segment
	segIdx   uint16
	segSp    uint8
}

type segment struct {
	array [lua.FramesPerSegment]callFrame
}

// upvalue is lua.Upvalue.
type upvalue struct {
	next   *upvalue
	reg    *registers
	index  int
	value  lua.LValue
	closed bool
}

// debugInfo is lua.Debug.
type debugInfo struct {
	frame           *callFrame
	Name            string
	What            string
	Source          string
	CurrentLine     int
	NUpvalues       int
	LineDefined     int
	LastLineDefined int
}

// items is lua.LTable. See table_items.go.
type items struct {
	Metatable lua.LValue
	array     []lua.LValue
	dict      map[lua.LValue]lua.LValue
	strdict   map[string]lua.LValue
	keys      []lua.LValue
	k2i       map[lua.LValue]int
}

// instructions are gopher-lua's functions for its instructions.
//
//go:linkname instructions github.com/yuin/gopher-lua.jumpTable
var instructions [lua.OP_NOP + 1]func(L *lua.LState, inst uint32, base *callFrame) int

// plainLoop is the loop of gopher-lua that runs a function.
var plainLoop func(*lua.LState, *callFrame)

func init() {
	L := newLuaState(8)
	state := reflect.TypeFor[lua.LState]()
	field := func(t reflect.Type, name string) reflect.Type {
		f, ok := t.FieldByName(name)
		if !ok {
			panic(fmt.Sprintf("lua: gopher-lua's %v has no field %s", t, name))
		}
		return f.Type
	}
	checkLayout(reflect.TypeFor[machine](), state)
	checkLayout(reflect.TypeFor[registers](), field(state, "reg").Elem())
	checkLayout(reflect.TypeFor[callFrame](), field(state, "currentFrame").Elem())
	stack := reflect.ValueOf(L).Elem().FieldByName("stack").Elem().Type().Elem()
	checkLayout(reflect.TypeFor[segments](), stack)
	checkLayout(reflect.TypeFor[segment](), field(stack, "segments").Elem().Elem())
	checkLayout(reflect.TypeFor[upvalue](), reflect.TypeFor[lua.Upvalue]())
	checkLayout(reflect.TypeFor[debugInfo](), reflect.TypeFor[lua.Debug]())
	checkLayout(reflect.TypeFor[items](), reflect.TypeFor[lua.LTable]())
	for op, f := range instructions {
		if f == nil {
			panic(fmt.Sprintf("lua: gopher-lua has no instruction %d", op))
		}
	}
	L.SetContext(context.Background())
	plainLoop = machineOf(L).mainLoop
}

// checkLayout panics unless two struct or interface types are laid out alike.
func checkLayout(ours, theirs reflect.Type) {
	differ := func(what string) {
		panic(fmt.Sprintf("lua: this program does not fit its gopher-lua: %v and %v differ in %s", ours, theirs, what))
	}
	if ours.Kind() != theirs.Kind() || ours.Size() != theirs.Size() {
		differ("size")
	}
	switch ours.Kind() {
	case reflect.Struct:
		if ours.NumField() != theirs.NumField() {
			differ("the number of fields")
		}
		for i := range ours.NumField() {
			a, b := ours.Field(i), theirs.Field(i)
			name := a.Name == b.Name || a.Name == "_"
			if !name || a.Offset != b.Offset || a.Type.Kind() != b.Type.Kind() || a.Type.Size() != b.Type.Size() {
				if a.Type.Kind() != reflect.UnsafePointer || !name || b.Type.Kind() != reflect.Pointer {
					differ("the field " + b.Name)
				}
			}
			if a.Type.Kind() == reflect.Interface {
				checkLayout(a.Type, b.Type)
			}
		}
	case reflect.Interface:
		if ours.NumMethod() != theirs.NumMethod() {
			differ("the number of methods")
		}
		for i := range ours.NumMethod() {
			if ours.Method(i).Name != theirs.Method(i).Name {
				differ("the method " + theirs.Method(i).Name)
			}
		}
	}
}

// machineOf shows the private fields of a state.
func machineOf(L *lua.LState) *machine { return (*machine)(unsafe.Pointer(L)) }

// frameOf returns the call that d is about.
func frameOf(d *lua.Debug) *callFrame { return (*debugInfo)(unsafe.Pointer(d)).frame }

// itemsOf shows the private fields of a table.
func itemsOf(t *lua.LTable) *items { return (*items)(unsafe.Pointer(t)) }

// segments returns the concrete call stack.
func (m *machine) segments() *segments {
	type word struct{ _, data unsafe.Pointer }
	return (*segments)((*word)(unsafe.Pointer(&m.stack)).data)
}

// use makes a state run in our loop, under s.
func (s *State) use(L *lua.LState) {
	L.SetContext(s)
	machineOf(L).mainLoop = run
}

// A numberStore makes Lua values of numbers. It takes memory for many at a time,
// as gopher-lua does; Go alone would take it for each.
type numberStore []lua.LNumber

const numbersAtATime = 32

// small holds the numbers that need no memory of their own.
var small = func() (list [256]lua.LValue) {
	for i := range list {
		list[i] = lua.LNumber(i)
	}
	return list
}()

var aNumber = lua.LValue(lua.LNumber(0))

// value returns f as a Lua value.
func (n *numberStore) value(f lua.LNumber) lua.LValue {
	if i := int(f); uint(i) < uint(len(small)) && lua.LNumber(i) == f && (i != 0 || 1/f > 0) { // not -0
		return small[i]
	}
	if len(*n) == 0 {
		*n = make([]lua.LNumber, numbersAtATime)
	}
	p := &(*n)[0]
	*n = (*n)[1:]
	*p = f
	v := aNumber
	type word struct{ _, data unsafe.Pointer }
	(*word)(unsafe.Pointer(&v)).data = unsafe.Pointer(p)
	return v
}
