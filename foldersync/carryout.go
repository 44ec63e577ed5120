package foldersync

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"syscall"

	"scripter/objectdb"
	"scripter/objectfiles"
)

// outcome says what a sync has done with an item.
type outcome struct {
	newer   bool // a side was changed meanwhile, so the item is not done
	path    string
	entry   objectfiles.IndexEntry
	stat    fileStat
	id      int64
	version int64
}

// carryOut carries out the plan, and reports whether another round must follow. head says what git has checked out.
func (p *plan) carryOut(ctx context.Context, head string) (again bool, err error) {
	ctx = context.WithoutCancel(ctx) // a plan is carried out completely
	writes := false
	for _, key := range p.keys {
		it := p.items[key]
		writes = writes || it.toRoot() || it.toFiles()
	}
	if writes {
		if err := p.writeBegun(head); err != nil {
			return false, err
		}
		defer p.progress.Close()
		if err := p.applyToRoot(ctx, head); err != nil {
			return false, err
		}
	}
	done := make(map[string]*outcome, len(p.keys))
	err = p.options.DB.View(ctx, func(tx *objectdb.Tx) error {
		p.tx = tx
		return p.applyToFiles(done)
	})
	p.reportTaken(done)
	if err != nil {
		return false, err
	}
	if err := p.writeConflicts(ctx); err != nil {
		return false, err
	}
	if err := p.writeBase(done, writes); err != nil {
		return false, err
	}
	p.begins = false
	p.report()
	return p.newer, nil
}

// writeBegun writes what the sync is about to do.
func (p *plan) writeBegun(head string) error {
	if err := p.dir.Remove(progressFile); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	g := begun{Form: baseForm, Number: p.base.Number, Origin: p.origin(head), Generation: p.state.Generation}
	p.numbers = map[string]int{}
	for _, key := range p.keys {
		it := p.items[key]
		if !it.toRoot() && !it.toFiles() {
			continue
		}
		b := begunItem{Key: key, Want: it.want, ToRoot: it.toRoot(), ToFiles: it.toFiles(),
			File: it.inFiles(), Root: it.inRoot()}
		if it.file != nil {
			b.FilePath, b.Stat = it.file.path, it.file.stat
		}
		if it.root != nil {
			b.ID, b.Version = it.root.id, it.root.version
		}
		b.WantPath = p.pathOf(it)
		if it.toFiles() && it.root != nil && !it.want.isTable() {
			b.WantPath = path.Join(path.Dir(b.WantPath), it.root.fileName)
		}
		p.numbers[key] = len(g.Items)
		g.Items = append(g.Items, b)
	}
	content, err := json.Marshal(g)
	if err != nil {
		return err
	}
	if err := writeState(p.dir, begunFile, content); err != nil {
		return err
	}
	p.progress, err = p.dir.OpenFile(progressFile, os.O_WRONLY|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o600)
	return err
}

// note records in the progress file that the file of an item is about to be written, or was written.
func (p *plan) note(what byte, it *item) error {
	_, err := fmt.Fprintf(p.progress, "%c %d\n", what, p.numbers[it.key])
	return err
}

// origin returns the origin of a change. head says what git has checked out.
func (p *plan) origin(head string) objectdb.Origin {
	o := p.options.Origin
	if head != "" {
		o.Path = "git " + head
	}
	return o
}

