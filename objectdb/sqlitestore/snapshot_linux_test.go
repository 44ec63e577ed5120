package sqlitestore

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
)

// On other systems every transaction begins a session at once.

// reads counts the read transactions of a store that has one connection, which is idle.
func reads(t testing.TB, s *store) int {
	t.Helper()
	require.Len(t, s.idle, 1)
	return s.idle[0].index.reads
}

// begun reports whether the transaction under way uses the only connection of a store.
func (s *store) begun() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.idle) == 0
}

// watching makes a DB whose only connection knows the state of the root, and another
// one of the same root, which stands for another process.
func watching(t *testing.T, pairs ...any) (db *objectdb.DB, s *store, other *objectdb.DB) {
	t.Helper()
	db, s = openStore(t, patient)
	put(t, db, pairs...)
	other, err := Open(db.Path(), patient)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, other.Close()) })
	for range readsBeforeMap + 1 {
		update(t, db, func(tx *objectdb.Tx) {
			for i := 0; i < len(pairs); i += 2 {
				_, err := tx.Get(addr(t, pairs[i].(string)))
				require.NoError(t, err)
			}
		})
	}
	return db, s, other
}

// What is cached is read without SQLite until another process writes; the next transaction
// begins a session.
func TestSessionBeginsOnlyAfterWrites(t *testing.T) {
	db, s, other := watching(t, "site.a", objectdb.Number(0))
	for n := range 20 {
		put(t, other, "site.a", objectdb.Number(n))
		before := reads(t, s)
		for range 5 {
			update(t, db, func(tx *objectdb.Tx) {
				v, err := tx.Get(addr(t, "site.a"))
				require.NoError(t, err)
				assert.Equal(t, objectdb.Number(n), v)
			})
		}
		assert.Equal(t, before+1, reads(t, s))
	}
	before := reads(t, s)
	put(t, db, "site.a", objectdb.Number(100))
	assert.Equal(t, objectdb.Number(100), get(t, other, "site.a"))
	update(t, db, func(tx *objectdb.Tx) {
		v, err := tx.Get(addr(t, "site.a"))
		require.NoError(t, err)
		assert.Equal(t, objectdb.Number(100), v)
	})
	assert.Greater(t, reads(t, s), before, "it has written itself")
}

