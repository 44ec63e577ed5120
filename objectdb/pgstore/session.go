package pgstore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"scripter/objectdb"
)

// session is a transaction of PostgreSQL. A session that reads is an objectdb.Session.
type session struct {
	store  *store
	pooled *pgxpool.Conn
	conn   *pgx.Conn
	newest int64 // the generation that it sees
}

// maxChanges is the number of generations that a session reads to find out what was changed. A caller that knows
// only an older one forgets all that it knows.
const maxChanges = 256

func (s *store) BeginRead(
	ctx context.Context, since int64, wait *time.Duration,
) (objectdb.Session, objectdb.State, error) {
	var state objectdb.State
	c, err := s.open(ctx, wait, func(ctx context.Context, c *session) error {
		t := c.trip()
		t.add(beginReading)
		read := c.state(t, since)
		if err := t.run(ctx); err != nil {
			return sqlError(ctx, err)
		}
		var err error
		state, err = read()
		return err
	})
	if err != nil {
		return nil, state, err
	}
	return c, state, nil
}

func (c *session) trip() *trip { return &trip{store: c.store, conn: c.conn} }

// state adds the queries for the state of a session to its first trip. It returns a function that makes a State of
// their results.
func (c *session) state(t *trip, since int64) func() (objectdb.State, error) {
	s := c.store
	var state objectdb.State
	var stamp, reverted int64
	var known *int64
	found := s.poller.before()
	t.one(func(rows pgx.Rows) error {
		return rows.Scan(&state.Generation, &stamp, &state.LastID, &reverted, &known)
	}, s.sql[sqlNewest], since)
	var commits []commitRow
	if since > 0 {
		t.query(func(rows pgx.Rows) (err error) {
			commits, err = pgx.CollectRows(rows, commitRowOf)
			return err
		}, s.sql[sqlCommitsSince], since, maxChanges)
	}
	return func() (objectdb.State, error) {
		if state.Generation == 0 {
			return state, fmt.Errorf("%w: it has no generation", objectdb.ErrDamaged)
		}
		c.newest = state.Generation
		state.Changes = changesOf(commits, state.Generation)
		if reverted > since {
			state.Changes.Reverted = reverted
		}
		state.Losses = s.stamps.see(since, known, state.Generation, stamp)
		found(state.Generation, stamp)
		return state, nil
	}
}

// commitRow is what a row of the table commits says of a commit.
type commitRow struct {
	generation int64
	tables     []int64 // nil if the changed places are not known
	folds      [][]byte
}

func commitRowOf(row pgx.CollectableRow) (c commitRow, err error) {
	err = row.Scan(&c.generation, &c.tables, &c.folds)
	return c, err
}

// changesOf returns what commits have changed. commits has the newest first.
func changesOf(commits []commitRow, newest int64) objectdb.Changes {
	c := objectdb.Changes{Since: newest}
	for _, row := range commits {
		if row.generation != c.Since || row.tables == nil || len(row.tables) != len(row.folds) {
			break
		}
		for i, table := range row.tables {
			place := objectdb.Place{Table: table, Fold: string(row.folds[i])}
			c.Places = append(c.Places, objectdb.ChangedPlace{Place: place, Generation: row.generation})
		}
		c.Since = row.generation - 1
	}
	return c
}

// End rolls the transaction back. The caller does not wait for that.
func (c *session) End() {
	go func() {
		defer func() { c.store.sessions <- struct{}{} }()
		c.rollback()
	}()
}

// rollback ends the transaction and gives the connection back to the pool, which closes it if it is still in a
// transaction.
func (c *session) rollback() {
	ctx, cancel := context.WithTimeout(context.Background(), answerTime)
	defer cancel()
	if !c.conn.IsClosed() && c.conn.PgConn().TxStatus() != 'I' {
		_, _ = c.conn.Exec(ctx, rollback)
	}
	c.pooled.Release()
}

// row reads the one row that a query returns.
func (c *session) row(ctx context.Context, s statement, args ...any) (r objectdb.Row, err error) {
	found := false
	err = c.rows(ctx, func(row objectdb.Row, err error) error {
		r, found = row, true
		return err
	}, s, args...)
	if err == nil && !found {
		err = objectdb.ErrNotFound
	}
	return r, err
}

