package expect_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
	"scripter/objectdb/sqlitestore"
	"scripter/script"
	"scripter/verbs/expect"
)

// newThread returns a thread that sees the verbs, on a root with a few objects.
func newThread(t *testing.T) *script.Thread {
	t.Helper()
	db, err := sqlitestore.Create(filepath.Join(t.TempDir(), "site.root"), objectdb.Options{})
	require.NoError(t, err)
	begun, undo := make(chan *script.Thread), make(chan bool)
	go func() {
		_ = db.Update(context.Background(), func(tx *objectdb.Tx) error {
			data := objectdb.Address{"user", "data"}
			for name, v := range map[string]objectdb.Value{
				"name": objectdb.String("Ada"), "list": objectdb.List{objectdb.Number(1), objectdb.String("two")},
				"text": objectdb.Text("long"), "when": objectdb.Date{Time: time.Unix(0, 0)},
				"run": objectdb.Script("return 1"),
			} {
				if err := tx.Put(data.Child(name), v); err != nil {
					return err
				}
			}
			begun <- script.NewEngine(nil).NewThread(context.Background(),
				script.ThreadOptions{Tx: tx, Verbs: script.NewVerbSet(expect.Verbs)})
			<-undo
			return errors.New("undone")
		})
		close(begun)
	}()
	thread := <-begun
	require.NotNil(t, thread)
	t.Cleanup(func() {
		thread.Close()
		undo <- true
		<-begun
		assert.NoError(t, db.Close())
	})
	return thread
}

// TestEqual checks what expect.equal says of two values: "" if they are equal.
func TestEqual(t *testing.T) {
	thread := newThread(t)
	for values, want := range map[string]string{
		`1, 1`: "", `"a", "a"`: "", `nil, nil`: "", `true, true`: "", `0/0, 0/0`: "", `print_, print_`: "",
		`{}, {}`: "", `{1, {a = {2}}}, {1, {a = {2}}}`: "", `tostring, tostring`: "",
		`user.data.text, "long"`: "", `odb.text ("long"), "long"`: "", `user.data.list, {1, "two"}`: "",
		`{user.data.when}, {odb.date ("1970-01-01")}`:                                                             "",
		`user.data, {name = "Ada", list = {1, "two"}, text = "long", when = user.data.when, run = user.data.run}`: "",
		`odb.script ("return 1"), user.data.run`:                                                                  "",

		`1, 2`:           `got 1, wanted 2`,
		`1, "1"`:         `got 1, wanted "1"`,
		`nil, false`:     `got nil, wanted false`,
		`{}, 1`:          `got {}, wanted 1`,
		`"", nil`:        `got "", wanted nil`,
		`{1, 2}, {1, 3}`: `at [2]: got 2, wanted 3`, `{1}, {1, 3}`: `at [2]: got nil, wanted 3`,
		`{a = {["b c"] = {1}}}, {a = {["b c"] = {2}}}`: `at .a ["b c"] [1]: got 1, wanted 2`,
		`{x = 1}, {y = 1}`:                                    `at .x: got 1, wanted nil`,
		`{[true] = 1}, {[true] = 2}`:                          `at [true]: got 1, wanted 2`,
		`{[10] = "b", [9] = "a"}, {[9] = "a"}`:                `at [10]: got "b", wanted nil`,
		`user.data, {}`:                                       `at .list: got {1, "two"}, wanted nil`,
		`tostring, tonumber`:                                  `got a function, wanted a function`,
		`"a\nb\nc", "a\nx\nc"`:                                `line 2: got "b", wanted "x"`,
		`"a\nb", "a\nb\n"`:                                    `one text ends after line 2, the other does not`,
		`"a\nb", "a\nb\nc"`:                                   `one text ends after line 2, the other does not`,
		`{a = "1\n2"}, {a = "1\n3"}`:                          `at .a: line 2: got "2", wanted "3"`,
		`odb.date ("1970-01-01"), odb.date ("1970-01-02")`:    `got 1970-01-01 00:00:00, wanted 1970-01-02 00:00:00`,
		`odb.binary ("x", "image/png"), odb.address ("user")`: `got a binary of 1 bytes, image/png, wanted the address user`,
		`odb.script ("return 1"), odb.script ("return 2")`:    `got a script: "return 1", wanted a script: "return 2"`,
		`("x"):rep (300), ""`:                                 `got "` + strings.Repeat("x", 200) + `"… (300 bytes), wanted ""`,
		`{[{}] = 1}, {}`:                                      `a table with keys that are neither texts nor numbers cannot be compared`,
		`circle (), {}`:                                       `tables nest deeper than 100 levels, or contain themselves`,
	} {
		_, err := thread.RunSource("test", `print_ = function () end
			local function circle () local t = {} t.t = t return t end
			expect.equal (`+values+`)`)
		if want == "" {
			assert.NoError(t, err, values)
			continue
		}
		require.Error(t, err, values)
		assert.Equal(t, "test:3: expect.equal: "+want, err.Error(), values)
	}
	_, err := thread.RunSource("test", `expect.equal ({first = ("a"):rep (40), second = {1, 2, x = ("b"):rep (60)}}, {}, "order 12")`)
	var f *expect.Failure
	require.ErrorAs(t, err, &f)
	assert.Equal(t, "{\n\tfirst = \""+strings.Repeat("a", 40)+"\",\n\tsecond = {\n\t\t1,\n\t\t2,\n\t\tx = \""+
		strings.Repeat("b", 60)+"\",\n\t},\n}", f.Got)
	assert.Equal(t, "{}", f.Wanted)
	assert.Contains(t, f.Message, "order 12: at .first: got ")
	_, err = thread.RunSource("test", `expect.equal ("a\nb", "a\nc")`)
	require.ErrorAs(t, err, &f)
	assert.Equal(t, [2]string{"a\nb", "a\nc"}, [2]string{f.Got, f.Wanted})
	_, err = thread.RunSource("test", `expect.equal (1)`)
	assert.ErrorContains(t, err, "bad argument #2 to 'equal' (value expected)")
}

