package sqlitestore

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"scripter/objectdb"
)

// filled returns a root with about n objects, a hundred in a table, five levels
// deep, and the address of one of them.
func filled(b *testing.B, n int, o objectdb.Options) (*objectdb.DB, objectdb.Address) {
	b.Helper()
	o.Relaxed, o.LockTime = true, -1
	db, err := Create(b.TempDir()+"/bench.root", o)
	require.NoError(b, err)
	b.Cleanup(func() { db.Close() })
	for from := 0; from < n; from += 100_000 {
		require.NoError(b, db.UpdateLocked(context.Background(), func(tx *objectdb.Tx) error {
			for i := from; i < min(n, from+100_000); i++ {
				a := objectdb.Address{"user", "webserver", fmt.Sprint("site", i/10000), fmt.Sprint("table", i/100%100),
					fmt.Sprint("object", i%100)}
				if err := tx.Put(a, objectdb.String(fmt.Sprint("value ", i))); err != nil {
					return err
				}
			}
			return nil
		}))
	}
	return db, objectdb.Address{"user", "webserver", "site0", "table3", "object42"}
}

func eachSize(b *testing.B, fn func(b *testing.B, n int)) {
	for _, n := range []int{1_000, 1_000_000} {
		b.Run(fmt.Sprint("objects=", n), func(b *testing.B) { fn(b, n) })
	}
}

// lookUp walks five levels in one long transaction.
func lookUp(
	b *testing.B, db *objectdb.DB, a objectdb.Address, run func(context.Context, func(*objectdb.Tx) error) error,
) {
	require.NoError(b, run(context.Background(), func(tx *objectdb.Tx) error {
		b.ReportAllocs()
		b.ResetTimer()
		for b.Loop() {
			n := tx.Root()
			for _, name := range a {
				var err error
				if n, err = tx.Child(n, name); err != nil {
					return err
				}
			}
			if _, err := tx.Value(n); err != nil {
				return err
			}
		}
		return nil
	}))
}

func BenchmarkLookUpCached(b *testing.B) {
	eachSize(b, func(b *testing.B, n int) {
		db, a := filled(b, n, objectdb.Options{})
		lookUp(b, db, a, db.View)
	})
}

func BenchmarkLookUpCachedInUpdate(b *testing.B) {
	eachSize(b, func(b *testing.B, n int) {
		db, a := filled(b, n, objectdb.Options{})
		lookUp(b, db, a, db.Update)
	})
}

func BenchmarkLookUpUncached(b *testing.B) {
	eachSize(b, func(b *testing.B, n int) {
		db, a := filled(b, n, objectdb.Options{CacheBytes: -1})
		lookUp(b, db, a, db.View)
	})
}

func BenchmarkView(b *testing.B) {
	db, a := filled(b, 1000, objectdb.Options{})
	b.ReportAllocs()
	for b.Loop() {
		require.NoError(b, db.View(context.Background(), func(tx *objectdb.Tx) error {
			_, err := tx.Get(a)
			return err
		}))
	}
}

// BenchmarkPageUnderWrites reads 20 values in each transaction, alone, and while another
// process writes another object 100 times a second.
func BenchmarkPageUnderWrites(b *testing.B) {
	for _, writes := range []bool{false, true} {
		b.Run(fmt.Sprint("writes=", writes), func(b *testing.B) {
			db, a := filled(b, 1000, objectdb.Options{})
			other, err := Open(db.Path(), objectdb.Options{Relaxed: true}) // has a cache of its own
			require.NoError(b, err)
			defer other.Close()
			ctx, cancel := context.WithCancel(context.Background())
			var writer sync.WaitGroup
			defer writer.Wait()
			defer cancel()
			if writes {
				writer.Go(func() {
					beat := time.NewTicker(10 * time.Millisecond)
					defer beat.Stop()
					for ctx.Err() == nil {
						<-beat.C
						if err := other.Update(ctx, func(tx *objectdb.Tx) error {
							return increment(tx, objectdb.Address{"workspace", "n"})
						}); err != nil && ctx.Err() == nil {
							b.Error(err)
						}
					}
				})
			}
			table := a.Parent()
			for b.Loop() {
				require.NoError(b, db.View(context.Background(), func(tx *objectdb.Tx) error {
					for i := range 20 {
						if _, err := tx.Get(table.Child("object" + strconv.Itoa(i))); err != nil {
							return err
						}
					}
					return nil
				}))
			}
		})
	}
}

func BenchmarkList(b *testing.B) {
	eachSize(b, func(b *testing.B, n int) {
		db, a := filled(b, n, objectdb.Options{})
		b.ReportAllocs()
		for b.Loop() {
			require.NoError(b, db.View(context.Background(), func(tx *objectdb.Tx) error {
				_, err := tx.List(a.Parent())
				return err
			}))
		}
	})
}

func BenchmarkCounter(b *testing.B) {
	eachSize(b, func(b *testing.B, n int) {
		db, _ := filled(b, n, objectdb.Options{})
		b.ReportAllocs()
		for b.Loop() {
			require.NoError(b, db.Update(context.Background(), func(tx *objectdb.Tx) error {
				return increment(tx, objectdb.Address{"user", "webserver", "n"})
			}))
		}
	})
}

func BenchmarkCounterContended(b *testing.B) {
	db, _ := filled(b, 1000, objectdb.Options{})
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			err := db.Update(context.Background(), func(tx *objectdb.Tx) error {
				return increment(tx, objectdb.Address{"user", "webserver", "n"})
			})
			if err != nil {
				b.Error(err)
			}
		}
	})
}

func BenchmarkOpenAndRead(b *testing.B) {
	db, a := filled(b, 1000, objectdb.Options{})
	path := db.Path()
	require.NoError(b, db.Close())
	for b.Loop() {
		db, err := Open(path, objectdb.Options{})
		require.NoError(b, err)
		require.NoError(b, db.View(context.Background(), func(tx *objectdb.Tx) error {
			_, err := tx.Get(a)
			return err
		}))
		require.NoError(b, db.Close())
	}
}

func BenchmarkTry(b *testing.B) {
	db, a := filled(b, 1000, objectdb.Options{})
	require.NoError(b, db.Update(context.Background(), func(tx *objectdb.Tx) error {
		b.ReportAllocs()
		for b.Loop() {
			if err := tx.Try(func() error { _, err := tx.Get(a); return err }); err != nil {
				return err
			}
		}
		return nil
	}))
}
