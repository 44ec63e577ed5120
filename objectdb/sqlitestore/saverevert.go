package sqlitestore

import (
	"context"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"scripter/objectdb"
)

func (s *store) Revert(ctx context.Context, path string, o objectdb.RevertOptions) (objectdb.Reverted, error) {
	r, err := s.revert(ctx, path, o)
	if err != nil {
		err = &objectdb.Error{Op: "revert", Path: s.path, Err: err}
	}
	return r, err
}

func (s *store) revert(ctx context.Context, path string, o objectdb.RevertOptions) (r objectdb.Reverted, err error) {
	if s.options.ReadOnly {
		return r, objectdb.ErrReadOnly
	}
	unfinished, err := startSaving(ctx, s.path, o.Wait)
	if err != nil {
		return r, err
	}
	defer func() { unfinished.end(nil) }()
	source, tidy, err := s.copier().checked(ctx, path, s.file.info)
	if err != nil {
		return r, cannotBeUsed(path, err)
	}
	defer tidy()
	c, err := s.connect()
	if err != nil {
		return r, err
	}
	defer c.close()
	if _, err := c.c.ExecContext(ctx, `ATTACH ? AS saved`, []driver.NamedValue{{Ordinal: 1, Value: source}}); err != nil {
		return r, sqlError(err)
	}
	start := time.Now()
	if err := s.lockWriter(ctx, start.Add(s.options.BusyTimeout)); err != nil {
		return r, err
	}
	defer s.unlockWriter()
	defer c.rollback()
	var gen, last int64
	err = retry(ctx, start.Add(s.options.BusyTimeout), func() (err error) {
		gen, last, err = c.beginWrite()
		return err
	})
	if err != nil {
		return r, err
	}
	// While the lock is held, so that nothing falls between the copy and
	// what comes now.
	if r.Before, err = s.copier().saveAs(ctx, unfinished, 0, o.Progress); err != nil {
		return r, fmt.Errorf("the present state could not be saved: %w", err)
	}
	err = s.replace(ctx, c, gen, last, o, &r)
	return r, err
}

func cannotBeUsed(path string, err error) error {
	return fmt.Errorf("%s cannot be used: %w", path, err)
}

// sameObject compares an object of the root, o, with one of the copy, s.
const sameObject = `s.id = o.id AND s.parent = o.parent AND s.name = o.name AND s.fold = o.fold
	AND s.kind = o.kind AND s.ver = o.ver AND s.created = o.created AND s.modified = o.modified
	AND s.size = o.size AND s.type = o.type AND s.value IS o.value`

