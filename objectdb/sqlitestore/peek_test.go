package sqlitestore

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
)

// traces returns the name, content and time of every file in the folder of a root, and
// the time of the folder. Another process reads them: if this process closed a file that it
// also has open as a root, it would lose its locks.
func traces(t *testing.T, path string) string {
	t.Helper()
	out, err := exec.Command("sh", "-c", `find "$1" -printf '%p %T@ %s\n' -type f -exec sha256sum {} + | sort`,
		"sh", filepath.Dir(path)).Output()
	require.NoError(t, err)
	return string(out)
}

const peekVariable = "OBJECTDB_TEST_PEEK"

// peekAs prints the number x of a root, and ends.
func peekAs(path string) {
	err := Peek(context.Background(), path, func(tx *objectdb.Tx) error {
		v, err := tx.Get(objectdb.Address{"x"})
		fmt.Print(v)
		return err
	})
	if err != nil {
		fmt.Print("\n", err)
	}
	os.Exit(0)
}

// peekAt returns what another process sees, and fails if it changes a file or makes one.
func peekAt(t *testing.T, path string) string {
	t.Helper()
	before := traces(t, path)
	time.Sleep(10 * time.Millisecond) // the clock of the file system is coarse
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), peekVariable+"="+path)
	out, err := c.Output()
	require.NoError(t, err)
	assert.Equal(t, before, traces(t, path), "the files and the folder")
	return string(out)
}

func TestPeekLeavesNoTrace(t *testing.T) {
	put := func(db *objectdb.DB, n float64) {
		update(t, db, func(tx *objectdb.Tx) { require.NoError(t, tx.Put(objectdb.Address{"x"}, objectdb.Number(n))) })
	}
	path := filepath.Join(t.TempDir(), "a root?#%41")
	assert.Contains(t, peekAt(t, path), "create the root first")

	db, err := Create(path, patient)
	require.NoError(t, err)
	put(db, 1)
	require.NoError(t, db.Close())
	assert.Equal(t, "1", peekAt(t, path), "a root that nobody has open")

	db, err = Open(path, patient)
	require.NoError(t, err)
	put(db, 2)
	assert.Equal(t, "2", peekAt(t, path), "a root in use, with its WAL")
	require.NoError(t, db.UpdateLocked(t.Context(), func(tx *objectdb.Tx) error {
		require.NoError(t, tx.Put(objectdb.Address{"x"}, objectdb.Number(3)))
		assert.Equal(t, "2", peekAt(t, path), "a root that somebody writes")
		return nil
	}))

	killed := filepath.Join(t.TempDir(), "b.root")
	for _, suffix := range []string{"", "-wal", "-shm"} {
		require.NoError(t, exec.Command("cp", path+suffix, killed+suffix).Run())
	}
	require.NoError(t, db.Close())
	assert.Equal(t, "3", peekAt(t, killed), "a root of a program that was killed")
	require.NoError(t, os.Remove(killed+"-shm"))
	assert.Contains(t, peekAt(t, killed), "would be made", "without the file -shm")

	link := filepath.Join(t.TempDir(), "link.root")
	require.NoError(t, os.Symlink(path, link))
	assert.Equal(t, "3", peekAt(t, link), "a link to a root")

	assert.Contains(t, peekAt(t, oldRoot(t)), "it is of an older version")
	text := filepath.Join(t.TempDir(), "text.root")
	require.NoError(t, os.WriteFile(text, []byte("no root"), 0o600))
	assert.Contains(t, peekAt(t, text), "it does not begin as an SQLite file does")
}
