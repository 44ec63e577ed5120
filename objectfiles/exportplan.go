package objectfiles

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"path"

	"scripter/objectdb"
)

// ExportPlan is what an export of objects to a folder will do. PlanExport makes the
// plan and changes nothing; Do carries it out. Paths are relative to the folder, with
// "/" between their parts.
type ExportPlan struct {
	Objects  int
	Added    []string // new files
	Replaced []string // files as an export wrote them, which get another content
	Removed  []string // such files whose objects no longer exist
	Same     int      // files that already have the right content
	// InTheWay are files and folders that the export did not write and would have to
	// overwrite or remove. If there are any, Do makes only a mirror.
	InTheWay []Obstacle
	// Others are all other files in the folder, and folders, which end with "/", but no
	// hidden ones and no README.md. A mirror removes them.
	Others []string

	tx          *objectdb.Tx
	folder      exportFolder
	note        exportNote
	noteFolders map[string]bool        // the folders of the files of the note
	files       map[string]*exportFile // by path
	order       []*exportFile
	tables      map[string]bool    // the folders that the export makes
	replaceable map[string]fileSum // files that may be replaced, with their present checksum
	blocked     map[string]bool    // the paths of InTheWay
}

// Obstacle is a file or folder that is in the way of an export. Gone says that the
// export has no file in its place.
type Obstacle struct {
	Path, Why string
	Gone      bool
}

// exportFile is one file of an export.
type exportFile struct {
	path  string
	sum   fileSum
	node  *objectdb.Node // the object
	index []byte         // the content, if the file is an index
	write bool           // the file does not have this content yet
}

// ErrInTheWay says that an export would overwrite or remove a file that it did not write.
var ErrInTheWay = errors.New("something that export did not write is in the way")

// PlanExport returns the plan that writes the object at a, with everything below it, to the
// folder dir, in the folder form. The objects in a table become files in the
// folder; an object that is not a table becomes the only file there.
//
// An export keeps a note in the folder of the files that it wrote. It replaces or removes
// a file that is as the note says; any other file in the place of one of its own is in the
// way. A folder with files and without a note must look like an export, else the error is
// objectdb.ErrExists. Hidden files, such as .git, are never changed. Use the plan
// within its transaction, and close it after use.
func PlanExport(tx *objectdb.Tx, a objectdb.Address, dir string) (*ExportPlan, error) {
	n, err := exported(tx, a)
	if err != nil {
		return nil, err
	}
	nodes := []*objectdb.Node{n}
	if n.Kind() == objectdb.KindTable {
		if nodes, err = tx.Children(n); err != nil {
			return nil, at("export", a, err)
		}
	}
	p := &ExportPlan{
		tx: tx, folder: exportFolder{dir: dir},
		files: map[string]*exportFile{}, tables: map[string]bool{".": true},
		replaceable: map[string]fileSum{}, blocked: map[string]bool{},
	}
	if err := p.openFolder(); err != nil {
		p.Close()
		return nil, p.folderError(err)
	}
	if err := p.planTable(".", nodes, true); err != nil {
		p.Close()
		return nil, at("export", a, err)
	}
	if err := p.compare(tx.Address(n)); err != nil {
		p.Close()
		return nil, p.folderError(err)
	}
	return p, nil
}

// exported returns the object that an export begins with.
func exported(tx *objectdb.Tx, a objectdb.Address) (*objectdb.Node, error) {
	n, err := tx.Find(a)
	if found := new(objectdb.Error); errors.As(err, &found) {
		err = found.Err
	}
	return n, at("export", a, err)
}

func (p *ExportPlan) folderError(err error) error {
	return &objectdb.Error{Op: "export to", Path: p.folder.dir, Err: pathError(err)}
}

// openFolder opens the folder and reads its note, if it exists.
func (p *ExportPlan) openFolder() error {
	err := p.folder.open()
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if p.note, err = readExportNote(p.folder.root); err != nil {
		return err
	}
	p.noteFolders = p.note.folders()
	if p.note.Form != 0 {
		return nil
	}
	entries, err := p.folder.list(".")
	if err != nil {
		return err
	}
	foreign := ""
	for _, e := range entries {
		if e.Name() == IndexFile {
			return nil // an export by a version that wrote no note
		}
		if foreign == "" && !isHidden(e.Name()) && !isReadme(e.Name()) {
			foreign = e.Name()
		}
	}
	if foreign != "" {
		return fmt.Errorf("%w: the folder holds %s and is not an earlier export (which has a file %s); name an empty folder",
			objectdb.ErrExists, foreign, IndexFile)
	}
	return nil
}

// planTable plans the files of the folder of a table. There is an index at the top, in an
// empty folder, and where it has an entry.
func (p *ExportPlan) planTable(dir string, nodes []*objectdb.Node, top bool) error {
	index := NewIndex(top)
	for _, n := range nodes {
		f, err := p.planObject(dir, n)
		if err != nil {
			return fmt.Errorf("%s: %w", n.Name(), err)
		}
		index.Add(f)
	}
	if len(index) > 0 || len(nodes) == 0 {
		content := index.Encode()
		p.plan(&exportFile{path: path.Join(dir, IndexFile), sum: sha256.Sum256(content), index: content})
	}
	return nil
}

// planObject plans the file of an object, or the folder of a table with everything in it.
func (p *ExportPlan) planObject(dir string, n *objectdb.Node) (File, error) {
	if err := context.Cause(p.tx.Context()); err != nil {
		return File{}, err
	}
	p.Objects++
	if n.Kind() == objectdb.KindTable {
		f := FileOf(n.Name(), nil)
		nodes, err := p.tx.Children(n)
		if err != nil {
			return f, err
		}
		folder := path.Join(dir, f.Name)
		p.tables[folder] = true
		return f, p.planTable(folder, nodes, false)
	}
	v, err := p.tx.Value(n)
	if err != nil {
		return File{}, err
	}
	f := FileOf(n.Name(), v)
	p.plan(&exportFile{path: path.Join(dir, f.Name), sum: sha256.Sum256(f.Content), node: n})
	return f, nil
}

func (p *ExportPlan) plan(f *exportFile) {
	p.files[f.path] = f
	p.order = append(p.order, f)
}

// Close closes the folder of the plan and unlocks it.
func (p *ExportPlan) Close() { p.folder.close() }
