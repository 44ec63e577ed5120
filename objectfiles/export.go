package objectfiles

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"

	"scripter/objectdb"
)

// ExportPlan is what an export of objects to a folder will do. PlanExport makes the
// plan and changes nothing; Do carries it out. Paths are relative to the folder, with
// "/" between their parts.
type ExportPlan struct {
	Objects  int
	Added    []string // new files
	Replaced []string // files that an export wrote, that nobody has changed since, and whose content is now another
	Removed  []string // such files whose objects are gone
	Same     int      // files that already have the right content
	// InTheWay are files and folders that the export did not write and would have to
	// overwrite or remove. If there are any, Do makes only a mirror.
	InTheWay []Obstacle
	// Others are all other files in the folder, and folders, which end with "/", but no
	// hidden ones and no README.md. A mirror removes them.
	Others []string

	tx      *objectdb.Tx
	dir     string
	root    *os.Root // nil while there is no folder
	lock    *os.File
	note    exportNote
	noted   map[string]bool        // the folders of the files of the note
	files   map[string]*exportFile // by path
	order   []*exportFile
	tables  map[string]bool    // the folders that the export makes
	ours    map[string]fileSum // files that may be replaced, with their present content
	blocked map[string]bool    // the paths of InTheWay
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
	index []byte         // the content of an index file
	write bool
}

type fileSum [sha256.Size]byte

func (s fileSum) String() string { return hex.EncodeToString(s[:]) }

// ErrInTheWay says that an export would overwrite or remove what it did not write.
var ErrInTheWay = errors.New("something that export did not write is in the way")

// PlanExport returns the plan that writes the object at a, with all below it, to the
// folder dir, in the form that Import reads. The objects in a table become files in the
// folder; an object that is not a table becomes the only file there.
//
// An export keeps a note in the folder of the files that it wrote. It replaces or removes
// a file that is as the note says; any other file in the place of one of its own is in the
// way. A folder with files and without a note must look like an export, else the error is
// ErrExists. Names that begin with a dot, such as .git, are never changed. Use the plan
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
		tx: tx, dir: dir,
		files: map[string]*exportFile{}, tables: map[string]bool{".": true},
		ours: map[string]fileSum{}, blocked: map[string]bool{},
	}
	if err := p.openFolder(); err != nil {
		p.Close()
		return nil, &objectdb.Error{Op: "export to", Path: dir, Err: err}
	}
	if err := p.table(".", nodes, true); err != nil {
		p.Close()
		return nil, at("export", a, err)
	}
	if err := p.compare(tx.Address(n)); err != nil {
		p.Close()
		return nil, &objectdb.Error{Op: "export to", Path: dir, Err: err}
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

// openFolder opens the folder, if it exists, and reads its note. Links do not lead out
// of the folder.
func (p *ExportPlan) openFolder() error {
	var err error
	if p.root, err = os.OpenRoot(p.dir); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = p.lockFolder()
	}
	if err == nil {
		p.note, err = readExportNote(p.root)
	}
	if err != nil {
		return pathError(err)
	}
	p.noted = p.note.folders()
	marked := p.note.Form != 0
	entries, err := fs.ReadDir(p.root.FS(), ".")
	if err != nil {
		return pathError(err)
	}
	stranger := ""
	for _, e := range entries {
		if e.Name() == indexFile {
			marked = true // by a version that wrote no note
		} else if stranger == "" && !isHidden(e.Name()) && !isReadme(e.Name()) {
			stranger = e.Name()
		}
	}
	if !marked && stranger != "" {
		return fmt.Errorf("%w: the folder holds %s and is not an earlier export (which has a file %s); name an empty folder",
			objectdb.ErrExists, stranger, indexFile)
	}
	return nil
}

