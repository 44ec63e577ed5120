package objectdb

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
)

// ImportResult counts the objects of an import, tables included.
type ImportResult struct {
	Added   int // were not there
	Changed int // were there with another content or another spelling
	Same    int // were there already and were not touched
}

// Import reads a folder in the form that Export writes, and the supplied objects
// have, into the table at a, which is made if need be. The folder is merged
// in: what it does not name stays, and an object that is already what the folder
// says is not written, so that it keeps its version. A file does not replace
// a table (ErrIsTable) nor a folder an object (ErrNotTable). Names
// that begin with a dot are left out. The error names the file.
func Import(tx *Tx, fsys fs.FS, a Address) (ImportResult, error) {
	m := &importer{tx: tx, fsys: fsys}
	if err := tx.NewTable(a); err != nil {
		return m.result, err
	}
	t, err := tx.Find(a)
	if err != nil {
		return m.result, err
	}
	err = m.folder(".", t)
	return m.result, err
}

type importer struct {
	tx     *Tx
	fsys   fs.FS
	result ImportResult
}

// fail gives an error that names the file.
func fail(name string, err error) error {
	return &Error{Op: "import", Path: name, Err: pathError(err)}
}

func (m *importer) folder(dir string, t *Node) error {
	entries, err := fs.ReadDir(m.fsys, dir)
	if err != nil {
		return fail(dir, err)
	}
	index, err := m.index(dir, entries)
	if err != nil {
		return fail(path.Join(dir, indexFile), err)
	}
	names := map[string]string{} // folded name -> file
	for _, e := range entries {
		if e.Name() == indexFile || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		file := path.Join(dir, e.Name())
		if !e.IsDir() && !e.Type().IsRegular() {
			return fail(file, errors.New("it is neither a file nor a folder"))
		}
		name, suffix, err := nameOf(e.Name(), e.IsDir(), index[e.Name()])
		if err != nil {
			return fail(file, err)
		}
		if other := names[Fold(name)]; other != "" {
			return fail(file, fmt.Errorf("%w: %s stands for %q too", ErrExists, other, name))
		}
		names[Fold(name)] = e.Name()
		if e.IsDir() {
			err = m.table(file, t, name)
		} else {
			err = m.object(file, t, name, suffix, index[e.Name()])
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// index reads the index of a folder, if it has one.
func (m *importer) index(dir string, entries []fs.DirEntry) (index, error) {
	present := map[string]bool{}
	for _, e := range entries {
		present[e.Name()] = true
	}
	if !present[indexFile] {
		return nil, nil
	}
	content, err := fs.ReadFile(m.fsys, path.Join(dir, indexFile))
	if err != nil {
		return nil, err
	}
	x, err := decodeIndex(content)
	if err != nil {
		return nil, err
	}
	for name := range x {
		if !present[name] {
			return nil, fmt.Errorf("it names %q, which is not in the folder", name)
		}
	}
	return x, nil
}

// table reads a folder below the first one.
func (m *importer) table(dir string, t *Node, name string) error {
	n, err := m.tx.step(t, name)
	switch {
	case err != nil:
	case !n.exists():
		m.result.Added++
		n, err = m.tx.SetTable(t, name)
	case n.kind != KindTable:
		err = fmt.Errorf("%w: %s is there", ErrNotTable, m.tx.Address(n))
	default:
		n, err = m.spell(t, n, name, false)
	}
	if err != nil {
		return fail(dir, err)
	}
	return m.folder(dir, n)
}

// object reads a file.
func (m *importer) object(file string, t *Node, name, suffix string, entry indexEntry) error {
	content, err := fs.ReadFile(m.fsys, file)
	if err != nil {
		return fail(file, err)
	}
	v, err := valueOf(suffix, entry, string(content))
	if err == nil {
		err = m.set(t, name, v)
	}
	if err != nil {
		return fail(file, err)
	}
	return nil
}

// set stores a value unless it is there.
func (m *importer) set(t *Node, name string, v Value) error {
	v, _, err := own(v)
	if err != nil {
		return err
	}
	n, err := m.tx.step(t, name)
	switch {
	case err != nil:
		return err
	case !n.exists():
		m.result.Added++
		return m.tx.Set(t, name, v)
	case n.kind == KindTable:
		return fmt.Errorf("%w: %s is there", ErrIsTable, m.tx.Address(n))
	}
	old, err := m.tx.Value(n)
	if err != nil {
		return err
	}
	differs := !Equal(old, v)
	if differs {
		if err := m.tx.Set(t, name, v); err != nil {
			return err
		}
	}
	_, err = m.spell(t, n, name, differs)
	return err
}

// spell gives an object the spelling of its file, and counts it.
func (m *importer) spell(t, n *Node, name string, changed bool) (*Node, error) {
	if n.name == name {
		if changed {
			m.result.Changed++
		} else {
			m.result.Same++
		}
		return n, nil
	}
	m.result.Changed++
	now, err := m.tx.step(t, name)
	if err != nil {
		return nil, err
	}
	if err := m.tx.rename(now, t, name); err != nil {
		return nil, err
	}
	return m.tx.step(t, name)
}
