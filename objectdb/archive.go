package objectdb

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
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
// look at it: the command undo of the program scripter does.
type Undo struct {
	Command string       `json:"command"`
	Moved   []string     `json:"moved,omitempty"` // the two addresses, where the command moved an object
	Objects []UndoObject `json:"objects"`
}

// UndoObject is one object before and after the command. Before and After stand for
// its content and are "" where there was none.
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
		return m, fmt.Errorf("%w: it has form %d, this program knows %d; use the newer program", ErrArchive, *form.Form, ArchiveForm)
	}
	if err := json.Unmarshal(content, &m); err != nil {
		return m, jsonError(err)
	}
	if _, err := ParseAddress(m.Address); err != nil {
		return m, err
	}
	for _, r := range m.Remove {
		if a, err := ParseAddress(r); err != nil || len(a) == 0 {
			return m, fmt.Errorf("it removes %q, which is no address of an object", r)
		}
	}
	return m, nil
}

// ArchiveLimits bound what an archive may hold. Memory for reading one grows
// with them: about 150 MB with the zero value.
type ArchiveLimits struct {
	Bytes int64 // of all files, unpacked; 0 is 32 MB, with at most 100 times the packed size from 8 MB on
	Files int   // and folders; 0 is 50 000
}

const (
	defaultArchiveBytes = 32 << 20
	defaultArchiveFiles = 50_000

	maxRatio   = 100     // unpacked bytes for one packed byte
	freeExpand = 8 << 20 // unpacked bytes of which the ratio is not asked
	jsonPart   = 16      // the .json files of objects together: this part of Bytes
	maxTrailer = 1 << 20 // bytes after the last file of a tar.gz
)

// budget counts what is unpacked and ends an archive that is too much.
type budget struct {
	left, packed, used int64
	ratio              bool
}

func (l ArchiveLimits) budget(packed int64) *budget {
	return &budget{left: cmp.Or(l.Bytes, defaultArchiveBytes), packed: packed, ratio: l.Bytes == 0}
}

func (l ArchiveLimits) files() int { return cmp.Or(l.Files, defaultArchiveFiles) }

func (l ArchiveLimits) jsonBytes() int64 { return cmp.Or(l.Bytes, defaultArchiveBytes) / jsonPart }

// Write counts what an archive unpacks to.
func (b *budget) Write(p []byte) (int, error) {
	n := int64(len(p))
	b.used += n
	b.left -= n
	switch {
	case b.left < 0:
		return 0, fmt.Errorf("%w: it unpacks to more than %d bytes", ErrTooLarge, b.left+b.used)
	case b.ratio && b.used > freeExpand && b.used/maxRatio > b.packed:
		return 0, fmt.Errorf("%w: it unpacks to more than %d times its size", ErrTooLarge, maxRatio)
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

func newLayout(l ArchiveLimits) *layout {
	return &layout{places: map[string]archivePlace{}, most: l.files()}
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
