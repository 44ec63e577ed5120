package sqlitestore

import (
	"context"
	"database/sql/driver"
	"math"
	"time"

	"scripter/objectdb"
)

// A connection is the objectdb.Session of one transaction after another.

func (s *store) BeginRead(
	ctx context.Context, since int64, wait *time.Duration,
) (objectdb.Session, objectdb.State, error) {
	c, state, err := s.begin(ctx, since, wait, (*conn).beginRead)
	if err != nil {
		return nil, state, err
	}
	return c, state, nil
}

func (s *store) BeginWrite(
	ctx context.Context, since int64, wait *time.Duration,
) (objectdb.Writer, objectdb.State, error) {
	c, state, err := s.beginWrite(ctx, since, wait)
	if err != nil {
		return nil, state, err
	}
	return c, state, nil
}

// beginWrite takes the writer's lock first and a connection then.
func (s *store) beginWrite(
	ctx context.Context, since int64, wait *time.Duration,
) (*conn, objectdb.State, error) {
	start := time.Now()
	if err := s.lockWriter(ctx, start.Add(*wait)); err != nil {
		return nil, objectdb.State{}, err
	}
	*wait -= time.Since(start)
	c, state, err := s.begin(ctx, since, wait, (*conn).beginWrite)
	if err != nil {
		s.unlockWriter()
		return nil, state, err
	}
	c.locked = true
	return c, state, nil
}

// begin acquires a connection and begins a transaction of SQLite's.
func (s *store) begin(
	ctx context.Context, since int64, wait *time.Duration, transaction func(*conn) (generation, last int64, err error),
) (*conn, objectdb.State, error) {
	var state objectdb.State
	var c *conn
	err := patiently(ctx, wait, func() (err error) {
		if c == nil {
			if c, err = s.acquire(); err != nil {
				return err
			}
		}
		state.Generation, state.LastID, err = transaction(c)
		return err
	})
	if err == nil {
		state.Changes, err = c.changesSince(since, state.Generation)
	}
	if err != nil {
		if c != nil {
			s.release(c)
		}
		return nil, state, err
	}
	return c, state, nil
}

// Newest asks the connection that the next session will use: see walIndex.
func (s *store) Newest(int64, bool) (generation int64, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if last := len(s.idle) - 1; last >= 0 {
		return s.idle[last].index.newest()
	}
	return 0, false
}

// End releases the writer's lock, and the connection to the store.
func (c *conn) End() {
	s := c.store
	fold := c.foldAtEnd
	if c.locked {
		c.rollback()
		c.locked, c.foldAtEnd = false, false
		s.unlockWriter()
	}
	s.release(c)
	if fold {
		s.foldWAL(context.Background())
	}
}

// changesSince returns what was changed after generation since, if now is a later one.
func (c *conn) changesSince(since, now int64) (objectdb.Changes, error) {
	if now <= since {
		return objectdb.Changes{Since: now}, nil
	}
	var row [6]driver.Value
	if err := c.one(row[:], sqlChanges); err != nil {
		return objectdb.Changes{}, metaError(err)
	}
	log, _ := row[0].([]byte)
	changes := changeLog(log).read(now)
	if reverted, _ := row[1].(int64); reverted > since {
		changes.Reverted = reverted
	}
	return changes, nil
}

func (c *conn) Child(_ context.Context, table int64, fold string) (objectdb.Row, error) {
	return c.row(sqlChild, table, fold, objectdb.WholeValue)
}

func (c *conn) Object(_ context.Context, id int64) (objectdb.Row, error) {
	return c.row(sqlByID, id, objectdb.WholeValue)
}

func (c *conn) Page(
	_ context.Context, table int64, from, end string, backward bool, n int, fn func(objectdb.Row) error,
) error {
	return c.page(table, from, end, backward, n, math.MaxInt64, fn)
}

// page is Page for the objects whose present state began up to a generation.
func (c *conn) page(
	table int64, from, end string, backward bool, n int, since int64, fn func(objectdb.Row) error,
) error {
	s := sqlPage
	if backward {
		s = sqlPageBackward
	}
	return c.soundRows(fn, s, table, objectdb.ListedValue, from, end, int64(n), since)
}

func (c *conn) Children(_ context.Context, table int64, fn func(objectdb.Row) error) error {
	return c.soundRows(fn, sqlChildren, table, objectdb.ListedValue)
}

func (c *conn) All(_ context.Context, fn func(objectdb.Row, error)) error {
	return c.rows(func(row objectdb.Row, err error) error { fn(row, err); return nil }, sqlEverything)
}

func (c *conn) Len(_ context.Context, table int64) (int, error) { return c.count(sqlCount, table) }

func (c *conn) CountUpTo(_ context.Context, table int64, from, end string, most int) (int, error) {
	return c.count(sqlCountUpTo, table, from, end, int64(most))
}

func (c *conn) Value(_ context.Context, id int64) (objectdb.Value, error) {
	row, err := c.row(sqlByID, id, maxValue)
	return row.Value, err
}

func (c *conn) Info(context.Context) (objectdb.Info, error) { return c.info() }
