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

// ImportResult counts the objects of an import, tables included.
type ImportResult struct {
	Added   int // were not there
	Changed int // were there with another content or another spelling
	Same    int // were there already and were not touched
	Removed int // were there, and the archive says that they go
	// Skipped are the paths of files and folders that are not objects, such as editors'
	// backups and .git, with "/" between the parts.
	Skipped []string
}

// Change is what an import does to one object.
type Change struct {
	Address objectdb.Address // as it is spelled before the import
	State   ChangeState
	Kind    objectdb.Kind  // after the import; of what is removed, before it
	Old     objectdb.Value // what was there; nil in a table and where nothing was
}

// ChangeState is one of Added, Changed, Same and Removed, as ImportResult counts them.
type ChangeState int

// What an import may do to an object.
const (
	Added ChangeState = iota + 1
	Changed
	Same
	Removed
)

func (s ChangeState) String() string {
	return [...]string{"", "added", "changed", "same", "removed"}[s]
}

// Import reads a folder in the form that Export writes, and the supplied objects
// have, into the table at a, which is made if need be. The folder is merged
// in: what it does not name stays, and an object that is already what the folder
// says is not written, so that it keeps its version. A file does not replace
// a table (ErrIsTable) nor a folder an object (ErrNotTable). Names
// that begin with a dot, and files that editors and systems leave behind, are left
// out. The error names the file.
func Import(tx *objectdb.Tx, fsys fs.FS, a objectdb.Address) (ImportResult, error) {
	return ImportFunc(tx, fsys, a, nil)
}

// ImportFunc is Import that calls fn for each object before it is written. An error of
// fn ends the import. The files must exist until the transaction has ended, because large
// ones are read again.
func ImportFunc(tx *objectdb.Tx, fsys fs.FS, a objectdb.Address, fn func(Change) error) (ImportResult, error) {
	m := &importer{tx: tx, fsys: fsys, fn: fn}
	err := m.run(a)
	return m.result, err
}

type importer struct {
	tx     *objectdb.Tx
	fsys   fs.FS
	fn     func(Change) error
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

// tell counts an object, and tells of it. n is what is there before the change, or
// the table that the name will be added to.
func (m *importer) tell(state ChangeState, n *objectdb.Node, name string, kind objectdb.Kind, old objectdb.Value) error {
	switch state {
	case Added:
		m.result.Added++
	case Changed:
		m.result.Changed++
	case Same:
		m.result.Same++
	case Removed:
		m.result.Removed++
	}
	if m.fn == nil {
		return nil
	}
	a := m.tx.Address(n)
	if state == Added {
		a = a.Child(name)
	}
	return m.fn(Change{Address: a, State: state, Kind: kind, Old: old})
}

// fail gives an error that names the file.
func fail(name string, err error) error {
	return &objectdb.Error{Op: "import", Path: name, Err: pathError(err)}
}

func (m *importer) folder(dir string, t *objectdb.Node) error {
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
		if e.Name() == indexFile {
			continue
		}
		if isIgnored(e) {
			if !isOwnFile(e.Name()) {
				m.result.Skipped = append(m.result.Skipped, path.Join(dir, e.Name()))
			}
			continue
		}
		if err := context.Cause(m.tx.Context()); err != nil {
			return err
		}
		file := path.Join(dir, e.Name())
		if !e.IsDir() && !e.Type().IsRegular() {
			return fail(file, errSpecial(e.Type()))
		}
		name, suffix, err := nameOf(e.Name(), e.IsDir(), index[e.Name()])
		if err != nil {
			return fail(file, err)
		}
		if other := names[objectdb.Fold(name)]; other != "" {
			return fail(file, fmt.Errorf("%w: %s stands for %q too", objectdb.ErrExists, other, name))
		}
		names[objectdb.Fold(name)] = e.Name()
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
		if !present[name] && name != thisFolder {
			return nil, fmt.Errorf("it names %q, which is not in the folder", name)
		}
	}
	return x, nil
}