// rows calls fn with each row of a query, or with why it cannot be read.
func (c *session) rows(ctx context.Context, fn func(objectdb.Row, error) error, s statement, args ...any) error {
	rows, err := c.conn.Query(ctx, c.store.sql[s], args...)
	if err != nil {
		return sqlError(ctx, err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := fn(objectRow(rows)); err != nil {
			return err
		}
	}
	return sqlError(ctx, rows.Err())
}

// soundRows calls fn with each row of a query, until one cannot be read.
func (c *session) soundRows(ctx context.Context, fn func(objectdb.Row) error, s statement, args ...any) error {
	return c.rows(ctx, func(row objectdb.Row, err error) error {
		if err != nil {
			return err
		}
		return fn(row)
	}, s, args...)
}

// scan reads the first row of a query; the error is ErrNotFound if there is none.
func (c *session) scan(ctx context.Context, dest []any, s statement, args ...any) error {
	return sqlError(ctx, c.conn.QueryRow(ctx, c.store.sql[s], args...).Scan(dest...))
}

// number reads the one number that a query returns.
func (c *session) number(ctx context.Context, s statement, args ...any) (n int64, err error) {
	err = c.scan(ctx, []any{&n}, s, args...)
	return n, err
}

// numbers reads the first column of a query.
func (c *session) numbers(ctx context.Context, s statement, args ...any) ([]int64, error) {
	rows, err := c.conn.Query(ctx, c.store.sql[s], args...)
	if err != nil {
		return nil, sqlError(ctx, err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	return list, sqlError(ctx, err)
}

// objectRow makes a row of the columns rowColumns and of those of the value. With an error it has the id only.
// extra are the destinations of further columns.
func objectRow(rows pgx.Rows, extra ...any) (objectdb.Row, error) {
	var r objectdb.Row
	var kind string
	var fold, bytes []byte
	var text *string
	dest := append([]any{&r.ID, &r.Parent, &r.Name, &fold, &kind, &r.Version, &r.Created, &r.Modified, &r.Size, &r.Type,
		&r.Kept, &text, &bytes}, extra...)
	if err := rows.Scan(dest...); err != nil {
		return objectdb.Row{ID: r.ID}, fmt.Errorf("%w: a row cannot be read: %w", objectdb.ErrDamaged, err)
	}
	r.Fold = string(fold)
	value := text
	if bytes != nil {
		s := string(bytes)
		value = &s
	}
	var err error
	if r.Kind, err = objectdb.ParseKind(kind); err == nil && text != nil && bytes != nil {
		err = errors.New("it has two values")
	}
	if err == nil && value != nil {
		r.Value, err = objectdb.DecodeText(r.Kind, r.Type, *value)
	}
	if err != nil {
		return objectdb.Row{ID: r.ID}, fmt.Errorf("%w: object %d: %w", objectdb.ErrDamaged, r.ID, err)
	}
	return r, nil
}

func (c *session) Child(ctx context.Context, table int64, fold string) (objectdb.Row, error) {
	return c.row(ctx, sqlChild, table, []byte(fold), objectdb.WholeValue)
}

func (c *session) Object(ctx context.Context, id int64) (objectdb.Row, error) {
	return c.row(ctx, sqlByID, id, objectdb.WholeValue)
}

func (c *session) Page(
	ctx context.Context, table int64, from, end string, backward bool, n int, fn func(objectdb.Row) error,
) error {
	s := sqlPage
	if backward {
		s = sqlPageBackward
	}
	return c.soundRows(ctx, fn, s, table, objectdb.ListedValue, []byte(from), []byte(end), n)
}

func (c *session) Children(ctx context.Context, table int64, fn func(objectdb.Row) error) error {
	return c.soundRows(ctx, fn, sqlChildren, table, objectdb.ListedValue)
}

func (c *session) All(ctx context.Context, fn func(objectdb.Row, error)) error {
	return c.rows(ctx, func(row objectdb.Row, err error) error { fn(row, err); return nil }, sqlEverything)
}

func (c *session) Len(ctx context.Context, table int64) (int, error) {
	n, err := c.number(ctx, sqlCount, table)
	return int(n), err
}

func (c *session) CountUpTo(ctx context.Context, table int64, from, end string, most int) (int, error) {
	n, err := c.number(ctx, sqlCountUpTo, table, []byte(from), []byte(end), most)
	return int(n), err
}

func (c *session) Value(ctx context.Context, id int64) (objectdb.Value, error) {
	row, err := c.row(ctx, sqlByID, id, maxValue)
	return row.Value, err
}

func (c *session) Info(ctx context.Context) (objectdb.Info, error) {
	info := objectdb.Info{Generation: c.newest}
	var made int64
	err := c.scan(ctx, []any{&info.Version, &info.Objects, &made, &info.MadeBy, &info.MigratedBy, &info.Moved}, sqlInfo)
	info.Created = time.Unix(0, made).UTC()
	return info, err
}

func (c *session) Replication(ctx context.Context) (*objectdb.Replication, error) {
	r := &objectdb.Replication{}
	return r, c.scan(ctx, []any{&r.IsStandby, &r.Wanted, &r.Commits, &r.Synchronous, &r.Others, &r.Unknown}, sqlReplication)
}
