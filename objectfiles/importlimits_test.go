package objectfiles

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
)

// With Strict, a larger archive may not have more content.
func TestStrictLimits(t *testing.T) {
	var b bytes.Buffer
	w := NewArchiveWriter(&b, Zip, someDay)
	require.NoError(t, w.Put(objectdb.Address{"list"}, objectdb.List{objectdb.String(strings.Repeat("x", freeJSON))}))
	require.NoError(t, w.Close(Manifest{}, ""))
	requireRefused(t, b.Bytes(), ImportLimits{Strict: true}, "are allowed here")
	requireRefused(t, makeArchive(t, Zip, []archiveEntry{{name: "objects/a.txt", body: strings.Repeat("x", FreeBytes)}},
		nil), ImportLimits{Strict: true}, "it unpacks to more than 33554432 bytes")
}

func TestCheckFolder(t *testing.T) {
	dir := t.TempDir()
	check := func(limits ImportLimits) error {
		_, _, err := CheckFolder(os.DirFS(dir), limits)
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
	files, largest, err := CheckFolder(os.DirFS(dir), ImportLimits{})
	require.NoError(t, err)
	assert.Equal(t, 1, files)
	assert.Equal(t, int64(20<<20), largest)
	sparse("c.json", 3<<20)
	assert.ErrorContains(t, check(ImportLimits{}), "import c.json: too large")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "c.json"), make([]byte, 3<<20), 0o600))
	require.NoError(t, check(ImportLimits{}), "it takes as much on the disk")
	assert.ErrorContains(t, check(ImportLimits{Files: 1}), "it holds more than 1 files and folders")
	require.NoError(t, os.Symlink("/dev/zero", filepath.Join(dir, "z.txt")))
	assert.ErrorContains(t, check(ImportLimits{}), "import z.txt: it is neither a file nor a folder, but a link")
}

func TestBombs(t *testing.T) {
	zeros := strings.Repeat("\x00", 65<<20)
	bomb := []archiveEntry{{name: "objects/zeros.bin", body: zeros}}
	for name, format := range archiveFormats {
		t.Run(name, func(t *testing.T) {
			data := makeArchive(t, format, bomb, nil)
			requireRefused(t, data, ImportLimits{}, "too large: it unpacks to more than 33554432 bytes (33554432, "+
				"or 25 times its size)")
			requireRefused(t, data, ImportLimits{Bytes: 8 << 20}, "it unpacks to more than 8388608 bytes")
			x, err := openBytes(data, ImportLimits{Bytes: 66 << 20})
			require.NoError(t, err, "the owner has said how much he expects")
			assert.Equal(t, int64(65<<20), x.Largest)
			require.NoError(t, x.Close())

			many := make([]archiveEntry, 300)
			for i := range many {
				many[i].name = fmt.Sprintf("objects/a%d.txt", i)
			}
			requireRefused(t, makeArchive(t, format, many, nil), ImportLimits{Files: 200},
				"it holds more than 200 files and folders")
			folders := []archiveEntry{}
			for i := range 10 {
				folders = append(folders, archiveEntry{name: fmt.Sprintf("objects/%d%s/a.txt", i, strings.Repeat("/d", 100))})
			}
			requireRefused(t, makeArchive(t, format, folders, nil), ImportLimits{Files: 200},
				"it holds more than 200 files and folders")
			list := []archiveEntry{{name: "objects/list.json", body: "[" + strings.Repeat("0,", 2<<20) + "0]"}}
			requireRefused(t, makeArchive(t, format, list, nil), ImportLimits{},
				"objects/list.json: too large: a .json file has 4194307 bytes; at most 2097152 are allowed here")
		})
	}
}

// Archives with 2 GB of zeros in a few MB: in a file, after the last file, and in headers.
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
	requireRefused(t, append(member(header(tar.TypeReg, "objects/a.bin", 2<<30)), zeros...), ImportLimits{}, "too large")
	requireRefused(t, append(makeArchive(t, TarGzip, nil, nil), zeros...), ImportLimits{},
		"there is more after the last file")
	// A sparse file says that it is large, and holds nothing.
	sparse := header(tar.TypeReg, "objects/a.bin", 0)
	sparse[156] = tar.TypeGNUSparse
	requireRefused(t, member(sparse), ImportLimits{}, "")
	long := make([]byte, 2<<20)
	copy(long, header(tar.TypeReg, "objects/a.bin", 2<<20))
	long[156] = 'x' // a record of 2 MB about the next file
	requireRefused(t, member(long), ImportLimits{}, "")
}
