package objectfiles

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// zipEnd returns the record at the end of a zip file (APPNOTE.TXT 4.3.16).
func zipEnd(entries, directory, at int) []byte {
	b := binary.LittleEndian.AppendUint32(nil, 0x06054b50)
	b = binary.LittleEndian.AppendUint32(b, 0)
	b = binary.LittleEndian.AppendUint16(b, uint16(entries))
	b = binary.LittleEndian.AppendUint16(b, uint16(entries))
	b = binary.LittleEndian.AppendUint32(b, uint32(directory))
	b = binary.LittleEndian.AppendUint32(b, uint32(at))
	return append(b, 0, 0)
}

// overlappingZip returns a zip file with n entries in its directory, all of one file with the
// given content.
func overlappingZip(t testing.TB, n int, content []byte) []byte {
	t.Helper()
	name := func(i int) string { return fmt.Sprintf("objects/a%07d.txt", i) }
	data := makeZip(t, []archiveEntry{{name: name(0), body: string(content)}})
	at := bytes.Index(data, []byte(entryMark))
	record := data[at : len(data)-22]
	var directory []byte
	for i := range n {
		directory = append(directory, bytes.Replace(record, []byte(name(0)), []byte(name(i)), 1)...)
	}
	return concat(data[:at], directory, zipEnd(n, len(directory), at))
}

func concat(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

func TestOverlappingZipEntries(t *testing.T) {
	content := make([]byte, 1<<20)
	data := overlappingZip(t, 1000, content)
	x, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	require.NoError(t, err)
	require.Len(t, x.File, 1000, "the test makes what it says")

	// The same with a manifest that lists all of them: 1000 MB in 100 KB.
	m := Manifest{Form: 1}
	var sum ManifestFile
	text := `{"sha256":"30e14955ebf1352266dc2ff8067e68104607e750abb9d3b36582b8af909fcb58"}`
	require.NoError(t, json.Unmarshal([]byte(text), &sum))
	for _, f := range x.File {
		m.Files = append(m.Files, ManifestFile{f.Name, 1 << 20, sum.SHA256})
	}
	manifest, err := json.Marshal(m)
	require.NoError(t, err)
	listed := makeZip(t, []archiveEntry{{name: manifestFile, body: string(manifest)},
		{name: "objects/a0000000.txt", body: string(content)}})
	at := bytes.Index(listed, []byte(entryMark))
	directory := listed[at : len(listed)-22]
	last := directory[bytes.LastIndex(directory, []byte(entryMark)):]
	for i := 1; i < 1000; i++ {
		directory = append(bytes.Clone(directory), bytes.Replace(last, []byte("a0000000"), fmt.Appendf(nil, "a%07d", i),
			1)...)
	}
	requireRefused(t, concat(listed[:at], directory, zipEnd(1001, len(directory), at)), ImportLimits{},
		"too large: it unpacks to more than")
}

// A zip file with very many entries is refused before they are in memory, even if it says that
// it has few.
func TestTooManyZipEntries(t *testing.T) {
	data := overlappingZip(t, 300_000, []byte("x"))
	requireRefused(t, data, ImportLimits{}, "files and folders")
	copy(data[len(data)-22:], zipEnd(3, 3*68, len(data)-22-300_000*68))
	requireRefused(t, data, ImportLimits{}, "")
	allocated := testing.AllocsPerRun(1, func() {
		_, err := openBytes(data, ImportLimits{})
		require.Error(t, err)
	})
	assert.Less(t, allocated, 400_000.0)
}

// The sizes in the headers of a zip file are not trusted.
func TestFalseSizes(t *testing.T) {
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
			h := &zip.FileHeader{Name: "objects/a.txt", Method: zip.Store, CRC32: crc32.ChecksumIEEE([]byte(body)),
				CompressedSize64: uint64(len(body)), UncompressedSize64: uint64(len(body))}
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
			requireRefused(t, b.Bytes(), ImportLimits{}, "")
		})
	}
}
