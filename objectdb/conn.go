package objectdb

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"time"

	sqlite3 "github.com/mattn/go-sqlite3"
)

// conn is one SQLite connection, used by one transaction at a time.
type conn struct {
	c        *sqlite3.SQLiteConn
	file     os.FileInfo // that it was opened for; nil where it is no DB's
	unsynced *unsynced   // the DB's; nil without a DB
	prepared [statements]*sqlite3.SQLiteStmt
	snapshot driver.Rows // open while a read transaction lasts
	writing  bool        // between BEGIN IMMEDIATE and COMMIT or ROLLBACK
	wrote    bool        // has ever written: its settings for that are made
	wal      *walFile    // for syncing; nil before the first commit, and where there is none
	broken   bool        // must not be used again
	args     [11]driver.NamedValue
	watched
}

// openConn opens the file at path, which must exist.
func openConn(path string, o Options) (*conn, error) {
	mode := "rw"
	if o.ReadOnly {
		mode = "ro"
	}
	// https://www.sqlite.org/uri.html: these three have a meaning in a URI.
	escaped := strings.NewReplacer("%", "%25", "?", "%3f", "#", "%23").Replace(path)
	dsn := fmt.Sprintf("file:%s?mode=%s&_mutex=no&_busy_timeout=0&_synchronous=NORMAL", escaped, mode)
	opened, err := (&sqlite3.SQLiteDriver{}).Open(dsn)
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
			return nil, fmt.Errorf("%w (%s); restore a copy of it", ErrDamaged, sqlite.Error())
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

// beginRead starts a read transaction and gives the generation that it sees.
// The first row of a query is read and the query kept open: as long as a
// statement is at work, all others of the connection see the same snapshot
// (https://www.sqlite.org/lang_transaction.html), and two statements are saved.
func (c *conn) beginRead() (generation int64, err error) {
	before, ok := c.index.header()
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
	generation, _, err = metaRow(row)
	// No header comes twice: when it was the same before and after, it was so meanwhile.
	after, ok2 := c.index.header()
	c.known = err == nil && ok && ok2 && before == after
	c.last, c.gen = after, generation
	if c.reads++; c.reads == readsUnwatched {
		c.watch()
	}
	return generation, err
}

func (c *conn) endRead() {
	if c.snapshot != nil {
		c.snapshot.Close()
		c.snapshot = nil
	}
}

// beginWrite takes the writer's lock and gives the newest generation and the
// last id that was given away.
func (c *conn) beginWrite() (generation, last int64, err error) {
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
			return 0, 0, fmt.Errorf("%w: %w", ErrDisk, err)
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

// reverted gives the last generation that a Revert has made; 0 when there was none.
func (c *conn) reverted() (int64, error) {
	var row [1]driver.Value
	if err := c.one(row[:], sqlReverted); err != nil {
		return 0, metaError(err)
	}
	generation, _ := row[0].(int64)
	return generation, nil
}

// changes gives the log of changes that the transaction under way sees.
func (c *conn) changes() (changeLog, error) {
	var row [1]driver.Value
	if err := c.one(row[:], sqlChanges); err != nil {
		return nil, metaError(err)
	}
	log, _ := row[0].([]byte)
	return log, nil
}

func metaRow(row [2]driver.Value) (generation, last int64, err error) {
	generation, ok := row[0].(int64)
	last, ok2 := row[1].(int64)
	if !ok || !ok2 {
		return 0, 0, fmt.Errorf("%w: its generation is no integer", ErrDamaged)
	}
	return generation, last, nil
}

func metaError(err error) error {
	if err == io.EOF {
		return fmt.Errorf("%w: it has no generation", ErrDamaged)
	}
	return sqlError(err)
}

// commit ends a write transaction; DB.sync has it reach the disk. After an error
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

// sqlError gives SQLite's errors our names. Its own words stay in the text.
func sqlError(err error) error {
	var sqlite sqlite3.Error
	if err == nil || err == io.EOF || !errors.As(err, &sqlite) {
		return err
	}
	switch sqlite.Code {
	case sqlite3.ErrBusy, sqlite3.ErrLocked:
		return ErrBusy
	case sqlite3.ErrCorrupt, sqlite3.ErrFormat:
		return fmt.Errorf("%w (%s); restore a copy of it", ErrDamaged, sqlite.Error())
	case sqlite3.ErrNotADB:
		return fmt.Errorf("%w (%s)", ErrNotRoot, sqlite.Error())
	case sqlite3.ErrReadonly:
		return fmt.Errorf("%w (%s)", ErrReadOnly, sqlite.Error())
	case sqlite3.ErrFull:
		return fmt.Errorf("%w: it is full (%w)", ErrDisk, err)
	case sqlite3.ErrIoErr:
		return fmt.Errorf("%w (%w)", ErrDisk, err)
	}
	return fmt.Errorf("SQLite: %w", err)
}

// retry calls try until it gives something else than ErrBusy, the context
// ends, or the deadline has passed.
func retry(ctx context.Context, deadline time.Time, try func() error) error {
	pause := 100 * time.Microsecond
	for {
		err := try()
		if !errors.Is(err, ErrBusy) {
			return err
		}
		left := time.Until(deadline)
		if left <= 0 {
			return err
		}
		// The pauses differ from process to process, so that none starves.
		timer := time.NewTimer(min(left, pause/2+rand.N(pause)))
		select {
		case <-ctx.Done():
			timer.Stop()
			return context.Cause(ctx)
		case <-timer.C:
		}
		pause = min(pause*3/2, 5*time.Millisecond)
	}
}
