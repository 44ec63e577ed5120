package runner

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
	"scripter/script"
)

// TestRunWithin checks what runs within a run write, and what of it stays when they fail.
func TestRunWithin(t *testing.T) {
	r, db := newRunner(t, Config{})
	run := func(within *Run, o Options, source string) error {
		o.Within = within
		_, err := r.Run(t.Context(), o, func(run *Run) error {
			run.Start(nil, nil)
			_, err := run.Thread.RunSource("inner", source)
			return err
		})
		return err
	}
	_, err := r.Run(t.Context(), Options{}, func(outer *Run) error {
		outer.Start(nil, nil)
		is := func(want, source string) {
			t.Helper()
			v, err := outer.Thread.RunSource("outer", source)
			require.NoError(t, err)
			text, err := outer.Thread.Text(v)
			require.NoError(t, err)
			assert.Equal(t, want, text, source)
		}
		is("ab", `scratchpad.f = odb.script ("return 'a'"); scratchpad.l = odb.list ("b"); list = scratchpad.l; return scratchpad.f () .. list [1]`)
		require.NoError(t, run(outer, Options{}, `
			scratchpad.n = scratchpad.n + 1
			scratchpad.f = odb.script ("return 'c'")
			scratchpad.l [1] = "d"
			scratchpad.t = {x = 1}`))
		is("c d 2 1", `return scratchpad.f () .. " " .. scratchpad.l [1] .. " " .. scratchpad.n .. " " .. scratchpad.t.x`)

		require.Error(t, run(outer, Options{}, `scratchpad.n = 9; scratchpad.f = nil; scratchpad.l [1] = "lost"; scratchpad.t = nil; error ("no")`))
		is("c d 2 1", `return scratchpad.f () .. " " .. scratchpad.l [1] .. " " .. scratchpad.n .. " " .. scratchpad.t.x`)

		require.NoError(t, run(outer, Options{Discard: true}, "scratchpad.n = 9"))
		require.NoError(t, run(outer, Options{ReadOnly: true}, "scratchpad.n = 9"))
		is("2", "return scratchpad.n")
		return nil
	})
	require.NoError(t, err)
	assert.Equal(t, objectdb.Number(2), get(t, db, counter), "the outer run has committed the inner ones")
}

// TestFlushWithin checks that what a run has flushed within another one stays although it fails,
// as if it was committed, and is undone with the outer run.
func TestFlushWithin(t *testing.T) {
	r, db := newRunner(t, Config{})
	before := generation(t, db)
	_, err := r.Run(t.Context(), Options{Test: true}, func(outer *Run) error {
		outer.Start(nil, nil)
		inner := func(fails error, o Options) {
			o.Within = outer
			_, err := r.Run(t.Context(), o, func(run *Run) error {
				require.NoError(t, raise(run))
				require.NoError(t, run.Flush())
				_, err := run.Thread.RunSource("more", "scratchpad.n = scratchpad.n + 10; scratchpad.l = odb.list (1); scratchpad.l [1] = 2")
				require.NoError(t, err)
				require.NoError(t, run.Flush())
				_, err = run.Thread.RunSource("lost", "scratchpad.n = scratchpad.n + 100; scratchpad.l [1] = 3")
				require.NoError(t, err)
				return fails
			})
			require.ErrorIs(t, err, fails)
		}
		n := func() string {
			v, err := outer.Thread.RunSource("outer", `return scratchpad.n .. " " .. (scratchpad.l and scratchpad.l [1] or "none")`)
			require.NoError(t, err)
			return v.(string)
		}
		inner(errNo, Options{})
		assert.Equal(t, "12 2", n())
		inner(nil, Options{})
		assert.Equal(t, "123 3", n())
		inner(nil, Options{Discard: true})
		inner(errNo, Options{Discard: true})
		assert.Equal(t, "123 3", n())
		assert.Panics(t, func() {
			_, _ = r.Run(t.Context(), Options{Within: outer}, func(run *Run) error {
				require.NoError(t, raise(run))
				panic("a fault")
			})
		})
		assert.Equal(t, "123 3", n(), "after a panic what was written is undone")
		require.NoError(t, outer.Flush())
		return nil
	})
	require.NoError(t, err)
	assert.Equal(t, objectdb.Number(1), get(t, db, counter))
	assert.Equal(t, before, generation(t, db))
}

