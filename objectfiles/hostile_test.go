package objectfiles

import (
	"archive/tar"
	"bytes"
	"context"
	"io/fs"
	"strings"
	"testing"

	"scripter/objectdb"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestArchiveEntries(t *testing.T) {
	file := func(name string) archiveEntry { return archiveEntry{name: name, body: "x"} }
	link := archiveEntry{name: "objects/l.txt", body: "/etc/passwd", mode: fs.ModeSymlink, tarType: tar.TypeSymlink}
	tests := []struct {
		name    string
		entries []archiveEntry
		want    string
	}{
		{"link", []archiveEntry{link}, "objects/l.txt is neither a file nor a folder, but a link"},
		{"link as a folder", []archiveEntry{{name: "objects/d", body: "/tmp", mode: fs.ModeSymlink, tarType: tar.TypeSymlink},
			file("objects/d/a.txt")}, ""},
		{"hard link", []archiveEntry{{name: "objects/l.txt", body: "objects/a.txt", mode: fs.ModeSymlink,
			tarType: tar.TypeLink}}, "but a link"},
		{"device", []archiveEntry{{name: "objects/d.bin", mode: fs.ModeDevice | fs.ModeCharDevice, tarType: tar.TypeChar}},
			"but a device"},
		{"pipe", []archiveEntry{{name: "objects/p.bin", mode: fs.ModeNamedPipe, tarType: tar.TypeFifo}},
			"neither a file nor a folder"},
		{"twice", []archiveEntry{file("objects/a.txt"), file("objects/a.txt")}, `it holds "objects/a.txt" twice`},
		{"manifest twice", []archiveEntry{{name: manifestFile, body: "{}"}, {name: manifestFile, body: "{}"}}, "twice"},
		{"folder twice", []archiveEntry{{name: "objects/d/", mode: fs.ModeDir, tarType: tar.TypeDir}, file("objects/d/a.txt"),
			{name: "objects/d/", mode: fs.ModeDir, tarType: tar.TypeDir}}, `it holds "objects/d" twice`},
		{"case", []archiveEntry{file("objects/a.txt"), file("objects/A.txt")},
			`"objects/a.txt" and "objects/A.txt" differ only in case`},
		{"case of a folder", []archiveEntry{file("objects/d/a.txt"), file("objects/D/b.txt")},
			`"objects/d" and "objects/D" differ only in case`},
		{"case of the top", []archiveEntry{file("Objects/d/a.txt"), file("objects/b.txt")}, ""},
		{"file over folder", []archiveEntry{file("objects/d/a.txt"), file("objects/d")},
			`"objects/d" is both a file and a folder`},
		{"folder over file", []archiveEntry{file("objects/d"), file("objects/d/a.txt")},
			`"objects/d" is both a file and a folder`},
	}
	for _, test := range tests {
		for format, f := range archiveFormats {
			t.Run(test.name+" "+format, func(t *testing.T) {
				requireRefused(t, makeArchive(t, f, test.entries, nil), ImportLimits{}, test.want)
			})
		}
	}
}

// Two files with different names can be for one object. Then the import imports nothing.
func TestArchiveWithTwoFilesOfOneObject(t *testing.T) {
	for _, other := range []string{"objects/%41.txt", "objects/A.lua", "objects/a.json"} {
		db := open(t)
		before := dump(t, db)
		x, err := openBytes(makeArchive(t, Zip, []archiveEntry{{name: "objects/0.txt"}, {name: "objects/a.str"},
			{name: other, body: "1"}}, nil), ImportLimits{})
		require.NoError(t, err)
		err = db.Update(context.Background(), func(tx *objectdb.Tx) error {
			_, err := x.Import(tx, objectdb.Address{}, nil)
			return err
		})
		assert.ErrorIs(t, err, objectdb.ErrExists, other)
		assert.Equal(t, before, dump(t, db))
	}
}

// A truncated archive is refused. An archive with one changed byte is refused or has the same
// objects.
func TestDamagedArchives(t *testing.T) {
	db := open(t)
	put(t, db, "t.a", objectdb.Script("return 1"), "t.b.c", objectdb.Number(2),
		"t.d", objectdb.Binary{Type: "image/gif", Data: "GIF89a"})
	for name, format := range archiveFormats {
		data := archiveOf(t, db, "t", format)
		for n := range len(data) {
			x, err := openBytes(data[:n], ImportLimits{})
			require.Error(t, err, "%s of %d bytes, of %d", name, n, len(data))
			require.Nil(t, x)
		}
		survived := 0
		want := filesOf(t, data)
		for i := range data {
			damaged := bytes.Clone(data)
			damaged[i] ^= 0x15
			x, err := openBytes(damaged, ImportLimits{})
			if err != nil {
				continue
			}
			require.NoError(t, x.Close())
			survived++ // a time, or a field that nobody reads
			require.Equal(t, want, filesOf(t, damaged), "%s, byte %d", name, i)
		}
		assert.Less(t, survived, len(data)/2)
	}
}

// FuzzImport opens any bytes as an archive. It is refused or imported, and an export of the
// imported objects has the same objects.
func FuzzImport(f *testing.F) {
	for _, format := range archiveFormats {
		f.Add(makeArchive(f, format, []archiveEntry{{name: "README.txt", body: "x"},
			{name: "objects/a.lua", body: "return 1"}, {name: "objects/b/_index.json", body: "{}"}}, nil))
		f.Add(makeArchive(f, format, []archiveEntry{{name: "objects/a.json", body: `{"date": "2026-01-02T15:04:05Z"}`},
			{name: "objects/o.opml", body: "<opml/>"}}, func(m *Manifest) {
			m.Remove = []string{"old.a"}
		}))
		f.Add(makeArchive(f, format, []archiveEntry{{name: "objects/a", body: "/etc", mode: fs.ModeSymlink,
			tarType: tar.TypeSymlink}}, nil))
		f.Add(makeArchive(f, format, []archiveEntry{{name: "objects/../a.txt"}, {name: "objects/A.txt"},
			{name: "objects/a.txt"}}, nil))
	}
	f.Add(overlappingZip(f, 20, []byte("x")))
	f.Add([]byte("PK\x05\x06" + strings.Repeat("\x00", 18)))
	db := open(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		x, err := openBytes(data, ImportLimits{Bytes: 1 << 20, Files: 100})
		if err != nil {
			return
		}
		defer x.Close()
		_ = db.Update(context.Background(), func(tx *objectdb.Tx) error {
			if _, err := x.Import(tx, objectdb.Address{"t"}, nil); err != nil {
				return err
			}
			var b bytes.Buffer
			w := NewArchiveWriter(&b, Zip, x.Manifest.Time)
			_, err := ExportArchive(tx, objectdb.Address{"t"}, w, nil)
			require.NoError(t, err)
			require.NoError(t, w.Close(Manifest{}, ""))
			again, err := openBytes(b.Bytes(), ImportLimits{})
			require.NoError(t, err)
			result, err := again.Import(tx, objectdb.Address{"t"}, nil)
			require.NoError(t, err)
			assert.Equal(t, ImportResult{Same: w.Count()}, result)
			return fs.ErrClosed // undoes the import
		})
	})
}

