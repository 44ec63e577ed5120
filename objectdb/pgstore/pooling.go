package pgstore

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// pooling finds out whether there is a connection pooler such as pgbouncer between this process and the server, which
// gives each transaction another server connection. Statements that were prepared on one are unknown on the others. So
// statements then have no names, and the server parses them each time.
//
// The parameter default_query_exec_mode of the URL decides instead, if it is there.
type pooling struct {
	unnamed atomic.Bool // statements have no names
	known   atomic.Bool
	// described has what the server has said of statements without names: a *pgconn.StatementDescription by the SQL.
	described sync.Map
}

// errPooled says that a connection was made for statements with names, and goes to such a program.
var errPooled = errors.New("a program is between this one and the server")

func (p *pooling) configure(c *pgxpool.Config, decided bool) {
	if decided {
		p.known.Store(true)
		p.unnamed.Store(c.ConnConfig.DefaultQueryExecMode != pgx.QueryExecModeCacheStatement)
	}
	c.BeforeConnect = func(_ context.Context, c *pgx.ConnConfig) error {
		if p.unnamed.Load() {
			c.DefaultQueryExecMode = pgx.QueryExecModeCacheDescribe
		}
		return nil
	}
	c.AfterConnect = func(ctx context.Context, c *pgx.Conn) error {
		if p.known.Load() {
			if p.unnamed.Load() && c.Config().DefaultQueryExecMode == pgx.QueryExecModeCacheStatement {
				return errPooled // it was begun before this was known
			}
			return nil
		}
		// Such a program does not tell its clients the number of the server's process.
		var pid uint32
		err := c.QueryRow(ctx, `SELECT pg_backend_pid()`, pgx.QueryExecModeSimpleProtocol).Scan(&pid)
		if err != nil {
			return err
		}
		direct := pid == c.PgConn().PID()
		p.unnamed.Store(!direct)
		p.known.Store(true)
		if !direct {
			return errPooled
		}
		return nil
	}
}

// describe returns the types of a statement without a name.
func (p *pooling) describe(ctx context.Context, c *pgx.Conn, sql string) (*pgconn.StatementDescription, error) {
	if known, ok := p.described.Load(sql); ok {
		return known.(*pgconn.StatementDescription), nil
	}
	d, err := c.PgConn().Prepare(ctx, "", sql, nil)
	if err == nil {
		p.described.Store(sql, d)
	}
	return d, err
}
