package sqlitestore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
	"scripter/objectdb/storetest"
)

// soundCopy checks a copy, and returns one of its objects.
func soundCopy(t *testing.T, path, address string) objectdb.Value {
	t.Helper()
	db, err := Open(path, objectdb.Options{ReadOnly: true})
	require.NoError(t, err)
	defer db.Close()
	requireSound(t, db)
	return get(t, db, address)
}

func fileNames(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	var list []string
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list
}

// Specification: 2.2.7
func TestSave(t *testing.T) {
	now := storetest.NewClock(storetest.SomeDay)
	db := openRootWith(t, objectdb.Options{Relaxed: true, Now: now.Now})
	put(t, db, "a.b", objectdb.String("first"), "large", objectdb.Text(strings.Repeat("x", 1<<20)))
	first := save(t, db, objectdb.SaveOptions{})
	dir := filepath.Dir(db.Path())
	assert.Equal(t, filepath.Join(dir, "test.saved-20260131-183000.root"), first.Path)
	assert.True(t, first.Time.Equal(storetest.SomeDay.Truncate(time.Second)))
	info, err := os.Stat(first.Path)
	require.NoError(t, err)
	assert.Equal(t, info.Size(), first.Size)
	root, err := os.Stat(db.Path())
	require.NoError(t, err)
	assert.Equal(t, root.Mode(), info.Mode(), "who may read the root, and nobody else, may read the copy")

	put(t, db, "a.b", objectdb.String("second"))
	assert.Equal(t, objectdb.String("first"), soundCopy(t, first.Path, "a.b"))
	assert.Equal(t, []string{"test.root", "test.root-lock", "test.root-shm", "test.root-wal",
		"test.saved-20260131-183000.root"}, fileNames(t, dir),
		"a copy is one file, and nothing else is left")

	list, err := Copies(db.Path())
	require.NoError(t, err)
	assert.Len(t, list, 1)
	assert.Equal(t, first.Path, list[0].Path)
	assert.True(t, list[0].Fresh.Equal(storetest.SomeDay))

	said, err := Inspect(first.Path)
	require.NoError(t, err)
	ours, err := db.Info(context.Background())
	require.NoError(t, err)
	assert.Equal(t, ours.Created, said.Created)
	assert.Equal(t, ours.Generation-1, said.Generation)
	assert.Equal(t, int64(4), said.Objects)
}

func TestSaveFoldsTheWAL(t *testing.T) {
	db := openRoot(t)
	put(t, db, "a", objectdb.Text(strings.Repeat("needle ", 1000)))
	save(t, db, objectdb.SaveOptions{})
	content, err := os.ReadFile(db.Path() + "-wal")
	require.NoError(t, err)
	require.Contains(t, string(content), "needle needle")
	// Without its WAL the root holds all that was saved.
	alone := filepath.Join(t.TempDir(), "alone.root")
	require.NoError(t, copyFile(db.Path(), alone))
	assert.Equal(t, get(t, db, "a"), soundCopy(t, alone, "a"))
}

func TestOnlyCopiesAreListedAndRemoved(t *testing.T) {
	db := openRoot(t)
	dir := filepath.Dir(db.Path())
	others := []string{"test.saved-2026.root", "test.saved-20260131-183000.root.bak", "other.saved-20260131-183000.root",
		"test.saved-20269931-183000.root", "test.saved-20200131-183000.v1.root", "test.saved-20200131-183000.v0.root",
		"test.saved-20200131-183000.5.root", "test.saved-20200131-183000.v01.root", "test.saved-20200131-183000.v+1.root",
		"test.saved-20200131-183000.v.root",
		"test.saved-20200131-183000.v10000.root", "test.saved-.root", "test.saved-20200131-183000",
		"test.saved-2020131-1183000.root"}
	for _, name := range others {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("mine"), 0o600))
	}
	require.NoError(t, os.Mkdir(filepath.Join(dir, "test.saved-20200101-000000.root"), 0o700))
	c := save(t, db, objectdb.SaveOptions{Keep: 1})
	list, err := Copies(db.Path())
	require.NoError(t, err)
	require.Len(t, list, 2)
	assert.Equal(t, c.Path, list[0].Path)
	assert.Equal(t, 1, list[1].Version)
	for _, name := range others {
		assert.FileExists(t, filepath.Join(dir, name))
	}
	_, err = Copies(filepath.Join(dir, "no", "x.root"))
	assert.ErrorIs(t, err, fs.ErrNotExist)
}

