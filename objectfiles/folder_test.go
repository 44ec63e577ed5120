package objectfiles

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"scripter/objectdb"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Specification: 2.4.2
func TestTheFolderForm(t *testing.T) {
	db := open(t)
	put(t, db,
		"suites.webserver.httpheader", objectdb.Script("return 1"),
		"suites.page", objectdb.Text("no newline added"), "suites.greeting", objectdb.String("hello\n"),
		"suites.idea", objectdb.Outline("one\n\ttwo & \"three\"\n\t\tfour\nfive"),
		"suites.odd", objectdb.Outline("\t\tjump"),
		"suites.n", objectdb.Number(5), "suites.yes", objectdb.Boolean(true),
		"suites.when", objectdb.Date{Time: time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC)},
		"suites.where", objectdb.Address{"user", "odd.name"},
		"suites.list", objectdb.List{objectdb.Number(1), objectdb.String("two"), objectdb.List{}},
		"suites.logo", objectdb.Binary{Type: "image/gif", Data: "GIF89a"},
		"suites.style", objectdb.Binary{Type: "text/css", Data: "body{}"},
		"suites.data", objectdb.Binary{Type: "application/x-odd", Data: "\x00"},
		`suites.["logo.gif"].x`, objectdb.Number(1), `suites.["a/b"]`, objectdb.Number(2),
		`suites.["con"]`, objectdb.Number(3),
	)
	update(t, db, func(tx *objectdb.Tx) { require.NoError(t, tx.NewTable(addr(t, "suites.empty"))) })
	dir := t.TempDir()
	assert.Equal(t, 19, export(t, db, "suites", dir))
	assert.Equal(t, map[string]string{
		"_index.json": "{\n\t\".\": {\"form\":1},\n\t\"data.bin\": " +
			"{\"kind\":\"binary\",\"type\":\"application/x-odd\"},\n\t\"odd.txt\": {\"kind\":\"outline\"}\n}\n",
		"webserver/httpheader.lua": "return 1",
		"page.txt":                 "no newline added",
		"greeting.str":             "hello\n",
		"idea.opml": `<?xml version="1.0" encoding="UTF-8"?>
<opml version="2.0">
	<head></head>
	<body>
		<outline text="one">
			<outline text="two &amp; &#34;three&#34;">
				<outline text="four"/>
			</outline>
		</outline>
		<outline text="five"/>
	</body>
</opml>
`,
		"odd.txt":           "\t\tjump",
		"n.json":            "5\n",
		"yes.json":          "true\n",
		"when.json":         "{\n\t\"date\": \"2026-01-02T15:04:05Z\"\n}\n",
		"where.json":        "{\n\t\"address\": \"user.[\\\"odd.name\\\"]\"\n}\n",
		"list.json":         "[\n\t1,\n\t\"two\",\n\t[]\n]\n",
		"logo.gif":          "GIF89a",
		"style.css":         "body{}",
		"data.bin":          "\x00",
		"logo%2Egif/x.json": "1\n",
		"a%2Fb.json":        "2\n",
		"%63on.json":        "3\n",
		"empty/_index.json": "{}\n",
	}, contents(t, dir))
}

func TestImportOfAnExportChangesNothing(t *testing.T) {
	db := open(t)
	update(t, db, func(tx *objectdb.Tx) {
		for i, v := range oddValues {
			require.NoError(t, tx.Put(objectdb.Address{"values", fmt.Sprint("v", i)}, v))
		}
		for i, name := range oddNames {
			v := oddValues[i%len(oddValues)]
			_ = tx.Put(objectdb.Address{"names", name}, v) // some are the same but for case
			_ = tx.Put(objectdb.Address{"tables", name, name}, v)
			_ = tx.Put(objectdb.Address{"mixed", name}, v)
			_ = tx.NewTable(objectdb.Address{"mixed", name + ".gif"})
		}
	})
	requireRoundTrip(t, db)
}

func TestImportOfRandomExportsChangesNothing(t *testing.T) {
	for seed := range uint64(8) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 2))
			db := open(t)
			update(t, db, func(tx *objectdb.Tx) {
				a := objectdb.Address{}
				for range 150 {
					a = a[:r.IntN(len(a)+1)]
					a = a.Child(randomName(r))
					if r.IntN(3) == 0 {
						_ = tx.NewTable(a)
					} else {
						_ = tx.Put(a, randomValue(r, 0))
					}
				}
			})
			requireRoundTrip(t, db)
		})
	}
}

// requireRoundTrip exports a root, imports that into itself and into a new
// root, and exports again.
func requireRoundTrip(t *testing.T, db *objectdb.DB) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "export")
	count := export(t, db, "", dir)
	before := dump(t, db)
	assert.Equal(t, ImportResult{Same: count}, importDir(t, db, os.DirFS(dir), ""))
	assert.Equal(t, before, dump(t, db))

	copied := open(t)
	assert.Equal(t, ImportResult{Added: count}, importDir(t, copied, os.DirFS(dir), ""))
	again := filepath.Join(t.TempDir(), "again")
	assert.Equal(t, count, export(t, copied, "", again))
	assert.Equal(t, contents(t, dir), contents(t, again))
	requireSameTree(t, db, copied)
}

func TestExportOfOneObject(t *testing.T) {
	db := open(t)
	put(t, db, "a.b", objectdb.Script("return 1"))
	dir := t.TempDir()
	assert.Equal(t, 1, export(t, db, "a.b", dir))
	assert.Equal(t, ImportResult{Added: 1}, importDir(t, db, os.DirFS(dir), "copy"))
	requireEqual(t, objectdb.Script("return 1"), get(t, db, "copy.b"))
}
