package sqlitestore

import (
	"context"
	"errors"
	"os"
	"sync"
	"syscall"
	"time"

	"scripter/objectdb"
)

// writerLock is the lock that writers of all processes take one after the other: an empty
// file beside the root, its name with -lock, locked by flock(2). A writer locks it first, and
// then takes SQLite's own lock, which is free. The kernel wakes one waiter when the holder
// unlocks the file or ends, however it ends. SQLite's own way of waiting is to try again after
// a pause, which lets late comers pass and leaves some waiting for very long.
//
// Correctness does not depend on it: SQLite's lock still decides. So a process that cannot
// open the file goes without, and a file that is removed while it is in use costs a little
// order for a moment.
//
// One goroutine of a store uses it at a time.
type writerLock struct {
	root string // the file of the root, links resolved

	mu   sync.Mutex
	file *os.File // nil before the first use
	wait *kernelWait
}

// kernelWait is a call of flock that has not returned. It cannot be ended: a writer that
// stops waiting leaves it to the next one that comes, if one does.
type kernelWait struct {
	done   chan error
	wanted bool
}

func newWriterLock(root string) *writerLock {
	return &writerLock{root: resolved(root)}
}

func (l *writerLock) path() string { return l.root + "-lock" }

// enter waits until this process is the one that may write: ErrBusy after the
// deadline.
func (l *writerLock) enter(ctx context.Context, deadline time.Time) error {
	for {
		f, err := l.open()
		if err != nil {
			return nil
		}
		if err := l.lock(ctx, f, deadline); err != nil {
			return err
		}
		// The last user of a root removes the file; then the next one's is another.
		mine, err := f.Stat()
		named, err2 := os.Lstat(l.path())
		if err != nil || err2 == nil && os.SameFile(mine, named) {
			return nil
		}
		l.close()
	}
}

func (l *writerLock) open() (*os.File, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file != nil {
		return l.file, nil
	}
	open := func() (*os.File, error) { return os.OpenFile(l.path(), os.O_RDONLY|syscall.O_NOFOLLOW, 0) }
	f, err := open()
	if errors.Is(err, os.ErrNotExist) {
		if f, err = l.create(); errors.Is(err, os.ErrExist) {
			f, err = open()
		}
	}
	l.file = f
	return f, err
}

// create makes the file, with the rights of the root, so that whoever may write the root
// can wait. It does not change the mode of a file that another process has made meanwhile.
func (l *writerLock) create() (*os.File, error) {
	f, err := os.OpenFile(l.path(), os.O_RDONLY|os.O_CREATE|os.O_EXCL, 0o660)
	if err != nil {
		return nil, err
	}
	_ = giveRights(f, l.root)
	return f, nil
}

// giveRights sets the owner and the mode of a file beside the root to those of the root,
// because the operator may be another user than the web server's. Not every user may
// change the owner. root may be a folder.
func giveRights(f *os.File, root string) error {
	info, err := os.Stat(root)
	if err != nil {
		return err
	}
	if owner, ok := info.Sys().(*syscall.Stat_t); ok {
		_ = f.Chown(int(owner.Uid), int(owner.Gid))
	}
	mode := info.Mode().Perm()
	if info.IsDir() {
		mode &= 0o660
	}
	return f.Chmod(mode)
}

// lock takes the kernel's lock on f. On a file system without locks it does not wait.
func (l *writerLock) lock(ctx context.Context, f *os.File, deadline time.Time) error {
	w, err := l.begin(f)
	if w == nil {
		return err
	}
	timer := time.NewTimer(time.Until(deadline))
	defer timer.Stop()
	select {
	case err := <-w.done:
		return err
	case <-timer.C:
		err = objectdb.ErrBusy
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case err := <-w.done: // in the last moment
		return err
	default:
		w.wanted = false
		return err
	}
}

// begin takes the lock if it is free, and else returns the wait for it.
func (l *writerLock) begin(f *os.File) (*kernelWait, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.wait != nil {
		l.wait.wanted = true
		return l.wait, nil
	}
	if err := flock(f, syscall.LOCK_EX|syscall.LOCK_NB); !errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, nil
	}
	w := &kernelWait{done: make(chan error, 1), wanted: true}
	l.wait = w
	go func() {
		_ = flock(f, syscall.LOCK_EX)
		l.mu.Lock()
		defer l.mu.Unlock()
		l.wait = nil
		if !w.wanted {
			_ = flock(f, syscall.LOCK_UN)
		}
		w.done <- nil
	}()
	return w, nil
}

// leave unlocks the file for the next one.
func (l *writerLock) leave() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file != nil {
		_ = flock(l.file, syscall.LOCK_UN)
	}
}

func (l *writerLock) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file != nil {
		l.file.Close()
		l.file = nil
	}
}

// tidy removes the file when no process has the root open any more: then SQLite has
// removed its WAL.
func (l *writerLock) tidy() {
	if _, err := os.Lstat(l.root + "-wal"); errors.Is(err, os.ErrNotExist) {
		_ = os.Remove(l.path())
	}
}

// flock calls flock(2).
func flock(f *os.File, how int) error {
	return onDescriptor(f, func(fd int) error { return syscall.Flock(fd, how) })
}

// onDescriptor makes a system call on a file, again if a signal interrupts it. The
// descriptor stays open until the call returns, whoever closes f meanwhile.
func onDescriptor(f *os.File, call func(fd int) error) (failure error) {
	c, err := f.SyscallConn()
	if err != nil {
		return err
	}
	err = c.Control(func(fd uintptr) {
		for failure = syscall.EINTR; failure == syscall.EINTR; {
			failure = call(int(fd))
		}
	})
	if failure == nil {
		failure = err
	}
	return failure
}