// replace puts the objects of the copy into the place of those of the root.
func (s *store) replace(
	ctx context.Context, c *conn, gen, last int64, o objectdb.RevertOptions, r *objectdb.Reverted,
) error {
	var meta [3]driver.Value
	err := c.first(meta[:], `SELECT generation, last_id,
		(SELECT count(*) FROM main.object WHERE id NOT IN (SELECT id FROM saved.object)) FROM saved.meta`)
	if err != nil {
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
	k := keeper{conn: c, commit: &objectdb.Commit{
		Generation: now, Time: s.options.Now().UnixNano(), Origin: o.Origin,
		Whole: o.Whole, Bounds: o.Bounds,
	}}
	if err := k.keepReverted(ctx, o.Unkept); err != nil {
		return err
	}
	_, err = exec(`DELETE FROM main.object AS o
		WHERE NOT EXISTS (SELECT 1 FROM saved.object AS s WHERE ` + sameObject + `)`)
	if err != nil {
		return err
	}
	if r.Restored, err = k.restore(ctx); err != nil {
		return err
	}
	// They are built again: see objectdb.DB.BuildIndexes.
	if _, err := exec(`DELETE FROM main.entry; DELETE FROM main.indexed; DELETE FROM main.idx`); err != nil {
		return err
	}
	var history [6]driver.Value
	if err := c.one(history[:], sqlChanges); err != nil {
		return metaError(err)
	}
	h, err := k.finish(ctx, history)
	if err != nil {
		return err
	}
	if err := h.setReverted(ctx, c, now, max(last, savedLast)); err != nil {
		return err
	}
	if err := context.Cause(ctx); err != nil {
		return err
	}
	if err := c.commit(); err != nil {
		return err
	}
	if err := s.sync(c.wal); err != nil {
		return err
	}
	r.Generation = now
	_, err = c.checkpoint(sqlCheckpoint)
	return err
}

// keepReverted keeps the objects that a revert replaces, except those at and below unkept.
func (k *keeper) keepReverted(ctx context.Context, unkept []int64) error {
	query := `WITH RECURSIVE below (id) AS (
			SELECT value FROM json_each (?2) UNION SELECT object.id FROM object JOIN below ON object.parent = below.id)
		INSERT INTO main.past (id, until, since, parent, name, fold, kind, ver, created, modified, size, type,
			thinned, hash, value)
		SELECT id, ?1, since, parent, name, fold, kind, ver, created, modified, size, type, 0, NULL,
			CASE WHEN size <= ?3 THEN value END
		FROM main.object AS o WHERE id NOT IN below
			AND NOT EXISTS (SELECT 1 FROM saved.object AS s WHERE ` + sameObject + `)
		RETURNING id, ` + keptBytes + `, size > ?3`
	ids, err := json.Marshal(append([]int64{}, unkept...))
	if err != nil {
		return err
	}
	var large []int64
	err = k.eachRowOf(ctx, func(row []driver.Value) error {
		id, _ := row[0].(int64)
		k.replaced(id, objectdb.Deleted, objectdb.KeepAll)
		if row[2] == int64(1) {
			large = append(large, id)
			return nil
		}
		k.count(row[1])
		return nil
	}, 3, query, k.commit.Generation, string(ids), k.commit.Whole)
	k.lasting = true
	for _, id := range large {
		if err != nil {
			return err
		}
		if _, err = k.c.ExecContext(ctx, `DELETE FROM main.past WHERE id = ? AND until = ?`,
			named([]driver.Value{id, k.commit.Generation})); err == nil {
			err = k.keepHash(id, false)
		}
	}
	return err
}

// restore inserts the objects of the copy that are not in the root, and returns how many.
func (k *keeper) restore(ctx context.Context) (n int64, err error) {
	before := map[int64]int{}
	for i, r := range k.objects {
		before[r.ID] = i
	}
	err = k.eachRowOf(ctx, func(row []driver.Value) error {
		id, _ := row[0].(int64)
		n++
		if i, ok := before[id]; ok {
			k.objects[i].How = objectdb.MovedAndWritten
		} else {
			k.replaced(id, objectdb.Inserted, objectdb.KeepAll)
		}
		return nil
	}, 1, `INSERT INTO main.object (`+rowColumns+`since, value)
		SELECT id, parent, name, fold, kind, ?1, created, modified, size, type, 0, ?1, value
		FROM saved.object WHERE id NOT IN (SELECT id FROM main.object) RETURNING id`, k.commit.Generation)
	return n, err
}

func named(args []driver.Value) []driver.NamedValue {
	list := make([]driver.NamedValue, len(args))
	for i, arg := range args {
		list[i] = driver.NamedValue{Ordinal: i + 1, Value: arg}
	}
	return list
}

// checked returns the file of a copy of this root in which nothing is wrong. An older one is brought up to date in a
// folder of its own, which tidy removes. root is the file of the root, or nil.
func (k *copier) checked(
	ctx context.Context, path string, root os.FileInfo,
) (file string, tidy func(), err error) {
	tidy = func() {}
	info, err := os.Stat(path)
	if err != nil {
		return "", tidy, pathError(err)
	}
	if root != nil && os.SameFile(info, root) {
		return "", tidy, errors.New("it is the root itself")
	}
	said, err := Inspect(path)
	if err != nil {
		return "", tidy, bare(err)
	}
	o := objectdb.Options{ReadOnly: true, CacheBytes: -1}
	if said.Version < objectdb.FileVersion {
		dir, name := besideRoot(k.path)
		// Only the process that holds the lock for saving uses this folder.
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
		path, o = own, objectdb.Options{Relaxed: true, CacheBytes: -1, Program: k.options.Program}
	}
	if err := k.check(ctx, path, o); err != nil {
		tidy()
		return "", func() {}, err
	}
	return path, tidy, nil
}

func (k *copier) check(ctx context.Context, path string, o objectdb.Options) error {
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
		return fmt.Errorf("%w: %v", objectdb.ErrDamaged, problems[0])
	}
	theirs, err := saved.Info(ctx)
	if err != nil {
		return bare(err)
	}
	ours, err := k.info(ctx)
	if err == nil && !theirs.Created.Equal(ours.Created) {
		err = errors.New("it is a copy of another root; export that one, and import its files")
	}
	return err
}

// bare drops operation and path, which are told already.
func bare(err error) error {
	if known := new(objectdb.Error); errors.As(err, &known) {
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
