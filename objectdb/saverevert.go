package objectdb

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// Reverted is what Revert has done.
type Reverted struct {
	Before   Copy  // the state before, which Revert goes back to as to any copy
	Restored int64 // objects that were changed or gone
	Removed  int64 // objects that had not been there
}

// Revert makes the root what it was when the copy at path was saved. The
// copy is checked first, and the present state is saved. Then, in one transaction
// of the root itself, all that differs is replaced: whoever has the root open goes on
// with it, and sees the one state or the other. A transaction that has begun
// before and writes is run again. Objects that are the same keep their version,
// all others get a new one; the generation goes on.
//
// Writers wait while it works. o.Wait and o.Progress mean what they mean in Save.
func (db *DB) Revert(ctx context.Context, path string, o SaveOptions) (Reverted, error) {
	r, err := db.revert(ctx, path, o)
	if err != nil {
		err = &Error{Op: "revert", Path: db.path, Err: err}
	}
	return r, err
}

func (db *DB) revert(ctx context.Context, path string, o SaveOptions) (r Reverted, err error) {
	if db.options.ReadOnly {
		return r, ErrReadOnly
	}
	s, err := startSaving(ctx, db.path, o.Wait)
	if err != nil {
		return r, err
	}
	defer func() { s.end(nil) }()
	source, tidy, err := db.checkedCopy(ctx, path)
	if err != nil {
		return r, fmt.Errorf("%s cannot be used: %w", path, err)
	}
	defer tidy()
	c, err := db.connect()
	if err != nil {
		return r, err
	}
	defer c.close()
	if _, err := c.c.ExecContext(ctx, `ATTACH ? AS saved`, []driver.NamedValue{{Ordinal: 1, Value: source}}); err != nil {
		return r, sqlError(err)
	}
	start := time.Now()
	if err := db.lockWriter(ctx, start.Add(db.options.BusyTimeout)); err != nil {
		return r, err
	}
	defer db.unlockWriter()
	defer c.rollback()
	var gen, last int64
	err = retry(ctx, start.Add(db.options.BusyTimeout), func() (err error) {
		gen, last, err = c.beginWrite()
		return err
	})
	if err != nil {
		return r, err
	}
	// While the lock is held, so that nothing falls between the copy and
	// what comes now.
	if r.Before, err = db.saveNow(ctx, s, o); err != nil {
		return r, fmt.Errorf("the present state could not be saved: %w", err)
	}
	err = db.replace(ctx, c, gen, last, &r)
	return r, err
}

func (db *DB) saveNow(ctx context.Context, s *saving, o SaveOptions) (Copy, error) {
	other, err := db.take()
	if err != nil {
		return Copy{}, err
	}
	defer db.give(other)
	return db.saveWith(ctx, other, s, 0, o.Progress)
}

// sameObject compares an object of the root, o, with one of the copy, s.
const sameObject = `s.id = o.id AND s.parent = o.parent AND s.name = o.name AND s.fold = o.fold AND s.kind = o.kind AND s.ver = o.ver
	AND s.created = o.created AND s.modified = o.modified AND s.size = o.size AND s.type = o.type AND s.value IS o.value`

// replace puts the objects of the copy into the place of those of the root.
func (db *DB) replace(ctx context.Context, c *conn, gen, last int64, r *Reverted) error {
	var meta [3]driver.Value
	if err := c.first(meta[:], `SELECT generation, last_id, (SELECT count(*) FROM main.object WHERE id NOT IN (SELECT id FROM saved.object)) FROM saved.meta`); err != nil {
		return err
	}
	savedGen, savedLast, err := metaRow([2]driver.Value{meta[0], meta[1]})
	if err != nil {
		return err
	}
	r.Removed, _ = meta[2].(int64)
	// Above both: no version of an object is given twice.
	now := max(gen, savedGen) + 1
	exec := func(query string, args ...driver.Value) (int64, error) {
		result, err := c.c.ExecContext(ctx, query, named(args))
		if err != nil {
			return 0, sqlError(err)
		}
		return result.RowsAffected()
	}
	if _, err := exec(`DELETE FROM main.object AS o WHERE NOT EXISTS (SELECT 1 FROM saved.object AS s WHERE ` + sameObject + `)`); err != nil {
		return err
	}
	r.Restored, err = exec(`INSERT INTO main.object (`+rowColumns+`value)
		SELECT id, parent, name, fold, kind, ?1, created, modified, size, type, value
		FROM saved.object WHERE id NOT IN (SELECT id FROM main.object)`, now)
	if err != nil {
		return err
	}
	if _, err := exec(`UPDATE main.meta SET generation = ?1, last_id = ?2, reverted = ?1, changes = x''`, now, max(last, savedLast)); err != nil {
		return err
	}
	if err := context.Cause(ctx); err != nil {
		return err
	}
	if err := db.publishRevert(c, now); err != nil {
		return err
	}
	if err := db.sync(c.wal); err != nil {
		return err
	}
	_, err = c.checkpoint(sqlCheckpoint)
	return err
}

