package sqlitedb

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/database"
	"scripter/objectdb"
	"scripter/objectdb/sqlitestore"
	"scripter/site"
)

// newFile makes an SQLite file with a few rows.
func newFile(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "shop ?%#.db")
	escaped := strings.NewReplacer("%", "%25", "?", "%3f", "#", "%23").Replace(file)
	db, err := sql.Open("sqlite3", "file:"+escaped)
	require.NoError(t, err)
	defer db.Close()
	_, err = db.Exec(`CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT UNIQUE, price REAL, data BLOB, at DATETIME, ok BOOLEAN);
		INSERT INTO t VALUES (1, 'tea', 2.5, x'00ff', '2026-01-31 18:30:05', 1), (2, NULL, NULL, NULL, NULL, NULL),
			(9007199254740993, 'big', 1e300, '', '2026-01-31', 0);
		CREATE TABLE u (t REFERENCES t (id))`)
	require.NoError(t, err)
	return file
}

func newPool() *database.Pool { return database.NewPool(database.Drivers{SQLite: Driver}) }

func run(p *database.Pool, d site.Database, s database.Statement) (*database.Result, error) {
	if s.Time == 0 {
		s.Time = 10 * time.Second
	}
	if s.MaxRows == 0 {
		s.MaxRows = 1000
	}
	if s.MaxBytes == 0 {
		s.MaxBytes = 1 << 20
	}
	return p.Run(context.Background(), d, s)
}

func TestQuery(t *testing.T) {
	p := newPool()
	d := site.Database{Name: "shop", Source: newFile(t)}
	r, err := run(p, d, database.Statement{Text: "SELECT * FROM t WHERE id >= ? ORDER BY id", Args: []any{int64(1)}})
	require.NoError(t, err)
	assert.Equal(t, []string{"id", "name", "price", "data", "at", "ok"}, r.Columns)
	assert.Equal(t, [][]any{
		{int64(1), "tea", 2.5, []byte{0, 255}, time.Date(2026, 1, 31, 18, 30, 5, 0, time.UTC), true},
		{int64(2), nil, nil, nil, nil, nil},
		{int64(9007199254740993), "big", 1e300, []byte{}, time.Date(2026, 1, 31, 0, 0, 0, 0, time.UTC), false},
	}, normal(r.Rows))
	r, err = run(p, d, database.Statement{
		Text: "SELECT typeof (?), typeof (?), typeof (?), typeof (?), typeof (?)", Args: []any{int64(1), 1.5, "x", []byte{0}, nil},
	})
	require.Error(t, err, "columns of one name")
	assert.Nil(t, r)
	r, err = run(p, d, database.Statement{Text: "SELECT typeof (?) a, typeof (?) b, typeof (?) c, typeof (?) d, typeof (?) e",
		Args: []any{int64(1), 1.5, "x", []byte{0}, nil}})
	require.NoError(t, err)
	assert.Equal(t, [][]any{{"integer", "real", "text", "blob", "null"}}, r.Rows)
	r, err = run(p, d, database.Statement{Text: "SELECT name FROM pragma_table_info ('t') WHERE pk"})
	require.NoError(t, err)
	assert.Equal(t, [][]any{{"id"}}, r.Rows)
	for text, want := range map[string]string{
		"SELECT nope FROM t": "no such column: nope", "SELECT * FROM nowhere": "no such table", "SELECT": "incomplete input",
	} {
		_, err := run(p, d, database.Statement{Text: text})
		assert.ErrorContains(t, err, want)
	}
}

// normal makes an empty blob the same on all versions.
func normal(rows [][]any) [][]any {
	for _, row := range rows {
		for i := range row {
			if b, ok := row[i].([]byte); ok && len(b) == 0 {
				row[i] = []byte{}
			}
			if s, ok := row[i].(string); ok && s == "" {
				row[i] = []byte{}
			}
		}
	}
	return rows
}

func TestExec(t *testing.T) {
	p := newPool()
	d := site.Database{Name: "shop", Source: newFile(t), Write: true}
	r, err := run(p, d, database.Statement{Text: "INSERT INTO t (name) VALUES (?)", Args: []any{"milk"}, Write: true})
	require.NoError(t, err)
	assert.Equal(t, []int64{1, 9007199254740994}, []int64{r.Changed, r.LastID})
	r, err = run(p, d, database.Statement{Text: "UPDATE t SET price = 1 WHERE price IS NULL RETURNING id", Write: true})
	require.NoError(t, err)
	assert.Equal(t, [][]any{{int64(2)}, {int64(9007199254740994)}}, r.Rows)
	assert.Equal(t, int64(2), r.Changed)
	_, err = run(p, d, database.Statement{Text: "INSERT INTO t (name) VALUES ('milk')", Write: true})
	assert.ErrorContains(t, err, "UNIQUE")
	_, err = run(p, d, database.Statement{Text: "INSERT INTO u VALUES (77)", Write: true})
	assert.ErrorContains(t, err, "FOREIGN KEY")
	r, err = run(p, d, database.Statement{Text: "SELECT count (*) FROM t"})
	require.NoError(t, err)
	assert.Equal(t, [][]any{{int64(4)}}, r.Rows)

	d.Write = false
	_, err = run(p, d, database.Statement{Text: "DELETE FROM t", Write: true})
	assert.ErrorContains(t, err, "scripts may only read the database; the line for writing is \"database: shop "+d.Source+" write\"")
}

