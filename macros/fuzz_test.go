package macros

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func FuzzParse(f *testing.F) {
	for _, page := range []string{
		"", "<p>Hello", `<!--#referer--> <!--#clock.now ()--> <!--#counter(home,www.example.com)-->`,
		`<!--#user.["odd name"].x--> <!--#f("a \" --> b", 'c', -1.5, true, g(h()))-->`,
		`<!--#counter(home,my site)--> <!--#counter(home,Macintosh HD:WebSite:)--> <!--#f(10 apples, a . b, Dr. No, x - y, 1 2, etc. )-->`,
		`<!--#include virtual="/x"--> <!--#if expr="a"--> <!--#else-->`, "<!--#f(\r\n\"\x00\xff\")-->",
	} {
		f.Add(page)
	}
	for _, unit := range units {
		f.Add(strings.Repeat(unit, 5))
	}
	f.Fuzz(func(t *testing.T, page string) {
		p := Parse(page)
		requireKept(t, page, p)
		for _, m := range p.Markers() {
			requireSound(t, page, m)
		}
		requireLinear(t, page)
	})
}

// requireSound tells that m is a marker, in the place it says, and the same
// when it stands alone.
func requireSound(t *testing.T, page string, m *Marker) {
	t.Helper()
	require.True(t, strings.HasPrefix(m.Text, opening) && strings.HasSuffix(m.Text, closing), m.Text)
	require.Equal(t, page[m.Offset:m.Offset+len(m.Text)], m.Text)
	before := strings.ReplaceAll(page[:m.Offset], "\r\n", "\n")
	before = strings.ReplaceAll(before, "\r", "\n")
	require.Equal(t, 1+strings.Count(before, "\n"), m.Line)
	require.Equal(t, 1+len([]rune(before[strings.LastIndexByte(before, '\n')+1:])), m.Column)

	alone := Parse(m.Text).Markers()
	require.Len(t, alone, 1)
	require.Equal(t, m.Text, alone[0].Text)
	require.Equal(t, m.Expr, alone[0].Expr)
	if m.Err != nil {
		var e, a *Error
		require.ErrorAs(t, m.Err, &e)
		require.ErrorAs(t, alone[0].Err, &a)
		require.Equal(t, e.Message, a.Message)
		require.Nil(t, m.Expr)
		return
	}
	again := Parse(opening + source(m.Expr) + closing).Markers()
	require.Len(t, again, 1)
	require.NoError(t, again[0].Err)
	require.Equal(t, source(m.Expr), source(again[0].Expr))
}

// requireLinear tells that the attempts to read a marker, made at every opening,
// together read a page no more often than parseMarker promises.
func requireLinear(t *testing.T, page string) {
	t.Helper()
	markers, elements := 0, 0
	for i := 0; ; {
		n := strings.Index(page[i:], opening)
		if n < 0 {
			break
		}
		start := i + n
		p := parser{text: page, pos: start + len(opening)}
		_, _ = p.marker()
		markers += p.pos - start
		if end := serverElement(page, start); end >= 0 {
			elements += end - start
		}
		i = start + len(opening)
	}
	assert.LessOrEqual(t, markers, 3*len(page))
	assert.LessOrEqual(t, elements, 4*len(page))
}

// source writes an expression so that it can be read again. A name loses its
// Word.
func source(e Expr) string {
	switch e := e.(type) {
	case Name:
		return path(e.Path)
	case Call:
		args := make([]string, len(e.Args))
		for i, a := range e.Args {
			args[i] = source(a)
		}
		return path(e.Path) + "(" + strings.Join(args, ",") + ")"
	case String:
		return quoted(string(e))
	case Number:
		return strconv.FormatFloat(float64(e), 'g', -1, 64)
	case Bool:
		return strconv.FormatBool(bool(e))
	}
	panic("no such expression")
}

func path(names []string) string {
	var b strings.Builder
	for _, n := range names {
		b.WriteString("[" + quoted(n) + "]")
	}
	return b.String()
}

func quoted(s string) string {
	return `"` + strings.NewReplacer(`"`, `\"`, `\`, `\\`).Replace(s) + `"`
}