func TestSaveThroughALink(t *testing.T) {
	db := openRoot(t)
	link := filepath.Join(t.TempDir(), "link.root")
	require.NoError(t, os.Symlink(db.Path(), link))
	other, err := Open(link, objectdb.Options{})
	require.NoError(t, err)
	defer other.Close()
	c := save(t, other, objectdb.SaveOptions{})
	assert.Equal(t, filepath.Dir(db.Path()), filepath.Dir(c.Path), "beside the root, not beside the link")
}

func TestOneSaveAtATime(t *testing.T) {
	db := openRoot(t)
	s, err := startSaving(context.Background(), db.Path(), 0)
	require.NoError(t, err)
	_, err = db.Save(context.Background(), objectdb.SaveOptions{})
	require.ErrorIs(t, err, objectdb.ErrSaving)
	assert.EqualError(t, err, "objectdb: save a copy of "+db.Path()+": a copy of the root is being saved already")
	_, err = db.Save(context.Background(), objectdb.SaveOptions{Wait: 30 * time.Millisecond})
	require.ErrorIs(t, err, objectdb.ErrSaving)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = db.Save(ctx, objectdb.SaveOptions{Wait: time.Minute})
	require.ErrorIs(t, err, context.Canceled)
	time.AfterFunc(30*time.Millisecond, func() { s.end(nil) })
	save(t, db, objectdb.SaveOptions{Wait: time.Minute})

	notNow := errors.New("not now")
	_, err = db.Save(context.Background(), objectdb.SaveOptions{Due: func() error { return notNow }})
	assert.ErrorIs(t, err, notNow)
	assert.Zero(t, db.LastFailure())

	// Many saves at once make a sound copy each.
	var done sync.WaitGroup
	for range 8 {
		done.Go(func() {
			_, err := db.Save(context.Background(), objectdb.SaveOptions{Wait: time.Minute})
			assert.NoError(t, err)
		})
	}
	done.Wait()
	list, err := Copies(db.Path())
	require.NoError(t, err)
	assert.Len(t, list, 9)
}

func TestFailedSave(t *testing.T) {
	db := openRoot(t)
	put(t, db, "a", objectdb.Number(1))
	dir := filepath.Dir(db.Path())
	next, err := newCopy(db.Path(), time.Now(), 0)
	require.NoError(t, err)
	// A folder has the name that a copy is to get, now and in the next seconds.
	for i := range 60 {
		name := "test.saved-" + next.Time.Add(time.Duration(i)*time.Second).Format(copyTime) + ".root"
		require.NoError(t, os.Mkdir(filepath.Join(dir, name), 0o700))
	}
	_, err = db.Save(context.Background(), objectdb.SaveOptions{})
	require.ErrorIs(t, err, fs.ErrExist)
	failure := db.LastFailure()
	assert.Contains(t, failure.Why, "file already exists")
	assert.WithinDuration(t, time.Now(), failure.Time, time.Minute)
	for i := range 60 {
		require.NoError(t, os.Remove(filepath.Join(dir,
			"test.saved-"+next.Time.Add(time.Duration(i)*time.Second).Format(copyTime)+".root")))
	}
	c := save(t, db, objectdb.SaveOptions{})
	assert.Equal(t, objectdb.Number(1), soundCopy(t, c.Path, "a"))
	assert.Zero(t, db.LastFailure(), "the next one clears the note away")

	_, err = newStore(db.Path(), objectdb.Options{ReadOnly: true}).Save(context.Background(), objectdb.SaveOptions{})
	assert.ErrorIs(t, err, objectdb.ErrReadOnly)
}

func TestInterruptedSave(t *testing.T) {
	db := openRoot(t)
	update(t, db, func(tx *objectdb.Tx) {
		for i := range 300 {
			require.NoError(t, tx.Put(objectdb.Address{"t", fmt.Sprint(i)}, objectdb.Text(strings.Repeat("x", 100_000))))
		}
	})
	why := errors.New("the program stops")
	interrupted := func() error {
		ctx, cancel := context.WithCancelCause(context.Background())
		defer cancel(nil)
		go func() {
			for ctx.Err() == nil {
				if info, err := os.Stat(savingPath(db.Path())); err == nil && info.Size() > 1<<20 {
					cancel(why)
				}
				time.Sleep(time.Millisecond)
			}
		}()
		c, err := db.Save(ctx, objectdb.SaveOptions{})
		if err == nil { // the save ended too early for the test
			require.NoError(t, os.Remove(c.Path))
		}
		return err
	}
	err := interrupted()
	for tries := 0; err == nil && tries < 100; tries++ {
		err = interrupted()
	}
	require.ErrorIs(t, err, why)
	list, err := Copies(db.Path())
	require.NoError(t, err)
	assert.Empty(t, list)
	written, all := int64(0), int64(0)
	save(t, db, objectdb.SaveOptions{Progress: func(done, of int64) {
		assert.True(t, done >= written && done <= of, "%d of %d", done, of)
		written, all = done, of
	}})
	assert.Equal(t, all, written)
	assert.Greater(t, all, int64(30_000_000))
}

