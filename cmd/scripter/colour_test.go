package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/internal/testlog"
	"scripter/textdiff"
)

// onTerminal returns what print prints on a terminal.
func onTerminal(t *testing.T, print func(terminal *os.File)) string {
	t.Helper()
	person, program := openTerminal(t)
	var seen testlog.Buffer
	go io.Copy(&seen, person)
	print(program)
	const end = "the end"
	io.WriteString(program, end)
	require.Eventually(t, func() bool { return strings.Contains(seen.String(), end) }, patience, time.Millisecond)
	return strings.ReplaceAll(strings.TrimSuffix(seen.String(), end), "\r\n", "\n")
}

func TestDifferenceInColours(t *testing.T) {
	text := textdiff.Unified("before", "after", "same\n-- one\n", "same\n\x1b[5mtwo\n", 3)
	print := func(screen *os.File) {
		out := &visibleWriter{w: screen}
		(&tool{out: out, exact: screen, screen: screen}).printDifference(text)
	}
	const plain = "--- before\n+++ after\n@@ -1,2 +1,2 @@\n same\n--- one\n+\\x1b[5mtwo\n"
	t.Setenv("TERM", "xterm")
	t.Setenv("NO_COLOR", "")
	assert.Equal(t, "\x1b[1m--- before\x1b[m\n\x1b[1m+++ after\x1b[m\n\x1b[1m@@ -1,2 +1,2 @@\x1b[m\n same\n"+
		"\x1b[31m--- one\x1b[m\n\x1b[32m+\\x1b[5mtwo\x1b[m\n", onTerminal(t, print))
	file, err := os.Create(filepath.Join(t.TempDir(), "out"))
	require.NoError(t, err)
	print(file)
	require.NoError(t, file.Close())
	written, err := os.ReadFile(file.Name())
	require.NoError(t, err)
	assert.Equal(t, plain, string(written), "in a file")
	t.Setenv("NO_COLOR", "1")
	assert.Equal(t, plain, onTerminal(t, print), "NO_COLOR")
	t.Setenv("NO_COLOR", "")
	t.Setenv("TERM", "dumb")
	assert.Equal(t, plain, onTerminal(t, print), "TERM=dumb")
}

func TestReplayInColours(t *testing.T) {
	t.Setenv("SCRIPTER_ROOT", filepath.Join(t.TempDir(), "scripter.root"))
	t.Setenv("TERM", "xterm")
	t.Setenv("NO_COLOR", "")
	scripter := func(args ...string) {
		var out bytes.Buffer
		require.Zero(t, run(context.Background(), args, nil, &out, &out), "%s: %s", args, &out)
	}
	scripter("init")
	scripter("settings", "flDebug", "true")
	scripter("put", "suites.webserverScripts.x", "--kind", "script", `return "one"`)
	scripter("call", "/x.fcgi")
	scripter("put", "suites.webserverScripts.x", `return "two"`)
	out := onTerminal(t, func(terminal *os.File) {
		assert.Equal(t, 1, run(context.Background(), []string{"replay", "1", "--diff"}, nil, terminal, io.Discard))
	})
	assert.Equal(t, "\x1b[31m-one\x1b[m", strings.Split(out, "\n")[0])
	assert.Contains(t, out, "\x1b[32m+two\x1b[m\n")
}
