package pgstore

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"scripter/internal/postgrestest"
	"scripter/objectdb"
	"scripter/objectdb/storetest"
)

// server is the server of all tests that do not end it.
var server postgrestest.Shared

func TestMain(m *testing.M) {
	code := m.Run()
	server.Remove()
	os.Exit(code)
}

var schemas atomic.Int64

// newURL returns the URL of a root that does not exist yet. It is removed at the end of the test.
func newURL(t testing.TB) string {
	t.Helper()
	s := server.Get(t, postgrestest.Fast...)
	schema := fmt.Sprintf(`root "%d"`, schemas.Add(1))
	t.Cleanup(func() { execute(t, s, `DROP SCHEMA IF EXISTS `+quoted(schema)+` CASCADE`) })
	return s.URL("schema=" + url.QueryEscape(schema))
}

// TestContract runs the tests that every store must pass.
func TestContract(t *testing.T) {
	storetest.Run(t, storetest.Backend{
		Create: func(t testing.TB, o objectdb.Options) (*objectdb.DB, error) { return Create(newURL(t), o) },
		Open:   Open, Distant: true,
	})
}

// execute runs a statement as another program of the server's would.
func execute(t testing.TB, s *postgrestest.Server, sql string) {
	t.Helper()
	ctx := context.Background()
	c, err := pgx.Connect(ctx, s.URL(""))
	require.NoError(t, err)
	defer c.Close(ctx)
	_, err = c.Exec(ctx, sql)
	require.NoError(t, err)
}
