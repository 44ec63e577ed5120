package sqlitestore

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"iter"
	"path/filepath"

	"scripter/objectdb"
)

func (c *conn) Dump(ctx context.Context) (*objectdb.Dump, error) {
	info, err := c.info()
	if err != nil {
		return nil, err
	}
	d := &objectdb.Dump{
		Generation: info.Generation, Created: info.Created.UnixNano(), MadeBy: info.MadeBy, MigratedBy: info.MigratedBy,
		Count: info.Objects,
	}
	h := &d.History
	numbers := []*int64{&d.LastID, &d.Reverted, &h.Reach, &h.ReachTime, &h.Thinned, &h.Bytes, &h.Objects, &h.Changes}
	row := make([]driver.Value, len(numbers))
	err = c.first(row, `SELECT last_id, reverted, reach, reach_time, thinned, past_bytes, (SELECT count(*) FROM past),
		(SELECT count(*) FROM change) FROM meta`)
	if err != nil {
		return nil, err
	}
	for i, n := range numbers {
		if !scan(n, row[i]) {
			return nil, fmt.Errorf("%w: what it says of itself is no number", objectdb.ErrDamaged)
		}
	}
	d.Objects = sequence(ctx, c, pastRow, 16, `SELECT `+rowColumns+`value, since, 0, NULL, 0 FROM object ORDER BY id`)
	d.Past = sequence(ctx, c, pastRow, 16,
		`SELECT `+pastColumns+`value, since, until, hash, thinned FROM past ORDER BY id, until`)
	d.Changes = sequence(ctx, c, recordedChange, 11,
		`SELECT generation, time, first, person, who, why, path, count, undoes, thinned, objects
			FROM change ORDER BY generation`)
	return d, nil
}

// errEnough ends a query whose reader wants no more.
var errEnough = errors.New("enough")

// sequence yields what read makes of the rows of a query.
func sequence[T any](
	ctx context.Context, c *conn, read func([]driver.Value) (T, error), columns int, query string,
) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		// A query with a context that can end costs a goroutine for each row.
		err := c.eachRowOf(context.WithoutCancel(ctx), func(row []driver.Value) error {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			v, err := read(row)
			if err == nil && !yield(v, nil) {
				err = errEnough
			}
			return err
		}, columns, query)
		if err != nil && err != errEnough {
			var none T
			yield(none, err)
		}
	}
}

func pastRow(row []driver.Value) (p objectdb.Past, err error) {
	p.Row, err = objectRow((*[12]driver.Value)(row))
	thinned := int64(0)
	if err == nil && (!scan(&p.Since, row[12]) || !scan(&p.Until, row[13]) || !scan(&thinned, row[15])) {
		err = fmt.Errorf("%w: object %d has a column of the wrong type", objectdb.ErrDamaged, p.ID)
	}
	p.Hash, _ = row[14].([]byte)
	p.Thinned = thinned != 0
	return p, err
}

func recordedChange(row []driver.Value) (r objectdb.RecordedChange, err error) {
	if r.Change, err = changeRow(row); err != nil {
		return r, err
	}
	thinned, _ := row[9].(int64)
	r.Thinned = thinned != 0
	objects, _ := row[10].([]byte)
	r.Objects, err = decodeReplaced(objects)
	return r, err
}

// Import makes a new root at path that holds what a dump has, and returns the checksums of both. If there is a file
// already, the error is fs.ErrExist. The root appears whole or not at all: it is written under another name, NAME.saving
// as an unfinished saved copy, and read again. If the program is killed meanwhile, that file stays until another copy is
// made or saved there.
func Import(ctx context.Context, path string, o objectdb.Options, d *objectdb.Dump) ([]objectdb.Sum, error) {
	sums, err := importAs(ctx, path, o, d)
	if err != nil {
		err = &objectdb.Error{Op: "copy to", Path: path, Err: err}
	}
	return sums, err
}

func importAs(
	ctx context.Context, path string, o objectdb.Options, d *objectdb.Dump,
) (sums []objectdb.Sum, err error) {
	if err := checkFree(path); err != nil {
		return nil, err
	}
	unfinished := &saving{root: path, path: savingPath(path), mode: 0o660}
	if err := unfinished.lock(); err != nil {
		return nil, err
	}
	defer func() { unfinished.end(nil) }()
	if err := unfinished.file.Truncate(0); err != nil {
		return nil, pathError(err)
	}
	if sums, err = writeDump(ctx, unfinished.path, d); err != nil {
		return nil, err
	}
	if !o.Relaxed {
		if err := unfinished.file.Sync(); err != nil {
			return nil, pathError(err)
		}
	}
	if err := linkAs(unfinished.path, path); err != nil || o.Relaxed {
		return sums, err
	}
	return sums, syncFolder(filepath.Dir(path))
}

