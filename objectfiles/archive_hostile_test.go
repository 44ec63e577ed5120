package objectfiles

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"strings"
	"testing"

	"scripter/objectdb"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// refuse tells that an archive is refused, with a message that holds no
// character that could harm a terminal, and that no temporary file is left.
func refuse(t *testing.T, data []byte, limits ImportLimits, want string) {
	t.Helper()
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	x, err := openBytes(data, limits)
	require.Nil(t, x)
	require.Error(t, err)
	assert.Contains(t, err.Error(), want)
	for _, r := range err.Error() {
		assert.False(t, r < ' ' || 0x7f <= r && r < 0xa0 || 0x200b <= r && r <= 0x202e, "%q in %q", r, err)
	}
	left, err := os.ReadDir(temp)
	require.NoError(t, err)
	assert.Empty(t, left)
}

func TestArchiveNames(t *testing.T) {
	long := strings.Repeat("n", 60_000)
	tests := []struct{ name, want string }{
		{"/etc/passwd", `the name "/etc/passwd" is absolute`},
		{"objects//etc/passwd.txt", "has an empty part"},
		{"objects/../../up.txt", `has a part ".."`},
		{"objects/..", `has a part ".."`},
		{"../objects/a.txt", `has a part ".."`},
		{"./objects/a.txt", `has a part "."`},
		{`objects\a.txt`, "holds a backslash"},
		{`..\..\a.txt`, "holds a backslash"},
		{"C:/a.txt", "holds the byte 0x3a"},
		{"objects/c:a.txt", "holds the byte 0x3a, which the folder form writes %3A"},
		{"objects/a\nb.txt", "holds the byte 0x0a"},
		{"objects/\x1b[2J.txt", `the name "objects/\x1b[2J.txt" holds the byte 0x1b`},
		{"objects/\u202egnp.txt", `the name "objects/\u202egnp.txt" holds the byte 0xe2`},
		{"objects/ä.txt", "holds the byte 0xc3"},
		{"objects/\xff\xfe.txt", `the name "objects/\xff\xfe.txt" holds the byte 0xff`},
		{"objects/.git/config", "is that of a hidden file"},
		{"objects/.txt", "is that of a hidden file"},
		{"objects/" + long, "has more than 4096 bytes"},
		{"objects/" + strings.Repeat("d/", 5000) + "a.txt", "has more than 4096 bytes"},
		{"objects/" + strings.Repeat("d/", 1000) + "a.txt", "lies more than 200 folders deep"},
		{"objects/" + long[:300] + ".txt", "has a part of more than 255 bytes"},
		{"other/a.txt", "belongs to no Scripter archive"},
		{"a.txt", "belongs to no Scripter archive"},
		{"manifest.json/a.txt", "belongs to no Scripter archive"},
		{"__MACOSX/a.txt", "belongs to no Scripter archive"},
		{"objects", ""},
	}
	for _, test := range tests {
		for format, f := range archiveFormats {
			t.Run(fmt.Sprintf("%s %.20q", format, test.name), func(t *testing.T) {
				good := archiveEntry{name: "objects/good.txt", body: "good"}
				refuse(t, handmade(t, f, []archiveEntry{good, {name: test.name, body: "x"}}, nil), ImportLimits{}, test.want)
			})
		}
	}
	// In a tar.gz these cannot be.
	refuse(t, handmade(t, Zip, []archiveEntry{{name: ""}}, nil), ImportLimits{}, "is empty")
	refuse(t, handmade(t, Zip, []archiveEntry{{name: "objects/a\x00.txt"}}, nil), ImportLimits{}, `the name "objects/a\x00.txt" holds the byte 0x00`)
}