// Another process commits between what a transaction reads from the cache and its first miss.
func TestCommitBeforeSessionBegins(t *testing.T) {
	for _, c := range []struct {
		what  string
		first func(t *testing.T, tx *objectdb.Tx)
		write func(t *testing.T, other *objectdb.DB)
		runs  int
	}{
		{"something else is written", nil, func(t *testing.T, other *objectdb.DB) {
			put(t, other, "other.x", objectdb.Number(2), "other.new", objectdb.Number(2))
		}, 1},
		{"a name comes into a table on the way", nil, func(t *testing.T, other *objectdb.DB) {
			put(t, other, "site.new", objectdb.Number(1))
		}, 1},
		{"a table on the way is spelled anew", nil, func(t *testing.T, other *objectdb.DB) {
			update(t, other, func(tx *objectdb.Tx) { require.NoError(t, tx.Move(addr(t, "site"), addr(t, "SITE"))) })
		}, 2},
		{"the same value again", nil, func(t *testing.T, other *objectdb.DB) {
			put(t, other, "site.new", objectdb.Number(1), "site.a", objectdb.Number(1))
		}, 2},
		{"what was read, with it", nil, func(t *testing.T, other *objectdb.DB) {
			put(t, other, "site.new", objectdb.Number(2), "site.a", objectdb.Number(2))
		}, 2},
		{"what was read is gone", nil, func(t *testing.T, other *objectdb.DB) {
			update(t, other, func(tx *objectdb.Tx) { require.NoError(t, tx.Delete(addr(t, "site.a"))) })
		}, 2},
		{"another object has its name", nil, func(t *testing.T, other *objectdb.DB) {
			update(t, other, func(tx *objectdb.Tx) {
				require.NoError(t, tx.Delete(addr(t, "site.a")))
				require.NoError(t, tx.Put(addr(t, "site.a"), objectdb.Number(1)))
			})
		}, 2},
		{"its table has moved", nil, func(t *testing.T, other *objectdb.DB) {
			update(t, other, func(tx *objectdb.Tx) { require.NoError(t, tx.Move(addr(t, "site"), addr(t, "moved"))) })
		}, 2},
		{"what was only found, and whose node is held", func(t *testing.T, tx *objectdb.Tx) {
			table, err := tx.Find(addr(t, "site"))
			require.NoError(t, err)
			_, err = tx.Child(table, "b")
			require.NoError(t, err)
		}, func(t *testing.T, other *objectdb.DB) { put(t, other, "site.b", objectdb.Number(2)) }, 2},
		{"a name that was not there", func(t *testing.T, tx *objectdb.Tx) {
			_, err := tx.Get(addr(t, "site.none"))
			require.ErrorIs(t, err, objectdb.ErrNotFound)
		}, func(t *testing.T, other *objectdb.DB) { put(t, other, "site.none", objectdb.Number(2)) }, 2},
	} {
		t.Run(c.what, func(t *testing.T) {
			db, s, other := watching(t, "site.a", objectdb.Number(1), "site.b", objectdb.Number(1),
				"other.x", objectdb.Number(1))
			if c.first != nil { // so that it is cached
				update(t, db, func(tx *objectdb.Tx) { c.first(t, tx) })
			}
			runs := 0
			require.NoError(t, db.Update(context.Background(), func(tx *objectdb.Tx) error {
				runs++
				before, err := tx.Get(addr(t, "site.a"))
				if runs == 1 {
					require.NoError(t, err)
					if c.first != nil {
						c.first(t, tx)
					}
					require.False(t, s.begun())
					c.write(t, other)
				}
				_, err = tx.Get(addr(t, "elsewhere.x"))
				if runs < c.runs {
					require.ErrorIs(t, err, objectdb.ErrConflict)
					return err
				}
				require.ErrorIs(t, err, objectdb.ErrNotFound)
				assert.True(t, s.begun())
				assert.Equal(t, c.runs == 2, tx.Locked())
				if now, err := tx.Get(addr(t, "site.a")); err == nil {
					assert.Equal(t, before, now)
				}
				if fresh, err := tx.Get(addr(t, "site.new")); err == nil { // both were written at once
					assert.Equal(t, fresh, before)
				}
				return nil
			}))
			assert.Equal(t, c.runs, runs)
		})
	}
}

// A function that drops the error is run again too, and nothing that it made of two states is
// committed.
func TestOvertakenTransactionIsNotCommitted(t *testing.T) {
	db, _, other := watching(t, "a", objectdb.Number(1))
	runs := 0
	require.NoError(t, db.Update(context.Background(), func(tx *objectdb.Tx) error {
		runs++
		v, err := tx.Get(addr(t, "a"))
		require.NoError(t, err)
		if runs == 1 {
			put(t, other, "a", objectdb.Number(2))
		}
		_ = tx.Put(addr(t, "sum"), v)
		_, _ = tx.Get(addr(t, "b"))
		if runs == 1 {
			return fmt.Errorf("something else went wrong")
		}
		return nil
	}))
	assert.Equal(t, 2, runs)
	assert.Equal(t, objectdb.Number(2), get(t, db, "sum"))
}

// Lists, derived values and addresses are of one state too.
func TestListsAndDerivedBeginSession(t *testing.T) {
	for what, do := range map[string]func(tx *objectdb.Tx, table *objectdb.Node) error{
		"stat":  func(tx *objectdb.Tx, _ *objectdb.Node) error { _, err := tx.Stat(addr(t, "site.deep")); return err },
		"list":  func(tx *objectdb.Tx, table *objectdb.Node) error { _, err := tx.Children(table); return err },
		"count": func(tx *objectdb.Tx, table *objectdb.Node) error { _, err := tx.Len(table); return err },
		"address": func(tx *objectdb.Tx, table *objectdb.Node) error {
			n, err := tx.Child(table, "a")
			tx.Address(n)
			return err
		},
		"write": func(tx *objectdb.Tx, table *objectdb.Node) error { return tx.Set(table, "a", objectdb.Number(2)) },
		"derived": func(tx *objectdb.Tx, _ *objectdb.Node) error {
			_, err := objectdb.NewDerived(func(*objectdb.Tx) (int, error) { return 1, nil }).Get(tx)
			return err
		},
	} {
		db, s, _ := watching(t, "site.deep.a", objectdb.Number(1))
		for range 2 { // the second time it is cached
			update(t, db, func(tx *objectdb.Tx) {
				table, err := tx.Find(addr(t, "site.deep"))
				require.NoError(t, err)
				require.NoError(t, do(tx, table))
				assert.True(t, s.begun(), what)
			})
		}
	}
}

