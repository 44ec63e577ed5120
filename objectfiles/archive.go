package objectfiles

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"scripter/objectdb"
)

// Archive is an archive whose names, sizes and checksums are right. Whether its files are
// objects is found when they are imported.
type Archive struct {
	Manifest Manifest // without Files
	Largest  int64    // the size of the largest file
	Files    int      // the number of files without the manifest
	zip      *zip.Reader
	spool    *os.File // a tar.gz rewritten as a zip file; nil for a zip
}

// OpenArchive reads an archive of the given size; its first bytes say whether it is a zip or a
// tar.gz file. If the archive is to blame, the error is an ErrArchive or ErrTooLarge. The names
// in an archive never become names of files on the disk.
func OpenArchive(r io.ReaderAt, size int64, limits ImportLimits) (*Archive, error) {
	x := &Archive{}
	bounds := limits.bounds(size)
	err := x.open(r, size, bounds)
	if err == nil {
		err = x.check(bounds)
	}
	if err != nil {
		x.Close()
		return nil, archiveError(err)
	}
	return x, nil
}

// archiveError returns err as an ErrArchive, unless it is a better one or an error of the disk.
func archiveError(err error) error {
	switch {
	case errors.Is(err, ErrArchive), errors.Is(err, ErrTooLarge), errors.As(err, new(*fs.PathError)):
		return err
	case errors.Is(err, io.ErrUnexpectedEOF):
		err = errors.New("it ends too early")
	}
	return fmt.Errorf("%w: %w", ErrArchive, err)
}

// open opens the archive as a zip file. A tar.gz file is rewritten as one.
func (x *Archive) open(r io.ReaderAt, size int64, bounds bounds) error {
	head := make([]byte, 512)
	n, err := r.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	switch formatOfHead(head[:n]) {
	case Zip:
	case TarGzip:
		if x.spool, err = zipOfTar(io.NewSectionReader(r, 0, size), bounds); err != nil {
			return err
		}
		if size, err = x.spool.Seek(0, io.SeekEnd); err != nil {
			return err
		}
		r = x.spool
	default:
		return fmt.Errorf("%w: it is %s; an archive is a zip or a tar.gz file", ErrArchive, otherFormat(head[:n]))
	}
	x.zip, err = openZip(r, size, bounds.files)
	return err
}

// check checks every entry, and reads every file once.
func (x *Archive) check(bounds bounds) error {
	files, err := x.checkEntries(bounds)
	if err != nil {
		return err
	}
	unpacked := &byteCheck{bounds: bounds}
	if err := x.readManifest(files, unpacked); err != nil {
		return err
	}
	return x.compare(files, unpacked)
}

// checkEntries checks the names and the modes of the entries, and returns the files by name.
func (x *Archive) checkEntries(bounds bounds) (map[string]*zip.File, error) {
	names := newArchiveNames(bounds.files)
	files := make(map[string]*zip.File, len(x.zip.File))
	for _, f := range x.zip.File {
		name, folder := strings.CutSuffix(f.Name, "/")
		if err := names.add(name, folder); err != nil {
			return nil, err
		}
		switch mode := f.Mode(); {
		case folder && mode.IsDir():
			if f.UncompressedSize64 != 0 {
				return nil, fmt.Errorf("%w: the folder %s has a content", ErrArchive, name)
			}
			continue
		case folder || !mode.IsRegular():
			return nil, fmt.Errorf("%w: %s is neither a file nor a folder, but %s", ErrArchive, name, modeWord(mode))
		case f.Flags&1 != 0:
			return nil, fmt.Errorf("%w: %s is encrypted", ErrArchive, name)
		}
		files[name] = f
	}
	return files, nil
}

func (x *Archive) readManifest(files map[string]*zip.File, unpacked *byteCheck) error {
	f := files[manifestFile]
	if f == nil {
		return fmt.Errorf("%w: it has no %s", ErrArchive, manifestFile)
	}
	var content bytes.Buffer
	err := copyEntry(io.MultiWriter(unpacked, &content), f)
	if err == nil {
		x.Manifest, err = decodeManifest(content.Bytes())
	}
	if err != nil {
		return fmt.Errorf("%s: %w", manifestFile, err)
	}
	return nil
}

// compare compares the files with the manifest.
func (x *Archive) compare(files map[string]*zip.File, unpacked *byteCheck) error {
	sizes := sizeCheck{bounds: unpacked.bounds}
	listed := make(map[string]bool, len(x.Manifest.Files))
	for _, m := range x.Manifest.Files {
		f := files[m.Name]
		switch {
		case f == nil || m.Name == manifestFile:
			return fmt.Errorf("%w: the manifest lists %+q, which is not there", ErrArchive, m.Name)
		case listed[m.Name]:
			return fmt.Errorf("%w: the manifest lists %s twice", ErrArchive, m.Name)
		case f.UncompressedSize64 != uint64(m.Size):
			return fmt.Errorf("%w: %s has %d bytes, and %d by the manifest", ErrArchive, m.Name, f.UncompressedSize64, m.Size)
		}
		listed[m.Name] = true
		err := sizes.add(m.Name, m.Size)
		if err == nil {
			err = compareFile(f, m, unpacked)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", m.Name, err)
		}
		x.Largest = max(x.Largest, m.Size)
	}
	for name := range files {
		if name != manifestFile && !listed[name] {
			return fmt.Errorf("%w: the manifest does not list %s", ErrArchive, name)
		}
	}
	x.Files = len(x.Manifest.Files)
	x.Manifest.Files = nil // it takes much memory for very many files
	return nil
}

// compareFile compares the checksum of a file with the manifest.
func compareFile(f *zip.File, m ManifestFile, unpacked *byteCheck) error {
	hash := sha256.New()
	if err := copyEntry(io.MultiWriter(unpacked, hash), f); err != nil {
		return err
	}
	if fileSum(hash.Sum(nil)).String() != strings.ToLower(m.SHA256) {
		return fmt.Errorf("%w: its checksum is not that of the manifest: the archive is damaged", ErrArchive)
	}
	return nil
}

// copyEntry copies the content of a file. What its header says of its size is not trusted.
func copyEntry(w io.Writer, f *zip.File) error {
	r, err := f.Open()
	if err != nil {
		return err
	}
	defer r.Close()
	_, err = io.Copy(w, r)
	return err
}

// objects returns the folder form that the archive holds.
func (x *Archive) objects() fs.FS {
	objects, err := fs.Sub(x.zip, objectsFolder)
	if err != nil {
		panic(err) // cannot happen: the name is a constant
	}
	return objects
}

// Import imports the objects of the archive into the table at a as Import
// does, and removes the objects that the manifest says.
func (x *Archive) Import(tx *objectdb.Tx, a objectdb.Address, fn func(Change) error) (ImportResult, error) {
	m := &importer{tx: tx, fsys: x.objects(), fn: fn}
	if _, err := fs.Stat(x.zip, objectsFolder); err == nil {
		if err := m.run(a); err != nil {
			return m.result, err
		}
	}
	removed, err := x.Manifest.removed()
	if err != nil {
		return m.result, err
	}
	// A table is removed after the objects in it.
	slices.SortStableFunc(removed, func(a, b objectdb.Address) int { return len(b) - len(a) })
	for _, r := range removed {
		r = slices.Concat(a, r)
		if err := m.remove(r); err != nil {
			return m.result, at("import: remove", r, err)
		}
	}
	return m.result, nil
}

// Close closes the archive. Call it after the end of the transactions that import it.
func (x *Archive) Close() error {
	if x.spool == nil {
		return nil
	}
	return x.spool.Close()
}
