package objectdb

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Export writes the object at a, with all below it, to the folder dir in the
// form that Import reads, and gives the number of objects. The
// folder is made if need be. What is in a table becomes what is in the folder; an
// object that is no table becomes the one file there.
//
// A folder that an earlier export has made is brought up to date: files that are
// right are not written again, those of objects that are gone are removed, and names
// that begin with a dot (such as .git) are left alone. Any other folder must be
// empty, else the error is ErrExists.
func Export(tx *Tx, a Address, dir string) (int, error) {
	n, err := tx.mustFind(a)
	if err != nil {
		return 0, at("export", a, err)
	}
	if err := exportable(dir); err != nil {
		return 0, &Error{Op: "export to", Path: dir, Err: err}
	}
	x := &exporter{tx: tx}
	nodes := []*Node{n}
	if n.kind == KindTable {
		if nodes, err = tx.Children(n); err != nil {
			return 0, at("export", a, err)
		}
	}
	if err := x.folder(dir, nodes, true); err != nil {
		return x.count, at("export", a, err)
	}
	return x.count, nil
}

// exportable tells whether dir may be filled: it is new, empty, or an export.
func exportable(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return pathError(err)
	}
	for _, e := range entries {
		if e.Name() == indexFile {
			return nil
		}
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), ".") {
			return fmt.Errorf("%w: the folder holds %s and is no earlier export (which has a file %s); name an empty folder",
				ErrExists, e.Name(), indexFile)
		}
	}
	return nil
}

type exporter struct {
	tx    *Tx
	count int
}

// folder writes the objects into dir. An index is written when there is something
// to say, when the folder would be empty, and at the top, where it
// marks an export.
func (x *exporter) folder(dir string, nodes []*Node, top bool) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	index := index{}
	if top {
		index[thisFolder] = indexEntry{Form: FolderForm}
	}
	keep := map[string]bool{indexFile: top || len(nodes) == 0}
	for _, n := range nodes {
		f, err := x.object(dir, n)
		if err != nil {
			return fmt.Errorf("%s: %w", n.name, err)
		}
		keep[f.name] = true
		if f.entry != (indexEntry{}) {
			index[f.name] = f.entry
			keep[indexFile] = true
		}
	}
	if keep[indexFile] {
		if err := writeFile(filepath.Join(dir, indexFile), index.encode()); err != nil {
			return err
		}
	}
	return removeOthers(dir, keep)
}

// object writes one object into dir.
func (x *exporter) object(dir string, n *Node) (file, error) {
	x.count++
	if n.kind == KindTable {
		f := fileOf(n.name, nil)
		nodes, err := x.tx.Children(n)
		if err != nil {
			return f, err
		}
		path := filepath.Join(dir, f.name)
		if err := clearPlace(path, true); err != nil {
			return f, err
		}
		return f, x.folder(path, nodes, false)
	}
	v, err := x.tx.Value(n)
	if err != nil {
		return file{}, err
	}
	f := fileOf(n.name, v)
	path := filepath.Join(dir, f.name)
	if err := clearPlace(path, false); err != nil {
		return f, err
	}
	return f, writeFile(path, f.content)
}

// clearPlace removes a file where a folder is wanted, and the other way round.
func clearPlace(path string, folder bool) error {
	info, err := os.Lstat(path)
	if err != nil || info.IsDir() == folder && (folder || info.Mode().IsRegular()) {
		return nil
	}
	return os.RemoveAll(path)
}

// writeFile writes a file unless it is there as it should be.
func writeFile(path string, content []byte) error {
	if there, err := os.ReadFile(path); err == nil && bytes.Equal(there, content) {
		return nil
	}
	return os.WriteFile(path, content, 0o666)
}

// removeOthers removes what an earlier export has left in dir.
func removeOthers(dir string, keep map[string]bool) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if keep[e.Name()] || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
			return err
		}
	}
	return nil
}
