package storetest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"scripter/objectdb"
)

// RunCopies tests copies of roots from one kind of store to another.
func RunCopies(t *testing.T, from, to Backend) {
	a, b := &T{t, from}, to
	a.Run("OfRandomRoots", func(t *T) { testCopiesOfRandomRoots(t, b) })
	a.Run("OfLargeValues", func(t *T) { testCopiesOfLargeValues(t, b) })
	a.Run("ThatFail", func(t *T) { testCopiesThatFail(t, b) })
}

func testCopies(t *T) { RunCopies(t.T, t.Backend, t.Backend) }

// copyTo copies a root to a new one of a backend, and returns its path.
func copyTo(t testing.TB, from *objectdb.DB, to Backend) string {
	t.Helper()
	path := to.Path(t)
	require.NoError(t, from.Dump(context.Background(), func(d *objectdb.Dump) error {
		_, err := to.Import(context.Background(), path, Patient, d)
		return err
	}))
	return path
}

// The copy of a random root is complete, and can be used as the root itself: the historian sees what was done before
// the copy, and can undo it.
func testCopiesOfRandomRoots(t *T, to Backend) {
	for seed := range min(t.sequences(6, 2), to.sequences(6, 2)) {
		t.Run(fmt.Sprint(seed), func(t *T) {
			t.Parallel()
			h := newHistorian(t, seed)
			for range 12 {
				h.sequence()
			}
			db := h.dbs[0]
			path := copyTo(t, db, to)
			var dbs []*objectdb.DB
			for range 2 {
				other, err := to.Open(path, h.options)
				require.NoError(t, err)
				t.Cleanup(func() { require.NoError(t, other.Close()) })
				dbs = append(dbs, other)
			}
			RequireSame(t, db, dbs[0])
			RequireSound(t, dbs[0])
			require.Equal(t, history(t, db), history(t, dbs[0]))
			ours, theirs := Must(db.Info(context.Background()))(t), Must(dbs[0].Info(context.Background()))(t)
			ours.Version, theirs.Version = 0, 0 // each store has forms of its own
			require.Equal(t, ours, theirs)
			h.dbs = []*objectdb.DB{dbs[0], dbs[0], dbs[1]}
			for range 12 {
				h.sequence()
			}
			RequireSound(t, dbs[1])
		})
	}
}

// history returns everything that a root keeps of its history.
func history(t testing.TB, db *objectdb.DB) (all []string) {
	t.Helper()
	require.NoError(t, db.Dump(context.Background(), func(d *objectdb.Dump) error {
		all = append(all, fmt.Sprintf("%d %d %d %+v", d.Generation, d.LastID, d.Reverted, d.History))
		for o, err := range d.Objects { // they have Since and Kept
			require.NoError(t, err)
			all = append(all, fmt.Sprintf("%+v", o))
		}
		for o, err := range d.Past {
			require.NoError(t, err)
			all = append(all, fmt.Sprintf("%+v", o))
		}
		for c, err := range d.Changes {
			require.NoError(t, err)
			all = append(all, fmt.Sprintf("%+v", c))
		}
		return nil
	}))
	return all
}

// Every kind of value is copied, and values of many MB, and names and origins that are no plain text.
func testCopiesOfLargeValues(t *T, to Backend) {
	db := open(t)
	Update(t, db, func(tx *objectdb.Tx) {
		tx.Origin = objectdb.Origin{Who: "a\x00b", Why: "GET", Path: "/\xff"}
		for i, v := range oddValues {
			require.NoError(t, tx.Put(objectdb.Address{"odd", fmt.Sprint(i)}, v))
			require.NoError(t, tx.Put(objectdb.Address{fmt.Sprint("top", i)}, v))
		}
		large := strings.Repeat("0123456789abcdef", 1<<19)
		require.NoError(t, tx.Put(Addr(t, "large.text"), objectdb.Text(large)))
		require.NoError(t, tx.Put(Addr(t, "large.binary"), objectdb.Binary{Type: "image/png", Data: large + "\x00\xff"}))
	})
	Update(t, db, func(tx *objectdb.Tx) { // the old values go into the history
		tx.Origin.Person = true
		require.NoError(t, tx.Delete(objectdb.Address{"odd"}))
		require.NoError(t, tx.Put(Addr(t, "large.text"), objectdb.Text("short")))
	})
	path := to.Path(t)
	var sums []objectdb.Sum
	steps := int64(0)
	require.NoError(t, db.Dump(t.Context(), func(d *objectdb.Dump) (err error) {
		d.Progress = func(done, all int64) { require.LessOrEqual(t, done, all); steps = done }
		sums, err = to.Import(t.Context(), path, Patient, d)
		return err
	}))
	require.Positive(t, steps)
	other, err := to.Open(path, Patient)
	require.NoError(t, err)
	defer other.Close()
	RequireSame(t, db, other)
	RequireSound(t, other)
	require.Len(t, sums, 2)
	require.Equal(t, "", sums[0].Table)
	require.Equal(t, "large", sums[1].Table)
	require.Equal(t, int64(3), sums[1].Objects)
	require.Equal(t, int64(1), sums[1].States)

	// A copy of the copy is the same again.
	third := copyTo(t, other, to)
	again, err := to.Open(third, Patient)
	require.NoError(t, err)
	defer again.Close()
	require.Equal(t, history(t, other), history(t, again))
}

var errStop = errors.New("it is stopped")

// A copy that ends early leaves nothing, and does not replace a root.
func testCopiesThatFail(t *T, to Backend) {
	db := open(t)
	Update(t, db, func(tx *objectdb.Tx) {
		for i := range 3000 {
			require.NoError(t, tx.Put(objectdb.Address{"t", fmt.Sprint(i)}, objectdb.Number(i)))
		}
	})
	path := to.Path(t)
	for _, at := range []int64{500, 5500} { // while it is written, and while it is read again
		ctx, stop := context.WithCancelCause(context.Background())
		err := db.Dump(context.Background(), func(d *objectdb.Dump) error {
			d.Progress = func(done, _ int64) {
				if done >= at {
					stop(errStop)
				}
			}
			_, err := to.Import(ctx, path, Patient, d)
			return err
		})
		require.ErrorIs(t, err, errStop)
		stop(nil)
		_, err = to.Open(path, Patient)
		require.ErrorIs(t, err, fs.ErrNotExist)
	}
	require.ErrorIs(t, db.Dump(context.Background(), func(d *objectdb.Dump) error {
		objects := d.Objects
		d.Objects = func(yield func(objectdb.Past, error) bool) {
			for o, err := range objects {
				if o.ID > 100 {
					err = errStop
				}
				if !yield(o, err) || err != nil {
					return
				}
			}
		}
		_, err := to.Import(context.Background(), path, Patient, d)
		return err
	}), errStop)
	_, err := to.Open(path, Patient)
	require.ErrorIs(t, err, fs.ErrNotExist)

	path = copyTo(t, db, to)
	other, err := to.Open(path, Patient)
	require.NoError(t, err)
	defer other.Close()
	Put(t, other, "t.x", objectdb.Number(1))
	require.ErrorIs(t, db.Dump(context.Background(), func(d *objectdb.Dump) error {
		_, err := to.Import(context.Background(), path, Patient, d)
		return err
	}), fs.ErrExist)
	RequireEqual(t, objectdb.Number(1), Get(t, other, "t.x"))
}
