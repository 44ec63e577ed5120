// Package sqlitedb opens SQLite files that scripts may read, and change if scripter.conf says so.
package sqlitedb

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/mattn/go-sqlite3"

	"scripter/database"
	"scripter/site"
)

// Driver is the driver of SQLite files.
var Driver database.Driver = files{}

type files struct{}

// busyTime is how long a statement waits for another program that writes.
const busyTime = 2 * time.Second

// maxValue bounds a value, and a row, in bytes: SQLite makes them outside of the memory that Go counts.
const maxValue = 32 << 20

func (files) Open(d site.Database) (*sql.DB, error) {
	info, err := os.Stat(d.Source)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("there is no file %s", d.Source)
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is no file", d.Source)
	}
	mode := "ro"
	if d.Write {
		mode = "rw"
	}
	escaped := strings.NewReplacer("%", "%25", "?", "%3f", "#", "%23").Replace(d.Source)
	return sql.OpenDB(connector{
		name:   fmt.Sprintf("file:%s?mode=%s&_busy_timeout=%d", escaped, mode, busyTime.Milliseconds()),
		driver: &sqlite3.SQLiteDriver{ConnectHook: func(c *sqlite3.SQLiteConn) error { return restrict(c, d.Write) }},
	}), nil
}

func (files) Placeholder(int) string { return "?" }

// Within runs fn without a transaction of its own: a statement is one in SQLite. The context ends it.
func (files) Within(_ context.Context, c *sql.Conn, _ bool, _ time.Duration, fn func(database.Querier) error) error {
	return fn(c)
}

type connector struct {
	name   string
	driver *sqlite3.SQLiteDriver
}

func (c connector) Connect(context.Context) (driver.Conn, error) { return c.driver.Open(c.name) }
func (c connector) Driver() driver.Driver                        { return c.driver }

// The settings of every connection, made before restrict forbids such statements. What the schema of the file calls is
// not trusted, as somebody else may have made the file.
const settings = `PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; PRAGMA foreign_keys = ON`

// rootID is the application_id of a root of Scripter.
const rootID = 0x53437274

// restrict forbids what reaches out of the file, or changes it against the line of scripter.conf.
func restrict(c *sqlite3.SQLiteConn, write bool) error {
	text := settings
	if !write {
		text += "; PRAGMA query_only = ON"
	}
	if _, err := c.Exec(text, nil); err != nil {
		return err
	}
	if err := refuseRoot(c); err != nil {
		return err
	}
	c.SetLimit(sqlite3.SQLITE_LIMIT_LENGTH, maxValue)
	c.SetLimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
	c.RegisterAuthorizer(authorize)
	return nil
}

// refuseRoot refuses a root: scripts have it by its names, and must not change its tables.
func refuseRoot(c *sqlite3.SQLiteConn) error {
	rows, err := c.Query("PRAGMA application_id", nil)
	if err != nil {
		return err
	}
	defer rows.Close()
	id := make([]driver.Value, 1)
	if err := rows.Next(id); err != nil {
		return err
	}
	if id[0] == int64(rootID) {
		return errors.New("the file is a root of Scripter; scripts have their root by its names")
	}
	return nil
}

// mayAsk are the pragmas that only say what is there.
var mayAsk = strings.Fields(`table_info table_xinfo table_list index_list index_info index_xinfo foreign_key_list
	user_version encoding`)

// forbidden are functions that load code or take pointers.
var forbidden = []string{"load_extension", "fts3_tokenizer"}

// authorize is asked about everything that a statement would do.
func authorize(op int, first, second, _ string) int {
	switch op {
	case sqlite3.SQLITE_ATTACH, sqlite3.SQLITE_DETACH:
		return sqlite3.SQLITE_DENY
	case sqlite3.SQLITE_PRAGMA:
		if !slices.Contains(mayAsk, strings.ToLower(first)) || second != "" && isNumber(second) {
			return sqlite3.SQLITE_DENY
		}
	case sqlite3.SQLITE_FUNCTION:
		if slices.Contains(forbidden, strings.ToLower(second)) {
			return sqlite3.SQLITE_DENY
		}
	}
	return sqlite3.SQLITE_OK
}

// isNumber reports whether the argument of a pragma is a number, as that of PRAGMA user_version = 1.
func isNumber(s string) bool { return s[0] >= '0' && s[0] <= '9' || s[0] == '-' || s[0] == '+' }
