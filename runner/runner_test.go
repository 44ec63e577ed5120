package runner

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/lua"
	"scripter/objectdb"
	"scripter/objectdb/sqlitestore"
	"scripter/script"
	"scripter/site"
)

var (
	counter = objectdb.Address{"scratchpad", "n"}
	errNo   = errors.New("no")
)

// newRunner returns a Runner of a new root.
func newRunner(t *testing.T, c Config) (*Runner, *objectdb.DB) {
	t.Helper()
	db, err := sqlitestore.Create(filepath.Join(t.TempDir(), "test.root"),
		objectdb.Options{Relaxed: true, BusyTimeout: time.Minute, LockTime: time.Minute})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, db.Close()) })
	put(t, db, counter, objectdb.Number(1))
	c.DB, c.Engine, c.Site = db, script.NewEngine(nil), site.NewCache()
	return New(c), db
}

func put(t *testing.T, db *objectdb.DB, a objectdb.Address, v objectdb.Value) {
	t.Helper()
	require.NoError(t, db.Update(context.Background(), func(tx *objectdb.Tx) error { return tx.Put(a, v) }))
}

func get(t *testing.T, db *objectdb.DB, a objectdb.Address) (v objectdb.Value) {
	t.Helper()
	require.NoError(t, db.View(context.Background(), func(tx *objectdb.Tx) (err error) {
		v, err = tx.Get(a)
		return err
	}))
	return v
}

// raise runs a script that increments the counter.
func raise(run *Run) error {
	run.Start(nil, nil)
	_, err := run.Thread.RunSource("raise", "scratchpad.n = scratchpad.n + 1")
	return err
}

func TestRun(t *testing.T) {
	r, db := newRunner(t, Config{})
	for _, c := range []struct {
		name    string
		options Options
		fails   error
		want    objectdb.Number
	}{
		{"committed", Options{}, nil, 2},
		{"failed", Options{}, errNo, 1},
		{"discarded", Options{Discard: true}, nil, 1},
	} {
		put(t, db, counter, objectdb.Number(1))
		out, err := r.Run(t.Context(), c.options, func(run *Run) error {
			require.NoError(t, raise(run), c.name)
			return c.fails
		})
		require.ErrorIs(t, err, c.fails, c.name)
		assert.False(t, out.Again, c.name)
		assert.Equal(t, c.want, get(t, db, counter), c.name)
	}
	_, err := r.Run(t.Context(), Options{ReadOnly: true}, raise)
	assert.ErrorIs(t, err, objectdb.ErrReadOnly)
}

// TestOrigin checks that a run sets the origin of its transaction, and that the zero
// origin leaves that of the DB.
func TestOrigin(t *testing.T) {
	r, _ := newRunner(t, Config{})
	for _, want := range []objectdb.Origin{{}, {Who: "ada", Why: "POST", Path: "/guestbook.fcgi"}} {
		_, err := r.Run(t.Context(), Options{Origin: want}, func(run *Run) error {
			assert.Equal(t, want, run.Tx.Origin)
			return nil
		})
		require.NoError(t, err)
	}
}

// TestRunAgain checks that a run that loses a race is made once more, without what the
// first one wrote, and that the next run with its key holds the lock from its start.
func TestRunAgain(t *testing.T) {
	r, db := newRunner(t, Config{})
	var locked []bool
	lose := func(run *Run) error {
		locked = append(locked, run.Tx.Locked())
		assert.Nil(t, run.Thread)
		assert.Nil(t, run.Output())
		run.StartOutput(1, nil).Write("x")
		err := raise(run)
		if !run.Tx.Locked() {
			put(t, db, counter, objectdb.Number(10))
		}
		return err
	}
	out, err := r.Run(t.Context(), Options{Key: "/x"}, lose)
	require.NoError(t, err)
	assert.True(t, out.Again)
	assert.Equal(t, objectdb.Number(11), get(t, db, counter))
	out, err = r.Run(t.Context(), Options{Key: "/x"}, lose)
	require.NoError(t, err)
	assert.False(t, out.Again)
	assert.Equal(t, objectdb.Number(12), get(t, db, counter))
	_, err = r.Run(t.Context(), Options{Key: "/y"}, lose)
	require.NoError(t, err)
	assert.Equal(t, []bool{false, true, true, false, true}, locked)
}

