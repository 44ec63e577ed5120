package sqlitestore

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
	"scripter/objectdb/storetest"
)

// A commit is not acknowledged after a sync has failed in another process. Another DB of
// the same file takes the place of that process.
//
// Catalogue: P15
func TestFailedSyncOfAnotherProcess(t *testing.T) {
	db, s := openStore(t, objectdb.Options{})
	put(t, db, "n", objectdb.Number(1))
	others, err := open(db.Path(), objectdb.Options{})
	require.NoError(t, err)
	other := objectdb.New(others, objectdb.Options{})
	put(t, other, "n", objectdb.Number(2))

	s.unsynced.mark()
	c, err := others.acquire()
	require.NoError(t, err)
	require.NoError(t, c.findWAL())
	assert.ErrorIs(t, others.sync(c.wal), objectdb.ErrDisk, "its own sync succeeds, and says nothing of what was lost")
	folded, err := c.checkpoint(sqlCheckpoint)
	require.NoError(t, err)
	assert.True(t, folded.busy, "the root is not written while the WAL may have gaps")
	others.release(c)

	put(t, other, "n", objectdb.Number(3)) // rewrites the WAL
	assert.False(t, s.unsynced.marked())
	put(t, db, "n", objectdb.Number(4))
	require.NoError(t, other.Close())
	requireEqual(t, objectdb.Number(4), get(t, db, "n"))
}

func TestUnsyncedMark(t *testing.T) {
	u := &unsynced{root: filepath.Join(t.TempDir(), "a.root")}
	assert.False(t, u.marked())
	u.mark()
	first, marked := u.at()
	require.True(t, marked)
	u.mark()
	second, _ := u.at()
	assert.NotEqual(t, first, second)
	require.NoError(t, u.clear(first))
	assert.True(t, u.marked(), "the mark of a later failure stays")
	require.NoError(t, u.clear(second))
	assert.False(t, u.marked())
	require.NoError(t, u.clear(second), "it is gone already")
	left, err := os.ReadDir(filepath.Dir(u.root))
	require.NoError(t, err)
	assert.Empty(t, left)

	// If the mark cannot be made, the process at least refuses its own commits.
	u.root = filepath.Join(t.TempDir(), "gone", "a.root")
	u.mark()
	assert.True(t, u.marked())
}

// Closing the last connection rewrites the WAL before SQLite folds it into the root.
//
// Catalogue: P15
func TestCloseAfterFailedSync(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.root")
	require.NoError(t, create(path, objectdb.Options{}))
	s, err := open(path, objectdb.Options{})
	require.NoError(t, err)
	db := objectdb.New(s, objectdb.Options{})
	put(t, db, "n", objectdb.Number(1))
	s.unsynced.mark()
	require.NoError(t, db.Close())
	left, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	require.Len(t, left, 1)
	all, err := readAll(path)
	require.NoError(t, err)
	assert.Equal(t, map[string]objectdb.Value{"n": objectdb.Number(1)}, all)
}

// Pages that the kernel has dropped from memory cannot be rewritten, and are reported.
//
// Catalogue: P15
func TestRewriteFindsLostPages(t *testing.T) {
	db, s := openStore(t, objectdb.Options{})
	put(t, db, "n", objectdb.Number(1))
	put(t, db, "n", objectdb.Number(2))
	wal := db.Path() + "-wal"
	content, err := os.ReadFile(wal)
	require.NoError(t, err)
	f, err := os.OpenFile(wal, os.O_WRONLY, 0)
	require.NoError(t, err)
	defer f.Close()
	at := int64(len(content) - 100)
	_, err = f.WriteAt(bytes.Repeat([]byte{0xff}, 50), at)
	require.NoError(t, err)
	s.unsynced.mark()
	err = db.UpdateLocked(t.Context(), func(tx *objectdb.Tx) error {
		return tx.Put(objectdb.Address{"n"}, objectdb.Number(3))
	})
	require.ErrorIs(t, err, objectdb.ErrDamaged)
	assert.ErrorContains(t, err, "the disk has lost 1 of")
	assert.True(t, s.unsynced.marked())
	_, err = f.WriteAt(content[at:], at)
	require.NoError(t, err)
	put(t, db, "n", objectdb.Number(4))
	assert.False(t, s.unsynced.marked())
}

func FuzzSoundFrames(f *testing.F) {
	path := filepath.Join(f.TempDir(), "a.root")
	db, err := Create(path, objectdb.Options{Now: func() time.Time { return storetest.SomeDay }})
	require.NoError(f, err)
	require.NoError(f, db.Update(f.Context(), func(tx *objectdb.Tx) error {
		return tx.Put(objectdb.Address{"n"}, objectdb.Number(1))
	}))
	wal, err := os.ReadFile(path + "-wal")
	require.NoError(f, err)
	require.NoError(f, db.Close())
	frames, err := soundFrames(bytes.NewReader(wal))
	require.NoError(f, err)
	require.Equal(f, int64(len(wal)-walHeaderSize)/(frameHeaderSize+4096), frames)
	f.Add(wal)
	f.Add(wal[:len(wal)-1])
	f.Add(wal[:walHeaderSize])
	f.Fuzz(func(t *testing.T, wal []byte) {
		n, err := soundFrames(bytes.NewReader(wal))
		require.NoError(t, err)
		require.LessOrEqual(t, n, int64(len(wal))/512)
	})
}
