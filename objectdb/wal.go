package objectdb

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"os"
	"time"
)

// SQLite is told not to wait for the disk (synchronous=NORMAL), and we do it: when
// a commit is in the WAL and the writer's lock is given back, the WAL is synced,
// and only then does the commit return. So many processes wait for the disk at
// once, and one of its turns serves all of them, while SQLite's own way
// (synchronous=FULL) is to hold the lock meanwhile and to let each wait alone. What
// is promised is the same: a sync covers all that was written before it, also by
// others, so whatever a commit was built on is on the disk when it returns. Only
// who reads may see what is not there yet.
//
// The WAL is folded into the root in the same spirit: outside of the lock when it
// has walFold pages, and under it when it has twice as many, which happens
// when so much is written that the first never comes to an end of it.
const walFold = 1000

// sync has what was committed reach the disk.
func (c *conn) sync() error {
	if c.relaxed || c.wal == nil { // without a WAL SQLite has waited for the disk itself
		return nil
	}
	if err := syncData(c.wal); err != nil {
		c.broken = true
		return fmt.Errorf("%w: what was committed may be lost when the power fails: %w", ErrDisk, err)
	}
	return nil
}

// findWAL opens the WAL for sync, and looks each time whether it is there still:
// what is written to one that was removed is lost with the processes that have it
// open. What it holds is brought into the root then.
func (c *conn) findWAL() error {
	name := c.c.GetFilename("main") + "-wal"
	if c.wal == nil {
		// Nobody holds locks on the WAL: closing it again gives up none.
		f, err := os.Open(name)
		if err == nil {
			c.wal = f
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
		mine, err := c.wal.Stat()
		named, err2 := os.Lstat(name)
		if err == nil && err2 == nil && os.SameFile(mine, named) {
			return nil
		}
	}
	c.rollback()
	_, err := c.checkpoint(sqlCheckpoint)
	return errors.Join(fmt.Errorf("%w: its file -wal was removed while it was in use; end all programs that use it, and start them again", ErrDamaged), err)
}

// settle ends a commit that is in the WAL already.
func (tx *Tx) settle() error {
	tx.unlock()
	if err := tx.conn.sync(); err != nil {
		tx.db.suspect.Store(true)
		return err
	}
	tx.db.foldWAL(tx.ctx, tx.conn)
	return nil
}

// repair makes good for a sync that has failed. The system forgets what it could
// not write, and a later sync that succeeds says nothing of it: so everything is
// written once more, into the root, and the WAL begins anew. The writer's lock
// among our goroutines is held.
func (db *DB) repair(c *conn) error {
	if !db.suspect.Load() {
		return nil
	}
	w, err := c.checkpoint(sqlCheckpointRestart)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrDisk, err)
	}
	if w.busy {
		return ErrBusy
	}
	db.suspect.Store(false)
	return nil
}

// walState is what a checkpoint tells: the pages in the WAL, and how many of
// them are in the root. Both are -1 when somebody else is at it.
type walState struct {
	busy          bool
	pages, folded int64
}

func (c *conn) checkpoint(s statement) (walState, error) {
	var row [3]driver.Value
	if err := c.one(row[:], s); err != nil {
		return walState{}, err
	}
	busy, _ := row[0].(int64)
	pages, _ := row[1].(int64)
	folded, _ := row[2].(int64)
	return walState{busy != 0, pages, folded}, nil
}

// foldWAL brings what is in the WAL into the root, if it is time. It does no harm
// when it cannot: a later commit tries again.
func (db *DB) foldWAL(ctx context.Context, c *conn) {
	if limit := db.options.WALBytes; limit > 0 {
		c.emptyWAL(limit)
		return
	}
	w, err := c.checkpoint(sqlWALState)
	if err == nil && w.pages < walFold {
		db.foldNext.Store(0)
	}
	if err != nil || w.pages < max(walFold, db.foldNext.Load()) || w.pages-w.folded < walFold {
		return
	}
	w, err = c.checkpoint(sqlCheckpoint)
	if err != nil || w.pages < 0 {
		return
	}
	// Readers may need what is in it: to try at each commit would cost more and more.
	db.foldNext.Store(w.pages + walFold)
	if w.pages < 2*walFold || db.lockWriter(ctx, time.Now().Add(db.options.BusyTimeout)) != nil {
		return
	}
	defer db.unlockWriter()
	_, _ = c.checkpoint(sqlCheckpoint) // the next to write finds all of it folded, and begins anew
}

// emptyWAL folds all of the WAL into the root and empties the file, when it is
// longer than limit bytes. It waits for nobody; a later commit tries again.
func (c *conn) emptyWAL(limit int64) {
	if info, err := os.Stat(c.c.GetFilename("main") + "-wal"); err == nil && info.Size() > limit {
		c.c.Exec(`PRAGMA wal_checkpoint(TRUNCATE)`, nil)
	}
}