func TestArchiveEntries(t *testing.T) {
	file := func(name string) archiveEntry { return archiveEntry{name: name, body: "x"} }
	link := archiveEntry{name: "objects/l.txt", body: "/etc/passwd", mode: fs.ModeSymlink, tarType: tar.TypeSymlink}
	tests := []struct {
		name    string
		entries []archiveEntry
		want    string
	}{
		{"link", []archiveEntry{link}, "objects/l.txt is neither a file nor a folder, but a link"},
		{"link as a folder", []archiveEntry{{name: "objects/d", body: "/tmp", mode: fs.ModeSymlink, tarType: tar.TypeSymlink}, file("objects/d/a.txt")}, ""},
		{"hard link", []archiveEntry{{name: "objects/l.txt", body: "objects/a.txt", mode: fs.ModeSymlink, tarType: tar.TypeLink}}, "but a link"},
		{"device", []archiveEntry{{name: "objects/d.bin", mode: fs.ModeDevice | fs.ModeCharDevice, tarType: tar.TypeChar}}, "but a device"},
		{"pipe", []archiveEntry{{name: "objects/p.bin", mode: fs.ModeNamedPipe, tarType: tar.TypeFifo}}, "neither a file nor a folder"},
		{"twice", []archiveEntry{file("objects/a.txt"), file("objects/a.txt")}, `it holds "objects/a.txt" twice`},
		{"manifest twice", []archiveEntry{{name: manifestFile, body: "{}"}, {name: manifestFile, body: "{}"}}, "twice"},
		{"folder twice", []archiveEntry{{name: "objects/d/", mode: fs.ModeDir, tarType: tar.TypeDir}, file("objects/d/a.txt"), {name: "objects/d/", mode: fs.ModeDir, tarType: tar.TypeDir}}, `it holds "objects/d" twice`},
		{"case", []archiveEntry{file("objects/a.txt"), file("objects/A.txt")}, `"objects/a.txt" and "objects/A.txt" differ only in case`},
		{"case of a folder", []archiveEntry{file("objects/d/a.txt"), file("objects/D/b.txt")}, `"objects/d" and "objects/D" differ only in case`},
		{"case of the top", []archiveEntry{file("Objects/d/a.txt"), file("objects/b.txt")}, ""},
		{"file over folder", []archiveEntry{file("objects/d/a.txt"), file("objects/d")}, `"objects/d" is both a file and a folder`},
		{"folder over file", []archiveEntry{file("objects/d"), file("objects/d/a.txt")}, `"objects/d" is both a file and a folder`},
	}
	for _, test := range tests {
		for format, f := range archiveFormats {
			t.Run(test.name+" "+format, func(t *testing.T) {
				refuse(t, handmade(t, f, test.entries, nil), ImportLimits{}, test.want)
			})
		}
	}
}

// Two names of files that are one name of an object are met by the import, which
// takes nothing then.
func TestArchiveObjectsThatMeet(t *testing.T) {
	for _, other := range []string{"objects/%41.txt", "objects/A.lua", "objects/a.json"} {
		db := open(t)
		before := dump(t, db)
		x, err := openBytes(handmade(t, Zip, []archiveEntry{{name: "objects/0.txt"}, {name: "objects/a.str"}, {name: other, body: "1"}}, nil), ImportLimits{})
		require.NoError(t, err)
		err = db.Update(context.Background(), func(tx *objectdb.Tx) error { _, err := x.Import(tx, objectdb.Address{}, nil); return err })
		assert.ErrorIs(t, err, objectdb.ErrExists, other)
		assert.Equal(t, before, dump(t, db))
	}
}

