package script

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
)

// TestOpenTable checks a table that scripts see in place of a group of verbs: it is made by the first assignment, has
// the verbs beside its cells, and follows when it stands for another table.
func TestOpenTable(t *testing.T) {
	db := newDB(t)
	var open *Object
	here := objectdb.Address{"workspace", "here"}
	properties := []Property{{Address: Builtins.Child("test"), Value: func(th *Thread) Value {
		if open == nil {
			var err error
			open, err = th.OpenTable(here, "test")
			require.NoError(t, err)
		}
		return open
	}}}
	engine := NewEngine(testVerbs, properties...)
	run := func(th *Thread, source string) string {
		t.Helper()
		v, err := th.RunSource("test", source)
		if err != nil {
			var e *Error
			require.ErrorAs(t, err, &e)
			return e.Message
		}
		text, err := th.Text(v)
		require.NoError(t, err)
		return text
	}
	require.NoError(t, db.Update(t.Context(), func(tx *objectdb.Tx) error {
		th := engine.NewThread(t.Context(), ThreadOptions{Tx: tx})
		defer th.Close()
		assert.Equal(t, "nil 0 A!", run(th, `test.gone = nil return tostring (test.x) .. " " .. #test .. " " .. test.upper ("a")`))
		_, err := tx.Find(here)
		require.True(t, objectdb.IsMissing(err))
		assert.Contains(t, run(th, `test.upper = 1`), "test.upper is a verb")
		require.ErrorIs(t, th.Try(func() error {
			assert.Equal(t, "1", run(th, `test.x = 1 return test.x .. ""`))
			return errStop
		}), errStop)
		assert.Equal(t, "nil", run(th, `return tostring (test.x)`), "it was undone with the table")
		assert.Equal(t, "2 x 1", run(th, `test.x = 2 local names = {} for name in pairs (test) do names [#names + 1] = name end
			return test.x .. " " .. table.concat (names, ",") .. " " .. #test`))
		assert.Equal(t, "true", run(th, `return tostring (test == workspace.here and test.x == workspace.here.x)`))
		assert.Equal(t, "nil", run(th, `mine = test return "nil"`))
		require.NoError(t, tx.Move(here, objectdb.Address{"workspace", "there"}))
		require.NoError(t, open.Open(objectdb.Address{"workspace", "there"}))
		assert.Equal(t, "2 workspace.there", run(th, `return mine.x .. " " .. tostring (test):sub (8)`))
		require.NoError(t, open.Open(objectdb.Address{"workspace", "new"}))
		assert.Equal(t, "nil 3", run(th, `local before = mine.x mine.x = 3 return tostring (before) .. " " .. workspace.new.x`))
		return nil
	}))
}
