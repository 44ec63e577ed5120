package objectfiles

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"scripter/objectdb"
)

// Archive is an archive of objects that was looked at from end to end: every
// name, size and checksum of it is as it should be. What the objects are is
// known when they are imported.
type Archive struct {
	Manifest Manifest // without Files
	Readme   string
	Bytes    int64 // of all files, unpacked
	Largest  int64 // the size of the largest one
	Files    int   // the number of files without the manifest
	zip      *zip.Reader
	spool    *os.File // a tar.gz as a zip file, which has no name; nil for a zip
}

// OpenArchive reads an archive of the given size; zip or tar.gz is told by its first bytes.
// The error is an ErrArchive or ErrTooLarge when the archive is to blame.
// No file of it is ever made on disk under a name that it gives.
func OpenArchive(r io.ReaderAt, size int64, limits ImportLimits) (*Archive, error) {
	x, err := openArchive(r, size, limits)
	if err == nil {
		err = x.check(size, limits)
	}
	if err != nil {
		if x != nil {
			x.Close()
		}
		return nil, archiveError(err)
	}
	return x, nil
}

// archiveError says of an error that the archive is to blame, unless the
// machine is.
func archiveError(err error) error {
	var disk *fs.PathError
	for _, known := range []error{ErrArchive, ErrTooLarge} {
		if errors.Is(err, known) {
			return err
		}
	}
	switch {
	case errors.As(err, &disk):
		return err
	case errors.Is(err, io.ErrUnexpectedEOF):
		err = errors.New("it ends too early")
	}
	return fmt.Errorf("%w: %w", ErrArchive, err)
}

func openArchive(r io.ReaderAt, size int64, limits ImportLimits) (*Archive, error) {
	head := make([]byte, 512)
	n, err := r.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	x, packed := &Archive{}, size
	switch head = head[:n]; {
	case bytes.HasPrefix(head, []byte("PK\x03\x04")), bytes.HasPrefix(head, []byte("PK\x05\x06")):
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		if x.spool, err = zipOfTar(io.NewSectionReader(r, 0, size), size, limits); err != nil {
			return nil, err
		}
		if size, err = x.spool.Seek(0, io.SeekEnd); err != nil {
			return x, err
		}
		r = x.spool
	default:
		return nil, fmt.Errorf("%w: it is %s; an archive is a zip or a tar.gz file", ErrArchive, strangeForm(head))
	}
	// A file of this size has no more entries, unless they share their bytes.
	most := min(limits.files(packed), int(size/int64(leastEntry)))
	guard := &entryGuard{r: r, left: most + maxStrayEntries}
	x.zip, err = zip.NewReader(guard, size)
	guard.off = true
	if guard.left < 0 {
		err = fmt.Errorf("%w: it holds more than %d files and folders", ErrTooLarge, most)
	}
	return x, err
}

// strangeForm names what people have archives in, by the first bytes.
func strangeForm(head []byte) string {
	has := func(at int, s string) bool { return len(head) >= at+len(s) && string(head[at:at+len(s)]) == s }
	switch {
	case len(head) >= 128 && head[0] == 0 && head[74] == 0 && head[82] == 0 && 1 <= head[1] && head[1] <= 63:
		return "a MacBinary file (such as a .sit.bin)"
	case has(0, "SIT!"), has(0, "StuffIt"):
		return "a StuffIt archive (.sit)"
	case bytes.Contains(head, []byte("(This file must be converted with BinHex")):
		return "a BinHex file (.hqx)"
	case has(257, "ustar"):
		return "a tar file that is not packed with gzip"
	case has(0, "BZh"), has(0, "\xfd7zXZ\x00"), has(0, "7z\xbc\xaf\x27\x1c"), has(0, "\x28\xb5\x2f\xfd"), has(0, "Rar!"):
		return "packed in another way (bzip2, xz, 7z, zstd or rar)"
	}
	return "something else"
}

// check looks at every entry, and reads every file once.
func (x *Archive) check(packed int64, limits ImportLimits) error {
	names := newLayout(limits.files(packed))
	files := make(map[string]*zip.File, len(x.zip.File))
	for _, f := range x.zip.File {
		name, folder := strings.CutSuffix(f.Name, "/")
		if err := names.add(name, folder); err != nil {
			return err
		}
		switch mode := f.Mode(); {
		case folder && mode.IsDir():
			if f.UncompressedSize64 != 0 {
				return fmt.Errorf("%w: the folder %s has a content", ErrArchive, name)
			}
			continue
		case folder || !mode.IsRegular():
			return fmt.Errorf("%w: %s is neither a file nor a folder, but %s", ErrArchive, name, modeWord(mode))
		case f.Flags&1 != 0:
			return fmt.Errorf("%w: %s is encrypted", ErrArchive, name)
		}
		files[name] = f
	}
	budget := limits.budget(packed)
	if err := x.readManifest(files, budget); err != nil {
		return err
	}
	return x.compare(files, budget, limits.sizes(packed))
}