func TestManifestFaults(t *testing.T) {
	entries := []archiveEntry{{name: "README.txt", body: "read"}, {name: "objects/a.txt", body: "text"}}
	given := func(body string) []archiveEntry {
		return append([]archiveEntry{{name: manifestFile, body: body}}, entries...)
	}
	tests := []struct {
		name    string
		entries []archiveEntry
		change  func(*Manifest)
		want    string
	}{
		{"none", []archiveEntry{{name: manifestFile + "/", mode: fs.ModeDir, tarType: tar.TypeDir}}, nil, ""},
		{"another's", given(`{"name": "x", "version": "1"}`), nil, "manifest.json: it is not the manifest of a Scripter archive"},
		{"no JSON", given("x"), nil, "manifest.json: the JSON is wrong at byte 1"},
		{"bytes", given("\xff\xfe{}"), nil, "the JSON is wrong"},
		{"deep", given(strings.Repeat("[", 100_000)), nil, "the JSON is wrong"},
		{"deep in it", given(`{"scripterArchive": 1, "x": ` + strings.Repeat("[", 100_000)), nil, "the JSON is wrong"},
		{"newer", entries, func(m *Manifest) { m.Form = 2 }, "archive is refused: it was written by a newer version: its form is 2, this program reads 1; use the newer program"},
		{"address", entries, func(m *Manifest) { m.Address = "a..b" }, "a name is wanted here"},
		{"remove", entries, func(m *Manifest) { m.Remove = []string{""} }, `it removes "", which is no address of an object`},
		{"missing file", entries, func(m *Manifest) { m.Files = append(m.Files, ManifestFile{Name: "objects/\u202eb.txt"}) }, `the manifest lists "objects/\u202eb.txt", which is not there`},
		{"itself", entries, func(m *Manifest) { m.Files = append(m.Files, ManifestFile{Name: manifestFile}) }, "which is not there"},
		{"unlisted", entries, func(m *Manifest) { m.Files = m.Files[:1] }, "the manifest does not list objects/a.txt"},
		{"listed twice", entries, func(m *Manifest) { m.Files = append(m.Files, m.Files[0]) }, "the manifest lists README.txt twice"},
		{"size", entries, func(m *Manifest) { m.Files[1].Size = 5 }, "objects/a.txt has 4 bytes, and 5 by the manifest"},
		{"negative size", entries, func(m *Manifest) { m.Files[1].Size = -1 }, "-1 by the manifest"},
		{"checksum", entries, func(m *Manifest) { m.Files[1].SHA256 = m.Files[0].SHA256 }, "objects/a.txt: archive is refused: its checksum is not that of the manifest"},
		{"checksum of the README", entries, func(m *Manifest) { m.Files[0].SHA256 = "" }, "README.txt: archive is refused: its checksum"},
	}
	for _, test := range tests {
		for format, f := range archiveFormats {
			t.Run(test.name+" "+format, func(t *testing.T) {
				refuse(t, handmade(t, f, test.entries, test.change), ImportLimits{}, test.want)
			})
		}
	}
}

func TestStrangeForms(t *testing.T) {
	macBinary := make([]byte, 256)
	macBinary[1] = 8
	copy(macBinary[2:], "glue.sit")
	copy(macBinary[65:], "SIT!SIT!")
	var plainTar bytes.Buffer
	w := tar.NewWriter(&plainTar)
	require.NoError(t, w.WriteHeader(&tar.Header{Name: "a", Typeflag: tar.TypeReg}))
	require.NoError(t, w.Close())
	for want, data := range map[string]string{
		"it is a MacBinary file (such as a .sit.bin); an archive is a zip or a tar.gz file": string(macBinary),
		"it is a StuffIt archive (.sit)":                                 "SIT!\x00\x01\x00\x00",
		"it is a StuffIt archive":                                        "StuffIt (c)1997-2001 Aladdin",
		"it is a BinHex file":                                            "(This file must be converted with BinHex 4.0)\n:",
		"it is a tar file that is not packed with gzip":                  plainTar.String(),
		"packed in another way (bzip2":                                   "BZh91AY",
		"it is something else; an archive is a zip or a tar.gz file":     "<html>404</html>",
		"archive is refused: it is something else; an archive is a zip ": "",
		"archive is refused: it ends too early":                          "\x1f\x8b\x08",
		"archive is refused: ":                                           "PK\x03\x04",
	} {
		refuse(t, []byte(data), ImportLimits{}, want)
	}
}

// An archive that was cut short anywhere is refused, and one with a byte
// changed either is refused or holds the same objects.
func TestDamagedArchives(t *testing.T) {
	db := open(t)
	put(t, db, "t.a", objectdb.Script("return 1"), "t.b.c", objectdb.Number(2), "t.d", objectdb.Binary{Type: "image/gif", Data: "GIF89a"})
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

// filesOf gives the files of the folder form in an archive.
func filesOf(t *testing.T, data []byte) map[string]string {
	t.Helper()
	x, err := openBytes(data, ImportLimits{})
	require.NoError(t, err)
	defer x.Close()
	files := map[string]string{}
	require.NoError(t, fs.WalkDir(x.Objects(), ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		content, err := fs.ReadFile(x.Objects(), name)
		files[name] = string(content)
		return err
	}))
	return files
}