// lockFolder locks the folder, so that one export at a time writes in it. It does
// nothing on a file system without locks.
func (p *ExportPlan) lockFolder() (err error) {
	if p.lock, err = p.root.Open("."); err != nil {
		return err
	}
	if errors.Is(syscall.Flock(int(p.lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB), syscall.EWOULDBLOCK) {
		return errors.New("another export to this folder is running; try again when it has ended")
	}
	return nil
}

// table plans the files of a table's folder. There is an index if it has something to
// say, if the folder would be empty, and at the top.
func (p *ExportPlan) table(dir string, nodes []*objectdb.Node, top bool) error {
	index := index{}
	if top {
		index[thisFolder] = indexEntry{Form: FolderForm}
	}
	for _, n := range nodes {
		f, err := p.object(dir, n)
		if err != nil {
			return fmt.Errorf("%s: %w", n.Name(), err)
		}
		if f.entry != (indexEntry{}) {
			index[f.name] = f.entry
		}
	}
	if len(index) > 0 || len(nodes) == 0 {
		content := index.encode()
		p.plan(&exportFile{path: path.Join(dir, indexFile), sum: sha256.Sum256(content), index: content})
	}
	return nil
}

func (p *ExportPlan) object(dir string, n *objectdb.Node) (file, error) {
	if err := context.Cause(p.tx.Context()); err != nil {
		return file{}, err
	}
	p.Objects++
	if n.Kind() == objectdb.KindTable {
		f := fileOf(n.Name(), nil)
		nodes, err := p.tx.Children(n)
		if err != nil {
			return f, err
		}
		folder := path.Join(dir, f.name)
		p.tables[folder] = true
		return f, p.table(folder, nodes, false)
	}
	v, err := p.tx.Value(n)
	if err != nil {
		return file{}, err
	}
	f := fileOf(n.Name(), v)
	p.plan(&exportFile{path: path.Join(dir, f.name), sum: sha256.Sum256(f.content), node: n})
	return f, nil
}

func (p *ExportPlan) plan(f *exportFile) {
	p.files[f.path] = f
	p.order = append(p.order, f)
}

// compare compares the plan with the content of the folder; a is the address of the
// exported object.
func (p *ExportPlan) compare(a objectdb.Address) error {
	before := p.note
	p.note = exportNote{Form: exportNoteForm, Address: a.String()}
	for _, f := range p.order {
		f.write = true
	}
	if before.Form != 0 && before.Address != p.note.Address {
		of := "the whole root"
		if before.Address != "" {
			of = before.Address
		}
		p.obstacle(".", "the folder holds an export of "+of)
	}
	if p.root != nil {
		if err := p.compareFolder(".", before); err != nil {
			return err
		}
	}
	for _, f := range p.order {
		if _, there := p.ours[f.path]; f.write && !there && !p.blocked[f.path] {
			p.Added = append(p.Added, f.path)
		}
	}
	slices.Sort(p.Added)
	return nil
}

func (p *ExportPlan) obstacle(path, why string) {
	p.InTheWay = append(p.InTheWay, Obstacle{path, why, p.files[path] == nil && !p.tables[path]})
	p.blocked[path] = true
}

func (p *ExportPlan) compareFolder(dir string, before exportNote) error {
	entries, err := fs.ReadDir(p.root.FS(), dir)
	if err != nil {
		return fmt.Errorf("%s: %w", dir, pathError(err))
	}
	for _, e := range entries {
		if isHidden(e.Name()) {
			continue
		}
		if err := context.Cause(p.tx.Context()); err != nil {
			return err
		}
		name := path.Join(dir, e.Name())
		wanted, isFile := p.files[name]
		switch {
		case p.tables[name] && e.IsDir():
			err = p.compareFolder(name, before)
		case p.tables[name]:
			p.obstacle(name, "it is "+entryWord(e)+", and a folder must be there")
		case isFile && !e.Type().IsRegular():
			p.obstacle(name, "it is "+entryWord(e)+", and a file must be there")
		case e.IsDir() && p.noted[name]:
			err = p.compareFolder(name, before)
		case e.IsDir():
			p.Others = append(p.Others, name+"/")
		case e.Type().IsRegular() && (isFile || before.lists(name)):
			err = p.compareFile(name, wanted, before)
		case isReadme(e.Name()):
			// It is left alone, as an import leaves it alone.
		default:
			p.Others = append(p.Others, name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// compareFile compares a file that must be there, or that an export wrote, with the plan.
func (p *ExportPlan) compareFile(name string, wanted *exportFile, before exportNote) error {
	sum, err := fileSumOf(p.root, name)
	if err != nil {
		return fmt.Errorf("%s: %w", name, pathError(err))
	}
	switch {
	case wanted != nil && sum == wanted.sum:
		wanted.write = false
		p.ours[name] = sum
		p.Same++
	case !before.lists(name):
		p.obstacle(name, "it was not written by export")
	case !before.wrote(name, sum) && wanted == nil:
		p.obstacle(name, "it was changed since the last export, and its object is gone")
	case !before.wrote(name, sum):
		p.obstacle(name, "it was changed since the last export")
	case wanted == nil:
		p.Removed = append(p.Removed, name)
		p.ours[name] = sum
	default:
		p.Replaced = append(p.Replaced, name)
		p.ours[name] = sum
	}
	return nil
}

// fileSumOf returns the checksum of a file, which it reads piece by piece.
func fileSumOf(root *os.Root, name string) (sum fileSum, err error) {
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return sum, err
	}
	defer f.Close()
	hash := sha256.New()
	_, err = io.Copy(hash, f)
	return fileSum(hash.Sum(nil)), err
}

// Do carries the plan out. If something is in the way, it writes nothing and returns
// ErrInTheWay; but a mirror overwrites that, and removes the others.
//
// A file is written under another name first, so that it appears whole. An interrupted
// export can be run again, because it first notes what it is about to write.
func (p *ExportPlan) Do(mirror bool) error {
	if err := p.do(mirror); err != nil {
		return &objectdb.Error{Op: "export to", Path: p.dir, Err: pathError(err)}
	}
	return nil
}

func (p *ExportPlan) do(mirror bool) error {
	if len(p.InTheWay) > 0 && !mirror {
		return ErrInTheWay
	}
	if err := p.makeFolder(); err != nil {
		return err
	}
	if err := p.clearParts(); err != nil {
		return err
	}
	if err := p.begin(); err != nil {
		return err
	}
	if mirror {
		if err := p.clearWay(); err != nil {
			return err
		}
	}
	for _, f := range p.order {
		if !f.write {
			continue
		}
		if err := p.writeFile(f, mirror); err != nil {
			return fmt.Errorf("%s: %w", f.path, pathError(err))
		}
	}
	for _, name := range p.Removed {
		if err := p.removeFile(name); err != nil {
			return fmt.Errorf("%s: %w", name, pathError(err))
		}
	}
	p.note.Begun = nil
	p.note.Files = make(map[string]string, len(p.order))
	for _, f := range p.order {
		p.note.Files[f.path] = f.sum.String()
	}
	return p.writeNote()
}

func (p *ExportPlan) makeFolder() error {
	if p.root != nil {
		return nil
	}
	err := os.MkdirAll(p.dir, 0o700)
	if err == nil {
		p.root, err = os.OpenRoot(p.dir)
	}
	if err == nil {
		err = p.lockFolder()
	}
	return err
}

// begin notes the present files and the planned ones, so that after an interrupted export
// both count as written by an export.
func (p *ExportPlan) begin() error {
	p.note.Files = make(map[string]string, len(p.ours))
	for name, sum := range p.ours {
		p.note.Files[name] = sum.String()
	}
	p.note.Begun = map[string]string{}
	for _, f := range p.order {
		if f.write {
			p.note.Begun[f.path] = f.sum.String()
		}
	}
	if len(p.note.Begun) == 0 && len(p.Removed) == 0 {
		return nil // finish writes the only note
	}
	return p.writeNote()
}

// clearWay removes for a mirror files in the place of folders, folders in the place of
// files, and the others.
func (p *ExportPlan) clearWay() error {
	for _, o := range p.InTheWay {
		info, err := p.root.Lstat(o.Path)
		if errors.Is(err, fs.ErrNotExist) || o.Path == "." {
			continue
		}
		if err != nil {
			return fmt.Errorf("%s: %w", o.Path, pathError(err))
		}
		if f := p.files[o.Path]; f != nil && info.Mode().IsRegular() {
			continue // writeFile replaces it
		}
		if err := p.removeAll(o.Path); err != nil {
			return err
		}
	}
	for _, name := range p.Others {
		if err := p.removeAll(strings.TrimSuffix(name, "/")); err != nil {
			return err
		}
	}
	return nil
}

// removeAll removes a file, or a folder with everything in it that is neither hidden nor
// README.md. A folder in which something is left stays.
func (p *ExportPlan) removeAll(name string) error {
	info, err := p.root.Lstat(name)
	if err == nil && info.IsDir() {
		var entries []fs.DirEntry
		if entries, err = fs.ReadDir(p.root.FS(), name); err != nil {
			return fmt.Errorf("%s: %w", name, pathError(err))
		}
		for _, e := range entries {
			if !isHidden(e.Name()) && !isReadme(e.Name()) {
				if err := p.removeAll(path.Join(name, e.Name())); err != nil {
					return err
				}
			}
		}
	}
	if err == nil {
		err = p.root.Remove(name)
	}
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTEMPTY) && p.files[name] == nil {
		return nil
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, pathError(err))
	}
	return nil
}

// writeFile writes one file of the plan, after it has checked the present file again.
func (p *ExportPlan) writeFile(f *exportFile, mirror bool) error {
	if err := context.Cause(p.tx.Context()); err != nil {
		return err
	}
	if err := p.unchanged(f.path, mirror); err != nil {
		return err
	}
	content := f.index
	if f.node != nil {
		v, err := p.tx.Value(f.node)
		if err != nil {
			return err
		}
		content = fileOf(f.node.Name(), v).content
	}
	if err := p.root.MkdirAll(path.Dir(f.path), 0o700); err != nil {
		return err
	}
	return p.put(f.path, content)
}

// unchanged returns an error if somebody has written at a path since the plan was made.
func (p *ExportPlan) unchanged(name string, mirror bool) error {
	planned, there := p.ours[name]
	if _, err := p.root.Lstat(name); errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	if !there {
		if mirror && p.blocked[name] {
			return nil
		}
		return fmt.Errorf("%w: it was made meanwhile", ErrInTheWay)
	}
	sum, err := fileSumOf(p.root, name)
	if err == nil && sum != planned {
		err = fmt.Errorf("%w: it was changed meanwhile", ErrInTheWay)
	}
	return err
}

func (p *ExportPlan) removeFile(name string) error {
	err := p.unchanged(name, false)
	if err == nil {
		err = p.root.Remove(name)
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	// Remove the folders of removed tables, unless they hold something else.
	for dir := path.Dir(name); err == nil && !p.tables[dir]; dir = path.Dir(dir) {
		if p.root.Remove(dir) != nil {
			break
		}
	}
	return err
}

// Files that export makes are as secret as the root. A file that it replaces keeps its mode.
const (
	partPrefix = ".scripter-export-"
	partSuffix = ".part"
)

// put writes a file so that it appears whole or not at all.
func (p *ExportPlan) put(name string, content []byte) error {
	part := partPrefix + rand.Text() + partSuffix
	f, err := p.root.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if info, lerr := p.root.Lstat(name); err == nil && lerr == nil && info.Mode().IsRegular() {
		err = f.Chmod(info.Mode().Perm())
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = p.root.Rename(part, name)
	}
	if err != nil {
		p.root.Remove(part)
	}
	return err
}

// clearParts removes the unfinished files of interrupted exports.
func (p *ExportPlan) clearParts() error {
	entries, err := fs.ReadDir(p.root.FS(), ".")
	if err != nil {
		return err
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), partPrefix) && strings.HasSuffix(e.Name(), partSuffix) && e.Type().IsRegular() {
			if err := p.root.Remove(e.Name()); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *ExportPlan) writeNote() error {
	content := p.note.encode()
	if there, err := p.root.ReadFile(exportNoteFile); err == nil && string(there) == string(content) {
		return nil
	}
	if err := p.put(exportNoteFile, content); err != nil {
		return fmt.Errorf("%s: %w", exportNoteFile, pathError(err))
	}
	return nil
}

// Close closes the folder of the plan and unlocks it.
func (p *ExportPlan) Close() {
	if p.lock != nil {
		p.lock.Close()
	}
	if p.root != nil {
		p.root.Close()
	}
}
