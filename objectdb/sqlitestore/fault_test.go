package sqlitestore

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
	"scripter/objectdb/storetest"
)

// tortureVariable says how many times longer the tests of faults run.
const tortureVariable = "OBJECTDB_TEST_TORTURE"

func torture() int {
	n, _ := strconv.Atoi(os.Getenv(tortureVariable))
	return max(n, 1)
}

// seedOfDamage returns the same seed for every ordinary run, so that a failure happens again.
// With tortureVariable it is a new one each time.
func seedOfDamage() uint64 {
	if torture() > 1 {
		return rand.Uint64()
	}
	return 1
}

// readAll opens a root, checks it and reads everything: what it holds, or an error.
func readAll(path string) (all map[string]objectdb.Value, err error) {
	db, err := Open(path, objectdb.Options{})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	problems, err := db.Check(context.Background())
	if err != nil {
		return nil, err
	}
	all = map[string]objectdb.Value{}
	err = db.View(context.Background(), func(tx *objectdb.Tx) error {
		return tx.Walk(objectdb.Address{}, func(a objectdb.Address, n *objectdb.Node) error {
			if n.Kind() == objectdb.KindTable {
				return nil
			}
			v, err := tx.Value(n)
			all[a.String()] = v
			return err
		})
	})
	if err == nil && len(problems) > 0 {
		err = fmt.Errorf("%w: %v", objectdb.ErrDamaged, problems[0])
	}
	return all, err
}

// deepFile returns the bytes of a root of several pages that nobody has open.
func deepFile(t *testing.T) ([]byte, map[string]objectdb.Value) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "whole.root")
	db, err := Create(path, objectdb.Options{Relaxed: true, Now: func() time.Time { return storetest.SomeDay }})
	require.NoError(t, err)
	update(t, db, func(tx *objectdb.Tx) {
		for i := range 60 {
			require.NoError(t, tx.Put(objectdb.Address{"t", fmt.Sprint(i % 7), "deep", fmt.Sprint("x", i)},
				objectdb.String(strings.Repeat("z", i*7))))
		}
		require.NoError(t, tx.Put(objectdb.Address{"big"}, objectdb.Text(strings.Repeat("big", 10_000))))
	})
	require.NoError(t, db.Close())
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	all, err := readAll(path)
	require.NoError(t, err)
	return content, all
}

// A file in which bytes were changed, or which was truncated, gives an error or its content:
// never a crash, and reading does not change it.
//
// Catalogue: P6
func TestDamagedFiles(t *testing.T) {
	whole, want := deepFile(t)
	path := filepath.Join(t.TempDir(), "a.root")
	seed := seedOfDamage()
	r := rand.New(rand.NewPCG(seed, 0))
	reported := 0
	for i := range 300 * torture() {
		content := []byte(string(whole))
		for range 1 + r.IntN(4) {
			switch at := r.IntN(len(content)); r.IntN(6) {
			case 0:
				content = content[:at+1]
			case 1:
				from := r.IntN(len(content))
				copy(content[at:min(at+r.IntN(5000), len(content))], content[from:])
			case 2:
				clear(content[at:min(at+r.IntN(5000), len(content))])
			default:
				content[at] ^= 1 << r.IntN(8)
			}
		}
		for _, suffix := range []string{"-wal", "-shm", "-lock"} {
			_ = os.Remove(path + suffix)
		}
		require.NoError(t, os.WriteFile(path, content, 0o600))
		story := fmt.Sprintf("seed %d, case %d", seed, i)
		got, err := readAll(path)
		if err == nil {
			// A changed bit of a value or of a time cannot be noticed; the rest is there.
			require.Len(t, got, len(want), story)
		} else {
			reported++
			known := false
			for _, e := range []error{objectdb.ErrDamaged, objectdb.ErrNotRoot, objectdb.ErrNewer, objectdb.ErrDisk} {
				known = known || errors.Is(err, e)
			}
			require.True(t, known, "%s: %v", story, err)
		}
		after, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, content, after, story)
	}
	assert.Positive(t, reported)
}

// SQLite replays a WAL in which bytes were changed, or which was truncated, as far as it is
// whole: the root is as it was after one of the commits.
//
// Catalogue: P6
func TestDamagedWAL(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.root")
	db, err := Create(path, objectdb.Options{Relaxed: true})
	require.NoError(t, err)
	defer db.Close()
	for n := range 60 {
		put(t, db, "a.n", objectdb.Number(n), "b.n", objectdb.Number(n), "b.x"+fmt.Sprint(n),
			objectdb.String(strings.Repeat("x", n*20)))
	}
	root, err := os.ReadFile(path)
	require.NoError(t, err)
	wal, err := os.ReadFile(path + "-wal")
	require.NoError(t, err)
	require.Greater(t, len(wal), 400_000)

	seed := seedOfDamage()
	r := rand.New(rand.NewPCG(seed, 0))
	copied := filepath.Join(dir, "copy.root")
	states := map[float64]bool{}
	for i := range 100 * torture() {
		content := []byte(string(wal))
		switch at := 32 + r.IntN(len(content)-32); r.IntN(3) {
		case 0:
			content = content[:at]
		case 1:
			content[at] ^= 1 << r.IntN(8)
		case 2:
			for i := range content[at:] {
				content[at+i] = byte(r.Uint32())
			}
		}
		for _, suffix := range []string{"-wal", "-shm", "-lock"} {
			_ = os.Remove(copied + suffix)
		}
		require.NoError(t, os.WriteFile(copied, root, 0o600))
		require.NoError(t, os.WriteFile(copied+"-wal", content, 0o600))
		story := fmt.Sprintf("seed %d, case %d", seed, i)
		got, err := readAll(copied)
		require.NoError(t, err, story)
		if len(got) == 0 {
			states[-1] = true
			continue
		}
		n, ok := got["a.n"].(objectdb.Number)
		require.True(t, ok, story)
		require.Equal(t, n, got["b.n"], story)
		require.Len(t, got, int(n)+3, story)
		states[float64(n)] = true
	}
	assert.Greater(t, len(states), 10)
}

