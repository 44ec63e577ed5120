package pgstore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgconn/ctxwatch"
)

// A trip is statements that go to the server together, and whose results come back together: one round trip. When
// one fails, the server leaves out the others.
type trip struct {
	store *store
	conn  *pgx.Conn
	steps []step
	bytes int // about the size of the arguments
	p     *pgconn.Pipeline
	done  int // steps whose results were read
}

type step struct {
	sql  string
	args []any
	read func(pgx.Rows) error // reads the rows; nil if there are none
	mark bool                 // the results up to here are sent before the rest is done
}

// add adds a statement.
func (t *trip) add(sql string, args ...any) { t.steps = append(t.steps, step{sql: sql, args: args}) }

// query adds a query. read is called with its rows, and need not close them.
func (t *trip) query(read func(pgx.Rows) error, sql string, args ...any) {
	t.steps = append(t.steps, step{sql: sql, args: args, read: read})
}

// one adds a query that has one row at most; read is called if there is one.
func (t *trip) one(read func(pgx.Rows) error, sql string, args ...any) {
	t.query(func(rows pgx.Rows) error {
		if !rows.Next() {
			return rows.Err()
		}
		return read(rows)
	}, sql, args...)
}

// mark makes the server send the results of the statements so far at once; see until.
func (t *trip) mark() { t.steps[len(t.steps)-1].mark = true }

// send sends everything. Statements that the connection has not prepared yet cost a round trip each.
func (t *trip) send(ctx context.Context) error {
	prepared := make([]*pgconn.StatementDescription, len(t.steps))
	unnamed := t.store.unnamed.Load()
	for i, s := range t.steps {
		var err error
		if unnamed {
			prepared[i], err = t.store.describe(ctx, t.conn, s.sql)
		} else {
			prepared[i], err = t.conn.Prepare(ctx, s.sql, s.sql)
		}
		if err != nil {
			return err
		}
	}
	var build pgx.ExtendedQueryBuilder
	t.p = t.conn.PgConn().StartPipeline(ctx)
	for i, s := range t.steps {
		if err := build.Build(t.conn.TypeMap(), prepared[i], s.args); err != nil {
			return errors.Join(fmt.Errorf("its statement %d: %w", i+1, err), t.close())
		}
		if unnamed {
			t.p.SendQueryParams(s.sql, build.ParamValues, prepared[i].ParamOIDs, build.ParamFormats, build.ResultFormats)
		} else {
			t.p.SendQueryPrepared(prepared[i].Name, build.ParamValues, build.ParamFormats, build.ResultFormats)
		}
		if s.mark {
			t.p.SendFlushRequest()
		}
	}
	return t.p.Sync()
}

// until reads the results up to the next mark, or all.
func (t *trip) until() error {
	for t.done < len(t.steps) {
		s := t.steps[t.done]
		t.done++
		results, err := t.p.GetResults()
		if err != nil {
			return err
		}
		reader, ok := results.(*pgconn.ResultReader)
		if !ok {
			return fmt.Errorf("the server sends %T where results should be", results)
		}
		rows := pgx.RowsFromResultReader(t.conn.TypeMap(), reader)
		if s.read != nil {
			err = s.read(rows)
		}
		rows.Close()
		if err = errors.Join(err, rows.Err()); err != nil {
			return err
		}
		if s.mark {
			return nil
		}
	}
	return t.close()
}

// close reads the remaining results. After it the connection can be used again, unless it is lost.
func (t *trip) close() error {
	if t.p == nil {
		return nil
	}
	p := t.p
	t.p = nil
	return p.Close()
}

// run sends everything and reads all results.
func (t *trip) run(ctx context.Context) error {
	err := t.send(ctx)
	if err == nil {
		err = t.until()
	}
	if err != nil {
		_ = t.close() // its error follows from the first
	}
	return err
}

// stopping asks the server to stop a statement whose context ends, so that its transaction does not hold the lock
// any longer. If the server does not answer, the connection is closed.
func stopping(c *pgconn.PgConn) ctxwatch.Handler {
	return &pgconn.CancelRequestContextWatcherHandler{Conn: c, DeadlineDelay: time.Second}
}
