package storetest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
)

// Patience is how long a test waits for something that must come at once: a busy machine may
// stand still for seconds.
const Patience = time.Minute

// Patient has the options for tests.
var Patient = objectdb.Options{Relaxed: true, BusyTimeout: Patience, LockTime: Patience}

// RequireSound stops the test unless Check finds nothing wrong in a root.
func RequireSound(t testing.TB, db *objectdb.DB) {
	t.Helper()
	problems, err := db.Check(context.Background())
	require.NoError(t, err)
	require.Empty(t, problems)
}

// Increment raises a number: it reads it and writes it.
func Increment(tx *objectdb.Tx, a objectdb.Address) error {
	v, err := tx.Get(a)
	if errors.Is(err, objectdb.ErrNotFound) {
		v, err = objectdb.Number(0), nil
	}
	if err != nil {
		return err
	}
	return tx.Put(a, v.(objectdb.Number)+1)
}

// Update runs fn in a transaction.
func Update(t testing.TB, db *objectdb.DB, fn func(*objectdb.Tx)) {
	t.Helper()
	require.NoError(t, db.Update(context.Background(), func(tx *objectdb.Tx) error { fn(tx); return nil }))
}

// View runs fn in a transaction that reads.
func View(t testing.TB, db *objectdb.DB, fn func(*objectdb.Tx)) {
	t.Helper()
	require.NoError(t, db.View(context.Background(), func(tx *objectdb.Tx) error { fn(tx); return nil }))
}

// Addr parses an address.
func Addr(t testing.TB, s string) objectdb.Address {
	t.Helper()
	a, err := objectdb.ParseAddress(s)
	require.NoError(t, err)
	return a
}

// Put stores values in a transaction of their own: address, value, address, value…
func Put(t testing.TB, db *objectdb.DB, pairs ...any) {
	t.Helper()
	Update(t, db, func(tx *objectdb.Tx) {
		for i := 0; i < len(pairs); i += 2 {
			require.NoError(t, tx.Put(Addr(t, pairs[i].(string)), pairs[i+1].(objectdb.Value)))
		}
	})
}

// Get returns the value at an address.
func Get(t testing.TB, db *objectdb.DB, a string) (v objectdb.Value) {
	t.Helper()
	View(t, db, func(tx *objectdb.Tx) {
		var err error
		v, err = tx.Get(Addr(t, a))
		require.NoError(t, err)
	})
	return v
}

// Names returns the names of the objects in a table, separated by blanks.
func Names(t testing.TB, tx *objectdb.Tx, a string) string {
	t.Helper()
	objects, err := tx.List(Addr(t, a))
	require.NoError(t, err)
	var list []string
	for _, o := range objects {
		list = append(list, o.Name)
	}
	return strings.Join(list, " ")
}

// RequireEqual stops the test unless two values are equal.
func RequireEqual(t testing.TB, want, got objectdb.Value) {
	t.Helper()
	if !objectdb.Equal(want, got) {
		require.Equal(t, want, got)
		t.Fatalf("want %#v, got %#v", want, got)
	}
}

// Must returns a function that returns v, or stops the test if there is an error.
func Must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		require.NoError(t, err)
		return v
	}
}

// Stat returns what is known of the object at an address.
func Stat(t testing.TB, db *objectdb.DB, a string) (o objectdb.Object) {
	t.Helper()
	View(t, db, func(tx *objectdb.Tx) { o = Must(tx.Stat(Addr(t, a)))(t) })
	return o
}

// RequireSame stops the test unless two DBs of one root find the same in it, got from the store
// and from the cache.
func RequireSame(t testing.TB, want, got *objectdb.DB) {
	t.Helper()
	all := dump(t, want)
	for range 2 {
		require.Equal(t, all, dump(t, got))
	}
}

// dump returns everything there is to know of every object, found by name and by list.
func dump(t testing.TB, db *objectdb.DB) (all []string) {
	t.Helper()
	View(t, db, func(tx *objectdb.Tx) {
		require.NoError(t, tx.Walk(objectdb.Address{}, func(a objectdb.Address, listed *objectdb.Node) error {
			n := Must(tx.Find(a))(t)
			line := fmt.Sprintf("%s %d %+v", a, n.ID(), object(n))
			assert.Equal(t, object(listed), object(n), line)
			if n.Kind() != objectdb.KindTable {
				line += fmt.Sprintf(" %v", Must(tx.Value(n))(t))
			}
			all = append(all, line)
			return nil
		}))
	})
	return all
}