// applyToRoot changes the root in one transaction, if there is something to change.
func (p *plan) applyToRoot(ctx context.Context, head string) error {
	if !slices.ContainsFunc(p.keys, func(key string) bool { return p.items[key].toRoot() }) {
		return nil
	}
	return p.options.DB.Update(ctx, func(tx *objectdb.Tx) error {
		tx.Origin = p.origin(head)
		if err := tx.NewTable(p.options.Address); err != nil && len(p.options.Address) > 0 {
			return err
		}
		for i := len(p.keys) - 1; i >= 0; i-- { // the objects in a table before the table
			it := p.items[p.keys[i]]
			if it.toRoot() && it.root != nil && (!it.want.exists() || it.want.isTable() != it.root.isTable()) {
				if err := p.removeFromRoot(tx, it); err != nil {
					return err
				}
			}
		}
		for _, key := range p.keys {
			if it := p.items[key]; it.toRoot() && it.want.exists() {
				if err := p.putInRoot(tx, it); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// findInRoot returns the object of an item. The error is errAgain if the object was changed after
// the sync decided.
func (p *plan) findInRoot(tx *objectdb.Tx, it *item) (*objectdb.Node, error) {
	n, err := tx.Find(p.rootAddress(it.key))
	if errors.Is(err, objectdb.ErrNotFound) {
		return nil, errAgain
	}
	if err == nil && (n.ID() != it.root.id || !it.root.isTable() && n.Version() != it.root.version) {
		return nil, errAgain
	}
	return n, err
}

func (p *plan) removeFromRoot(tx *objectdb.Tx, it *item) error {
	n, err := p.findInRoot(tx, it)
	if err != nil {
		return err
	}
	if it.root.isTable() {
		if count, err := tx.Len(n); err != nil {
			return err
		} else if count > 0 {
			return errAgain
		}
	}
	return tx.Delete(p.rootAddress(it.key))
}

func (p *plan) putInRoot(tx *objectdb.Tx, it *item) error {
	a := p.address(it.key)
	if it.root != nil && it.root.isTable() == it.want.isTable() {
		n, err := p.findInRoot(tx, it)
		if err != nil {
			return err
		}
		if n.Name() != it.want.Name {
			if err := tx.Move(a, a); err != nil {
				return err
			}
		}
		if it.want.Sum == it.root.Sum {
			return nil
		}
	} else if _, err := tx.Find(a); err == nil {
		return errAgain
	} else if !errors.Is(err, objectdb.ErrNotFound) {
		return err
	}
	if it.want.isTable() {
		return tx.NewTable(a)
	}
	v := it.value
	var again func() (objectdb.Value, error)
	if v == nil {
		var err error
		if v, err = p.fileValue(it); err != nil {
			return err
		}
		again = func() (objectdb.Value, error) { return p.fileValue(it) }
	}
	t, err := tx.Find(a.Parent())
	if err != nil {
		return err
	}
	return tx.SetLater(t, a.Name(), v, again)
}

// applyToFiles changes the files, and finds the ids and versions of the objects changed in the root.
func (p *plan) applyToFiles(done map[string]*outcome) error {
	p.dirs = map[string]string{"": "."}
	writes := 0
	for _, key := range p.keys {
		it := p.items[key]
		o := &outcome{path: p.presentPath(it)}
		done[key] = o
		if it.file != nil {
			o.entry, o.stat = it.file.entry, it.file.stat
		}
		if it.root != nil && !it.toRoot() {
			if o.id = it.root.id; !it.root.isTable() {
				o.version = it.root.version
			}
		}
		if it.toFiles() {
			writes++
		}
		if it.inFiles().isTable() {
			p.dirs[key] = o.path
		}
		if it.decided() && it.want.isTable() {
			if err := p.placeFolder(it, o); err != nil {
				return err
			}
		}
	}
	for i := len(p.keys) - 1; i >= 0; i-- {
		it := p.items[p.keys[i]]
		if it.toFiles() && it.file != nil && (!it.want.exists() || it.want.isTable() != it.file.isTable()) {
			if err := p.written(it, done[it.key], func() error { return p.removeFromFiles(it) }); err != nil {
				return fmt.Errorf("%s: %w", it.file.path, pathError(err))
			}
		}
	}
	for _, key := range p.keys {
		it, o := p.items[key], done[key]
		if it.toFiles() && it.want.exists() && !o.newer {
			if err := p.written(it, o, func() error { return p.putInFiles(it, o, writes <= flushEach) }); err != nil {
				return fmt.Errorf("%s: %w", o.path, pathError(err))
			}
		}
		if err := p.keep(it, o); err != nil {
			return err
		}
	}
	if writes > flushEach {
		syscall.Sync()
	}
	return p.writeIndexes(done)
}

// written writes a file or a folder, and records the progress.
func (p *plan) written(it *item, o *outcome, write func() error) error {
	if err := p.note(progressBegun, it); err != nil {
		return err
	}
	err := write()
	if err == nil && (it.file == nil || !it.want.exists() || it.want.isTable() == it.file.isTable()) {
		err = p.note(progressDone, it) // otherwise two steps follow: remove and make
	}
	return p.done(o, err)
}

// done records errNewer in an outcome. Another round then follows.
func (p *plan) done(o *outcome, err error) error {
	if errors.Is(err, errNewer) || errors.Is(err, errAgain) {
		o.newer, p.newer = true, true
		return nil
	}
	return err
}

// placeFolder finds the path of the folder of a table, and renames the folder if the case of
// the name was changed.
func (p *plan) placeFolder(it *item, o *outcome) error {
	name := objectfiles.FileOf(it.want.Name, nil).Name
	parent := p.dirs[parentKey(it.key)]
	if it.file == nil || !it.file.isTable() {
		o.path = path.Join(parent, name)
	} else if it.toFiles() {
		to := path.Join(parent, name)
		if _, err := p.dir.Lstat(to); err == nil && !sameFile(p.dir, to, o.path) {
			return p.done(o, errNewer)
		}
		if err := p.note(progressBegun, it); err != nil {
			return err
		}
		if err := p.dir.Rename(o.path, to); err != nil {
			return p.done(o, errNewer)
		}
		o.path = to
	}
	p.dirs[it.key] = o.path
	return nil
}

// sameFile reports whether two names lead to the same file: a file system may ignore case.
func sameFile(root *os.Root, a, b string) bool {
	first, err1 := root.Lstat(a)
	second, err2 := root.Lstat(b)
	return err1 == nil && err2 == nil && os.SameFile(first, second)
}

func (p *plan) removeFromFiles(it *item) error {
	if it.file.isTable() {
		return p.removeFolder(it)
	}
	return p.removeFile(p.presentPath(it), it.file.stat)
}

func (p *plan) putInFiles(it *item, o *outcome, flush bool) error {
	if it.want.isTable() {
		if it.file != nil && it.file.isTable() {
			return nil // it was renamed
		}
		err := p.dir.MkdirAll(o.path, 0o700)
		if errors.Is(err, syscall.ENOTDIR) || errors.Is(err, fs.ErrExist) {
			return errNewer
		}
		return err
	}
	v := it.value
	if v == nil {
		var err error
		if v, err = p.tx.Get(p.address(it.key)); errors.Is(err, objectdb.ErrNotFound) || errors.Is(err, objectdb.ErrIsTable) {
			return errAgain
		} else if err != nil {
			return err
		}
		if sumOf(v) != it.want.Sum {
			return errAgain
		}
	}
	to, file := p.targetFile(it, v)
	old, stat := "", fileStat{}
	if it.file != nil {
		stat = it.file.stat
		if old = p.presentPath(it); it.file.isTable() {
			old = "" // it was removed
		}
	}
	if file.Entry != o.entry && file.Entry != (objectfiles.IndexEntry{}) {
		if err := p.noteEntry(path.Dir(to), path.Base(to), file.Entry); err != nil {
			return err
		}
	}
	if old != "" && old != to && path.Ext(old) == path.Ext(to) { // the case of the name was changed
		if _, err := p.dir.Lstat(to); err == nil && !sameFile(p.dir, old, to) {
			return errNewer
		}
		info, err := p.dir.Lstat(old)
		if err != nil || !statOf(info).same(stat) {
			return errNewer
		}
		if err := p.dir.Rename(old, to); err != nil {
			return err
		}
		if info, err = p.dir.Lstat(to); err != nil || !statOf(info).sameContent(stat) {
			return errNewer
		}
		old, stat = to, statOf(info)
		o.path, o.stat = to, stat
		o.stat.Fresh = true
	}
	if it.want.Sum == it.inFiles().Sum {
		o.entry = file.Entry
		return nil
	}
	written, err := p.putFile(to, old, stat, file.Content, flush)
	if err != nil {
		return err
	}
	o.path, o.entry, o.stat = to, file.Entry, written
	o.stat.Fresh = true
	return nil
}

// noteEntry adds the entry of a file that is about to be written to the index of its folder.
func (p *plan) noteEntry(dir, name string, entry objectfiles.IndexEntry) error {
	file := path.Join(dir, objectfiles.IndexFile)
	x := objectfiles.NewIndex(dir == ".")
	content, _, err := readFile(p.dir, file)
	if err == nil {
		x, err = objectfiles.DecodeIndex([]byte(content))
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	x[name] = entry
	part := path.Join(partFolder, partPrefix+"index")
	if err := writePart(p.dir, part, x.Encode(), 0o600, false); err != nil {
		return err
	}
	return p.dir.Rename(part, file)
}

// keep finds the id and version of an object that was changed in the root, and keeps texts for later merges.
func (p *plan) keep(it *item, o *outcome) error {
	isNew := it.want != it.base.of()
	if !it.decided() || !it.want.exists() || !isNew && !it.toRoot() {
		return nil
	}
	n, err := p.tx.Find(p.address(it.key))
	if errors.Is(err, objectdb.ErrNotFound) {
		o.id, o.version = 0, 0
		return nil
	}
	if err != nil {
		return err
	}
	if it.want.isTable() {
		o.id = n.ID()
		return nil
	}
	v, err := p.tx.Value(n)
	if errors.Is(err, objectdb.ErrIsTable) || err == nil && sumOf(v) != it.want.Sum {
		o.id, o.version = 0, 0
		return nil
	}
	if err != nil {
		return err
	}
	o.id, o.version = n.ID(), n.Version()
	if textPath(it.want.Sum) == "" || n.Size() > maxText {
		return nil
	}
	return keepText(p.dir, it.want.Sum, string(objectfiles.FileOf(it.want.Name, v).Content))
}

// writeIndexes writes the indexes of the folders.
func (p *plan) writeIndexes(done map[string]*outcome) error {
	entries := map[string]objectfiles.Index{".": p.otherEntries(".")} // by folder
	old := map[string]*folderIndex{".": p.scan.indexes["."]}
	count := map[string]int{}
	for _, key := range p.keys {
		it, o := p.items[key], done[key]
		inFiles := it.inFiles()
		if it.decided() && !o.newer {
			inFiles = it.want
		}
		if !inFiles.exists() && (it.file == nil || it.decided() && !o.newer) {
			continue
		}
		dir, name := path.Dir(o.path), path.Base(o.path)
		count[dir]++
		entry := o.entry
		if inFiles.isTable() {
			entry = objectfiles.FileOf(inFiles.Name, nil).Entry
			entries[o.path] = objectfiles.Index{}
			if it.file != nil {
				old[o.path] = p.scan.indexes[it.file.path]
				entries[o.path] = p.otherEntries(it.file.path)
			}
		}
		if entries[dir] != nil {
			entries[dir][name] = entry
		}
	}
	for _, dir := range sortedKeys(entries) {
		if err := p.writeIndex(dir, old[dir], entries[dir], count[dir] == 0); err != nil {
			return err
		}
	}
	return nil
}

// otherEntries returns the entries of ignored files in the index of a folder.
func (p *plan) otherEntries(dir string) objectfiles.Index {
	entries := objectfiles.Index{}
	x := p.scan.indexes[dir]
	if x == nil || len(x.index) == 0 {
		return entries
	}
	if p.objectFiles == nil {
		p.objectFiles = map[string]bool{}
		for _, f := range p.scan.items {
			p.objectFiles[f.path] = true
		}
	}
	for name, entry := range x.index {
		if x.present[name] && !p.objectFiles[path.Join(dir, name)] {
			entries[name] = entry
		}
	}
	return entries
}

// newBase returns a base without objects.
func (p *plan) newBase() *base {
	next := &base{Number: p.base.Number + 1, Root: p.state, Whole: true, Ignore: p.ignoreText,
		items: make(map[string]*baseItem, len(p.keys))}
	if len(p.options.Address) > 0 {
		next.Address = p.options.Address.String()
	}
	return next
}

// addToBase adds an object to a base that already has its table. The name of the folder may be new.
func (p *plan) addToBase(next *base, key string, b *baseItem) {
	if above := parentKey(key); above != "" {
		table := next.items[above]
		if table == nil || !table.isTable() {
			next.Whole = false
			return
		}
		b.Path = path.Join(table.Path, path.Base(b.Path))
	}
	next.items[key] = b
}

// writeBase writes the base after a sync, if it has changed.
func (p *plan) writeBase(done map[string]*outcome, changed bool) error {
	next := p.newBase()
	for _, key := range p.keys {
		it, o := p.items[key], done[key]
		next.Whole = next.Whole && it.decided() && !o.newer
		if b := p.nextItem(it, o); b != nil {
			next.Whole = next.Whole && b.ID != 0
			p.addToBase(next, key, b)
		}
	}
	if !p.begins && p.state.Inode == p.base.Root.Inode {
		// A commit elsewhere in the root needs no new file, because this process has the tree in memory.
		p.base.Root.Generation = p.state.Generation
	}
	if !changed && sameBase(p.base, next) {
		return nil
	}
	before := p.base
	if err := p.saveBase(next); err != nil {
		return err
	}
	return p.forgetTexts(before, next)
}

// saveBase writes a base. The new base makes begun.json invalid.
func (p *plan) saveBase(next *base) error {
	if err := writeState(p.dir, baseFile, next.encode()); err != nil {
		return err
	}
	for _, name := range []string{begunFile, progressFile} {
		if err := p.dir.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	p.base, p.Folder.base = next, next
	info, err := p.dir.Stat(baseFile)
	if err != nil {
		return err
	}
	p.baseStat = statOf(info)
	return nil
}

// nextItem returns the entry of an item in the base after a sync, or nil if it has none.
func (p *plan) nextItem(it *item, o *outcome) *baseItem {
	hidden := it.root != nil && it.root.ignoredInside
	switch {
	case it.decided() && !o.newer:
		if !it.want.exists() {
			return nil
		}
		return &baseItem{object: it.want, Path: o.path, Entry: o.entry, Stat: o.stat,
			ID: o.id, Version: o.version, Hidden: hidden}
	case it.merged: // the root has the merged text, and the file was changed again
		return &baseItem{object: it.file.object, Path: o.path}
	case it.base == nil:
		return nil
	}
	b := *it.base
	return &b
}

// sameBase reports whether two bases are equal.
func sameBase(a, b *base) bool {
	if a.Form == 0 || a.Root != b.Root || a.Whole != b.Whole || a.Ignore != b.Ignore || len(a.items) != len(b.items) {
		return false
	}
	for key, x := range a.items {
		y := b.items[key]
		if y == nil || *x != *y {
			return false
		}
	}
	return true
}

// forgetTexts removes the texts that no merge needs any more.
func (p *plan) forgetTexts(before, next *base) error {
	var gone []string
	for key, b := range before.items {
		if now := next.items[key]; now == nil || now.Sum != b.Sum {
			gone = append(gone, b.Sum)
		}
	}
	for _, it := range p.items {
		if it.merged {
			gone = append(gone, it.file.Sum)
		}
	}
	if len(gone) == 0 {
		return nil
	}
	used := make(map[string]bool, len(next.items))
	for _, b := range next.items {
		used[b.Sum] = true
	}
	for _, sum := range gone {
		if name := textPath(sum); name != "" && !used[sum] {
			if err := p.dir.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	return nil
}

// reportTaken adds to the result what was taken.
func (p *plan) reportTaken(done map[string]*outcome) {
	for _, key := range p.keys {
		it, o := p.items[key], done[key]
		if o == nil || !it.toRoot() && !it.toFiles() {
			continue
		}
		t := Taken{Path: o.path, Address: p.address(key), From: FromFiles, Change: "changed"}
		from, to := it.inFiles(), it.inRoot()
		if it.toFiles() {
			if o.newer && !it.toRoot() {
				continue
			}
			t.From, from, to = FromRoot, to, from
		}
		if t.Path == "" {
			t.Path = p.pathOf(it)
		}
		switch {
		case it.merged:
			t.From, t.Change = FromBoth, "merged"
		case it.toRoot() && it.toFiles():
			t.From = FromBoth
		case !to.exists():
			t.Change = "added"
		case !it.want.exists():
			t.Change = "removed"
			if it.toFiles() {
				t.Address = p.options.Address
				t.Address = addressOf(p.options.Address, key, func(key string) string { return p.items[key].nameAnywhere() })
			}
		case from.Sum == to.Sum:
			t.Change = "renamed"
		}
		p.result.Taken = append(p.result.Taken, t)
	}
}

// nameAnywhere returns the name of an object, from whichever side has it, or from the base.
func (it *item) nameAnywhere() string {
	for _, o := range []object{it.want, it.inRoot(), it.inFiles(), it.base.of()} {
		if o.Name != "" {
			return o.Name
		}
	}
	return ""
}

// report adds to the result the problems of the files and objects that were left as they are.
func (p *plan) report() {
	for _, key := range p.keys {
		it := p.items[key]
		if !it.decided() && !it.conflict && !it.quiet {
			p.result.Problems = append(p.result.Problems, Problem{p.pathOf(it), it.undecide})
		}
	}
	p.result.Skipped = p.scan.skipped
}

// writeConflicts writes the root's text of each object in conflict, and removes those of others.
func (p *plan) writeConflicts(ctx context.Context) error {
	p.result.Conflicts = nil
	wanted := map[string]bool{}
	err := p.options.DB.View(ctx, func(tx *objectdb.Tx) error {
		p.tx = tx
		for _, key := range p.keys {
			it := p.items[key]
			if !it.conflict {
				continue
			}
			c := Conflict{Path: p.pathOf(it), Address: p.address(key), Why: it.undecide}
			if it.root != nil && !it.root.isTable() {
				v, err := p.rootValue(it)
				if errors.Is(err, objectdb.ErrNotFound) || errors.Is(err, objectdb.ErrIsTable) {
					p.newer = true
					continue
				}
				if err != nil {
					return err
				}
				file := objectfiles.FileOf(it.root.Name, v)
				c.Other = path.Join(conflictFolder, path.Dir(c.Path), file.Name)
				wanted[c.Other] = true
				if err := p.writeConflict(c.Other, file.Content); err != nil {
					return err
				}
			}
			p.result.Conflicts = append(p.result.Conflicts, c)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return p.removeConflicts(wanted)
}

func (p *plan) writeConflict(name string, content []byte) error {
	if present, err := p.dir.ReadFile(name); err == nil && string(present) == string(content) {
		return nil
	}
	if err := p.dir.MkdirAll(path.Dir(name), 0o700); err != nil {
		return err
	}
	return writeState(p.dir, name, content)
}

// removeConflicts removes the texts of conflicts that do not exist any more.
func (p *plan) removeConflicts(wanted map[string]bool) error {
	var names []string
	err := fs.WalkDir(p.dir.FS(), conflictFolder, func(name string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err == nil && !wanted[name] {
			names = append(names, name)
		}
		return err
	})
	if err != nil {
		return err
	}
	for _, name := range slices.Backward(names) {
		if err := p.dir.Remove(name); err != nil && !errors.Is(err, syscall.ENOTEMPTY) {
			return err
		}
	}
	return nil
}
