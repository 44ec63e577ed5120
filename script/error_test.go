package script

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/lua"
	"scripter/objectdb"
)

func TestErrorValues(t *testing.T) {
	db := newDB(t)
	for source, want := range map[string]string{
		`error "plain"`:                  "plain",
		`error ("no place", 0)`:          "no place",
		`error {message = "in a table"}`: "in a table",
		`error {1}`:                      "(error value is a table)",
		`error ()`:                       "(error value is a nil)",
		`error (odb.date (0))`:           "1970-01-01 00:00:00",
		`error (42)`:                     "42",
		`error (user)`:                   "undefined name: user",
		`assert (false, "asserted")`:     "asserted",
		`coroutine.wrap (function () error "within" end) ()`: "within",
		`string.rep ()`: "bad argument #1 to 'rep' (string expected, got no value)",
	} {
		e := fails(t, db, source)
		assert.Equal(t, want, e.Message, source)
		assert.Equal(t, "test", e.Name, source)
		assert.Equal(t, 1, e.Line, source)
		assert.Equal(t, source, e.Source, source)
	}
}

func TestErrorIsThatOfTheDatabase(t *testing.T) {
	db := newDB(t)
	within(t, db, ThreadOptions{}, func(th *Thread) {
		_, err := th.RunSource("test", `odb.copy ("user.a", "user.b")`)
		assert.ErrorIs(t, err, objectdb.ErrNotFound)
		assert.EqualError(t, err, "test:1: copy user.a: no such object")
		_, err = th.RunSource("test", `odb.set ("user." .. ("x"):rep (300), 1)`)
		assert.ErrorIs(t, err, objectdb.ErrName)
	})
}

func TestThreadGoesOnAfterAnError(t *testing.T) {
	db := newDB(t)
	within(t, db, ThreadOptions{}, func(th *Thread) {
		for i := range 50 {
			_, err := th.RunSource("test",
				"kept = (rawget (_G, 'kept') or 0) + 1\nlocal function deep (n) if n == 0 then error 'deep' end deep (n "+
					"- 1) end deep (20)")
			var e *Error
			require.ErrorAs(t, err, &e)
			assert.Equal(t, "deep", e.Message)
			assert.Equal(t, 2, e.Line)
			v, err := th.RunSource("test", "return kept")
			require.NoError(t, err)
			assert.Equal(t, float64(i+1), v)
		}
	})
}

func TestDetail(t *testing.T) {
	e := &Error{
		Message: "oops", Name: "user.f", Line: 3, Source: "  error 'oops'",
		Frames: []lua.Frame{{Function: "each"}, {Source: "user.f", Line: 3, Function: "go"}},
		Err:    fmt.Errorf("verb: %w", &lua.PanicError{Value: "why", Stack: []byte("stack")}),
	}
	assert.Equal(t, "user.f:3: oops\n\terror 'oops'\n[Go] in each\nuser.f:3 in go\npanic: why\nstack", e.Detail())
	assert.Equal(t, "only this", (&Error{Message: "only this"}).Error())
	assert.ErrorIs(t, &Error{Err: errStop}, errStop)
}

func TestLongLinesAreCut(t *testing.T) {
	assert.Equal(t, "two", lua.SourceLine("one\r\ntwo\r\nthree", 2))
	assert.Equal(t, "", lua.SourceLine("one", 2))
	long := lua.SourceLine(fmt.Sprintf("%0300d", 1), 1)
	assert.Len(t, long, 200+len("…"))
}

// One engine, many requests at once, with scripts that change meanwhile.
func TestManyThreads(t *testing.T) {
	db := newDB(t)
	put(t, db, map[string]objectdb.Value{
		"suites.f":   objectdb.Script("return test.upper (suites.g ())"),
		"suites.g":   objectdb.Script("return 'x'"),
		"user.count": objectdb.Number(0),
	})
	engine := NewEngine(testVerbs)
	const threads, runs = 8, 20
	var wg sync.WaitGroup
	for range threads {
		wg.Go(func() {
			for range runs {
				err := db.Update(context.Background(), func(tx *objectdb.Tx) error {
					th := engine.NewThread(context.Background(), ThreadOptions{Tx: tx})
					defer th.Close()
					v, err := th.RunSource("test", `
						user.count = user.count + 1
						suites.g = odb.script ("return 'x' -- " .. user.count)
						return suites.f ()`)
					if err == nil && v != "X!" {
						err = fmt.Errorf("got %v", v)
					}
					return err
				})
				assert.NoError(t, err)
			}
		})
	}
	wg.Wait()
	assert.Equal(t, fmt.Sprint(threads*runs), run(t, db, "return user.count"))
}

