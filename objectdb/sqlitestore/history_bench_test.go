package sqlitestore

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"scripter/objectdb"
)

// withHistory returns a root with a hundred objects in a table, of which persons have made
// that many changes in a year, and one beside them that was changed a hundred times.
func withHistory(b *testing.B, changes int) *objectdb.DB {
	b.Helper()
	clock := time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)
	o := byPerson
	o.Now = func() time.Time { return clock }
	o.History = func(*objectdb.Tx) (*objectdb.HistoryRules, error) { return &objectdb.HistoryRules{Whole: 1 << 20}, nil }
	db, err := Create(b.TempDir()+"/bench.root", o)
	require.NoError(b, err)
	b.Cleanup(func() { db.Close() })
	for i := range changes {
		clock = clock.Add(365 * 24 * time.Hour / time.Duration(changes))
		a := objectdb.Address{"site", "pages", fmt.Sprint("page", i%100)}
		if i%(changes/100) == 50 {
			a = objectdb.Address{"site", "pages", "rare"}
		}
		require.NoError(b, db.Update(context.Background(), func(tx *objectdb.Tx) error {
			return tx.Put(a, objectdb.String(fmt.Sprint("value ", i)))
		}))
	}
	return db
}

// BenchmarkHistory reads a root with many changes.
func BenchmarkHistory(b *testing.B) {
	changes, _ := strconv.Atoi(os.Getenv("OBJECTDB_BENCH_CHANGES"))
	db := withHistory(b, max(changes, 10_000))
	last := int64(0)
	b.Run("log", func(b *testing.B) {
		for b.Loop() {
			require.NoError(b, db.View(context.Background(), func(tx *objectdb.Tx) error {
				ids, err := tx.IDsAt(objectdb.Address{"site", "pages", "rare"})
				require.NoError(b, err)
				list, err := tx.ChangesOf(ids)
				require.NoError(b, err)
				require.Len(b, list, 100)
				for _, g := range list[:20] {
					_, err := tx.Change(g)
					require.NoError(b, err)
					_, err = tx.StateAt(ids[0], g)
					require.NoError(b, err)
				}
				return nil
			}))
		}
	})
	require.NoError(b, db.View(context.Background(), func(tx *objectdb.Tx) error {
		for c, err := range tx.Changes(0) {
			last = c.Generation
			return err
		}
		return nil
	}))
	o := objectdb.Options{Relaxed: true, CacheBytes: -1}
	uncached, err := Open(db.Path(), o)
	require.NoError(b, err)
	defer uncached.Close()
	for _, then := range []struct {
		name       string
		generation int64
	}{{"now", 0}, {"then=1", 1 + last/100}, {"then=half", last / 2}, {"then=last", last - 1}} {
		for _, cache := range []bool{true, false} {
			at := db
			if !cache {
				at = uncached
			}
			if then.generation > 0 {
				at = at.At(then.generation, nil)
			}
			run := func(name string, fn func(tx *objectdb.Tx) error) {
				b.Run(fmt.Sprintf("%s/%s/cache=%v", name, then.name, cache), func(b *testing.B) {
					for b.Loop() {
						require.NoError(b, at.View(context.Background(), fn))
					}
				})
			}
			run("get", func(tx *objectdb.Tx) error {
				for i := range 20 {
					if _, err := tx.Get(objectdb.Address{"site", "pages", "page" + strconv.Itoa(i)}); err != nil {
						return err
					}
				}
				return nil
			})
			run("list", func(tx *objectdb.Tx) error {
				_, err := tx.List(objectdb.Address{"site", "pages"})
				return err
			})
		}
	}
}

// A counter that requests raise all the time hardly makes the root grow.
func TestACounterHardlyMakesTheRootGrow(t *testing.T) {
	clock := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	o := patient
	o.Now = func() time.Time { return clock }
	db := openRootWith(t, o)
	size := func() int64 {
		info, err := os.Stat(save(t, db, objectdb.SaveOptions{Keep: 1}).Path)
		require.NoError(t, err)
		return info.Size()
	}
	update(t, db, func(tx *objectdb.Tx) { require.NoError(t, increment(tx, objectdb.Address{"counters", "n"})) })
	before := size()
	raises := 20_000 * torture()
	for range raises {
		clock = clock.Add(60 * 24 * time.Hour / time.Duration(raises)) // it soon drops what is too old
		update(t, db, func(tx *objectdb.Tx) { require.NoError(t, increment(tx, objectdb.Address{"counters", "n"})) })
	}
	growth := size() - before
	t.Logf("%d raises in 60 days: %d bytes", raises, growth)
	require.Less(t, growth, int64(200_000))
}
