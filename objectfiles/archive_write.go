package objectfiles

import (
	"archive/tar"
	"archive/zip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"path"
	"slices"
	"strings"
	"time"

	"scripter/objectdb"
)

// ArchiveFormat is the kind of file that an archive is.
type ArchiveFormat int

// The two kinds: they hold the same.
const (
	Zip ArchiveFormat = iota + 1
	TarGzip
)

// ArchiveFormatOf tells by the suffix of a file's name which format is meant; 0 is none.
func ArchiveFormatOf(name string) ArchiveFormat {
	name = strings.ToLower(name)
	switch {
	case strings.HasSuffix(name, ".zip"):
		return Zip
	case strings.HasSuffix(name, ".tar.gz"), strings.HasSuffix(name, ".tgz"):
		return TarGzip
	}
	return 0
}

// ArchiveWriter writes an archive, object by object. Do not use it after an error. It compresses
// less where an archive would look like a zip bomb, so that ImportLimits accept it, however large
// it is.
type ArchiveWriter struct {
	sink    archiveSink
	files   []ManifestFile
	names   *layout
	folders map[string]*archiveFolder // by the folded address
	objects int
}

// archiveFolder is a folder of the folder form, as far as it is written.
type archiveFolder struct {
	path  string
	index index
	empty bool
}

type archiveSink interface {
	add(name string, content []byte) error
	close() error
}

// NewArchiveWriter begins an archive in w; t is the time of all its files.
func NewArchiveWriter(w io.Writer, format ArchiveFormat, t time.Time) *ArchiveWriter {
	t = t.UTC().Truncate(time.Second)
	x := &ArchiveWriter{folders: map[string]*archiveFolder{}, names: newLayout(1 << 40)}
	if format == TarGzip {
		packed := newHonestGzip(w, func() int { return len(x.names.places) })
		x.sink = &tarSink{packed: packed, w: tar.NewWriter(packed), t: t}
	} else {
		x.sink = newZipSink(w, t)
	}
	return x
}

// Put adds the object at a, an address below the one that the manifest will
// name; v is nil for a table. A table of which nothing else is added may be left out,
// and comes before what is in it if its spelling matters.
func (x *ArchiveWriter) Put(a objectdb.Address, v objectdb.Value) error {
	if len(a) == 0 {
		return at("archive", a, errors.New("it has no file of its own"))
	}
	x.objects++
	if v == nil {
		_, err := x.folder(a)
		return err
	}
	in, err := x.folder(a.Parent())
	if err != nil {
		return err
	}
	f := fileOf(a.Name(), v)
	in.note(f)
	return at("archive", a, x.add(path.Join(in.path, f.name), f.content))
}

// folder gives the folder of the table at a.
func (x *ArchiveWriter) folder(a objectdb.Address) (*archiveFolder, error) {
	key := foldedKey(a)
	if f := x.folders[key]; f != nil {
		return f, nil
	}
	f := &archiveFolder{path: objectsFolder, index: index{}, empty: true}
	if len(a) == 0 {
		f.index[thisFolder] = indexEntry{Form: FolderForm}
	} else {
		up, err := x.folder(a.Parent())
		if err != nil {
			return nil, err
		}
		form := fileOf(a.Name(), nil)
		up.note(form)
		f.path = path.Join(up.path, form.name)
		if err := checkArchiveName(f.path); err != nil {
			return nil, at("archive", a, err)
		}
	}
	x.folders[key] = f
	return f, nil
}

// foldedKey tells addresses apart without regard to case: no name holds a NUL.
func foldedKey(a objectdb.Address) string {
	names := make([]string, len(a))
	for i, name := range a {
		names[i] = objectdb.Fold(name)
	}
	return strings.Join(names, "\x00")
}

func (f *archiveFolder) note(form file) {
	f.empty = false
	if form.entry != (indexEntry{}) {
		f.index[form.name] = form.entry
	}
}