// TestFlush checks that flushed changes stay, and that the run is not made again.
func TestFlush(t *testing.T) {
	r, db := newRunner(t, Config{})
	runs := 0
	_, err := r.Run(t.Context(), Options{}, func(run *Run) error {
		runs++
		require.NoError(t, raise(run))
		require.NoError(t, run.Flush())
		put(t, db, counter, objectdb.Number(10))
		_, err := run.Thread.RunSource("raise", "scratchpad.n = 100")
		require.NoError(t, err)
		return errNo
	})
	require.ErrorIs(t, err, errNo)
	assert.Equal(t, 1, runs)
	assert.Equal(t, objectdb.Number(10), get(t, db, counter))
}

// TestClockAndSeed checks that scripts have the clock and the random numbers of the options.
func TestClockAndSeed(t *testing.T) {
	r, _ := newRunner(t, Config{})
	then := time.Unix(1_000_000_000, 0)
	ask := func() (text string) {
		_, err := r.Run(t.Context(), Options{Now: func() time.Time { return then }, Seed: 7}, func(run *Run) error {
			run.Start(nil, nil)
			v, err := run.Thread.RunSource("ask", "return os.time () .. ' ' .. math.random (1000000)")
			text, _ = v.(string)
			return err
		})
		require.NoError(t, err)
		return text
	}
	assert.Regexp(t, `^1000000000 \d+$`, ask())
	assert.Equal(t, ask(), ask())
}

// testGuard is a Guard that records the calls of its methods.
type testGuard struct{ told []string }

func (g *testGuard) Begin(limit time.Duration, bytes int64) {
	g.told = append(g.told, "begin "+limit.String())
}
func (g *testGuard) End() { g.told = append(g.told, "end") }

func TestGuard(t *testing.T) {
	g := &testGuard{}
	r, _ := newRunner(t, Config{Guard: g})
	run := func(run *Run) error {
		run.Start(nil, nil)
		run.Suspend()
		run.Resume()
		return nil
	}
	_, err := r.Run(t.Context(), Options{}, run)
	require.NoError(t, err)
	assert.Equal(t, []string{"begin 10s", "end", "begin 10s", "end"}, g.told)
	_, err = r.Run(t.Context(), Options{Inner: true}, run)
	require.NoError(t, err)
	assert.Len(t, g.told, 4)
}

// TestOutput checks that a long text goes to a file, and that reading returns all of it.
func TestOutput(t *testing.T) {
	for _, size := range []int{0, 10, outputMemory, outputMemory + 1, 3 * outputMemory} {
		text := strings.Repeat("x", size)
		o := &Output{most: 3 * outputMemory, tooLong: func() error { return errNo }}
		require.NoError(t, o.Write(text[:size/2]))
		require.NoError(t, o.Write(text[size/2:]))
		assert.Equal(t, size <= outputMemory, o.InMemory())
		assert.Equal(t, int64(max(0, size-outputMemory)), o.RestSize())
		got, err := o.Text()
		require.NoError(t, err)
		assert.Equal(t, text, got)
		assert.ErrorIs(t, o.Write(strings.Repeat("x", 3*outputMemory+1)), errNo)
		require.NoError(t, o.Close())
	}
	text, err := (*Output)(nil).Text()
	assert.NoError(t, err)
	assert.Empty(t, text)
}

// TestCommands checks that the script of a command has a transaction of its own, and the
// names and the host of Config.Outside.
func TestCommands(t *testing.T) {
	r, db := newRunner(t, Config{Outside: func(*Run) (*script.Table, any, error) {
		names := script.NewTable()
		names.Set("visitor", "nobody")
		return names, nil, nil
	}})
	put(t, db, objectdb.Address{"workspace", "greet"},
		objectdb.Script(`scratchpad.n = 7 return "hello " .. ... .. " from " .. visitor`))
	text, err := r.Call(t.Context(), Options{}, objectdb.Address{"workspace", "greet"}, []string{"Ada"})
	require.NoError(t, err)
	assert.Equal(t, "hello Ada from nobody", text)
	assert.Equal(t, objectdb.Number(7), get(t, db, counter))

	e, err := r.Eval(t.Context(), Options{}, `scratchpad.n + 1, nil, {true}`)
	require.NoError(t, err)
	assert.Equal(t, "8", e.Texts[0])
	assert.Equal(t, "nil", e.Texts[1])
	assert.JSONEq(t, `[true]`, string(e.JSON[2]))

	put(t, db, objectdb.Address{"workspace", "odd"}, objectdb.Script(`return undefinedName, visitor`))
	l, err := r.Lint(t.Context(), objectdb.Address{"workspace"})
	require.NoError(t, err)
	assert.Equal(t, 2, l.Scripts)
	require.Len(t, l.Findings, 1)
	assert.Contains(t, l.Findings[0].Message, "undefinedName")
	assert.Equal(t, objectdb.Number(7), get(t, db, counter))

	found, err := r.LintSource(t.Context(), objectdb.Address{"workspace", "none"}, "scratchpad.n = 8\nreturn otherName, visitor")
	require.NoError(t, err)
	require.Len(t, found, 1)
	assert.Equal(t, "workspace.none:2:8: undefined name: otherName", found[0].String())
	require.ErrorIs(t, r.View(t.Context(), nil, func(run *Run) error {
		return run.Tx.Put(counter, objectdb.Number(8))
	}), objectdb.ErrReadOnly)
	assert.Equal(t, objectdb.Number(7), get(t, db, counter))
}

