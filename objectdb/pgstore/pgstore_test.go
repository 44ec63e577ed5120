package pgstore

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"scripter/internal/postgrestest"
	"scripter/objectdb/sqlitestore"
	"scripter/objectdb/storetest"
)

// server is the server of all tests that do not end it.
var server postgrestest.Shared

func TestMain(m *testing.M) {
	copyInThisProcess()
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
	storetest.Run(t, backend)
}

var backend = storetest.Backend{Path: newURL, Create: Create, Open: Open, Import: Import, Distant: true}

// TestCopies copies roots from files and to files.
func TestCopies(t *testing.T) {
	files := storetest.Backend{
		Path:   func(t testing.TB) string { return filepath.Join(t.TempDir(), "test.root") },
		Create: sqlitestore.Create, Open: sqlitestore.Open, Import: sqlitestore.Import,
	}
	t.Run("FromAFile", func(t *testing.T) { storetest.RunCopies(t, files, backend) })
	t.Run("ToAFile", func(t *testing.T) { storetest.RunCopies(t, backend, files) })
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