// writeDump writes a dump to a file, which is empty, and reads it again. The caller syncs the file.
func writeDump(ctx context.Context, path string, d *objectdb.Dump) ([]objectdb.Sum, error) {
	var c *conn
	again := func(parameters string) (err error) {
		if c != nil {
			if err := c.close(); err != nil {
				return err
			}
		}
		c, err = openURI(path, parameters)
		return err
	}
	// Nobody else uses the file, and it is dropped after an error.
	if err := again("mode=rw&_synchronous=OFF&_journal_mode=OFF&_cache_size=-65536"); err != nil {
		return nil, err
	}
	sums, err := objectdb.Transfer(d, func(d *objectdb.Dump) error { return c.writeDump(ctx, d) },
		func() (*objectdb.Dump, error) {
			if err := again("mode=ro"); err != nil {
				return nil, err
			}
			return c.Dump(ctx)
		})
	if c != nil {
		err = errors.Join(err, c.close())
	}
	return sums, err
}

func (c *conn) writeDump(ctx context.Context, d *objectdb.Dump) error {
	script := fmt.Sprintf(`PRAGMA application_id = %d; PRAGMA user_version = %d; BEGIN; %s`,
		objectdb.ApplicationID, objectdb.FileVersion, schema)
	if _, err := c.c.Exec(script, nil); err != nil {
		return sqlError(err)
	}
	h := &d.History
	err := c.insert(ctx, `INSERT INTO meta (only, generation, last_id, made_by, migrated_by, reverted, reach, reach_time,
		thinned, past_bytes) VALUES (1, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, func(add func(...driver.Value) error) error {
		return add(d.Generation, d.LastID, d.MadeBy, d.MigratedBy, d.Reverted, h.Reach, h.ReachTime, h.Thinned, h.Bytes)
	})
	if err != nil {
		return err
	}
	err = c.insert(ctx, `INSERT INTO object (`+rowColumns+`since, value) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		func(add func(...driver.Value) error) error {
			for o, err := range d.Objects {
				if err == nil {
					err = add(o.ID, o.Parent, o.Name, o.Fold, o.Kind.String(), o.Version, o.Created, o.Modified, o.Size, o.Type,
						o.Kept, o.Since, objectdb.EncodeColumn(o.Value))
				}
				if err != nil {
					return err
				}
			}
			return nil
		})
	if err != nil {
		return err
	}
	err = c.insert(ctx, `INSERT INTO past (id, until, since, parent, name, fold, kind, ver, created, modified, size, type,
		thinned, hash, value) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, func(add func(...driver.Value) error) error {
		for o, err := range d.Past {
			if err == nil {
				var hash any
				if o.Hash != nil {
					hash = o.Hash
				}
				err = add(o.ID, o.Until, o.Since, o.Parent, o.Name, o.Fold, o.Kind.String(), o.Version, o.Created, o.Modified,
					o.Size, o.Type, o.Thinned, hash, objectdb.EncodeColumn(o.Value))
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	err = c.insert(ctx, statementSQL[sqlAddChange], func(add func(...driver.Value) error) error {
		for r, err := range d.Changes {
			if err == nil {
				o := r.Origin
				err = add(r.Generation, r.Time, r.First, o.Person, o.Who, o.Why, o.Path, r.Thinned, int64(r.Count),
					encodeUndoes(r.Undoes), encodeReplaced(r.Objects))
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	_, err = c.c.Exec(`COMMIT`, nil)
	return sqlError(err)
}

// insert calls fn with a function that runs a statement, which is prepared once.
func (c *conn) insert(ctx context.Context, query string, fn func(add func(...driver.Value) error) error) error {
	s, err := c.c.Prepare(query)
	if err != nil {
		return sqlError(err)
	}
	defer s.Close()
	return fn(func(args ...driver.Value) error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		_, err := s.(driver.StmtExecContext).ExecContext(context.Background(), named(args))
		return sqlError(err)
	})
}
