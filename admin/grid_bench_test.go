package admin

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"scripter/gateway"
	"scripter/objectdb"
	"scripter/objectdb/sqlitestore"
	"scripter/site"
)

// BenchmarkGrid measures the first page of a table of records, now and as of then.
func BenchmarkGrid(b *testing.B) {
	db, err := sqlitestore.Create(filepath.Join(b.TempDir(), "test.root"), objectdb.Options{Relaxed: true})
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, db.Close()) })
	put := func(i int, tx *objectdb.Tx) error {
		for _, column := range []string{"name", "place", "price"} {
			if err := tx.Put(objectdb.Address{"user", "rows", fmt.Sprint(i), column}, objectdb.Number(i)); err != nil {
				return err
			}
		}
		return nil
	}
	require.NoError(b, db.Update(b.Context(), func(tx *objectdb.Tx) error {
		for i := range 20_000 {
			if err := put(i, tx); err != nil {
				return err
			}
		}
		return nil
	}))
	require.NoError(b, db.Update(b.Context(), func(tx *objectdb.Tx) error { return put(20_001, tx) }))
	s := New(Config{DB: db, Gateway: gateway.New(gateway.Options{DB: db})})
	s.routes()
	var snapshot *site.Snapshot
	var newest int64
	require.NoError(b, db.View(b.Context(), func(tx *objectdb.Tx) (err error) {
		newest = tx.Generation()
		snapshot, err = site.Read(tx)
		return err
	}))
	for _, name := range []string{"now", "then"} {
		b.Run(name, func(b *testing.B) {
			url := "/at?view=grid&address=user.rows"
			if name == "then" {
				url += fmt.Sprintf("&at=%d", newest-1)
			}
			for b.Loop() {
				w := httptest.NewRecorder()
				c := &call{Server: s, w: w, base: "/scripter/", site: snapshot, user: "ada", role: site.LocalOwner, db: db}
				c.r = httptest.NewRequest(http.MethodGet, url, nil)
				c.answer(everybody, (*call).objectPage)
				require.Equal(b, http.StatusOK, w.Code)
			}
		})
	}
}
