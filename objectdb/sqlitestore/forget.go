package sqlitestore

import (
	"context"
	"database/sql/driver"
	"fmt"
	"time"

	"scripter/objectdb"
)

func (s *store) Forget(ctx context.Context, ids []int64) (objectdb.Forgotten, error) {
	f, err := s.forget(ctx, ids)
	if err != nil {
		err = &objectdb.Error{Op: "forget in", Path: s.path, Err: err}
	}
	return f, err
}

// forget deletes rows, and rewrites the file: what had been overwritten or deleted before,
// in the table of the present objects too, may lie in the unused parts of its pages. Then it
// empties the WAL, which may still have the pages as they were.
func (s *store) forget(ctx context.Context, ids []int64) (f objectdb.Forgotten, err error) {
	if s.options.ReadOnly {
		return f, objectdb.ErrReadOnly
	}
	start, wait := time.Now(), s.options.BusyTimeout
	c, _, err := s.beginWrite(ctx, 0, &wait)
	if err != nil {
		return f, err
	}
	defer c.End()
	for _, id := range ids {
		if err := c.forgetObject(ctx, id, &f); err != nil {
			return f, err
		}
	}
	args := []driver.NamedValue{{Ordinal: 1, Value: f.Bytes}}
	// The list of changed places has names.
	if _, err := c.c.ExecContext(ctx, `UPDATE meta SET past_bytes = past_bytes - ?, changes = x''`, args); err != nil {
		return f, sqlError(err)
	}
	if err := c.commit(); err != nil {
		return f, err
	}
	if err := s.sync(c.wal); err != nil {
		return f, err
	}
	if _, err := c.c.Exec(`VACUUM`, nil); err != nil {
		return f, fmt.Errorf("it is forgotten, but the file could not be rewritten, and may still have it "+
			"in unused places: %w", sqlError(err))
	}
	if err := s.sync(c.wal); err != nil {
		return f, err
	}
	return f, retry(ctx, start.Add(s.options.BusyTimeout), func() error {
		w, err := c.checkpoint(sqlCheckpointTruncate)
		if err == nil && w.busy {
			err = fmt.Errorf("it is forgotten, but a reader holds the -wal file, which still has it: %w", objectdb.ErrBusy)
		}
		return err
	})
}

// forgetObject drops all past states of an object. The present one stands for those that
// were at the same place since the object came there.
func (c *conn) forgetObject(ctx context.Context, id int64, f *objectdb.Forgotten) error {
	const extend = `WITH RECURSIVE stay (since) AS (
			SELECT since FROM object WHERE id = ?1
			UNION SELECT past.since FROM stay JOIN past ON past.id = ?1 AND past.until = stay.since
				JOIN object ON object.id = ?1 AND object.parent = past.parent AND object.name = past.name)
		UPDATE object SET since = (SELECT min (since) FROM stay) WHERE id = ?1`
	args := []driver.NamedValue{{Ordinal: 1, Value: id}}
	if _, err := c.c.ExecContext(ctx, extend, args); err != nil {
		return sqlError(err)
	}
	return c.eachRowOf(ctx, func(row []driver.Value) error {
		n, _ := row[0].(int64)
		f.Objects++
		f.Bytes += n
		return nil
	}, 1, `DELETE FROM past WHERE id = ? RETURNING `+keptBytes, id)
}
