package sqlitestore

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
)

// Some processes move a table and delete its neighbours while others write in it: each
// acknowledged write is found, and every object is in a table.
//
// Catalogue: C3
func TestMoveTablesUnderWrites(t *testing.T) {
	db := openRoot(t)
	put(t, db, "here.box.x", objectdb.Number(0), "there.x", objectdb.Number(0))
	const workers, times = 4, 20
	var done sync.WaitGroup
	for w := range workers {
		done.Add(2)
		go func() {
			defer done.Done()
			for range times {
				err := db.Update(context.Background(), func(tx *objectdb.Tx) error {
					err := tx.Move(objectdb.Address{"here", "box"}, objectdb.Address{"there", "box"})
					if errors.Is(err, objectdb.ErrNotFound) {
						err = tx.Move(objectdb.Address{"there", "box"}, objectdb.Address{"here", "box"})
					}
					return err
				})
				assert.NoError(t, err)
			}
		}()
		go func() {
			defer done.Done()
			for i := range times {
				err := db.Update(context.Background(), func(tx *objectdb.Tx) error {
					box, err := tx.Find(objectdb.Address{"here", "box"})
					if errors.Is(err, objectdb.ErrNotFound) {
						box, err = tx.Find(objectdb.Address{"there", "box"})
					}
					if err != nil {
						return err
					}
					return tx.Set(box, fmt.Sprint(w, "-", i), objectdb.Number(i))
				})
				assert.NoError(t, err)
			}
		}()
	}
	done.Wait()
	view(t, db, func(tx *objectdb.Tx) {
		box, err := tx.Find(objectdb.Address{"here", "box"})
		if err != nil {
			box = must(tx.Find(objectdb.Address{"there", "box"}))(t)
		}
		assert.Equal(t, workers*times+1, must(tx.Len(box))(t))
	})
	requireCacheTrue(t, db)
}

const crashVariable = "OBJECTDB_TEST_CRASH"

// crash raises a counter for ever, and prints each number after its commit.
func crash(path string) {
	db, err := Open(path, patient)
	for n := 1; err == nil; n++ {
		err = db.Update(context.Background(), func(tx *objectdb.Tx) error {
			if err := tx.Put(objectdb.Address{"a", "n"}, objectdb.Number(n)); err != nil {
				return err
			}
			return tx.Put(objectdb.Address{"b", "n"}, objectdb.Number(n))
		})
		fmt.Println(n)
	}
	fmt.Println(err)
	os.Exit(1)
}

// Catalogue: P1
func TestKilledProcessLosesNoCommit(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.root")
	db, err := Create(path, objectdb.Options{})
	require.NoError(t, err)
	require.NoError(t, db.Close())
	for i := range 4 {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), crashVariable+"="+path)
		out, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		said, killed := 0, false
		for lines := bufio.NewScanner(out); lines.Scan(); {
			_, err := fmt.Sscan(lines.Text(), &said)
			require.NoError(t, err, lines.Text())
			if said > 0 && !killed { // it is at work
				killed = true
				time.AfterFunc(time.Duration(17*i)*time.Millisecond, func() { cmd.Process.Kill() })
			}
		}
		_ = cmd.Wait()
		db, err := Open(path, objectdb.Options{})
		require.NoError(t, err)
		requireSound(t, db)
		require.Positive(t, said)
		n := get(t, db, "a.n")
		assert.GreaterOrEqual(t, float64(n.(objectdb.Number)), float64(said))
		assert.Equal(t, n, get(t, db, "b.n"))
		require.NoError(t, db.Close())
	}
}
