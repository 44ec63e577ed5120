package sqlitestore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
)

const rewriteVariable = "OBJECTDB_TEST_REWRITE"

// littleHistory has rules under which a root soon drops what it has kept.
func littleHistory(*objectdb.Tx) (*objectdb.HistoryRules, error) {
	rules := objectdb.DefaultHistory
	rules.Interval = 0
	rules.Bounds.Bytes = 40_000
	return &rules, nil
}

// rewriteForever changes the root again and again, as a person and as a request. The tables
// pair.left and pair.right always have the same in them, however it was changed.
func rewriteForever(path string) {
	db, err := Open(path, objectdb.Options{BusyTimeout: patience, LockTime: patience, History: littleHistory})
	for err == nil {
		err = db.Update(context.Background(), func(tx *objectdb.Tx) error {
			tx.Origin.Person = rand.IntN(2) == 0
			if rand.IntN(4) == 0 {
				last, err := tx.LastUndoable()
				if err == nil {
					_, err = tx.Undo([]int64{last}, objectdb.UndoOptions{})
				}
				if conflict := new(objectdb.UndoConflict); errors.As(err, &conflict) || err == objectdb.ErrNothingToUndo {
					return nil
				}
				return err
			}
			return rewritePair(tx)
		})
	}
	fmt.Println(err)
	os.Exit(1)
}

// rewritePair changes both tables in the same way.
func rewritePair(tx *objectdb.Tx) error {
	how, name, to := rand.IntN(5), strconv.Itoa(rand.IntN(5)), strconv.Itoa(rand.IntN(5))
	value := objectdb.Number(float64(rand.IntN(1000)))
	for _, side := range []string{"left", "right"} {
		t := objectdb.Address{"pair", side}
		if err := tx.NewTable(t); err != nil {
			return err
		}
		var err error
		switch how {
		case 0, 1, 2:
			err = tx.Put(t.Child(name).Child("value"), value)
		case 3:
			err = tx.Delete(t.Child(name))
		case 4:
			err = tx.Move(t.Child(name), t.Child(to))
		}
		if err != nil && !errors.Is(err, objectdb.ErrNotFound) && !errors.Is(err, objectdb.ErrExists) {
			return err
		}
	}
	return nil
}

// requirePair compares both tables, as they are and in all generations that can be read.
func requirePair(t *testing.T, db *objectdb.DB) (generations int) {
	t.Helper()
	side := func(tx *objectdb.Tx, name string) (list []string) {
		err := tx.Walk(objectdb.Address{"pair", name}, func(a objectdb.Address, n *objectdb.Node) error {
			line := a[2:].String() + " " + n.Kind().String()
			if n.Kind() != objectdb.KindTable {
				v, err := tx.Value(n)
				if err != nil {
					return err
				}
				line += fmt.Sprint(" ", v)
			}
			list = append(list, line)
			return nil
		})
		if !errors.Is(err, objectdb.ErrNotFound) {
			require.NoError(t, err)
		}
		return list
	}
	now := generationOf(t, db)
	for g := historyOf(t, db).Reach; g <= now; g++ {
		inexact := false
		view(t, db.At(g, func(int64, int64) { inexact = true }), func(tx *objectdb.Tx) {
			left, right := side(tx, "left"), side(tx, "right")
			if !inexact {
				require.Equal(t, left, right, "generation %d", g)
			}
		})
		generations++
	}
	view(t, db, func(tx *objectdb.Tx) { require.Equal(t, side(tx, "left"), side(tx, "right")) })
	return generations
}

// Processes that change and undo are killed at random, again and again. The history and the
// present are never at odds.
//
// Catalogue: P1
func TestHistoryKilledAtRandom(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.root")
	o := byPerson
	o.History = littleHistory
	db, err := Create(path, o)
	require.NoError(t, err)
	require.NoError(t, db.Close())
	generations, undone := 0, 0
	for range 6 * torture() {
		var all sync.WaitGroup
		for range 3 {
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), rewriteVariable+"="+path)
			var failed bytes.Buffer
			cmd.Stdout = &failed
			require.NoError(t, cmd.Start())
			time.AfterFunc(time.Duration(50+rand.N(400))*time.Millisecond, func() { cmd.Process.Kill() })
			all.Go(func() {
				_ = cmd.Wait()
				assert.Empty(t, failed.String())
			})
		}
		all.Wait()
		db, err := Open(path, o)
		require.NoError(t, err)
		requireSound(t, db)
		generations += requirePair(t, db)
		for range 5 {
			err := db.Update(context.Background(), func(tx *objectdb.Tx) error {
				last, err := tx.LastUndoable()
				if err == nil {
					_, err = tx.Undo([]int64{last}, objectdb.UndoOptions{})
				}
				return err
			})
			if conflict := new(objectdb.UndoConflict); errors.As(err, &conflict) || errors.Is(err, objectdb.ErrNothingToUndo) {
				break
			}
			require.NoError(t, err)
			undone++
			requireSound(t, db)
		}
		requirePair(t, db)
		require.NoError(t, db.Close())
	}
	assert.Positive(t, undone)
	t.Logf("%d generations compared, %d changes undone", generations, undone)
}
