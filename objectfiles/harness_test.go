package objectfiles

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"scripter/objectdb"
)

// open returns a new root, which is checked at the end of the test.
func open(t testing.TB) *objectdb.DB {
	t.Helper()
	options := objectdb.Options{Relaxed: true, BusyTimeout: time.Minute, LockTime: time.Minute}
	db, err := objectdb.Create(filepath.Join(t.TempDir(), "test.root"), options)
	require.NoError(t, err)
	t.Cleanup(func() {
		problems, err := db.Check(context.Background())
		require.NoError(t, err)
		require.Empty(t, problems)
		require.NoError(t, db.Close())
	})
	return db
}

func update(t testing.TB, db *objectdb.DB, fn func(*objectdb.Tx)) {
	t.Helper()
	require.NoError(t, db.Update(context.Background(), func(tx *objectdb.Tx) error { fn(tx); return nil }))
}

func view(t testing.TB, db *objectdb.DB, fn func(*objectdb.Tx)) {
	t.Helper()
	require.NoError(t, db.View(context.Background(), func(tx *objectdb.Tx) error { fn(tx); return nil }))
}

func addr(t testing.TB, s string) objectdb.Address {
	t.Helper()
	a, err := objectdb.ParseAddress(s)
	require.NoError(t, err)
	return a
}

// put stores values in one transaction: address, value, address, value…
func put(t testing.TB, db *objectdb.DB, pairs ...any) {
	t.Helper()
	update(t, db, func(tx *objectdb.Tx) {
		for i := 0; i < len(pairs); i += 2 {
			require.NoError(t, tx.Put(addr(t, pairs[i].(string)), pairs[i+1].(objectdb.Value)))
		}
	})
}

func get(t testing.TB, db *objectdb.DB, a string) (v objectdb.Value) {
	t.Helper()
	view(t, db, func(tx *objectdb.Tx) {
		var err error
		v, err = tx.Get(addr(t, a))
		require.NoError(t, err)
	})
	return v
}

// names returns the names of the children at a, separated by blanks.
func names(t testing.TB, tx *objectdb.Tx, a string) string {
	t.Helper()
	objects, err := tx.List(addr(t, a))
	require.NoError(t, err)
	var list []string
	for _, o := range objects {
		list = append(list, o.Name)
	}
	return strings.Join(list, " ")
}

func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		require.NoError(t, err)
		return v
	}
}

func stat(t testing.TB, db *objectdb.DB, a string) (o objectdb.Object) {
	t.Helper()
	view(t, db, func(tx *objectdb.Tx) { o = must(tx.Stat(addr(t, a)))(t) })
	return o
}

// dump returns all that a root says of its objects.
func dump(t testing.TB, db *objectdb.DB) (all []string) {
	t.Helper()
	view(t, db, func(tx *objectdb.Tx) {
		require.NoError(t, tx.Walk(objectdb.Address{}, func(a objectdb.Address, n *objectdb.Node) error {
			line := fmt.Sprintf("%s %d %+v", a, n.ID(), must(tx.Stat(a))(t))
			if n.Kind() != objectdb.KindTable {
				line += fmt.Sprintf(" %v", must(tx.Value(n))(t))
			}
			all = append(all, line)
			return nil
		}))
	})
	return all
}

func requireEqual(t testing.TB, want, got objectdb.Value) {
	t.Helper()
	if !objectdb.Equal(want, got) {
		require.Equal(t, want, got)
		t.Fatalf("want %#v, got %#v", want, got)
	}
}

// oddValues are values that a form might get wrong.
var oddValues = func() []objectdb.Value {
	values := []objectdb.Value{objectdb.Boolean(true), objectdb.Boolean(false)}
	for _, f := range []float64{
		0, math.Copysign(0, -1), 1.5, 1 << 53, -(1<<53 - 1), 1e300, 5e-324, math.MaxFloat64,
		math.Inf(1), math.Inf(-1), math.NaN(), 0.1, 1e21, 123456789012345680000,
	} {
		values = append(values, objectdb.Number(f))
	}
	for _, s := range []string{
		"", "\n", "line\n", "ä\u0000b", "\x00", "\xff\xfe", "a\r\nb", "\ufffd", "\ufeffbom", "nan", "a\x01", "<&\"'>\r \t x", "\u2028",
		"\t", "\t\tjump", "a\n\t\tb", "a\n\tb\n\t\tc\nd", "return 1\n", strings.Repeat("x", 16<<10+1), strings.Repeat("ä", 100_000),
	} {
		values = append(values, objectdb.String(s), objectdb.Text(s), objectdb.Outline(s), objectdb.Script(s))
	}
	dates := objectdb.List{}
	for _, t := range []time.Time{
		time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC),
		time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC),
		time.Date(9999, 12, 31, 23, 59, 59, 999999999, time.UTC),
	} {
		dates = append(dates, objectdb.Date{Time: t})
	}
	values = append(values, dates...)
	for _, b := range []objectdb.Binary{
		{Type: "image/gif", Data: "GIF89a\x00\xff"}, {}, {Type: "text/x-odd; charset=\"ä\"", Data: "x"},
		{Type: "application/octet-stream", Data: strings.Repeat("\x00", 50_000)}, {Type: "application/json", Data: "{}"},
	} {
		values = append(values, b)
	}
	values = append(values, objectdb.Address{}, objectdb.Address{"user", "odd.name", "\"\\\n\x01"}, objectdb.Address{"ä"})
	every := slices.Clone(values)
	values = append(values, objectdb.List{}, dates, objectdb.List(every), objectdb.List{objectdb.List{objectdb.List{}}})
	// Records, some of which look like the JSON form of another kind.
	for _, text := range []string{
		`[{}, null, {"": null, "A": [], "a": {"b": [{"c": 1}]}, "x\u0000\n.": {"date": "2026-01-02T03:04:05Z"}}]`,
		`[{"record": {"date": "x"}}, {"record": {"record": {"record": {"record": 1}}}}]`,
		`[{"record": {"base64": true, "string": "/w=="}}, {"record": {"binary": "", "type": "x"}}, {"base64": 1, "type": 1}]`,
		`[{"date": null, "text": null}, {"record": {"table": {"text": "t"}}}]`,
	} {
		v, err := objectdb.ParseJSON(text)
		if err != nil {
			panic(err)
		}
		values = append(values, v)
	}
	return values
}()

var someDay = time.Date(2026, 1, 31, 18, 30, 0, 123, time.UTC)
