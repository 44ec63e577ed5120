package sqlitestore

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"scripter/objectdb"
)

// BenchmarkWalkAndWrite walks a root and writes one object, while another DB goes on
// committing something else. The metric is the longest wait of the other one for the
// writer's lock after the walk.
func BenchmarkWalkAndWrite(b *testing.B) {
	for _, n := range []int{10_000, 1_000_000} {
		b.Run(fmt.Sprint("objects=", n), func(b *testing.B) {
			db, _ := filled(b, n, objectdb.Options{})
			other, err := Open(db.Path(), objectdb.Options{Relaxed: true, BusyTimeout: time.Minute})
			require.NoError(b, err)
			defer other.Close()
			ctx := context.Background()
			raise := func(tx *objectdb.Tx) error { return increment(tx, objectdb.Address{"workspace", "n"}) }
			require.NoError(b, other.Update(ctx, raise))
			var longest time.Duration
			for b.Loop() {
				stop, stopped := make(chan bool), make(chan bool)
				require.NoError(b, db.Update(ctx, func(tx *objectdb.Tx) error {
					seen := 0
					if err := tx.Walk(objectdb.Address{"user"}, func(objectdb.Address, *objectdb.Node) error {
						seen++
						return nil
					}); err != nil {
						return err
					}
					if err := other.Update(ctx, raise); err != nil {
						return err
					}
					go func() {
						defer close(stopped)
						for {
							start := time.Now()
							if err := other.Update(ctx, raise); err != nil {
								b.Error(err)
							}
							longest = max(longest, time.Since(start))
							select {
							case <-stop:
								return
							case <-time.After(time.Millisecond):
							}
						}
					}()
					return tx.Put(objectdb.Address{"seen"}, objectdb.Number(seen))
				}))
				close(stop)
				<-stopped
			}
			b.ReportMetric(longest.Seconds()*1000, "longest-wait-ms")
		})
	}
}
