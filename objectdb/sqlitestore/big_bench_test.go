package sqlitestore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"scripter/objectdb"
)

// bigRoot returns a root with 1,015,004 objects below the table big: 500,000 strings in one table,
// 100,000 records of four values in another, and scripts and texts in tables that lie up to 20 deep.
//
// If OBJECTDB_BENCH_ROOT names a root, it is used, and filled first if it has no table big. If the
// file does not exist, it is made. So one root serves many runs, and tests by hand:
//
//	OBJECTDB_BENCH_ROOT=/tmp/big.root go test ./objectdb/sqlitestore -run xxx -bench BenchmarkPage
func bigRoot(b *testing.B) *objectdb.DB {
	b.Helper()
	path := os.Getenv("OBJECTDB_BENCH_ROOT")
	if path == "" {
		path = b.TempDir() + "/big.root"
	}
	o := objectdb.Options{Relaxed: true, LockTime: -1}
	db, err := Open(path, o)
	if errors.Is(err, fs.ErrNotExist) {
		db, err = Create(path, o)
	}
	require.NoError(b, err)
	b.Cleanup(func() { db.Close() })
	err = db.View(context.Background(), func(tx *objectdb.Tx) error {
		_, err := tx.Find(objectdb.Address{"big"})
		return err
	})
	if errors.Is(err, objectdb.ErrNotFound) {
		err = fillBig(db)
	}
	require.NoError(b, err)
	return db
}

