package foldersync

import (
	"errors"
	"fmt"
	"os"

	"scripter/objectdb"
	"scripter/objectfiles"
	"scripter/textdiff"
)

// item is one object: what both sides have, and what is decided.
type item struct {
	key  string
	base *baseItem // nil if the base does not have it
	file *fileItem // nil if there is no file
	root *rootItem // nil if there is no object

	want     object
	value    objectdb.Value // of a merge
	merged   bool
	undecide string // why nothing is decided, or "" if want is decided
	conflict bool   // undecide is a conflict
	quiet    bool   // undecide follows from another object, and is not reported
	hides    bool   // undecide is that the root has objects in it that are not synced
	frozen   bool   // it lies in a table that is in conflict
}

func (it *item) inFiles() object {
	if it.file == nil {
		return object{}
	}
	return it.file.object
}

func (it *item) inRoot() object {
	if it.root == nil {
		return object{}
	}
	return it.root.object
}

func (it *item) decided() bool { return it.undecide == "" }
func (it *item) toRoot() bool  { return it.decided() && it.want != it.inRoot() }
func (it *item) toFiles() bool { return it.decided() && it.want != it.inFiles() }

// suspend leaves an object as it is on both sides.
func (it *item) suspend(why string, conflict bool) {
	it.undecide, it.conflict, it.merged, it.value = why, conflict, false, nil
}

// plan is what a sync will do.
type plan struct {
	*Folder
	round Round
	tx    *objectdb.Tx
	scan  *scan
	base  *base
	items map[string]*item
	keys  []string // sorted: each table before what is in it

	state     rootState // before the tree was read
	newTable  bool      // the synced table does not exist
	takenKeys map[string]bool
	result    *Result

	objectFiles map[string]bool   // the paths of all files and folders of objects
	dirs        map[string]string // the present folders of the tables
	numbers     map[string]int    // the numbers of the items in begunFile, by key
	progress    *os.File
	newer       bool // somebody has changed a file or an object meanwhile
}

// decide decides what each object becomes.
func (p *plan) decide() error {
	for _, key := range p.keys {
		it := p.items[key]
		if err := p.decideItem(it); err != nil {
			return err
		}
		if err := p.check(it); err != nil {
			return err
		}
	}
	p.keepTables()
	return p.checkDeletions()
}

func (p *plan) decideItem(it *item) error {
	if why := p.scan.reason(it.key); why != "" {
		it.suspend(why, false)
		return nil
	}
	base, file, root := it.base.of(), it.inFiles(), it.inRoot()
	switch {
	case file == root:
		it.want = file
	case p.taken(it.key) && p.round.Take == FromFiles:
		it.want = file
	case p.taken(it.key):
		it.want = root
	case file == base:
		it.want = root
	case root == base:
		it.want = file
	case !file.exists():
		it.suspend("its file is gone, and the root has changed it", true)
	case !root.exists():
		it.suspend("the root has deleted it, and its file was changed", true)
	default:
		return p.merge(it, base, file, root)
	}
	if it.want == (object{}) && it.root != nil && it.root.ignoredInside {
		it.suspend("it holds objects that are not synced", false)
		it.quiet, it.hides = true, true
	}
	return nil
}

// merge decides for an object that both sides have changed, or that is on both sides without
// a base. It decides for the name and for the content separately. If both sides have changed the
// case of the name, the name of the file is taken.
func (p *plan) merge(it *item, base, file, root object) error {
	it.want.Name = file.Name
	if file.Name == base.Name {
		it.want.Name = root.Name
	}
	switch {
	case file.Sum == root.Sum, root.Sum == base.Sum:
		it.want.Sum = file.Sum
	case file.Sum == base.Sum:
		it.want.Sum = root.Sum
	case file.isTable() || root.isTable():
		it.suspend("a table on one side is a value on the other", true)
	case !base.exists():
		it.suspend("folder and root have it with different content", true)
	default:
		return p.mergeText(it, base)
	}
	return nil
}

// mergeText merges the texts of an object by line.
func (p *plan) mergeText(it *item, base object) error {
	it.suspend("both sides have changed it", true)
	if base.kind() != it.file.kind() || base.kind() != it.root.object.kind() {
		return nil
	}
	before, ok := keptText(p.dir, base.Sum)
	if !ok {
		return nil
	}
	ours, err := p.fileValue(it)
	if err != nil {
		return err
	}
	theirs, err := p.rootValue(it)
	if err != nil {
		return err
	}
	ourFile, theirFile := objectfiles.FileOf(it.file.Name, ours), objectfiles.FileOf(it.root.Name, theirs)
	if ourFile.Entry.Kind != theirFile.Entry.Kind {
		return nil
	}
	merged, clean := textdiff.Merge(before, string(ourFile.Content), string(theirFile.Content))
	if !clean {
		it.undecide = "both sides have changed the same lines"
		return nil
	}
	_, suffix, err := objectfiles.NameOf(ourFile.Name, false, ourFile.Entry)
	if err != nil {
		return nil
	}
	v, err := objectfiles.DecodeValue(suffix, ourFile.Entry, merged)
	if err == nil && v.Kind() != ours.Kind() {
		err = errors.New("it would be of another kind")
	}
	if err == nil {
		if s, isScript := v.(objectdb.Script); isScript && p.options.Check != nil {
			err = p.options.Check(p.tx, p.address(it.key), s)
		}
	}
	if err != nil {
		it.undecide = fmt.Sprintf("both sides have changed it, and the merged text is wrong: %v", err)
		return nil
	}
	// The text of the file is kept, because it may be that only the root can be written.
	if err := keepText(p.dir, it.file.Sum, string(ourFile.Content)); err != nil {
		return err
	}
	it.undecide, it.conflict, it.merged, it.value = "", false, true, v
	it.want.Sum = sumOf(v)
	return keepText(p.dir, it.want.Sum, string(objectfiles.FileOf(it.want.Name, v).Content))
}