func (x *Archive) readManifest(files map[string]*zip.File, budget *budget) error {
	f := files[manifestFile]
	if f == nil {
		return fmt.Errorf("%w: it has no %s", ErrArchive, manifestFile)
	}
	content, err := readEntry(f, budget)
	if err == nil {
		x.Manifest, err = decodeManifest(content)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", manifestFile, err)
	}
	return nil
}

// compare holds the files against the manifest.
func (x *Archive) compare(files map[string]*zip.File, budget *budget, sizes *sizes) error {
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
			err = x.compareFile(f, m, budget)
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
	x.Bytes, x.Files = budget.used, len(x.Manifest.Files)
	x.Manifest.Files = nil // it takes much memory for very many files
	return nil
}

func (x *Archive) compareFile(f *zip.File, m ManifestFile, budget *budget) error {
	var sum []byte
	if f.Name == readmeFile {
		content, err := readEntry(f, budget)
		if err != nil {
			return err
		}
		x.Readme = string(content)
		s := sha256.Sum256(content)
		sum = s[:]
	} else {
		r, err := f.Open()
		if err != nil {
			return err
		}
		defer r.Close()
		hash := sha256.New()
		if _, err := io.Copy(io.MultiWriter(budget, hash), r); err != nil {
			return err
		}
		sum = hash.Sum(nil)
	}
	if hex.EncodeToString(sum) != strings.ToLower(m.SHA256) {
		return fmt.Errorf("%w: its checksum is not that of the manifest: the archive is damaged", ErrArchive)
	}
	return nil
}

// readEntry reads a file whole. What its header says of its size is not trusted.
func readEntry(f *zip.File, budget *budget) ([]byte, error) {
	r, err := f.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	var content bytes.Buffer
	_, err = io.Copy(io.MultiWriter(budget, &content), r)
	return content.Bytes(), err
}

// Objects is the folder form that the archive holds.
func (x *Archive) Objects() fs.FS {
	objects, err := fs.Sub(x.zip, objectsFolder)
	if err != nil {
		panic(err) // the name is a constant
	}
	return objects
}

// Import reads the objects of the archive into the table at a as ImportFunc
// does, and removes what the manifest says.
func (x *Archive) Import(tx *objectdb.Tx, a objectdb.Address, fn func(Change) error) (ImportResult, error) {
	m := &importer{tx: tx, fsys: x.Objects(), fn: fn}
	if _, err := fs.Stat(x.zip, objectsFolder); err == nil {
		if err := m.run(a); err != nil {
			return m.result, err
		}
	}
	remove := make([]objectdb.Address, 0, len(x.Manifest.Remove))
	for _, r := range x.Manifest.Remove {
		below, err := objectdb.ParseAddress(r)
		if err != nil {
			return m.result, err // decodeManifest has parsed it
		}
		remove = append(remove, slices.Concat(a, below))
	}
	// What is in a table goes before the table.
	slices.SortStableFunc(remove, func(a, b objectdb.Address) int { return len(b) - len(a) })
	for _, r := range remove {
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

// leastEntry is the smallest size of a file or folder in a zip file: two headers, each with a
// name that begins with "objects/" (APPNOTE.TXT 4.3.7, 4.3.12).
const leastEntry = 30 + 46 + 2*len(objectsFolder+"/")

// maxStrayEntries is how often the mark of an entry may stand by chance in
// what is read to find the directory of a zip file.
const maxStrayEntries = 2048

// entryGuard reads a zip file for zip.NewReader, which would take the whole
// directory into memory however long it is, and ends it after so many entries.
type entryGuard struct {
	r    io.ReaderAt
	left int
	next int64  // where the last read ended
	tail []byte // its last bytes
	off  bool
}

const entryMark = "PK\x01\x02" // APPNOTE.TXT 4.3.12

func (g *entryGuard) ReadAt(p []byte, at int64) (int, error) {
	n, err := g.r.ReadAt(p, at)
	if g.off {
		return n, err
	}
	if at != g.next {
		g.tail = nil
	}
	seen := append(g.tail, p[:n]...)
	g.left -= bytes.Count(seen, []byte(entryMark))
	g.tail = slices.Clone(seen[max(0, len(seen)-len(entryMark)+1):])
	g.next = at + int64(n)
	if g.left < 0 {
		return 0, ErrTooLarge
	}
	return n, err
}
