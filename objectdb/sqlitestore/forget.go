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

// forget deletes rows with secure_delete, which overwrites their bytes, and empties the
// WAL, which may still have the pages as they were.
func (s *store) forget(ctx context.Context, ids []int64) (f objectdb.Forgotten, err error) {
	if s.options.ReadOnly {
		return f, objectdb.ErrReadOnly
	}
	c, err := s.connect()
	if err != nil {
		return f, err
	}
	defer c.close()
	start := time.Now()
	if err := s.lockWriter(ctx, start.Add(s.options.BusyTimeout)); err != nil {
		return f, err
	}
	defer s.unlockWriter()
	defer c.rollback()
	if _, err := c.c.Exec(`PRAGMA secure_delete = ON`, nil); err != nil {
		return f, sqlError(err)
	}
	err = retry(ctx, start.Add(s.options.BusyTimeout), func() error {
		_, _, err := c.beginWrite()
		return err
	})
	if err != nil {
		return f, err
	}
	for _, id := range ids {
		if err := c.forgetObject(ctx, id, &f); err != nil {
			return f, err
		}
	}
	args := []driver.NamedValue{{Ordinal: 1, Value: f.Bytes}}
	if _, err := c.c.ExecContext(ctx, `UPDATE meta SET past_bytes = past_bytes - ?`, args); err != nil {
		return f, sqlError(err)
	}
	if err := c.commit(); err != nil {
		return f, err
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
// were at the same place.
func (c *conn) forgetObject(ctx context.Context, id int64, f *objectdb.Forgotten) error {
	const extend = `UPDATE object SET since = coalesce((SELECT min(p.since) FROM past AS p
			WHERE p.id = object.id AND p.parent = object.parent AND p.name = object.name
			AND NOT EXISTS (SELECT 1 FROM past AS q WHERE q.id = p.id AND q.since >= p.since
				AND (q.parent <> object.parent OR q.name <> object.name))), since)
		WHERE id = ?`
	args := []driver.NamedValue{{Ordinal: 1, Value: id}}
	if _, err := c.c.ExecContext(ctx, extend, args); err != nil {
		return sqlError(err)
	}
	rows, err := c.c.QueryContext(ctx, `DELETE FROM past WHERE id = ? RETURNING `+keptBytes, args)
	if err != nil {
		return sqlError(err)
	}
	defer rows.Close()
	var row [1]driver.Value
	for rows.Next(row[:]) == nil {
		n, _ := row[0].(int64)
		f.Objects++
		f.Bytes += n
	}
	return context.Cause(ctx)
}
