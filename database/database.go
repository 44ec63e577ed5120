// Package database runs statements of SQL for scripts, on the databases that scripter.conf lists.
//
// What a database is made of is the business of a [Driver]: package sqlitedb has that of SQLite files, package pgdb that
// of PostgreSQL. The programs give both to a [Pool], but scripter-cgi only the first.
package database

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"scripter/site"
)

// A Driver opens databases of one kind.
type Driver interface {
	// Open returns the connections to a database. It need not connect yet.
	Open(d site.Database) (*sql.DB, error)
	// Within calls fn with a connection, within a transaction that only reads unless write is true. The database may
	// not work longer than limit.
	Within(ctx context.Context, c *sql.Conn, write bool, limit time.Duration, fn func(Querier) error) error
	// Placeholder returns what stands for argument n, counted from 1, in a statement.
	Placeholder(n int) string
}

// A Querier is a connection, or a transaction of one.
type Querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

// Drivers are the drivers that a program has.
type Drivers struct {
	SQLite, Postgres Driver // nil: the program cannot open such databases
}

// A Pool has the connections of a process to the databases of one root. It is safe for concurrent use.
type Pool struct {
	drivers Drivers
	mu      sync.Mutex
	open    map[site.Database]*sql.DB
}

// These bound the connections to one database.
const (
	maxOpen  = 8
	maxIdle  = 2
	idleTime = 30 * time.Second
)

// NewPool returns a pool without connections.
func NewPool(d Drivers) *Pool { return &Pool{drivers: d, open: map[site.Database]*sql.DB{}} }

// Keep closes the connections to databases that a list does not have.
func (p *Pool) Keep(list []site.Database) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for d, db := range p.open {
		listed := func(l site.Database) bool { return l.Name == d.Name && l.Source == d.Source && (l.Write || !d.Write) }
		if !slices.ContainsFunc(list, listed) {
			db.Close()
			delete(p.open, d)
		}
	}
}

// A Statement is one statement with its arguments.
type Statement struct {
	Text  string
	Args  []any // nil, bool, int64, float64, string, []byte and time.Time
	Write bool  // it may change the database
	// These limit the answer: its time, its rows, and the bytes of their values.
	Time     time.Duration
	MaxRows  int64
	MaxBytes int64
}

// A Result is the answer to a statement.
type Result struct {
	Columns []string
	Rows    [][]any // of the types that arguments may have
	Changed int64   // rows that the statement has changed
	LastID  int64   // the rowid that SQLite has given to the last one inserted; 0 = none
}

// The errors for an answer that is larger than the statement allows.
var (
	ErrRows  = errors.New("the answer has too many rows")
	ErrBytes = errors.New("the answer is too large")
)

// driver returns the driver of a database.
func (p *Pool) driver(d site.Database) (Driver, error) {
	driver := p.drivers.SQLite
	if d.IsPostgres() {
		driver = p.drivers.Postgres
	}
	if driver == nil {
		return nil, errors.New("a database of PostgreSQL needs a resident server, which keeps connections: " +
			"start scripter-fcgi, or write \"resident: start\" into scripter.conf")
	}
	return driver, nil
}

func (p *Pool) connections(d site.Database, driver Driver) (*sql.DB, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if db := p.open[d]; db != nil {
		return db, nil
	}
	db, err := driver.Open(d)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(maxOpen)
	db.SetMaxIdleConns(maxIdle)
	db.SetConnMaxIdleTime(idleTime)
	p.open[d] = db
	return db, nil
}

// Check returns an error if this program cannot open the database. It does not connect.
func (p *Pool) Check(d site.Database) error {
	_, err := p.driver(d)
	return err
}

// Ping connects to the database.
func (p *Pool) Ping(ctx context.Context, d site.Database) error {
	driver, err := p.driver(d)
	if err != nil {
		return err
	}
	d.Write = false
	db, err := p.connections(d, driver)
	if err != nil {
		return err
	}
	return db.PingContext(ctx)
}

