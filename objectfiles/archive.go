package objectfiles

import (
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"strings"
	"time"

	"scripter/objectdb"
)

// The archive form: a zip or a tar.gz file that holds
//
//	README.txt      for people
//	manifest.json   what it is, and the checksum of every other file
//	objects/        the folder form
//
// and nothing else. Names are ASCII, for the folder form writes every other
// byte as %XX; so what one system takes for another name than the next does
// (absolute names, "..", backslashes, case, writing direction) is refused by name.

// ArchiveForm is the version of the archive form.
const ArchiveForm = 1

const (
	manifestFile  = "manifest.json"
	readmeFile    = "README.txt"
	objectsFolder = "objects"

	maxArchiveName  = 4096 // bytes of a file's path
	maxArchiveDepth = 200  // folders in folders
)

// Manifest says what an archive is.
type Manifest struct {
	Form    int       `json:"scripterArchive"` // version of the archive form: ArchiveForm
	Program string    `json:"program"`         // that wrote it, with its version
	Root    int       `json:"rootForm"`        // version of the root that it was written from
	Time    time.Time `json:"time"`
	// Address is the table that the objects lay in, as text. They are
	// imported there unless another one is named.
	Address string `json:"address"`
	Notes   string `json:"notes,omitempty"` // what changed, for people
	// Remove are addresses below Address that an import removes: values, and
	// tables if nothing is left in them. An archive to go back with needs it.
	Remove []string       `json:"remove,omitempty"`
	Undo   *Undo          `json:"undo,omitempty"`
	Files  []ManifestFile `json:"files"` // all files but the manifest
}

// Undo is set in an archive that holds what a command has replaced. Import does not
// use it; the command undo of the program scripter does.
type Undo struct {
	Command string       `json:"command"`
	Moved   []string     `json:"moved,omitempty"` // the two addresses, if the command moved an object
	Objects []UndoObject `json:"objects"`
}

// UndoObject is one object before and after the command. Before and After identify its
// content, and are "" where there was no object.
type UndoObject struct {
	Address string `json:"address"`
	Table   bool   `json:"table,omitempty"` // it was a table before
	Before  string `json:"before,omitempty"`
	After   string `json:"after,omitempty"`
}

// ManifestFile is one file of an archive.
type ManifestFile struct {
	Name   string `json:"name"`
	Size   int64  `json:"size"` // bytes
	SHA256 string `json:"sha256"`
}

// decodeManifest reads a manifest and tells whether this program knows its form.
func decodeManifest(content []byte) (Manifest, error) {
	var m Manifest
	var form struct {
		Form *int `json:"scripterArchive"`
	}
	if err := json.Unmarshal(content, &form); err != nil {
		return m, jsonError(err)
	}
	switch {
	case form.Form == nil || *form.Form < 1:
		return m, errors.New("it is not the manifest of a Scripter archive")
	case *form.Form > ArchiveForm:
		return m, fmt.Errorf("%w: %w", ErrArchive, errNewerForm(*form.Form, ArchiveForm))
	}
	if err := json.Unmarshal(content, &m); err != nil {
		return m, jsonError(err)
	}
	if _, err := objectdb.ParseAddress(m.Address); err != nil {
		return m, err
	}
	for _, r := range m.Remove {
		if a, err := objectdb.ParseAddress(r); err != nil || len(a) == 0 {
			return m, fmt.Errorf("it removes %q, which is no address of an object", r)
		}
	}
	return m, nil
}

// ImportLimits bound the memory and the time of an import, and the growth of the root. Any
// archive or folder may have FreeBytes and FreeFiles; a larger one may have more in
// proportion to its size on the disk. What this program exports is within the limits,
// however much it is: see ArchiveWriter.
type ImportLimits struct {
	Bytes int64 // bytes of all files, unpacked; 0: FreeBytes, or 25 times the size on the disk
	Files int   // files and folders; 0: FreeFiles, or one for each 64 bytes on the disk
	// Strict allows no more for a larger archive: it is for archives from strangers.
	Strict bool
}

// The limits of an import that do not depend on the size of the archive, and the factors
// of those that do.
const (
	FreeBytes = 32 << 20
	FreeFiles = 75_000
)

const (
	maxRatio   = 25      // unpacked bytes for one packed byte
	fileShare  = 64      // packed bytes for one file or folder
	freeJSON   = 2 << 20 // bytes of one .json file: it takes up to 40 times its size in memory
	jsonPart   = 16      // one .json file may have this fraction of Bytes
	jsonFiles  = 8       // all .json files may have this many times that: they take time
	maxTrailer = 1 << 20 // bytes after the last file of a tar.gz
)

func (l ImportLimits) bytes(packed int64) int64 {
	if l.Bytes > 0 {
		return l.Bytes
	}
	return max(FreeBytes, l.proportion(packed)*maxRatio)
}

func (l ImportLimits) files(packed int64) int {
	if l.Files > 0 {
		return l.Files
	}
	return int(max(FreeFiles, l.proportion(packed)/fileShare))
}

// proportion returns the size on the disk in proportion to which more is allowed.
func (l ImportLimits) proportion(packed int64) int64 {
	if l.Strict {
		return 0
	}
	return packed
}

