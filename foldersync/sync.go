package foldersync

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"scripter/objectdb"
	"scripter/objectfiles"
	"scripter/rootname"
)

// Errors that a caller can act on.
var (
	// ErrGone says that the folder has vanished since Open.
	ErrGone = errors.New("the folder has vanished")
	// ErrGitLocked says that git has been writing the folder for a long time.
	ErrGitLocked = errors.New("git is writing this folder, or was killed; if no git is running, remove this file")
	// ErrOtherRoot says that the folder was synced with another root.
	ErrOtherRoot = errors.New("the folder was synced with another root")
	// ErrOtherAddress says that the folder was synced with another table.
	ErrOtherAddress = errors.New("the folder was synced with another table")
	// ErrNothingToTake says that Round.Paths names nothing on which folder and root differ.
	ErrNothingToTake = errors.New("folder and root do not differ there")
)

// DeletionError says that a sync would delete too many objects on one side.
type DeletionError struct {
	Count, All int
	Side       Side // on which the objects are gone
}

func (e *DeletionError) Error() string {
	side, other := "the folder", "the root"
	if e.Side == FromRoot {
		side, other = other, side
	}
	return fmt.Sprintf("%d of %d objects are gone in %s; they are not deleted in %s, and nothing is synced",
		e.Count, e.All, side, other)
}

// errAgain says that a side was changed while it was read.
var errAgain = errors.New("folder or root were changed meanwhile")

// Side says from which side an object is taken.
type Side string

// The sides.
const (
	FromFiles Side = "files"
	FromRoot  Side = "root"
	FromBoth  Side = "both" // a merge
)

// Options say what Open synchronizes, and how.
type Options struct {
	DB     *objectdb.DB
	Dir    string
	Origin objectdb.Origin // the origin of the commits; Path is set to what git has checked out
	// Address is the table. If it is nil, it is the table of the last sync, or the whole root before
	// the first sync.
	Address objectdb.Address
	// Check returns an error for a script that must not be taken; nil takes all.
	Check func(tx *objectdb.Tx, a objectdb.Address, s objectdb.Script) error
}

// Round says how to do one sync.
type Round struct {
	Take        Side     // the side that is taken for Paths where both sides differ
	Paths       []string // files and folders, relative to the folder, with "/"
	AllowDelete bool     // delete any number of objects
	Force       bool     // take scripts that Check refuses
}

// Result says what a sync has done.
type Result struct {
	Taken     []Taken
	Conflicts []Conflict
	Problems  []Problem // files that cannot be taken
	Skipped   []Problem // files that are not objects
}

// Empty reports whether nothing was done and there is nothing to report.
func (r *Result) Empty() bool {
	return len(r.Taken)+len(r.Conflicts)+len(r.Problems)+len(r.Skipped) == 0
}

// Taken is an object that was taken from one side to the other.
type Taken struct {
	Path    string // the path of the file
	Address objectdb.Address
	From    Side
	Change  string // added, changed, renamed, removed, merged
}

// Conflict is an object that both sides have changed. Neither was written.
type Conflict struct {
	Path    string
	Address objectdb.Address
	Why     string
	Other   string // the file with the root's text, relative to the folder, or "" if there is none
}

// Problem is a file that cannot be taken.
type Problem struct{ Path, Why string }

// Folder is a folder that is synchronized with a table of a root.
type Folder struct {
	options Options
	name    string // the folder, absolute
	dir     *os.Root
	info    fs.FileInfo
	begins  bool // no round has ended yet

	base     *base
	baseStat fileStat // the state of the file of the base when it was read or written

	ignoreText string
	ignore     *ignoreRules
	tree       *objectdb.Derived[*tree]
	lastTree   *tree // the tree as the last round read it
	folders    []string
}

