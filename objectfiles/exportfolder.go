package objectfiles

import (
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"syscall"
)

// exportFolder is the folder of an export. Links do not lead out of it.
type exportFolder struct {
	dir  string
	root *os.Root // nil while the folder does not exist
	lock *os.File
}

// open opens and locks the folder, so that only one export at a time writes in it. On a file
// system without locks it only opens it.
func (f *exportFolder) open() (err error) {
	if f.root, err = os.OpenRoot(f.dir); err != nil {
		return err
	}
	if f.lock, err = f.root.Open("."); err != nil {
		return err
	}
	err = syscall.Flock(int(f.lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return errors.New("another export to this folder is running; try again when it has ended")
	}
	return nil
}

// create makes and opens the folder, if it does not exist.
func (f *exportFolder) create() error {
	if f.root != nil {
		return nil
	}
	if err := os.MkdirAll(f.dir, 0o700); err != nil {
		return err
	}
	return f.open()
}

// close closes and unlocks the folder.
func (f *exportFolder) close() {
	if f.lock != nil {
		f.lock.Close()
	}
	if f.root != nil {
		f.root.Close()
	}
}

// list returns the files and folders in a folder.
func (f *exportFolder) list(name string) ([]fs.DirEntry, error) {
	return fs.ReadDir(f.root.FS(), name)
}

// sum returns the checksum of a file.
func (f *exportFolder) sum(name string) (sum fileSum, err error) {
	file, err := f.root.OpenFile(name, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return sum, err
	}
	defer file.Close()
	hash := sha256.New()
	_, err = io.Copy(hash, file)
	return fileSum(hash.Sum(nil)), err
}

// The name of a file while it is written.
const (
	partPrefix = ".scripter-export-"
	partSuffix = ".part"
)

// write writes a file under another name first, so that it appears whole or not at all. New
// files and folders are only for the user, because they are as secret as the root. A file that
// is replaced keeps its mode.
func (f *exportFolder) write(name string, content []byte) error {
	if err := f.root.MkdirAll(path.Dir(name), 0o700); err != nil {
		return err
	}
	part := partPrefix + rand.Text() + partSuffix
	file, err := f.root.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	if info, lerr := f.root.Lstat(name); err == nil && lerr == nil && info.Mode().IsRegular() {
		err = file.Chmod(info.Mode().Perm())
	}
	if err = errors.Join(err, file.Close()); err == nil {
		err = f.root.Rename(part, name)
	}
	if err != nil {
		f.root.Remove(part)
	}
	return err
}

// removeParts removes the unfinished files of interrupted exports.
func (f *exportFolder) removeParts() error {
	entries, err := f.list(".")
	if err != nil {
		return err
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), partPrefix) && strings.HasSuffix(e.Name(), partSuffix) && e.Type().IsRegular() {
			if err := f.root.Remove(e.Name()); err != nil {
				return err
			}
		}
	}
	return nil
}
