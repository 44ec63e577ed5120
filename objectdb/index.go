package objectdb

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
)

// index is what _index.json holds: for a file or folder beside it what its
// name cannot say.
type index map[string]indexEntry

type indexEntry struct {
	Name string `json:"name,omitempty"` // the object's name
	Kind string `json:"kind,omitempty"`
	Type string `json:"type,omitempty"` // the MIME type of a binary
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
		b = append(appendJSONString(append(b, "\n\t"...), name), ": "...)
		entry, err := json.Marshal(x[name])
		if err != nil {
			panic(err) // three strings
		}
		b = append(b, entry...)
	}
	if len(names) > 0 {
		b = append(b, '\n')
	}
	return append(b, "}\n"...)
}

func decodeIndex(content []byte) (index, error) {
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