// Open opens the folder, and makes it if it does not exist.
func Open(o Options) (*Folder, error) {
	name, err := filepath.Abs(o.Dir)
	if err != nil {
		return nil, err
	}
	if err := os.Mkdir(name, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	dir, err := os.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	f := &Folder{options: o, name: name, dir: dir, begins: true}
	if f.info, err = dir.Stat("."); err == nil {
		err = f.readBase()
	}
	if err == nil {
		err = f.checkAddress()
	}
	if err != nil {
		dir.Close()
		return nil, fmt.Errorf("sync %s: %w", o.Dir, err)
	}
	return f, nil
}

// Close closes the folder.
func (f *Folder) Close() error { return f.dir.Close() }

// Name returns the folder as Options.Dir names it.
func (f *Folder) Name() string { return f.options.Dir }

// Address returns the table that the folder is synced with.
func (f *Folder) Address() objectdb.Address { return f.options.Address }

func (f *Folder) checkAddress() error {
	if f.base.Form == 0 {
		if f.options.Address == nil {
			f.options.Address = objectdb.Address{}
		}
		return nil
	}
	a, err := objectdb.ParseAddress(f.base.Address)
	if f.base.Address == "" {
		a, err = objectdb.Address{}, nil
	}
	if err != nil {
		return fmt.Errorf("%s: %w", baseFile, err)
	}
	if f.options.Address == nil {
		f.options.Address = a
	}
	if keyOf(a) != keyOf(f.options.Address) {
		return fmt.Errorf("%w: %s", ErrOtherAddress, nameOf(a))
	}
	return nil
}

func keyOf(a objectdb.Address) string {
	key := ""
	for _, name := range a {
		key = childKey(key, name)
	}
	return key
}

func nameOf(a objectdb.Address) string {
	if len(a) == 0 {
		return "the whole root"
	}
	return a.String()
}

// readBase reads the base, unless it is already in memory.
func (f *Folder) readBase() error {
	info, err := f.dir.Stat(baseFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	var stat fileStat
	if err == nil {
		stat = statOf(info)
	}
	if f.base != nil && stat == f.baseStat {
		return nil
	}
	f.base, err = readBase(f.dir)
	f.baseStat = stat
	return err
}

// maxTries is how often Sync begins again because somebody changes what it reads.
const maxTries = 20

// Sync compares folder and root, and makes them the same.
func (f *Folder) Sync(ctx context.Context, r Round) (*Result, error) {
	all := &Result{}
	for try := range maxTries {
		if try > 0 {
			if err := sleep(ctx, time.Duration(try)*5*time.Millisecond); err != nil {
				return all, err
			}
		}
		again, err := f.round(ctx, r, all)
		if errors.Is(err, errAgain) {
			continue
		}
		if err != nil {
			return all, fmt.Errorf("sync %s: %w", f.options.Dir, err)
		}
		if !again {
			return all, nil
		}
		r.Take, r.Paths = "", nil
	}
	return all, fmt.Errorf("sync %s: %w; try again later", f.options.Dir, errAgain)
}

// round does one sync, and adds what it does to the result. It reports whether another round
// must follow.
func (f *Folder) round(ctx context.Context, r Round, all *Result) (again bool, err error) {
	if info, err := os.Stat(f.name); err != nil || !os.SameFile(info, f.info) {
		return false, ErrGone
	}
	if err := openState(f.dir); err != nil {
		return false, err
	}
	unlock, err := lockFolder(f.dir, 10*time.Second)
	if err != nil {
		return false, err
	}
	defer unlock()
	if err := f.readBase(); err != nil {
		return false, err
	}
	if err := f.readIgnore(); err != nil {
		return false, err
	}
	begun, err := readBegun(f.dir, f.base)
	if err != nil {
		return false, err
	}
	var rescued []Problem
	if rescued, err = f.finish(begun); err != nil {
		return false, err
	}
	repo := findRepository(f.name)
	scan, err := f.scanQuiet(ctx, repo)
	if err != nil {
		return false, err
	}
	f.folders = scan.folders
	p := &plan{Folder: f, round: r, scan: scan, base: f.base, items: map[string]*item{}, result: all}
	err = f.options.DB.View(ctx, func(tx *objectdb.Tx) (err error) {
		p.tx = tx
		if p.state, err = f.rootState(tx); err != nil {
			return err
		}
		if err := p.gather(); err != nil {
			return err
		}
		if begun != nil {
			if err := p.recover(begun); err != nil {
				return err
			}
			if err := p.saveRecovered(); err != nil {
				return err
			}
		}
		if err := p.findTaken(); err != nil {
			return err
		}
		return p.decide()
	})
	if err != nil {
		return false, err
	}
	all.Problems = rescued
	return p.carryOut(ctx, repo.head())
}

// readIgnore reads the ignore file.
func (f *Folder) readIgnore() error {
	text, _, err := readFile(f.dir, ignoreFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: %w", ignoreFile, pathError(err))
	}
	if f.ignore != nil && text == f.ignoreText {
		return nil
	}
	above := ""
	for _, name := range f.options.Address {
		above = path.Join(above, objectfiles.FileOf(name, nil).Name)
	}
	rules := newIgnoreRules(above, text)
	f.ignore, f.ignoreText = rules, text
	f.tree = objectdb.NewDerived(func(tx *objectdb.Tx) (*tree, error) {
		return readTree(tx, f.options.Address, rules)
	})
	return nil
}

// longWrite is how long a scan waits for programs that write all the time.
const longWrite = 3 * time.Second

// scanQuiet scans the folder while neither git nor an editor is writing in it.
func (f *Folder) scanQuiet(ctx context.Context, repo *repository) (*scan, error) {
	for end := time.Now().Add(longWrite); ; {
		if err := repo.wait(ctx); err != nil {
			return nil, err
		}
		before := repo.state()
		s, err := scanFolder(f.dir, f.ignore, f.base, time.Now().After(end))
		if err != nil {
			return nil, err
		}
		locked := repo.locked()
		if s.wait == 0 && !locked && repo.state() == before {
			return s, nil
		}
		if s.late && !locked {
			return s, nil
		}
		if err := sleep(ctx, s.wait); err != nil {
			return nil, err
		}
	}
}

// rootState returns the state of the root that a transaction sees.
func (f *Folder) rootState(tx *objectdb.Tx) (rootState, error) {
	state := rootState{Created: tx.Root().Created().UnixNano(), Generation: tx.Generation()}
	if path := f.options.DB.Path(); !rootname.IsURL(path) {
		file, err := os.Stat(path)
		if err != nil {
			return state, err
		}
		state.Inode = statOf(file).Inode
	}
	if f.base.Form != 0 && state.Created != f.base.Root.Created {
		return state, ErrOtherRoot
	}
	return state, nil
}

// trusts reports whether the ids and versions in the base are those of this root. They are not if
// the root was replaced by a copy.
func (p *plan) trusts() bool {
	return p.state.Inode == p.base.Root.Inode && p.state.Generation >= p.base.Root.Generation
}

// gather fills items from base, folder and root.
func (p *plan) gather() error {
	get := func(key string) *item {
		it := p.items[key]
		if it == nil {
			it = &item{key: key}
			p.items[key] = it
		}
		return it
	}
	hidden := map[string]bool{} // keys of the base that are ignored now
	for _, key := range sortedKeys(p.base.items) {
		b := p.base.items[key]
		if hidden[parentKey(key)] || p.ignore.ignores(b.Path, b.isTable()) {
			hidden[key] = true
			continue
		}
		get(key).base = b
	}
	for key, f := range p.scan.items {
		get(key).file = f
	}
	if err := p.gatherRoot(get); err != nil {
		return err
	}
	for key := range p.scan.dropped {
		delete(p.items, key)
	}
	p.keys = sortedKeys(p.items)
	return nil
}

// gatherRoot reads the objects of the root that were changed since the base.
func (p *plan) gatherRoot(get func(key string) *item) error {
	if p.base.Whole && p.state == p.base.Root && p.ignoreText == p.base.Ignore {
		for key, b := range p.base.items { // no commit was made since the last sync
			if it := p.items[key]; it != nil {
				it.root = &rootItem{object: b.object, key: key, id: b.ID, version: b.Version,
					fileName: path.Base(b.Path), ignoredInside: b.Hidden}
			}
		}
		return nil
	}
	t, err := p.tree.Get(p.tx)
	if err != nil {
		return err
	}
	p.lastTree = t
	p.newTable = !t.table
	if p.newTable && p.base.Form == 0 && len(p.options.Address) > 1 {
		if _, err := p.tx.Find(p.options.Address[:len(p.options.Address)-1]); err != nil {
			return err
		}
	}
	trusted := p.trusts()
	for key, shared := range t.items {
		r := *shared
		it := get(key)
		it.root = &r
		if r.isTable() {
			continue
		}
		if b := it.base; b != nil && trusted && b.ID == r.id && b.Version == r.version && b.Sum != unknownSum {
			it.root.Sum = b.Sum
			continue
		}
		v, err := p.tx.Get(addressOf(p.options.Address, key, func(key string) string { return t.items[key].Name }))
		if err != nil {
			return err
		}
		if isPasswordHash(v) && p.ignore.decide(p.pathOf(it), false) != included {
			p.scan.dropped[key] = true
			continue
		}
		it.root.Sum = sumOf(v)
	}
	return nil
}

// taken reports whether Round.Take decides for an object.
func (p *plan) taken(key string) bool {
	for ; key != ""; key = parentKey(key) {
		if p.takenKeys[key] {
			return true
		}
	}
	return false
}

// findTaken finds the objects of Round.Paths.
func (p *plan) findTaken() error {
	p.takenKeys = map[string]bool{}
	for _, name := range p.round.Paths {
		differ := false
		for _, it := range p.items {
			of := p.pathOf(it)
			if of != name && name != "." && !strings.HasPrefix(of, name+"/") {
				continue
			}
			p.takenKeys[it.key] = true
			differ = differ || it.inFiles() != it.inRoot()
		}
		if !differ {
			return fmt.Errorf("%s: %w", name, ErrNothingToTake)
		}
	}
	return nil
}

// canonicalPath returns the path that export gives to an object of the root, or the folder of a
// table.
func (p *plan) canonicalPath(it *item) string {
	dir := "."
	if above := p.items[parentKey(it.key)]; above != nil {
		dir = p.pathOf(above)
	}
	if it.root == nil {
		return "" // the object no longer exists
	}
	return path.Join(dir, it.root.fileName)
}

func (r *repository) locked() bool {
	if r == nil {
		return false
	}
	_, err := os.Lstat(filepath.Join(r.dir, "index.lock"))
	return err == nil
}
