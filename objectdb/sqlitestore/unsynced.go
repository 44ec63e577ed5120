package sqlitestore

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"time"
)

// unsynced is the mark of a failed sync: an empty file beside the root, its name with
// -unsynced. The kernel reports a failed write only once, to the processes that have the
// file open; a later sync succeeds although the data never reached the disk. So a
// process whose sync fails makes the mark before it returns the error, and while the
// mark exists, no process acknowledges a commit or copies the WAL into the root.
// The next writer rewrites the WAL and removes the mark ([conn.rewriteWAL]).
type unsynced struct {
	root string      // links resolved; the mark lies beside it
	own  atomic.Bool // a sync of this process failed, and the mark could not be made
}

func (u *unsynced) path() string { return u.root + "-unsynced" }

// at returns the time of the mark, which differs for each failure, and reports whether
// there is a mark.
func (u *unsynced) at() (when time.Time, marked bool) {
	if u == nil {
		return when, false
	}
	if info, err := os.Lstat(u.path()); err == nil {
		return info.ModTime(), true
	}
	return when, u.own.Load()
}

func (u *unsynced) marked() bool {
	_, marked := u.at()
	return marked
}

// mark makes the mark, or sets own if that fails.
func (u *unsynced) mark() {
	if u != nil && u.locked(u.make) != nil {
		u.own.Store(true)
	}
}

// make makes the file, in place of that of an earlier failure.
func (u *unsynced) make() error {
	f, err := os.CreateTemp(filepath.Dir(u.root), filepath.Base(u.path())+".*")
	if err != nil {
		return err
	}
	defer f.Close()
	_ = giveRights(f, u.root)
	now := time.Now()
	err = os.Chtimes(f.Name(), now, now) // the kernel's own times are too coarse
	if err == nil {
		err = os.Rename(f.Name(), u.path())
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}

// clear removes the mark that has the time when; that of a later failure stays.
func (u *unsynced) clear(when time.Time) error {
	err := u.locked(func() error {
		info, err := os.Lstat(u.path())
		if err == nil && info.ModTime().Equal(when) {
			err = os.Remove(u.path())
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	})
	if err == nil {
		u.own.Store(false)
	}
	return err
}

// locked calls fn while no other process makes or removes the mark.
func (u *unsynced) locked(fn func() error) error {
	dir, err := os.Open(filepath.Dir(u.root))
	if err != nil {
		return err
	}
	defer dir.Close()
	if err := flock(dir, syscall.LOCK_EX); err != nil {
		return err
	}
	return fn()
}
