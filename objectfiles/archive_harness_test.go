package objectfiles

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io/fs"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
)

var archiveFormats = map[string]ArchiveFormat{"zip": Zip, "tar.gz": TarGzip}

// archiveEntry is one entry of an archive that a test makes. The manifest lists the
// ordinary files.
type archiveEntry struct {
	name, body string
	mode       fs.FileMode // with a type bit: in a zip
	tarType    byte        // in a tar.gz; 0 is a file
}

// makeArchive returns an archive with these entries. If the manifest is not among them, the
// archive has a correct one, which change may change.
func makeArchive(t testing.TB, format ArchiveFormat, entries []archiveEntry, change func(*Manifest)) []byte {
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
		return makeZip(t, entries)
	}
	return makeTar(t, entries)
}

func makeZip(t testing.TB, entries []archiveEntry) []byte {
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

func makeTar(t testing.TB, entries []archiveEntry) []byte {
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

// importBytes imports an archive to the address in its manifest.
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

// archiveOf returns an export of an object as an archive.
func archiveOf(t testing.TB, db *objectdb.DB, a string, format ArchiveFormat) []byte {
	t.Helper()
	var b bytes.Buffer
	w := NewArchiveWriter(&b, format, time.Unix(1e9, 0))
	m := Manifest{Program: "test 1", Time: time.Unix(1e9, 0).UTC(), Notes: "of a test"}
	view(t, db, func(tx *objectdb.Tx) { m.Address = must(ExportArchive(tx, addr(t, a), w, nil))(t).String() })
	require.NoError(t, w.Close(m, "read me\n"))
	return b.Bytes()
}

// requireRefused requires that an archive is refused with an error that contains want. The
// error must have no character that could harm a terminal, and no temporary file may be left.
func requireRefused(t *testing.T, data []byte, limits ImportLimits, want string) {
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

// filesOf returns the files of the folder form in an archive.
func filesOf(t *testing.T, data []byte) map[string]string {
	t.Helper()
	x, err := openBytes(data, ImportLimits{})
	require.NoError(t, err)
	defer x.Close()
	files := map[string]string{}
	require.NoError(t, fs.WalkDir(x.objects(), ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		content, err := fs.ReadFile(x.objects(), name)
		files[name] = string(content)
		return err
	}))
	return files
}
