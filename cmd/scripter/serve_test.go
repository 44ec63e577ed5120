package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What serve prints to try next can be typed as it stands.
func TestTyped(t *testing.T) {
	for program, want := range map[string]string{
		"scripter":                                 "scripter",
		"bin/scripter":                             "bin/scripter",
		"/tmp/go-build123/b001/exe/scripter":       "go run ./cmd/scripter",
		"/root/.cache/go-build/1f/1f0c-d/scripter": "go run ./cmd/scripter",
		"/usr/local/bin/scripter":                  "/usr/local/bin/scripter",
	} {
		assert.Equal(t, want, typed(program))
	}
}

// Errors are shown in the page if the standard output of serve is a terminal, unless
// --errors says otherwise.
func TestShowsErrors(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "out"))
	require.NoError(t, err)
	defer file.Close()
	terminal, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	require.NoError(t, err)
	defer terminal.Close()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	require.NoError(t, err)
	defer null.Close()
	for _, c := range []struct {
		screen *os.File
		flag   string
		want   bool
	}{
		{terminal, "", true}, {file, "", false}, {null, "", false}, {nil, "", false},
		{terminal, "log", false}, {file, "page", true}, {nil, "page", true},
	} {
		got, err := (&tool{screen: c.screen}).showsErrors(c.flag)
		require.NoError(t, err)
		assert.Equal(t, c.want, got, c.flag)
	}
	_, err = (&tool{}).showsErrors("both")
	assert.ErrorAs(t, err, &usageError{})
}
