package objectfiles

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"scripter/objectdb"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Specification: 2.4.1, 2.4.2
func TestImportOfAnArchiveChangesNothing(t *testing.T) {
	for name, format := range archiveFormats {
		t.Run(name, func(t *testing.T) {
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
			requireArchiveRoundTrip(t, db, format)
		})
	}
}

func TestImportOfRandomArchivesChangesNothing(t *testing.T) {
	for seed := range uint64(6) {
		r := rand.New(rand.NewPCG(seed, 3))
		db := open(t)
		update(t, db, func(tx *objectdb.Tx) {
			a := objectdb.Address{}
			for range 100 {
				a = a[:r.IntN(len(a)+1)].Child(randomName(r))
				if r.IntN(3) == 0 {
					_ = tx.NewTable(a)
				} else {
					_ = tx.Put(a, randomValue(r, 0))
				}
			}
		})
		requireArchiveRoundTrip(t, db, Zip)
		requireArchiveRoundTrip(t, db, TarGzip)
	}
}

func requireArchiveRoundTrip(t *testing.T, db *objectdb.DB, format ArchiveFormat) {
	t.Helper()
	data := archiveOf(t, db, "", format)
	assert.Equal(t, data, archiveOf(t, db, "", format), "the same objects make the same archive")
	x, err := openBytes(data, ImportLimits{})
	require.NoError(t, err)
	defer x.Close()
	assert.Equal(t, "read me\n", string(must(fs.ReadFile(x.zip, readmeFile))(t)))
	assert.Equal(t, "test 1", x.Manifest.Program)
	assert.Equal(t, ArchiveForm, x.Manifest.Form)
	assert.Equal(t, objectdb.FileVersion, x.Manifest.Root)

	// The folder objects is the same as an export to a folder.
	dir := filepath.Join(t.TempDir(), "export")
	count := export(t, db, "", dir)
	unpacked := filepath.Join(t.TempDir(), "unpacked")
	require.NoError(t, os.CopyFS(unpacked, x.objects()))
	assert.Equal(t, contents(t, dir), contents(t, unpacked))

	before := dump(t, db)
	assert.Equal(t, ImportResult{Same: count}, importBytes(t, db, data))
	assert.Equal(t, before, dump(t, db))
	copied := open(t)
	assert.Equal(t, ImportResult{Added: count}, importBytes(t, copied, data))
	requireSameTree(t, db, copied)
}

func TestArchiveOfOneObject(t *testing.T) {
	db := open(t)
	put(t, db, "a.b", objectdb.Script("return 1"), "a.c", objectdb.Number(1))
	data := archiveOf(t, db, "A.B", Zip)
	x, err := openBytes(data, ImportLimits{})
	require.NoError(t, err)
	assert.Equal(t, "a", x.Manifest.Address)
	update(t, db, func(tx *objectdb.Tx) { require.NoError(t, tx.Delete(addr(t, "a"))) })
	assert.Equal(t, ImportResult{Added: 1}, importBytes(t, db, data))
	requireEqual(t, objectdb.Script("return 1"), get(t, db, "a.b"))

	err = db.View(context.Background(), func(tx *objectdb.Tx) error {
		_, err := ExportArchive(tx, objectdb.Address{"nothing"}, NewArchiveWriter(&bytes.Buffer{}, Zip, time.Time{}), nil)
		return err
	})
	assert.ErrorIs(t, err, objectdb.ErrNotFound)
}

// What an import reports of each object is enough to write an archive that undoes the import.
//
// Specification: 2.4.2
func TestChangesAreEnoughToUndo(t *testing.T) {
	for seed := range uint64(10) {
		r := rand.New(rand.NewPCG(seed, 9))
		random := func(n int) *objectdb.DB {
			db := open(t)
			update(t, db, func(tx *objectdb.Tx) {
				require.NoError(t, tx.NewTable(objectdb.Address{"first"}))
				for range n {
					// Few names, so that the two roots meet, spelled differently and of many kinds.
					a := objectdb.Address{}
					for range 1 + r.IntN(3) {
						a = a.Child([]string{"a", "A", "b", "B.lua", "b.LUA", "c d", "C D"}[r.IntN(7)])
					}
					if r.IntN(3) == 0 {
						_ = tx.NewTable(a)
					} else {
						_ = tx.Put(a, randomValue(r, 2))
					}
				}
			})
			return db
		}
		db, other := random(30), random(30)
		x, err := openBytes(archiveOf(t, other, "", Zip), ImportLimits{})
		require.NoError(t, err)
		spelled := spelling(t, db)

		var undo bytes.Buffer
		w := NewArchiveWriter(&undo, Zip, time.Time{})
		m := Manifest{}
		counted := ImportResult{}
		var result ImportResult
		err = db.Update(context.Background(), func(tx *objectdb.Tx) (err error) {
			result, err = x.Import(tx, objectdb.Address{}, func(c Change) error {
				switch c.State {
				case Added:
					counted.Added++
					m.Remove = append(m.Remove, c.Address.String())
					return nil
				case Same:
					counted.Same++
					return nil
				}
				counted.Changed++
				return w.Put(c.Address, c.Old)
			})
			return err
		})
		if errors.Is(err, objectdb.ErrIsTable) || errors.Is(err, objectdb.ErrNotTable) {
			assert.Equal(t, spelled, spelling(t, db), "nothing was imported")
			continue // a table cannot be imported over a value
		}
		require.NoError(t, err)
		assert.Equal(t, result, counted)
		require.NoError(t, w.Close(m, ""))
		back := importBytes(t, db, undo.Bytes())
		assert.Equal(t, counted.Added, back.Removed)
		assert.Equal(t, spelled, spelling(t, db), "seed %d", seed)
	}
}