// check refuses a script from the files that does not compile.
func (p *plan) check(it *item) error {
	if !it.toRoot() || it.merged || it.file == nil || it.want.Sum == it.inRoot().Sum ||
		it.want.kind() != objectdb.KindScript.String() || p.options.Check == nil || p.round.Force {
		return nil
	}
	v, err := p.fileValue(it)
	if err != nil {
		return err
	}
	if err := p.options.Check(p.tx, p.address(it.key), v.(objectdb.Script)); err != nil {
		it.suspend(err.Error(), false)
	}
	return nil
}

// keepTables decides again for tables whose objects stay.
func (p *plan) keepTables() {
	const (
		nothing = iota
		stays   // an object in it is left as it is
		wanted  // an object in it is to exist
	)
	inside := map[string]int{}
	for i := len(p.keys) - 1; i >= 0; i-- {
		it := p.items[p.keys[i]]
		if it.hides && inside[it.key] == wanted {
			it.want, it.undecide, it.quiet = it.inRoot(), "", false
		}
		if it.decided() && !it.want.isTable() && inside[it.key] > nothing {
			switch {
			case it.want.exists():
				it.suspend("a table on one side is a value on the other", true)
			case inside[it.key] == stays:
				it.suspend("something in it is left as it is", false)
				it.quiet = true
			default:
				it.want = it.inRoot()
				if !it.want.isTable() {
					it.want = it.inFiles()
				}
			}
		}
		parent := parentKey(it.key)
		switch {
		case !it.decided():
			inside[parent] = max(inside[parent], stays)
		case it.want.exists():
			inside[parent] = wanted
		}
	}
	for _, key := range p.keys {
		it := p.items[key]
		above := p.items[parentKey(key)]
		if above == nil {
			continue
		}
		it.frozen = above.frozen || above.conflict
		homeless := !above.decided() && it.want.exists() &&
			(it.toRoot() && !above.inRoot().isTable() || it.toFiles() && !above.inFiles().isTable())
		if it.decided() && (homeless || it.frozen && it.inFiles() != it.inRoot()) {
			it.suspend("its table is left as it is", false)
			it.quiet = true
		}
	}
}

// maxDeletions and maxShare limit how many objects a sync deletes without AllowDelete. One object
// may always be deleted, because in a small folder it is more than the share.
const (
	maxDeletions = 50
	maxShare     = 5 // one of so many
)

// checkDeletions refuses to delete much on one side. An object that was moved does not count.
func (p *plan) checkDeletions() error {
	if p.round.AllowDelete {
		return nil
	}
	var fromRoot, fromFiles int
	newInRoot, newInFiles := map[string]int{}, map[string]int{}
	for _, it := range p.items {
		if it.toRoot() && it.root == nil {
			newInRoot[it.want.Sum]++
		}
		if it.toFiles() && it.file == nil {
			newInFiles[it.want.Sum]++
		}
	}
	for _, it := range p.items {
		if it.want.exists() {
			continue
		}
		if it.toRoot() {
			if newInRoot[it.inRoot().Sum]--; newInRoot[it.inRoot().Sum] < 0 {
				fromRoot++
			}
		}
		if it.toFiles() {
			if newInFiles[it.inFiles().Sum]--; newInFiles[it.inFiles().Sum] < 0 {
				fromFiles++
			}
		}
	}
	all := len(p.base.items)
	much := func(n int) bool { return n > maxDeletions || n > 1 && n*maxShare > all }
	switch {
	case much(fromRoot):
		return &DeletionError{Count: fromRoot, All: all, Side: FromFiles}
	case much(fromFiles):
		return &DeletionError{Count: fromFiles, All: all, Side: FromRoot}
	}
	return nil
}

// fileValue reads the value of the file of an item. The error is errAgain if the file has changed
// since the scan.
func (p *plan) fileValue(it *item) (objectdb.Value, error) {
	v, stat, err := p.scan.value(it.file)
	if err != nil || !stat.same(it.file.stat) || sumOf(v) != it.file.Sum {
		return nil, errAgain
	}
	return v, nil
}

// rootValue returns the value of the object of an item.
func (p *plan) rootValue(it *item) (objectdb.Value, error) {
	return p.tx.Get(p.rootAddress(it.key))
}

// address returns the address that an object has, or will have.
func (p *plan) address(key string) objectdb.Address {
	return addressOf(p.options.Address, key, func(key string) string {
		it := p.items[key]
		if it.decided() && it.want.exists() {
			return it.want.Name
		}
		if it.root != nil {
			return it.root.Name
		}
		return it.inFiles().Name
	})
}

// rootAddress returns the address that an object of the root has.
func (p *plan) rootAddress(key string) objectdb.Address {
	return addressOf(p.options.Address, key, func(key string) string { return p.items[key].inRoot().Name })
}

// pathOf returns the path of the file of an object, or the path that it had.
func (p *plan) pathOf(it *item) string {
	switch {
	case it.file != nil:
		return it.file.path
	case it.base != nil:
		return it.base.Path
	}
	return p.canonicalPath(it)
}
