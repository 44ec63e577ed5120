package foldersync

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"
	"time"

	"scripter/objectdb"
	"scripter/objectfiles"
)

// The files in the folder of the state.
const (
	stateFolder    = ".scripter"
	baseFile       = stateFolder + "/sync.json"
	begunFile      = stateFolder + "/begun.json"
	progressFile   = stateFolder + "/progress"
	textFolder     = stateFolder + "/base"
	conflictFolder = stateFolder + "/conflicts"
	partFolder     = stateFolder + "/tmp"
	rescueFolder   = stateFolder + "/rescued"
	gitignoreFile  = stateFolder + "/.gitignore"
)

// baseForm is the version of the form of the base and of begun.json.
const baseForm = 1

// base is the state that root and folder had in common after the last sync.
type base struct {
	Form    int         `json:"scripterSync"`
	Number  int64       `json:"number"` // the number of the sync
	Address string      `json:"address"`
	Root    rootState   `json:"root"`
	Whole   bool        `json:"whole"`  // the base has all objects of that state of the root
	Ignore  string      `json:"ignore"` // the ignore file
	Items   []*baseItem `json:"items"`  // each table before what is in it

	items map[string]*baseItem // Items by key
}

// rootState identifies a root and its state.
type rootState struct {
	Created    int64  `json:"created"`
	Inode      uint64 `json:"inode"`
	Generation int64  `json:"generation"`
}

// baseItem is one object. Its id and version, and the times of its file, show whether it is
// unchanged without reading it. They are 0 if they are not known.
type baseItem struct {
	object
	Path    string                 `json:"path"`
	Entry   objectfiles.IndexEntry `json:"index,omitzero"`
	Stat    fileStat               `json:"file,omitzero"`
	ID      int64                  `json:"id,omitempty"`
	Version int64                  `json:"version,omitempty"`
	Hidden  bool                   `json:"hidden,omitempty"` // a table that holds ignored objects
}

// of returns the object of an item of the base, which may be nil.
func (b *baseItem) of() object {
	if b == nil {
		return object{}
	}
	return b.object
}

// readBase reads the base. Before the first sync it is empty.
func readBase(root *os.Root) (*base, error) {
	content, err := root.ReadFile(baseFile)
	if errors.Is(err, fs.ErrNotExist) {
		return &base{items: map[string]*baseItem{}}, nil
	}
	var b *base
	if err == nil {
		b, err = decodeBase(content)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w; without this file the next sync compares folder and root anew",
			baseFile, pathError(err))
	}
	return b, nil
}

func decodeBase(content []byte) (*base, error) {
	b := &base{items: map[string]*baseItem{}}
	if err := json.Unmarshal(content, b); err != nil {
		return nil, err
	}
	switch {
	case b.Form > baseForm:
		return nil, fmt.Errorf("a newer version wrote it (form %d; this program knows %d)", b.Form, baseForm)
	case b.Form < 1:
		return nil, errors.New("it is not the state of a sync")
	}
	return b, b.index()
}

// index fills items.
func (b *base) index() error {
	keys := map[string]string{".": ""} // by the paths of folders
	for _, it := range b.Items {
		if it == nil {
			return errors.New("it has an empty item")
		}
		parent, ok := keys[path.Dir(it.Path)]
		if !fs.ValidPath(it.Path) || !ok || strings.Contains("/"+it.Path, "/.") || objectdb.CheckName(it.Name) != nil {
			return fmt.Errorf("it names %+q, which cannot be the file of an object", it.Path)
		}
		key := childKey(parent, it.Name)
		if it.isTable() {
			keys[it.Path] = key
		}
		b.items[key] = it
	}
	return nil
}

// encode returns the file of the base.
func (b *base) encode() []byte {
	b.Form = baseForm
	b.Items = b.Items[:0]
	for _, key := range sortedKeys(b.items) {
		b.Items = append(b.Items, b.items[key])
	}
	content, err := json.Marshal(b)
	if err != nil {
		panic(err) // cannot happen: it has only strings and numbers
	}
	return append(content, '\n')
}

func sortedKeys[T any](m map[string]T) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// begun is what a sync is about to do.
type begun struct {
	Form   int         `json:"scripterSync"`
	Number int64       `json:"number"` // the number of the base that the sync began with
	Items  []begunItem `json:"items"`
	// Origin is the origin of the change of the root, and Generation the generation before the
	// change. With them, the change is found in the history of the root.
	Origin     objectdb.Origin `json:"origin"`
	Generation int64           `json:"generation"`

	progress map[int]byte // progressBegun or progressDone, by the numbers of items
}

