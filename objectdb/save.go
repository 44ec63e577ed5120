package objectdb

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"os"
	"time"

	sqlite3 "github.com/mattn/go-sqlite3"
)

// SaveOptions are the ways to save a copy. The zero value saves one at once.
type SaveOptions struct {
	// Keep is how many copies stay: when the new one is finished, the oldest
	// beyond it are removed. 0 removes none. Copies made before a root was
	// brought up to date are neither counted nor removed.
	Keep int
	// Wait is how long another program that saves a copy of the same root is
	// waited for; after it the error is ErrSaving.
	Wait time.Duration
	// Changed gives the newest copy and ErrUnchanged, instead of a new copy, when
	// nothing was committed since it was saved.
	Changed bool
	// Due is asked when nobody else can save any more; its error, if it gives
	// one, ends the save before anything is done. nil is none.
	Due func() error
	// Progress is called about ten times a second, and at the end, with the
	// bytes that are written and about how many there will be.
	Progress func(done, all int64)
}

// ErrUnchanged says that the newest copy holds what the root holds.
var ErrUnchanged = errors.New("nothing was changed since the newest copy was saved")

// Save makes a saved copy of the root, of one state, while others go on reading and
// writing, and has the WAL folded into the root as far as readers let it. The
// copy appears whole or not at all, and is on the disk when Save returns. When
// the copy was made and old ones could not be removed, there are a Copy and an error.
func (db *DB) Save(ctx context.Context, o SaveOptions) (Copy, error) {
	c, err := db.save(ctx, o)
	if err != nil && !errors.Is(err, ErrUnchanged) {
		err = &Error{Op: "save a copy of", Path: db.path, Err: err}
	}
	return c, err
}

func (db *DB) save(ctx context.Context, o SaveOptions) (c Copy, err error) {
	if db.options.ReadOnly {
		return c, ErrReadOnly
	}
	s, err := startSaving(ctx, db.path, o.Wait)
	if err != nil {
		return c, err
	}
	// What is no failure of saving leaves no note.
	var failure error
	defer func() { s.end(failure) }()
	if o.Due != nil {
		if err := o.Due(); err != nil {
			return c, err
		}
	}
	conn, err := db.take()
	if err != nil {
		return c, err
	}
	defer db.give(conn)
	if o.Changed {
		if c, ok := db.newestIsFresh(conn); ok {
			return c, ErrUnchanged
		}
	}
	if c, failure = db.saveWith(ctx, conn, s, 0, o.Progress); failure != nil {
		return Copy{}, failure
	}
	if o.Keep > 0 {
		err = prune(db.path, o.Keep)
	}
	return c, err
}

// newestIsFresh tells whether the newest copy holds what the root does, and if
// so notes the time on it.
func (db *DB) newestIsFresh(conn *conn) (Copy, bool) {
	list, err := Copies(db.path)
	if err != nil || len(list) == 0 {
		return Copy{}, false
	}
	saved, err := Inspect(list[0].Path)
	if err != nil {
		return Copy{}, false
	}
	var now Info
	err = db.patient(func() (err error) {
		now, err = conn.info()
		return err
	})
	same := err == nil && now.Version == saved.Version && now.Generation == saved.Generation && now.Created.Equal(saved.Created)
	if same {
		list[0].Fresh = db.options.Now()
		same = os.Chtimes(list[0].Path, list[0].Fresh, list[0].Fresh) == nil
	}
	return list[0], same
}

// saveWith makes a copy of what conn sees, and finishes s by it.
func (db *DB) saveWith(ctx context.Context, conn *conn, s *saving, version int, progress func(done, all int64)) (Copy, error) {
	c, err := newCopy(db.path, db.options.Now(), version)
	if err != nil {
		return c, err
	}
	if err := s.clear(); err != nil {
		return c, err
	}
	if err := db.patient(func() error { return conn.copyTo(ctx, s, progress) }); err != nil {
		return c, err
	}
	if err := s.finish(&c); err != nil {
		return c, err
	}
	return c, nil
}

// copyTo writes a copy of what the connection sees into the unfinished file.
//
// VACUUM INTO and not the backup API: that begins again whenever somebody else
// writes, and never ends under steady writes (https://www.sqlite.org/backup.html).
func (c *conn) copyTo(ctx context.Context, s *saving, progress func(done, all int64)) error {
	// Folds the WAL into the file, and waits for nobody.
	if _, err := c.checkpoint(sqlCheckpoint); err != nil {
		return err
	}
	all, err := c.contentBytes()
	if err != nil {
		return err
	}
	done := make(chan error, 1)
	go func() {
		_, err := c.c.ExecContext(ctx, `VACUUM INTO ?`, []driver.NamedValue{{Ordinal: 1, Value: s.path}})
		done <- err
	}()
	beat := time.NewTicker(100 * time.Millisecond)
	defer beat.Stop()
	for {
		select {
		case err := <-done:
			var sqlite sqlite3.Error
			if cause := context.Cause(ctx); cause != nil && (errors.Is(err, ctx.Err()) || errors.As(err, &sqlite) && sqlite.Code == sqlite3.ErrInterrupt) {
				return cause
			}
			if err == nil && progress != nil {
				progress(all, all)
			}
			return sqlError(err)
		case <-beat.C:
			if info, err := s.file.Stat(); err == nil && progress != nil {
				progress(min(info.Size(), all), all)
			}
		}
	}
}

// contentBytes gives about the size that a copy will have.
func (c *conn) contentBytes() (int64, error) {
	rows, err := c.c.Query(`SELECT (p.page_count - f.freelist_count) * s.page_size
		FROM pragma_page_count p, pragma_freelist_count f, pragma_page_size s`, nil)
	if err != nil {
		return 0, sqlError(err)
	}
	defer rows.Close()
	var row [1]driver.Value
	if err := rows.Next(row[:]); err != nil {
		return 0, sqlError(err)
	}
	n, _ := row[0].(int64)
	return n, nil
}

// prune removes the oldest copies beyond keep.
func prune(path string, keep int) error {
	list, err := Copies(path)
	if err != nil {
		return err
	}
	var errs []error
	for _, c := range list {
		if c.Version != 0 {
			continue
		}
		if keep--; keep < 0 {
			if err := os.Remove(c.Path); err != nil && !errors.Is(err, os.ErrNotExist) {
				errs = append(errs, fmt.Errorf("remove the old copy %s: %w", c.Path, pathError(err)))
			}
		}
	}
	return errors.Join(errs...)
}

// patient calls try again while the root is locked, for the time of one
// transaction.
func (db *DB) patient(try func() error) error {
	return retry(context.Background(), time.Now().Add(db.options.BusyTimeout), try)
}
