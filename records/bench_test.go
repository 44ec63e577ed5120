package records

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

// benchRecords is the number of records of the benchmarks; SCRIPTER_RECORDS sets another one.
func benchRecords(b *testing.B) int {
	if s := os.Getenv("SCRIPTER_RECORDS"); s != "" {
		n, err := strconv.Atoi(s)
		require.NoError(b, err)
		return n
	}
	return 20_000
}

// fill makes records with a name of which each is there ten times, a number and a time.
func fill(b *testing.B, db *objectdb.DB, records int) {
	ctx := context.Background()
	for n := 0; n < records; {
		require.NoError(b, db.Update(ctx, func(tx *objectdb.Tx) error {
			for range 1000 {
				err := addRecord(tx, fmt.Sprintf("k%08d", n), "name", objectdb.String(fmt.Sprintf("name %d", n/10)),
					"n", objectdb.Number(n*7919%records), "added", objectdb.Date{Time: time.Unix(int64(n), 0)})
				if err != nil {
					return err
				}
				n++
			}
			return nil
		}))
	}
}

func BenchmarkFind(b *testing.B) {
	db := testRoot(b)
	records := benchRecords(b)
	fill(b, db, records)
	find := func(b *testing.B, q func(i int) Query, want int) {
		i := 0
		for b.Loop() {
			i++
			require.NoError(b, db.View(context.Background(), func(tx *objectdb.Tx) error {
				found, err := table(b, tx).Find(q(i * 7919))
				if err == nil && len(found.Records) != want {
					err = fmt.Errorf("%d records are found", len(found.Records))
				}
				return err
			}))
		}
	}
	byName := func(i int) Query {
		return Query{Where: []Condition{{Field: "name", Value: objectdb.String(fmt.Sprintf("name %d", i%(records/10)))}}}
	}
	b.Run("walk", func(b *testing.B) { find(b, byName, 10) })
	start := time.Now()
	declare(b, db, "name", "name, -added", "n")
	b.Logf("three indexes of %d records were built in %v", records, time.Since(start))
	b.Run("value", func(b *testing.B) { find(b, byName, 10) })
	b.Run("valueInOrder", func(b *testing.B) {
		find(b, func(i int) Query {
			q := byName(i)
			q.Order, q.Limit = []Order{{"added", true}}, 5
			return q
		}, 5)
	})
	b.Run("range", func(b *testing.B) {
		find(b, func(i int) Query {
			from := i % (records - 100)
			return Query{Limit: 20, Order: []Order{{"n", false}}, Where: []Condition{
				{Field: "n", Op: GreaterEqual, Value: objectdb.Number(from)}, {Field: "n", Op: Less, Value: objectdb.Number(from + 20)},
			}}
		}, 20)
	})
	b.Run("add", func(b *testing.B) {
		i := records
		for b.Loop() {
			i++
			require.NoError(b, db.Update(context.Background(), func(tx *objectdb.Tx) error {
				return addRecord(tx, NewKey(time.Now()), "name", objectdb.String("new"), "n", objectdb.Number(i))
			}))
		}
	})
}
