package lua

import (
	"math/rand"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	lua "github.com/yuin/gopher-lua"
)

// plainTime returns the processor time of a script in gopher-lua as it comes.
func plainTime(t *testing.T, source string) time.Duration {
	t.Helper()
	L := lua.NewState()
	defer L.Close()
	before := processTime()
	require.NoError(t, L.DoString(source))
	return processTime() - before
}

// TestTablesAreLinear: what gopher-lua does in quadratic time is linear here. If
// the first half of this test fails, gopher-lua has been mended, and
// table_items.go may go.
func TestTablesAreLinear(t *testing.T) {
	for name, source := range map[string]string{
		"a stack":         `local t = {} for i = 1, 20000 do t [i] = i end for i = 1, 20000 do t [#t] = nil end`,
		"a drained table": `local t = {} for i = 1, 10000 do t ["k" .. i] = i end local k = next (t) while k do t [k] = nil k = next (t) end`,
		"sparse keys":     `for i = 1, 4 do local t = {} t [1000000 - i] = i end`,
	} {
		plain := plainTime(t, source)
		ours := quickest(plain/4, func() { mustRun(t, newSandbox(t, Limits{Time: patience}), source) })
		assert.Less(t, 4*ours, plain, name)
	}
}

// TestQueueIsLinear: a queue that is emptied at each step, and one that is never
// empty, take no more time and memory the longer they are used.
func TestQueueIsLinear(t *testing.T) {
	const queue = `local q, f, l = {}, 1, 0
		for i = 1, %s do q [i] = i l = i end
		for i = 1, 60000 do l = l + 1 q [l] = i q [f] = nil f = f + 1 end
		return q`
	for _, length := range []string{"0", "10"} {
		source := strings.Replace(queue, "%s", length, 1)
		took := quickest(200*time.Millisecond, func() {
			q := mustRun(t, newSandbox(t, Limits{Time: patience}), source)[0].(*lua.LTable)
			assert.Less(t, cap(itemsOf(q).array)+cap(itemsOf(q).keys), 5000)
		})
		assert.Less(t, took, 400*time.Millisecond, length)
	}
}

// TestSparseKeysAreSmall: a table with one large key does not take the memory of
// a list of that length.
func TestSparseKeysAreSmall(t *testing.T) {
	var before, after runtime.MemStats
	s := newSandbox(t, Limits{Time: patience})
	runtime.ReadMemStats(&before)
	mustRun(t, s, `for i = 1, 8 do local t = {} t [1000000] = i end`)
	runtime.ReadMemStats(&after)
	assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(1<<20))
}

// TestTableItems compares tables with a map of Go, through random changes.
func TestTableItems(t *testing.T) {
	for seed := range int64(100) {
		r := rand.New(rand.NewSource(seed))
		table, model := NewTable(r.Intn(3), r.Intn(3)), map[lua.LValue]lua.LValue{}
		span := []int{5, 40, 400, 4000}[r.Intn(4)]
		key := func() lua.LValue {
			switch r.Intn(8) {
			case 0:
				return lua.LString(string(rune('a' + r.Intn(20))))
			case 1:
				return lua.LNumber(r.Intn(40)-20) / 2
			case 2:
				return lua.LBool(r.Intn(2) == 0)
			case 3:
				return lua.LNumber(itemsOf(table).lastPlace() + r.Intn(3))
			}
			return lua.LNumber(1 + r.Intn(span))
		}
		for step := range 600 {
			k, v := key(), lua.LValue(lua.LNumber(step))
			if r.Intn(3) == 0 {
				v = lua.LNil
			}
			RawSet(table, k, v)
			if delete(model, k); v != lua.LNil {
				model[k] = v
			}
			if step%60 == 0 {
				checkItems(t, table, model)
			}
		}
		checkItems(t, table, model)
		for k := range model { // deleted while walked
			if r.Intn(2) == 0 {
				RawSet(table, k, lua.LNil)
				delete(model, k)
			}
		}
		walked := 0
		for k, _ := Next(table, lua.LNil); k != lua.LNil; k, _ = Next(table, k) {
			walked++
			RawSet(table, k, lua.LNil)
		}
		require.Equal(t, len(model), walked, seed)
		checkItems(t, table, nil)
	}
}

func (t *items) lastPlace() int { return len(t.array) }

// checkItems checks that a table has the items of model, and is laid out as
// table_items.go says.
func checkItems(t *testing.T, table *lua.LTable, model map[lua.LValue]lua.LValue) {
	t.Helper()
	found := map[lua.LValue]lua.LValue{}
	for k, v := Next(table, lua.LNil); k != lua.LNil; k, v = Next(table, k) {
		require.NotContains(t, found, k)
		require.Equal(t, v, RawGet(table, k))
		found[k] = v
	}
	require.Len(t, found, len(model))
	for k, v := range model {
		require.Equal(t, v, found[k], "%v", k)
	}
	it := itemsOf(table)
	n := len(it.array)
	require.True(t, n == 0 || it.array[n-1] != lua.LNil, "the array ends in nil")
	require.Equal(t, lua.LNil, RawGet(table, lua.LNumber(n+1)))
	for k := range it.dict {
		f, isNumber := k.(lua.LNumber)
		require.False(t, isNumber && f == lua.LNumber(int(f)) && f >= 1 && int(f) <= n, "%v is in the hash part", k)
	}
	require.LessOrEqual(t, n, 3*len(model)+2*sparseArray)
	if n > 0 {
		require.Equal(t, n, table.Len())
	}
}