// TestOnlyReads has what statements that read must not do, whether the line says write or not.
func TestOnlyReads(t *testing.T) {
	file := newFile(t)
	other := filepath.Join(t.TempDir(), "other.db")
	for _, mayWrite := range []bool{false, true} {
		p := newPool()
		d := site.Database{Name: "shop", Source: file, Write: mayWrite}
		for _, s := range []database.Statement{
			{Text: "WITH x AS (SELECT 1) DELETE FROM t"},
			{Text: "WITH x AS (SELECT 1) INSERT INTO t (name) SELECT 'x'"},
			{Text: "SELECT load_extension ('/tmp/x.so')"},
			{Text: "SELECT fts3_tokenizer ('simple')"},
			{Text: "SELECT * FROM pragma_query_only (0)"},
			{Text: "SELECT * FROM pragma_user_version (7)"},
			{Text: "SELECT * FROM pragma_database_list"},
			{Text: "SELECT * FROM pragma_temp_store_directory ('/tmp')"},
			{Text: "SELECT writefile ('" + other + "', 'x')"},
			{Text: "ATTACH '" + other + "' AS o"},
			{Text: "PRAGMA query_only = OFF"},
			{Text: "VACUUM INTO '" + other + "'"},
			{Text: "EXPLAIN ATTACH '" + other + "' AS o"},
			{Text: "SELECT 1; DELETE FROM t"},
			{Text: "REPLACE INTO sqlite_master VALUES (1)", Write: true},
			{Text: "WITH x AS (SELECT 1) SELECT load_extension ('x')", Write: true},
		} {
			if s.Write && !mayWrite {
				continue
			}
			_, err := run(p, d, s)
			assert.Error(t, err, s.Text)
		}
		r, err := run(p, d, database.Statement{Text: "SELECT count (*) FROM t"})
		require.NoError(t, err)
		assert.Equal(t, [][]any{{int64(3)}}, r.Rows)
		_, err = os.Stat(other)
		assert.ErrorIs(t, err, os.ErrNotExist)
		p.Keep(nil)
	}
}

func TestLimits(t *testing.T) {
	p := newPool()
	d := site.Database{Name: "shop", Source: newFile(t)}
	const endless = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT "
	begin := time.Now()
	_, err := run(p, d, database.Statement{Text: endless + "max (i) FROM n", Time: 200 * time.Millisecond})
	assert.ErrorContains(t, err, "the database has not answered within 200ms")
	assert.Less(t, time.Since(begin), 5*time.Second)
	_, err = run(p, d, database.Statement{Text: endless + "i FROM n", MaxRows: 10})
	assert.ErrorIs(t, err, database.ErrRows)
	_, err = run(p, d, database.Statement{Text: endless + "hex (randomblob (1000)) FROM n", MaxBytes: 10000})
	assert.ErrorIs(t, err, database.ErrBytes)
	_, err = run(p, d, database.Statement{Text: "SELECT length (zeroblob (1000000000))"})
	assert.ErrorContains(t, err, "too big")
	r, err := run(p, d, database.Statement{Text: "SELECT 1"})
	require.NoError(t, err, "the connection is good again")
	assert.Len(t, r.Rows, 1)
}

func TestFilesThatAreRefused(t *testing.T) {
	p, dir := newPool(), t.TempDir()
	root := filepath.Join(dir, "site.root")
	db, err := sqlitestore.Create(root, objectdb.Options{})
	require.NoError(t, err)
	require.NoError(t, db.Close())
	text := filepath.Join(dir, "text")
	require.NoError(t, os.WriteFile(text, []byte(strings.Repeat("no database ", 1000)), 0o600))
	for source, want := range map[string]string{
		root: "it is", dir: "is no file", text: "not a database", filepath.Join(dir, "none"): "there is no file",
	} {
		for _, write := range []bool{false, true} {
			_, err := run(p, site.Database{Name: "x", Source: source, Write: write}, database.Statement{Text: "SELECT 1"})
			if source == root {
				want = "the file is a root of Scripter"
			}
			assert.ErrorContains(t, err, want, source)
		}
	}
	_, err = os.Stat(filepath.Join(dir, "none"))
	assert.ErrorIs(t, err, os.ErrNotExist)
	_, err = run(p, site.Database{Name: "x", Source: "postgres://h/db"}, database.Statement{Text: "SELECT 1"})
	assert.ErrorContains(t, err, "needs a resident server")
}

// TestWhileAnotherWrites: a reader of a file in WAL mode sees what another program commits.
func TestWhileAnotherWrites(t *testing.T) {
	file := filepath.Join(t.TempDir(), "shop.db")
	writer, err := sql.Open("sqlite3", "file:"+file+"?_journal_mode=WAL")
	require.NoError(t, err)
	defer writer.Close()
	_, err = writer.Exec("CREATE TABLE t (n)")
	require.NoError(t, err)
	p, d := newPool(), site.Database{Name: "shop", Source: file}
	for n := range 3 {
		r, err := run(p, d, database.Statement{Text: "SELECT count (*) FROM t"})
		require.NoError(t, err)
		assert.Equal(t, [][]any{{int64(n)}}, r.Rows)
		_, err = writer.Exec("INSERT INTO t VALUES (1)")
		require.NoError(t, err)
	}
}
