package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
	"scripter/objectdb/sqlitestore"
)

// toolOn returns a function that runs a command on a root, which must succeed.
func toolOn(t *testing.T, root string) func(args ...string) string {
	return func(args ...string) string {
		t.Helper()
		code, out, errs := tooled(t, append([]string{"--root", root}, args...)...)
		require.Zero(t, code, "%v: %s", args, errs)
		return out + errs
	}
}

// TestUndoAfterKill kills "scripter put" and "undo" at any moment. Every committed change can be
// taken back, and a change without a commit is not listed.
//
// Catalogue: I5
func TestUndoAfterKill(t *testing.T) {
	root := newRoot(t)
	scripter := toolOn(t, root)
	exe, err := os.Executable()
	require.NoError(t, err)
	program := filepath.Join(t.TempDir(), "scripter")
	require.NoError(t, os.Symlink(exe, program))
	killed := func(args ...string) {
		c := exec.Command(program, append([]string{"--root", root}, args...)...)
		require.NoError(t, c.Start())
		time.Sleep(time.Duration(rand.IntN(60)) * time.Millisecond)
		_ = c.Process.Kill()
		_ = c.Wait()
	}

	scripter("put", "scratchpad.first", "0", "-q")
	scripter("put", "scratchpad.n", "0", "-q", "--no-undo")
	done, lost := 0, 0
	for i := 1; i <= 40; i++ {
		before := scripter("get", "scratchpad.n")
		want := fmt.Sprintf("%d\n", i)
		killed("put", "scratchpad.n", strings.TrimSpace(want), "-q")
		switch now := scripter("get", "scratchpad.n"); now {
		case want:
			done++
			killed("undo")
			if scripter("get", "scratchpad.n") == want {
				scripter("undo")
			}
			require.Equal(t, before, scripter("get", "scratchpad.n"), "the change was taken back")
			if i%2 == 0 {
				scripter("redo")
				require.Equal(t, want, scripter("get", "scratchpad.n"))
			}
		case before:
			lost++
		default:
			t.Fatalf("it is %q, was %q, and %q was put", now, before, want)
		}
		// Only committed changes are listed: the records lead back to the beginning.
		list := scripter("undo", "--list")
		require.NotContains(t, list, "--force")
	}
	for code := 0; code == 0; {
		code, _, _ = tooled(t, "--root", root, "undo")
	}
	assert.Equal(t, "0\n", scripter("get", "scratchpad.n"))
	code, _, _ := tooled(t, "--root", root, "get", "scratchpad.first")
	assert.NotZero(t, code, "the first record was taken back, too")
	t.Logf("%d done, %d not", done, lost)
}

// TestRecordWithoutCommit checks that a record is skipped if its command was never committed.
//
// Catalogue: I5
func TestRecordWithoutCommit(t *testing.T) {
	root := newRoot(t)
	scripter := toolOn(t, root)
	scripter("put", "scratchpad.a", "old")
	scripter("put", "scratchpad.a", "new")

	tl := &tool{root: root, out: io.Discard, err: io.Discard}
	db, err := tl.open(forWork)
	require.NoError(t, err)
	defer db.Close()
	killed := errors.New("killed here")
	r := tl.stack(undoStack).newRecord("put scratchpad.b")
	a := objectdb.Address{"scratchpad", "b"}
	require.ErrorIs(t, db.UpdateLocked(context.Background(), func(tx *objectdb.Tx) error {
		require.NoError(t, r.tree(tx, a))
		require.NoError(t, tx.Put(a, objectdb.String("never")))
		require.NoError(t, r.finish(tx))
		return killed
	}), killed)
	require.FileExists(t, r.name)
	assert.NotContains(t, scripter("undo", "--list"), "scratchpad.b")
	assert.Contains(t, scripter("undo"), `"scripter put scratchpad.b" was not finished`)
	assert.Equal(t, "old\n", scripter("get", "scratchpad.a"))
	assert.NoFileExists(t, r.name)

	// The same where the command itself sees that the commit has failed.
	r = tl.stack(undoStack).newRecord("x")
	require.ErrorIs(t, tl.recorded(context.Background(), db, r, func(tx *objectdb.Tx) error {
		require.NoError(t, r.tree(tx, a))
		require.NoError(t, tx.Put(a, objectdb.String("never")))
		require.NoError(t, r.finish(tx))
		return killed
	}), killed)
	list, err := tl.stack(undoStack).files()
	require.NoError(t, err)
	assert.Len(t, list, 1)
}

