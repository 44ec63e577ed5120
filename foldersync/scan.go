package foldersync

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"
	"time"

	"scripter/objectdb"
	"scripter/objectfiles"
)

// A scan waits for these times, because a program may still be writing.
const (
	settleTime = 50 * time.Millisecond  // since a file or folder was changed
	goneTime   = 300 * time.Millisecond // since a file vanished: some editors then write a new one
	emptyTime  = time.Second            // since a file became empty: some editors then write it
)

// fileStat identifies a state of a file.
type fileStat struct {
	Size   int64  `json:"size"`
	Time   int64  `json:"time"`   // of the content
	Change int64  `json:"change"` // see changeTime
	Inode  uint64 `json:"inode"`
	// Fresh says that the file was just written when it was read: it may have been written
	// again with the same times.
	Fresh bool `json:"fresh,omitempty"`
}

func statOf(info fs.FileInfo) fileStat {
	s := fileStat{Size: info.Size(), Time: info.ModTime().UnixNano(), Change: changeTime(info)}
	if unix, ok := info.Sys().(*syscall.Stat_t); ok {
		s.Inode = unix.Ino
	}
	return s
}

// same reports whether a file is unchanged.
func (s fileStat) same(was fileStat) bool {
	s.Fresh, was.Fresh = false, false
	return s == was
}

// sameContent reports whether the content of a file is unchanged. The file may have been renamed.
func (s fileStat) sameContent(was fileStat) bool {
	s.Change, was.Change = 0, 0
	return s.same(was)
}

// age returns how long ago a file was changed.
func (s fileStat) age(now time.Time) time.Duration { return now.Sub(time.Unix(0, s.Change)) }

// fileItem is the file of an object, or the folder of a table.
type fileItem struct {
	object
	key, path string
	suffix    string
	entry     objectfiles.IndexEntry
	stat      fileStat
	problem   string // why it cannot be taken, or "". With a problem, the object is not known
}

// folderIndex is the index of a folder, as it is on the disk.
type folderIndex struct {
	index   objectfiles.Index
	exists  bool
	broken  bool            // it cannot be read
	ignored bool            // the folder holds objects that are not synced
	present map[string]bool // the names in the folder
}

// scan has the content of the folder.
type scan struct {
	root   *os.Root
	ignore *ignoreRules
	base   *base
	now    time.Time
	late   bool // it no longer waits for programs that write

	items   map[string]*fileItem
	blocked map[string]string // folders, by key, below which nothing is known, with the reason
	indexes map[string]*folderIndex
	skipped []Problem       // files that are not objects
	dropped map[string]bool // objects that are not synced because of their content
	leaving map[string]bool // objects whose files have just vanished
	folders []string        // the folders that were read
	wait    time.Duration   // 0, or how long to wait before the next scan
}

// scanFolder reads the folder. If a program is writing in it, scan.wait is the time to wait.
func scanFolder(root *os.Root, ignore *ignoreRules, b *base, late bool) (*scan, error) {
	s := &scan{
		root: root, ignore: ignore, base: b, now: time.Now(), late: late, items: map[string]*fileItem{},
		blocked: map[string]string{}, indexes: map[string]*folderIndex{}, dropped: map[string]bool{},
		leaving: map[string]bool{},
	}
	if _, _, err := s.folder(".", ""); err != nil {
		return nil, err
	}
	s.waitForGone()
	return s, nil
}

// settle makes the scan wait until a file or folder has not been changed for a time.
func (s *scan) settle(stat fileStat, quiet time.Duration) bool {
	age := stat.age(s.now)
	if age < 0 || age >= quiet {
		return true
	}
	s.wait = max(s.wait, quiet-age)
	return false
}

// folder reads a folder. It returns the number of objects in it and that of all entries.
func (s *scan) folder(dir, key string) (objects, entries int, err error) {
	list, stat, err := s.list(dir)
	if err != nil {
		return 0, 0, err
	}
	s.folders = append(s.folders, dir)
	s.settle(stat, settleTime)
	x, err := s.readIndex(dir, key, list)
	if err != nil {
		return 0, 0, err
	}
	s.indexes[dir] = x
	if x.broken {
		return 1, len(list), nil
	}
	for _, e := range list {
		name := path.Join(dir, e.Name())
		x.present[e.Name()] = true
		if e.Name() == objectfiles.IndexFile || objectfiles.Ignored(e) {
			continue
		}
		if s.ignore.ignores(name, e.IsDir()) {
			x.ignored = true
			continue
		}
		found, err := s.entry(name, key, e, x.index[e.Name()])
		if errors.Is(err, fs.ErrNotExist) {
			s.wait = max(s.wait, settleTime) // it vanished meanwhile
			continue
		}
		if err != nil {
			return 0, 0, err
		}
		if found {
			objects++
		}
	}
	return objects, len(list), nil
}

