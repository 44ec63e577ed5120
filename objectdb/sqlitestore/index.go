package sqlitestore

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"

	"scripter/objectdb"
)

func (c *conn) Indexes(context.Context) ([]objectdb.Index, error) {
	var list []objectdb.Index
	err := c.indexRows(5, func(row []driver.Value) error {
		i := objectdb.Index{}
		state := int64(0)
		if !scan(&i.ID, row[0]) || !scan(&i.Table, row[1]) || !scan(&i.Rule, row[2]) || !scan(&state, row[3]) ||
			!scan(&i.Next, row[4]) {
			return fmt.Errorf("%w: an index has a column of the wrong type", objectdb.ErrDamaged)
		}
		i.State = objectdb.IndexState(state)
		list = append(list, i)
		return nil
	}, sqlIndexes)
	return list, err
}

func (c *conn) Entries(
	_ context.Context, index int64, from, end string, backward bool, n int, fn func(objectdb.IndexEntry) error,
) error {
	s := sqlEntries
	if backward {
		s = sqlEntriesBackward
	}
	return c.indexRows(2, func(row []driver.Value) error {
		place, ok := row[0].([]byte)
		e := objectdb.IndexEntry{Place: string(place)}
		if !ok || !scan(&e.N, row[1]) {
			return fmt.Errorf("%w: an entry of an index has a column of the wrong type", objectdb.ErrDamaged)
		}
		return fn(e)
	}, s, index, []byte(from), []byte(end), int64(n))
}

// indexRows calls fn with each row of a query.
func (c *conn) indexRows(columns int, fn func([]driver.Value) error, s statement, args ...driver.Value) error {
	rows, err := c.query(s, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	row := make([]driver.Value, columns)
	for {
		if err := rows.Next(row); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return sqlError(err)
		}
		if err := fn(row); err != nil {
			return err
		}
	}
}

func (c *conn) IndexKeys(_ context.Context, index int64, fold string) ([]objectdb.IndexKey, error) {
	var row [1]driver.Value
	if found, err := c.found(row[:], sqlIndexKeys, index, fold); err != nil || !found {
		return nil, err
	}
	keys, _ := row[0].([]byte)
	return objectdb.DecodeIndexKeys(keys)
}

// writeIndexes writes the part of a commit that concerns indexes.
func (c *conn) writeIndexes(ctx context.Context, w *objectdb.Commit) error {
	for _, i := range w.Indexes {
		if err := c.execBefore(ctx, sqlPutIndex, i.ID, i.Table, i.Rule, int64(i.State), i.Next); err != nil {
			return err
		}
	}
	for i := range w.Entries {
		e := &w.Entries[i]
		gone, come := e.Entries()
		for _, place := range gone {
			if err := c.execBefore(ctx, sqlDropEntry, e.Index, []byte(place)); err != nil {
				return err
			}
		}
		for _, entry := range come {
			if err := c.execBefore(ctx, sqlPutEntry, e.Index, []byte(entry.Place), entry.N); err != nil {
				return err
			}
		}
		var err error
		if len(e.After) == 0 {
			err = c.execBefore(ctx, sqlDropKeys, e.Index, e.Fold)
		} else {
			err = c.execBefore(ctx, sqlPutKeys, e.Index, e.Fold, objectdb.EncodeIndexKeys(e.After))
		}
		if err != nil {
			return err
		}
	}
	for _, id := range w.Purge {
		for _, s := range []statement{sqlPurgeEntries, sqlPurgeKeys} {
			if err := c.execBefore(ctx, s, id, int64(w.PurgeStep)); err != nil {
				return err
			}
		}
		if err := c.execBefore(ctx, sqlForgetIndex, id); err != nil {
			return err
		}
	}
	return nil
}
