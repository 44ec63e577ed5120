package objectfiles

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
	"scripter/objectdb/sqlitestore"
)

// Large values and lists are not kept in memory until the commit, and are stored unchanged.
func TestLargeValuesOfAnImport(t *testing.T) {
	db := open(t)
	large := strings.Repeat("large ", 1000)
	put(t, db, "t.changed", objectdb.Text("old"), "t.SPELT", objectdb.Text("old"))
	tree := fstest.MapFS{
		"new.txt": {Data: []byte(large)}, "changed.lua": {Data: []byte(large)}, "spelt.txt": {Data: []byte(large)},
		"list.json": {Data: []byte("[1, [2]]")}, "small.txt": {Data: []byte("small")},
	}
	update(t, db, func(tx *objectdb.Tx) {
		assert.Equal(t, ImportResult{Added: 3, Changed: 2}, must(Import(tx, tree, addr(t, "t"), nil))(t))
		assert.Equal(t, objectdb.Text(large), must(tx.Get(addr(t, "t.new")))(t))
		require.NoError(t, tx.Move(addr(t, "t.new"), addr(t, "u.moved")))
		require.NoError(t, tx.Copy(addr(t, "t.list"), addr(t, "u.copied")))
	})
	again, err := sqlitestore.Open(db.Path(), objectdb.Options{})
	require.NoError(t, err)
	defer again.Close()
	for _, db := range []*objectdb.DB{db, again} {
		requireEqual(t, objectdb.Text(large), get(t, db, "u.moved"))
		requireEqual(t, objectdb.Script(large), get(t, db, "t.changed"))
		requireEqual(t, objectdb.Text(large), get(t, db, "t.spelt"))
		requireEqual(t, objectdb.List{objectdb.Number(1), objectdb.List{objectdb.Number(2)}}, get(t, db, "u.copied"))
		requireEqual(t, objectdb.List{objectdb.Number(1), objectdb.List{objectdb.Number(2)}}, get(t, db, "t.list"))
	}
	before := dump(t, db)
	for _, now := range []string{"another text", ""} {
		tree := fstest.MapFS{"new.txt": {Data: []byte(large)}}
		err := db.Update(context.Background(), func(tx *objectdb.Tx) error {
			_, err := Import(tx, tree, addr(t, "t"), nil)
			if tree["new.txt"].Data = []byte(now); now == "" {
				delete(tree, "new.txt")
			}
			return err
		})
		require.Error(t, err)
		assert.ErrorContains(t, err, "import new.txt: ")
		assert.Equal(t, before, dump(t, db))
	}
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
	requireEqual(t, objectdb.Binary{Type: "image/svg+xml", Data: "<svg xmlns=\"http://www.w3.org/2000/svg\"/>\n"},
		get(t, db, "site.logo"))
	requireEqual(t, objectdb.Number(24), get(t, db, "site.prefs.chunkSize"))
	assert.Equal(t, ImportResult{Same: 7}, importDir(t, db, tree, "site"))
}

func TestImportMerges(t *testing.T) {
	db := open(t)
	put(t, db, "t.keep", objectdb.Number(1), "t.change", objectdb.Number(1), "t.same", objectdb.Number(3),
		"t.Spell", objectdb.Number(4))
	same := stat(t, db, "t.same")
	fsys := fstest.MapFS{
		"t/change.json": {Data: []byte("2")}, "t/same.json": {Data: []byte(" 3 ")},
		"t/new.lua": {Data: []byte("x")}, "t/spell.json": {Data: []byte("4")}, ".git/config": {Data: []byte("x")},
		".gitignore": {Data: []byte("x")},
	}
	assert.Equal(t, ImportResult{Added: 1, Changed: 2, Same: 2, Skipped: []string{".git", ".gitignore"}},
		importDir(t, db, fsys, ""))
	view(t, db, func(tx *objectdb.Tx) { assert.Equal(t, "change keep new same spell", names(t, tx, "t")) })
	assert.Equal(t, same, stat(t, db, "t.same"))
	requireEqual(t, objectdb.Number(2), get(t, db, "t.change"))
}

