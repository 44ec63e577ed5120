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
		`<!--#if a.b == "x" and not (c < 3 or f(d) ~= nil)-->1<!--#elseif (x)-->2<!--#else-->3<!--#end-->`,
		`<!--#for a in b reverse limit 3--><!--#a.key--><!--#else--><!--#if expr="x"--><!--#else--><!--#endif--><!--#end-->`,
		`<!--#block a--><!--#if (x)--><!--#end--><!--#for x in--><!--#end--><!--#else-->`, `<!--#if (x)--><!--#if (a, b)-->`,
		`<!--#if x--><!--#else--><!--#else--><!--#elseif x--><!--#else if-->`,
	} {
		f.Add(page)
	}
	for _, unit := range units {
		f.Add(strings.Repeat(unit, 5))
	}
	f.Fuzz(func(t *testing.T, page string) {
		p := Parse(page)
		requireKept(t, page, p)
		requirePaired(t, p)
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

	if read, _, _ := parseMarker(m.Text, 0); m.Kind != Insert || read.kind != Insert {
		return // requirePaired
	}
	alone := Parse(m.Text).Markers()
	if m.Expr == nil && len(alone) == 0 {
		return // an else after an else
	}
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
		if _, end := serverElement(page, start); end >= 0 {
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

// requirePaired tells that blocks lie within one another, that their branches end where the next one
// begins, and that each marker that is not left out is met once.
func requirePaired(t *testing.T, p *Page) {
	t.Helper()
	markers := p.Markers()
	var inside func(i, stop int)
	inside = func(i, stop int) {
		for i < stop {
			m := markers[i]
			require.Contains(t, []Kind{Insert, If, For, Block}, m.Kind, m.Text)
			i++
			if m.Kind == Insert {
				continue
			}
			if m.Next == len(markers) {
				require.Error(t, m.Err)
				return
			}
			for b := m; b.Kind != End; b = markers[b.Next] {
				require.Greater(t, b.Next, b.Index)
				require.Less(t, b.Next, stop)
				inside(b.Index+1, b.Next)
				i = b.Next + 1
			}
		}
	}
	inside(0, len(markers))
	all := &everything{}
	require.NoError(t, p.Expand(all))
	require.LessOrEqual(t, all.markers, len(markers))
}

// everything is an Evaluator that goes into every block.
type everything struct{ markers int }

func (a *everything) Text(string)                {}
func (a *everything) Insert(*Marker) error       { a.markers++; return nil }
func (a *everything) Test(*Marker) (bool, error) { a.markers++; return a.markers%2 == 0, nil }
func (a *everything) Each(_ *Marker, body func() error) (bool, error) {
	a.markers++
	return true, body()
}
func (a *everything) Block(_ *Marker, body func() error) error { a.markers++; return body() }
