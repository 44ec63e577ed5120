package storetest

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
)

func testATransactionSeesOneState(t *T) {
	db := open(t)
	Put(t, db, "a.x", objectdb.Number(1), "a.y", objectdb.Number(1))
	View(t, db, func(tx *objectdb.Tx) {
		RequireEqual(t, objectdb.Number(1), Must(tx.Get(objectdb.Address{"a", "x"}))(t))
		Put(t, db, "a.x", objectdb.Number(2), "a.y", objectdb.Number(2), "a.z", objectdb.Number(2))
		Update(t, db, func(tx *objectdb.Tx) { require.NoError(t, tx.Move(objectdb.Address{"a"}, objectdb.Address{"b"})) })
		RequireEqual(t, objectdb.Number(1), Must(tx.Get(objectdb.Address{"a", "x"}))(t))
		RequireEqual(t, objectdb.Number(1), Must(tx.Get(objectdb.Address{"a", "y"}))(t))
		assert.Equal(t, "x y", Names(t, tx, "a"))
		_, err := tx.Find(objectdb.Address{"b"})
		assert.ErrorIs(t, err, objectdb.ErrNotFound)
	})
	RequireEqual(t, objectdb.Number(2), Get(t, db, "b.y"))
}

// Two transactions run so that each reads before the other writes.
func testConflicts(t *T) {
	tests := []struct {
		name         string
		inner, outer func(*objectdb.Tx) error // inner commits while outer is under way
		runs         int                      // of outer
	}{
		{"both raise a counter",
			func(tx *objectdb.Tx) error { return Increment(tx, objectdb.Address{"n"}) },
			func(tx *objectdb.Tx) error { return Increment(tx, objectdb.Address{"n"}) }, 2},
		{"both write blindly",
			func(tx *objectdb.Tx) error { return tx.Put(objectdb.Address{"n"}, objectdb.Number(1)) },
			func(tx *objectdb.Tx) error { return tx.Put(objectdb.Address{"n"}, objectdb.Number(5)) }, 1},
		{"both write beside one another",
			func(tx *objectdb.Tx) error { return tx.Put(objectdb.Address{"t", "new1"}, objectdb.Number(1)) },
			func(tx *objectdb.Tx) error { return tx.Put(objectdb.Address{"t", "new2"}, objectdb.Number(5)) }, 1},
		{"one reads what the other does not touch",
			func(tx *objectdb.Tx) error { return tx.Put(objectdb.Address{"t", "x"}, objectdb.Number(1)) },
			func(tx *objectdb.Tx) error { return Increment(tx, objectdb.Address{"n"}) }, 1},
		{"what was not there has come",
			func(tx *objectdb.Tx) error { return tx.Put(objectdb.Address{"new"}, objectdb.Number(1)) },
			func(tx *objectdb.Tx) error {
				_, err := tx.Get(objectdb.Address{"new"})
				return tx.Put(objectdb.Address{"saw"}, objectdb.Boolean(err == nil))
			}, 2},
		{"both make the same",
			func(tx *objectdb.Tx) error { return tx.Put(objectdb.Address{"new", "a"}, objectdb.Number(1)) },
			func(tx *objectdb.Tx) error { return tx.Put(objectdb.Address{"new", "b"}, objectdb.Number(1)) }, 2},
		{"a listed table has got a name",
			func(tx *objectdb.Tx) error { return tx.Put(objectdb.Address{"t", "new"}, objectdb.Number(1)) },
			func(tx *objectdb.Tx) error {
				list, err := tx.List(objectdb.Address{"t"})
				return errors.Join(err, tx.Put(objectdb.Address{"n"}, objectdb.Number(len(list))))
			}, 2},
		{"a counted table has lost a name",
			func(tx *objectdb.Tx) error { return tx.Delete(objectdb.Address{"t", "x"}) },
			func(tx *objectdb.Tx) error {
				n, err := tx.Find(objectdb.Address{"t"})
				if err != nil {
					return err
				}
				count, err := tx.Len(n)
				return errors.Join(err, tx.Put(objectdb.Address{"n"}, objectdb.Number(count)))
			}, 2},
		{"a listed value has changed",
			func(tx *objectdb.Tx) error { return tx.Put(objectdb.Address{"t", "x"}, objectdb.String("kind")) },
			func(tx *objectdb.Tx) error {
				list, err := tx.List(objectdb.Address{"t"})
				return errors.Join(err, tx.Put(objectdb.Address{"n"}, objectdb.String(list[0].Kind.String())))
			}, 2},
		{"the table written in has moved",
			func(tx *objectdb.Tx) error { return tx.Move(objectdb.Address{"t"}, objectdb.Address{"u"}) },
			func(tx *objectdb.Tx) error { return tx.Put(objectdb.Address{"t", "new"}, objectdb.Number(1)) }, 2},
		{"the table written in was deleted",
			func(tx *objectdb.Tx) error { return tx.Delete(objectdb.Address{"t"}) },
			func(tx *objectdb.Tx) error { return tx.Put(objectdb.Address{"t", "new"}, objectdb.Number(1)) }, 2},
		{"the table written in was replaced by another one",
			func(tx *objectdb.Tx) error { _, err := tx.SetTable(tx.Root(), "t"); return err },
			func(tx *objectdb.Tx) error { return tx.Put(objectdb.Address{"t", "new"}, objectdb.Number(1)) }, 2},
		{"a table is deleted in which something was made",
			func(tx *objectdb.Tx) error { return tx.Put(objectdb.Address{"t", "sub", "new"}, objectdb.Number(1)) },
			func(tx *objectdb.Tx) error { return tx.Delete(objectdb.Address{"t"}) }, 1},
		{"each is moved below the other",
			func(tx *objectdb.Tx) error { return tx.Move(objectdb.Address{"t"}, objectdb.Address{"v", "t"}) },
			func(tx *objectdb.Tx) error {
				err := tx.Move(objectdb.Address{"v"}, objectdb.Address{"t", "v"})
				if err != nil && !errors.Is(err, objectdb.ErrNotTable) {
					return tx.Put(objectdb.Address{"n"}, objectdb.String(err.Error()))
				}
				return nil
			}, 2},
		{"what is moved was written",
			func(tx *objectdb.Tx) error { return tx.Put(objectdb.Address{"t", "x"}, objectdb.Number(7)) },
			func(tx *objectdb.Tx) error { return tx.Move(objectdb.Address{"t", "x"}, objectdb.Address{"v", "x"}) }, 1},
		{"what is written was spelled anew",
			func(tx *objectdb.Tx) error { return tx.Move(objectdb.Address{"n"}, objectdb.Address{"N"}) },
			func(tx *objectdb.Tx) error { return tx.Put(objectdb.Address{"n"}, objectdb.Number(7)) }, 1},
		{"a reader never conflicts",
			func(tx *objectdb.Tx) error { return Increment(tx, objectdb.Address{"n"}) },
			func(tx *objectdb.Tx) error { _, err := tx.Get(objectdb.Address{"n"}); return err }, 1},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *T) {
			db := open(t)
			Put(t, db, "n", objectdb.Number(0), "t.sub.y", objectdb.Number(0), "t.x", objectdb.Number(0),
				"v.z", objectdb.Number(0))
			runs := 0
			require.NoError(t, db.Update(context.Background(), func(tx *objectdb.Tx) error {
				runs++
				assert.Equal(t, runs == 2, tx.Locked())
				err := test.outer(tx)
				if runs == 1 {
					require.NoError(t, db.Update(context.Background(), test.inner))
				}
				return err
			}))
			assert.Equal(t, test.runs, runs)
			RequireSound(t, db)
			requireCacheTrue(t, db)
		})
	}
}

