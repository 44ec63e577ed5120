package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// openTerminal returns the two ends of a terminal: that of the user and that of the program.
func openTerminal(t *testing.T) (person, program *os.File) {
	person, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	require.NoError(t, err)
	t.Cleanup(func() { person.Close() })
	require.NoError(t, unix.IoctlSetPointerInt(int(person.Fd()), unix.TIOCSPTLCK, 0))
	n, err := unix.IoctlGetInt(int(person.Fd()), unix.TIOCGPTN)
	require.NoError(t, err)
	program, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	require.NoError(t, err)
	t.Cleanup(func() { program.Close() })
	return person, program
}

// At a terminal, edit offers the editor again when a script does not compile.
func TestEditAgain(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	t.Setenv("SCRIPTER_ROOT", filepath.Join(dir, "scripter.root"))
	// The first time the editor writes a mistake, the second time it mends it.
	t.Setenv("VISUAL", `edit () {
		if grep -q mistake "$1"; then echo 'return 2' > "$1"; else echo 'mistake mistake' > "$1"; fi; }; edit`)
	scripter := func(in io.Reader, out io.Writer, args ...string) int {
		return run(context.Background(), args, in, out, out)
	}
	require.Zero(t, scripter(nil, io.Discard, "init"))
	require.Zero(t, scripter(nil, io.Discard, "put", "user.x", "--kind", "script", "return 1\n"))

	for answer, want := range map[string]int{"\n": 0, "n\n": 1} {
		require.Zero(t, scripter(nil, io.Discard, "put", "user.x", "--kind", "script", "return 1\n"))
		person, program := openTerminal(t)
		_, err := person.WriteString(answer)
		require.NoError(t, err)
		assert.Equal(t, want, scripter(program, program, "edit", "user.x"), "answer %q", answer)
	}
	left, err := filepath.Glob(filepath.Join(dir, "scripter-edit-*", "x.lua"))
	require.NoError(t, err)
	require.Len(t, left, 1, "only the text that was not stored stays")
	text, err := os.ReadFile(left[0])
	require.NoError(t, err)
	assert.Equal(t, "mistake mistake\n", string(text))
}

// TestEditCancelled checks that Ctrl-C while the editor runs does not end edit: the text is stored
// when the editor ends.
func TestEditCancelled(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("SCRIPTER_ROOT", filepath.Join(dir, "scripter.root"))
	started, cancelled := filepath.Join(dir, "started"), filepath.Join(dir, "cancelled")
	t.Setenv("VISUAL", fmt.Sprintf(`edit () {
		touch %s; while ! [ -e %s ]; do sleep 0.01; done; sleep 0.1; echo 'return 2' > "$1"; }; edit`, started, cancelled))
	scripter := func(ctx context.Context, out io.Writer, args ...string) int {
		return run(ctx, args, nil, out, out)
	}
	require.Zero(t, scripter(context.Background(), io.Discard, "init"))
	require.Zero(t, scripter(context.Background(), io.Discard, "put", "user.x", "--kind", "script", "return 1\n"))

	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
			if _, err := os.Stat(started); err == nil {
				break
			}
		}
		cancel()
		_ = os.WriteFile(cancelled, nil, 0o600)
	}()
	var out strings.Builder
	assert.Zero(t, scripter(ctx, &out, "edit", "user.x"), "%s", &out)
	out.Reset()
	require.Zero(t, scripter(context.Background(), &out, "get", "user.x"))
	assert.Equal(t, "return 2\n", out.String())
}
