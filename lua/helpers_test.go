package lua

import (
	"context"
	"math"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	lua "github.com/yuin/gopher-lua"
)

// patience is the time limit of runs that are to end by themselves, or by another
// limit: a busy machine may stand still for seconds.
const patience = 2 * time.Minute

// processTime is the processor time that this process has used. Unlike the
// time on the wall it does not pass while others have the processor.
func processTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// tries is how often a measurement above its limit is repeated: on a machine with other
// work most measurements may be above it, but not all.
const tries = 20

// quickest calls fn until it has taken no more than most, 20 times at most, and returns
// the least time that it took, by the clock or of the processor, whichever was less.
func quickest(most time.Duration, fn func()) time.Duration {
	best := time.Duration(math.MaxInt64)
	for range tries {
		wall, processor := time.Now(), processTime()
		fn()
		best = min(best, time.Since(wall), processTime()-processor)
		if best <= most {
			break
		}
	}
	return best
}

// leastGrowth calls fn, which returns the memory in use, until that is no more than
// most above the memory in use before, 20 times at most. It returns the least growth.
// Other users of memory in this process, or a watchdog that got no processor in time,
// do not disturb every call.
func leastGrowth(most int64, fn func() int64) int64 {
	best := int64(math.MaxInt64)
	for i := 0; i < tries && best > most; i++ {
		runtime.GC()
		before := heapBytes()
		best = min(best, fn()-before)
	}
	return best
}

// A sandbox is a fresh state with Lua's libraries and nothing else.
type sandbox struct {
	*State
	L       *lua.LState
	printed strings.Builder
}

func newSandbox(t testing.TB, l Limits) *sandbox {
	t.Helper()
	s := makeSandbox(l)
	t.Cleanup(s.Close)
	return s
}

// makeSandbox is newSandbox for callers that close it themselves.
func makeSandbox(l Limits) *sandbox {
	s := &sandbox{State: New(context.Background(), Options{Limits: l})}
	s.L = s.main
	s.L.G.Global.RawSetString("print", GoFunction(func(L *lua.LState) int {
		for i := 1; i <= L.GetTop(); i++ {
			if i > 1 {
				s.printed.WriteByte('\t')
			}
			s.printed.WriteString(plainText(L.Get(i)))
		}
		s.printed.WriteByte('\n')
		return 0
	}))
	return s
}

// run runs source and returns its results.
func (s *sandbox) run(source string) ([]lua.LValue, error) {
	proto, err := Compile("test", source)
	if err != nil {
		return nil, err
	}
	results, _, err := invoke(s.L, s.L.NewFunctionFromProto(proto))
	return results, err
}

// eval runs source in a fresh state and returns what it returned and printed,
// as text.
func eval(t testing.TB, source string) string {
	t.Helper()
	s := newSandbox(t, Limits{Time: patience})
	results, err := s.run(source)
	out := s.printed.String()
	if err != nil {
		return out + "error: " + errorText(err)
	}
	texts := make([]string, len(results))
	for i, v := range results {
		texts[i] = plainText(v)
	}
	return out + strings.Join(texts, " ")
}

func errorText(err error) string {
	if e, ok := err.(*lua.ApiError); ok {
		return plainText(e.Object)
	}
	return err.Error()
}

func mustRun(t testing.TB, s *sandbox, source string) []lua.LValue {
	t.Helper()
	results, err := s.run(source)
	require.NoError(t, err, source)
	return results
}

func luaString(s string) lua.LValue { return lua.LString(s) }