func TestBombs(t *testing.T) {
	zeros := strings.Repeat("\x00", 65<<20)
	bomb := []archiveEntry{{name: "objects/zeros.bin", body: zeros}}
	for name, format := range archiveFormats {
		t.Run(name, func(t *testing.T) {
			data := handmade(t, format, bomb, nil)
			refuse(t, data, ImportLimits{}, "too large: it unpacks to more than 33554432 bytes (33554432, or 25 times its size)")
			refuse(t, data, ImportLimits{Bytes: 8 << 20}, "it unpacks to more than 8388608 bytes")
			x, err := openBytes(data, ImportLimits{Bytes: 66 << 20})
			require.NoError(t, err, "the owner has said how much he expects")
			assert.Greater(t, x.Bytes, int64(65<<20))
			require.NoError(t, x.Close())

			many := make([]archiveEntry, 300)
			for i := range many {
				many[i].name = fmt.Sprintf("objects/a%d.txt", i)
			}
			refuse(t, handmade(t, format, many, nil), ImportLimits{Files: 200}, "it holds more than 200 files and folders")
			folders := []archiveEntry{}
			for i := range 10 {
				folders = append(folders, archiveEntry{name: fmt.Sprintf("objects/%d%s/a.txt", i, strings.Repeat("/d", 100))})
			}
			refuse(t, handmade(t, format, folders, nil), ImportLimits{Files: 200}, "it holds more than 200 files and folders")
			list := []archiveEntry{{name: "objects/list.json", body: "[" + strings.Repeat("0,", 2<<20) + "0]"}}
			refuse(t, handmade(t, format, list, nil), ImportLimits{}, "objects/list.json: too large: a .json file has 4194307 bytes; at most 2097152 are allowed here")
		})
	}
}

// TestGzipBomb is 2 GB of zeros in a few MB, before, in and after a file.
func TestGzipBomb(t *testing.T) {
	member := func(content []byte) []byte {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		_, err := w.Write(content)
		require.NoError(t, err)
		require.NoError(t, w.Close())
		return b.Bytes()
	}
	header := func(typeflag byte, name string, size int64) []byte {
		var b bytes.Buffer
		w := tar.NewWriter(&b)
		require.NoError(t, w.WriteHeader(&tar.Header{Name: name, Typeflag: typeflag, Size: size}))
		return b.Bytes()
	}
	zeros := bytes.Repeat(member(make([]byte, 1<<20)), 2048)
	refuse(t, append(member(header(tar.TypeReg, "objects/a.bin", 2<<30)), zeros...), ImportLimits{}, "too large")
	refuse(t, append(handmade(t, TarGzip, nil, nil), zeros...), ImportLimits{}, "there is more after the last file")
	// A sparse file says that it is large, and holds nothing.
	sparse := header(tar.TypeReg, "objects/a.bin", 0)
	sparse[156] = tar.TypeGNUSparse
	refuse(t, member(sparse), ImportLimits{}, "")
	long := make([]byte, 2<<20)
	copy(long, header(tar.TypeReg, "objects/a.bin", 2<<20))
	long[156] = 'x' // a record of 2 MB about the next file
	refuse(t, member(long), ImportLimits{}, "")
}

// zipEnd is the record at the end of a zip file (APPNOTE.TXT 4.3.16).
func zipEnd(entries, directory, at int) []byte {
	b := binary.LittleEndian.AppendUint32(nil, 0x06054b50)
	b = binary.LittleEndian.AppendUint32(b, 0)
	b = binary.LittleEndian.AppendUint16(b, uint16(entries))
	b = binary.LittleEndian.AppendUint16(b, uint16(entries))
	b = binary.LittleEndian.AppendUint32(b, uint32(directory))
	b = binary.LittleEndian.AppendUint32(b, uint32(at))
	return append(b, 0, 0)
}

