package objectfiles

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"scripter/objectdb"
)

// ArchiveForm is the version of the archive form.
const ArchiveForm = 1

// The files and folders at the top of an archive. It has nothing else.
const (
	manifestFile  = "manifest.json"
	readmeFile    = "README.txt" // for people
	objectsFolder = "objects"    // the folder form
)

// Manifest says what an archive is.
type Manifest struct {
	Form    int       `json:"scripterArchive"` // version of the archive form: ArchiveForm
	Program string    `json:"program"`         // that wrote it, with its version
	Root    int       `json:"rootForm"`        // version of the root that it was written from
	Time    time.Time `json:"time"`
	// Address is the table that the objects were in, as text. They are
	// imported there unless another one is named.
	Address string `json:"address"`
	Notes   string `json:"notes,omitempty"` // what changed, for people
	// Remove are addresses below Address that an import removes: values, and
	// tables if nothing is left in them.
	Remove []string       `json:"remove,omitempty"`
	Files  []ManifestFile `json:"files"` // all files but the manifest
}

// ManifestFile is one file of an archive.
type ManifestFile struct {
	Name   string `json:"name"`
	Size   int64  `json:"size"` // bytes
	SHA256 string `json:"sha256"`
}

// encode returns the content of the file.
func (m Manifest) encode() ([]byte, error) {
	content, err := json.MarshalIndent(m, "", "\t")
	return append(content, '\n'), err
}

// decodeManifest returns the manifest that content says, if this program knows its form.
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
	_, err := m.removed()
	return m, err
}

// removed returns the addresses of Remove.
func (m Manifest) removed() ([]objectdb.Address, error) {
	addresses := make([]objectdb.Address, len(m.Remove))
	for i, text := range m.Remove {
		a, err := objectdb.ParseAddress(text)
		if err != nil || len(a) == 0 {
			return nil, fmt.Errorf("it removes %q, which is no address of an object", text)
		}
		addresses[i] = a
	}
	return addresses, nil
}
