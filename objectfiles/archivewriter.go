package objectfiles

import (
	"crypto/sha256"
	"errors"
	"io"
	"math"
	"path"
	"slices"
	"strings"
	"time"

	"scripter/objectdb"
)

// ArchiveWriter writes an archive, object by object. Do not use it after an error. It compresses
// less where an archive would look like a zip bomb, so that ImportLimits accept it, however large
// it is.
type ArchiveWriter struct {
	out     formatWriter
	files   []ManifestFile
	names   *archiveNames
	folders map[string]*archiveFolder // by the folded address
	objects int
}

// formatWriter writes files in the format of the archive: a *zipWriter or a *tarWriter.
type formatWriter interface {
	add(name string, content []byte) error
	close() error
}

// archiveFolder is a folder of the folder form, as far as it is written.
type archiveFolder struct {
	path  string
	index Index
	empty bool
}

// NewArchiveWriter begins an archive in w; t is the time of all its files.
func NewArchiveWriter(w io.Writer, format ArchiveFormat, t time.Time) *ArchiveWriter {
	t = t.UTC().Truncate(time.Second)
	x := &ArchiveWriter{folders: map[string]*archiveFolder{}, names: newArchiveNames(math.MaxInt)}
	if format == TarGzip {
		x.out = newTarWriter(w, t, func() int { return len(x.names.names) })
	} else {
		x.out = newZipWriter(w, t)
	}
	return x
}

// Put adds the object at a, an address below the one that the manifest will
// name. v is a value as a transaction returns it, or nil for a table. Only a table without
// objects must be added. If the spelling of a table matters, add it before its objects.
func (x *ArchiveWriter) Put(a objectdb.Address, v objectdb.Value) error {
	if len(a) == 0 {
		return at("archive", a, errors.New("it has no file of its own"))
	}
	x.objects++
	if v == nil {
		_, err := x.folder(a)
		return err
	}
	folder, err := x.folder(a.Parent())
	if err != nil {
		return err
	}
	f := FileOf(a.Name(), v)
	folder.add(f)
	return at("archive", a, x.add(path.Join(folder.path, f.Name), f.Content))
}

// folder returns the folder of the table at a.
func (x *ArchiveWriter) folder(a objectdb.Address) (*archiveFolder, error) {
	key := foldedKey(a)
	if f := x.folders[key]; f != nil {
		return f, nil
	}
	f := &archiveFolder{path: objectsFolder, index: NewIndex(len(a) == 0), empty: true}
	if len(a) > 0 {
		parent, err := x.folder(a.Parent())
		if err != nil {
			return nil, err
		}
		own := FileOf(a.Name(), nil)
		parent.add(own)
		f.path = path.Join(parent.path, own.Name)
		if err := checkArchiveName(f.path); err != nil {
			return nil, at("archive", a, err)
		}
	}
	x.folders[key] = f
	return f, nil
}

// foldedKey returns a text that is the same for addresses that differ only in case: no name
// has a NUL.
func foldedKey(a objectdb.Address) string {
	names := make([]string, len(a))
	for i, name := range a {
		names[i] = objectdb.Fold(name)
	}
	return strings.Join(names, "\x00")
}

// add notes that the folder has a file or folder child.
func (f *archiveFolder) add(child File) {
	f.empty = false
	f.index.Add(child)
}

// add adds a file to the archive and to the manifest.
func (x *ArchiveWriter) add(name string, content []byte) error {
	if err := x.names.add(name, false); err != nil {
		return err
	}
	sum := fileSum(sha256.Sum256(content))
	x.files = append(x.files, ManifestFile{Name: name, Size: int64(len(content)), SHA256: sum.String()})
	return x.out.add(name, content)
}

// Count returns the number of objects so far.
func (x *ArchiveWriter) Count() int { return x.objects }

// Close ends the archive with the README and the manifest, of which it sets Form, Root and
// Files. It does not close the file.
func (x *ArchiveWriter) Close(m Manifest, readme string) error {
	if _, err := x.folder(objectdb.Address{}); err != nil {
		return err
	}
	var indexed []*archiveFolder
	for _, f := range x.folders {
		if f.empty || len(f.index) > 0 {
			indexed = append(indexed, f)
		}
	}
	slices.SortFunc(indexed, func(a, b *archiveFolder) int { return strings.Compare(a.path, b.path) })
	for _, f := range indexed {
		if err := x.add(path.Join(f.path, IndexFile), f.index.Encode()); err != nil {
			return err
		}
	}
	if err := x.add(readmeFile, []byte(readme)); err != nil {
		return err
	}
	m.Form, m.Root, m.Files = ArchiveForm, objectdb.FileVersion, x.files
	content, err := m.encode()
	if err != nil {
		return err
	}
	if err := x.out.add(manifestFile, content); err != nil {
		return err
	}
	return x.out.close()
}

// ExportArchive adds the object at a with everything below it, in the form in which
// an export to a folder writes it, and returns the table that the manifest must name. It calls
// fn for each object, unless fn is nil.
func ExportArchive(
	tx *objectdb.Tx, a objectdb.Address, x *ArchiveWriter, fn func(objectdb.Address, objectdb.Value) error,
) (objectdb.Address, error) {
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
