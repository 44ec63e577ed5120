package objectfiles

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"scripter/objectdb"
	"scripter/objectdb/sqlitestore"
	"scripter/objectdb/storetest"
)

// rewriting makes random changes to a root.
type rewriting struct {
	*rand.Rand
	values []objectdb.Value
}

func (r *rewriting) address() objectdb.Address {
	pool := []string{"a", "B", "b", "ä", "Ä", "c.d", "con", "x/y", "_index"}
	a := make(objectdb.Address, 1+r.IntN(3))
	for i := range a {
		a[i] = pool[r.IntN(len(pool))]
	}
	return a
}

var farAway = time.Date(3000, 1, 1, 0, 0, 0, 0, time.UTC)

// step makes one change. What cannot be done is not done.
func (r *rewriting) step(tx *objectdb.Tx) error {
	a, b, v := r.address(), r.address(), r.values[r.IntN(len(r.values))]
	var err error
	switch r.IntN(9) {
	case 0, 1, 2:
		err = tx.Put(a, v)
	case 3:
		err = tx.NewTable(a)
	case 4:
		err = tx.Delete(a)
	case 5, 6:
		err = tx.Move(a, b)
	case 7:
		err = tx.Copy(a, b)
	case 8: // in the place of a table with all below it
		var t *objectdb.Node
		if t, err = tx.Find(a.Parent()); err == nil {
			err = tx.Set(t, a.Name(), v)
		}
	}
	for _, known := range []error{
		objectdb.ErrNotFound, objectdb.ErrExists, objectdb.ErrIsTable, objectdb.ErrNotTable,
	} {
		if errors.Is(err, known) {
			return nil
		}
	}
	if problem := new(objectdb.Error); errors.As(err, &problem) && problem.Op == "move" {
		return nil // below itself
	}
	return err
}

// After the undo of a person's last change an export has the same bytes as before the
// change, and after the undo of the undo the same as after it.
func TestUndoGivesTheSameExport(t *testing.T) {
	times, _ := strconv.Atoi(os.Getenv("OBJECTDB_TEST_TORTURE"))
	for seed := range uint64(8 * max(times, 1)) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			o := storetest.Patient
			o.Origin.Person = true
			db, err := sqlitestore.Create(filepath.Join(t.TempDir(), "test.root"), o)
			require.NoError(t, err)
			defer db.Close()
			r := &rewriting{rand.New(rand.NewPCG(seed, 3)), nil}
			for _, v := range oddValues {
				if len(fmt.Sprint(v)) < 1000 {
					r.values = append(r.values, v)
				}
			}
			undo := func() {
				require.NoError(t, db.Update(context.Background(), func(tx *objectdb.Tx) error {
					last, err := tx.GenerationAt(farAway)
					if err == nil {
						_, err = tx.Undo([]int64{last}, objectdb.UndoOptions{})
					}
					return err
				}))
			}
			before := archiveOf(t, db, "", TarGzip)
			for range 25 {
				changed := false
				require.NoError(t, db.Update(context.Background(), func(tx *objectdb.Tx) error {
					for range 1 + r.IntN(8) {
						if err := r.step(tx); err != nil {
							return err
						}
						if r.IntN(10) == 0 {
							if err := tx.Flush(); err != nil {
								return err
							}
						}
					}
					return nil
				}))
				after := archiveOf(t, db, "", TarGzip)
				view(t, db, func(tx *objectdb.Tx) {
					last := must(tx.GenerationAt(farAway))(t)
					c, err := tx.Change(last)
					changed = err == nil && len(c.Undoes) == 0
				})
				if !changed {
					before = after
					continue
				}
				undo()
				require.Equal(t, before, archiveOf(t, db, "", TarGzip))
				if r.IntN(3) > 0 {
					undo()
					require.Equal(t, after, archiveOf(t, db, "", TarGzip))
					before = after
				}
			}
			storetest.RequireSound(t, db)
		})
	}
}
