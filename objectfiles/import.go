package objectfiles

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"

	"scripter/objectdb"
)

// Import reads a folder in the folder form into the table at a, and makes the table if it does
// not exist. It merges: objects that the folder does not have stay, and an object that has the
// same value as its file is not written. A file does not replace a table
// (objectdb.ErrIsTable), and a folder replaces only a table (objectdb.ErrNotTable). Hidden
// files, and files that editors and systems leave, are ignored. The error names the file.
//
// If fn is not nil, it is called for each object before it is written; its error ends the
// import. The files must exist until the transaction has ended, because large ones are read
// again.
func Import(tx *objectdb.Tx, fsys fs.FS, a objectdb.Address, fn func(Change) error) (ImportResult, error) {
	m := &importer{tx: tx, fsys: fsys, fn: fn}
	err := m.run(a)
	return m.result, err
}

// importer is one import.
type importer struct {
	tx     *objectdb.Tx
	fsys   fs.FS
	fn     func(Change) error // may be nil
	result ImportResult
}

func (m *importer) run(a objectdb.Address) error {
	if err := m.tx.NewTable(a); err != nil {
		return err
	}
	t, err := m.tx.Find(a)
	if err != nil {
		return err
	}
	return m.folder(".", t)
}

// importError returns an error that names the file.
func importError(name string, err error) error {
	return &objectdb.Error{Op: "import", Path: name, Err: pathError(err)}
}

// folder imports what is in a folder into the table t.
func (m *importer) folder(dir string, t *objectdb.Node) error {
	entries, err := fs.ReadDir(m.fsys, dir)
	if err != nil {
		return importError(dir, err)
	}
	index, err := m.readIndex(dir, entries)
	if err != nil {
		return importError(path.Join(dir, IndexFile), err)
	}
	files := map[string]string{} // by the folded name of their object
	for _, e := range entries {
		if e.Name() == IndexFile {
			continue
		}
		file := path.Join(dir, e.Name())
		if Ignored(e) {
			if !isOwnFile(e.Name()) {
				m.result.Skipped = append(m.result.Skipped, file)
			}
			continue
		}
		if err := context.Cause(m.tx.Context()); err != nil {
			return err
		}
		if !e.IsDir() && !e.Type().IsRegular() {
			return importError(file, errSpecial(e.Type()))
		}
		entry := index[e.Name()]
		name, suffix, err := NameOf(e.Name(), e.IsDir(), entry)
		if err != nil {
			return importError(file, err)
		}
		if other := files[objectdb.Fold(name)]; other != "" {
			return importError(file, fmt.Errorf("%w: %s stands for %q too", objectdb.ErrExists, other, name))
		}
		files[objectdb.Fold(name)] = e.Name()
		if !e.IsDir() {
			if err := m.file(file, t, name, suffix, entry); err != nil {
				return importError(file, err)
			}
			continue
		}
		below, err := m.mergeTable(t, name)
		if err != nil {
			return importError(file, err)
		}
		if err := m.folder(file, below); err != nil {
			return err
		}
	}
	return nil
}

// readIndex returns the index of a folder, if it has one.
func (m *importer) readIndex(dir string, entries []fs.DirEntry) (Index, error) {
	present := map[string]bool{}
	for _, e := range entries {
		present[e.Name()] = true
	}
	if !present[IndexFile] {
		return nil, nil
	}
	content, err := fs.ReadFile(m.fsys, path.Join(dir, IndexFile))
	if err != nil {
		return nil, err
	}
	x, err := DecodeIndex(content)
	if err != nil {
		return nil, err
	}
	for name := range x {
		if !present[name] && name != thisFolder {
			return nil, fmt.Errorf("it names %q, which is not in the folder", name)
		}
	}
	return x, nil
}

// file imports a file as the object called name in t.
func (m *importer) file(file string, t *objectdb.Node, name, suffix string, entry IndexEntry) error {
	content, sum, err := readFile(m.fsys, file)
	if err != nil {
		return err
	}
	v, err := DecodeValue(suffix, entry, content)
	if err != nil {
		return err
	}
	reread := func() (objectdb.Value, error) {
		content, now, err := readFile(m.fsys, file)
		if err == nil && now != sum {
			err = errors.New("it was changed while it was imported")
		}
		if err != nil {
			return nil, importError(file, err)
		}
		return DecodeValue(suffix, entry, content)
	}
	return m.mergeValue(t, name, v, reread)
}

// readFile returns the content of a file, which is at most that of the largest value.
func readFile(fsys fs.FS, file string) (text string, sum fileSum, err error) {
	f, err := fsys.Open(file)
	if err != nil {
		return "", sum, err
	}
	defer f.Close()
	var content strings.Builder
	if info, err := f.Stat(); err == nil && info.Size() <= objectdb.MaxValue {
		content.Grow(int(info.Size())) // the size is right: OpenArchive has compared it
	}
	hash := sha256.New()
	n, err := io.Copy(io.MultiWriter(&content, hash), io.LimitReader(f, objectdb.MaxValue+1))
	if err == nil && n > objectdb.MaxValue {
		err = errLargeFile(n)
	}
	return content.String(), fileSum(hash.Sum(nil)), err
}
