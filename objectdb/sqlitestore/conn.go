package sqlitestore

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"strings"

	sqlite3 "github.com/mattn/go-sqlite3"

	"scripter/objectdb"
)

// conn is one SQLite connection, used by one transaction at a time.
type conn struct {
	c        *sqlite3.SQLiteConn
	store    *store    // nil if the connection belongs to no store
	unsynced *unsynced // the store's; nil without a store
	prepared [statements]*sqlite3.SQLiteStmt
	snapshot driver.Rows // open while a read transaction lasts
	writing  bool        // between BEGIN IMMEDIATE and COMMIT or ROLLBACK
	wrote    bool        // has ever written: its settings for that are made
	wal      *walFile    // for syncing; nil before the first commit, and where there is none
	broken   bool        // must not be used again
	args     [13]driver.NamedValue

	locked    bool // the session holds the writer's lock
	foldAtEnd bool // the session has committed, and waits for no sync
	index     walIndex
}

// openConn opens the file at path, which must exist.
func openConn(path string, o objectdb.Options) (*conn, error) {
	mode := "rw"
	if o.ReadOnly {
		mode = "ro"
	}
	return openURI(path, "mode="+mode+"&_synchronous=NORMAL")
}

// openURI opens the file at path with parameters of the URI.
func openURI(path, parameters string) (*conn, error) {
	// https://www.sqlite.org/uri.html: these three have a meaning in a URI.
	escaped := strings.NewReplacer("%", "%25", "?", "%3f", "#", "%23").Replace(path)
	opened, err := (&sqlite3.SQLiteDriver{}).Open("file:" + escaped + "?_mutex=no&_busy_timeout=0&" + parameters)
	if err != nil {
		return nil, sqlError(err)
	}
	return &conn{c: opened.(*sqlite3.SQLiteConn)}, nil
}

func (c *conn) close() error {
	c.endRead()
	c.index.close()
	for i, s := range c.prepared {
		if s != nil {
			s.Close()
			c.prepared[i] = nil
		}
	}
	if c.wal != nil {
		c.wal.letGo()
	}
	return sqlError(c.c.Close())
}

func (c *conn) statement(s statement) (*sqlite3.SQLiteStmt, error) {
	if c.prepared[s] == nil {
		p, err := c.c.Prepare(statementSQL[s])
		if sqlite := (sqlite3.Error{}); errors.As(err, &sqlite) && sqlite.Code == sqlite3.ErrError {
			// Our statements are right: the tables are not as we made them.
			return nil, fmt.Errorf("%w (%s); restore a copy of it", objectdb.ErrDamaged, sqlite.Error())
		}
		if err != nil {
			return nil, sqlError(err)
		}
		c.prepared[s] = p.(*sqlite3.SQLiteStmt)
	}
	return c.prepared[s], nil
}

func (c *conn) bind(args []driver.Value) []driver.NamedValue {
	for i, arg := range args {
		c.args[i] = driver.NamedValue{Ordinal: i + 1, Value: arg}
	}
	return c.args[:len(args)]
}

func (c *conn) exec(s statement, args ...driver.Value) error {
	p, err := c.statement(s)
	if err != nil {
		return err
	}
	_, err = p.ExecContext(context.Background(), c.bind(args))
	return sqlError(err)
}

// execBefore is exec, unless ctx has ended.
func (c *conn) execBefore(ctx context.Context, s statement, args ...driver.Value) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return c.exec(s, args...)
}

func (c *conn) query(s statement, args ...driver.Value) (driver.Rows, error) {
	p, err := c.statement(s)
	if err != nil {
		return nil, err
	}
	rows, err := p.QueryContext(context.Background(), c.bind(args))
	return rows, sqlError(err)
}

// one runs a query and reads its first row into dest; io.EOF when it has none.
func (c *conn) one(dest []driver.Value, s statement, args ...driver.Value) error {
	rows, err := c.query(s, args...)
	if err != nil {
		return err
	}
	err = sqlError(rows.Next(dest))
	if closed := rows.Close(); err == nil {
		err = sqlError(closed)
	}
	return err
}

// found runs a query and reads its first row into dest. It reports whether there is one.
func (c *conn) found(dest []driver.Value, s statement, args ...driver.Value) (bool, error) {
	err := c.one(dest, s, args...)
	if err == io.EOF {
		return false, nil
	}
	return err == nil, err
}

// orNotFound returns the error ErrNotFound if found has found nothing.
func orNotFound(found bool, err error) error {
	if err == nil && !found {
		return objectdb.ErrNotFound
	}
	return err
}

// first reads the first row of a query that is not kept prepared.
func (c *conn) first(row []driver.Value, query string) error {
	rows, err := c.c.Query(query, nil)
	if err != nil {
		return sqlError(err)
	}
	defer rows.Close()
	return metaError(rows.Next(row))
}