// sizes compares the sizes of single files with the limits.
type sizes struct {
	one, all int64 // the limits of .json files: of one, and of all
	json     int64 // bytes of .json files so far
}

func (l ImportLimits) sizes(packed int64) *sizes {
	free := max(freeJSON, l.Bytes/jsonPart)
	packed = l.proportion(packed)
	return &sizes{one: max(free, packed), all: free*jsonFiles + packed}
}

func (s *sizes) add(name string, size int64) error {
	if size > objectdb.MaxValue {
		return errLargeFile(size)
	}
	if path.Ext(name) != ".json" {
		return nil
	}
	s.json += size
	switch {
	case size > s.one:
		return fmt.Errorf("%w: a .json file has %d bytes; at most %d are allowed here", ErrTooLarge, size, s.one)
	case s.json > s.all:
		return fmt.Errorf("%w: the .json files together have more than %d bytes", ErrTooLarge, s.all)
	}
	return nil
}

func errLargeFile(size int64) error {
	return fmt.Errorf("%w: the file has %d bytes; a value has at most %d", ErrTooLarge, size, objectdb.MaxValue)
}

// budget counts the unpacked bytes of an archive and is an error when there are too many.
type budget struct {
	left, used int64
	why        string
}

func (l ImportLimits) budget(packed int64) *budget {
	b := &budget{left: l.bytes(packed)}
	b.why = fmt.Sprintf("it unpacks to more than %d bytes", b.left)
	if l.Bytes <= 0 && !l.Strict {
		b.why += fmt.Sprintf(" (%d, or %d times its size)", FreeBytes, maxRatio)
	}
	return b
}

// Write counts what an archive unpacks to.
func (b *budget) Write(p []byte) (int, error) {
	n := int64(len(p))
	b.used += n
	if b.left -= n; b.left < 0 {
		return 0, fmt.Errorf("%w: %s", ErrTooLarge, b.why)
	}
	return len(p), nil
}

// checkArchiveName tells whether a file or folder of an archive may have this
// path. The error shows the name so that no character of it does harm.
func checkArchiveName(name string) error {
	bad := func(why string) error {
		if len(name) > 200 {
			name = name[:200] + "…"
		}
		return fmt.Errorf("%w: the name %+q %s", ErrArchive, name, why)
	}
	switch {
	case name == "":
		return bad("is empty")
	case len(name) > maxArchiveName:
		return bad(fmt.Sprintf("has more than %d bytes", maxArchiveName))
	case name[0] == '/':
		return bad("is absolute")
	case strings.IndexByte(name, '\\') >= 0:
		return bad("holds a backslash")
	}
	parts := strings.Split(name, "/")
	if len(parts) > maxArchiveDepth+2 {
		return bad(fmt.Sprintf("lies more than %d folders deep", maxArchiveDepth))
	}
	for _, part := range parts {
		switch {
		case part == "":
			return bad("has an empty part")
		case part == "." || part == "..":
			return bad(`has a part "` + part + `"`)
		case part[0] == '.':
			return bad("is that of a hidden file")
		case len(part) > maxFileName:
			return bad(fmt.Sprintf("has a part of more than %d bytes", maxFileName))
		}
		for i := range len(part) {
			if c := part[i]; c != '%' && !isFileByte(c) {
				return bad(fmt.Sprintf("holds the byte %#02x, which the folder form writes %%%02X", c, c))
			}
		}
	}
	if name != manifestFile && name != readmeFile && parts[0] != objectsFolder {
		return bad("belongs to no Scripter archive")
	}
	return nil
}

// layout holds the names of an archive against each other.
type layout struct {
	places map[string]archivePlace // by name in lower case
	most   int
}

type archivePlace struct {
	name   string
	folder bool
	listed bool // it has an entry; else it is known from what is in it
}

func newLayout(most int) *layout {
	return &layout{places: map[string]archivePlace{}, most: most}
}

// add takes in a file or folder with the folders above it. Names that meet, or
// differ only in case, are an error.
func (l *layout) add(name string, folder bool) error {
	if err := checkArchiveName(name); err != nil {
		return err
	}
	low := strings.ToLower(name)
	for i := range len(name) {
		if name[i] != '/' {
			continue
		}
		if err := l.put(low[:i], archivePlace{name: name[:i], folder: true}); err != nil {
			return err
		}
	}
	return l.put(low, archivePlace{name, folder, true})
}

func (l *layout) put(low string, p archivePlace) error {
	other, known := l.places[low]
	switch {
	case !known && len(l.places) >= l.most:
		return fmt.Errorf("%w: it holds more than %d files and folders", ErrTooLarge, l.most)
	case !known:
	case other.name != p.name:
		return fmt.Errorf("%w: %q and %q differ only in case", ErrArchive, other.name, p.name)
	case other.folder != p.folder:
		return fmt.Errorf("%w: %q is both a file and a folder", ErrArchive, p.name)
	case other.listed && p.listed:
		return fmt.Errorf("%w: it holds %q twice", ErrArchive, p.name)
	case other.listed || !p.listed:
		return nil
	}
	l.places[low] = p
	return nil
}
