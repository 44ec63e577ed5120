package foldersync

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"syscall"

	"scripter/objectdb"
	"scripter/objectfiles"
)

// The names of files in partFolder: new ones that are not complete, and those that exchange
// names with a file of the folder.
const (
	partPrefix = "part-"
	swapPrefix = "swap-"
)

// errNewer says that a file has changed since the scan.
var errNewer = errors.New("it was changed meanwhile")

// flushEach is how many new files a sync flushes to the disk one by one. If there are more, it
// flushes all file systems with one call, which is faster.
const flushEach = 20

// putFile replaces the file old by a new one, if it is still as stat says. If old is "", there must
// be no file. Only the user may read a new file, because it is as secret as the root.
func (f *Folder) putFile(name, old string, stat fileStat, content []byte, flush bool) (fileStat, error) {
	mode := fs.FileMode(0o600)
	if old != "" {
		info, err := f.dir.Lstat(old)
		if err != nil || !statOf(info).same(stat) {
			return fileStat{}, errNewer
		}
		mode = info.Mode().Perm()
	}
	id := rand.Text()
	part := path.Join(partFolder, partPrefix+id)
	if err := writePart(f.dir, part, content, 0o600, flush); err != nil {
		return fileStat{}, err
	}
	if err := f.dir.Chmod(part, mode); err != nil {
		return fileStat{}, err
	}
	info, err := f.dir.Lstat(part)
	if err != nil {
		return fileStat{}, err
	}
	if old != name {
		if err := f.putNew(part, name); err != nil || old == "" {
			return statOf(info), err
		}
		return statOf(info), f.removeFile(old, stat)
	}
	swap := path.Join(partFolder, swapPrefix+id+"-"+path.Base(name))
	if err := f.dir.Rename(part, swap); err != nil {
		return fileStat{}, err
	}
	if err := exchange(f.dir, swap, name); err != nil {
		return fileStat{}, errors.Join(err, f.dir.Remove(swap))
	}
	return statOf(info), f.discard(swap, name, stat, true)
}

// putNew gives the complete file part its name, if no file has that name.
func (f *Folder) putNew(part, name string) error {
	err := f.dir.Link(part, name)
	if errors.Is(err, fs.ErrExist) {
		err = errNewer
	} else if err != nil { // a file system without links
		if _, lerr := f.dir.Lstat(name); !errors.Is(lerr, fs.ErrNotExist) {
			return errors.Join(errNewer, f.dir.Remove(part))
		}
		return f.dir.Rename(part, name)
	}
	return errors.Join(err, f.dir.Remove(part))
}

// removeFile removes a file if it is still as stat says.
func (f *Folder) removeFile(name string, stat fileStat) error {
	if info, err := f.dir.Lstat(name); err != nil || !statOf(info).same(stat) {
		return errNewer
	}
	swap := path.Join(partFolder, swapPrefix+rand.Text()+"-"+path.Base(name))
	if err := f.dir.Rename(name, swap); err != nil {
		return err
	}
	return f.discard(swap, name, stat, false)
}

// discard removes a file that had the name before. If it is not as stat says, because somebody has
// just saved it, discard puts it back.
func (f *Folder) discard(swap, name string, stat fileStat, exchanged bool) error {
	info, err := f.dir.Lstat(swap)
	if errors.Is(err, fs.ErrNotExist) { // exchange could only rename
		return nil
	}
	if err != nil {
		return err
	}
	if statOf(info).sameContent(stat) {
		return f.dir.Remove(swap)
	}
	if exchanged {
		err = errors.Join(exchange(f.dir, swap, name), f.dir.Remove(swap))
	} else if err = f.dir.Link(swap, name); err == nil {
		err = f.dir.Remove(swap)
	}
	return errors.Join(errNewer, err)
}

// finish cleans up after an interrupted sync. It returns files of the user that it has rescued.
func (f *Folder) finish(g *begun) ([]Problem, error) {
	list, err := fs.ReadDir(f.dir.FS(), partFolder)
	if err != nil {
		return nil, err
	}
	known := map[fileStat]bool{}
	if g != nil {
		for _, it := range g.Items {
			s := it.Stat
			s.Change = 0
			s.Fresh = false
			known[s] = true
		}
	}
	var rescued []Problem
	for _, e := range list {
		name := path.Join(partFolder, e.Name())
		info, err := e.Info()
		if err != nil {
			return nil, err
		}
		s := statOf(info)
		s.Change = 0
		_, after, isSwap := strings.Cut(strings.TrimPrefix(e.Name(), swapPrefix), "-")
		if !strings.HasPrefix(e.Name(), swapPrefix) || !isSwap || known[s] || f.wrote(g, name, after) {
			if err := f.dir.Remove(name); err != nil {
				return nil, err
			}
			continue
		}
		if err := f.dir.MkdirAll(rescueFolder, 0o700); err != nil {
			return nil, err
		}
		to := path.Join(rescueFolder, strings.TrimPrefix(e.Name(), swapPrefix))
		if err := f.dir.Rename(name, to); err != nil {
			return nil, err
		}
		rescued = append(rescued, Problem{to, "a sync was killed while you saved this file; check whether you need it"})
	}
	return rescued, f.finishMoves(g)
}

