package gateway

import (
	"database/sql"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/database"
	"scripter/database/sqlitedb"
	"scripter/objectdb"
	"scripter/runner"
	"scripter/site"
)

// shop makes an SQLite file, lists it as "shop" (reading) and "till" (writing), and returns a connection to it.
func (s *testSite) shop() *sql.DB {
	s.t.Helper()
	file := filepath.Join(s.t.TempDir(), "shop.db")
	db, err := sql.Open("sqlite3", "file:"+file+"?_journal_mode=WAL&_busy_timeout=5000")
	require.NoError(s.t, err)
	s.t.Cleanup(func() { db.Close() })
	_, err = db.Exec(`CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT, at DATETIME);
		INSERT INTO t VALUES (1, 'tea', '2026-01-31'), (2, NULL, NULL), (9007199254740993, 'big', NULL)`)
	require.NoError(s.t, err)
	drivers := database.Drivers{SQLite: sqlitedb.Driver}
	s.g.drivers, s.g.databases = drivers, database.NewPool(drivers)
	s.list(site.KeyDatabase, "shop "+file)
	s.list(site.KeyDatabase, "till "+file+" write")
	return db
}

func rowsOf(t *testing.T, db *sql.DB) (n int) {
	t.Helper()
	require.NoError(t, db.QueryRow("SELECT count (*) FROM t").Scan(&n))
	return n
}

func TestSQL(t *testing.T) {
	s := newSite(t)
	db := s.shop()
	for source, want := range map[string]string{
		`return sql.open ("shop"):row ("select name from t where id = ?", 1).name`:                                                              "tea",
		`return #sql.open ("shop"):query ("select * from t")`:                                                                                   "3",
		`return tostring (sql.open ("shop"):row ("select * from t where id = 2").name)`:                                                         "nil",
		`return tostring (sql.open ("shop"):row ("select * from t where id = 77"))`:                                                             "nil",
		`return sql.open ("shop"):query ("select * from t order by id") [3].id`:                                                                 "9007199254740993",
		`return sql.open ("shop"):row ("select at from t").at.year`:                                                                             "2026",
		`return #sql.open ("shop"):query ("select * from t where name = ?", "' or 1 = 1 --")`:                                                   "0",
		`return sql.open ("shop"):row ("select typeof (?) || typeof (?) || typeof (?) x", 1, 1.5).x`:                                            "error: shop:row: the statement has 3 placeholders (?), and there are 2 arguments",
		`return sql.open ("shop"):row ("select typeof (?) || typeof (?) || typeof (?) || typeof (?) x", 1, nil, odb.binary ("a"), json.null).x`: "integernullblobnull",
		`local db = sql.open ("till")
			local n, id = db:exec ("insert into t (name) values (?)", "milk")
			local m, rows = db:exec ("delete from t where name = ? returning name", "milk")
			return n .. ":" .. id .. m .. rows [1].name`: "1:90071992547409941milk",

		`sql.open ("nowhere")`:                                           `error: sql.open: scripter.conf lists no database "nowhere": add a line such as "database: shop /srv/shop.db" or`,
		`sql.open ("shop"):exec ("delete from t")`:                       `error: shop:exec: scripts may only read the database; the line for writing is "database: shop /`,
		`sql.open ("shop"):query ("delete from t")`:                      `error: shop:query: a statement begins with one of SELECT`,
		`sql.open ("till"):query ("with x as (select 1) delete from t")`: `error: till:query: attempt to write a readonly database`,
		`sql.open ("shop").query ("select 1")`:                           `error: shop:query: call it with a colon: db:query (statement, …)`,
		`sql.open ("shop"):query ("select 1; select 2")`:                 `error: shop:query: there is more than one statement`,
		`sql.open ("shop"):query (nil)`:                                  `error: shop:query: the statement must be a string`,
		`sql.open ("shop"):query ("select ?", {})`:                       `error: shop:query: argument 1 of the statement: it is a table`,
		`sql.open ("shop"):query ("select ?", tostring)`:                 `error: shop:query: argument 1 of the statement: it is no value`,
		`sql.open ("shop"):query ("select ?", user)`:                     `error: shop:query: argument 1 of the statement: it is an object of the root`,
		`sql.open ("shop"):query ("select x from t")`:                    `error: shop:query: no such column: x`,
		`sql.open ("shop"):query ("select 1 a, 2 a")`:                    `error: shop:query: two columns of the answer are called "a"`,
	} {
		s.script("x", "local ok, a = pcall (function () "+source+` end) return ok and a or "error: " .. a:gsub ("^[%w.]+:%d+: ", "")`)
		got := s.ask("/x.fcgi", nil).Body
		assert.True(t, strings.HasPrefix(got, want), "%s\n%s", source, got)
	}
	assert.Equal(t, 3, rowsOf(t, db))
}

