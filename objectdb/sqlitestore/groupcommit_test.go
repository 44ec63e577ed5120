package sqlitestore

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
)

func testWAL(t *testing.T, name string) *walFile {
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	w, err := openWAL(path)
	require.NoError(t, err)
	t.Cleanup(w.letGo)
	return w
}

// waiting reports whether a group waits for its sync.
func (rs *groupCommit) waiting() bool {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	return rs.next != nil
}

// All commits that come while a sync is under way share the next one.
func TestCommitsShareOneSync(t *testing.T) {
	var rs groupCommit
	w := testWAL(t, "wal")
	first, goOn := make(chan struct{}), make(chan struct{})
	var all sync.WaitGroup
	all.Go(func() {
		assert.NoError(t, rs.join(w, func() error {
			close(first)
			<-goOn
			return nil
		}))
	})
	<-first
	failure := errors.New("the disk is gone")
	var syncs, joined atomic.Int32
	for range 20 {
		all.Go(func() {
			joined.Add(1)
			assert.Equal(t, failure, rs.join(w, func() error {
				syncs.Add(1)
				return failure
			}), "all of a group get its error")
		})
	}
	require.Eventually(t, func() bool { return joined.Load() == 20 && rs.waiting() }, 20*time.Second, time.Millisecond)
	assert.Zero(t, syncs.Load(), "the one under way is not theirs")
	close(goOn)
	all.Wait()
	assert.GreaterOrEqual(t, syncs.Load(), int32(1))
	assert.Less(t, syncs.Load(), int32(20))
	assert.False(t, rs.waiting())
}

// If SQLite has made a new WAL, a commit syncs that file and not the old one.
func TestSyncAfterNewWAL(t *testing.T) {
	var rs groupCommit
	first, goOn := make(chan struct{}), make(chan struct{})
	var all sync.WaitGroup
	old := testWAL(t, "old")
	all.Go(func() {
		_ = rs.join(old, func() error { close(first); <-goOn; return nil })
	})
	<-first
	all.Go(func() { _ = rs.join(old, func() error { return nil }) })
	require.Eventually(t, rs.waiting, 20*time.Second, time.Millisecond)
	mine := false
	require.NoError(t, rs.join(testWAL(t, "new"), func() error { mine = true; return nil }))
	assert.True(t, mine)
	close(goOn)
	all.Wait()
}

// After a failed sync no commit is acknowledged until the WAL is rewritten.
//
// Catalogue: P15
func TestCommitFailsAfterFailedSync(t *testing.T) {
	db, s := openStore(t, objectdb.Options{})
	put(t, db, "n", objectdb.Number(1))
	s.unsynced.mark()
	require.ErrorIs(t, s.sync(testWAL(t, "wal")), objectdb.ErrDisk)
	put(t, db, "n", objectdb.Number(2)) // which repairs it
	require.NoError(t, s.sync(testWAL(t, "wal")))
}

// BenchmarkCommit raises a counter in transactions that hold the lock from their
// start, so many at a time. Requests raise it, or a person, whose changes are all kept.
func BenchmarkCommit(b *testing.B) {
	for _, relaxed := range []bool{true, false} {
		for _, n := range []int{1, 4, 16} {
			b.Run(fmt.Sprintf("relaxed=%v/goroutines=%d", relaxed, n), func(b *testing.B) {
				benchmarkCommit(b, n, objectdb.Options{Relaxed: relaxed})
			})
		}
		b.Run(fmt.Sprintf("relaxed=%v/kept", relaxed), func(b *testing.B) {
			benchmarkCommit(b, 1, objectdb.Options{Relaxed: relaxed, Origin: objectdb.Origin{Person: true}})
		})
	}
}

func benchmarkCommit(b *testing.B, n int, o objectdb.Options) {
	o.LockTime, o.BusyTimeout = -1, time.Minute
	db, err := Create(b.TempDir()+"/bench.root", o)
	require.NoError(b, err)
	defer db.Close()
	ctx, left := context.Background(), atomic.Int64{}
	left.Store(int64(b.N))
	require.NoError(b, db.Update(ctx, func(tx *objectdb.Tx) error {
		return tx.Put(objectdb.Address{"n"}, objectdb.Number(0))
	}))
	b.ReportAllocs()
	b.ResetTimer()
	var all sync.WaitGroup
	for range n {
		all.Go(func() {
			for left.Add(-1) >= 0 {
				if err := db.UpdateLocked(ctx, raise); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
}

func raise(tx *objectdb.Tx) error {
	v, err := tx.Get(objectdb.Address{"n"})
	if err != nil {
		return err
	}
	return tx.Put(objectdb.Address{"n"}, v.(objectdb.Number)+1)
}

// BenchmarkChangeLog adds a commit to a log that is full.
func BenchmarkChangeLog(b *testing.B) {
	places := []objectdb.Place{{Table: 12345, Fold: "n"}}
	var log changeLog
	for i := range int64(1000) {
		log = log.with(i, places)
	}
	b.ReportAllocs()
	for b.Loop() {
		_ = log.with(1000, places)
	}
}
