package sqlitestore

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
)

// The file -shm is removed while a process writes. That process goes on, and a new one is
// refused: it would overwrite the commits of the first one. When the first one has ended,
// all its acknowledged commits are there.
//
// Catalogue: P6
func TestSharedMemoryRemoved(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.root")
	db, err := Create(path, objectdb.Options{})
	require.NoError(t, err)
	put(t, db, "all", objectdb.Number(0))
	require.NoError(t, db.Close())

	step, end := startSteps(t, path)
	step()
	link := filepath.Join(t.TempDir(), "link.root")
	require.NoError(t, os.Symlink(path, link))
	require.NoError(t, os.Remove(path+"-shm"))
	for _, o := range []objectdb.Options{{BusyTimeout: 50 * time.Millisecond},
		{BusyTimeout: 50 * time.Millisecond, ReadOnly: true}} {
		for _, name := range []string{path, link} {
			_, err = Open(name, o)
			require.ErrorIs(t, err, objectdb.ErrDamaged)
			assert.ErrorContains(t, err, "its file -shm was removed while it was in use; end all programs that use it")
		}
	}
	assert.NoFileExists(t, path+"-shm")
	var told float64
	for range 10 {
		told = step()
	}
	end()

	db, err = Open(path, objectdb.Options{BusyTimeout: patience, LockTime: patience})
	require.NoError(t, err)
	defer db.Close()
	require.NoError(t, db.View(context.Background(), func(tx *objectdb.Tx) error {
		all, err := tx.Get(objectdb.Address{"all"})
		assert.GreaterOrEqual(t, float64(all.(objectdb.Number)), told)
		return err
	}))
}

// startSteps starts a process that raises counters in the root. step waits until it prints its
// own counter; end kills it.
func startSteps(t *testing.T, path string) (step func() float64, end func()) {
	t.Helper()
	writer := exec.Command(os.Args[0])
	writer.Env = append(os.Environ(), stepVariable+"="+path, stepVariable+"_NAME=one")
	out, err := writer.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, writer.Start())
	end = sync.OnceFunc(func() {
		writer.Process.Kill()
		writer.Wait()
	})
	t.Cleanup(end)
	lines := bufio.NewReader(out)
	return func() float64 {
		line, err := lines.ReadString('\n')
		require.NoError(t, err)
		n, err := strconv.ParseFloat(strings.TrimSpace(line), 64)
		require.NoError(t, err, line)
		return n
	}, end
}

// Another file replaces a root in use. It is refused as long as a process has the old one
// open, because the WAL beside it is that of the old one.
//
// Catalogue: P6
func TestRootReplacedInUse(t *testing.T) {
	dir := t.TempDir()
	path, next := filepath.Join(dir, "a.root"), filepath.Join(dir, "next.root")
	for _, name := range []string{path, next} {
		db, err := Create(name, objectdb.Options{})
		require.NoError(t, err)
		put(t, db, "all", objectdb.Number(0))
		require.NoError(t, db.Close())
	}
	step, end := startSteps(t, path)
	step()
	before, err := os.ReadFile(next)
	require.NoError(t, err)
	require.NoError(t, os.Rename(next, path))
	_, err = Open(path, objectdb.Options{BusyTimeout: 50 * time.Millisecond})
	require.ErrorIs(t, err, objectdb.ErrDamaged)
	assert.ErrorContains(t, err, "another file took its place while programs used that one")
	after, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, before, after)
	end()
	for _, left := range []string{"-wal", "-shm"} {
		require.NoError(t, os.Rename(path+left, path+".old"+left))
	}
	db, err := Open(path, objectdb.Options{BusyTimeout: patience, LockTime: patience})
	require.NoError(t, err)
	defer db.Close()
	require.NoError(t, db.View(context.Background(), func(tx *objectdb.Tx) error {
		all, err := tx.Get(objectdb.Address{"all"})
		assert.Equal(t, objectdb.Number(0), all)
		return err
	}))
}

// A process that has a root open which was moved, or replaced by another file, can read. Its
// writes would be lost, and are refused.
//
// Catalogue: P6
func TestRootMovedInUse(t *testing.T) {
	for what, move := range map[string]func(path string) error{
		"moved":   func(path string) error { return os.Rename(path, path+".moved") },
		"removed": os.Remove,
		"replaced": func(path string) error {
			if err := os.WriteFile(path+".next", []byte("another file"), 0o600); err != nil {
				return err
			}
			return os.Rename(path+".next", path)
		},
	} {
		t.Run(what, func(t *testing.T) {
			db := openRoot(t)
			put(t, db, "n", objectdb.Number(1))
			require.NoError(t, move(db.Path()))
			err := db.Update(context.Background(), func(tx *objectdb.Tx) error {
				return tx.Put(objectdb.Address{"n"}, objectdb.Number(2))
			})
			require.ErrorIs(t, err, objectdb.ErrDamaged)
			assert.ErrorContains(t, err, "it was moved, or another file took its place, while it was in use")
			requireEqual(t, objectdb.Number(1), get(t, db, "n"))
		})
	}
}
