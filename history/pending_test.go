package history

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
	"scripter/objectdb/sqlitestore"
)

func TestPendingDiffs(t *testing.T) {
	db, err := sqlitestore.Create(t.TempDir()+"/a.root", objectdb.Options{Relaxed: true})
	require.NoError(t, err)
	defer db.Close()
	at := func(names ...string) objectdb.Address { return names }
	require.NoError(t, db.Update(t.Context(), func(tx *objectdb.Tx) error {
		return errors.Join(tx.Put(at("a", "gone"), objectdb.Number(1)), tx.Put(at("a", "password"), objectdb.String("old")),
			tx.Put(at("a", "story"), objectdb.Text("one\ntwo\n")), tx.Put(at("a", "kind"), objectdb.Number(1)))
	}))
	stop := errors.New("stop")
	err = db.Update(t.Context(), func(tx *objectdb.Tx) error {
		require.NoError(t, errors.Join(tx.Delete(at("a", "gone")), tx.Put(at("a", "password"), objectdb.String("new")),
			tx.Put(at("a", "Story"), objectdb.Text("one\nthree\n")), tx.Put(at("a", "kind"), objectdb.String("x")),
			tx.Put(at("z", "new"), objectdb.Boolean(true))))
		list, more, err := PendingDiffs(tx, 5)
		require.NoError(t, err)
		assert.Equal(t, 1, more)
		var got []string
		for _, d := range list {
			got = append(got, d.Headline()+"\n"+d.Unified())
		}
		assert.Equal(t, []string{
			"removed a.gone, number, 8 bytes\n-1\n",
			"changed a.kind, was number, is now string, 1 byte\n-1\n+x\n",
			"changed a.password, string\n-(masked)\n+(masked)\n",
			"changed a.story, text, 10 bytes\n--- a.story (before)\n+++ a.story (after)\n@@ -1,2 +1,2 @@\n one\n-two\n+three\n",
			"added z, table\n",
		}, got)
		return stop
	})
	require.ErrorIs(t, err, stop)
}
