package lua

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	lua "github.com/yuin/gopher-lua"
)

// TestAsPUCLua runs testdata/lua/*.lua and compares what they print with what
// PUC Lua 5.1.5 printed (the .out files; run "lua5.1 x.lua > x.out" in that
// folder to make one).
func TestAsPUCLua(t *testing.T) {
	files, err := filepath.Glob("testdata/lua/*.lua")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		name := filepath.Base(file)
		t.Run(name, func(t *testing.T) {
			source, err := os.ReadFile(file)
			require.NoError(t, err)
			want, err := os.ReadFile(strings.TrimSuffix(file, ".lua") + ".out")
			require.NoError(t, err)
			assert.Equal(t, strings.Split(string(want), "\n"), strings.Split(runFile(t, name, string(source)), "\n"))
		})
	}
}

// runFile runs a script that may use print and io.write and returns what it
// wrote.
func runFile(t *testing.T, name, source string) string {
	t.Helper()
	s := newSandbox(t, Limits{Time: patience})
	io := s.L.NewTable()
	io.RawSetString("write", GoFunction(func(L *lua.LState) int {
		for i := 1; i <= L.GetTop(); i++ {
			s.printed.WriteString(CheckString(L, i))
		}
		return 0
	}))
	s.L.G.Global.RawSetString("io", io)
	proto, err := Compile(name, source)
	require.NoError(t, err)
	_, _, err = invoke(s.L, s.L.NewFunctionFromProto(proto))
	require.NoError(t, err)
	return s.printed.String()
}