// TestRecordsAreBounded checks that a record that would be too large is refused before anything is
// changed.
func TestRecordsAreBounded(t *testing.T) {
	root := newRoot(t)
	toolOn(t, root)("put", "scratchpad.a", "old")
	tl := &tool{root: root, out: io.Discard, err: io.Discard}
	db, err := tl.open(forWork)
	require.NoError(t, err)
	defer db.Close()
	r := tl.stack(undoStack).newRecord("rm")
	err = tl.recorded(context.Background(), db, r, func(tx *objectdb.Tx) error {
		r.bytes = recordBytes
		return r.tree(tx, objectdb.Address{"scratchpad", "a"})
	})
	assert.ErrorContains(t, err, "keep what is replaced: it has more than 256 MB")
	assert.Contains(t, hint(err), "--no-undo")
	left, err := filepath.Glob(root + ".undo.part-*")
	require.NoError(t, err)
	assert.Empty(t, left)

	// Of many large records the oldest are removed.
	s := tl.stack(undoStack)
	require.NoError(t, s.prune(0, 0))
	for i := range 3 {
		name := fmt.Sprintf("%s2026010%dT000000.000Z.zip", s.prefix(), i+1)
		require.NoError(t, os.WriteFile(name, make([]byte, 100), 0o600))
	}
	require.NoError(t, s.prune(maxRecords, 250))
	list, err := s.files()
	require.NoError(t, err)
	assert.Len(t, list, 2)
	require.NoError(t, s.prune(maxRecords, 50))
	list, err = s.files()
	require.NoError(t, err)
	assert.Equal(t, []string{s.prefix() + "20260103T000000.000Z.zip"}, list, "the newest stays")
}

// TestForeignRecord checks that a record that another user has put beside the root is not read.
//
// Catalogue: I6
func TestForeignRecord(t *testing.T) {
	root := newRoot(t)
	scripter := toolOn(t, root)
	scripter("put", "scratchpad.a", "mine")
	list, err := (&tool{root: root}).stack(undoStack).files()
	require.NoError(t, err)
	require.Len(t, list, 1)
	content, err := os.ReadFile(list[0])
	require.NoError(t, err)
	theirs := root + ".undo-20990101T000000.000Z.zip"
	require.NoError(t, os.WriteFile(theirs, content, 0o600))
	require.NoError(t, os.Chmod(theirs, 0o622))
	link := root + ".undo-20990101T000000.001Z.zip"
	require.NoError(t, os.Symlink(list[0], link))
	part := root + ".undo.part-1"
	require.NoError(t, os.WriteFile(part, nil, 0o600))
	require.NoError(t, os.Chmod(part, 0o666))
	if os.Geteuid() == 0 {
		require.NoError(t, os.WriteFile(root+".undo-20990101T000000.002Z.zip", content, 0o600))
		require.NoError(t, os.Chown(root+".undo-20990101T000000.002Z.zip", 12345, 12345))
	}
	scripter("put", "scratchpad.b", "mine")
	assert.Equal(t, 2, strings.Count(scripter("undo", "--list"), "scripter put"))
	scripter("undo")
	scripter("undo")
	assert.FileExists(t, theirs)
	assert.FileExists(t, part)

	// The error of a damaged record names the file to remove.
	scripter("put", "scratchpad.a", "mine")
	list, err = (&tool{root: root}).stack(undoStack).files()
	require.NoError(t, err)
	require.NoError(t, os.Truncate(list[0], 100))
	code, _, errs := tooled(t, "--root", root, "undo")
	assert.Equal(t, 1, code)
	assert.Contains(t, errs, list[0]+": archive is refused")
	assert.Contains(t, errs, "remove this file")
	assert.Contains(t, scripter("undo", "--list"), "archive is refused")
}

// TestUndoForTheOwner checks that the owner of a root can read the records of commands that the
// administrator has run on it.
func TestUndoForTheOwner(t *testing.T) {
	if os.Geteuid() != 0 {
		return // only the administrator can change the owner of a file
	}
	root := newRoot(t)
	require.NoError(t, os.Chown(root, 12345, 12345))
	toolOn(t, root)("put", "scratchpad.a", "x")
	list, err := (&tool{root: root}).stack(undoStack).files()
	require.NoError(t, err)
	require.Len(t, list, 1)
	info, err := os.Stat(list[0])
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	assert.Equal(t, uint32(12345), info.Sys().(*syscall.Stat_t).Uid)
}

// TestUndoOfAll checks that undo restores objects of every kind unchanged.
func TestUndoOfAll(t *testing.T) {
	root := newRoot(t)
	scripter := toolOn(t, root)
	before := exportOf(t, root)
	scripter("rm", "-r", "apps", "scratchpad", "suites", "system", "user")
	assert.Equal(t, "apps, scratchpad, suites, system, user", strings.Join(tops(t, root, "undo"), ", "))
	assert.Equal(t, before, exportOf(t, root))
	assert.Empty(t, tops(t, root, "redo"))
	tops(t, root, "undo")
	assert.Equal(t, before, exportOf(t, root))
}

// tops runs a command and returns the names at the top of the root.
func tops(t *testing.T, root string, command string) []string {
	t.Helper()
	toolOn(t, root)(command)
	return strings.Fields(strings.ReplaceAll(toolOn(t, root)("ls"), ".", ""))
}

// exportOf returns all objects as text.
func exportOf(t *testing.T, root string) string {
	t.Helper()
	db, err := sqlitestore.Open(root, forReading)
	require.NoError(t, err)
	defer db.Close()
	var b strings.Builder
	require.NoError(t, db.View(context.Background(), func(tx *objectdb.Tx) error {
		return tx.Walk(nil, func(a objectdb.Address, n *objectdb.Node) error {
			v, err := valueOf(tx, n)
			fmt.Fprintf(&b, "%s %s %q\n", a, n.Kind(), valueText(v))
			return err
		})
	}))
	return b.String()
}