// TestLimits checks that the limits of the script apply, and that their errors name the
// setting.
func TestLimits(t *testing.T) {
	r, db := newRunner(t, Config{})
	a := objectdb.Address{"workspace", "long"}
	put(t, db, a, objectdb.Script(`return ("x"):rep (2000000)`))
	text, err := r.Call(t.Context(), Options{}, a, nil)
	require.NoError(t, err)
	assert.Len(t, text, 2_000_000)
	require.NoError(t,
		db.Update(t.Context(), func(tx *objectdb.Tx) error { return site.SetLimit(tx, a, site.MaxString, 1) }))
	_, err = r.Call(t.Context(), Options{}, a, nil)
	assert.Equal(t, "maxString", LimitOf(err))
	assert.ErrorContains(t, err, `user.webserver.limits.["workspace.long"].maxString`)
	_, err = r.Run(t.Context(), Options{ReadOnly: true}, func(run *Run) error {
		return run.Size(site.MaxBody).Error("the body is too long")
	})
	assert.Equal(t, "maxBody", LimitOf(err))
	assert.EqualError(t, err, "the body is too long (user.webserver.maxBody)")
}

// TestCompiles checks that a script that is stored is held to the limits of its address.
func TestCompiles(t *testing.T) {
	_, db := newRunner(t, Config{})
	put(t, db, site.MaxSource.Address(), objectdb.Number(1)) // KB
	require.NoError(t, db.View(context.Background(), func(tx *objectdb.Tx) error {
		a := objectdb.Address{"suites", "x"}
		assert.NoError(t, Compiles(tx, a, "return 1"))
		var wrong *lua.SyntaxError
		require.ErrorAs(t, Compiles(tx, a, "return 1\nreturn )"), &wrong)
		assert.Equal(t, 2, wrong.Line)
		long := objectdb.Script("return 1 --" + strings.Repeat("x", 2000))
		assert.Equal(t, "maxSource", LimitOf(Compiles(tx, a, long)))
		return nil
	}))
}

// TestPrepareAndEnded checks that what Prepare writes is in the transaction of the run, and that Ended
// sees what the scripts have written, and their error.
func TestPrepareAndEnded(t *testing.T) {
	r, db := newRunner(t, Config{Outside: func(run *Run) (*script.Table, any, error) { return nil, run, nil }})
	a := objectdb.Address{"workspace", "typed"}
	var written int
	var failure error
	o := Options{
		Discard: true,
		Prepare: func(run *Run) error { return run.Tx.Put(a, objectdb.Script("scratchpad.x = 1 return ...")) },
		Ended: func(run *Run, err error) error {
			list, failed := run.Tx.Pending()
			written, failure = len(list), err
			assert.Positive(t, run.Thread.Instructions())
			assert.Zero(t, run.Tx.Committed())
			return failed
		},
	}
	text, err := r.Call(t.Context(), o, a, []string{"given"})
	require.NoError(t, err)
	assert.Equal(t, "given", text)
	assert.GreaterOrEqual(t, written, 2)
	_, err = r.Call(t.Context(), Options{}, a, nil)
	require.ErrorIs(t, err, objectdb.ErrNotFound, "nothing was kept")

	o.Prepare = func(run *Run) error { return run.Tx.Put(a, objectdb.Script("error ('no')")) }
	_, err = r.Call(t.Context(), o, a, nil)
	require.ErrorContains(t, err, "no")
	assert.Equal(t, err, failure)

	refused := errors.New("refused")
	o.Discard, o.Prepare = false, nil
	o.Ended = func(*Run, error) error { return refused }
	_, err = r.Eval(t.Context(), o, "scratchpad.y = 1")
	require.ErrorIs(t, err, refused)
	e, err := r.Eval(t.Context(), Options{}, "scratchpad.y")
	require.NoError(t, err)
	assert.Equal(t, []string{"nil"}, e.Texts)
	assert.Equal(t, objectdb.Number(1), get(t, db, counter))
}
