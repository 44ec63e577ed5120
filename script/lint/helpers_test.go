package lint

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
	"scripter/objectdb/sqlitestore"
	"scripter/script"
)

var testVerbs = []script.Verb{
	{Name: "test.upper", Func: func(c *script.Call) error { c.Return(strings.ToUpper(c.String(1))); return nil }},
	{Name: "test.panic", Func: func(*script.Call) error { panic("a panic") }},
	{Name: "deep.er.verb", Func: func(c *script.Call) error { c.Return("deep"); return nil }},
}

// newDB returns a root with these objects.
func newDB(t testing.TB, objects map[string]objectdb.Value) *objectdb.DB {
	t.Helper()
	db, err := sqlitestore.Create(filepath.Join(t.TempDir(), "test.root"), objectdb.Options{Relaxed: true})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, db.Close()) })
	require.NoError(t, db.Update(context.Background(), func(tx *objectdb.Tx) error {
		for at, v := range objects {
			a, err := objectdb.ParseAddress(at)
			if err != nil {
				return err
			}
			if err := tx.Put(a, v); err != nil {
				return err
			}
		}
		return nil
	}))
	return db
}

// within calls fn with a thread that may write; nothing is committed.
func within(t testing.TB, db *objectdb.DB, names *script.Table, fn func(*script.Thread)) {
	t.Helper()
	undo := errors.New("undo")
	engine := script.NewEngine(testVerbs)
	require.ErrorIs(t, db.Update(context.Background(), func(tx *objectdb.Tx) error {
		th := engine.NewThread(context.Background(), script.ThreadOptions{Tx: tx, Names: names})
		defer th.Close()
		fn(th)
		return undo
	}), undo)
}
