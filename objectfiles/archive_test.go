package objectfiles

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
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

var archiveFormats = map[string]ArchiveFormat{"zip": Zip, "tar.gz": TarGzip}

// archiveEntry is one entry of an archive that a test makes by hand. Name and
// body of an ordinary file are listed in the manifest.
type archiveEntry struct {
	name, body string
	mode       fs.FileMode // with a type bit: in a zip
	tarType    byte        // in a tar.gz; 0 is a file
}

// handmade makes an archive of the entries; the manifest, unless it is among them, is right
// but for what change does to it.
func handmade(t testing.TB, format ArchiveFormat, entries []archiveEntry, change func(*Manifest)) []byte {
	t.Helper()
	m := Manifest{Form: ArchiveForm, Program: "test", Root: 1, Time: time.Unix(0, 0).UTC(), Address: "t"}
	given := false
	for _, e := range entries {
		given = given || e.name == manifestFile
		if e.name != manifestFile && e.mode.Type() == 0 && e.tarType == 0 {
			sum := sha256.Sum256([]byte(e.body))
			m.Files = append(m.Files, ManifestFile{e.name, int64(len(e.body)), hex.EncodeToString(sum[:])})
		}
	}
	if change != nil {
		change(&m)
	}
	if !given {
		content, err := json.Marshal(m)
		require.NoError(t, err)
		entries = append(entries[:len(entries):len(entries)], archiveEntry{name: manifestFile, body: string(content)})
	}
	if format == Zip {
		return handmadeZip(t, entries)
	}
	return handmadeTar(t, entries)
}

func handmadeZip(t testing.TB, entries []archiveEntry) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, e := range entries {
		h := &zip.FileHeader{Name: e.name, Method: zip.Deflate}
		h.SetMode(e.mode | 0o644)
		f, err := w.CreateHeader(h)
		require.NoError(t, err)
		if e.body != "" {
			_, err = f.Write([]byte(e.body))
			require.NoError(t, err)
		}
	}
	require.NoError(t, w.Close())
	return b.Bytes()
}

func handmadeTar(t testing.TB, entries []archiveEntry) []byte {
	t.Helper()
	var b bytes.Buffer
	packed := gzip.NewWriter(&b)
	w := tar.NewWriter(packed)
	for _, e := range entries {
		h := &tar.Header{Name: e.name, Mode: 0o644, Size: int64(len(e.body)), Typeflag: e.tarType}
		if h.Typeflag == 0 {
			h.Typeflag = tar.TypeReg
		} else {
			h.Size, h.Linkname = 0, e.body
		}
		require.NoError(t, w.WriteHeader(h))
		if h.Size > 0 {
			_, err := w.Write([]byte(e.body))
			require.NoError(t, err)
		}
	}
	require.NoError(t, w.Close())
	require.NoError(t, packed.Close())
	return b.Bytes()
}

func openBytes(data []byte, limits ImportLimits) (*Archive, error) {
	return OpenArchive(bytes.NewReader(data), int64(len(data)), limits)
}

// importBytes imports an archive where it says that it belongs.
func importBytes(t testing.TB, db *objectdb.DB, data []byte) (result ImportResult) {
	t.Helper()
	x, err := openBytes(data, ImportLimits{})
	require.NoError(t, err)
	defer x.Close()
	update(t, db, func(tx *objectdb.Tx) {
		result = must(x.Import(tx, addr(t, x.Manifest.Address), nil))(t)
	})
	return result
}

// archiveOf exports an address as an archive.
func archiveOf(t testing.TB, db *objectdb.DB, a string, format ArchiveFormat) []byte {
	t.Helper()
	var b bytes.Buffer
	w := NewArchiveWriter(&b, format, time.Unix(1e9, 0))
	m := Manifest{Program: "test 1", Time: time.Unix(1e9, 0).UTC(), Notes: "of a test"}
	view(t, db, func(tx *objectdb.Tx) { m.Address = must(ExportArchive(tx, addr(t, a), w, nil))(t).String() })
	require.NoError(t, w.Close(m, "read me\n"))
	return b.Bytes()
}

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
	assert.Equal(t, "read me\n", x.Readme)
	assert.Equal(t, "test 1", x.Manifest.Program)
	assert.Equal(t, ArchiveForm, x.Manifest.Form)
	assert.Equal(t, objectdb.FileVersion, x.Manifest.Root)

	// What is in objects is what Export writes.
	dir := filepath.Join(t.TempDir(), "export")
	count := export(t, db, "", dir)
	unpacked := filepath.Join(t.TempDir(), "unpacked")
	require.NoError(t, os.CopyFS(unpacked, x.Objects()))
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

func TestArchiveFormatOf(t *testing.T) {
	for name, want := range map[string]ArchiveFormat{
		"a.zip": Zip, "A.ZIP": Zip, "a.tar.gz": TarGzip, "a.TGZ": TarGzip, "a": 0, "a.gz": 0, "zip": 0, "a.zip/b": 0,
	} {
		assert.Equal(t, want, ArchiveFormatOf(name), name)
	}
}

// What an import tells of each object is enough to make the archive that
// takes everything back.
//
// Specification: 2.4.2
func TestChangesLeadBack(t *testing.T) {
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

// spelling gives all of a root but versions and times.
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
	put(t, db, "t.a", objectdb.Number(1), "t.b.c", objectdb.Number(2), "t.d.e", objectdb.Number(3), "t.d.f", objectdb.Number(4), "u", objectdb.Number(5))
	data := handmade(t, Zip, []archiveEntry{{name: "objects/new.json", body: "1"}}, func(m *Manifest) {
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

func TestAnImportEndsWithItsContext(t *testing.T) {
	db := open(t)
	data := handmade(t, Zip, []archiveEntry{{name: "objects/a.json", body: "1"}, {name: "objects/b.json", body: "2"}}, nil)
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

// Lists that nest deep are written without the tabs that would outgrow them.
func TestDeepListsStaySmall(t *testing.T) {
	v := objectdb.Value(objectdb.List{objectdb.Number(1)})
	for range 150 {
		v = objectdb.List{v}
	}
	content := encodeJSON(v)
	assert.Less(t, len(content), 400)
	back, err := objectdb.ParseJSON(string(content))
	require.NoError(t, err)
	assert.True(t, objectdb.Equal(v, back))
}