// table reads a folder below the first one.
func (m *importer) table(dir string, t *objectdb.Node, name string) error {
	n, err := m.tx.Child(t, name)
	switch {
	case errors.Is(err, objectdb.ErrNotFound):
		if err = m.tell(Added, t, name, objectdb.KindTable, nil); err == nil {
			n, err = m.tx.SetTable(t, name)
		}
	case err != nil:
	case n.Kind() != objectdb.KindTable:
		err = fmt.Errorf("%w: %s is there", objectdb.ErrNotTable, m.tx.Address(n))
	default:
		n, err = m.spell(t, n, name)
	}
	if err != nil {
		return fail(dir, err)
	}
	return m.folder(dir, n)
}

// object reads a file.
func (m *importer) object(file string, t *objectdb.Node, name, suffix string, entry indexEntry) error {
	content, sum, err := readFile(m.fsys, file)
	if err != nil {
		return fail(file, err)
	}
	v, err := decodeValue(suffix, entry, content)
	if err == nil {
		again := func() (objectdb.Value, error) {
			content, now, err := readFile(m.fsys, file)
			if err == nil && now != sum {
				err = errors.New("it was changed while it was imported")
			}
			if err != nil {
				return nil, fail(file, err)
			}
			return decodeValue(suffix, entry, content)
		}
		err = m.set(t, name, v, again)
	}
	if err != nil {
		return fail(file, err)
	}
	return nil
}

// readFile reads a file, up to the largest size of a value.
func readFile(fsys fs.FS, file string) (text string, sum fileSum, err error) {
	f, err := fsys.Open(file)
	if err != nil {
		return "", sum, err
	}
	defer f.Close()
	var content strings.Builder
	if info, err := f.Stat(); err == nil && info.Size() <= objectdb.MaxValue {
		content.Grow(int(info.Size())) // the size is right: an archive was unpacked before
	}
	hash := sha256.New()
	n, err := io.Copy(io.MultiWriter(&content, hash), io.LimitReader(f, objectdb.MaxValue+1))
	if err == nil && n > objectdb.MaxValue {
		err = largeFile(n)
	}
	return content.String(), fileSum(hash.Sum(nil)), err
}

// set stores a value unless the table already has it. It does not keep a large value or a list
// in memory until the commit; again makes the value a second time.
func (m *importer) set(t *objectdb.Node, name string, v objectdb.Value, again func() (objectdb.Value, error)) error {
	n, err := m.tx.Child(t, name)
	switch {
	case errors.Is(err, objectdb.ErrNotFound):
		if err := m.tell(Added, t, name, v.Kind(), nil); err != nil {
			return err
		}
		return m.tx.SetLater(t, name, v, again)
	case err != nil:
		return err
	case n.Kind() == objectdb.KindTable:
		return fmt.Errorf("%w: %s is there", objectdb.ErrIsTable, m.tx.Address(n))
	}
	old, err := m.tx.Value(n)
	if err != nil {
		return err
	}
	differs, state := !objectdb.Equal(old, v), Same
	if differs || n.Name() != name {
		state = Changed
	}
	if err := m.tell(state, n, name, v.Kind(), old); err != nil {
		return err
	}
	if differs {
		if err := m.tx.SetLater(t, name, v, again); err != nil {
			return err
		}
	}
	_, err = m.rename(t, n, name)
	return err
}

// spell gives a table the spelling of its folder, and tells of it.
func (m *importer) spell(t, n *objectdb.Node, name string) (*objectdb.Node, error) {
	state := Same
	if n.Name() != name {
		state = Changed
	}
	if err := m.tell(state, n, name, objectdb.KindTable, nil); err != nil {
		return nil, err
	}
	return m.rename(t, n, name)
}

// rename gives an object the spelling name, and gives its present node.
func (m *importer) rename(t, n *objectdb.Node, name string) (*objectdb.Node, error) {
	if n.Name() == name {
		return n, nil
	}
	a := m.tx.Address(t).Child(name)
	if err := m.tx.Move(a, a); err != nil {
		return nil, err
	}
	return m.tx.Child(t, name)
}

// remove takes away the object at a, if there is one: a table only when it is empty.
func (m *importer) remove(a objectdb.Address) error {
	n, err := m.tx.Find(a)
	if errors.Is(err, objectdb.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	var old objectdb.Value
	if n.Kind() == objectdb.KindTable {
		if left, err := m.tx.Len(n); err != nil || left > 0 {
			return err
		}
	} else if old, err = m.tx.Value(n); err != nil {
		return err
	}
	if err := m.tell(Removed, n, "", n.Kind(), old); err != nil {
		return err
	}
	return m.tx.Delete(a)
}
