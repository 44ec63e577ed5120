package lua

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// FuzzScript: any source compiles or not, and what compiles ends by its
// deadline, with a result or an error.
func FuzzScript(f *testing.F) {
	files, err := filepath.Glob("testdata/lua/*.lua")
	require.NoError(f, err)
	for _, file := range files {
		source, err := os.ReadFile(file)
		require.NoError(f, err)
		f.Add(string(source))
	}
	for _, source := range endless {
		f.Add(source)
	}
	f.Fuzz(func(t *testing.T, source string) {
		s := newSandbox(t, Limits{Time: 20 * time.Millisecond, MemoryBytes: 256 << 20})
		start := time.Now()
		_, err := s.run(source)
		if took := time.Since(start); took > 20*time.Second {
			t.Errorf("took %v, ended with %v", took, err)
		}
	})
}

// FuzzPattern: any pattern ends on any subject, and find, match, gmatch and
// gsub agree on what they find.
func FuzzPattern(f *testing.F) {
	for _, seed := range [][2]string{
		{"hello world", "o w"}, {"key = value", "^(%w+)%s*=%s*(%w+)$"}, {"f(a(b)c)d", "%b()"},
		{"THE (quick) fox", "%f[%a]%a+"}, {"abcabc", "(abc)%1"}, {"a]b", "[]]"}, {"a-b", "[a-]+"},
		{"", ""}, {"abc", "()b()"}, {"x", "[%"}, {"aaaaaaaaaaaaaaaaaaaaaaaa", "a?a?a?a?a?a?a?a?a?a?b"},
		{"\x00a\x00", "%z"}, {"abc", "(()"}, {"äöü", "[\x80-\xff]+"}, {"a", "((((((((((((((((((((((((((((((((("}, {"a)", ")"},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, subject, pattern string) {
		s := newSandbox(t, Limits{Time: patience, PatternSteps: 1_000_000})
		s.L.G.Global.RawSetString("S", luaString(subject))
		s.L.G.Global.RawSetString("P", luaString(pattern))
		_, err := s.run(`
			local ok, from, to = pcall(string.find, S, P)
			if not ok then return end
			local all = {pcall(string.match, S, P)}
			assert(not all[1] or (from == nil) == (all[2] == nil), "match disagrees with find") -- find takes ")" for plain text
			local ok, text, n = pcall(string.gsub, S, P, "%0")
			assert(not ok or text == S, "gsub by %0 changes the text")
			assert(not ok or (from == nil) == (n == 0), "gsub disagrees with find")`)
		require.NoError(t, err)
	})
}

// FuzzNumber: tonumber reads the text of its own result as the same number.
func FuzzNumber(f *testing.F) {
	for _, s := range []string{"10", "0x10", "1e3", ".5", " 7 ", "inf", "-0", "1e400", "0x1p4", "１", "1_0"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		n, ok := ParseNumber(s)
		if !ok {
			return
		}
		again, ok := ParseNumber(NumberText(n))
		require.True(t, ok, NumberText(n))
		if n == n {
			require.InEpsilon(t, 1, ratio(n, again), 1e-13, "%q", s)
		}
	})
}

func ratio(a, b float64) float64 {
	if a == b {
		return 1
	}
	return a / b
}
