package sqlitestore

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
)

func TestRevertToCopiesThatCannotBeUsed(t *testing.T) {
	db := openRoot(t)
	put(t, db, "t.x", objectdb.String("kept"))
	good := save(t, db, objectdb.SaveOptions{})
	dir := t.TempDir()
	damaged := filepath.Join(dir, "damaged.root")
	require.NoError(t, copyFile(good.Path, damaged))
	c, err := openConn(damaged, objectdb.Options{})
	require.NoError(t, err)
	_, err = c.c.Exec(`UPDATE object SET size = 1 WHERE name = 'x'`, nil)
	require.NoError(t, err)
	require.NoError(t, c.close())
	cut := filepath.Join(dir, "cut.root")
	require.NoError(t, copyFile(good.Path, cut))
	require.NoError(t, os.Truncate(cut, 5000))
	newerRoot := filepath.Join(dir, "newer.root")
	require.NoError(t, copyFile(good.Path, newerRoot))
	changed(t, newerRoot, 60, 0, 0, 0, 9)
	foreign, err := Create(filepath.Join(dir, "foreign.root"), patient)
	require.NoError(t, err)
	defer foreign.Close()

	for _, test := range []struct {
		path string
		want error
		says string
	}{
		{filepath.Join(dir, "missing.root"), fs.ErrNotExist, "missing.root cannot be used: no such file or directory"},
		{dir, objectdb.ErrNotRoot, "it is a folder"},
		{db.Path(), nil, "it is the root itself"},
		{damaged, objectdb.ErrDamaged, "(t.x): its size is said to be 1 and is 4"},
		{cut, objectdb.ErrDamaged, "it is cut off"},
		{newerRoot, objectdb.ErrNewer, "its version is 9, this program knows 5; use the newer program"},
		{foreign.Path(), nil, "it is a copy of another root; export that one, and import its files"},
	} {
		_, err := db.Revert(context.Background(), test.path, objectdb.SaveOptions{})
		require.Error(t, err, test.path)
		assert.ErrorContains(t, err, test.says)
		if test.want != nil {
			assert.ErrorIs(t, err, test.want)
		}
	}
	requireEqual(t, objectdb.String("kept"), get(t, db, "t.x"))
	list, err := Copies(db.Path())
	require.NoError(t, err)
	assert.Len(t, list, 1, "nothing was done")
	assert.Zero(t, db.LastFailure())
}
