package pgdb

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/database"
	"scripter/internal/postgrestest"
	"scripter/site"
)

func TestDatabase(t *testing.T) {
	server := postgrestest.New(t, postgrestest.Fast...)
	t.Cleanup(server.Remove)
	ctx := context.Background()
	admin, err := pgx.Connect(ctx, server.URL(""))
	require.NoError(t, err)
	defer admin.Close(ctx)
	_, err = admin.Exec(ctx, `CREATE TABLE t (id bigint PRIMARY KEY, name text, price numeric (10, 2), rate float8, data bytea,
			at timestamptz, day date, ok boolean, doc jsonb, tags text[], uid uuid);
		INSERT INTO t VALUES (1, 'tea', 2.50, 0.5, '\x00ff', '2026-01-31 18:30:05+01', '2026-01-31', true, '{"a": 1}', '{x,y}',
			'00000000-0000-0000-0000-000000000001'), (9007199254740993, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
		CREATE FUNCTION change () RETURNS int LANGUAGE sql AS 'UPDATE t SET name = ''changed'' WHERE id = 1 RETURNING 1'`)
	require.NoError(t, err)

	p := database.NewPool(database.Drivers{Postgres: Driver})
	d := site.Database{Name: "shop", Source: server.URL(""), Write: true}
	run := func(s database.Statement) (*database.Result, error) {
		if s.Time == 0 {
			s.Time = 10 * time.Second
		}
		s.MaxRows, s.MaxBytes = 1000, 1<<20
		return p.Run(ctx, d, s)
	}

	t.Run("values", func(t *testing.T) {
		r, err := run(database.Statement{Text: "SELECT * FROM t WHERE id >= ? ORDER BY id", Args: []any{int64(1)}})
		require.NoError(t, err)
		require.Len(t, r.Rows, 2)
		at, ok := r.Rows[0][5].(time.Time)
		require.True(t, ok)
		assert.True(t, at.Equal(time.Date(2026, 1, 31, 17, 30, 5, 0, time.UTC)))
		r.Rows[0][5] = nil
		assert.Equal(t, []any{int64(1), "tea", "2.50", 0.5, []byte{0, 255}, nil, time.Date(2026, 1, 31, 0, 0, 0, 0, time.UTC),
			true, []byte(`{"a": 1}`), "{x,y}", "00000000-0000-0000-0000-000000000001"}, r.Rows[0])
		assert.Equal(t, []any{int64(9007199254740993), nil, nil, nil, nil, nil, nil, nil, nil, nil, nil}, r.Rows[1])

		r, err = run(database.Statement{
			Text: "SELECT ?::text a, ?::float8 b, ?::bytea c, ?::date d, ?::bool e, $$?$$ f, '?' g WHERE ? = 2",
			Args: []any{"x", int64(2), []byte{0}, time.Date(2026, 1, 31, 0, 0, 0, 0, time.UTC), nil, int64(2)},
		})
		require.NoError(t, err)
		assert.Equal(t, [][]any{{"x", 2.0, []byte{0}, time.Date(2026, 1, 31, 0, 0, 0, 0, time.UTC), nil, "?", "?"}}, r.Rows)
		r, err = run(database.Statement{Text: `SELECT doc ? 'a' AS has FROM t WHERE id = $1`, Args: []any{int64(1)}})
		require.Error(t, err, "? and $1")
		assert.Nil(t, r)
	})

	t.Run("exec", func(t *testing.T) {
		r, err := run(database.Statement{Text: "INSERT INTO t (id, name) VALUES (?, ?), (3, 'b') RETURNING id, name",
			Args: []any{int64(2), "a"}, Write: true})
		require.NoError(t, err)
		assert.Equal(t, [][]any{{int64(2), "a"}, {int64(3), "b"}}, r.Rows)
		r, err = run(database.Statement{Text: "DELETE FROM t WHERE id IN (2, 3);", Write: true})
		require.NoError(t, err)
		assert.Equal(t, int64(2), r.Changed)
		_, err = run(database.Statement{Text: "INSERT INTO t (id) VALUES (1)", Write: true})
		assert.ErrorContains(t, err, "duplicate key")
	})

	t.Run("only reads", func(t *testing.T) {
		for text, want := range map[string]string{
			"SELECT change ()": "read-only",
			"WITH x AS (DELETE FROM t RETURNING 1) SELECT * FROM x":               "read-only",
			"EXPLAIN ANALYZE DELETE FROM t":                                       "read-only",
			"SELECT set_config ('transaction_read_only', 'off', true), change ()": "transaction read-write mode must be set",
			"SELECT 1; DELETE FROM t":                                             "more than one statement",
			"SELECT nextval ('nowhere')":                                          "does not exist",
			"WITH x AS (SELECT 1) INSERT INTO t (id) SELECT 7":                    "read-only",
			"SELECT * INTO made FROM t":                                           "read-only",
			"SELECT * FROM t FOR UPDATE":                                          "read-only",
			"/* SELECT */ SET SESSION CHARACTERISTICS AS TRANSACTION READ WRITE":  "begins with one of",
			"SELECT pg_sleep (10)":                                                "has not answered within",
			"SELECT a.oid FROM pg_class a, pg_class b, pg_class c, pg_class d":    "too many rows",
			"SELECT repeat ('x', 1000000) AS a FROM generate_series (1, 3000)":    "too large",
		} {
			limit := 10 * time.Second
			if want == "has not answered within" {
				limit = 200 * time.Millisecond
			}
			begin := time.Now()
			_, err := run(database.Statement{Text: text, Time: limit})
			assert.ErrorContains(t, err, want, text)
			assert.Less(t, time.Since(begin), 9*time.Second, text)
		}
		r, err := run(database.Statement{Text: "SELECT name FROM t WHERE id = 1"})
		require.NoError(t, err)
		assert.Equal(t, [][]any{{"tea"}}, r.Rows)
	})

	t.Run("nothing of a session stays", func(t *testing.T) {
		_, err := run(database.Statement{Text: "SELECT set_config ('statement_timeout', '0', false), set_config ('role', 'none', false) b"})
		require.NoError(t, err)
		for range 3 {
			r, err := run(database.Statement{Text: "SELECT current_setting ('transaction_read_only') a, current_setting ('statement_timeout') b"})
			require.NoError(t, err)
			assert.Equal(t, [][]any{{"on", "10s"}}, r.Rows)
		}
	})

	t.Run("not there", func(t *testing.T) {
		d := site.Database{Name: "gone", Source: "postgres://reader@127.0.0.1:1/shop?sslmode=disable"}
		_, err := p.Run(ctx, d, database.Statement{Text: "SELECT 1", Time: 5 * time.Second, MaxRows: 1, MaxBytes: 100})
		assert.ErrorContains(t, err, "refused")
		assert.Error(t, p.Ping(ctx, d))
		assert.NoError(t, p.Ping(ctx, site.Database{Name: "shop", Source: server.URL("")}))
	})
}