// madeSince counts the copies that are not in the list before.
func madeSince(t *testing.T, path string, before []objectdb.Copy) int {
	list, err := Copies(path)
	require.NoError(t, err)
	n := 0
	for _, c := range list {
		if !slices.ContainsFunc(before, func(b objectdb.Copy) bool { return b.Path == c.Path }) {
			n++
		}
	}
	return n
}

// begunAt returns when the unfinished copy was last written; zero if there is none.
func begunAt(path string) time.Time {
	info, err := os.Lstat(savingPath(path))
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

const saveVariable = "OBJECTDB_TEST_SAVE"

// saveForever saves one copy after another.
func saveForever(path string) {
	db, err := Open(path, patient)
	for err == nil {
		_, err = db.Save(context.Background(), objectdb.SaveOptions{Keep: 4, Wait: time.Minute})
	}
	fmt.Println(err)
	os.Exit(1)
}

// A program is killed while it saves and another one writes (specification of 1998: the
// environment is saved while requests come in). The root and every finished copy are sound,
// and unfinished ones are removed.
//
// Specification: 2.2.7
// Catalogue: P2
func TestKilledWhileSaving(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.root")
	db, err := Create(path, patient)
	require.NoError(t, err)
	defer db.Close()
	update(t, db, func(tx *objectdb.Tx) {
		for i := range 100 {
			require.NoError(t, tx.Put(objectdb.Address{"bulk", fmt.Sprint(i)}, objectdb.Text(strings.Repeat("x", 20_000))))
		}
	})
	ctx, cancel := context.WithCancel(context.Background())
	var writer sync.WaitGroup
	defer writer.Wait()
	defer cancel()
	writer.Go(func() {
		for n := 1; ctx.Err() == nil; n++ {
			err := db.Update(context.Background(), func(tx *objectdb.Tx) error {
				if err := tx.Put(objectdb.Address{"a", "n"}, objectdb.Number(n)); err != nil {
					return err
				}
				if err := tx.Put(objectdb.Address{"bulk", fmt.Sprint(n % 100)},
					objectdb.Text(strings.Repeat("y", n%30_000))); err != nil {
					return err
				}
				return tx.Put(objectdb.Address{"b", "n"}, objectdb.Number(n))
			})
			assert.NoError(t, err)
			time.Sleep(time.Millisecond)
		}
	})
	checked := map[string]bool{}
	for i := range 20 {
		before, err := Copies(path)
		require.NoError(t, err)
		left := begunAt(path)
		var out strings.Builder
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), saveVariable+"="+path)
		cmd.Stdout = &out
		require.NoError(t, cmd.Start())
		// It is killed while it makes its first copy, or its second.
		done := i % 2
		require.Eventually(t, func() bool {
			begun := begunAt(path)
			return !begun.IsZero() && !begun.Equal(left) && madeSince(t, path, before) >= done
		}, patience, time.Millisecond)
		time.Sleep(time.Duration(rand.N(20)) * time.Millisecond)
		require.NoError(t, cmd.Process.Kill())
		_ = cmd.Wait()
		require.Empty(t, out.String())
		copies, err := Copies(path)
		require.NoError(t, err)
		for _, c := range copies {
			if checked[c.Path] {
				continue
			}
			checked[c.Path] = true
			db, err := Open(c.Path, objectdb.Options{ReadOnly: true})
			require.NoError(t, err)
			requireSound(t, db)
			require.Equal(t, get(t, db, "a.n"), get(t, db, "b.n"), "one state")
			require.NoError(t, db.Close())
		}
		if i%5 == 0 {
			requireSound(t, db)
		}
	}
	require.Greater(t, len(checked), 5, "copies were finished between the deaths")
	cancel()
	writer.Wait()
	requireSound(t, db)
	save(t, db, objectdb.SaveOptions{Keep: 2})
	for _, name := range fileNames(t, filepath.Dir(path)) {
		assert.Regexp(t, `^a\.(root(-lock|-wal|-shm)?|saved-.*\.root)$`, name, "nothing half is left")
	}
}
