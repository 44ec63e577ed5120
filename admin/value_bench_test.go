package admin

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"scripter/gateway"
	"scripter/objectdb"
	"scripter/objectdb/sqlitestore"
	"scripter/site"
)

// largeValues are values whose pages must not cost much.
func largeValues() map[string]objectdb.Value {
	list := make(objectdb.List, 40_000)
	for i := range list {
		list[i] = objectdb.String(fmt.Sprint("item number ", i))
	}
	line := "a line of a long text, with <b>markup</b> & \"quotes\" in it\n"
	text := strings.Repeat(line, 5_000_000/len(line))
	return map[string]objectdb.Value{
		"list": list, "text": objectdb.Text(text), "script": objectdb.Script("--" + strings.ReplaceAll(text, "\n", "\n--")),
		"outline": objectdb.Outline(text), "string": objectdb.String(text),
		"textfile": objectdb.Binary{Type: "text/html", Data: text}, "picture": objectdb.Binary{Type: "image/png", Data: text + text + text},
		"small": objectdb.Text(line),
	}
}

// BenchmarkLargeValues measures the pages of large values, in both forms, and the list of them.
func BenchmarkLargeValues(b *testing.B) {
	db, err := sqlitestore.Create(filepath.Join(b.TempDir(), "test.root"), objectdb.Options{Relaxed: true})
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, db.Close()) })
	require.NoError(b, db.Update(b.Context(), func(tx *objectdb.Tx) error {
		for name, v := range largeValues() {
			if err := tx.Put(objectdb.Address{"user", "large", name}, v); err != nil {
				return err
			}
		}
		return nil
	}))
	s := New(Config{DB: db, Gateway: gateway.New(gateway.Options{DB: db})})
	s.routes()
	var snapshot *site.Snapshot
	require.NoError(b, db.View(b.Context(), func(tx *objectdb.Tx) (err error) {
		snapshot, err = site.Read(tx)
		return err
	}))
	for _, name := range []string{"list", "text", "script", "outline", "string", "textfile", "picture", "small", "list json", "text json", ""} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				of, json, _ := strings.Cut(name, " ")
				w := httptest.NewRecorder()
				c := &call{Server: s, w: w, base: "/scripter/", site: snapshot, user: "ada", role: site.LocalOwner, db: db, json: json != ""}
				c.r = httptest.NewRequest(http.MethodGet, "/at?address=user.large."+of, nil)
				if of == "" {
					c.r = httptest.NewRequest(http.MethodGet, "/at?address=user.large", nil)
				}
				c.answer(everybody, (*call).objectPage)
				require.Equal(b, http.StatusOK, w.Code)
			}
		})
	}
}