// beginRead begins a read transaction, and returns the generation that it sees and the
// last id that was given.
// The first row of a query is read and the query kept open: as long as a
// statement is at work, all others of the connection see the same snapshot
// (https://www.sqlite.org/lang_transaction.html), and two statements are saved.
func (c *conn) beginRead() (generation, last int64, err error) {
	err = c.index.around(c, func() (int64, error) {
		rows, err := c.query(sqlMeta)
		if err != nil {
			return 0, err
		}
		var row [2]driver.Value
		if err := rows.Next(row[:]); err != nil {
			rows.Close()
			return 0, metaError(err)
		}
		c.snapshot = rows
		generation, last, err = metaRow(row)
		return generation, err
	})
	return generation, last, err
}

func (c *conn) endRead() {
	if c.snapshot != nil {
		c.snapshot.Close()
		c.snapshot = nil
	}
}

// beginWrite takes SQLite's lock, and returns the newest generation and the last id that
// was given. After an error it does not hold the lock.
func (c *conn) beginWrite() (generation, last int64, err error) {
	defer func() {
		if err != nil {
			c.rollback()
		}
	}()
	if !c.wrote {
		// The WAL keeps its greatest size on disk unless it is told a limit, and
		// is folded into the root by foldWAL.
		if _, err := c.c.Exec(`PRAGMA journal_size_limit = 16777216; PRAGMA wal_autocheckpoint = 0`, nil); err != nil {
			return 0, 0, sqlError(err)
		}
		c.wrote = true
	}
	failed, marked := c.unsynced.at()
	frames, err := c.framesAfterFailure(marked)
	if err != nil {
		return 0, 0, err
	}
	if err := c.exec(sqlBegin); err != nil {
		return 0, 0, err
	}
	c.writing = true
	if err := c.findRoot(); err != nil {
		return 0, 0, err
	}
	if err := c.findWAL(); err != nil {
		return 0, 0, err
	}
	if marked {
		if err := c.rewriteWAL(frames); err != nil {
			return 0, 0, err
		}
		if err := c.unsynced.clear(failed); err != nil {
			return 0, 0, fmt.Errorf("%w: %w", objectdb.ErrDisk, err)
		}
	}
	// A newer program may have brought the root up to date since it was opened.
	if _, err := c.version(); err != nil {
		return 0, 0, err
	}
	var row [2]driver.Value
	if err := c.one(row[:], sqlMeta); err != nil {
		return 0, 0, metaError(err)
	}
	return metaRow(row)
}

func metaRow(row [2]driver.Value) (generation, last int64, err error) {
	generation, ok := row[0].(int64)
	last, ok2 := row[1].(int64)
	if !ok || !ok2 {
		return 0, 0, fmt.Errorf("%w: its generation is no integer", objectdb.ErrDamaged)
	}
	return generation, last, nil
}

func metaError(err error) error {
	if err == io.EOF {
		return fmt.Errorf("%w: it has no generation", objectdb.ErrDamaged)
	}
	return sqlError(err)
}

// commit ends a write transaction; store.sync waits for the disk. After an error
// nothing of it is left, and the connection is not used again.
func (c *conn) commit() error {
	if err := c.exec(sqlCommit); err != nil {
		c.failed(err)
		c.broken = true
		c.rollback()
		return err
	}
	c.writing = false
	return nil
}

func (c *conn) rollback() {
	if c.writing {
		c.writing = false
		if err := c.exec(sqlRollback); err != nil && !c.c.AutoCommit() {
			c.broken = true
		}
	}
}

// sqlError returns our error for one of SQLite's, whose text it keeps.
func sqlError(err error) error {
	if err == nil || err == io.EOF {
		return err
	}
	var sqlite sqlite3.Error
	if !errors.As(err, &sqlite) {
		return err
	}
	switch sqlite.Code {
	case sqlite3.ErrBusy, sqlite3.ErrLocked:
		return objectdb.ErrBusy
	case sqlite3.ErrCorrupt, sqlite3.ErrFormat:
		return fmt.Errorf("%w (%s); restore a copy of it", objectdb.ErrDamaged, sqlite.Error())
	case sqlite3.ErrNotADB:
		return fmt.Errorf("%w (%s)", objectdb.ErrNotRoot, sqlite.Error())
	case sqlite3.ErrReadonly:
		return fmt.Errorf("%w (%s)", objectdb.ErrReadOnly, sqlite.Error())
	case sqlite3.ErrFull:
		return fmt.Errorf("%w: it is full (%w)", objectdb.ErrDisk, err)
	case sqlite3.ErrConstraint:
		if target, ok := strings.CutPrefix(sqlite.Error(), movedTo); ok {
			return objectdb.MovedTo(target)
		}
	case sqlite3.ErrIoErr:
		return fmt.Errorf("%w (%w)", objectdb.ErrDisk, err)
	}
	return fmt.Errorf("SQLite: %w", err)
}
