package storetest

import (
	"context"
	"errors"
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

// Revert goes back to a saved copy.
func Revert(t testing.TB, db *objectdb.DB, c objectdb.Copy) objectdb.Reverted {
	t.Helper()
	r, err := db.Revert(context.Background(), c.Path, objectdb.SaveOptions{})
	require.NoError(t, err)
	return r
}

// State returns all objects with their values, and the versions.
func State(t testing.TB, db *objectdb.DB) (values map[string]objectdb.Value, versions map[string]int64) {
	t.Helper()
	values, versions = map[string]objectdb.Value{}, map[string]int64{}
	View(t, db, func(tx *objectdb.Tx) {
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

func testRevert(t *T) {
	db := open(t)
	other, err := t.Open(db.Path(), Patient) // another program, with caches of its own
	require.NoError(t, err)
	defer other.Close()
	Put(t, db, "t.same", objectdb.String("same"), "t.changed", objectdb.String("old"), "t.deleted.x", objectdb.Number(1),
		"u.moved", objectdb.Number(2), "v", objectdb.Text(strings.Repeat("z", 50_000)))
	Put(t, db, "swap.a", objectdb.Number(1), "swap.b", objectdb.Number(2))
	before, versions := State(t, db)
	c := Save(t, db, objectdb.SaveOptions{})

	Update(t, db, func(tx *objectdb.Tx) {
		require.NoError(t, tx.Put(Addr(t, "t.changed"), objectdb.Script("return 1")))
		require.NoError(t, tx.Delete(Addr(t, "t.deleted")))
		require.NoError(t, tx.Put(Addr(t, "t.deleted"), objectdb.String("another object under its name")))
		require.NoError(t, tx.Move(Addr(t, "u.moved"), Addr(t, "t.elsewhere")))
		require.NoError(t, tx.Put(Addr(t, "new.deep.one"), objectdb.Number(3)))
		require.NoError(t, tx.Put(Addr(t, "v"), objectdb.Text(strings.Repeat("w", 50_000))))
		require.NoError(t, tx.Move(Addr(t, "swap.a"), Addr(t, "swap.c")))
		require.NoError(t, tx.Move(Addr(t, "swap.b"), Addr(t, "swap.a")))
		require.NoError(t, tx.Move(Addr(t, "swap.c"), Addr(t, "swap.b")))
	})
	changed, changedVersions := State(t, db)
	otherChanged, _ := State(t, other)
	require.Equal(t, changed, otherChanged)
	info, err := db.Info(context.Background())
	require.NoError(t, err)

	r := Revert(t, db, c)
	assert.Equal(t, int64(4), r.Removed, "new.deep.one and t.deleted")
	after, afterVersions := State(t, db)
	assert.Equal(t, before, after)
	otherAfter, _ := State(t, other)
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
	RequireSound(t, db)
	requireCacheTrue(t, db)
	requireCacheTrue(t, other)

	// Forth again: the state before is a copy like any other.
	Revert(t, other, r.Before)
	again, _ := State(t, db)
	assert.Equal(t, changed, again)
	Put(t, db, "later", objectdb.Number(1)) // ids go on
	RequireSound(t, db)
}

// A transaction that begins before a revert and writes after it is run again: what it read has
// gone, even if objects have the same ids again.
func testRevertDuringTransaction(t *T) {
	db := open(t)
	Put(t, db, "a", objectdb.Number(1))
	c := Save(t, db, objectdb.SaveOptions{})
	Put(t, db, "a", objectdb.Number(2))
	runs := 0
	Update(t, db, func(tx *objectdb.Tx) {
		if runs++; runs == 1 {
			Revert(t, db, c)
		}
		require.NoError(t, tx.Put(objectdb.Address{"blind"}, objectdb.Number(runs))) // does not conflict
	})
	assert.Equal(t, 2, runs)
	RequireEqual(t, objectdb.Number(1), Get(t, db, "a"))
	RequireEqual(t, objectdb.Number(2), Get(t, db, "blind"))
}

// An old copy became a root of its own, and was written since: two histories have given the same ids and versions to different objects.
func testRevertAcrossTwoHistories(t *T) {
	db := open(t)
	Put(t, db, "a", objectdb.Number(1))
	old := Save(t, db, objectdb.SaveOptions{})
	Put(t, db, "x", objectdb.String("one history"), "y.z", objectdb.Number(1))
	Put(t, db, "more", objectdb.Number(5))
	Put(t, db, "more", objectdb.Number(6))
	one := Save(t, db, objectdb.SaveOptions{})
	want, _ := State(t, db)
	generation := Must(db.Info(context.Background()))(t).Generation

	first, err := t.OpenCopy(old.Path, objectdb.Options{Reading: true})
	require.NoError(t, err)
	defer first.Close()
	second, err := t.Open(copyTo(t, first, t.Backend), Patient)
	require.NoError(t, err)
	defer second.Close()
	Put(t, second, "p.q", objectdb.String("other history"), "x", objectdb.Number(7))
	State(t, second) // into the cache
	r, err := second.Revert(context.Background(), one.Path, objectdb.SaveOptions{})
	require.NoError(t, err)
	got, _ := State(t, second)
	assert.Equal(t, want, got)
	RequireSound(t, second)
	requireCacheTrue(t, second)
	info, err := second.Info(context.Background())
	require.NoError(t, err)
	assert.Equal(t, generation+1, info.Generation, "above both")
	other, err := t.Open(second.Path(), Patient)
	require.NoError(t, err)
	defer other.Close()
	Put(t, other, "goes", objectdb.String("on"))
	RequireEqual(t, objectdb.String("on"), Get(t, second, "goes"))
	Revert(t, second, r.Before)
	RequireEqual(t, objectdb.Number(7), Get(t, second, "x"))
	RequireSound(t, second)
}

// testRevertSaysWho checks that a revert is a change with the origin that its caller gives, or else
// with that of the database, and that its generation is the number of the change.
func testRevertSaysWho(t *T) {
	db := open(t)
	Put(t, db, "x", objectdb.Number(1))
	c := Save(t, db, objectdb.SaveOptions{})
	ada := objectdb.Origin{Person: true, Who: "ada", Why: "web page", Path: "/scripter/saves"}
	for _, want := range []objectdb.Origin{{}, ada} {
		Put(t, db, "x", objectdb.Number(2))
		r, err := db.Revert(context.Background(), c.Path, objectdb.SaveOptions{Origin: want})
		require.NoError(t, err)
		View(t, db, func(tx *objectdb.Tx) {
			change, err := tx.Change(r.Generation)
			require.NoError(t, err)
			assert.Equal(t, want, change.Origin)
			assert.Equal(t, tx.Generation(), r.Generation)
		})
	}
}

// Readers and writers run while the root is reverted between two states of a hundred objects:
// no reader sees a mixture, and no acknowledged write is lost unnoticed.
func testRevertUnderUse(t *T) {
	db := open(t)
	const objects = 100
	fill := func(n int) {
		Update(t, db, func(tx *objectdb.Tx) {
			for i := range objects {
				require.NoError(t, tx.Put(objectdb.Address{"page", fmt.Sprint(i)}, objectdb.Number(n)))
			}
		})
	}
	fill(1)
	copies := []objectdb.Copy{Save(t, db, objectdb.SaveOptions{})}
	fill(2)
	copies = append(copies, Save(t, db, objectdb.SaveOptions{}))
	other, err := t.Open(db.Path(), Patient)
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
		r := Revert(t, []*objectdb.DB{db, other}[i%2], copies[i%2])
		require.NoError(t, os.Remove(r.Before.Path))
		time.Sleep(10 * time.Millisecond)
	}
	cancel()
	users.Wait()
	RequireSound(t, db)
	requireCacheTrue(t, db)
	requireCacheTrue(t, other)
}

// soundCopy checks a copy, and returns one of its objects.
func soundCopy(t *T, path, address string) objectdb.Value {
	t.Helper()
	db, err := t.OpenCopy(path, objectdb.Options{ReadOnly: true})
	require.NoError(t, err)
	defer db.Close()
	RequireSound(t, db)
	return Get(t, db, address)
}

// Save saves a copy.
func Save(t testing.TB, db *objectdb.DB, o objectdb.SaveOptions) objectdb.Copy {
	t.Helper()
	c, err := db.Save(context.Background(), o)
	require.NoError(t, err)
	return c
}

// A saved copy has everything that the root had, and is the only file that is left.
func testSave(t *T) {
	now := NewClock(SomeDay)
	db := openWith(t, objectdb.Options{Relaxed: true, Now: now.Now, Origin: objectdb.Origin{Person: true, Who: "ada"}})
	Put(t, db, "a.b", objectdb.String("first"), "large", objectdb.Text(strings.Repeat("x", 1<<20)))
	Put(t, db, "a.b", objectdb.String("second"), "large", objectdb.Text("short"))
	then := history(t, db)
	info := Must(db.Info(context.Background()))(t)
	done := int64(0)
	c := Save(t, db, objectdb.SaveOptions{Progress: func(n, all int64) { assert.LessOrEqual(t, n, all); done = n }})
	assert.Positive(t, done)
	assert.Equal(t, t.Beside(db.Path())+".saved-20260131-183000.root", c.Path)
	assert.True(t, c.Time.Equal(SomeDay.Truncate(time.Second)))
	size := Must(os.Stat(c.Path))(t).Size()
	assert.Equal(t, size, c.Size)
	list := Must(db.Copies())(t)
	require.Len(t, list, 1)
	assert.Equal(t, c.Path, list[0].Path)
	assert.True(t, list[0].Fresh.Equal(SomeDay))
	assert.Zero(t, db.LastFailure())
	assert.NoFileExists(t, t.Beside(db.Path())+".saving")

	Put(t, db, "a.b", objectdb.String("third"))
	assert.Equal(t, objectdb.String("second"), soundCopy(t, c.Path, "a.b"))
	saved, err := t.OpenCopy(c.Path, objectdb.Options{Reading: true})
	require.NoError(t, err)
	defer saved.Close()
	assert.Equal(t, then, history(t, saved))
	said := Must(saved.Info(context.Background()))(t)
	info.Version, said.Version = 0, 0
	assert.Equal(t, info, said)
}

// One program saves at a time; the others wait, or do not.
func testOneSaveAtATime(t *T) {
	db := open(t)
	other, err := t.Open(db.Path(), Patient)
	require.NoError(t, err)
	defer other.Close()
	Put(t, db, "a", objectdb.Number(1))
	notNow := errors.New("not now")
	_, err = db.Save(context.Background(), objectdb.SaveOptions{Due: func() error {
		_, err := other.Save(context.Background(), objectdb.SaveOptions{})
		assert.ErrorIs(t, err, objectdb.ErrSaving)
		return notNow
	}})
	require.ErrorIs(t, err, notNow)
	assert.Zero(t, db.LastFailure())
	var done sync.WaitGroup
	for i := range 6 {
		done.Go(func() {
			_, err := []*objectdb.DB{db, other}[i%2].Save(context.Background(), objectdb.SaveOptions{Wait: Patience})
			assert.NoError(t, err)
		})
	}
	done.Wait()
	assert.Len(t, Must(db.Copies())(t), 6)
}

// A save that fails says why, until one succeeds.
func testFailedSave(t *T) {
	db := open(t)
	Put(t, db, "a", objectdb.Number(1))
	base := t.Beside(db.Path())
	require.NoError(t, os.MkdirAll(filepath.Dir(base), 0o700))
	// Folders have the names that a copy could get now.
	var folders []string
	for i := range 60 {
		stamp := time.Now().UTC().Add(time.Duration(i) * time.Second).Format("20060102-150405")
		folders = append(folders, base+".saved-"+stamp+".root")
		require.NoError(t, os.Mkdir(folders[i], 0o700))
	}
	_, err := db.Save(context.Background(), objectdb.SaveOptions{})
	require.ErrorIs(t, err, fs.ErrExist)
	failure := db.LastFailure()
	assert.Contains(t, failure.Why, "file already exists")
	assert.WithinDuration(t, time.Now(), failure.Time, time.Minute)
	for _, folder := range folders {
		require.NoError(t, os.Remove(folder))
	}
	assert.Empty(t, Must(db.Copies())(t))
	c := Save(t, db, objectdb.SaveOptions{})
	assert.Equal(t, objectdb.Number(1), soundCopy(t, c.Path, "a"))
	assert.Zero(t, db.LastFailure(), "the next one clears the note away")
}

// A revert keeps what it replaces, except where nothing is kept, and can be undone.
func testRevertIsAChange(t *T) {
	rules := objectdb.DefaultHistory
	rules.Whole = 1000
	o := Patient
	o.History = func(*objectdb.Tx) (*objectdb.HistoryRules, error) { return &rules, nil }
	db := openWith(t, o)
	Put(t, db, "a", objectdb.Number(1), "gone.x", objectdb.Number(1), "scratchpad.y", objectdb.Number(1))
	c := Save(t, db, objectdb.SaveOptions{})
	Update(t, db, func(tx *objectdb.Tx) {
		require.NoError(t, tx.Delete(Addr(t, "gone")))
		require.NoError(t, tx.Put(Addr(t, "a"), objectdb.Number(2)))
		require.NoError(t, tx.Put(Addr(t, "new"), objectdb.Text(strings.Repeat("x", 2000))))
		require.NoError(t, tx.Put(Addr(t, "scratchpad.y"), objectdb.Number(2)))
	})
	changed, _ := State(t, db)
	r := Revert(t, db, c)
	assert.Equal(t, int64(1), r.Removed, "new")
	how := map[string]objectdb.How{}
	View(t, db, func(tx *objectdb.Tx) {
		for o, err := range tx.ChangedObjects(r.Generation) {
			require.NoError(t, err)
			at := o.After
			if at == nil {
				at = o.Before
				assert.Len(t, at.Hash, 32, "the value was too long")
			}
			how[at.Address.String()] = o.How
		}
		require.Equal(t, len(how), Must(tx.Change(r.Generation))(t).Count)
	})
	assert.Equal(t, objectdb.MovedAndWritten, how["a"])
	assert.Equal(t, objectdb.Deleted, how["new"])
	assert.Equal(t, objectdb.Inserted, how["gone"])
	assert.Equal(t, objectdb.Inserted, how["gone.x"])
	assert.Equal(t, objectdb.Inserted, how["scratchpad.y"], "its state before is not kept")
	View(t, db.At(r.Generation-1, nil), func(tx *objectdb.Tx) {
		assert.Equal(t, objectdb.Number(2), Must(tx.Get(Addr(t, "a")))(t))
	})
	rules.Whole = 1 << 20
	second := Revert(t, db, r.Before)
	again, _ := State(t, db)
	assert.Equal(t, changed, again)
	Update(t, db, func(tx *objectdb.Tx) {
		_, err := tx.Undo([]int64{second.Generation}, objectdb.UndoOptions{})
		require.NoError(t, err)
	})
	assert.Equal(t, objectdb.Number(1), Get(t, db, "a"))
	RequireSound(t, db)
}

func testRevertToCopiesThatCannotBeUsed(t *T) {
	db := open(t)
	Put(t, db, "t.x", objectdb.String("kept"))
	good := Must(os.ReadFile(Save(t, db, objectdb.SaveOptions{}).Path))(t)
	dir := t.TempDir()
	write := func(name string, content []byte) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, content, 0o600))
		return path
	}
	newer := append([]byte{}, good...)
	copy(newer[60:], []byte{0, 0, 0, 9}) // its version
	foreign := Must(t.Create(t.Path(t), Patient))(t)
	defer foreign.Close()
	for _, test := range []struct {
		path string
		want error
		says string
	}{
		{filepath.Join(dir, "missing.root"), fs.ErrNotExist, "missing.root cannot be used: no such file or directory"},
		{dir, objectdb.ErrNotRoot, "it is a folder"},
		{write("cut.root", good[:5000]), objectdb.ErrDamaged, "it is cut off"},
		{write("newer.root", newer), objectdb.ErrNewer, "its version is 9"},
		{Save(t, foreign, objectdb.SaveOptions{}).Path, nil, "it is a copy of another root"},
	} {
		_, err := db.Revert(context.Background(), test.path, objectdb.SaveOptions{})
		require.ErrorContains(t, err, test.says)
		if test.want != nil {
			assert.ErrorIs(t, err, test.want)
		}
	}
	RequireEqual(t, objectdb.String("kept"), Get(t, db, "t.x"))
	assert.Len(t, Must(db.Copies())(t), 1, "nothing was done")
	assert.Zero(t, db.LastFailure())
}

