package pgstore

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"scripter/objectdb"
	"scripter/objectdb/sqlitestore"
	"scripter/objectdb/storetest"
)

// BenchmarkCached reads ten objects that are in the cache: in a transaction that may begin with a recent state, in
// one that begins with the newest, and in an SQLite file.
func BenchmarkCached(b *testing.B) {
	db, s := newRoot(b, newURL(b), patient)
	s.poller.path = filepath.Join(b.TempDir(), "newest")
	file, err := sqlitestore.Create(filepath.Join(b.TempDir(), "site.db"), patient)
	require.NoError(b, err)
	defer file.Close()
	var list []objectdb.Address
	for _, name := range []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"} {
		storetest.Put(b, db, name, objectdb.String(name))
		storetest.Put(b, file, name, objectdb.String(name))
		list = append(list, storetest.Addr(b, name))
	}
	read := func(tx *objectdb.Tx) error {
		for _, a := range list {
			if _, err := tx.Get(a); err != nil {
				return err
			}
		}
		return nil
	}
	for _, way := range []struct {
		name string
		run  transact
	}{{"recent", db.UpdateRecent}, {"newest", db.Update}, {"sqlite", file.UpdateRecent}} {
		b.Run(way.name, func(b *testing.B) {
			for b.Loop() {
				require.NoError(b, way.run(b.Context(), read))
			}
		})
		b.Run(way.name+"-parallel", func(b *testing.B) {
			b.SetParallelism(4) // 8 goroutines on two cores
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					require.NoError(b, way.run(b.Context(), read))
				}
			})
		})
	}
}

// BenchmarkStatements raises a number: with prepared statements, without them, and through pgbouncer. Each takes two
// round trips.
func BenchmarkStatements(b *testing.B) {
	for name, root := range map[string]string{
		"named": newURL(b), "unnamed": newURL(b) + "&default_query_exec_mode=cache_describe", "pgbouncer": newPooled(b, 8),
	} {
		db, _ := newRoot(b, root, patient)
		storetest.Put(b, db, "n", objectdb.Number(0))
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				require.NoError(b, db.Update(b.Context(), func(tx *objectdb.Tx) error {
					return storetest.Increment(tx, storetest.Addr(b, "n"))
				}))
			}
		})
	}
}
