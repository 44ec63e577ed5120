package sqlitestore

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
)

func revert(t *testing.T, db *objectdb.DB, c objectdb.Copy) objectdb.Reverted {
	t.Helper()
	r, err := db.Revert(context.Background(), c.Path, objectdb.SaveOptions{})
	require.NoError(t, err)
	return r
}

// state returns all objects with their values, and the versions.
func state(t *testing.T, db *objectdb.DB) (values map[string]objectdb.Value, versions map[string]int64) {
	t.Helper()
	values, versions = map[string]objectdb.Value{}, map[string]int64{}
	view(t, db, func(tx *objectdb.Tx) {
		require.NoError(t, tx.Walk(objectdb.Address{}, func(a objectdb.Address, n *objectdb.Node) error {
			versions[a.String()] = n.Version()
			if n.Kind() == objectdb.KindTable {
				return nil
			}
			v, err := tx.Value(n)
			values[a.String()] = v
			return err
		}))
	})
	return values, versions
}

// Specification: 2.2.7
func TestRevert(t *testing.T) {
	db := openRoot(t)
	other, err := Open(db.Path(), patient) // another program, with caches of its own
	require.NoError(t, err)
	defer other.Close()
	put(t, db, "t.same", objectdb.String("same"), "t.changed", objectdb.String("old"), "t.deleted.x", objectdb.Number(1),
		"u.moved", objectdb.Number(2), "v", objectdb.Text(strings.Repeat("z", 50_000)))
	put(t, db, "swap.a", objectdb.Number(1), "swap.b", objectdb.Number(2))
	before, versions := state(t, db)
	c := save(t, db, objectdb.SaveOptions{})

	update(t, db, func(tx *objectdb.Tx) {
		require.NoError(t, tx.Put(addr(t, "t.changed"), objectdb.Script("return 1")))
		require.NoError(t, tx.Delete(addr(t, "t.deleted")))
		require.NoError(t, tx.Put(addr(t, "t.deleted"), objectdb.String("another object under its name")))
		require.NoError(t, tx.Move(addr(t, "u.moved"), addr(t, "t.elsewhere")))
		require.NoError(t, tx.Put(addr(t, "new.deep.one"), objectdb.Number(3)))
		require.NoError(t, tx.Put(addr(t, "v"), objectdb.Text(strings.Repeat("w", 50_000))))
		require.NoError(t, tx.Move(addr(t, "swap.a"), addr(t, "swap.c")))
		require.NoError(t, tx.Move(addr(t, "swap.b"), addr(t, "swap.a")))
		require.NoError(t, tx.Move(addr(t, "swap.c"), addr(t, "swap.b")))
	})
	changed, changedVersions := state(t, db)
	otherChanged, _ := state(t, other)
	require.Equal(t, changed, otherChanged)
	info, err := db.Info(context.Background())
	require.NoError(t, err)

	r := revert(t, db, c)
	assert.Equal(t, int64(4), r.Removed, "new.deep.one and t.deleted")
	after, afterVersions := state(t, db)
	assert.Equal(t, before, after)
	otherAfter, _ := state(t, other)
	assert.Equal(t, before, otherAfter, "another program sees it at once")
	assert.Equal(t, versions["t.same"], afterVersions["t.same"], "what is the same keeps its version")
	now, err := db.Info(context.Background())
	require.NoError(t, err)
	assert.Equal(t, info.Generation+1, now.Generation, "the generation goes on")
	for a, v := range afterVersions {
		if v != versions[a] {
			assert.Equal(t, now.Generation, v, "%s has a version that nobody has seen", a)
			assert.NotEqual(t, changedVersions[a], v)
		}
	}
	requireSound(t, db)
	requireCacheTrue(t, db)
	requireCacheTrue(t, other)

	// Forth again: the state before is a copy like any other.
	revert(t, other, r.Before)
	again, _ := state(t, db)
	assert.Equal(t, changed, again)
	put(t, db, "later", objectdb.Number(1)) // ids go on
	requireSound(t, db)
}

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
		{newerRoot, objectdb.ErrNewer, "its version is 9, this program knows 4; use the newer program"},
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

// A transaction that begins before a revert and writes after it is run again: what it read has
// gone, even if objects have the same ids again.
func TestRevertDuringTransaction(t *testing.T) {
	db := openRoot(t)
	put(t, db, "a", objectdb.Number(1))
	c := save(t, db, objectdb.SaveOptions{})
	put(t, db, "a", objectdb.Number(2))
	runs := 0
	update(t, db, func(tx *objectdb.Tx) {
		if runs++; runs == 1 {
			revert(t, db, c)
		}
		require.NoError(t, tx.Put(objectdb.Address{"blind"}, objectdb.Number(runs))) // does not conflict
	})
	assert.Equal(t, 2, runs)
	requireEqual(t, objectdb.Number(1), get(t, db, "a"))
	requireEqual(t, objectdb.Number(2), get(t, db, "blind"))
}

