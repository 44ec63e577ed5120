package script

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/lua"
	"scripter/objectdb"
	"scripter/objectdb/sqlitestore"
)

// A closed thread does not run, and leaves nothing to the next one.
func TestClosedThread(t *testing.T) {
	engine := NewEngine(nil)
	first := engine.NewThread(context.Background(), ThreadOptions{})
	f, err := first.RunSource("test", "return function () leak = 1 end")
	require.NoError(t, err)
	first.Close()
	first.Close()
	a := engine.NewThread(context.Background(), ThreadOptions{})
	defer a.Close()
	b := engine.NewThread(context.Background(), ThreadOptions{})
	defer b.Close()
	assert.PanicsWithValue(t, "script: the thread is closed", func() { _, _ = first.CallValue(f) })
	for _, th := range []*Thread{a, b} {
		v, err := th.RunSource("test", "return rawget (_G, 'leak')")
		require.NoError(t, err)
		assert.Nil(t, v)
	}
}

// newDB returns an empty root.
func newDB(t testing.TB) *objectdb.DB {
	t.Helper()
	db, err := sqlitestore.Create(filepath.Join(t.TempDir(), "test.root"),
		objectdb.Options{Relaxed: true, BusyTimeout: time.Minute, LockTime: time.Minute})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, db.Close()) })
	return db
}

// put stores objects by address.
func put(t testing.TB, db *objectdb.DB, objects map[string]objectdb.Value) {
	t.Helper()
	require.NoError(t, db.Update(context.Background(), func(tx *objectdb.Tx) error {
		for at, v := range objects {
			if err := tx.Put(address(t, at), v); err != nil {
				return err
			}
		}
		return nil
	}))
}

func address(t testing.TB, s string) objectdb.Address {
	t.Helper()
	a, err := objectdb.ParseAddress(s)
	require.NoError(t, err)
	return a
}

// errUndo ends a transaction that is not to be committed.
var errUndo = errors.New("undo")

// within calls fn with a thread that may write; nothing is committed.
func within(t testing.TB, db *objectdb.DB, o ThreadOptions, fn func(*Thread)) {
	t.Helper()
	engine := NewEngine(testVerbs)
	require.ErrorIs(t, db.Update(context.Background(), func(tx *objectdb.Tx) error {
		o.Tx = tx
		th := engine.NewThread(context.Background(), o)
		defer th.Close()
		fn(th)
		return errUndo
	}), errUndo)
}

// run runs source and returns the text of its result. What it writes is undone.
func run(t testing.TB, db *objectdb.DB, source string, args ...Value) string {
	t.Helper()
	text := ""
	within(t, db, ThreadOptions{}, func(th *Thread) {
		v, err := th.RunSource("test", source, args...)
		require.NoError(t, err, source)
		text, err = th.Text(v)
		require.NoError(t, err)
	})
	return text
}

// fails runs source and returns its error.
func fails(t testing.TB, db *objectdb.DB, source string) *Error {
	t.Helper()
	var e *Error
	within(t, db, ThreadOptions{}, func(th *Thread) {
		v, err := th.RunSource("test", source)
		require.Error(t, err, "%s gave %v", source, v)
		require.ErrorAs(t, err, &e)
	})
	return e
}

func TestRun(t *testing.T) {
	db := newDB(t)
	put(t, db, map[string]objectdb.Value{
		"user.greet": objectdb.Script("local who, n = ...\nreturn 'hello ' .. who .. n"),
		"user.name":  objectdb.String("Ada"),
	})
	within(t, db, ThreadOptions{}, func(th *Thread) {
		v, err := th.Run(address(t, "user.greet"), "you", 3)
		require.NoError(t, err)
		assert.Equal(t, "hello you3", v)

		_, err = th.Run(address(t, "user.name"))
		assert.ErrorIs(t, err, ErrNotScript)
		assert.EqualError(t, err, "run user.name: object is not a script")

		_, err = th.Run(address(t, "user.nobody"))
		assert.ErrorIs(t, err, objectdb.ErrNotFound)
	})
}

func TestThreadKeepsGlobalsOfItsRuns(t *testing.T) {
	db := newDB(t)
	engine := NewEngine(nil)
	require.NoError(t, db.View(context.Background(), func(tx *objectdb.Tx) error {
		for range 2 { // a second thread knows nothing of the first
			th := engine.NewThread(context.Background(), ThreadOptions{Tx: tx})
			defer th.Close()
			v, err := th.RunSource("one", "local before = rawget (_G, 'x') x = 5 string.mine = 1 return before")
			require.NoError(t, err)
			assert.Nil(t, v)
			v, err = th.RunSource("two", "return x")
			require.NoError(t, err)
			assert.Equal(t, 5.0, v)
		}
		return nil
	}))
}

