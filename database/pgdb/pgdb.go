// Package pgdb opens databases of PostgreSQL that scripts may read, and change if scripter.conf says so.
package pgdb

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"scripter/database"
	"scripter/site"
)

// Driver is the driver of PostgreSQL.
var Driver database.Driver = servers{}

type servers struct{}

// connectTime is how long a connection may take to be made.
const connectTime = 5 * time.Second

func (servers) Open(d site.Database) (*sql.DB, error) {
	config, err := pgx.ParseConfig(d.Source)
	if err != nil {
		return nil, err // without the password
	}
	if config.ConnectTimeout == 0 {
		config.ConnectTimeout = connectTime
	}
	if config.RuntimeParams["application_name"] == "" {
		config.RuntimeParams["application_name"] = "scripter"
	}
	return stdlib.OpenDB(*config), nil
}

func (servers) Placeholder(n int) string { return "$" + strconv.Itoa(n) }

// Within runs fn in a transaction. One that only reads is undone at its end, so that nothing of the session that a
// statement may have set stays.
func (servers) Within(
	ctx context.Context, c *sql.Conn, write bool, limit time.Duration, fn func(database.Querier) error,
) error {
	tx, err := c.BeginTx(ctx, &sql.TxOptions{ReadOnly: !write})
	if err != nil {
		return err
	}
	defer tx.Rollback()
	// The server must not go on working for a statement whose answer nobody awaits.
	set := fmt.Sprintf("SET LOCAL statement_timeout = %d", max(limit.Milliseconds(), 1))
	if _, err := tx.ExecContext(ctx, set); err != nil {
		return err
	}
	if err := fn(tx); err != nil || !write {
		return err
	}
	return tx.Commit()
}
