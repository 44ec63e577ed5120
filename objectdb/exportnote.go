package objectdb

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
)

// exportNoteFile lies at the top of a folder that export has written, and says
// which files are the export's own. Import passes it over, as all names that begin
// with a dot.
const exportNoteFile = ".scripter-export"

// exportNoteForm is the version of its form.
const exportNoteForm = 1

// exportNote is what it holds.
type exportNote struct {
	Form    int    `json:"scripterExport"` // 0: there is none
	Address string `json:"address"`        // of what was exported
	// Files are the paths of the files that export has written, with the SHA-256 of
	// each; Begun those that it was about to write, while it is at work.
	Files map[string]string `json:"files"`
	Begun map[string]string `json:"begun,omitempty"`
}

// lists reports whether an export has written a file of this name.
func (n exportNote) lists(name string) bool {
	_, done := n.Files[name]
	_, begun := n.Begun[name]
	return done || begun
}

// wrote reports whether a file is as an export has written it.
func (n exportNote) wrote(name string, sum fileSum) bool {
	text := sum.String()
	return n.Files[name] == text || n.Begun[name] == text
}

// folders gives the folders of its files, and those above them.
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
		panic(err) // strings
	}
	return append(content, '\n')
}

// decodeExportNote reads a note. Its names are foreign: somebody else may have
// written the folder.
func decodeExportNote(content []byte) (exportNote, error) {
	var n exportNote
	if err := json.Unmarshal(content, &n); err != nil {
		return n, jsonError(err)
	}
	switch {
	case n.Form > exportNoteForm:
		return n, fmt.Errorf("it was written by a newer version: its form is %d, this program reads %d; use the newer program", n.Form, exportNoteForm)
	case n.Form < 1:
		return n, errors.New("it is not the note of an export")
	}
	for _, files := range []map[string]string{n.Files, n.Begun} {
		for name := range files {
			if !fs.ValidPath(name) || hidden(name) || strings.Contains(name, "/.") {
				return n, fmt.Errorf("it names %+q, which is not the name of an exported file", name)
			}
		}
	}
	return n, nil
}

// readExportNote reads the note of a folder; its zero value is none.
func readExportNote(root *os.Root) (exportNote, error) {
	info, err := root.Lstat(exportNoteFile)
	if errors.Is(err, fs.ErrNotExist) {
		return exportNote{}, nil
	}
	var content []byte
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("it is no file")
	}
	if err == nil {
		content, err = root.ReadFile(exportNoteFile)
	}
	var n exportNote
	if err == nil {
		n, err = decodeExportNote(content)
	}
	if err != nil {
		return n, fmt.Errorf("%s: %w; without this file only files that need no change are no obstacle", exportNoteFile, pathError(err))
	}
	return n, nil
}