// fillBig makes the objects in a few transactions, because all that one writes is in memory until its end.
func fillBig(db *objectdb.DB) error {
	steps := []struct {
		table string
		parts int
		fill  func(tx *objectdb.Tx, table *objectdb.Node, i int) error
	}{
		{"strings", 500_000, fillString},
		{"records", 100_000, fillRecord},
		{"deep", 250, fillDeep},
	}
	for _, s := range steps {
		each := s.parts / 10
		for from := 0; from < s.parts; from += each {
			err := db.UpdateLocked(context.Background(), func(tx *objectdb.Tx) error {
				a := objectdb.Address{"big", s.table}
				if err := tx.NewTable(a); err != nil {
					return err
				}
				table, err := tx.Find(a)
				for i := from; i < from+each && err == nil; i++ {
					err = s.fill(tx, table, i)
				}
				return err
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

func fillString(tx *objectdb.Tx, table *objectdb.Node, i int) error {
	return tx.Set(table, fmt.Sprintf("item%06d", i), objectdb.String(fmt.Sprintf("the value of item %d", i)))
}

var bigNames = []string{"Ada", "Grace", "Niklaus", "Edsger", "Barbara", "Straße", "Ærø", "Дмитрий", "Ωmega", "名前"}

func fillRecord(tx *objectdb.Tx, table *objectdb.Node, i int) error {
	record, err := tx.SetTable(table, fmt.Sprintf("person%05d", i))
	if err != nil {
		return err
	}
	for name, v := range map[string]objectdb.Value{
		"name":  objectdb.String(fmt.Sprint(bigNames[i%len(bigNames)], " ", i)),
		"age":   objectdb.Number(i % 100),
		"alive": objectdb.Boolean(i%3 > 0),
		"tags":  objectdb.List{objectdb.String("tag" + fmt.Sprint(i%7)), objectdb.Number(i)},
	} {
		if err := tx.Set(record, name, v); err != nil {
			return err
		}
	}
	return nil
}

// fillDeep makes 20 tables, each in the one before, with a script and a text in each.
func fillDeep(tx *objectdb.Tx, table *objectdb.Node, i int) error {
	table, err := tx.SetTable(table, fmt.Sprintf("branch%03d", i))
	for depth := 1; depth <= 20 && err == nil; depth++ {
		script := fmt.Sprintf("-- script %d of branch %d\nlocal n = %d\nreturn n + 1\n", depth, i, depth)
		text := strings.Repeat(fmt.Sprintf("<p>Page %d of branch %d.</p>\n", depth, i), 1+i%100)
		err = errors.Join(tx.Set(table, "script", objectdb.Script(script)), tx.Set(table, "page", objectdb.Text(text)))
		if err == nil && depth < 20 {
			table, err = tx.SetTable(table, fmt.Sprint("level", depth))
		}
	}
	return err
}

// BenchmarkPage reads 100 of the 500,000 objects of a table, as another process would that begins.
func BenchmarkPage(b *testing.B) {
	db := bigRoot(b)
	table := objectdb.Address{"big", "strings"}
	pages := map[string]func(tx *objectdb.Tx, t *objectdb.Node) (int, error){
		"first":  func(tx *objectdb.Tx, t *objectdb.Node) (int, error) { return pageLen(tx, t, "", "", false) },
		"middle": func(tx *objectdb.Tx, t *objectdb.Node) (int, error) { return pageLen(tx, t, "item250000", "", false) },
		"before": func(tx *objectdb.Tx, t *objectdb.Node) (int, error) { return pageLen(tx, t, "", "item250000", true) },
		"last":   func(tx *objectdb.Tx, t *objectdb.Node) (int, error) { return pageLen(tx, t, "", "", true) },
		"countUpTo10000": func(tx *objectdb.Tx, t *objectdb.Node) (int, error) {
			n, err := tx.CountUpTo(t, "", "", 10_000)
			return n / 100, err
		},
	}
	for name, page := range pages {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				require.NoError(b, db.View(context.Background(), func(tx *objectdb.Tx) error {
					t, err := tx.Find(table)
					require.NoError(b, err)
					n, err := page(tx, t)
					require.Equal(b, 100, n)
					return err
				}))
			}
		})
	}
	b.Run("fresh", func(b *testing.B) {
		for b.Loop() {
			fresh, err := Open(db.Path(), objectdb.Options{})
			require.NoError(b, err)
			require.NoError(b, fresh.View(context.Background(), func(tx *objectdb.Tx) error {
				t, err := tx.Find(table)
				require.NoError(b, err)
				_, err = tx.Page(t, "item250000", "", false, 100)
				return err
			}))
			require.NoError(b, fresh.Close())
		}
	})
}

// BenchmarkSearch reports, for each search, how long one call takes, how long all take, and how many there are.
func BenchmarkSearch(b *testing.B) {
	db := bigRoot(b)
	for name, o := range map[string]objectdb.SearchOptions{
		"name":              {Name: "level19"},
		"nameRare":          {Name: "item499999"},
		"nameOften":         {Name: "e"},
		"text":              {Text: "page 17 of branch 99."},
		"textRare":          {Text: "nowhere"},
		"textOften":         {Text: "item"},
		"textCyrillic":      {Text: "дмитрий 77"},
		"textOnlyCyrillic":  {Text: "ДМИТРИЙ"},
		"textOnlyGreekRare": {Text: "Οὐχὶ"},
		"both":              {Name: "prefs", Text: "prefs"},
		"below":             {Name: "script", Text: "n + 1", Below: objectdb.Address{"big", "deep", "branch100"}},
	} {
		b.Run(name, func(b *testing.B) {
			calls, found := 0, 0
			var longest time.Duration
			for b.Loop() {
				o.From = ""
				for {
					begun := time.Now()
					var r objectdb.SearchResults
					require.NoError(b, db.View(context.Background(), func(tx *objectdb.Tx) (err error) {
						r, err = tx.Search(o)
						return err
					}))
					longest = max(longest, time.Since(begun))
					calls, found = calls+1, found+len(r.Found)
					if o.From = r.Next; o.From == "" {
						break
					}
				}
			}
			b.ReportMetric(float64(calls)/float64(b.N), "calls/op")
			b.ReportMetric(float64(found)/float64(b.N), "found/op")
			b.ReportMetric(float64(b.Elapsed().Microseconds())/1000/float64(calls), "ms/call")
			b.ReportMetric(float64(longest.Microseconds())/1000, "longest-ms")
		})
	}
}

// BenchmarkCountObjects estimates the number of objects.
func BenchmarkCountObjects(b *testing.B) {
	db := bigRoot(b)
	info, err := db.Info(context.Background())
	require.NoError(b, err)
	for b.Loop() {
		require.NoError(b, db.View(context.Background(), func(tx *objectdb.Tx) error {
			n, _, err := tx.CountObjects()
			require.InEpsilon(b, info.Objects, n, 0.02)
			return err
		}))
	}
}

func pageLen(tx *objectdb.Tx, t *objectdb.Node, from, end string, backward bool) (int, error) {
	nodes, err := tx.Page(t, from, end, backward, 100)
	return len(nodes), err
}