// requireCacheTrue compares the cache with the store.
func requireCacheTrue(t *T, db *objectdb.DB) {
	t.Helper()
	o := objectdb.Options{CacheBytes: -1}
	if t.Distant {
		o.CacheBytes = 0 // it reads everything once
	}
	fresh, err := t.Open(db.Path(), o)
	require.NoError(t, err)
	defer fresh.Close()
	RequireSame(t, fresh, db)
}

func testOfTwoCounterRaisesOneIsRunAgain(t *T) {
	db := open(t)
	var runs atomic.Int64
	var both, done sync.WaitGroup
	both.Add(2)
	for range 2 {
		done.Add(1)
		go func() {
			defer done.Done()
			first := true
			assert.NoError(t, db.Update(context.Background(), func(tx *objectdb.Tx) error {
				runs.Add(1)
				err := Increment(tx, objectdb.Address{"n"})
				if first {
					first = false
					both.Done()
					both.Wait() // until both have read
				}
				return err
			}))
		}()
	}
	done.Wait()
	assert.Equal(t, int64(3), runs.Load())
	RequireEqual(t, objectdb.Number(2), Get(t, db, "n"))
}

func testManyGoroutinesRaiseOneCounter(t *T) {
	db := open(t)
	const workers, times = 16, 25
	var done sync.WaitGroup
	for w := range workers {
		done.Add(1)
		go func() {
			defer done.Done()
			run := db.Update
			if w%4 == 0 {
				run = db.UpdateLocked
			}
			for range times {
				if !assert.NoError(t, run(context.Background(), func(tx *objectdb.Tx) error {
					return errors.Join(Increment(tx, objectdb.Address{"n"}), Increment(tx, objectdb.Address{"by", strconv.Itoa(w)}))
				})) {
					return
				}
			}
		}()
	}
	done.Wait()
	RequireEqual(t, objectdb.Number(workers*times), Get(t, db, "n"))
	RequireEqual(t, objectdb.Number(times), Get(t, db, "by.3"))
	requireCacheTrue(t, db)
}