// spelling returns everything in a root but versions and times.
func spelling(t testing.TB, db *objectdb.DB) map[string]string {
	t.Helper()
	all := map[string]string{}
	view(t, db, func(tx *objectdb.Tx) {
		require.NoError(t, tx.Walk(objectdb.Address{}, func(a objectdb.Address, n *objectdb.Node) error {
			text := n.Kind().String()
			if n.Kind() != objectdb.KindTable {
				text += string(objectdb.AppendJSON(nil, must(tx.Value(n))(t)))
			}
			all[a.String()] = text
			return nil
		}))
	})
	return all
}

func TestArchiveRemoves(t *testing.T) {
	db := open(t)
	put(t, db, "t.a", objectdb.Number(1), "t.b.c", objectdb.Number(2), "t.d.e", objectdb.Number(3),
		"t.d.f", objectdb.Number(4), "u", objectdb.Number(5))
	data := makeArchive(t, Zip, []archiveEntry{{name: "objects/new.json", body: "1"}}, func(m *Manifest) {
		m.Remove = []string{"a", "b", "b.c", "d", "d.e", "never"}
	})
	x, err := openBytes(data, ImportLimits{})
	require.NoError(t, err)
	var told []Change
	update(t, db, func(tx *objectdb.Tx) {
		r := must(x.Import(tx, objectdb.Address{"t"}, func(c Change) error { told = append(told, c); return nil }))(t)
		assert.Equal(t, ImportResult{Added: 1, Removed: 4}, r)
	})
	assert.Equal(t, []Change{
		{objectdb.Address{"t", "new"}, Added, objectdb.KindNumber, nil},
		{objectdb.Address{"t", "b", "c"}, Removed, objectdb.KindNumber, objectdb.Number(2)},
		{objectdb.Address{"t", "d", "e"}, Removed, objectdb.KindNumber, objectdb.Number(3)},
		{objectdb.Address{"t", "a"}, Removed, objectdb.KindNumber, objectdb.Number(1)},
		{objectdb.Address{"t", "b"}, Removed, objectdb.KindTable, nil},
	}, told, "a table goes when nothing is left in it")
	view(t, db, func(tx *objectdb.Tx) { assert.Equal(t, "d new", names(t, tx, "t")) })
	requireEqual(t, objectdb.Number(5), get(t, db, "u"))
}

func TestImportStopsWithItsContext(t *testing.T) {
	db := open(t)
	data := makeArchive(t, Zip, []archiveEntry{{name: "objects/a.json", body: "1"}, {name: "objects/b.json", body: "2"}},
		nil)
	x, err := openBytes(data, ImportLimits{})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	before := dump(t, db)
	err = db.Update(ctx, func(tx *objectdb.Tx) error {
		_, err := x.Import(tx, objectdb.Address{}, func(Change) error { cancel(); return nil })
		return err
	})
	assert.ErrorIs(t, err, context.Canceled)
	assert.Equal(t, before, dump(t, db))
}

// An archive that was unpacked and packed again by another tool has entries for its folders.
func TestArchivesWithFolders(t *testing.T) {
	for name, format := range archiveFormats {
		t.Run(name, func(t *testing.T) {
			folder := func(name string) archiveEntry {
				return archiveEntry{name: name, mode: fs.ModeDir, tarType: tar.TypeDir}
			}
			db := open(t)
			data := makeArchive(t, format, []archiveEntry{folder("objects/"), folder("objects/b/"),
				{name: "objects/b/a.txt", body: "x"}, folder("objects/empty/")}, nil)
			assert.Equal(t, ImportResult{Added: 3}, importBytes(t, db, data))
			requireEqual(t, objectdb.Text("x"), get(t, db, "t.b.a"))
		})
	}
}

// Import changes no byte of a text: old texts have line ends of a Mac, and bytes that are not
// UTF-8.
func TestImportKeepsBytesOfTexts(t *testing.T) {
	db := open(t)
	const text = "one\rtwo\r\nthree\x8e\xff\x00"
	importBytes(t, db, makeArchive(t, TarGzip, []archiveEntry{{name: "objects/a.txt", body: text},
		{name: "objects/b.lua", body: text}}, nil))
	requireEqual(t, objectdb.Text(text), get(t, db, "t.a"))
	requireEqual(t, objectdb.Script(text), get(t, db, "t.b"))
}