// TestSQLAgain: a statement of a request that is run again is run once, and not while the request holds the lock.
func TestSQLAgain(t *testing.T) {
	s := newSite(t)
	db := s.shop()
	s.put("scratchpad.n", objectdb.Number(0))
	s.script("x", `local n = scratchpad.n
		local db = sql.open ("till")
		local _, id = db:exec ("insert into t (name) values ('again')")
		if not scratchpad.other then http.fetch (user.other) end
		local rows = db:row ("select count (*) n from t").n
		scratchpad.n = n + 1
		if n == 10 then db:exec ("insert into t (name) values ('second')") end
		return n .. ":" .. rows`)
	s.other(func(string, int) { s.put("scratchpad.n", objectdb.Number(10)) })
	assert.Equal(t, "10:4", s.ask("/x.fcgi", nil).Body)
	assert.Equal(t, objectdb.Number(11), s.get("scratchpad.n"))
	assert.Equal(t, 5, rowsOf(t, db))
}

func TestSQLLimits(t *testing.T) {
	s := newSite(t)
	s.shop()
	const endless = `sql.open ("shop"):query ("with recursive n (i) as (select 1 union all select i + 1 from n) select `
	ask := func(source string) string {
		s.script("x", `return select (2, pcall (function () `+source+` end))`)
		return s.ask("/x.fcgi", nil).Body
	}
	s.put("user.webserver.maxSqlRows", objectdb.Number(100))
	assert.Contains(t, ask(endless+`i from n")`), "the answer has more than 100 rows (user.webserver.maxSqlRows)")
	s.put("user.webserver.maxSqlSize", objectdb.Number(0.01))
	assert.Contains(t, ask(endless+`hex (randomblob (1000)) from n")`), "the answer is larger than 0.01 MB (user.webserver.maxSqlSize)")
	s.put("user.webserver.maxSqlTime", objectdb.Number(0.1))
	assert.Contains(t, ask(endless+`max (i) from n")`), "has not answered within 100ms")
	s.put("user.webserver.maxSqlTime", objectdb.Number(60))
	s.put("user.webserver.maxTime", objectdb.Number(0.1))
	s.script("x", `pcall (function () `+endless+`max (i) from n") end) return "went on"`)
	_, out := s.answer(s.request("/x.fcgi", nil))
	assert.ErrorContains(t, out.Err, "time limit of 100ms exceeded")
}

// TestSQLUndone: a run whose changes are undone changes no other database.
func TestSQLUndone(t *testing.T) {
	s := newSite(t)
	db := s.shop()
	_, err := s.g.Runner().Eval(t.Context(), runner.Options{Discard: true}, `sql.open ("till"):exec ("delete from t")`)
	assert.ErrorContains(t, err, "no database is changed by a test, a replay, or a run whose changes are undone")
	assert.Equal(t, 3, rowsOf(t, db))
	e, err := s.g.Runner().Eval(t.Context(), runner.Options{Discard: true}, `sql.open ("till"):row ("select count (*) n from t").n`)
	require.NoError(t, err)
	assert.Equal(t, []string{"3"}, e.Texts)
	o := s.other(nil)
	_, err = s.g.Runner().Eval(t.Context(), runner.Options{Discard: true}, `http.fetch (user.other, {body = "x"})`)
	assert.ErrorContains(t, err, "the method is GET or HEAD, not POST")
	assert.Empty(t, o.requests())

	// Without a driver, as in scripter-cgi.
	s.list(site.KeyDatabase, "remote postgres://reader@db/shop")
	_, err = s.g.Runner().Eval(t.Context(), runner.Options{}, `sql.open ("remote")`)
	assert.ErrorContains(t, err, "a database of PostgreSQL needs a resident server")
}
