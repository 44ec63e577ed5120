package objectfiles

import (
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"scripter/objectdb"
	"scripter/objectdb/sqlitestore"
	"scripter/objectdb/storetest"
)

var (
	update       = storetest.Update
	view         = storetest.View
	addr         = storetest.Addr
	put          = storetest.Put
	get          = storetest.Get
	names        = storetest.Names
	stat         = storetest.Stat
	requireEqual = storetest.RequireEqual
)

func must[V any](v V, err error) func(testing.TB) V { return storetest.Must(v, err) }

// open returns a new root, which is checked at the end of the test.
func open(t testing.TB) *objectdb.DB {
	t.Helper()
	db, err := sqlitestore.Create(filepath.Join(t.TempDir(), "test.root"), storetest.Patient)
	require.NoError(t, err)
	t.Cleanup(func() {
		storetest.RequireSound(t, db)
		require.NoError(t, db.Close())
	})
	return db
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
		"", "\n", "line\n", "ä\u0000b", "\x00", "\xff\xfe", "a\r\nb", "\ufffd", "\ufeffbom", "nan", "a\x01", "<&\"'>\r \t x",
		"\u2028",
		"\t", "\t\tjump", "a\n\t\tb", "a\n\tb\n\t\tc\nd", "return 1\n", strings.Repeat("x", 16<<10+1),
		strings.Repeat("ä", 100_000),
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

func export(t testing.TB, db *objectdb.DB, a, dir string) (count int) {
	t.Helper()
	return exportTo(t, db, a, dir, false).Objects
}

func exportTo(t testing.TB, db *objectdb.DB, a, dir string, mirror bool) (p *ExportPlan) {
	t.Helper()
	view(t, db, func(tx *objectdb.Tx) {
		p = must(PlanExport(tx, addr(t, a), dir))(t)
		defer p.Close()
		require.NoError(t, p.Do(mirror))
	})
	return p
}

func importDir(t testing.TB, db *objectdb.DB, fsys fs.FS, a string) (r ImportResult) {
	t.Helper()
	update(t, db, func(tx *objectdb.Tx) { r = must(Import(tx, fsys, addr(t, a), nil))(t) })
	return r
}

// contents returns the files of a folder without the note of an export, by path.
func contents(t testing.TB, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	require.NoError(t, fs.WalkDir(os.DirFS(dir), ".", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || path == exportNoteFile {
			return err
		}
		b, err := os.ReadFile(filepath.Join(dir, path))
		all[path] = string(b)
		return err
	}))
	return all
}

func randomName(r *rand.Rand) string {
	if r.IntN(2) == 0 {
		return oddNames[r.IntN(len(oddNames))]
	}
	runes := []rune("aB.%/ _-ä\x01\u0301日\\:")
	b := make([]rune, 1+r.IntN(6))
	for i := range b {
		b[i] = runes[r.IntN(len(runes))]
	}
	return string(b)
}

func randomValue(r *rand.Rand, depth int) objectdb.Value {
	switch {
	case r.IntN(2) == 0:
		return oddValues[r.IntN(len(oddValues))]
	case r.IntN(2) == 0 && depth < 3:
		list := make(objectdb.List, r.IntN(4))
		for i := range list {
			list[i] = randomValue(r, depth+1)
		}
		return list
	}
	alphabet := []string{"\t", "\n", "a", "b ", "ä", "\r", "<", "&", "\"", "\x00", "\xff", "\u2028"}
	var b strings.Builder
	for range r.IntN(12) {
		b.WriteString(alphabet[r.IntN(len(alphabet))])
	}
	s := b.String()
	return []objectdb.Value{objectdb.String(s), objectdb.Text(s), objectdb.Script(s), objectdb.Outline(s),
		objectdb.Binary{Type: []string{"image/png", "text/x-y", ""}[r.IntN(3)], Data: s},
		objectdb.Number(r.NormFloat64())}[r.IntN(6)]
}

func requireSameTree(t *testing.T, want, got *objectdb.DB) {
	t.Helper()
	view(t, want, func(w *objectdb.Tx) {
		view(t, got, func(g *objectdb.Tx) {
			require.NoError(t, w.Walk(objectdb.Address{}, func(a objectdb.Address, n *objectdb.Node) error {
				other := must(g.Find(a))(t)
				require.Equal(t, n.Name(), other.Name())
				require.Equal(t, n.Kind(), other.Kind(), a.String())
				if n.Kind() != objectdb.KindTable {
					requireEqual(t, must(w.Value(n))(t), must(g.Value(other))(t))
				}
				return nil
			}))
		})
	})
}

func writeFile(t testing.TB, content string, path ...string) {
	t.Helper()
	name := filepath.Join(path...)
	require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
	require.NoError(t, os.WriteFile(name, []byte(content), 0o644))
}
