package lua

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/yuin/gopher-lua/parse"
)

// TestSpreadKeepsMeaning spreads the test files of Lua that come with gopher-lua. Each
// of them parses afterwards, and has the same names, strings and numbers in the same
// order.
func TestSpreadKeepsMeaning(t *testing.T) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/yuin/gopher-lua").Output()
	require.NoError(t, err)
	files, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(out)), "_lua5.1-tests", "*.lua"))
	require.NoError(t, err)
	require.Greater(t, len(files), 20)
	parsed := 0
	for _, file := range files {
		b, err := os.ReadFile(file)
		require.NoError(t, err)
		source := string(b)
		before, err := parse.Parse(bytes.NewReader(b), file)
		if err != nil {
			continue // code.lua and others begin with what only the program lua reads
		}
		parsed++
		tree, err := ParseTree(file, source)
		require.NoError(t, err, file)
		assert.True(t, parse.Dump(before) == parse.Dump(tree.Stmts), file)
		lines := strings.Split(source, "\n") // all of these files have LF alone
		for _, token := range append(tree.Tokens, tree.Comments...) {
			rest := strings.Join(lines[token.Line-1:], "\n")
			for range token.Column - 1 {
				_, n := utf8.DecodeRuneInString(rest)
				rest = rest[n:]
			}
			assert.True(t, strings.HasPrefix(rest, token.Text), "%s:%d:%d", file, token.Line, token.Column)
		}
	}
	assert.Greater(t, parsed, 15)
}