func (db *DB) publishRevert(c *conn, gen int64) error {
	db.publishing.Lock()
	defer db.publishing.Unlock()
	if err := c.commit(); err != nil {
		return err
	}
	db.cache.advance(gen, nil)
	return nil
}

func named(args []driver.Value) []driver.NamedValue {
	list := make([]driver.NamedValue, len(args))
	for i, arg := range args {
		list[i] = driver.NamedValue{Ordinal: i + 1, Value: arg}
	}
	return list
}

// first reads the first row of a query that is not kept prepared.
func (c *conn) first(row []driver.Value, query string) error {
	rows, err := c.c.Query(query, nil)
	if err != nil {
		return sqlError(err)
	}
	defer rows.Close()
	return metaError(rows.Next(row))
}

// checkedCopy gives the file of a copy of this root in which nothing is wrong.
// An older one is brought up to date in a folder of its own, which tidy removes.
func (db *DB) checkedCopy(ctx context.Context, path string) (file string, tidy func(), err error) {
	tidy = func() {}
	info, err := os.Stat(path)
	if err != nil {
		return "", tidy, pathError(err)
	}
	if os.SameFile(info, db.file.info) {
		return "", tidy, errors.New("it is the root itself")
	}
	said, err := Inspect(path)
	if err != nil {
		return "", tidy, bare(err)
	}
	o := Options{ReadOnly: true, CacheBytes: -1}
	if said.Version < schemaVersion {
		dir, name := besideRoot(db.path)
		// The right to save makes it ours alone.
		dir = filepath.Join(dir, name+".reverting")
		tidy = func() { os.RemoveAll(dir) }
		tidy()
		if err := os.Mkdir(dir, 0o700); err != nil {
			return "", tidy, pathError(err)
		}
		own := filepath.Join(dir, "copy.root")
		if err := copyFile(path, own); err != nil {
			tidy()
			return "", func() {}, err
		}
		path, o = own, Options{Relaxed: true, CacheBytes: -1, Program: db.options.Program}
	}
	if err := db.checkCopy(ctx, path, o); err != nil {
		tidy()
		return "", func() {}, err
	}
	return path, tidy, nil
}

func (db *DB) checkCopy(ctx context.Context, path string, o Options) error {
	saved, err := Open(path, o)
	if err != nil {
		return bare(err)
	}
	defer saved.Close()
	problems, err := saved.Check(ctx)
	switch {
	case err != nil:
		return bare(err)
	case len(problems) > 0:
		return fmt.Errorf("%w: %v", ErrDamaged, problems[0])
	}
	theirs, err := saved.Info(ctx)
	if err != nil {
		return bare(err)
	}
	ours, err := db.Info(ctx)
	if err == nil && !theirs.Created.Equal(ours.Created) {
		err = errors.New("it is a copy of another root; export that one, and import its files")
	}
	return err
}

// Info tells what the root says of itself.
func (db *DB) Info(ctx context.Context) (info Info, err error) {
	err = db.View(ctx, func(tx *Tx) error {
		info, err = tx.conn.info()
		return err
	})
	return info, err
}

// bare drops operation and path, which are told already.
func bare(err error) error {
	if known := new(Error); errors.As(err, &known) {
		return known.Err
	}
	return err
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return pathError(err)
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return pathError(err)
	}
	_, err = io.Copy(out, in)
	return errors.Join(pathError(err), out.Close())
}