// The file of the root was replaced by an old copy, and was written since: two histories have
// given the same ids and versions to different objects.
func TestRevertAcrossTwoHistories(t *testing.T) {
	db := openRoot(t)
	put(t, db, "a", objectdb.Number(1))
	old := save(t, db, objectdb.SaveOptions{})
	put(t, db, "x", objectdb.String("one history"), "y.z", objectdb.Number(1))
	put(t, db, "more", objectdb.Number(5))
	one := save(t, db, objectdb.SaveOptions{})
	want, _ := state(t, db)

	path := filepath.Join(t.TempDir(), "test.root")
	require.NoError(t, copyFile(old.Path, path))
	second, err := Open(path, patient)
	require.NoError(t, err)
	defer second.Close()
	put(t, second, "p.q", objectdb.String("other history"), "x", objectdb.Number(7))
	state(t, second) // into the cache
	r, err := second.Revert(context.Background(), one.Path, objectdb.SaveOptions{})
	require.NoError(t, err)
	got, _ := state(t, second)
	assert.Equal(t, want, got)
	requireSound(t, second)
	requireCacheTrue(t, second)
	info, err := second.Info(context.Background())
	require.NoError(t, err)
	theirs, err := Inspect(one.Path)
	require.NoError(t, err)
	assert.Greater(t, info.Generation, theirs.Generation)
	revert(t, second, r.Before)
	requireEqual(t, objectdb.Number(7), get(t, second, "x"))
	requireSound(t, second)
}

// TestRevertSaysWho checks that a revert is a change with the origin that its caller gives, or else
// with that of the database, and that its generation is the number of the change.
func TestRevertSaysWho(t *testing.T) {
	db := openRoot(t)
	put(t, db, "x", objectdb.Number(1))
	c := save(t, db, objectdb.SaveOptions{})
	ada := objectdb.Origin{Person: true, Who: "ada", Why: "web page", Path: "/scripter/saves"}
	for _, want := range []objectdb.Origin{{}, ada} {
		put(t, db, "x", objectdb.Number(2))
		r, err := db.Revert(context.Background(), c.Path, objectdb.SaveOptions{Origin: want})
		require.NoError(t, err)
		view(t, db, func(tx *objectdb.Tx) {
			change, err := tx.Change(r.Generation)
			require.NoError(t, err)
			assert.Equal(t, want, change.Origin)
			assert.Equal(t, tx.Generation(), r.Generation)
		})
	}
}

// Readers and writers run while the root is reverted between two states of a hundred objects:
// no reader sees a mixture, and no acknowledged write is lost unnoticed.
func TestRevertUnderUse(t *testing.T) {
	db := openRoot(t)
	const objects = 100
	fill := func(n int) {
		update(t, db, func(tx *objectdb.Tx) {
			for i := range objects {
				require.NoError(t, tx.Put(objectdb.Address{"page", fmt.Sprint(i)}, objectdb.Number(n)))
			}
		})
	}
	fill(1)
	copies := []objectdb.Copy{save(t, db, objectdb.SaveOptions{})}
	fill(2)
	copies = append(copies, save(t, db, objectdb.SaveOptions{}))
	other, err := Open(db.Path(), patient)
	require.NoError(t, err)
	defer other.Close()
	ctx, cancel := context.WithCancel(context.Background())
	var users sync.WaitGroup
	for i, user := range []*objectdb.DB{db, other, db, other} {
		users.Go(func() {
			for ctx.Err() == nil {
				use := user.View
				if i >= 2 {
					use = user.Update
				}
				assert.NoError(t, use(context.Background(), func(tx *objectdb.Tx) error {
					first, err := tx.Get(objectdb.Address{"page", "0"})
					for i := 1; i < objects && err == nil; i++ {
						var v objectdb.Value
						if v, err = tx.Get(objectdb.Address{"page", fmt.Sprint(i)}); err == nil && v != first {
							err = fmt.Errorf("object %d is %v, object 0 is %v", i, v, first)
						}
					}
					if err == nil && i >= 2 {
						err = tx.Put(objectdb.Address{"seen"}, first)
					}
					return err
				}))
			}
		})
	}
	for i := range 8 {
		r := revert(t, []*objectdb.DB{db, other}[i%2], copies[i%2])
		require.NoError(t, os.Remove(r.Before.Path))
		time.Sleep(10 * time.Millisecond)
	}
	cancel()
	users.Wait()
	requireSound(t, db)
	requireCacheTrue(t, db)
	requireCacheTrue(t, other)
}