func (x *ArchiveWriter) add(name string, content []byte) error {
	if err := x.names.add(name, false); err != nil {
		return err
	}
	sum := sha256.Sum256(content)
	x.files = append(x.files, ManifestFile{Name: name, Size: int64(len(content)), SHA256: hex.EncodeToString(sum[:])})
	return x.sink.add(name, content)
}

// Count is the number of objects so far.
func (x *ArchiveWriter) Count() int { return x.objects }

// Close ends the archive with the README and the manifest, of which the writer
// fills in Form, Root and Files. It does not close the file.
func (x *ArchiveWriter) Close(m Manifest, readme string) error {
	if _, err := x.folder(objectdb.Address{}); err != nil {
		return err
	}
	var indexes []*archiveFolder
	for _, f := range x.folders {
		if f.empty || len(f.index) > 0 {
			indexes = append(indexes, f)
		}
	}
	slices.SortFunc(indexes, func(a, b *archiveFolder) int { return strings.Compare(a.path, b.path) })
	for _, f := range indexes {
		if err := x.add(path.Join(f.path, indexFile), f.index.encode()); err != nil {
			return err
		}
	}
	if err := x.add(readmeFile, []byte(readme)); err != nil {
		return err
	}
	m.Form, m.Root, m.Files = ArchiveForm, objectdb.FileVersion, x.files
	content, err := json.MarshalIndent(m, "", "\t")
	if err != nil {
		return err
	}
	if err := x.sink.add(manifestFile, append(content, '\n')); err != nil {
		return err
	}
	return x.sink.close()
}

// ExportArchive adds the object at a with all below it, in the form in which
// Export writes a folder, and gives the table that the manifest must
// name. fn, if any, is called for each object.
func ExportArchive(tx *objectdb.Tx, a objectdb.Address, x *ArchiveWriter, fn func(objectdb.Address, objectdb.Value) error) (objectdb.Address, error) {
	n, err := exported(tx, a)
	if err != nil {
		return nil, err
	}
	table := tx.Address(n)
	if n.Kind() != objectdb.KindTable {
		table = table.Parent()
	}
	err = tx.Walk(tx.Address(n), func(at objectdb.Address, n *objectdb.Node) error {
		if err := tx.Context().Err(); err != nil {
			return err
		}
		if len(at) == len(table) {
			return nil // the table itself
		}
		var v objectdb.Value
		if n.Kind() != objectdb.KindTable {
			var err error
			if v, err = tx.Value(n); err != nil {
				return err
			}
		}
		if fn != nil {
			if err := fn(at, v); err != nil {
				return err
			}
		}
		return x.Put(at[len(table):], v)
	})
	return table, at("export", a, err)
}

type zipSink struct {
	w    *zip.Writer
	t    time.Time
	json jsonBytes
}

func newZipSink(w io.Writer, t time.Time) *zipSink {
	counted := &counter{w: w}
	s := &zipSink{w: zip.NewWriter(counted), t: t}
	ratio := &ratio{packed: &counted.n}
	s.w.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) { return newHonestDeflate(w, ratio) })
	return s
}

func (s *zipSink) add(name string, content []byte) error {
	h := &zip.FileHeader{Name: name, Method: zip.Deflate, Modified: s.t}
	if s.json.plain(name, content) {
		h.Method = zip.Store
	}
	h.SetMode(0o600)
	w, err := s.w.CreateHeader(h)
	if err == nil {
		_, err = w.Write(content)
	}
	return err
}

func (s *zipSink) close() error { return s.w.Close() }

type tarSink struct {
	packed *honestGzip
	w      *tar.Writer
	t      time.Time
	json   jsonBytes
}

func (s *tarSink) add(name string, content []byte) error {
	s.packed.plain = s.json.plain(name, content)
	err := s.w.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Size: int64(len(content)), ModTime: s.t, Typeflag: tar.TypeReg})
	if err == nil {
		_, err = s.w.Write(content)
	}
	return err
}

func (s *tarSink) close() error {
	if err := s.w.Close(); err != nil {
		return err
	}
	return s.packed.Close()
}