// wrote reports whether the interrupted sync has written the content of a file.
func (f *Folder) wrote(g *begun, name, base string) bool {
	if g == nil {
		return false
	}
	content, _, err := readFile(f.dir, name)
	if err != nil {
		return false
	}
	for _, it := range g.Items {
		if it.ToFiles && path.Base(it.WantPath) == base && it.Want.exists() && f.contentIs(it.WantPath, content, it.Want) {
			return true
		}
	}
	return false
}

// contentIs reports whether a file with this content has the value of an object: with its entry in the
// index, which is written before the file, or with the kind alone.
func (f *Folder) contentIs(name, content string, o object) bool {
	entries := []objectfiles.IndexEntry{{}, {Kind: o.kind()}}
	if text, _, err := readFile(f.dir, path.Join(path.Dir(name), objectfiles.IndexFile)); err == nil {
		if x, err := objectfiles.DecodeIndex([]byte(text)); err == nil {
			entries = append(entries, x[path.Base(name)])
		}
	}
	for _, entry := range entries {
		_, suffix, err := objectfiles.NameOf(path.Base(name), false, entry)
		if err != nil {
			return false
		}
		if v, err := objectfiles.DecodeValue(suffix, entry, content); err == nil && sumOf(v) == o.Sum {
			return true
		}
	}
	return false
}

// finishMoves removes the old files of objects for which an interrupted sync has written new ones
// with another suffix.
func (f *Folder) finishMoves(g *begun) error {
	if g == nil {
		return nil
	}
	for _, it := range g.Items {
		if !it.ToFiles || it.FilePath == "" || it.WantPath == "" || it.FilePath == it.WantPath || it.Want.isTable() {
			continue
		}
		old, err := f.dir.Lstat(it.FilePath)
		if err != nil || !statOf(old).sameContent(it.Stat) {
			continue
		}
		content, _, err := readFile(f.dir, it.WantPath)
		if err == nil && f.contentIs(it.WantPath, content, it.Want) {
			if err := f.dir.Remove(it.FilePath); err != nil {
				return err
			}
		}
	}
	return nil
}

// targetFile returns the path, the content and the index entry of the file of an object. A file
// keeps its name if the name still gives the right kind.
func (p *plan) targetFile(it *item, v objectdb.Value) (string, objectfiles.File) {
	file := objectfiles.FileOf(it.want.Name, v)
	dir := p.dirs[parentKey(it.key)]
	if old := it.file; old != nil && !old.isTable() && old.Name == it.want.Name {
		again, err := objectfiles.DecodeValue(old.suffix, old.entry, string(file.Content))
		if err == nil && sumOf(again) == it.want.Sum {
			file.Name, file.Entry = path.Base(old.path), old.entry
		}
	}
	return path.Join(dir, file.Name), file
}

// presentPath returns the present path of the file or folder of an item: folders may have been renamed.
func (p *plan) presentPath(it *item) string {
	if it.file == nil {
		return ""
	}
	return path.Join(p.dirs[parentKey(it.key)], path.Base(it.file.path))
}

// removeFolder removes the folder of a table with its index. A folder that is not empty stays.
func (p *plan) removeFolder(it *item) error {
	dir := p.presentPath(it)
	if x := p.scan.indexes[it.file.path]; x != nil && x.exists && !x.broken {
		if err := p.dir.Remove(path.Join(dir, objectfiles.IndexFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	err := p.dir.Remove(dir)
	if errors.Is(err, syscall.ENOTEMPTY) || errors.Is(err, syscall.EEXIST) || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// writeIndex writes the index of a folder, if the present one has other entries.
func (p *plan) writeIndex(dir string, old *folderIndex, entries objectfiles.Index, empty bool) error {
	if old != nil && old.broken {
		return nil
	}
	name := path.Join(dir, objectfiles.IndexFile)
	want := objectfiles.NewIndex(dir == ".")
	for file, entry := range entries {
		if entry != (objectfiles.IndexEntry{}) {
			want[file] = entry
		}
	}
	needed := len(want) > 0 || empty
	switch {
	case old != nil && old.exists && !needed:
		if err := p.dir.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	case !needed, old != nil && old.exists && sameIndex(old.index, want):
		return nil
	}
	part := path.Join(partFolder, partPrefix+rand.Text())
	if err := writePart(p.dir, part, want.Encode(), 0o600, false); err != nil {
		return err
	}
	if info, err := p.dir.Lstat(name); err == nil {
		if !info.Mode().IsRegular() {
			return fmt.Errorf("%s: it is not a file", name)
		}
		if err := p.dir.Chmod(part, info.Mode().Perm()); err != nil {
			return err
		}
	}
	return p.dir.Rename(part, name)
}

func sameIndex(a, b objectfiles.Index) bool {
	if len(a) != len(b) {
		return false
	}
	for name, entry := range a {
		if b[name] != entry {
			return false
		}
	}
	return true
}