func (s *scan) list(dir string) ([]fs.DirEntry, fileStat, error) {
	d, err := s.root.Open(dir)
	if err != nil {
		return nil, fileStat{}, err
	}
	defer d.Close()
	info, err := d.Stat()
	if err != nil {
		return nil, fileStat{}, err
	}
	list, err := d.ReadDir(-1)
	slices.SortFunc(list, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return list, statOf(info), err
}

func (s *scan) readIndex(dir, key string, list []fs.DirEntry) (*folderIndex, error) {
	x := &folderIndex{index: objectfiles.Index{}, present: map[string]bool{}}
	for _, e := range list {
		if e.Name() != objectfiles.IndexFile {
			continue
		}
		x.exists = true
		name := path.Join(dir, e.Name())
		content, _, err := s.read(name)
		if err == nil {
			x.index, err = objectfiles.DecodeIndex([]byte(content))
		}
		if err != nil {
			if dir == "." {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			x.broken = true
			s.blocked[key] = fmt.Sprintf("%s: %v", name, pathError(err))
		}
	}
	return x, nil
}

// entry reads a file or a folder. It reports whether that is an object.
func (s *scan) entry(name, parent string, e fs.DirEntry, entry objectfiles.IndexEntry) (bool, error) {
	folder := e.IsDir()
	special := !folder && !e.Type().IsRegular()
	objectName, suffix, err := objectfiles.NameOf(e.Name(), folder, entry)
	if err != nil && special { // a link to a folder, perhaps
		folder = true
		objectName, _, err = objectfiles.NameOf(e.Name(), folder, entry)
	}
	if err != nil {
		s.skipped = append(s.skipped, Problem{name, err.Error()})
		return false, nil
	}
	f := &fileItem{key: childKey(parent, objectName), path: name, suffix: suffix, entry: entry}
	f.Name = objectName
	if other := s.items[f.key]; other != nil {
		other.problem = fmt.Sprintf("%s stands for the same object", name)
		return true, nil
	}
	if special {
		f.problem = "it is neither a file nor a folder"
		s.items[f.key] = f
		if folder {
			s.blocked[f.key] = f.problem
		}
		return true, nil
	}
	if folder {
		f.Sum = tableSum
		s.items[f.key] = f
		objects, entries, err := s.folder(name, f.key)
		x := s.indexes[name]
		known := s.base.items[f.key].of().isTable() && x.ignored
		if err == nil && objects == 0 && entries > 0 && !x.exists && !known {
			delete(s.items, f.key) // it holds only files that are not objects
			delete(s.indexes, name)
			return false, nil
		}
		return true, err
	}
	info, err := e.Info()
	if err != nil {
		return false, err
	}
	f.stat = statOf(info)
	return s.file(f)
}

// file finds the content of a file. It reads the file only if it has changed since the base.
func (s *scan) file(f *fileItem) (bool, error) {
	before := s.base.items[f.key]
	if before != nil && !before.Stat.Fresh && before.Path == f.path && before.Stat.same(f.stat) &&
		before.Entry == f.entry && before.exists() {
		f.Sum = before.Sum
		s.items[f.key] = f
		return true, nil
	}
	quiet := settleTime
	if f.stat.Size == 0 && before != nil && before.Stat.Size > 0 {
		quiet = emptyTime
	}
	s.items[f.key] = f
	if !s.settle(f.stat, quiet) {
		if s.late {
			f.problem = "it is being written"
		}
		return true, nil // the next scan reads it
	}
	v, stat, err := s.value(f)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		delete(s.items, f.key)
		return false, err
	case err != nil:
		f.problem = pathError(err).Error()
		return true, nil
	case !stat.same(f.stat):
		s.wait = max(s.wait, settleTime)
		f.problem = "it is being written"
		return true, nil
	}
	if isPasswordHash(v) && s.ignore.decide(f.path, false) != included {
		delete(s.items, f.key)
		s.dropped[f.key] = true
		s.indexes[path.Dir(f.path)].ignored = true
		return false, nil
	}
	f.Sum = sumOf(v)
	return true, nil
}

// value reads the value of a file.
func (s *scan) value(f *fileItem) (objectdb.Value, fileStat, error) {
	content, stat, err := s.read(f.path)
	if err != nil {
		return nil, stat, err
	}
	v, err := objectfiles.DecodeValue(f.suffix, f.entry, content)
	return v, stat, err
}

// read reads a file. It does not follow links.
func (s *scan) read(name string) (string, fileStat, error) { return readFile(s.root, name) }

func readFile(root *os.Root, name string) (string, fileStat, error) {
	file, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return "", fileStat{}, err
	}
	defer file.Close()
	var content strings.Builder
	n, err := io.Copy(&content, io.LimitReader(file, objectdb.MaxValue+1))
	if err == nil && n > objectdb.MaxValue {
		err = fmt.Errorf("the file is larger than a value can be, which is %d bytes", int64(objectdb.MaxValue))
	}
	if err != nil {
		return "", fileStat{}, err
	}
	info, err := file.Stat()
	if err != nil {
		return "", fileStat{}, err
	}
	return content.String(), statOf(info), nil
}

// waitForGone makes the scan wait for files that have just vanished: an editor may write them again, or
// somebody may be removing the whole folder.
func (s *scan) waitForGone() {
	quiet := map[string]bool{} // folders in which nothing was changed for a time
	for key, b := range s.base.items {
		if s.items[key] != nil {
			continue
		}
		dir := path.Dir(b.Path)
		for dir != "." && s.indexes[dir] == nil {
			dir = path.Dir(dir)
		}
		still, looked := quiet[dir]
		if !looked {
			info, err := s.root.Stat(dir)
			still = err == nil && s.settle(statOf(info), goneTime)
			quiet[dir] = still
		}
		if !still {
			s.leaving[key] = true
		}
	}
}

// reason returns why the file of an object is not known, or "".
func (s *scan) reason(key string) string {
	if f := s.items[key]; f != nil && f.problem != "" {
		return f.problem
	}
	if s.leaving[key] {
		return "its file has just vanished"
	}
	for ; key != ""; key = parentKey(key) {
		if why := s.blocked[key]; why != "" {
			return why
		}
	}
	return ""
}

// pathError returns the error without the operation and the path, which the caller names.
func pathError(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
