package sqlitestore

import (
	"context"
	"database/sql/driver"

	"scripter/objectdb"
)

// Commit writes a commit and commits it. SQLite does not wait for the disk; flush does:
// see wal.go.
func (c *conn) Commit(ctx context.Context, w *objectdb.Commit) (flush func(context.Context) error, err error) {
	if err := c.write(ctx, w); err != nil {
		return nil, err
	}
	if err := c.commit(); err != nil {
		return nil, err
	}
	s, wal := c.store, c.wal
	if !s.waitsForSync(wal) {
		c.foldAtEnd = true
		return nil, nil
	}
	wal.hold()
	return func(ctx context.Context) error {
		defer wal.letGo()
		if err := s.sync(wal); err != nil {
			return err
		}
		s.foldWAL(ctx)
		return nil
	}, nil
}

// write writes everything. The order lets objects change their places, and what was
// moved out of a table survive the table.
func (c *conn) write(ctx context.Context, w *objectdb.Commit) error {
	k := keeper{conn: c, commit: w}
	for i := range w.Moves {
		m := &w.Moves[i]
		if err := k.keep(ctx, m.ID, m.Keep, m.Large); err != nil {
			return err
		}
		if err := c.execBefore(ctx, sqlPark, m.ID); err != nil {
			return err
		}
	}
	for _, d := range w.Deletes {
		if err := k.keepDeleted(ctx, d); err != nil {
			return err
		}
		if !d.Table {
			if err := c.execBefore(ctx, sqlDelete, d.ID); err != nil {
				return err
			}
		} else if err := c.deleteTree(ctx, d.ID); err != nil {
			return err
		}
	}
	for i := range w.Moves {
		m := &w.Moves[i]
		if err := c.execBefore(ctx, sqlSetPlace, m.ID, m.Parent, m.Name, m.Fold, w.Generation); err != nil {
			return err
		}
		k.replaced(m.ID, objectdb.Moved, m.Keep)
	}
	for v, err := range w.Values {
		if err == nil {
			err = k.setValue(ctx, &v)
		}
		if err != nil {
			return err
		}
	}
	for r, err := range w.Inserts {
		if err == nil {
			err = c.execBefore(ctx, sqlInsert, r.ID, r.Parent, r.Name, r.Fold, r.Kind.String(), w.Generation,
				r.Created, r.Modified, r.Size, r.Type, objectdb.EncodeColumn(r.Value))
		}
		if err != nil {
			return err
		}
		k.lasting = k.lasting || r.Keep == objectdb.KeepAll
		k.replaced(r.ID, objectdb.Inserted, r.Keep)
	}
	for _, id := range w.Touched {
		if err := c.execBefore(ctx, sqlTouch, id, w.Generation, w.Time); err != nil {
			return err
		}
	}
	if err := c.writeIndexes(ctx, w); err != nil {
		return err
	}
	var row [6]driver.Value
	if err := c.one(row[:], sqlChanges); err != nil {
		return metaError(err)
	}
	h, err := k.finish(ctx, row)
	switch {
	case err != nil:
		return err
	case w.Revives:
		return h.setReverted(ctx, c, w.Generation, w.LastID)
	}
	log, _ := row[0].([]byte)
	log = changeLog(log).with(w.Generation-1, w.Changed)
	if h == nil {
		return c.execBefore(ctx, sqlSetMeta, w.Generation, w.LastID, []byte(log))
	}
	return c.execBefore(ctx, sqlSetMetaAndHistory, w.Generation, w.LastID, []byte(log),
		h.reach, h.reachTime, h.thinned, h.bytes)
}

// deleteTree deletes a table with all below it. SQLite stops when ctx ends.
func (c *conn) deleteTree(ctx context.Context, id int64) error {
	p, err := c.statement(sqlDeleteTree)
	if err != nil {
		return err
	}
	_, err = p.ExecContext(ctx, c.bind([]driver.Value{id}))
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return sqlError(err)
}