// The clock is set back and forth: the names sort in the order of the saves, and two saves in
// one second make two copies.
func testCopyTimesWhenTheClockIsSetBack(t *T) {
	now := NewClock(SomeDay)
	db := openWith(t, objectdb.Options{Relaxed: true, Now: now.Now})
	for i, at := range []time.Duration{0, 0, -time.Hour, 24 * 3652 * time.Hour, -10 * time.Minute} {
		now.Set(SomeDay.Add(at))
		Put(t, db, "n", objectdb.Number(i))
		c := Save(t, db, objectdb.SaveOptions{Keep: 3})
		assert.Equal(t, objectdb.Number(i), soundCopy(t, c.Path, "n"))
		assert.True(t, c.Fresh.Equal(now.Now()), "the file's time is the clock's")
	}
	list, err := db.Copies()
	require.NoError(t, err)
	require.Len(t, list, 3)
	var kept []objectdb.Value
	for _, c := range list {
		kept = append(kept, soundCopy(t, c.Path, "n"))
	}
	assert.Equal(t, []objectdb.Value{objectdb.Number(4), objectdb.Number(3), objectdb.Number(2)}, kept,
		"newest first; the oldest are gone")
	assert.Equal(t, "test.saved-20260131-183002.root", filepath.Base(list[2].Path))
	assert.Equal(t, "test.saved-20360131-183001.root", filepath.Base(list[0].Path))
}

