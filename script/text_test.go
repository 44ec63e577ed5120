package script

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/lua"
	"scripter/objectdb"
)

func TestText(t *testing.T) {
	db := site(t)
	within(t, db, ThreadOptions{}, func(th *Thread) {
		for _, c := range []struct {
			v    Value
			want string
		}{
			{nil, ""},
			{"abc", "abc"},
			{true, "true"},
			{0.1 + 0.2, "0.3"},
			{1e15, "1e+15"},
			{3, "3"},
			{objectdb.Text("t"), "t"},
			{objectdb.Outline("a\n\tb"), "a\n\tb"},
			{objectdb.Script("return 1"), "return 1"},
			{objectdb.Date{Time: time.Date(1998, 1, 2, 3, 4, 5, 6, time.UTC)}, "1998-01-02 03:04:05"},
			{objectdb.Binary{Type: "x/y", Data: "\x00\xff"}, "\x00\xff"},
			{objectdb.Address{"a", "b c"}, `a.["b c"]`},
			{objectdb.List{objectdb.Number(1), objectdb.List{objectdb.String("x")}}, "{1, {x}}"},
			{objectdb.List{}, "{}"},
			{[]string{"a", "b"}, "{a, b}"},
		} {
			got, err := th.Text(c.v)
			require.NoError(t, err)
			assert.Equal(t, c.want, got)
		}
	})
}

func TestTextOfTables(t *testing.T) {
	db := site(t)
	for source, want := range map[string]string{
		`return scratchpad`: "deep\ttable:\n\ter\ttable:\n\t\tstill\ttable:\n\t\t\tfurther\tstring: here\n" +
			"fruit\ttable:\n\tapple\tnumber: 1\n\tBanana\tnumber: 2\n\tcherry\tnumber: 3\n",
		`return {a = odb.list (), b = 1}`:            "a\ttable: {}\nb\tnumber: 1\n",
		`return {a = {}, b = 1}`:                     "a\ttable:\nb\tnumber: 1\n",
		`return {a = {1, x = 2}, b = 1}`:             "a\ttable:\n\t1\tnumber: 1\n\tx\tnumber: 2\nb\tnumber: 1\n",
		`local t = {b = 1} t.a = t return t`:         "a\ttable: …\nb\tnumber: 1\n",
		`return {scratchpad.fruit, {x = 1}}`:         "{{apple = 1, Banana = 2, cherry = 3}, {x = 1}}",
		`return {scratchpad.deep, odb.list ()}`:      "{{er = {still = {further = here}}}, {}}",
		`return {b = 1, a = {x = true}, c = {1, 2}}`: "a\ttable:\n\tx\tboolean: true\nb\tnumber: 1\nc\ttable: {1, 2}\n",
		`return {}`:                          "",
		`return webserver.httpheader`:        "return 'HTTP/1.0 200 OK'",
		`local t = {n = 1} t.t = t return t`: "n\tnumber: 1\nt\ttable: …\n",
		`local t = {} t [1] = t return t`:    "{…}",
	} {
		got := run(t, db, source)
		assert.Equal(t, want, got, source)
	}
}

func TestTextIsBounded(t *testing.T) {
	db := newDB(t)
	within(t, db, ThreadOptions{Limits: lua.Limits{StringBytes: 1 << 16}}, func(th *Thread) {
		v, err := th.RunSource("test", `
			local t = {}
			for i = 1, 15 do t = {a = t, b = t, c = t} end
			return t`)
		require.NoError(t, err)
		_, err = th.Text(v)
		assert.ErrorIs(t, err, errLongText)

		v, err = th.RunSource("test", `local t = {} for i = 1, 5000 do t = {t} end return t`)
		require.NoError(t, err)
		s, err := th.Text(v)
		require.NoError(t, err)
		assert.Less(t, len(s), 100)
		assert.True(t, strings.HasPrefix(s, "{{{"))
	})
}
