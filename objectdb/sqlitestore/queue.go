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

// queue is where the writers of all processes wait for one another: an empty
// file beside the root, its name with -lock, locked by flock(2). A writer locks it
// first, and takes SQLite's own lock then, which is free. The kernel
// wakes one waiter when the holder unlocks the file or ends, however it ends. SQLite's own
// way of waiting is to try again after a pause, which lets late comers pass and leaves
// some waiting for very long.
//
// Correctness does not depend on the queue: SQLite's lock still decides. So a process
// that cannot open the file goes without, and a file that is removed while it is in use
// costs a little order for a moment.
//
// One goroutine of a store uses it at a time.
type queue struct {
	root string // the file that is queued for, links resolved

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

func newQueue(root string) *queue {
	return &queue{root: resolved(root)}
}

func (q *queue) path() string { return q.root + "-lock" }

// enter waits until this process is the one that may write: ErrBusy after the
// deadline.
func (q *queue) enter(ctx context.Context, deadline time.Time) error {
	for {
		f, err := q.open()
		if err != nil {
			return nil
		}
		if err := q.lock(ctx, f, deadline); err != nil {
			return err
		}
		// The last user of a root removes the file; then the next one's is another.
		mine, err := f.Stat()
		named, err2 := os.Lstat(q.path())
		if err != nil || err2 == nil && os.SameFile(mine, named) {
			return nil
		}
		q.close()
	}
}

func (q *queue) open() (*os.File, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.file != nil {
		return q.file, nil
	}
	open := func() (*os.File, error) { return os.OpenFile(q.path(), os.O_RDONLY|syscall.O_NOFOLLOW, 0) }
	f, err := open()
	if errors.Is(err, os.ErrNotExist) {
		if f, err = q.create(); errors.Is(err, os.ErrExist) {
			f, err = open()
		}
	}
	q.file = f
	return f, err
}

// create makes the file, with the rights of the root, so that whoever may write the root
// can wait. It does not change the mode of a file that another process has made meanwhile.
func (q *queue) create() (*os.File, error) {
	f, err := os.OpenFile(q.path(), os.O_RDONLY|os.O_CREATE|os.O_EXCL, 0o660)
	if err != nil {
		return nil, err
	}
	_ = giveRights(f, q.root)
	return f, nil
}

// giveRights sets the owner and the mode of a file beside the root to those of the root,
// because the operator may be another user than the web server's. Not every user may
// change the owner.
func giveRights(f *os.File, root string) error {
	info, err := os.Stat(root)
	if err != nil {
		return err
	}
	if owner, ok := info.Sys().(*syscall.Stat_t); ok {
		_ = f.Chown(int(owner.Uid), int(owner.Gid))
	}
	return f.Chmod(info.Mode().Perm())
}

// lock takes the kernel's lock on f. On a file system without locks it does not wait.
func (q *queue) lock(ctx context.Context, f *os.File, deadline time.Time) error {
	w, err := q.begin(f)
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
	q.mu.Lock()
	defer q.mu.Unlock()
	select {
	case err := <-w.done: // in the last moment
		return err
	default:
		w.wanted = false
		return err
	}
}

// begin takes the lock if it is free, and else returns the wait for it.
func (q *queue) begin(f *os.File) (*kernelWait, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.wait != nil {
		q.wait.wanted = true
		return q.wait, nil
	}
	if err := flock(f, syscall.LOCK_EX|syscall.LOCK_NB); !errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, nil
	}
	w := &kernelWait{done: make(chan error, 1), wanted: true}
	q.wait = w
	go func() {
		_ = flock(f, syscall.LOCK_EX)
		q.mu.Lock()
		defer q.mu.Unlock()
		q.wait = nil
		if !w.wanted {
			_ = flock(f, syscall.LOCK_UN)
		}
		w.done <- nil
	}()
	return w, nil
}

// leave unlocks the file for the next one.
func (q *queue) leave() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.file != nil {
		_ = flock(q.file, syscall.LOCK_UN)
	}
}

func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.file != nil {
		q.file.Close()
		q.file = nil
	}
}

// tidy removes the file when no process has the root open any more: then SQLite has
// removed its WAL.
func (q *queue) tidy() {
	if _, err := os.Lstat(q.root + "-wal"); errors.Is(err, os.ErrNotExist) {
		_ = os.Remove(q.path())
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