// A transaction that writes names into a table does not conflict with later listings.
func TestListingInANewerState(t *testing.T) {
	db, s, other := watching(t, "site.deep.a", objectdb.Number(1))
	runs := 0
	update(t, db, func(tx *objectdb.Tx) {
		table, err := tx.Find(addr(t, "site.deep"))
		require.NoError(t, err)
		if runs++; runs == 1 {
			require.False(t, s.begun())
			put(t, other, "site.deep.b", objectdb.Number(1))
		}
		children, err := tx.Children(table)
		require.NoError(t, err)
		assert.Len(t, children, 2)
		require.NoError(t, tx.Put(addr(t, "count"), objectdb.Number(len(children))))
	})
	assert.Equal(t, 1, runs)
	assert.Equal(t, objectdb.Number(2), get(t, db, "count"))
}

// Two DBs write, checkpoints of every sort run, and readers see the last commit that ended
// before they began.
func TestNoCommitIsMissed(t *testing.T) {
	db, s, other := watching(t, "a", objectdb.Number(0), "b", objectdb.Number(0))
	random := rand.New(rand.NewPCG(7, 11))
	late := 0
	for n := range 600 {
		switch random.IntN(8) {
		case 0, 1:
			put(t, other, "a", objectdb.Number(n), "b", objectdb.Number(n))
		case 2:
			put(t, db, "a", objectdb.Number(n), "b", objectdb.Number(n))
		case 3:
			c, err := openConn(db.Path(), patient)
			require.NoError(t, err)
			_, err = c.c.Exec([]string{`PRAGMA wal_checkpoint(PASSIVE)`, `PRAGMA wal_checkpoint(RESTART)`,
				`PRAGMA wal_checkpoint(TRUNCATE)`, `VACUUM`}[random.IntN(4)], nil)
			require.NoError(t, c.close())
			require.NoError(t, err)
		}
		want := get(t, other, "a")
		update(t, db, func(tx *objectdb.Tx) {
			if !s.begun() {
				late++
			}
			for _, name := range []string{"a", "b"} {
				v, err := tx.Get(addr(t, name))
				require.NoError(t, err)
				assert.Equal(t, want, v)
			}
		})
	}
	assert.Greater(t, late, 100)
}

// If the name of the index is that of another file, or of none, every transaction begins a
// session.
func TestForeignWALIndex(t *testing.T) {
	for what, spoil := range map[string]func(path string) error{
		"removed":        func(path string) error { return os.Remove(path + "-shm") },
		"another's":      func(path string) error { return os.Rename(path+"-shm", path+"-elsewhere") },
		"the root moved": func(path string) error { return os.Rename(path, path+"-moved") },
		"the root replaced": func(path string) error {
			if err := os.Rename(path, path+"-moved"); err != nil {
				return err
			}
			return os.WriteFile(path, []byte("another file"), 0o600)
		},
	} {
		path := filepath.Join(t.TempDir(), "a.root")
		require.NoError(t, create(path, patient))
		s, err := open(path, patient)
		require.NoError(t, err)
		db := objectdb.New(s, patient)
		require.NoError(t, spoil(db.Path()))
		for range readsBeforeMap + 3 {
			update(t, db, func(tx *objectdb.Tx) { assert.True(t, s.begun(), what) })
		}
		assert.Nil(t, s.idle[0].index.words, what)
		db.Close()
	}
}
