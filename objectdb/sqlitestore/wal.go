package sqlitestore

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"time"

	sqlite3 "github.com/mattn/go-sqlite3"

	"scripter/objectdb"
)

// SQLite runs with synchronous=NORMAL; we sync the WAL ourselves after releasing the
// writer's lock, so concurrent commits of all processes share one sync. With
// synchronous=FULL, SQLite would hold the lock while it syncs, once for each commit. A
// commit returns after its sync, which covers everything that was written before it. So
// whatever a commit was built on is on the disk when it returns. A reader may briefly
// see a commit that is not durable yet.
//
// The WAL is folded into the root outside of the lock when it has walFold pages, and
// under the lock when it has twice as many: then so much is written that a fold outside
// of it never comes to an end.
const walFold = 1000

// walFile is the WAL as it is opened for syncing. A connection uses it, and the commits
// that wait for a sync.
type walFile struct {
	*os.File
	info  os.FileInfo
	users atomic.Int32
}

func openWAL(name string) (*walFile, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, err
	}
	w := &walFile{File: f, info: info}
	return w.hold(), nil
}

func (w *walFile) hold() *walFile {
	w.users.Add(1)
	return w
}

func (w *walFile) letGo() {
	if w.users.Add(-1) == 0 {
		w.Close()
	}
}

// waitsForSync reports whether a commit is synced by us. Without a WAL SQLite has waited
// for the disk itself.
func (s *store) waitsForSync(w *walFile) bool { return w != nil && !s.options.Relaxed }

// sync writes what was committed to the disk. After a failed sync, in this process or
// another, it fails until the WAL is rewritten: see [unsynced].
func (s *store) sync(w *walFile) error {
	if !s.waitsForSync(w) {
		return nil
	}
	return s.syncs.join(w, func() error {
		if err := syncData(w.File); err != nil {
			s.unsynced.mark()
			return fmt.Errorf("%w: %w", errUnsynced, err)
		}
		if s.unsynced.marked() {
			return errUnsynced
		}
		return nil
	})
}

var errUnsynced = fmt.Errorf("%w: what was committed may be lost when the power fails", objectdb.ErrDisk)

// findRoot checks that the root still has its name: what is written to one that
// was removed, or that another file has taken the place of, is lost with the
// processes that have it open. Reading goes on.
func (c *conn) findRoot() error {
	if c.store == nil || c.store.file.info == nil {
		return nil
	}
	named, err := os.Stat(c.c.GetFilename("main"))
	if err == nil && os.SameFile(named, c.store.file.info) {
		return nil
	}
	return fmt.Errorf("%w: it was moved, or another file took its place, while it was in use; "+
		"end all programs that use it, and start them again", objectdb.ErrDamaged)
}

// findWAL opens the WAL for sync, and checks each time that it is there still:
// what is written to one that was removed is lost with the processes that have it
// open. What it holds is brought into the root then.
func (c *conn) findWAL() error {
	name := c.c.GetFilename("main") + "-wal"
	if c.wal == nil {
		// There are no locks on the WAL, so closing it releases none.
		w, err := openWAL(name)
		if err == nil {
			c.wal = w
			return nil
		}
		// A copy that was never opened as a root has none.
		var mode [1]driver.Value
		if err := c.first(mode[:], `PRAGMA journal_mode`); err != nil {
			return err
		}
		if mode[0] != "wal" {
			return nil
		}
	} else {
		named, err := os.Lstat(name)
		if err == nil && os.SameFile(c.wal.info, named) {
			return nil
		}
	}
	c.rollback()
	_, err := c.checkpoint(sqlCheckpoint)
	return errors.Join(fmt.Errorf("%w: its file -wal was removed while it was in use; "+
		"end all programs that use it, and start them again", objectdb.ErrDamaged), err)
}

// walState is what a checkpoint tells: the pages in the WAL, and how many of
// them are in the root. Both are -1 while another process does it.
type walState struct {
	busy          bool
	pages, folded int64
}

func (c *conn) checkpoint(s statement) (walState, error) {
	if s != sqlWALState && c.unsynced.marked() {
		return walState{busy: true, pages: -1, folded: -1}, nil // a power cut meanwhile would find a WAL with gaps
	}
	var row [3]driver.Value
	if err := c.one(row[:], s); err != nil {
		c.failed(err)
		return walState{}, err
	}
	busy, _ := row[0].(int64)
	pages, _ := row[1].(int64)
	folded, _ := row[2].(int64)
	return walState{busy != 0, pages, folded}, nil
}

// failed examines an error of SQLite, because a sync of SQLite's own may have failed.
func (c *conn) failed(err error) {
	var sqlite sqlite3.Error
	if !errors.As(err, &sqlite) {
		return
	}
	switch sqlite.ExtendedCode {
	case sqlite3.ErrIoErrFsync, sqlite3.ErrIoErrDirFsync:
		c.unsynced.mark()
	}
}

// framesAfterFailure returns how many frames SQLite knows of in the WAL that must be
// rewritten, or 0 if none must.
func (c *conn) framesAfterFailure(marked bool) (int64, error) {
	if !marked {
		return 0, nil
	}
	w, err := c.checkpoint(sqlWALState)
	if err == nil && w.busy {
		err = objectdb.ErrBusy
	}
	return max(w.pages, 0), err
}

// foldWAL brings what is in the WAL into the root, if it is time. If it cannot, a later
// commit tries again.
func (s *store) foldWAL(ctx context.Context) {
	limit := s.options.WALBytes
	if limit <= 0 && s.commits.Add(1)%foldLooks != 0 {
		return
	}
	c, err := s.acquire()
	if err != nil {
		return
	}
	defer s.release(c)
	if limit > 0 {
		c.emptyWAL(limit)
		return
	}
	w, err := c.checkpoint(sqlWALState)
	if err == nil && w.pages < walFold {
		s.foldNext.Store(0)
	}
	if err != nil || w.pages < max(walFold, s.foldNext.Load()) || w.pages-w.folded < walFold {
		return
	}
	w, err = c.checkpoint(sqlCheckpoint)
	if err != nil || w.pages < 0 {
		return
	}
	// Readers may need what is in it: to try at each commit would cost more and more.
	s.foldNext.Store(w.pages + walFold)
	if w.pages < 2*walFold || s.lockWriter(ctx, time.Now().Add(s.options.BusyTimeout)) != nil {
		return
	}
	defer s.unlockWriter()
	_, _ = c.checkpoint(sqlCheckpoint) // the next to write finds all of it folded, and begins anew
}

// foldLooks is the number of commits of a store after which the length of the WAL is
// checked again.
const foldLooks = 8

// emptyWAL folds all of the WAL into the root and empties the file, when it is
// longer than limit bytes. It does not wait; a later commit tries again.
func (c *conn) emptyWAL(limit int64) {
	if info, err := os.Stat(c.c.GetFilename("main") + "-wal"); err == nil && info.Size() > limit {
		_, _ = c.checkpoint(sqlCheckpointTruncate)
	}
}