// Run runs a statement.
func (p *Pool) Run(ctx context.Context, d site.Database, s Statement) (*Result, error) {
	driver, err := p.driver(d)
	if err != nil {
		return nil, err
	}
	text, returns, err := prepare(s.Text, len(s.Args), s.Write, driver.Placeholder)
	if err != nil {
		return nil, err
	}
	if s.Write && !d.Write {
		return nil, fmt.Errorf(`scripts may only read the database; the line for writing is "%s: %s"`,
			site.KeyDatabase, site.Database{Name: d.Name, Source: d.Source, Write: true})
	}
	d.Write = s.Write // what only reads never has a connection that can write
	db, err := p.connections(d, driver)
	if err != nil {
		return nil, err
	}
	within, cancel := context.WithTimeout(ctx, s.Time)
	defer cancel()
	result := &Result{}
	err = func() error {
		c, err := db.Conn(within)
		if err != nil {
			return err
		}
		defer c.Close()
		return driver.Within(within, c, s.Write, s.Time, func(q Querier) error {
			if s.Write && !returns {
				return result.exec(within, q, text, s.Args)
			}
			return result.query(within, q, text, &s)
		})
	}()
	switch {
	case err == nil:
		return result, nil
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case within.Err() != nil:
		return nil, fmt.Errorf("the database has not answered within %v", s.Time)
	}
	return nil, err
}

func (r *Result) exec(ctx context.Context, q Querier, text string, args []any) error {
	done, err := q.ExecContext(ctx, text, args...)
	if err != nil {
		return err
	}
	if r.Changed, err = done.RowsAffected(); err != nil {
		return err
	}
	if id, err := done.LastInsertId(); err == nil { // PostgreSQL has none
		r.LastID = id
	}
	return nil
}

func (r *Result) query(ctx context.Context, q Querier, text string, s *Statement) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	rows, err := q.QueryContext(ctx, text, s.Args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	if r.Columns, err = rows.Columns(); err != nil {
		return err
	}
	if err := checkColumns(r.Columns); err != nil {
		return err
	}
	bytes := int64(0)
	for rows.Next() {
		if int64(len(r.Rows)) == s.MaxRows {
			stop() // else Close would read all other rows
			return ErrRows
		}
		row := make([]any, len(r.Columns))
		to := make([]any, len(row))
		for i := range row {
			to[i] = &row[i]
		}
		if err := rows.Scan(to...); err != nil {
			return err
		}
		for _, v := range row {
			bytes += size(v)
		}
		if bytes > s.MaxBytes {
			stop()
			return ErrBytes
		}
		r.Rows = append(r.Rows, row)
	}
	r.Changed = int64(len(r.Rows))
	return rows.Err()
}

// size returns about how many bytes a value takes.
func size(v any) int64 {
	const cell = 16
	switch v := v.(type) {
	case string:
		return int64(len(v)) + cell
	case []byte:
		return int64(len(v)) + cell
	}
	return cell
}

// checkColumns returns an error for two columns with one name: a row could not have both.
func checkColumns(columns []string) error {
	seen := map[string]bool{}
	for _, name := range columns {
		if seen[name] {
			return fmt.Errorf("two columns of the answer are called %q: give one of them another name with AS", name)
		}
		seen[name] = true
	}
	return nil
}

// Kind returns what a database is, for people.
func Kind(d site.Database) string {
	if d.IsPostgres() {
		return "PostgreSQL"
	}
	return "SQLite"
}

// Place returns where a database lies, without a user.
func Place(d site.Database) string {
	if !d.IsPostgres() {
		return d.Source
	}
	scheme, rest, _ := strings.Cut(d.Source, "://")
	rest, _, _ = strings.Cut(rest, "?")
	if i := strings.LastIndexByte(rest, '@'); i >= 0 {
		rest = rest[i+1:]
	}
	return scheme + "://" + rest
}
