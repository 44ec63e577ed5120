package pgstore

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"scripter/objectdb"
)

func (s *store) Forget(ctx context.Context, ids []int64) (objectdb.Forgotten, error) {
	f, err := s.forget(ctx, ids)
	if err != nil {
		err = &objectdb.Error{Op: "forget in", Path: s.shown, Err: err}
	}
	return f, err
}

// forget deletes rows, and lets the server rewrite the tables, because their files have overwritten and deleted
// data until then. The server's WAL and its backups still have it; this package does not change them.
func (s *store) forget(ctx context.Context, ids []int64) (f objectdb.Forgotten, err error) {
	start, wait := time.Now(), s.options.BusyTimeout
	w, _, err := s.beginWrite(ctx, 0, &wait)
	if err != nil {
		return f, err
	}
	ended := false
	defer func() {
		if !ended {
			w.End()
		}
	}()
	t := w.trip()
	for _, id := range ids {
		t.add(s.sql[sqlForgetExtend], id)
		t.one(func(rows pgx.Rows) error {
			var g objectdb.Forgotten
			err := rows.Scan(&g.Objects, &g.Bytes)
			f.Objects, f.Bytes = f.Objects+g.Objects, f.Bytes+g.Bytes
			return err
		}, s.sql[sqlForgetPast], id, w.newest)
	}
	t.add(s.sql[sqlForgetNames]) // the lists of changed places have names
	t.add(commit)
	if err := t.run(ctx); err != nil {
		return objectdb.Forgotten{}, sqlError(ctx, err)
	}
	ended = true
	w.unlock()
	defer func() {
		w.rollback()
		s.sessions <- struct{}{}
	}()
	// VACUUM waits for the present readers.
	wait = max(time.Millisecond, s.options.BusyTimeout-time.Since(start))
	for _, sql := range []string{
		`SET lock_timeout = ` + milliseconds(wait), inSchema(`VACUUM (FULL) @.past, @.object, @.commits`, s.schema),
		`RESET lock_timeout`,
	} {
		if _, err := w.conn.Exec(ctx, sql); err != nil {
			_ = w.conn.Close(ctx) // otherwise its time limit would stay
			return f, fmt.Errorf("it is forgotten, but its tables could not be rewritten, and their files may still "+
				"have it: %w", sqlError(ctx, err))
		}
	}
	return f, nil
}
