package sqlitestore

import (
	"database/sql/driver"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"scripter/objectdb"
)

// Create makes a new root at path, which holds nothing but the empty root
// table, and opens it. When there is a file already the error is fs.ErrExist.
// A root appears whole or not at all.
func Create(path string, o objectdb.Options) (*objectdb.DB, error) {
	if err := create(path, o); err != nil {
		return nil, &objectdb.Error{Op: "create", Path: path, Err: err}
	}
	return Open(path, o)
}

func create(path string, o objectdb.Options) error {
	if o.ReadOnly {
		return objectdb.ErrReadOnly
	}
	if err := checkFree(path); err != nil {
		return err
	}
	dir, err := os.MkdirTemp(filepath.Dir(path), ".new-root-")
	if err != nil {
		return pathError(err)
	}
	defer os.RemoveAll(dir)
	whole := filepath.Join(dir, "root")
	if err := createFile(whole, o); err != nil {
		return err
	}
	if err := linkAs(whole, path); err != nil || o.Relaxed {
		return err
	}
	return syncFolder(filepath.Dir(path))
}

// checkFree returns an error if there is a file at path, or one beside it that SQLite would play into a new file.
func checkFree(path string) error {
	if _, err := os.Lstat(path); err == nil {
		return fmt.Errorf("%w; open it instead", fs.ErrExist)
	}
	for _, left := range []string{path + "-wal", path + "-journal"} {
		if _, err := os.Lstat(left); err == nil {
			return fmt.Errorf("%w: %s is left of another root; move it away first", fs.ErrExist, left)
		}
	}
	return nil
}

// linkAs links the file to its name, which no other file may have by now.
func linkAs(whole, path string) error {
	err := os.Link(whole, path)
	if err == nil || errors.Is(err, fs.ErrExist) {
		return pathError(err)
	}
	if _, err := os.Lstat(path); err == nil { // a file system without links
		return fs.ErrExist
	}
	return pathError(os.Rename(whole, path))
}

func createFile(path string, o objectdb.Options) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o660)
	if err != nil {
		return pathError(err)
	}
	if err := f.Close(); err != nil {
		return pathError(err)
	}
	c, err := openConn(path, objectdb.Options{Relaxed: o.Relaxed})
	if err != nil {
		return err
	}
	now := time.Now
	if o.Now != nil {
		now = o.Now
	}
	made := now().UnixNano()
	script := fmt.Sprintf(`PRAGMA application_id = %d; PRAGMA user_version = %d; PRAGMA journal_mode = WAL; BEGIN; %s
		INSERT INTO meta (only, generation, last_id, reach_time) VALUES (1, 1, %d, %d);
		INSERT INTO object VALUES (%d, 0, '', '', 'table', 1, %d, %d, 0, '', 0, 0, NULL); COMMIT;`,
		objectdb.ApplicationID, objectdb.FileVersion, schema, objectdb.RootID, made, objectdb.RootID, made, made)
	_, err = c.c.Exec(script, nil)
	if err == nil {
		_, err = c.c.Exec(`UPDATE meta SET made_by = ?`, []driver.Value{o.Program})
	}
	return errors.Join(sqlError(err), c.close())
}

func syncFolder(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return pathError(err)
	}
	defer d.Close()
	return pathError(d.Sync())
}

// Open opens the root at path. It never makes one.
//
// What can be wrong is told apart: no file (fs.ErrNotExist), a folder, an
// empty file, no SQLite file or one of another program (ErrNotRoot), a root of a
// newer version (ErrNewer), one cut off (ErrDamaged), a file or folder that
// may not be written (ErrReadOnly), a lock that does not end (ErrBusy). The
// file is left as it was.
func Open(path string, o objectdb.Options) (*objectdb.DB, error) {
	s, err := open(path, o)
	if err != nil {
		return nil, &objectdb.Error{Op: "open", Path: path, Err: err}
	}
	return objectdb.New(s, s.options), nil
}

func open(path string, o objectdb.Options) (*store, error) {
	s := newStore(path, o)
	if err := s.registerFile(); err != nil {
		return nil, err
	}
	if err := s.firstRead(); err != nil {
		forgetFile(s.file)
		return nil, err
	}
	return s, nil
}

func (s *store) firstRead() error {
	var c *conn
	err := s.patient(func() (err error) {
		if c == nil {
			if c, err = s.connect(); err != nil {
				return err
			}
		}
		if err := s.bringUp(c); err != nil {
			return err
		}
		_, _, err = c.beginRead()
		c.endRead()
		return err
	})
	if err != nil {
		if c != nil {
			c.close()
		}
		return s.explain(err)
	}
	s.release(c)
	return nil
}

// bringUp migrates the file to the newest version and sets WAL mode, because a saved
// copy that took the place of the root is in another mode.
func (s *store) bringUp(c *conn) error {
	version, err := c.version()
	if err == nil && version < objectdb.FileVersion {
		err = s.migrate(objectdb.FileVersion, migrations)
	}
	if err != nil || s.options.ReadOnly {
		return err
	}
	var mode [1]driver.Value
	if err := c.first(mode[:], `PRAGMA journal_mode`); err != nil || mode[0] == "wal" {
		return err
	}
	_, err = c.c.Exec(`PRAGMA journal_mode = WAL`, nil)
	return sqlError(err)
}

