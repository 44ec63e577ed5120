package lua

import (
	"context"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	lua "github.com/yuin/gopher-lua"
)

// A state that is used again keeps nothing of its last run, though its registers and
// its call stack are the same.
func TestReleasedStatesKeepNothing(t *testing.T) {
	var gone atomic.Int32
	witness := GoFunction(func(L *lua.LState) int {
		ud := L.NewUserData()
		runtime.AddCleanup(ud, func(*atomic.Int32) { gone.Add(1) }, &gone)
		L.Push(ud)
		return 1
	})
	const source = `local witness, upvalue = witness, witness ()
	global = witness ()
	local function deep (n, ...)
		local here = witness ()
		if n > 0 then
			deep (n - 1, here, ...)
		end
		return (pcall (function () return here, upvalue, witness () end))
	end
	deep (5, witness (), witness ())
	return true`
	run := func(source string) string {
		s := makeSandbox(Limits{})
		defer s.Close()
		assert.Zero(t, s.L.GetTop())
		s.L.G.Global.RawSetString("witness", witness)
		return plainText(mustRun(t, s, source)[0])
	}
	assert.Equal(t, "true", run(source))
	assert.Equal(t, "nil", run("return rawget (_G, 'global')"), "in the next run")
	assert.Eventually(t, func() bool {
		runtime.GC()
		return gone.Load() == 16
	}, patience, 10*time.Millisecond)
	assert.EqualValues(t, 16, gone.Load())
}

// A state that a run has changed is not used again.
func TestUncleanStatesAreNotReused(t *testing.T) {
	fresh := func() *lua.LState { return New(context.Background(), Options{}).main }
	run := func(L *lua.LState, source string) error {
		proto, err := Compile("test", source)
		require.NoError(t, err)
		return L.CallByParam(lua.P{Fn: L.NewFunctionFromProto(proto), Protect: false})
	}
	L := fresh()
	require.NoError(t, run(L, "local a = {} return (function () return a end) ()"))
	assert.True(t, clean(L))

	L = fresh()
	require.NoError(t, run(L, "return select ('#', unpack ({}, 1, 1000))"))
	assert.False(t, clean(L), "its registers have grown")

	L = fresh()
	assert.Panics(t, func() { _ = run(L, "error ('x')") })
	assert.False(t, clean(L), "an error has left frames")

	L = fresh()
	L.Push(lua.LTrue)
	assert.False(t, clean(L), "a value is left")
}

// Two States never have the same Lua state, also if one before them was closed twice.
func TestCloseTwice(t *testing.T) {
	first := New(context.Background(), Options{})
	first.Close()
	first.Close()
	a, b := New(context.Background(), Options{}), New(context.Background(), Options{})
	defer a.Close()
	defer b.Close()
	assert.NotSame(t, a.main, b.main)
}
