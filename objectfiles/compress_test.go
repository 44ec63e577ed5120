package objectfiles

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"scripter/objectdb"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Import accepts what an ArchiveWriter writes with the default limits, however many objects
// there are, and however well they compress.
func TestOwnArchivesComeBack(t *testing.T) {
	list := make(objectdb.List, 1<<20)
	for i := range list {
		list[i] = objectdb.Number(1)
	}
	dates := make(objectdb.List, 2000)
	for i := range dates {
		dates[i] = objectdb.Date{Time: someDay}
	}
	for name, put := range map[string]func(x *ArchiveWriter){
		"very many objects": func(x *ArchiveWriter) {
			for i := range FreeFiles + FreeFiles/5 {
				require.NoError(t, x.Put(objectdb.Address{"t", fmt.Sprint(i / 1000), fmt.Sprint(i)}, objectdb.Text("")))
			}
		},
		"very many tables": func(x *ArchiveWriter) {
			for i := range FreeFiles/2 + FreeFiles/5 {
				require.NoError(t, x.Put(objectdb.Address{"t", fmt.Sprint(i), "x"}, objectdb.Boolean(true)))
			}
		},
		"a text of one letter": func(x *ArchiveWriter) {
			require.NoError(t, x.Put(objectdb.Address{"text"}, objectdb.Text(strings.Repeat("x", 3*FreeBytes))))
		},
		"texts of one letter": func(x *ArchiveWriter) {
			text := objectdb.Text(strings.Repeat("x", 1<<20))
			for i := range 3 * FreeBytes >> 20 {
				require.NoError(t, x.Put(objectdb.Address{fmt.Sprint("text", i)}, text))
			}
		},
		"a long list": func(x *ArchiveWriter) { require.NoError(t, x.Put(objectdb.Address{"list"}, list)) },
		"many lists": func(x *ArchiveWriter) {
			for i := range 200 {
				require.NoError(t, x.Put(objectdb.Address{fmt.Sprint("dates", i)}, dates))
				require.NoError(t, x.Put(objectdb.Address{fmt.Sprint("text", i)}, objectdb.Text("x")))
			}
		},
	} {
		for form, format := range archiveFormats {
			if name == "very many objects" && format == Zip || name == "very many tables" && format == TarGzip {
				continue // the other form needs fewer bytes for each object
			}
			t.Run(name+" "+form, func(t *testing.T) {
				var b bytes.Buffer
				w := NewArchiveWriter(&b, format, someDay)
				put(w)
				require.NoError(t, w.Close(Manifest{}, "read me"))
				x, err := openBytes(b.Bytes(), ImportLimits{})
				require.NoError(t, err)
				t.Logf("%d objects, %d bytes, packed %d", w.Count(), x.Bytes, b.Len())
				require.NoError(t, x.Close())
			})
		}
	}
}

// With Strict, a larger archive may not have more content.
func TestStrictLimits(t *testing.T) {
	var b bytes.Buffer
	w := NewArchiveWriter(&b, Zip, someDay)
	require.NoError(t, w.Put(objectdb.Address{"list"}, objectdb.List{objectdb.String(strings.Repeat("x", freeJSON))}))
	require.NoError(t, w.Close(Manifest{}, ""))
	refuse(t, b.Bytes(), ImportLimits{Strict: true}, "are allowed here")
	refuse(t, handmade(t, Zip, []archiveEntry{{name: "objects/a.txt", body: strings.Repeat("x", FreeBytes)}}, nil), ImportLimits{Strict: true}, "it unpacks to more than 33554432 bytes")
}

func TestCheckFolder(t *testing.T) {
	dir := t.TempDir()
	check := func(limits ImportLimits) error {
		_, err := CheckFolder(os.DirFS(dir), limits)
		return err
	}
	sparse := func(name string, size int64) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o600))
		require.NoError(t, os.Truncate(filepath.Join(dir, name), size))
	}
	sparse("a.txt", 20<<20)
	require.NoError(t, check(ImportLimits{}))
	assert.ErrorIs(t, check(ImportLimits{Bytes: 1 << 20}), ErrTooLarge)
	sparse("b.txt", 20<<20)
	assert.ErrorContains(t, check(ImportLimits{}), "too large: its files have 41943040 bytes")
	require.NoError(t, check(ImportLimits{Bytes: 100 << 20}))
	sparse("b.txt", 1<<40)
	assert.ErrorContains(t, check(ImportLimits{Bytes: 1 << 50}), "import b.txt: too large: the file has")
	require.NoError(t, os.Rename(filepath.Join(dir, "b.txt"), filepath.Join(dir, ".b.txt")))
	size, err := CheckFolder(os.DirFS(dir), ImportLimits{})
	require.NoError(t, err)
	assert.Equal(t, FolderSize{Files: 1, Bytes: 20 << 20, Largest: 20 << 20}, size)
	sparse("c.json", 3<<20)
	assert.ErrorContains(t, check(ImportLimits{}), "import c.json: too large")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "c.json"), make([]byte, 3<<20), 0o600))
	require.NoError(t, check(ImportLimits{}), "it takes as much on the disk")
	assert.ErrorContains(t, check(ImportLimits{Files: 1}), "it holds more than 1 files and folders")
	require.NoError(t, os.Symlink("/dev/zero", filepath.Join(dir, "z.txt")))
	assert.ErrorContains(t, check(ImportLimits{}), "import z.txt: it is neither a file nor a folder, but a link")
}

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
		assert.Equal(t, ImportResult{Added: 3, Changed: 2}, must(Import(tx, tree, addr(t, "t")))(t))
		assert.Equal(t, objectdb.Text(large), must(tx.Get(addr(t, "t.new")))(t))
		require.NoError(t, tx.Move(addr(t, "t.new"), addr(t, "u.moved")))
		require.NoError(t, tx.Copy(addr(t, "t.list"), addr(t, "u.copied")))
	})
	again, err := objectdb.Open(db.Path(), objectdb.Options{})
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
			_, err := Import(tx, tree, addr(t, "t"))
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