func generation(t *testing.T, db *objectdb.DB) int64 {
	t.Helper()
	info, err := db.Info(t.Context())
	require.NoError(t, err)
	return info.Generation
}

// TestTest checks what a test gets and gives, and that it leaves no trace.
func TestTest(t *testing.T) {
	verbs := script.NewVerbSet([]script.Verb{{Name: "wish.fail", Func: func(*script.Call) error { return errNo }}})
	r, db := newRunner(t, Config{TestVerbs: func() *script.VerbSet { return verbs }})
	a, setup := objectdb.Address{"user", "testX"}, objectdb.Address{"user", "setup"}
	try := func(source string, setup objectdb.Address) TestResult {
		put(t, db, a, objectdb.Script(source))
		before := generation(t, db)
		result := r.Test(t.Context(), a, setup)
		assert.Equal(t, before, generation(t, db))
		return result
	}
	put(t, db, setup, objectdb.Script(`scratchpad.n = 5; global = 6; return {7}`))
	require.NoError(t, try(`assert (scratchpad.n == 5 and global == 6 and (...) [1] == 7)`, setup).Err)
	require.NoError(t, try(`assert (scratchpad.n == 1 and select ("#", ...) == 0); scratchpad.n = 2`, nil).Err)
	require.NoError(t, try(`assert (scratchpad.n == 1)`, nil).Err)
	assert.ErrorIs(t, try(`wish.fail ()`, nil).Err, errNo)
	assert.ErrorContains(t, try(`return 1 +`, nil).Err, "user.testX:1:")
	put(t, db, setup, objectdb.Script(`error ("no data")`))
	assert.ErrorContains(t, try(`return 1`, setup).Err, "user.setup:1: no data")

	first := try(`scratchpad.x = math.random (1e9); error (scratchpad.x)`, nil)
	assert.Equal(t, first.Err.Error(), try(`scratchpad.x = math.random (1e9); error (scratchpad.x)`, nil).Err.Error())

	// The verbs of tests are not seen elsewhere.
	_, err := r.Call(t.Context(), Options{}, a, nil)
	require.Error(t, err)
	put(t, db, a, objectdb.Script(`wish.fail ()`))
	_, err = r.Call(t.Context(), Options{}, a, nil)
	assert.ErrorContains(t, err, "undefined name: wish")
}

// TestTestOnBusyRoot checks that a test begins again, without the writer's lock, while the root
// changes, and gives up.
func TestTestOnBusyRoot(t *testing.T) {
	var db *objectdb.DB
	changes, calls := 0, 0
	verbs := script.NewVerbSet([]script.Verb{{Name: "meanwhile", Func: func(c *script.Call) error {
		assert.False(t, c.Thread().Tx().Locked())
		if calls++; calls <= changes {
			put(t, db, counter, objectdb.Number(calls+10))
			put(t, db, objectdb.Address{"scratchpad", fmt.Sprint("new", calls)}, objectdb.Boolean(true))
		}
		c.Return(calls)
		return nil
	}}})
	r, db := newRunner(t, Config{TestVerbs: func() *script.VerbSet { return verbs }})
	a := objectdb.Address{"scratchpad", "testX"}
	put(t, db, a, objectdb.Script(`local n = scratchpad.n; local _ = scratchpad ["new" .. meanwhile ()]`))
	for range 3 { // after that all is cached, and a session begins at the first name that is new
		require.NoError(t, r.Test(t.Context(), a, nil).Err)
	}
	calls, changes = 0, 3
	require.NoError(t, r.Test(t.Context(), a, nil).Err)
	assert.Equal(t, 4, calls)
	calls, changes = 0, 1<<20
	assert.ErrorIs(t, r.Test(t.Context(), a, nil).Err, errChanged)
	assert.Equal(t, testTries, calls)
}
