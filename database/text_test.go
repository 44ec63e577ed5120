package database

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func numbered(n int) string { return "$" + strconv.Itoa(n) }

func TestPrepare(t *testing.T) {
	for _, test := range []struct {
		text  string
		args  int
		write bool
		want  string // the text, or "error: " and part of the error
	}{
		{"select 1", 0, false, "select 1"},
		{" -- a comment ; ?\n/* ; ? */ select ?, '?;''' , \"?\" from t where a=?;  -- end\n", 2, false,
			" -- a comment ; ?\n/* ; ? */ select $1, '?;''' , \"?\" from t where a=$2  -- end\n"},
		{"with a as (values (?)) select * from a", 1, false, "with a as (values ($1)) select * from a"},
		{"select $1, $2 where '?' = $1;", 2, false, "select $1, $2 where '?' = $1"},
		{"select $$ ; ? $$, $x$ $$ ; $x$, ?", 1, false, "select $$ ; ? $$, $x$ $$ ; $x$, $1"},
		{`select E'\'?;', ?`, 1, false, `select E'\'?;', $1`},
		{`select 'a\', ?`, 1, false, `select 'a\', $1`},
		{"select a$1 from t where b = ?", 1, false, "select a$1 from t where b = $1"},
		{"INSERT INTO t VALUES (?) RETURNING id", 1, true, "INSERT INTO t VALUES ($1) RETURNING id"},

		{"", 0, false, "error: there is no statement"},
		{" ; ", 0, false, `error: a statement begins with one of SELECT, WITH, VALUES, EXPLAIN, not with ";"`},
		{"-- only", 0, false, "error: there is no statement"},
		{"select 1; select 2", 0, false, "error: more than one statement"},
		{"select 1;;", 0, false, "error: more than one statement"},
		{"select 1; /* */ drop table t", 0, false, "error: more than one statement"},
		{"select '", 0, false, "select '"}, // the database says what is wrong
		{"select ?", 0, false, "error: the statement has 1 placeholders (?), and there are 0 arguments"},
		{"select 1", 2, false, "error: the statement has 0 placeholders (?), and there are 2 arguments"},
		{"select ?, $2", 2, false, "error: both ? and $1"},
		{"select \x00", 0, false, "error: NUL"},
		{"/* /* */ select */ drop table t", 0, false, "error: a comment within a comment"},
		{"delete from t", 0, false, `error: not with "delete"`},
		{"pragma query_only = 0", 0, false, `error: not with "pragma"`},
		{"attach 'x' as y", 0, true, `error: not with "attach"`},
		{"begin", 0, true, `error: not with "begin"`},
		{"commit", 0, true, `error: not with "commit"`},
		{"set role x", 0, true, `error: not with "set"`},
		{"do $$ begin end $$", 0, true, `error: not with "do"`},
		{"copy t to program 'x'", 0, true, `error: not with "copy"`},
		{"drop table t", 0, true, `error: not with "drop"`},
		{"select 1", 0, true, `error: not with "select"`},
		{"(select 1)", 0, false, `error: not with "("`},
		{"'select' 1", 0, false, `error: not with "'select'"`},
		{strings.Repeat(" ", 1<<20+1), 0, false, "error: more than 1048576"},
	} {
		got, returns, err := prepare(test.text, test.args, test.write, numbered)
		if message, wrong := strings.CutPrefix(test.want, "error: "); wrong {
			assert.ErrorContains(t, err, message, test.text)
			continue
		}
		require.NoError(t, err, test.text)
		assert.Equal(t, test.want, got)
		assert.Equal(t, strings.Contains(test.text, "RETURNING"), returns, test.text)
	}
}

// FuzzPrepare checks that the parts of a statement are the whole statement, and that what is prepared is one
// statement when it is read again.
func FuzzPrepare(f *testing.F) {
	for _, s := range []string{"select ?; -- x", "select 'a''b', \"c\" /* ; */", "select $a$ ; $a$", "select E'\\''", "with x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var whole strings.Builder
		for _, part := range parts(text) {
			require.NotEmpty(t, part)
			whole.WriteString(part)
		}
		require.Equal(t, text, whole.String())
		out, _, err := prepare(text, strings.Count(text, "?"), false, func(int) string { return "?" })
		if err != nil {
			return
		}
		_, _, err = prepare(out, strings.Count(out, "?"), false, func(int) string { return "?" })
		require.NoError(t, err, out)
	})
}

func TestParseOfQuotes(t *testing.T) {
	var list []string
	for kind, part := range parts("a'b''c'\"d\"`e`--f\n$1 $$g$$ é[h]") {
		list = append(list, strconv.Itoa(kind)+part)
	}
	assert.Equal(t, []string{"1a", "2'b''c'", "2\"d\"", "2`e`", "0--f", "0\n", "1$1", "0 ", "2$$g$$", "0 ", "1é", "3[", "1h", "3]"}, list)
}