// Catalogue: P7
func TestOpenMakesNoFile(t *testing.T) {
	dir := t.TempDir()
	_, err := Open(filepath.Join(dir, "a.root"), objectdb.Options{})
	require.ErrorIs(t, err, os.ErrNotExist)
	assert.Empty(t, fileNames(t, dir))
}

// The WAL is removed while the root is in use: no commit is lost, and later writes are
// refused.
func TestWALRemovedInUse(t *testing.T) {
	for _, written := range []bool{true, false} {
		path := filepath.Join(t.TempDir(), "a.root")
		db, err := Create(path, objectdb.Options{})
		require.NoError(t, err)
		for n := range 10 {
			put(t, db, "n", objectdb.Number(n))
		}
		if !written { // the one that writes has only read
			require.NoError(t, db.Close())
			db, err = Open(path, objectdb.Options{})
			require.NoError(t, err)
			requireEqual(t, objectdb.Number(9), get(t, db, "n"))
		}
		require.NoError(t, os.Remove(path+"-wal"))
		for range 2 {
			err = db.Update(context.Background(), func(tx *objectdb.Tx) error {
				return tx.Put(objectdb.Address{"n"}, objectdb.Number(99))
			})
			require.ErrorIs(t, err, objectdb.ErrDamaged)
			require.ErrorContains(t, err, "was removed while it was in use; end all programs that use it, and start them again")
		}
		requireEqual(t, objectdb.Number(9), get(t, db, "n"))

		// As if the program were killed: the files as they are now.
		content, err := os.ReadFile(path)
		require.NoError(t, err)
		copied := filepath.Join(t.TempDir(), "b.root")
		require.NoError(t, os.WriteFile(copied, content, 0o600))
		all, err := readAll(copied)
		require.NoError(t, err)
		assert.Equal(t, map[string]objectdb.Value{"n": objectdb.Number(9)}, all)
		require.NoError(t, db.Close())
		again, err := Open(path, objectdb.Options{})
		require.NoError(t, err)
		put(t, again, "n", objectdb.Number(10))
		requireSound(t, again)
		require.NoError(t, again.Close())
	}
}

// A commit whose sync fails is not acknowledged, nor is a later one until both are on the
// disk.
//
// Catalogue: P15
func TestCommitWithFailedSync(t *testing.T) {
	db, s := openStore(t, objectdb.Options{})
	put(t, db, "n", objectdb.Number(1))
	reader, writer, err := os.Pipe() // which cannot be synced
	require.NoError(t, err)
	defer writer.Close()
	require.Len(t, s.idle, 1)
	c := s.idle[0] // the next transaction uses it
	c.wal.letGo()
	c.wal = (&walFile{File: reader, info: c.wal.info}).hold()
	c.broken = true // so that it is not used again
	err = db.UpdateLocked(context.Background(), func(tx *objectdb.Tx) error {
		return tx.Put(objectdb.Address{"n"}, objectdb.Number(2))
	})
	require.ErrorIs(t, err, objectdb.ErrDisk)
	assert.ErrorContains(t, err, "what was committed may be lost when the power fails: invalid argument")
	assert.True(t, s.unsynced.marked())

	put(t, db, "m", objectdb.Number(3))
	assert.False(t, s.unsynced.marked())
	requireEqual(t, objectdb.Number(3), get(t, db, "m"))
}

// The WAL grows while a reader does not end, and is truncated afterwards.
//
// Catalogue: P16
func TestWALIsBounded(t *testing.T) {
	db, s := openStore(t, patient)
	pages := func() int64 {
		c, err := s.acquire()
		require.NoError(t, err)
		defer s.release(c)
		w, err := c.checkpoint(sqlWALState)
		require.NoError(t, err)
		return w.pages
	}
	written := 0
	write := func(n int) (most int64) {
		for i := range n {
			written++ // SQLite does not write what is the same
			put(t, db, fmt.Sprint("bulk.x", i%50), objectdb.Text(strings.Repeat(strconv.Itoa(written)+" ", 8_000)))
			if i%10 == 0 {
				most = max(most, pages())
			}
		}
		return most
	}
	assert.Less(t, write(400), int64(2*walFold+200))
	view(t, db, func(tx *objectdb.Tx) {
		_, err := tx.Get(objectdb.Address{"bulk", "x1"})
		require.NoError(t, err)
		assert.Greater(t, write(600), int64(4*walFold))
		info, err := os.Stat(db.Path() + "-wal")
		require.NoError(t, err)
		assert.Greater(t, info.Size(), int64(20<<20))
	})
	write(150)
	assert.Less(t, pages(), int64(2*walFold+200))
	info, err := os.Stat(db.Path() + "-wal")
	require.NoError(t, err)
	assert.LessOrEqual(t, info.Size(), int64(17<<20))
}
