package objectfiles

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
)

// exportNoteFile is the name of the note at the top of a folder that export has written.
// It lists the files of the export. Import ignores it, like all hidden files.
const exportNoteFile = ".scripter-export"

// exportNoteForm is the version of the note's form.
const exportNoteForm = 1

// exportNote is the content of the note.
type exportNote struct {
	Form    int    `json:"scripterExport"` // 0: there is no note
	Address string `json:"address"`        // the address of the exported object
	// Files are the paths of the files that export has written, with the SHA-256 of
	// each; Begun, while an export runs, those that it will write.
	Files map[string]string `json:"files"`
	Begun map[string]string `json:"begun,omitempty"`
}

// lists reports whether an export has written a file of this name.
func (n exportNote) lists(name string) bool {
	_, done := n.Files[name]
	_, begun := n.Begun[name]
	return done || begun
}

// wrote reports whether an export has written a file with this name and checksum.
func (n exportNote) wrote(name string, sum fileSum) bool {
	text := sum.String()
	return n.Files[name] == text || n.Begun[name] == text
}

// folders returns the folders of the note's files, and those above them.
func (n exportNote) folders() map[string]bool {
	all := map[string]bool{}
	for _, files := range []map[string]string{n.Files, n.Begun} {
		for name := range files {
			for dir := path.Dir(name); dir != "." && !all[dir]; dir = path.Dir(dir) {
				all[dir] = true
			}
		}
	}
	return all
}

func (n exportNote) encode() []byte {
	content, err := json.MarshalIndent(n, "", "\t")
	if err != nil {
		panic(err) // cannot happen: the note has only strings
	}
	return append(content, '\n')
}

// decodeExportNote decodes a note. It checks the names, because somebody else may have
// written the folder.
func decodeExportNote(content []byte) (exportNote, error) {
	var n exportNote
	if err := json.Unmarshal(content, &n); err != nil {
		return n, jsonError(err)
	}
	switch {
	case n.Form > exportNoteForm:
		return n, errNewerForm(n.Form, exportNoteForm)
	case n.Form < 1:
		return n, errors.New("it is not the note of an export")
	}
	for _, files := range []map[string]string{n.Files, n.Begun} {
		for name := range files {
			if !fs.ValidPath(name) || isHidden(name) || strings.Contains(name, "/.") {
				return n, fmt.Errorf("it names %+q, which is not the name of an exported file", name)
			}
		}
	}
	return n, nil
}

// readExportNote returns the note of a folder, or its zero value if there is none.
func readExportNote(root *os.Root) (exportNote, error) {
	info, err := root.Lstat(exportNoteFile)
	if errors.Is(err, fs.ErrNotExist) {
		return exportNote{}, nil
	}
	var content []byte
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("it is not a file")
	}
	if err == nil {
		content, err = root.ReadFile(exportNoteFile)
	}
	var n exportNote
	if err == nil {
		n, err = decodeExportNote(content)
	}
	if err != nil {
		return n, fmt.Errorf("%s: %w; without this file, all files that need a change are in the way",
			exportNoteFile, pathError(err))
	}
	return n, nil
}
