package objectfiles

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// index is what _index.json holds: for a file or folder beside it what its
// name cannot say.
type index map[string]indexEntry

// FolderForm is the version of the form that Export writes and Import reads. The
// index at the top of an export says it, at thisFolder; where none does, it is 1.
const FolderForm = 1

// thisFolder is no name of a file, and so stands for the folder itself.
const thisFolder = "."

type indexEntry struct {
	Name string `json:"name,omitempty"` // the object's name
	Kind string `json:"kind,omitempty"`
	Type string `json:"type,omitempty"` // the MIME type of a binary
	Form int    `json:"form,omitempty"` // FolderForm, at thisFolder only
}

const indexFile = "_index.json"

// encode writes the index, one file a line, sorted.
func (x index) encode() []byte {
	names := make([]string, 0, len(x))
	for name := range x {
		names = append(names, name)
	}
	slices.Sort(names)
	b := []byte("{")
	for i, name := range names {
		if i > 0 {
			b = append(b, ',')
		}
		key, err := json.Marshal(name)
		entry, err2 := json.Marshal(x[name])
		if err = errors.Join(err, err2); err != nil {
			panic(err) // cannot happen: the index has only strings and a number
		}
		b = fmt.Appendf(b, "\n\t%s: %s", key, entry)
	}
	if len(names) > 0 {
		b = append(b, '\n')
	}
	return append(b, "}\n"...)
}

func decodeIndex(content []byte) (index, error) {
	// First, for what else stands in a newer one is not known.
	if form := formOf(content); form > FolderForm {
		return nil, fmt.Errorf("it was written by a newer version: its form is %d, this program reads %d; use the newer program", form, FolderForm)
	}
	x := index{}
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

// formOf reads the form alone; 1 where none is said.
func formOf(content []byte) int {
	var x map[string]json.RawMessage
	var entry struct{ Form int }
	if json.Unmarshal(content, &x) != nil || json.Unmarshal(x[thisFolder], &entry) != nil || entry.Form == 0 {
		return 1
	}
	return entry.Form
}
