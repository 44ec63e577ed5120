package objectfiles

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// FolderForm is the version of the folder form. The index at the top of a folder has it; if
// there is none, it is 1.
const FolderForm = 1

// IndexFile is the name of the file with the index of its folder.
const IndexFile = "_index.json"

// Index says of the files and folders in a folder, by their names, what the names cannot say.
type Index map[string]IndexEntry

// IndexEntry is what an index says of one file or folder.
type IndexEntry struct {
	Name string `json:"name,omitempty"` // the name of the object
	Kind string `json:"kind,omitempty"`
	Type string `json:"type,omitempty"` // the MIME type of a binary
	Form int    `json:"form,omitempty"` // FolderForm, only at thisFolder
}

// thisFolder stands in an index for the folder itself. No file has this name.
const thisFolder = "."

// NewIndex returns the index of an empty folder. top says that the folder is not
// in another one.
func NewIndex(top bool) Index {
	if top {
		return Index{thisFolder: {Form: FolderForm}}
	}
	return Index{}
}

// Add adds the entry of a file, if the file needs one.
func (x Index) Add(f File) {
	if f.Entry != (IndexEntry{}) {
		x[f.Name] = f.Entry
	}
}

// Encode returns the content of the file: one entry a line, sorted.
func (x Index) Encode() []byte {
	b := []byte("{")
	for i, name := range slices.Sorted(maps.Keys(x)) {
		if i > 0 {
			b = append(b, ',')
		}
		key, err1 := json.Marshal(name)
		entry, err2 := json.Marshal(x[name])
		if err := errors.Join(err1, err2); err != nil {
			panic(err) // cannot happen: an entry has only strings and a number
		}
		b = fmt.Appendf(b, "\n\t%s: %s", key, entry)
	}
	if len(x) > 0 {
		b = append(b, '\n')
	}
	return append(b, "}\n"...)
}

// DecodeIndex returns the index in the content of its file.
func DecodeIndex(content []byte) (Index, error) {
	// The form is checked first, because a newer form may have any content.
	if form := formOf(content); form > FolderForm {
		return nil, errNewerForm(form, FolderForm)
	}
	x := Index{}
	d := json.NewDecoder(bytes.NewReader(content))
	d.DisallowUnknownFields()
	if err := d.Decode(&x); err != nil {
		return nil, jsonError(err)
	}
	if d.More() {
		return nil, fmt.Errorf("there is more after the index, at byte %d", d.InputOffset())
	}
	return x, nil
}

// formOf returns the form that an index says, and 1 if it says none.
func formOf(content []byte) int {
	var x map[string]json.RawMessage
	var entry struct{ Form int }
	if json.Unmarshal(content, &x) != nil || json.Unmarshal(x[thisFolder], &entry) != nil || entry.Form == 0 {
		return 1
	}
	return entry.Form
}
