package pgstore

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"scripter/internal/postgrestest"
	"scripter/objectdb"
	"scripter/objectdb/sqlitestore"
	"scripter/objectdb/storetest"
)

// server is the server of all tests that do not end it.
var server postgrestest.Shared

func TestMain(m *testing.M) {
	copyInThisProcess()
	if root, path, ok := strings.Cut(os.Getenv(pollsFor), " "); ok {
		pollUntilKilled(root, path)
	}
	if root := os.Getenv(holdsLockOf); root != "" {
		holdLock(root)
	}
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
	return s.URL("schema=" + url.QueryEscape(schema) + "&host_folder=" + url.QueryEscape(t.TempDir()))
}

// TestContract runs the tests that every store must pass.
func TestContract(t *testing.T) {
	storetest.Run(t, backend)
}

// backend has roots with saved copies.
var backend = storetest.Backend{
	Path: newURL, Import: Import, Open: openWithCopies, OpenCopy: sqlitestore.Open, Beside: beside, Distant: true,
	Create: func(root string, o objectdb.Options) (*objectdb.DB, error) {
		db, err := Create(root, o)
		if err != nil {
			return nil, err
		}
		defer db.Close()
		return openWithCopies(root, o)
	},
}

func openWithCopies(root string, o objectdb.Options) (*objectdb.DB, error) {
	s, err := OpenStore(root, o)
	if err != nil {
		return nil, err
	}
	return objectdb.New(sqlitestore.WithCopies(s, beside(root)+".root", o), o), nil
}

// beside returns how the paths of the saved copies of a root begin: in a folder of its own, in that of the server.
func beside(root string) string {
	u, err := url.Parse(root)
	if err != nil {
		panic(err)
	}
	return filepath.Join(u.Query().Get("host"), "copies", u.Query().Get("schema"), "test")
}

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

// Whoever may read the folder of the saved copies, and nobody else, may read a copy.
func TestCopiesHaveTheRightsOfTheFolder(t *testing.T) {
	root := newURL(t)
	db, err := backend.Create(root, storetest.Patient)
	require.NoError(t, err)
	defer db.Close()
	folder := filepath.Dir(beside(root))
	for _, mode := range []os.FileMode{0o700, 0o750, 0o775} {
		require.NoError(t, os.MkdirAll(folder, mode))
		require.NoError(t, os.Chmod(folder, mode))
		info, err := os.Stat(storetest.Save(t, db, objectdb.SaveOptions{}).Path)
		require.NoError(t, err)
		require.Equal(t, mode&0o660, info.Mode())
	}
}
