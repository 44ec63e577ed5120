package script

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
)

// TestTracebackNamesEveryCall: object and line of each, whole names of verbs,
// and what a tail call has hidden.
func TestTracebackNamesEveryCall(t *testing.T) {
	db := newDB(t)
	put(t, db, map[string]objectdb.Value{
		"user.trap":    objectdb.Script("local p = ...\nreturn user.handler (p)"),
		"user.handler": objectdb.Script("-- runs\n\nlocal r = test.each (user.page, ...)\nreturn r"),
		"user.passes":  objectdb.Script("return test.each (user.page, ...)"),
		"user.page":    objectdb.Script("local function part (x)\n\treturn x.a.b\nend\nlocal r = part ({})\nreturn r"),
		"user.three":   objectdb.Script("return user.trap (...)"),
		"user.loop": objectdb.Script(
			"local function f (n)\n\tif n == 0 then error (\"end\") end\n\treturn f (n - 1)\nend\nlocal r = f (50)"),
		"user.co":     objectdb.Script("local c = coroutine.wrap (function () return user.page () end)\nc ()"),
		"user.caught": objectdb.Script("local ok, e = pcall (user.page)\nerror (e, 0)"),
		"user.gone":   objectdb.Script("return user.nothing ()"),
		"user.called": objectdb.Script("user ()"),
		"user.joined": objectdb.Script("local x = user .. 1"),
	})
	page := []string{"user.page:2 in part", "user.page:4"}
	for script, want := range map[string][]string{
		"user.page":    page,
		"user.handler": append(page[:2:2], "[Go] in test.each", "user.handler:3"),
		"user.passes":  append(page[:2:2], "[Go] in test.each", "user.passes:1"),
		"user.trap":    append(page[:2:2], "[Go] in test.each", "user.handler:3", "user.trap (tail call)"),
		"user.three":   append(page[:2:2], "[Go] in test.each", "user.handler:3", "user.three (2 tail calls)"),
		"user.loop":    {"[Go] in error", "user.loop:2", "(50 tail calls)", "user.loop:5"},
		"user.co":      append(page[:2:2], "(tail call)", "[Go] in c", "user.co:2"),
		"user.caught":  {"[Go] in error", "user.caught:2"},
		"user.gone":    {"user.gone:1"},
		"user.called":  {"user.called:1"},
		"user.joined":  {"user.joined:1"},
	} {
		within(t, db, ThreadOptions{}, func(th *Thread) {
			_, err := th.Run(address(t, script))
			var e *Error
			require.ErrorAs(t, err, &e, script)
			var got []string
			for _, f := range e.Frames {
				got = append(got, f.String())
			}
			assert.Equal(t, want, got, script)
			assert.True(t, strings.HasSuffix(e.Detail(), strings.Join(want, "\n")), e.Detail())
		})
	}
}