func TestStop(t *testing.T) {
	db := newDB(t)
	gone := errors.New("the visitor is gone")
	within(t, db, ThreadOptions{}, func(th *Thread) {
		time.AfterFunc(20*time.Millisecond, func() { th.Stop(gone) }) // before the run or in it
		_, err := th.RunSource("test", "while true do pcall (function () while true do end end) end")
		require.ErrorIs(t, err, gone)
		_, err = th.RunSource("test", "return 1")
		require.ErrorIs(t, err, gone, "a stopped thread runs nothing more")
	})
}

func TestStopByVerb(t *testing.T) {
	db := newDB(t)
	within(t, db, ThreadOptions{}, func(th *Thread) {
		_, err := th.RunSource("test", "pcall (test.stop) return 1")
		require.ErrorIs(t, err, errStop)
		assert.ErrorContains(t, err, "stopped by a verb")
	})
	within(t, db, ThreadOptions{}, func(th *Thread) {
		_, err := th.RunSource("test", "return test.stop ()")
		require.ErrorIs(t, err, errStop)
	})
}

func TestContextEndsTheRun(t *testing.T) {
	db := newDB(t)
	require.NoError(t, db.View(context.Background(), func(tx *objectdb.Tx) error {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
		defer cancel()
		th := NewEngine(nil).NewThread(ctx, ThreadOptions{Tx: tx})
		defer th.Close()
		_, err := th.RunSource("test", "while true do end")
		assert.ErrorIs(t, err, context.DeadlineExceeded)
		return nil
	}))
}

func TestLimitIsNamed(t *testing.T) {
	db := newDB(t)
	within(t, db, ThreadOptions{Limits: lua.Limits{Instructions: 1000}}, func(th *Thread) {
		_, err := th.RunSource("test", "\nwhile true do end")
		var e *Error
		require.ErrorAs(t, err, &e)
		assert.Equal(t, "instructions", e.Limit)
		assert.Equal(t, 2, e.Line)
	})
}

func TestCallValue(t *testing.T) {
	db := newDB(t)
	put(t, db, map[string]objectdb.Value{"user.double": objectdb.Script("return 2 * ...")})
	within(t, db, ThreadOptions{}, func(th *Thread) {
		f, err := th.RunSource("test", "local n = 1 return function (x) n = n + x return n end")
		require.NoError(t, err)
		for _, want := range []float64{3, 5} {
			v, err := th.CallValue(f, 2)
			require.NoError(t, err)
			assert.Equal(t, want, v)
		}
		o, err := th.RunSource("test", "return user.double")
		require.NoError(t, err)
		v, err := th.CallValue(o, 21)
		require.NoError(t, err)
		assert.Equal(t, 42.0, v)

		_, err = th.CallValue("text")
		assert.ErrorIs(t, err, ErrNotScript)
	})
}

// Specification: 2.3.2
func TestEditIsLive(t *testing.T) {
	db := newDB(t)
	put(t, db, map[string]objectdb.Value{"user.f": objectdb.Script("return 1")})
	engine := NewEngine(nil)
	result := func() (v Value) {
		require.NoError(t, db.View(context.Background(), func(tx *objectdb.Tx) (err error) {
			th := engine.NewThread(context.Background(), ThreadOptions{Tx: tx})
			defer th.Close()
			v, err = th.Run(address(t, "user.f"))
			return err
		}))
		return v
	}
	assert.Equal(t, 1.0, result())
	put(t, db, map[string]objectdb.Value{"user.f": objectdb.Script("return 2")})
	assert.Equal(t, 2.0, result())
}

func TestEditWithinARun(t *testing.T) {
	db := newDB(t)
	put(t, db, map[string]objectdb.Value{"user.f": objectdb.Script("return 1")})
	assert.Equal(t, "12", run(t, db, `local a = user.f () user.f = odb.script "return 2" return a .. user.f ()`))
}

// Two roots have objects of equal number and version; an engine serves both.
func TestEngineServesManyRoots(t *testing.T) {
	engine := NewEngine(nil)
	for _, source := range []string{"return 'one'", "return 'two'"} {
		db := newDB(t)
		put(t, db, map[string]objectdb.Value{"user.f": objectdb.Script(source)})
		require.NoError(t, db.View(context.Background(), func(tx *objectdb.Tx) error {
			th := engine.NewThread(context.Background(), ThreadOptions{Tx: tx})
			defer th.Close()
			v, err := th.Run(address(t, "user.f"))
			require.NoError(t, err)
			assert.Equal(t, source[8:11], v)
			return nil
		}))
	}
}