// overlapping makes a zip file with n entries in its directory, all of which are
// the one file of the given content.
func overlapping(t testing.TB, n int, content []byte) []byte {
	t.Helper()
	name := func(i int) string { return fmt.Sprintf("objects/a%07d.txt", i) }
	data := handmadeZip(t, []archiveEntry{{name: name(0), body: string(content)}})
	at := bytes.Index(data, []byte(entryMark))
	record := data[at : len(data)-22]
	var directory []byte
	for i := range n {
		directory = append(directory, bytes.Replace(record, []byte(name(0)), []byte(name(i)), 1)...)
	}
	return slicesConcat(data[:at], directory, zipEnd(n, len(directory), at))
}

func slicesConcat(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

func TestOverlappingFiles(t *testing.T) {
	content := make([]byte, 1<<20)
	data := overlapping(t, 1000, content)
	x, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	require.NoError(t, err)
	require.Len(t, x.File, 1000, "the test makes what it says")

	// The same with a manifest that lists all of them: 1000 MB in 100 KB.
	m := Manifest{Form: 1}
	var sum ManifestFile
	require.NoError(t, json.Unmarshal([]byte(`{"sha256":"30e14955ebf1352266dc2ff8067e68104607e750abb9d3b36582b8af909fcb58"}`), &sum))
	for _, f := range x.File {
		m.Files = append(m.Files, ManifestFile{f.Name, 1 << 20, sum.SHA256})
	}
	manifest, err := json.Marshal(m)
	require.NoError(t, err)
	listed := handmadeZip(t, []archiveEntry{{name: manifestFile, body: string(manifest)}, {name: "objects/a0000000.txt", body: string(content)}})
	at := bytes.Index(listed, []byte(entryMark))
	directory := listed[at : len(listed)-22]
	last := directory[bytes.LastIndex(directory, []byte(entryMark)):]
	for i := 1; i < 1000; i++ {
		directory = append(bytes.Clone(directory), bytes.Replace(last, []byte("a0000000"), fmt.Appendf(nil, "a%07d", i), 1)...)
	}
	refuse(t, slicesConcat(listed[:at], directory, zipEnd(1001, len(directory), at)), ImportLimits{}, "too large: it unpacks to more than")
}

// A zip file with very many entries is refused before they are in memory, whatever
// it says of their number.
func TestVeryManyEntries(t *testing.T) {
	data := overlapping(t, 300_000, []byte("x"))
	refuse(t, data, ImportLimits{}, "files and folders")
	copy(data[len(data)-22:], zipEnd(3, 3*68, len(data)-22-300_000*68))
	refuse(t, data, ImportLimits{}, "")
	allocated := testing.AllocsPerRun(1, func() {
		_, err := openBytes(data, ImportLimits{})
		require.Error(t, err)
	})
	assert.Less(t, allocated, 400_000.0)
}

// What the headers of a zip file say of sizes is not believed.
func TestLyingSizes(t *testing.T) {
	body := strings.Repeat("text ", 1000)
	for name, lie := range map[string]func(h *zip.FileHeader){
		"larger":   func(h *zip.FileHeader) { h.UncompressedSize64 *= 2 },
		"smaller":  func(h *zip.FileHeader) { h.UncompressedSize64 /= 2 },
		"huge":     func(h *zip.FileHeader) { h.UncompressedSize64 = 1 << 62 },
		"packed":   func(h *zip.FileHeader) { h.CompressedSize64 += 1 << 40 },
		"checksum": func(h *zip.FileHeader) { h.CRC32++ },
		"method":   func(h *zip.FileHeader) { h.Method = 99 },
		"secret":   func(h *zip.FileHeader) { h.Flags |= 1 },
	} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			w := zip.NewWriter(&b)
			h := &zip.FileHeader{Name: "objects/a.txt", Method: zip.Store, CRC32: crc32.ChecksumIEEE([]byte(body)), CompressedSize64: uint64(len(body)), UncompressedSize64: uint64(len(body))}
			lie(h)
			f, err := w.CreateRaw(h)
			require.NoError(t, err)
			_, err = f.Write([]byte(body))
			require.NoError(t, err)
			m := Manifest{Form: 1, Files: []ManifestFile{{Name: "objects/a.txt", Size: int64(h.UncompressedSize64)}}}
			content, err := json.Marshal(m)
			require.NoError(t, err)
			mw, err := w.Create(manifestFile)
			require.NoError(t, err)
			_, err = mw.Write(content)
			require.NoError(t, err)
			require.NoError(t, w.Close())
			refuse(t, b.Bytes(), ImportLimits{}, "")
		})
	}
}

