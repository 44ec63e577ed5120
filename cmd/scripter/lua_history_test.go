package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestHistory(t *testing.T) {
	name := filepath.Join(t.TempDir(), "lua_history")
	h, err := readHistory(name)
	require.NoError(t, err)
	for _, line := range []string{"a", "a", "", "  ", "b\nc", "a"} {
		h.Add(line)
	}
	assert.Equal(t, []string{"a", "b c", "a"}, h.lines)
	assert.Equal(t, "b c", h.At(1))
	h.close()

	require.NoError(t, os.Chmod(name, 0o644), "someone has opened it to all")
	h, err = readHistory(name)
	require.NoError(t, err)
	assert.Equal(t, 3, h.Len())
	assert.Equal(t, "a", h.At(0))
	h.close()
	info, err := os.Stat(name)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())
}

// TestHistoryIsBounded checks that the newest lines stay and that the size of the file is limited.
func TestHistoryIsBounded(t *testing.T) {
	name := filepath.Join(t.TempDir(), "lua_history")
	var text strings.Builder
	for i := range 2*maxHistory + 1 {
		fmt.Fprintf(&text, "line %d\n", i)
	}
	require.NoError(t, os.WriteFile(name, []byte(text.String()), 0o600))
	h, err := readHistory(name)
	require.NoError(t, err)
	h.close()
	assert.Equal(t, maxHistory, h.Len())
	assert.Equal(t, fmt.Sprintf("line %d", 2*maxHistory), h.At(0))
	b, err := os.ReadFile(name)
	require.NoError(t, err)
	assert.Equal(t, strings.Join(h.lines, "\n")+"\n", string(b))
}

// TestHistoryWithoutAFile checks that the history works without a file if its folder cannot be made.
func TestHistoryWithoutAFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	t.Setenv("XDG_STATE_HOME", file)
	h, err := openHistory()
	require.Error(t, err)
	h.Add("a")
	assert.Equal(t, "a", h.At(0))
	h.close()
}
