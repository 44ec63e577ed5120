package sqlitestore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"scripter/objectdb"
)

// saving is the lock for saving copies of one root, and the unfinished copy
// itself: the file NAME.saving beside the root, locked by flock(2). The lock
// ends with the process that holds it, however it ends; the next one overwrites what
// it has left.
type saving struct {
	root string
	path string
	mode os.FileMode // of a new file
	file *os.File    // nil after the end
}

func savingPath(root string) string {
	dir, name := besideRoot(root)
	return filepath.Join(dir, name+".saving")
}

// startSaving waits for the lock for as long as wait says.
func startSaving(ctx context.Context, root string, wait time.Duration) (*saving, error) {
	s := &saving{root: root, path: savingPath(root), mode: 0o600}
	for deadline := time.Now().Add(wait); ; {
		err := s.lock()
		if !errors.Is(err, objectdb.ErrSaving) || time.Now().After(deadline) {
			return s, err
		}
		select {
		case <-ctx.Done():
			return s, context.Cause(ctx)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func (s *saving) lock() error {
	f, err := os.OpenFile(s.path, os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, s.mode)
	if err != nil {
		return fmt.Errorf("%s: %w", s.path, pathError(err))
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return objectdb.ErrSaving
		}
		return fmt.Errorf("lock %s: %w", s.path, err)
	}
	// Its last holder may have finished between our two steps: then this is a
	// finished copy, which has another name now.
	mine, err := f.Stat()
	if err == nil {
		var named os.FileInfo
		if named, err = os.Lstat(s.path); err == nil && !os.SameFile(mine, named) {
			err = fs.ErrNotExist
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		f.Close()
		return objectdb.ErrSaving
	}
	if err != nil {
		f.Close()
		return pathError(err)
	}
	if owner, ok := mine.Sys().(*syscall.Stat_t); ok && (int(owner.Uid) != os.Geteuid() || owner.Nlink != 1) {
		// Its owner, or a user with another link to it, could read the copy, or make us
		// write it into another file.
		err := os.Remove(s.path)
		f.Close()
		if err != nil {
			return fmt.Errorf("%s belongs to another user; remove it: %w", s.path, pathError(err))
		}
		return s.lock()
	}
	s.file = f
	return nil
}

// clear empties the file, and gives it the rights of the root: they hold the same secrets. If the root is no file,
// the owner and the group of the folder may read the copy.
func (s *saving) clear() error {
	err := s.file.Truncate(0)
	if err == nil {
		err = giveRights(s.file, s.root)
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = giveRights(s.file, filepath.Dir(s.root))
	}
	return pathError(err)
}

// finish makes the file a saved copy, and releases the lock.
func (s *saving) finish(c *objectdb.Copy) error {
	info, err := s.file.Stat()
	if err != nil {
		return pathError(err)
	}
	c.Size = info.Size()
	if err := os.Chtimes(s.path, c.Fresh, c.Fresh); err != nil {
		return pathError(err)
	}
	if err := s.file.Sync(); err != nil {
		return pathError(err)
	}
	if _, err := os.Lstat(c.Path); err == nil {
		return fmt.Errorf("%w: %s", fs.ErrExist, c.Path)
	}
	// Not a link: were the process killed between it and the removal, the
	// next one would overwrite the copy.
	if err := os.Rename(s.path, c.Path); err != nil {
		return pathError(err)
	}
	err = syncFolder(filepath.Dir(c.Path))
	s.file.Close()
	s.file = nil
	return err
}

// failedMark begins the file if it holds the error of a save instead of a copy.
const failedMark = "not saved: "

// end releases the lock. What is unfinished is removed, but the text of a failure
// stays in the file for LastFailure.
func (s *saving) end(err error) {
	if s.file == nil {
		return
	}
	cancelled := errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) ||
		errors.Is(err, objectdb.ErrClosed)
	if err == nil || cancelled || s.file.Truncate(0) != nil {
		os.Remove(s.path)
	} else {
		_, _ = s.file.WriteAt([]byte(failedMark+err.Error()), 0)
	}
	s.file.Close()
	s.file = nil
}

func (s *store) LastFailure() objectdb.Failure { return lastFailure(s.path) }

func lastFailure(root string) objectdb.Failure {
	f, err := os.Open(savingPath(root))
	if err != nil {
		return objectdb.Failure{}
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return objectdb.Failure{}
	}
	if syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB) != nil {
		return objectdb.Failure{Time: info.ModTime()}
	}
	text := make([]byte, 1000)
	n, _ := f.Read(text)
	why, ok := strings.CutPrefix(string(text[:n]), failedMark)
	if !ok {
		why = "the program that saved it was ended"
	}
	return objectdb.Failure{Time: info.ModTime(), Why: why}
}