func testSaveOnlyWhatChanged(t *T) {
	now := NewClock(SomeDay)
	db := openWith(t, objectdb.Options{Relaxed: true, Now: now.Now})
	Put(t, db, "a", objectdb.Number(1))
	first := Save(t, db, objectdb.SaveOptions{Changed: true})
	now.Set(SomeDay.Add(time.Hour))
	again, err := db.Save(context.Background(), objectdb.SaveOptions{Changed: true})
	require.ErrorIs(t, err, objectdb.ErrUnchanged)
	assert.Equal(t, first.Path, again.Path)
	list, err := db.Copies()
	require.NoError(t, err)
	require.Len(t, list, 1)
	assert.True(t, list[0].Fresh.Equal(SomeDay.Add(time.Hour)), "the copy is known to be as new as the root")
	Put(t, db, "a", objectdb.Number(1))
	assert.NotEqual(t, first.Path, Save(t, db, objectdb.SaveOptions{Changed: true}).Path)
}

// Clock is a clock that a test sets.
type Clock struct {
	mu  sync.Mutex
	now time.Time
}

// NewClock returns a clock that stands still.
func NewClock(now time.Time) *Clock { return &Clock{now: now} }

// Now returns the time that was set last.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Set sets the clock.
func (c *Clock) Set(now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = now
}

// SomeDay is a time for a Clock.
var SomeDay = time.Date(2026, 1, 31, 18, 30, 0, 123, time.UTC)
