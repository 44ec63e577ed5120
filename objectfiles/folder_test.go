package objectfiles

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"scripter/objectdb"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// oddNames are names that a file system might get wrong.
var oddNames = []string{
	"plain", "UPPER", "con", "Con.txt", "com1", "lpt9.x", "COM10", "nul ", "aux.", ".", "..", "...", ".git", ".hidden", "end.", " lead", "trail ", " ",
	"a/b", `a\b`, "a:b", "a*?\"<>|b", "100%", "%41", "%", "~x", "x~1", "new\nline", "tab\t", "\x01", "\x7f", "ä", "Ångström", "日本語", "e\u0301", "\u212b", "\ufffd", "\u202e",
	"x.lua", "x.LUA", "x", "x.txt", "x.gif", "x.json", "x.opml.", "x.lua.lua", "x.unknown", "_index", "_INDEX", "_index.json", "_", "_x", "-", "-rf", "'", "$HOME", "a b",
	strings.Repeat("n", 250), strings.Repeat("n", 251), strings.Repeat("n", 255), strings.Repeat("ä", 127), strings.Repeat("ä", 126) + "b", strings.Repeat(".", 255),
}

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
	update(t, db, func(tx *objectdb.Tx) { r = must(Import(tx, fsys, addr(t, a)))(t) })
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
		"suites.logo", objectdb.Binary{Type: "image/gif", Data: "GIF89a"}, "suites.style", objectdb.Binary{Type: "text/css", Data: "body{}"},
		"suites.data", objectdb.Binary{Type: "application/x-odd", Data: "\x00"},
		`suites.["logo.gif"].x`, objectdb.Number(1), `suites.["a/b"]`, objectdb.Number(2), `suites.["con"]`, objectdb.Number(3),
	)
	update(t, db, func(tx *objectdb.Tx) { require.NoError(t, tx.NewTable(addr(t, "suites.empty"))) })
	dir := t.TempDir()
	assert.Equal(t, 19, export(t, db, "suites", dir))
	assert.Equal(t, map[string]string{
		"_index.json":              "{\n\t\".\": {\"form\":1},\n\t\"data.bin\": {\"kind\":\"binary\",\"type\":\"application/x-odd\"},\n\t\"odd.txt\": {\"kind\":\"outline\"}\n}\n",
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
	return []objectdb.Value{objectdb.String(s), objectdb.Text(s), objectdb.Script(s), objectdb.Outline(s), objectdb.Binary{Type: []string{"image/png", "text/x-y", ""}[r.IntN(3)], Data: s}, objectdb.Number(r.NormFloat64())}[r.IntN(6)]
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

func TestExportOfOneObject(t *testing.T) {
	db := open(t)
	put(t, db, "a.b", objectdb.Script("return 1"))
	dir := t.TempDir()
	assert.Equal(t, 1, export(t, db, "a.b", dir))
	assert.Equal(t, ImportResult{Added: 1}, importDir(t, db, os.DirFS(dir), "copy"))
	requireEqual(t, objectdb.Script("return 1"), get(t, db, "copy.b"))
}

//go:embed all:testdata/tree
var embedded embed.FS

func TestImportFromEmbeddedFiles(t *testing.T) {
	db := open(t)
	tree, err := fs.Sub(embedded, "testdata/tree")
	require.NoError(t, err)
	assert.Equal(t, ImportResult{Added: 7}, importDir(t, db, tree, "site"))
	requireEqual(t, objectdb.Script("return \"hello\"\n"), get(t, db, "site.samples._hidden"))
	requireEqual(t, objectdb.Text("<p>hello</p>\n"), get(t, db, `site.["default.mcro"]`))
	requireEqual(t, objectdb.Binary{Type: "image/svg+xml", Data: "<svg xmlns=\"http://www.w3.org/2000/svg\"/>\n"}, get(t, db, "site.logo"))
	requireEqual(t, objectdb.Number(24), get(t, db, "site.prefs.chunkSize"))
	assert.Equal(t, ImportResult{Same: 7}, importDir(t, db, tree, "site"))
}

func TestImportMerges(t *testing.T) {
	db := open(t)
	put(t, db, "t.keep", objectdb.Number(1), "t.change", objectdb.Number(1), "t.same", objectdb.Number(3), "t.Spell", objectdb.Number(4))
	same := stat(t, db, "t.same")
	fsys := fstest.MapFS{
		"t/change.json": {Data: []byte("2")}, "t/same.json": {Data: []byte(" 3 ")},
		"t/new.lua": {Data: []byte("x")}, "t/spell.json": {Data: []byte("4")}, ".git/config": {Data: []byte("x")}, ".gitignore": {Data: []byte("x")},
	}
	assert.Equal(t, ImportResult{Added: 1, Changed: 2, Same: 2, Skipped: []string{".git", ".gitignore"}}, importDir(t, db, fsys, ""))
	view(t, db, func(tx *objectdb.Tx) { assert.Equal(t, "change keep new same spell", names(t, tx, "t")) })
	assert.Equal(t, same, stat(t, db, "t.same"))
	requireEqual(t, objectdb.Number(2), get(t, db, "t.change"))
}

func TestImportFailures(t *testing.T) {
	tests := []struct {
		name, file, content, want string
	}{
		{"unknown suffix", "a/b.exe", "", "objectdb: import a/b.exe: its suffix says no kind of object; use .lua, .txt, .str, .opml, .json or that of a MIME type such as .png, or give it a kind in _index.json"},
		{"no suffix", "README", "", "objectdb: import README: its suffix says no kind of object; use .lua, .txt, .str, .opml, .json or that of a MIME type such as .png, or give it a kind in _index.json"},
		{"JSON", "a.json", "{\n", "objectdb: import a.json: the JSON ends too early"},
		{"JSON syntax", "a.json", "[1 2]", "objectdb: import a.json: the JSON is wrong at byte 4: invalid character '2' after array element"},
		{"JSON null", "a.json", "null", "objectdb: import a.json: null can only be within a list"},
		{"more JSON", "a.json", "1 2", "objectdb: import a.json: there is more after the value, at byte 3"},
		{"JSON bytes", "a.json", "\"\xff\"", "objectdb: import a.json: the JSON is not UTF-8"},
		{"number", "a.json", "1e999", "objectdb: import a.json: 1e999 is too large for a number"},
		{"date", "a.json", `{"date": "yesterday"}`, "objectdb: import a.json: \"yesterday\" is no date as RFC 3339 has it: parsing time \"yesterday\" as \"2006-01-02T15:04:05.999999999Z07:00\": cannot parse \"yesterday\" as \"2006\""},
		{"kind", "a.json", `{"table": "x"}`, "objectdb: import a.json: a table is not written so"},
		{"two kinds", "a.json", `{"date": "x", "foo": "x"}`, ""},
		{"empty object", "a.json", `{}`, "objectdb: import a.json: a JSON object is a record, which can only be within a list; a value of another kind is written as in {\"date\": \"…\"}"},
		{"base 64", "a.json", `{"binary": "!", "type": ""}`, "objectdb: import a.json: the base 64 is wrong: illegal base64 data at input byte 0"},
		{"in a list", "a.json", `[1, [{"a": {"date": "soon"}}]]`, "objectdb: import a.json: item 2: item 1: field \"a\": \"soon\" is no date as RFC 3339 has it: parsing time \"soon\" as \"2006-01-02T15:04:05.999999999Z07:00\": cannot parse \"soon\" as \"2006\""},
		{"half a kind in a list", "a.json", `[{"text": 5}]`, "objectdb: import a.json: item 1: the value of \"text\" has the wrong type; a record with this name is written {\"record\": {…}}"},
		{"record around nothing", "a.json", `[{"record": 5}]`, "objectdb: import a.json: item 1: {\"record\": …} has an object in it, and nothing beside it"},
		{"record alone", "a.json", `{"record": {"a": 1}}`, "objectdb: import a.json: a JSON object is a record, which can only be within a list; a value of another kind is written as in {\"date\": \"…\"}"},
		{"deep records", "a.json", strings.Repeat(`[{"a":`, 101) + "1" + strings.Repeat("}]", 101), ""},
		{"OPML", "a.opml", "<opml><body><outline></body></opml>", "objectdb: import a.opml: the OPML is wrong: XML syntax error on line 1: element <outline> closed by </body>"},
		{"no OPML", "a.opml", "hello", "objectdb: import a.opml: it is no OPML"},
		{"other XML", "a.opml", "<html/>", "objectdb: import a.opml: it is no OPML: its first element is <html>"},
		{"outline elsewhere", "a.opml", "<opml><outline/></opml>", "objectdb: import a.opml: the OPML is wrong: an <outline> is not in the <body>"},
		{"break in an outline", "a.opml", `<opml><body><outline text="a&#10;b"/></body></opml>`, "objectdb: import a.opml: the outline text \"a\\nb\" begins with a tab or holds a line break"},
		{"bad escape", "a%2.txt", "", `objectdb: import a%2.txt: "%" in a file name must be followed by two hexadecimal digits`},
		{"NUL", "a%00.txt", "", `objectdb: import a%00.txt: name cannot be used: "a\x00" holds a NUL`},
		{"bytes", "a%FF.txt", "", `objectdb: import a%FF.txt: name cannot be used: "a\xff" is not UTF-8`},
		{"empty name", "x/.json/y", "", ""},
		{"long name without an index", "nnn%_0123.txt", "", `objectdb: import nnn%_0123.txt: "%" in a file name must be followed by two hexadecimal digits`},
		{"index", "a/_index.json", "[]", ""},
		{"index names nothing", "a/_index.json", `{"x.txt": {"kind": "outline"}}`, "objectdb: import a/_index.json: it names \"x.txt\", which is not in the folder"},
		{"index says too much", "a/_index.json", `{"x.txt": {"colour": "red"}}`, ""},
		{"newer form", "a/_index.json", `{".": {"form": 2, "colours": {}}, "x.txt": [1]}`, "objectdb: import a/_index.json: it was written by a newer version: its form is 2, this program reads 1; use the newer program"},
		{"over a table", "table.txt", "x", "objectdb: import table.txt: object is a table: table is there"},
		{"over a value", "value/x.txt", "x", "objectdb: import value: object is not a table: value is there"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			db := open(t)
			put(t, db, "table.x", objectdb.Number(1), "value", objectdb.Number(1))
			before := dump(t, db)
			err := db.Update(context.Background(), func(tx *objectdb.Tx) error {
				_, err := Import(tx, fstest.MapFS{"0.txt": {Data: []byte("first")}, test.file: {Data: []byte(test.content)}}, objectdb.Address{})
				return err
			})
			if test.name == "empty name" { // it begins with a dot
				require.NoError(t, err)
				return
			}
			require.Error(t, err)
			assert.Contains(t, err.Error(), "objectdb: import "+strings.SplitN(test.file, "/x", 2)[0])
			if test.want != "" {
				assert.EqualError(t, err, test.want)
			}
			assert.Equal(t, before, dump(t, db))
		})
	}
	db := open(t)
	err := db.Update(context.Background(), func(tx *objectdb.Tx) error {
		_, err := Import(tx, fstest.MapFS{"a.txt": {}, "A.lua": {}}, objectdb.Address{})
		return err
	})
	assert.EqualError(t, err, `objectdb: import a.txt: an object is there already: A.lua stands for "a" too`)
	dir := t.TempDir()
	require.NoError(t, os.Symlink("/etc/passwd", filepath.Join(dir, "x.txt")))
	err = db.Update(context.Background(), func(tx *objectdb.Tx) error { _, err := Import(tx, os.DirFS(dir), objectdb.Address{}); return err })
	assert.EqualError(t, err, "objectdb: import x.txt: it is neither a file nor a folder, but a link")
}

func TestFileNamesNeverMeet(t *testing.T) {
	seen := map[string]string{}
	for _, name := range oddNames {
		for _, v := range []objectdb.Value{nil, objectdb.Script(""), objectdb.String(""), objectdb.Number(1), objectdb.Binary{Type: "image/gif"}} {
			f := fileOf(name, v)
			assert.LessOrEqual(t, len(f.name), maxFileName)
			folded := strings.ToLower(f.name)
			if other, ok := seen[folded]; ok {
				assert.Equal(t, objectdb.Fold(name), objectdb.Fold(other), f.name)
			}
			seen[folded] = name
			back, _, err := nameOf(f.name, v == nil, f.entry)
			require.NoError(t, err)
			assert.Equal(t, name, back)
		}
	}
}