func TestImportFailures(t *testing.T) {
	tests := []struct {
		name, file, content, want string
	}{
		{"unknown suffix", "a/b.exe", "", "objectdb: import a/b.exe: its suffix says no kind of object; " +
			"use .lua, .txt, .str, .opml, .json or that of a MIME type such as .png, or give it a kind in _index.json"},
		{"no suffix", "README", "", "objectdb: import README: its suffix says no kind of object; " +
			"use .lua, .txt, .str, .opml, .json or that of a MIME type such as .png, or give it a kind in _index.json"},
		{"JSON", "a.json", "{\n", "objectdb: import a.json: the JSON ends too early"},
		{"JSON syntax", "a.json", "[1 2]", "objectdb: import a.json: the JSON is wrong at byte 4: " +
			"invalid character '2' after array element"},
		{"JSON null", "a.json", "null", "objectdb: import a.json: null can only be within a list"},
		{"more JSON", "a.json", "1 2", "objectdb: import a.json: there is more after the value, at byte 3"},
		{"JSON bytes", "a.json", "\"\xff\"", "objectdb: import a.json: the JSON is not UTF-8"},
		{"number", "a.json", "1e999", "objectdb: import a.json: 1e999 is too large for a number"},
		{"date", "a.json", `{"date": "yesterday"}`, "objectdb: import a.json: " +
			"\"yesterday\" is no date as RFC 3339 has it: parsing time \"yesterday\" as " +
			"\"2006-01-02T15:04:05.999999999Z07:00\": cannot parse \"yesterday\" as \"2006\""},
		{"kind", "a.json", `{"table": "x"}`, "objectdb: import a.json: a table is not written so"},
		{"two kinds", "a.json", `{"date": "x", "foo": "x"}`, ""},
		{"empty object", "a.json", `{}`, "objectdb: import a.json: " +
			"a JSON object is a record, which can only be within a list; a value of another kind is written as in " +
			"{\"date\": \"…\"}"},
		{"base 64", "a.json", `{"binary": "!", "type": ""}`,
			"objectdb: import a.json: the base 64 is wrong: illegal base64 data at input byte 0"},
		{"in a list", "a.json", `[1, [{"a": {"date": "soon"}}]]`,
			"objectdb: import a.json: item 2: item 1: field \"a\": \"soon\" is no date as RFC 3339 has it: " +
				"parsing time \"soon\" as \"2006-01-02T15:04:05.999999999Z07:00\": cannot parse \"soon\" as \"2006\""},
		{"half a kind in a list", "a.json", `[{"text": 5}]`,
			"objectdb: import a.json: item 1: the value of \"text\" has the wrong type; " +
				"a record with this name is written {\"record\": {…}}"},
		{"record around nothing", "a.json", `[{"record": 5}]`,
			"objectdb: import a.json: item 1: {\"record\": …} has an object in it, and nothing beside it"},
		{"record alone", "a.json", `{"record": {"a": 1}}`,
			"objectdb: import a.json: a JSON object is a record, which can only be within a list; " +
				"a value of another kind is written as in {\"date\": \"…\"}"},
		{"deep records", "a.json", strings.Repeat(`[{"a":`, 101) + "1" + strings.Repeat("}]", 101), ""},
		{"OPML", "a.opml", "<opml><body><outline></body></opml>",
			"objectdb: import a.opml: the OPML is wrong: XML syntax error on line 1: element <outline> closed by </body>"},
		{"no OPML", "a.opml", "hello", "objectdb: import a.opml: it is no OPML"},
		{"other XML", "a.opml", "<html/>", "objectdb: import a.opml: it is no OPML: its first element is <html>"},
		{"outline elsewhere", "a.opml", "<opml><outline/></opml>",
			"objectdb: import a.opml: the OPML is wrong: an <outline> is not in the <body>"},
		{"break in an outline", "a.opml", `<opml><body><outline text="a&#10;b"/></body></opml>`,
			"objectdb: import a.opml: the outline text \"a\\nb\" begins with a tab or holds a line break"},
		{"bad escape", "a%2.txt", "",
			`objectdb: import a%2.txt: "%" in a file name must be followed by two hexadecimal digits`},
		{"NUL", "a%00.txt", "", `objectdb: import a%00.txt: name cannot be used: "a\x00" holds a NUL`},
		{"bytes", "a%FF.txt", "", `objectdb: import a%FF.txt: name cannot be used: "a\xff" is not UTF-8`},
		{"empty name", "x/.json/y", "", ""},
		{"long name without an index", "nnn%_0123.txt", "",
			`objectdb: import nnn%_0123.txt: "%" in a file name must be followed by two hexadecimal digits`},
		{"index", "a/_index.json", "[]", ""},
		{"index names nothing", "a/_index.json", `{"x.txt": {"kind": "outline"}}`,
			"objectdb: import a/_index.json: it names \"x.txt\", which is not in the folder"},
		{"index says too much", "a/_index.json", `{"x.txt": {"colour": "red"}}`, ""},
		{"newer form", "a/_index.json", `{".": {"form": 2, "colours": {}}, "x.txt": [1]}`,
			"objectdb: import a/_index.json: it was written by a newer version: its form is 2, this program reads 1; " +
				"use the newer program"},
		{"over a table", "table.txt", "x", "objectdb: import table.txt: object is a table: table is there"},
		{"over a value", "value/x.txt", "x", "objectdb: import value: object is not a table: value is there"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			db := open(t)
			put(t, db, "table.x", objectdb.Number(1), "value", objectdb.Number(1))
			before := dump(t, db)
			err := db.Update(context.Background(), func(tx *objectdb.Tx) error {
				_, err := Import(tx, fstest.MapFS{"0.txt": {Data: []byte("first")}, test.file: {Data: []byte(test.content)}},
					objectdb.Address{}, nil)
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
		_, err := Import(tx, fstest.MapFS{"a.txt": {}, "A.lua": {}}, objectdb.Address{}, nil)
		return err
	})
	assert.EqualError(t, err, `objectdb: import a.txt: an object is there already: A.lua stands for "a" too`)
	dir := t.TempDir()
	require.NoError(t, os.Symlink("/etc/passwd", filepath.Join(dir, "x.txt")))
	err = db.Update(context.Background(), func(tx *objectdb.Tx) error {
		_, err := Import(tx, os.DirFS(dir), objectdb.Address{}, nil)
		return err
	})
	assert.EqualError(t, err, "objectdb: import x.txt: it is neither a file nor a folder, but a link")
}

// While an import replaces fifty objects, readers see all old ones or all new ones.
//
// Catalogue: C5
func TestReadersNeverSeeAMixture(t *testing.T) {
	db := open(t)
	const objects, imports = 50, 8
	tree := func(n int) fstest.MapFS {
		fsys := fstest.MapFS{}
		for i := range objects {
			fsys[fmt.Sprintf("page/part%d.json", i)] = &fstest.MapFile{Data: fmt.Append(nil, n)}
		}
		return fsys
	}
	importDir(t, db, tree(0), "")
	ended := make(chan struct{})
	var readers sync.WaitGroup
	for range 4 {
		readers.Add(1)
		go func() {
			defer readers.Done()
			for {
				select {
				case <-ended:
					return
				default:
				}
				assert.NoError(t, db.View(context.Background(), func(tx *objectdb.Tx) error {
					first, err := tx.Get(objectdb.Address{"page", "part0"})
					for i := range objects {
						v, err := tx.Get(objectdb.Address{"page", fmt.Sprint("part", i)})
						if err != nil || v != first {
							return fmt.Errorf("part %d is %v, part 0 is %v (%v)", i, v, first, err)
						}
					}
					return err
				}))
			}
		}()
	}
	for n := range imports {
		importDir(t, db, tree(n+1), "")
	}
	close(ended)
	readers.Wait()
	requireEqual(t, objectdb.Number(imports), get(t, db, "page.part7"))
}
