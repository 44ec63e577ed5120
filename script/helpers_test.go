package script

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	lua "github.com/yuin/gopher-lua"
)

// A sandbox is a fresh state with Lua's libraries and nothing else.
type sandbox struct {
	L       *lua.LState
	b       *budget
	printed strings.Builder
}

func newSandbox(t testing.TB, l Limits) *sandbox {
	t.Helper()
	s := &sandbox{b: newBudget(context.Background(), l)}
	s.open()
	t.Cleanup(s.close)
	return s
}

// open makes the state, with print.
func (s *sandbox) open() {
	s.L = newState(s.b)
	installLibraries(s.L)
	s.L.G.Global.RawSetString("print", sharedFunction(func(L *lua.LState) int {
		for i := 1; i <= L.GetTop(); i++ {
			if i > 1 {
				s.printed.WriteByte('\t')
			}
			s.printed.WriteString(plainText(L.Get(i)))
		}
		s.printed.WriteByte('\n')
		return 0
	}))
}

func (s *sandbox) close() {
	s.b.close()
	s.L.Close()
}

// run runs source and returns its results.
func (s *sandbox) run(source string) ([]lua.LValue, error) {
	proto, err := compile("test", source)
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
	s := newSandbox(t, Limits{Time: 5 * time.Second})
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