// TestOtherVerbs checks the messages with which scripts fail: "" if they do not fail.
func TestOtherVerbs(t *testing.T) {
	thread := newThread(t)
	for source, want := range map[string]string{
		`expect.contains ("a.b", ".")`: "", `expect.contains ("ab", ".", "page")`: `page: "ab" does not contain "."`,
		`expect.contains (nil, ".")`: "bad argument #1 to 'contains' (string expected, got nil)",
		`expect.match ("abc", "b")`:  "", `expect.match ("abc", "^b")`: `"abc" does not match "^b"`,
		`expect.match ("abc", "[")`:                                     "malformed pattern",
		`return assert (expect.match ("a1", "%a(%d)") == "1")`:          "",
		`return assert (expect.match ("abc", "()c") == 3)`:              "",
		`expect.error (error)`:                                          "",
		`expect.error (function () error ("x") end, "^test:1: x")`:      "",
		`expect.error (function () error ({message = "x"}) end, "^x$")`: "",
		`expect.error (function () expect.equal (1, 2) end, "got 1")`:   "",
		`expect.error (user.data.run)`:                                  "the function returned, but should have failed",
		`expect.error (function () error ("x") end, "y")`:               `the error "test:1: x" does not match "y"`,
		`expect.error ("x")`:                                            "bad argument #1 to 'error' (function expected)",
		`expect.error ()`:                                               "bad argument #1 to 'error' (function expected)",
		`expect.error (function () user.x.y.z = 1 end, "user.x")`:       "",
		`assert (expect.error (function () error ("x") end) == "x")`:    "",
	} {
		_, err := thread.RunSource("test", source)
		if want == "" {
			assert.NoError(t, err, source)
			continue
		}
		assert.ErrorContains(t, err, want, source)
	}
}

// TestErrorDoesNotCatchLimits checks that expect.error does not catch an error that ends the run.
func TestErrorDoesNotCatchLimits(t *testing.T) {
	thread := newThread(t)
	thread.Stop(errors.New("stopped"))
	_, err := thread.RunSource("test", `expect.error (function () while true do end end)`)
	assert.ErrorContains(t, err, "stopped")
}
