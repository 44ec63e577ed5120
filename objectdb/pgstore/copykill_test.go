package pgstore

import (
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"scripter/objectdb"
	"scripter/objectdb/sqlitestore"
	"scripter/objectdb/storetest"
	"scripter/rootname"
)

const copyVariable = "PGSTORE_TEST_COPY" // from, a line feed, to

// copyRoot copies a root from a file.
func copyRoot(ctx context.Context, from, to string, progress func(done, all int64)) error {
	db, err := sqlitestore.Open(from, objectdb.Options{Reading: true})
	if err != nil {
		return err
	}
	defer db.Close()
	target := Import
	if !rootname.IsURL(to) {
		target = sqlitestore.Import
	}
	return db.Dump(ctx, func(d *objectdb.Dump) error {
		d.Progress = progress
		_, err := target(ctx, to, objectdb.Options{}, d)
		return err
	})
}

// copyInThisProcess makes this program copy a root, if a test says so.
func copyInThisProcess() {
	from, to, ok := strings.Cut(os.Getenv(copyVariable), "\n")
	if !ok {
		return
	}
	if err := copyRoot(context.Background(), from, to, func(done, _ int64) { fmt.Println(done) }); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	os.Exit(0)
}

// A program is killed while it copies a root: there is no root then, and nothing that hinders the next copy.
func TestKilledWhileCopying(t *testing.T) {
	folder := t.TempDir()
	from := filepath.Join(folder, "from.root")
	db, err := sqlitestore.Create(from, storetest.Patient)
	require.NoError(t, err)
	storetest.Update(t, db, func(tx *objectdb.Tx) {
		for i := range 20_000 {
			require.NoError(t, tx.Put(objectdb.Address{"t", fmt.Sprint(i)}, objectdb.String(fmt.Sprint("value ", i))))
		}
	})
	require.NoError(t, db.Close())
	for name, to := range map[string]string{"file": filepath.Join(folder, "to.root"), "server": newURL(t)} {
		open := Open
		if name == "file" {
			open = sqlitestore.Open
		}
		for range 3 {
			c := exec.Command(os.Args[0])
			c.Env = append(os.Environ(), copyVariable+"="+from+"\n"+to)
			out, err := c.StdoutPipe()
			require.NoError(t, err)
			require.NoError(t, c.Start())
			_, err = out.Read(make([]byte, 1)) // it has begun
			require.NoError(t, err)
			time.Sleep(time.Duration(rand.N(30)) * time.Millisecond)
			require.NoError(t, c.Process.Kill())
			require.Error(t, c.Wait(), "it was killed before its end")
			_, err = open(to, storetest.Patient)
			require.ErrorIs(t, err, fs.ErrNotExist)
		}
		require.NoError(t, copyRoot(t.Context(), from, to, nil))
		copied, err := open(to, storetest.Patient)
		require.NoError(t, err)
		storetest.RequireSound(t, copied)
		require.NoError(t, copied.Close())
	}
	entries, err := os.ReadDir(folder)
	require.NoError(t, err)
	require.Len(t, entries, 2, "nothing is left beside the roots: %v", entries)
}