func testTheCacheFollowsOtherProcesses(t *T) {
	db := open(t)
	Put(t, db, "a.x", objectdb.Number(1))
	other, err := t.Open(db.Path(), objectdb.Options{}) // has a cache of its own, as a process has
	require.NoError(t, err)
	defer other.Close()
	RequireEqual(t, objectdb.Number(1), Get(t, db, "a.x"))
	RequireEqual(t, objectdb.Number(1), Get(t, other, "a.x"))
	Put(t, other, "a.x", objectdb.Number(2), "a.y", objectdb.Number(2))
	RequireEqual(t, objectdb.Number(2), Get(t, db, "a.x"))
	View(t, db, func(tx *objectdb.Tx) { assert.Equal(t, "x y", Names(t, tx, "a")) })
	Put(t, db, "a.x", objectdb.Number(3))
	RequireEqual(t, objectdb.Number(3), Get(t, other, "a.x"))
}

func testALockedTransactionKeepsOthersOut(t *T) {
	db := openWith(t, objectdb.Options{Relaxed: true, BusyTimeout: 30 * time.Millisecond, LockTime: Patience})
	other, err := t.Open(db.Path(), objectdb.Options{BusyTimeout: 30 * time.Millisecond})
	require.NoError(t, err)
	defer other.Close()
	ctx := context.Background()
	require.NoError(t, db.UpdateLocked(ctx, func(tx *objectdb.Tx) error {
		for _, rival := range []*objectdb.DB{db, other} {
			start := time.Now()
			err := rival.Update(ctx, func(tx *objectdb.Tx) error { return tx.Put(objectdb.Address{"x"}, objectdb.Number(1)) })
			assert.ErrorIs(t, err, objectdb.ErrBusy)
			assert.Less(t, time.Since(start), Patience/2)
			require.NoError(t, rival.View(ctx, func(tx *objectdb.Tx) error { return nil }), "readers do not wait")
		}
		cancelled, cancel := context.WithCancel(ctx)
		cancel()
		assert.ErrorIs(t, db.Update(cancelled, func(tx *objectdb.Tx) error { return nil }), context.Canceled)
		return tx.Put(objectdb.Address{"y"}, objectdb.Number(1))
	}))
	View(t, db, func(tx *objectdb.Tx) { assert.Equal(t, "y", Names(t, tx, "")) })
}

func testALockedTransactionIsLimited(t *T) {
	db := openWith(t, objectdb.Options{Relaxed: true, LockTime: 10 * time.Millisecond})
	err := db.UpdateLocked(context.Background(), func(tx *objectdb.Tx) error {
		require.NoError(t, tx.Put(objectdb.Address{"x"}, objectdb.Number(1)))
		<-tx.Context().Done()
		return nil
	})
	assert.ErrorIs(t, err, context.DeadlineExceeded)
	assert.ErrorContains(t, err, "the writer's lock was held for 10ms")
	View(t, db, func(tx *objectdb.Tx) { assert.Equal(t, "", Names(t, tx, "")) })
}

func testAFlushEndsTheLimitToo(t *T) {
	t.Parallel()                  // it sleeps
	const limit = 2 * time.Second // more than a flush takes
	db := openWith(t, objectdb.Options{Relaxed: true, LockTime: limit})
	for range 10 {
		begun, held := time.Now(), time.Duration(0)
		err := db.UpdateLocked(context.Background(), func(tx *objectdb.Tx) error {
			assert.True(t, tx.Locked())
			require.NoError(t, tx.Put(objectdb.Address{"x"}, objectdb.Number(1)))
			err := tx.Flush()
			if held = time.Since(begun); err != nil {
				return err
			}
			assert.False(t, tx.Locked())
			time.Sleep(limit)
			return tx.Context().Err()
		})
		if held < limit { // else the machine has stood still: again
			require.NoError(t, err)
			return
		}
	}
	require.Fail(t, "no flush within the limit")
}