// explain adds to an error of the first read what the user can do about it.
func (s *store) explain(err error) error {
	if errors.Is(err, objectdb.ErrBusy) {
		return fmt.Errorf("%w, and was for %v; end the program that holds it", err, s.options.BusyTimeout)
	}
	if errors.Is(err, objectdb.ErrDamaged) || errors.Is(err, objectdb.ErrNotRoot) {
		return err
	}
	// SQLite keeps the -wal and -shm files beside the root.
	probe, perr := os.CreateTemp(filepath.Dir(s.path), ".scripter-probe-")
	if perr != nil {
		return fmt.Errorf("%w: its folder cannot be written, and SQLite must keep two files there: %w",
			objectdb.ErrReadOnly, pathError(perr))
	}
	probe.Close()
	os.Remove(probe.Name())
	return err
}

// fileID identifies a file, whatever its name.
type fileID struct {
	info os.FileInfo
	path string
}

// resolved follows the links in a path, as SQLite does: beside what it leads to lie
// the other files of a root.
func resolved(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}

// openFiles are the files that this process has open as roots. They belong to the
// process and not to a store: closing any descriptor of a file drops all the locks
// that the process holds on it (https://www.sqlite.org/howtocorrupt.html, 2.2). So the
// header of an open file is not read by hand again.
var openFiles struct {
	sync.Mutex
	files []fileID
}

func (s *store) registerFile() error {
	openFiles.Lock()
	defer openFiles.Unlock()
	info, err := os.Stat(s.path)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%w; create the root first", fs.ErrNotExist)
		}
		return pathError(err)
	}
	s.file = fileID{info, s.path}
	isOpen := false
	for _, f := range openFiles.files {
		isOpen = isOpen || os.SameFile(f.info, info) || f.path == s.path // its -shm may be open, too
	}
	if !isOpen {
		if err := s.checkFile(info); err != nil {
			return err
		}
	}
	openFiles.files = append(openFiles.files, s.file)
	return nil
}

func forgetFile(id fileID) {
	openFiles.Lock()
	defer openFiles.Unlock()
	for i, f := range openFiles.files {
		if f == id {
			openFiles.files = append(openFiles.files[:i], openFiles.files[i+1:]...)
			return
		}
	}
}

// checkFile looks at a file before SQLite does, which might replay a foreign
// program's journal into it.
func (s *store) checkFile(info os.FileInfo) error {
	switch {
	case info.IsDir():
		return fmt.Errorf("%w: it is a folder", objectdb.ErrNotRoot)
	case !info.Mode().IsRegular():
		return fmt.Errorf("%w: it is no regular file", objectdb.ErrNotRoot)
	case info.Size() == 0:
		return fmt.Errorf("%w: it is empty; remove it and create the root anew, or restore a copy", objectdb.ErrNotRoot)
	}
	flag := os.O_RDWR
	if s.options.ReadOnly {
		flag = os.O_RDONLY
	}
	f, err := os.OpenFile(s.path, flag, 0)
	if err != nil && s.options.Reading && flag == os.O_RDWR {
		if f, err = os.OpenFile(s.path, os.O_RDONLY, 0); err == nil {
			s.options.ReadOnly = true
		}
	}
	if err != nil {
		if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
			return fmt.Errorf("%w: this user may not open it (%w); "+
				"give the user of the web server the right to read and write it and its folder",
				objectdb.ErrReadOnly, pathError(err))
		}
		return pathError(err)
	}
	defer f.Close()
	var header [100]byte
	if _, err := io.ReadFull(f, header[:]); err != nil && err != io.ErrUnexpectedEOF {
		return pathError(err)
	}
	if err := checkHeader(&header, s.path, info.Size()); err != nil {
		return err
	}
	if s.options.Reading && atRest(&header, s.path) {
		s.options.ReadOnly = true
	}
	return s.checkShared(f)
}

// checkHeader reads the header of an SQLite file: https://www.sqlite.org/fileformat.html, 1.3.
func checkHeader(h *[100]byte, path string, size int64) error {
	if string(h[:16]) != "SQLite format 3\x00" {
		return fmt.Errorf("%w: it does not begin as an SQLite file does", objectdb.ErrNotRoot)
	}
	number := func(at int) uint32 { return binary.BigEndian.Uint32(h[at:]) }
	if id := number(68); id != objectdb.ApplicationID {
		return fmt.Errorf("%w: it is an SQLite file of another program (application_id %#x)", objectdb.ErrNotRoot, id)
	}
	if v := number(60); v > objectdb.FileVersion {
		return newer(int64(v))
	}
	page := int64(binary.BigEndian.Uint16(h[16:]))
	if page == 1 {
		page = 65536
	}
	if want := page * int64(number(28)); size < want && !hasContent(path+"-wal") {
		return fmt.Errorf("%w: it is cut off, %d bytes of %d are there; restore a copy of it",
			objectdb.ErrDamaged, size, want)
	}
	return nil
}

// atRest reports whether the file was not opened for writing since Save made it: it is
// not in WAL mode, which Open sets. An older copy in the place of a root is not at rest,
// because it must be brought up to date.
func atRest(h *[100]byte, path string) bool {
	const rollback = 1 // the write version of the file format, at offset 18
	return h[18] == rollback && (IsCopy(path) || binary.BigEndian.Uint32(h[60:]) == objectdb.FileVersion)
}

// IsCopy reports whether path has the name of a saved copy.
func IsCopy(path string) bool {
	_, rest, ok := strings.Cut(filepath.Base(resolved(path)), ".saved-")
	if ok {
		_, ok = parseCopy("", ".saved-"+rest)
	}
	return ok
}

func hasContent(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Size() > 0
}

// pathError drops the path from an error of package os: ours names it.
func pathError(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	var l *os.LinkError
	if errors.As(err, &l) {
		return l.Err
	}
	return err
}