// An archive that was unpacked and packed again by other tools has entries for
// its folders.
func TestArchivesWithFolders(t *testing.T) {
	for name, format := range archiveFormats {
		t.Run(name, func(t *testing.T) {
			folder := func(name string) archiveEntry {
				return archiveEntry{name: name, mode: fs.ModeDir, tarType: tar.TypeDir}
			}
			db := open(t)
			data := handmade(t, format, []archiveEntry{folder("objects/"), folder("objects/b/"), {name: "objects/b/a.txt", body: "x"}, folder("objects/empty/")}, nil)
			assert.Equal(t, ImportResult{Added: 3}, importBytes(t, db, data))
			requireEqual(t, objectdb.Text("x"), get(t, db, "t.b.a"))
		})
	}
}

// Old texts come as they are: line ends of a Mac, bytes that are no UTF-8.
func TestOldTextsAreNotChanged(t *testing.T) {
	db := open(t)
	const text = "one\rtwo\r\nthree\x8e\xff\x00"
	importBytes(t, db, handmade(t, TarGzip, []archiveEntry{{name: "objects/a.txt", body: text}, {name: "objects/b.lua", body: text}}, nil))
	requireEqual(t, objectdb.Text(text), get(t, db, "t.a"))
	requireEqual(t, objectdb.Script(text), get(t, db, "t.b"))
}

// FuzzImport: whatever the bytes are, an archive is refused or imported, and what is
// imported makes an archive of the same objects.
func FuzzImport(f *testing.F) {
	for _, format := range archiveFormats {
		f.Add(handmade(f, format, []archiveEntry{{name: "README.txt", body: "x"}, {name: "objects/a.lua", body: "return 1"}, {name: "objects/b/_index.json", body: "{}"}}, nil))
		f.Add(handmade(f, format, []archiveEntry{{name: "objects/a.json", body: `{"date": "2026-01-02T15:04:05Z"}`}, {name: "objects/o.opml", body: "<opml/>"}}, func(m *Manifest) { m.Remove = []string{"old.a"} }))
		f.Add(handmade(f, format, []archiveEntry{{name: "objects/a", body: "/etc", mode: fs.ModeSymlink, tarType: tar.TypeSymlink}}, nil))
		f.Add(handmade(f, format, []archiveEntry{{name: "objects/../a.txt"}, {name: "objects/A.txt"}, {name: "objects/a.txt"}}, nil))
	}
	f.Add(overlapping(f, 20, []byte("x")))
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
			return fs.ErrClosed // nothing is kept
		})
	})
}

// FuzzArchiveFiles: whatever the names and contents of files are, a zip and a
// tar.gz of them come to the same, and nothing is imported outside of the table.
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
		if strings.ContainsRune(name1+name2, 0) || name1 == "" || name2 == "" || strings.HasSuffix(name1, "/") || strings.HasSuffix(name2, "/") {
			return // the writer of tar files refuses the first, and makes folders of the last
		}
		var results [2]map[string]string
		for i, format := range []ArchiveFormat{Zip, TarGzip} {
			data := handmade(t, format, []archiveEntry{{name: name1, body: body1}, {name: name2, body: body2}}, nil)
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
				return fs.ErrClosed // nothing is kept
			})
			require.NoError(t, x.Close())
		}
		assert.Equal(t, results[0], results[1])
	})
}