// The lines of the progress file are one of these and the number of an item.
const (
	progressBegun = 'b'
	progressDone  = 'd'
)

// begunItem is one object that a sync is about to write, with what it becomes and what both
// sides had before.
type begunItem struct {
	Key      string   `json:"key"`
	Want     object   `json:"want"`
	WantPath string   `json:"wantPath"`
	ToRoot   bool     `json:"toRoot,omitempty"`
	ToFiles  bool     `json:"toFiles,omitempty"`
	File     object   `json:"file"`
	FilePath string   `json:"filePath"`
	Stat     fileStat `json:"stat"`
	Root     object   `json:"root"`
	ID       int64    `json:"id"`
	Version  int64    `json:"version"`
}

// readBegun returns what an interrupted sync was about to do after the base, or nil.
func readBegun(root *os.Root, b *base) (*begun, error) {
	content, err := root.ReadFile(begunFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var g begun
	if err == nil {
		err = json.Unmarshal(content, &g)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", begunFile, pathError(err))
	}
	if g.Number != b.Number {
		return nil, nil // that sync has ended
	}
	return &g, g.readProgress(root)
}

// readProgress reads which files the interrupted sync has written.
func (g *begun) readProgress(root *os.Root) error {
	content, err := root.ReadFile(progressFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: %w", progressFile, pathError(err))
	}
	g.progress = map[int]byte{}
	for line := range strings.Lines(string(content)) {
		var what byte
		var i int
		if n, _ := fmt.Sscanf(line, "%c %d\n", &what, &i); n == 2 {
			g.progress[i] = what
		}
	}
	return nil
}

// writeState writes a file of the state. It writes and flushes it under another name and then
// renames it, so that the file is always complete.
func writeState(root *os.Root, name string, content []byte) error {
	part := partFolder + "/part-" + rand.Text()
	if err := writePart(root, part, content, 0o600, true); err != nil {
		return err
	}
	return root.Rename(part, name)
}

// writePart writes a new file.
func writePart(root *os.Root, name string, content []byte, mode fs.FileMode, flush bool) error {
	file, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	if err == nil && flush {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err != nil {
		root.Remove(name)
	}
	return err
}

// openState makes the folder of the state. Git does not see it.
func openState(root *os.Root) error {
	for _, dir := range []string{stateFolder, partFolder, textFolder} {
		if err := root.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	if _, err := root.Lstat(gitignoreFile); errors.Is(err, fs.ErrNotExist) {
		return writeState(root, gitignoreFile, []byte("*\n"))
	}
	return nil
}

// maxText is the size of the largest text that is merged.
const maxText = 1 << 20

// textPath returns the path of the text with this sum, which is kept for a later merge. It
// returns "" if the text is not kept.
func textPath(sum string) string {
	kind, hash, ok := strings.Cut(sum, ":")
	if !ok || kind == objectdb.KindBinary.String() || len(hash) < 8 {
		return ""
	}
	return path.Join(textFolder, hash[:2], hash[2:]+"."+kind)
}

// keepText keeps a text for a later merge.
func keepText(root *os.Root, sum, text string) error {
	name := textPath(sum)
	if name == "" || len(text) > maxText {
		return nil
	}
	if _, err := root.Lstat(name); err == nil {
		return nil
	}
	if err := root.MkdirAll(path.Dir(name), 0o700); err != nil {
		return err
	}
	part := partFolder + "/part-" + rand.Text()
	if err := writePart(root, part, []byte(text), 0o600, false); err != nil {
		return err
	}
	return root.Rename(part, name)
}

// keptText returns the text of the base with this sum, if it was kept.
func keptText(root *os.Root, sum string) (string, bool) {
	name := textPath(sum)
	if name == "" {
		return "", false
	}
	content, err := root.ReadFile(name)
	return string(content), err == nil
}

// lockFolder locks the folder, so that one sync or export at a time writes in it. It
// returns a function that unlocks it. On a file system without locks it does nothing.
func lockFolder(root *os.Root, patience time.Duration) (func(), error) {
	dir, err := root.Open(".")
	if err != nil {
		return nil, err
	}
	for end := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		err = syscall.Flock(int(dir.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			return func() { dir.Close() }, nil
		}
		if time.Now().After(end) {
			dir.Close()
			return nil, errors.New("another sync of this folder, or an export to it, is running")
		}
	}
}