// After a flush the objects that the run made have other ids; what the script
// holds stays good.
func TestHandlesSurviveFlush(t *testing.T) {
	db := newDB(t)
	flush := Verb{Name: "test.flush", Func: func(c *Call) error { return c.Thread().Tx().Flush() }}
	err := db.Update(context.Background(), func(tx *objectdb.Tx) error {
		th := NewEngine([]Verb{flush}).NewThread(context.Background(), ThreadOptions{Tx: tx})
		defer th.Close()
		v, err := th.RunSource("test", `
			odb.set ("user.made.n", 1)
			odb.set ("user.f", odb.script "return user.made.n")
			local made, f = user.made, user.f
			test.flush ()
			made.n = made.n + 1
			return f () .. tostring (made == user.made) .. tostring (made) .. user.f ()`)
		assert.Equal(t, "2truetable: user.made2", v)
		return err
	})
	require.NoError(t, err)
	assert.Equal(t, "2", run(t, db, "return user.made.n"))
}

// Recursion without end is an error of the script, caught or not, and says
// which limit it has reached; registers have none that can be set.
func TestStackOverflow(t *testing.T) {
	db := newDB(t)
	const tooDeep = "stack overflow: calls nest more than 200 deep"
	for name, c := range map[string]struct{ source, message, limit string }{
		"recursion": {"local function f() return 1 + f() end\nreturn f()", tooDeep, "depth"},
		"in a table": {
			"local t t = setmetatable({}, {__index = function(_, k) return t[k] end})\nreturn t.x", tooDeep, "depth"},
		"sort": {"local function f() table.sort({1, 2, 3}, f) end\nf()", tooDeep, "depth"},
		"gsub": {"local function f() return (('x'):gsub('x', f)) end\nf()", tooDeep, "depth"},
		"tostring": {
			"local t t = setmetatable({}, {__tostring = function() return tostring(t) end})\nreturn tostring(t)",
			tooDeep, "depth"},
		"passed on": {"local function f() return 1 + f() end\nerror((select(2, pcall(f))), 0)", tooDeep, "depth"},
		"coroutine": {"local function f() return 1 + f() end\nreturn coroutine.wrap(f)()", tooDeep, "depth"},
		"registers": {
			"local function f(n, ...) return 1 + f(n, unpack({}, 1, n)) end\nreturn f(7000)", "stack overflow", ""},
		"pcalls":     {"local function f() local ok, e = pcall(f) error(e, 0) end\nf()", "C stack overflow", ""},
		"coroutines": {"local function f() return 1 + coroutine.wrap(f)() end\nf()", "C stack overflow", ""},
	} {
		t.Run(name, func(t *testing.T) {
			within(t, db, ThreadOptions{Limits: lua.Limits{Time: time.Minute, CallDepth: 200}}, func(th *Thread) {
				for range 2 { // the thread is as good as new
					_, err := th.RunSource("test", c.source)
					var e *Error
					require.ErrorAs(t, err, &e)
					assert.Equal(t, c.message, e.Message)
					assert.Equal(t, c.limit, lua.LimitName(err))
					assert.NotContains(t, e.Detail(), "panic")
					require.NotEmpty(t, e.Frames)
					assert.Equal(t, "test", e.Frames[len(e.Frames)-1].Source)
				}
				v, err := th.RunSource("test", "return 1 + 1")
				require.NoError(t, err)
				assert.Equal(t, 2.0, v)
			})
		})
	}
}

func TestLongMessagesAreClipped(t *testing.T) {
	e := fails(t, site(t), `error (("x"):rep (1e6))`)
	assert.Len(t, e.Message, longestMessage+len("… (1000000 bytes)"))
	assert.Equal(t, 1, e.Line)
}
