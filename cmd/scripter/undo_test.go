package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
	"scripter/objectdb/sqlitestore"
	"scripter/site"
	"scripter/valuetext"
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
// taken back.
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

	scripter("put", "user.first", "0", "-q")
	scripter("put", "user.n", "0", "-q")
	done, lost := 0, 0
	for i := 1; i <= 40; i++ {
		before := scripter("get", "user.n")
		want := fmt.Sprintf("%d\n", i)
		killed("put", "user.n", strings.TrimSpace(want), "-q")
		switch now := scripter("get", "user.n"); now {
		case want:
			done++
			killed("undo")
			if scripter("get", "user.n") == want {
				scripter("undo")
			}
			require.Equal(t, before, scripter("get", "user.n"), "the change was taken back")
			if i%2 == 0 {
				scripter("redo")
				require.Equal(t, want, scripter("get", "user.n"))
			}
		case before:
			lost++
		default:
			t.Fatalf("it is %q, was %q, and %q was put", now, before, want)
		}
	}
	// The changes lead back to the beginning.
	for code := 0; code == 0; {
		code, _, _ = tooled(t, "--root", root, "undo")
	}
	for _, name := range []string{"user.n", "user.first"} {
		code, _, _ := tooled(t, "--root", root, "get", name)
		assert.NotZero(t, code, "the first changes were taken back, too")
	}
	t.Logf("%d done, %d not", done, lost)
}

// TestUndoOfAll checks that undo restores objects of every kind unchanged.
func TestUndoOfAll(t *testing.T) {
	root := newRoot(t)
	scripter := toolOn(t, root)
	scripter("rm", "-q", site.FlDirtyRoot.Address().String()) // nothing of it is kept
	before := exportOf(t, root)
	scripter("rm", "-r", "apps", "suites", "system", "user")
	assert.Equal(t, "apps, scratchpad, suites, system, user", strings.Join(tops(t, root, "undo"), ", "))
	assert.Equal(t, before, exportOf(t, root))
	assert.Equal(t, []string{"scratchpad"}, tops(t, root, "redo"))
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
			fmt.Fprintf(&b, "%s %s %q\n", a, n.Kind(), valuetext.Format(v))
			return err
		})
	}))
	return b.String()
}

// TestUndoOfImport checks that undo takes back an import of many objects, also in another
// process, and that redo makes it again.
func TestUndoOfImport(t *testing.T) {
	root := newRoot(t)
	scripter := toolOn(t, root)
	dir := t.TempDir()
	for i := range 3000 {
		folder := filepath.Join(dir, fmt.Sprintf("t%d", i%30))
		require.NoError(t, os.MkdirAll(folder, 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(folder, fmt.Sprintf("x%d.txt", i)), []byte("new"), 0o600))
	}
	scripter("put", "-p", "many.t1.x1", "--kind", "text", "old")
	before := exportOf(t, root)
	scripter("import", dir, "many")
	after := exportOf(t, root)
	assert.Contains(t, scripter("log", "-n", "1"), "3,029 objects in many")
	assert.Contains(t, scripter("undo"), "1 object changed, 3,028 objects removed")
	assert.Equal(t, before, exportOf(t, root))
	scripter("redo")
	assert.Equal(t, after, exportOf(t, root))
}

// TestUndoOfTwoUsers checks that each change says whose it is, and that undo takes back the last
// one of any person.
func TestUndoOfTwoUsers(t *testing.T) {
	root := newRoot(t)
	ctx := context.Background()
	for _, user := range []string{"ada", "eve"} {
		db, err := sqlitestore.Open(root, objectdb.Options{
			Origin: objectdb.Origin{Person: true, Who: user, Why: "scripter put"},
		})
		require.NoError(t, err)
		require.NoError(t, db.Update(ctx, func(tx *objectdb.Tx) error {
			return tx.Put(objectdb.Address{"user", "by_" + user}, objectdb.String(user))
		}))
		require.NoError(t, db.Close())
	}
	scripter := toolOn(t, root)
	log := strings.Split(scripter("log", "-n", "2"), "\n")
	assert.Contains(t, log[0], "scripter put (eve)  added user.by_eve")
	assert.Contains(t, log[1], "scripter put (ada)  added user.by_ada")
	log = strings.Split(scripter("log", "--who", "ADA"), "\n")
	assert.Len(t, log, 2)
	assert.Contains(t, log[0], "user.by_ada")
	assert.Contains(t, scripter("undo"), "added user.by_eve")
	assert.Contains(t, scripter("undo"), "added user.by_ada")
}

// TestOldRecords checks that the records of earlier versions beside the root are left alone.
func TestOldRecords(t *testing.T) {
	root := newRoot(t)
	scripter := toolOn(t, root)
	record := root + ".undo-20260131T183000.000Z.zip"
	require.NoError(t, os.WriteFile(record, []byte("x"), 0o600))
	scripter("put", "user.a", "1")
	scripter("undo")
	assert.FileExists(t, record)
	code, _, errs := tooled(t, "--root", root, "undo")
	assert.Equal(t, 1, code)
	assert.Contains(t, errs, "there is nothing to take back")
}