// FuzzArchiveFiles puts files with any names and contents into archives. Zip and tar.gz must
// give the same objects, and nothing may be imported outside of the table.
func FuzzArchiveFiles(f *testing.F) {
	f.Add("objects/a.lua", "return 1", "objects/b/c.json", "[1, 2]")
	f.Add("objects/_index.json", `{"a.txt": {"kind": "outline"}}`, "objects/a.txt", "one\n\ttwo")
	f.Add("objects/%2E%2E.txt", "x", "objects/%2F.txt", "y")
	f.Add("objects/../a.txt", "x", "README.txt", "y")
	f.Add("objects/a.txt", "x", "objects/A.txt", "y")
	f.Add("objects/o.opml", `<opml><body><outline text="a"/></body></opml>`, "objects/b.bin", "\x00")
	db := open(f)
	put(f, db, "other", objectdb.Number(1), "t.a", objectdb.Number(1))
	f.Fuzz(func(t *testing.T, name1, body1, name2, body2 string) {
		if strings.ContainsRune(name1+name2, 0) || name1 == "" || name2 == "" ||
			strings.HasSuffix(name1, "/") || strings.HasSuffix(name2, "/") {
			return // the writer of tar files refuses the first, and makes folders of the last
		}
		var results [2]map[string]string
		for i, format := range []ArchiveFormat{Zip, TarGzip} {
			data := makeArchive(t, format, []archiveEntry{{name: name1, body: body1}, {name: name2, body: body2}}, nil)
			x, err := openBytes(data, ImportLimits{Bytes: 1 << 20, Files: 500})
			if err != nil {
				continue
			}
			_ = db.Update(context.Background(), func(tx *objectdb.Tx) error {
				if _, err := x.Import(tx, objectdb.Address{"t"}, nil); err != nil {
					return err
				}
				results[i] = map[string]string{}
				require.NoError(t, tx.Walk(objectdb.Address{}, func(a objectdb.Address, n *objectdb.Node) error {
					if n.Kind() != objectdb.KindTable {
						results[i][a.String()] = string(objectdb.AppendJSON(nil, must(tx.Value(n))(t)))
					}
					assert.True(t, len(a) < 2 || a[0] == "t", a.String())
					return nil
				}))
				return fs.ErrClosed // undoes the import
			})
			require.NoError(t, x.Close())
		}
		assert.Equal(t, results[0], results[1])
	})
}
