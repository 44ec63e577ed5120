package pgstore

import (
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
)

const maxAge = objectdb.MaxAge

func newPageFile(t *testing.T) (path string, one, other *page) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "newest")
	one, err := openPage(path)
	require.NoError(t, err)
	other, err = openPage(path)
	require.NoError(t, err)
	return path, one, other
}

func known(p *page) int64 {
	s, ok := p.read(clock(), maxAge)
	if !ok {
		return 0
	}
	return s.generation
}

// What one process has found, another one reads, until it is too old.
func TestPage(t *testing.T) {
	path, one, other := newPageFile(t)
	info, err := os.Stat(path)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode())
	assert.Zero(t, known(other))
	publish := func(generation, floor int64, age time.Duration) {
		one.publish(sight{generation, 100 + generation, clock() - int64(age)}, floor)
	}
	publish(3, 0, 0)
	assert.EqualValues(t, 3, known(other))
	publish(2, 0, 0) // its query was answered before the commit of 3
	assert.EqualValues(t, 3, known(other))
	publish(4, 3, maxAge/2)
	assert.EqualValues(t, 4, known(other))
	publish(4, 3, maxAge) // an older query with the same answer
	assert.EqualValues(t, 4, known(other))
	publish(5, 3, maxAge)
	assert.Zero(t, known(other), "it is too old")
	publish(4, 3, 0)
	assert.Zero(t, known(other), "and the one before it must not be used")
	publish(4, 5, 0) // the server has lost 5
	assert.EqualValues(t, 4, known(other))
	publish(6, 4, -time.Hour)
	assert.Zero(t, known(other), "it is of another time")
	one.publish(sight{7, 107, 0}, 0)
	_, ok := other.read(0, maxAge)
	assert.False(t, ok, "there is no clock")
}

// A page that is damaged, or was written before the last boot, is empty. It can be used again after the next write.
func TestDamagedPage(t *testing.T) {
	path, one, other := newPageFile(t)
	now := sight{3, 7, clock()}
	for i := range 8 * 5 {
		one.publish(now, one.floor())
		require.NotZero(t, known(other))
		f, err := os.OpenFile(path, os.O_RDWR, 0)
		require.NoError(t, err)
		b := make([]byte, 1)
		_, err = f.ReadAt(b, int64(i))
		require.NoError(t, err)
		b[0] ^= 1 << (i % 8)
		_, err = f.WriteAt(b, int64(i))
		require.NoError(t, err)
		if i >= 8 { // not the floor
			require.Zero(t, known(other), i)
		}
		require.NoError(t, f.Close())
		one.publish(now, one.floor())
		one.guarded(func(w *pageWords) { w.floor.Store(0) })
	}
	one.publish(now, 0)
	other.seed++
	assert.Zero(t, known(other))
}

// A file that was cut short does not end the process.
func TestCutPage(t *testing.T) {
	path, one, other := newPageFile(t)
	one.publish(sight{3, 7, clock()}, 0)
	require.NoError(t, os.Truncate(path, 0))
	assert.Zero(t, known(other))
	assert.False(t, other.ask(clock()))
	one.publish(sight{4, 7, clock()}, 0)

	db, s := newRoot(t, newURL(t), patient)
	s.poller.path = path
	put(t, db, "n", objectdb.Number(1))
	polls(t, db, s, "n")
	require.NoError(t, os.Truncate(path, 0))
	polls(t, db, s, "n")
}

// If the file cannot be used, each process polls for itself.
func TestNoPage(t *testing.T) {
	folder := t.TempDir()
	for name, make := range map[string]func(path string) error{
		"link":   func(path string) error { return os.Symlink("target", path) },
		"folder": func(path string) error { return os.Mkdir(path, 0o700) },
		"public": func(path string) error { return os.WriteFile(path, nil, 0o644) },
	} {
		path := filepath.Join(folder, name)
		require.NoError(t, make(path))
		_, err := openPage(path)
		require.Error(t, err, name)
	}
	_, err := os.Stat(filepath.Join(folder, "target"))
	require.ErrorIs(t, err, os.ErrNotExist)

	db, s := newRoot(t, newURL(t), patient)
	s.poller.path = filepath.Join(folder, "public", "newest")
	put(t, db, "n", objectdb.Number(1))
	polls(t, db, s, "n")
}

// All may write at any time. What is read was written by one of them.
func TestPageOfMany(t *testing.T) {
	_, one, other := newPageFile(t)
	begun := clock()
	var writers sync.WaitGroup
	for i, p := range []*page{one, other, one, other} {
		writers.Go(func() {
			for k := range int64(20000) {
				g := k + int64(i)
				p.publish(sight{g, 5 * g, begun + g}, 0)
			}
		})
	}
	done := make(chan struct{})
	go func() { writers.Wait(); close(done) }()
	floor, seen := int64(0), 0
	for open := true; open; {
		select {
		case <-done:
			open = false
		default:
		}
		if s, ok := other.read(clock(), time.Hour); ok {
			require.Equal(t, sight{s.generation, 5 * s.generation, begun + s.generation}, s)
			require.GreaterOrEqual(t, s.generation, floor)
			floor = s.generation
			seen++
		}
	}
	assert.NotZero(t, seen)
}