func testFlush(t *T) {
	db := open(t)
	Put(t, db, "t.n", objectdb.Number(1), "gone.x", objectdb.Number(1))
	boom := errors.New("boom")
	runs := 0
	err := db.Update(context.Background(), func(tx *objectdb.Tx) error {
		runs++
		table := Must(tx.Find(objectdb.Address{"t"}))(t)
		gone := Must(tx.Find(objectdb.Address{"gone"}))(t)
		n := Must(tx.Child(table, "n"))(t)
		fresh := Must(tx.SetTable(table, "fresh"))(t)
		require.NoError(t, tx.Set(table, "n", objectdb.Number(2)))
		require.NoError(t, tx.Flush())
		RequireEqual(t, objectdb.Number(2), Get(t, db, "t.n"))
		Put(t, db, "t.other", objectdb.Number(3))
		Update(t, db, func(tx *objectdb.Tx) { require.NoError(t, tx.Delete(objectdb.Address{"gone"})) })
		require.NoError(t, tx.Flush())

		// Handles from before stand for what is there now.
		RequireEqual(t, objectdb.Number(2), Must(tx.Value(n))(t))
		RequireEqual(t, objectdb.Number(3), Must(tx.Value(Must(tx.Child(table, "other"))(t)))(t))
		assert.Equal(t, "t.fresh", tx.Address(fresh).String())
		require.NoError(t, tx.Set(fresh, "x", objectdb.Number(4)))
		assert.ErrorIs(t, tx.Set(gone, "x", objectdb.Number(4)), objectdb.ErrNotFound)
		require.NoError(t, tx.Flush())
		require.NoError(t, tx.Set(table, "lost", objectdb.Number(5)))
		return boom
	})
	assert.Equal(t, boom, err)
	assert.Equal(t, 1, runs)
	RequireEqual(t, objectdb.Number(4), Get(t, db, "t.fresh.x"))
	View(t, db, func(tx *objectdb.Tx) { assert.Equal(t, "fresh n other", Names(t, tx, "t")) })
}

func testFlushMeetsAConflict(t *T) {
	db := open(t)
	Put(t, db, "n", objectdb.Number(1))
	for _, swallow := range []bool{false, true} {
		runs := 0
		require.NoError(t, db.Update(context.Background(), func(tx *objectdb.Tx) error {
			runs++
			require.NoError(t, Increment(tx, objectdb.Address{"n"}))
			if runs == 1 {
				Put(t, db, "n", objectdb.Number(10))
			}
			err := tx.Flush()
			if swallow {
				return nil
			}
			return err
		}))
		assert.Equal(t, 2, runs, "nothing was committed, so it may run again")
		RequireEqual(t, objectdb.Number(11), Get(t, db, "n"))
	}
	runs := 0
	err := db.Update(context.Background(), func(tx *objectdb.Tx) error {
		runs++
		require.NoError(t, tx.Flush()) // something was sent, though nothing was written
		require.NoError(t, Increment(tx, objectdb.Address{"n"}))
		Put(t, db, "n", objectdb.Number(20))
		return nil
	})
	assert.ErrorIs(t, err, objectdb.ErrConflict)
	assert.Equal(t, 1, runs)
	RequireEqual(t, objectdb.Number(20), Get(t, db, "n"))
}

func testUncommittedVersionsAreNeverMetAgain(t *T) {
	db := open(t)
	seen := map[int64]bool{}
	for range 3 {
		_ = db.Update(context.Background(), func(tx *objectdb.Tx) error {
			require.NoError(t, tx.Put(objectdb.Address{"x"}, objectdb.Number(1)))
			n := Must(tx.Find(objectdb.Address{"x"}))(t)
			assert.False(t, seen[n.Version()])
			seen[n.Version()] = true
			return errors.New("not committed")
		})
	}
	Put(t, db, "x", objectdb.Number(1))
	first := Stat(t, db, "x")
	Update(t, db, func(tx *objectdb.Tx) { require.NoError(t, tx.Delete(objectdb.Address{"x"})) })
	Put(t, db, "x", objectdb.Number(1))
	assert.Greater(t, Stat(t, db, "x").Version, first.Version)
}

func testAnEndedTransactionIsRefused(t *T) {
	db := open(t)
	var kept *objectdb.Tx
	var root *objectdb.Node
	Update(t, db, func(tx *objectdb.Tx) { kept, root = tx, tx.Root() })
	_, err := kept.Get(objectdb.Address{"x"})
	assert.ErrorIs(t, err, objectdb.ErrEnded)
	_, err = kept.Child(root, "x")
	assert.ErrorIs(t, err, objectdb.ErrEnded)
	assert.ErrorIs(t, kept.Set(root, "x", objectdb.Number(1)), objectdb.ErrEnded)
	assert.ErrorIs(t, kept.Flush(), objectdb.ErrEnded)
}
