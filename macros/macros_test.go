package macros

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// name is a name without brackets or blanks.
func name(word string) Name { return Name{Path: strings.Split(word, "."), Word: word} }

func call(word string, args ...Expr) Call {
	return Call{Path: strings.Split(word, "."), Args: args}
}

// evalFunc returns the text that a marker inserts.
type evalFunc func(m *Marker) (string, error)

// writer is an Evaluator that only inserts. Blocks fail.
type writer struct {
	dst  []byte
	eval evalFunc
}

func (w *writer) Text(s string) { w.dst = append(w.dst, s...) }

func (w *writer) Insert(m *Marker) error {
	text, err := w.eval(m)
	if err == nil {
		w.Text(text)
	}
	return err
}

func (w *writer) Test(*Marker) (bool, error)               { return false, ErrFailed }
func (w *writer) Each(*Marker, func() error) (bool, error) { return false, ErrFailed }
func (w *writer) Block(*Marker, func() error) error        { return nil }

// expand appends the expanded page to dst.
func expand(p *Page, dst []byte, eval evalFunc) ([]byte, error) {
	w := writer{dst, eval}
	err := p.Expand(&w)
	return w.dst, err
}

func TestMarkersThatCanBeRead(t *testing.T) {
	odd := Name{Path: []string{"user", "odd name", "x"}}
	for marker, want := range map[string]Expr{
		// the specification, 4.4
		`<!--#referer-->`:                               name("referer"),
		`<!--#clock.now-->`:                             name("clock.now"),
		`<!--#clock.now ()-->`:                          call("clock.now"),
		`<!--#counter(a,b)-->`:                          call("counter", name("a"), name("b")),
		`<!--#counter (a,b)-->`:                         call("counter", name("a"), name("b")),
		`<!--#counter(samples.home,www.example.com)-->`: call("counter", name("samples.home"), name("www.example.com")),

		// blanks and line breaks
		`<!--# referer -->`:               name("referer"),
		"<!--#\r\nreferer\r\n-->":         name("referer"),
		"<!--#\tclock . now\f\v(\r)\n-->": call("clock.now"),
		"<!--#clock.\n  now-->":           Name{Path: []string{"clock", "now"}, Word: "clock. now"},
		"<!--#f( a ,\n\t\"b\" , 3 )-->":   call("f", name("a"), String("b"), Number(3)),
		`<!--#f(user. greeting)-->`:       call("f", Name{Path: []string{"user", "greeting"}, Word: "user. greeting"}),
		"<!--#f(user \t.greeting)-->":     call("f", Name{Path: []string{"user", "greeting"}, Word: "user .greeting"}),

		// names
		`<!--#user.["odd name"].x-->`:     odd,
		`<!--#user["odd name"].x-->`:      odd,
		`<!--#user.['odd name'].x-->`:     odd,
		`<!--#user [ "odd name" ] . x-->`: odd,
		`<!--#["a.b"]-->`:                 Name{Path: []string{"a.b"}},
		`<!--#["a"]["b"] ()-->`:           Call{Path: []string{"a", "b"}},
		`<!--#["-->"]-->`:                 Name{Path: []string{"-->"}},
		`<!--#["say \"x\""]-->`:           Name{Path: []string{`say "x"`}},
		`<!--#my-name_2-->`:               name("my-name_2"),
		`<!--#pages.404-->`:               name("pages.404"),
		`<!--#größe.наука-->`:             name("größe.наука"),
		`<!--#true-->`:                    name("true"),
		`<!--#a--->`:                      name("a-"),

		// quotes
		`<!--#f("a, b) -- c")-->`:                     call("f", String("a, b) -- c")),
		`<!--#f("-->")-->`:                            call("f", String("-->")),
		`<!--#f("<!--#x-->")-->`:                      call("f", String("<!--#x-->")),
		`<!--#f("say \"hi\" -->")-->`:                 call("f", String(`say "hi" -->`)),
		`<!--#f('say "hi"')-->`:                       call("f", String(`say "hi"`)),
		`<!--#f('one " only')-->`:                     call("f", String(`one " only`)),
		`<!--#f('don\'t')-->`:                         call("f", String("don't")),
		`<!--#f("don't")-->`:                          call("f", String("don't")),
		`<!--#f("\\", '\n\r\t')-->`:                   call("f", String(`\`), String("\n\r\t")),
		"<!--#f(\"two\nlines\")-->":                   call("f", String("two\nlines")),
		"<!--#f(\"\x00\xff\")-->":                     call("f", String("\x00\xff")),
		`<!--#f("", '')-->`:                           call("f", String(""), String("")),
		`<!--#f("true", "3")-->`:                      call("f", String("true"), String("3")),
		`<!--#browserFilter(userAgent, !Moz, "x")-->`: call("browserFilter", name("userAgent"), String("!Moz"), String("x")),

		// numbers, booleans, words
		`<!--#f(0, -1, 3.25, .5, 1e3, 2E-2, +7)-->`:   call("f", Number(0), Number(-1), Number(3.25), Number(.5), Number(1000), Number(.02), Number(7)),
		`<!--#f(true, False)-->`:                      call("f", Bool(true), Bool(false)),
		`<!--#f(true.x, ["true"])-->`:                 call("f", name("true.x"), Name{Path: []string{"true"}}),
		`<!--#f(127.0.0.1, 1998-01-21)-->`:            call("f", name("127.0.0.1"), name("1998-01-21")),
		`<!--#f(3d, e5, inf, 1e999)-->`:               call("f", name("3d"), name("e5"), name("inf"), name("1e999")),
		`<!--#f(/sites/home, HD:Web, a@b.c, ../x)-->`: call("f", String("/sites/home"), String("HD:Web"), String("a@b.c"), String("../x")),
		`<!--#f(http://x.org/?a&b#c, index.)-->`:      call("f", String("http://x.org/?a&b#c"), String("index.")),

		// words separated by blanks
		`<!--#counter(home,my site)-->`:                     call("counter", name("home"), String("my site")),
		`<!--#counter(home,Macintosh HD:WebSite:)-->`:       call("counter", name("home"), String("Macintosh HD:WebSite:")),
		"<!--#f( a  b\r\n\tc , d )-->":                      call("f", String("a b c"), name("d")),
		`<!--#f(3 blind mice, 24.12. at night)-->`:          call("f", String("3 blind mice"), String("24.12. at night")),
		`<!--#f(true story, R & D, No. 5 Road, Größe L)-->`: call("f", String("true story"), String("R & D"), String("No. 5 Road"), String("Größe L")),
		`<!--#f(user.greeting too, :a :b, http://x y)-->`:   call("f", String("user.greeting too"), String(":a :b"), String("http://x y")),
		`<!--#f(g(my page), more of it)-->`:                 call("f", call("g", String("my page")), String("more of it")),
		`<!--#f(a b--)-->`:                                  call("f", String("a b--")),

		// nested calls
		`<!--#f(g(h ()), raw (x))-->`: call("f", call("g", call("h")), call("raw", name("x"))),
		`<!--#f(user["g"](1))-->`:     call("f", Call{Path: []string{"user", "g"}, Args: []Expr{Number(1)}}),

		// names of mod_include, not as mod_include has them
		`<!--#set.x-->`:           name("set.x"),
		`<!--#echo (1)-->`:        call("echo", Number(1)),
		`<!--#echo-->`:            name("echo"),
		`<!--#if(a)-->`:           call("if", name("a")),
		`<!--#printenv ()-->`:     call("printenv"),
		`<!--#else.x-->`:          name("else.x"),
		`<!--#includes-->`:        name("includes"),
		`<!--#user.include(x)-->`: call("user.include", name("x")),
	} {
		page := "before\x00" + marker + "\xffafter"
		markers := Parse(page).Markers()
		require.Len(t, markers, 1, marker)
		m := markers[0]
		assert.Equal(t, marker, m.Text)
		assert.NoError(t, m.Err, marker)
		assert.Equal(t, want, m.Expr, marker)
		assert.Equal(t, 7, m.Offset, marker)
	}
}

func TestMarkersThatCannotBeRead(t *testing.T) {
	for _, c := range []struct{ marker, want string }{
		{`<!--#-->`, `column 6: expected a name, found the end of the marker`},
		{`<!--#  -->`, `column 8: expected a name, found the end of the marker`},
		{`<!--#"x"-->`, `column 6: expected a name, found "\""`},
		{`<!--#.x-->`, `column 6: expected a name, found "."`},
		{`<!--#x.-->`, `column 8: expected a name after ".", found the end of the marker`},
		{`<!--#a..b-->`, `column 8: expected a name after ".", found "."`},
		{`<!--#a b-->`, `column 8: expected ".", "(" or "-->" after the name, found "b"`},
		{`<!--#os.execute "x"-->`, `column 17: expected ".", "(" or "-->" after the name, found "\""`},
		{`<!--#a=b-->`, `column 7: expected ".", "(" or "-->" after the name, found "="`},
		{`<!--#don't say-->`, `column 9: expected ".", "(" or "-->" after the name, found "'"`},
		{`<!--#f() g-->`, `column 10: expected "-->" after the call, found "g"`},
		{`<!--#f().x-->`, `column 9: expected "-->" after the call, found "."`},
		{`<!--#f(-->`, `column 8: expected an argument, found the end of the marker`},
		{`<!--#f(a-->`, `column 9: expected "," or ")" after the argument, found the end of the marker`},
		{`<!--#f(a,)-->`, `column 10: expected an argument, found ")"`},
		{`<!--#f(,a)-->`, `column 8: expected an argument, found ","`},
		{`<!--#f(my page-->`, `column 11: expected "," or ")" after the argument, found "page"`},
		{`<!--#f(my "page")-->`, `column 11: expected "," or ")" after the argument, found "\""`},
		{`<!--#f("my" page)-->`, `column 13: expected "," or ")" after the argument, found "page"`},
		{`<!--#f(the boy's)-->`, `column 12: expected "," or ")" after the argument, found "boy"`},
		{`<!--#f(my page (old))-->`, `column 11: expected "," or ")" after the argument, found "page"`},
		{`<!--#f(my ["page"] x)-->`, `column 20: expected "," or ")" after the argument, found "x"`},
		{`<!--#f(n - 1)-->`, `column 10: expected "," or ")" after the argument, found "-"`},
		{`<!--#f(a .. b)-->`, `column 11: expected a name after ".", found "."`},
		{`<!--#f(a / b % c)-->`, `column 10: expected "," or ")" after the argument, found "/"`},
		{`<!--#f(1 2)-->`, `column 10: expected "," or ")" after the argument, found "2"`},
		{`<!--#f(1+2)-->`, `column 9: expected "," or ")" after the argument, found "+"`},
		{`<!--#f("a".."b")-->`, `column 11: expected "," or ")" after the argument, found "."`},
		{`<!--#f(function() end)-->`, `column 19: expected "," or ")" after the argument, found "end"`},
		{`<!--#f(user.)x(b)-->`, `column 14: expected "-->" after the call, found "x"`},
		{`<!--#f(user. )-->`, `column 14: expected a name after ".", found ")"`},
		{`<!--#user.[x]-->`, `column 12: expected a name in quotes after "[", found "x"`},
		{`<!--#user.[""]-->`, `column 12: expected a name in quotes, found empty quotes`},
		{`<!--#user.["x"-->`, `column 15: expected "]" after the quotes, found the end of the marker`},
		{`<!--#f("C:\web")-->`, `column 12: expected one of " ' \ n r t after a backslash, found "web"`},
		{`<!--#f('a-->`, `column 8: expected another ' to close this one, found the end of the marker`},
		{`<!--#f('a\-->`, `column 8: expected another ' to close this one, found the end of the marker`},
		{`<!--#f("a)-->`, `column 8: expected another " to close this one, found the end of the marker`},
		{`<!--#f("a\-->`, `column 8: expected another " to close this one, found the end of the marker`},
		{`<!--#["a-->`, `column 7: expected another " to close this one, found the end of the marker`},
		{`<!--#a "b --> c"-->`, `column 8: expected ".", "(" or "-->" after the name, found "\""`},
		{`<!--#a "b \" --> c"-->`, `column 8: expected ".", "(" or "-->" after the name, found "\""`},
		{`<!--#a 'b " \-->`, `column 8: expected ".", "(" or "-->" after the name, found "'"`},
		{`<!--#a 'b\'c " d'-->`, `column 8: expected ".", "(" or "-->" after the name, found "'"`},
		{`<!--#f(a<b)-->`, `column 9: expected "," or ")" after the argument, found "<"`},
		{`<!--#f(/x["y"])-->`, `column 8: expected a name, found "/"`},
		{`<!--#f() ` + strings.Repeat("é", 5) + `-->`, `column 10: expected "-->" after the call, found "ééééé"`},
		{`<!--#f() a` + strings.Repeat("é", 20) + `-->`, `column 10: expected "-->" after the call, found "a` + strings.Repeat("é", 11) + `"`},
		{"<!--#\x01-->", `column 6: expected a name, found "\x01"`},
	} {
		markers := Parse("\nbefore" + c.marker + "after").Markers()
		require.Len(t, markers, 1, c.marker)
		m := markers[0]
		assert.Equal(t, c.marker, m.Text)
		assert.Nil(t, m.Expr, c.marker)
		var e *Error
		require.ErrorAs(t, m.Err, &e, c.marker)
		assert.Equal(t, 2, e.Line)
		e.Column -= len("before") // the table counts from the marker's start
		assert.Equal(t, "line 2, "+c.want, e.Error())
	}
}

func TestLiteralText(t *testing.T) {
	for _, page := range []string{
		"", "plain", "<!-- comment -->", "<!--", "<!-- #x-->", "<!#x-->", "--> <!--", "\x00\xff\xfe\r",
		// never ended
		"<!--#", "<!--#x", "<!--#x--", "<!--#f(\"a", "<!--#f('a", "<!--#x <!--#y", `<!--#f("\`, "<!--#f('\\", "<!--#echo var=", "<!--#echo var=\"\\",
		// mod_include's own
		`<!--#include virtual="/head.html" -->`, `<!--#include file='x'-->`, `<!--#INCLUDE VIRTUAL="/x"-->`,
		`<!--#echo var="DATE_LOCAL" -->`, `<!--#echo encoding="none" var="X"-->`, `<!--#echo var=X-->`, `<!--# echo var = X -->`,
		`<!--#set var="a" value="-->"-->`, `<!--#set var="a" value="\"-->"-->`, "<!--#set var=`a` value=`\"`-->",
		`<!--#if expr="$a = /b/" -->x<!--#elif expr="1" -->y<!--#else -->z<!--#endif -->`, `<!--#else-->`, `<!--#endif-->`,
		`<!--#exec cgi="/cgi-bin/x" -->`, `<!--#config timefmt="%D"-->`, `<!--#flastmod file="x"-->`, `<!--#fsize virtual="x"-->`,
		`<!--#printenv -->`, `<!--#printenv-->`,
		`<!--#echo var="<!--#referer-->"-->`,
		"<!--#include\n virtual=\"/x\"\n\tfile=\"y\"\n-->",
	} {
		p := Parse(page)
		assert.Empty(t, p.Markers(), page)
		got, err := expand(p, nil, nil)
		require.NoError(t, err)
		assert.Equal(t, page, string(got))
	}
}

// What is not quite mod_include's is a marker, and one that cannot be read.
func TestAlmostModInclude(t *testing.T) {
	for _, page := range []string{`<!--#include virtual -->`, `<!--#echo var= -->`, `<!--#echo ="x"-->`, `<!--#echovar="x"-->`, `<!--#echo var="x"y-->`, `<!--#else x-->`} {
		markers := Parse(page).Markers()
		require.Len(t, markers, 1, page)
		assert.Equal(t, page, markers[0].Text)
		assert.Error(t, markers[0].Err, page)
	}
}

// A mistake in one marker must not cost the page more than that marker.
func TestDamageIsContained(t *testing.T) {
	for page, want := range map[string][]string{
		`<!--#f("a)--> <a href="x">y</a> <!-- c --> <!--#g-->`: {`<!--#f("a)-->`, `<!--#g-->`},
		`<!--#f("a)--> it's <!--#g("b")-->`:                    {`<!--#f("a)-->`, `<!--#g("b")-->`},
		`<!--#f('a-->b')-->`:                                   {`<!--#f('a-->`},
		`<!--#f <!--#g-->`:                                     {`<!--#g-->`},
		`<!--#f("a" <!--#g-->`:                                 {`<!--#g-->`},
		`<!--#f("a <!--#g-->`:                                  {`<!--#f("a <!--#g-->`},
		`<!--#f('a <!--#g-->`:                                  {`<!--#f('a <!--#g-->`},
		`<!--#x"<p>--> <!--#g-->`:                              {`<!--#x"<p>-->`, `<!--#g-->`},
		`<!--#a --> " --> <!--#g-->`:                           {`<!--#a -->`, `<!--#g-->`},
		`<!--#echo var="a --> <!--#g-->`:                       {`<!--#echo var="a -->`, `<!--#g-->`},
		`<!--#<!--#<!--#g-->-->`:                               {`<!--#g-->`},
	} {
		var got []string
		for _, m := range Parse(page).Markers() {
			got = append(got, m.Text)
		}
		assert.Equal(t, want, got, page)
	}
}

func TestPositions(t *testing.T) {
	type place struct{ Offset, Line, Column int }
	page := "<!--#a-->é<!--#b-->\n" + // é is one character of two bytes
		"\xff\xfe<!--#c-->\r\n" + // two bytes that are none
		"\t<!--#d-->\r" + // the classic Macintosh's line end
		"<!--#e\n\n-->x<!--#f-->\n\r\n" +
		"日本<!--#g-->"
	var got []place
	for _, m := range Parse(page).Markers() {
		assert.Equal(t, m.Text, page[m.Offset:m.Offset+len(m.Text)])
		got = append(got, place{m.Offset, m.Line, m.Column})
	}
	assert.Equal(t, []place{{0, 1, 1}, {11, 1, 11}, {23, 2, 3}, {35, 3, 2}, {45, 4, 1}, {57, 6, 5}, {75, 8, 3}}, got)
}

func TestErrorPosition(t *testing.T) {
	m := Parse("<p>\r\n日本<!--#f(\r\"é\",\n  \"ü\" x)-->").Markers()[0]
	assert.Equal(t, 2, m.Line)
	assert.Equal(t, 3, m.Column)
	assert.Equal(t, &Error{Line: 4, Column: 7, Message: `expected "," or ")" after the argument, found "x"`}, m.Err)
}

func TestDepth(t *testing.T) {
	nested := func(n int) string {
		return opening + strings.Repeat("f(", n) + "x" + strings.Repeat(")", n) + closing
	}
	m := Parse(nested(maxDepth)).Markers()[0]
	require.NoError(t, m.Err)
	depth := 0
	for e := m.Expr; ; depth++ {
		c, ok := e.(Call)
		if !ok {
			break
		}
		require.Len(t, c.Args, 1)
		e = c.Args[0]
	}
	assert.Equal(t, maxDepth, depth)

	page := nested(maxDepth+1) + "<!--#next-->"
	markers := Parse(page).Markers()
	require.Len(t, markers, 2)
	assert.EqualError(t, markers[0].Err, "line 1, column 207: calls are nested more than 100 deep")
	assert.Equal(t, nested(maxDepth+1), markers[0].Text)

	deep := Parse(nested(1_000_000)).Markers()
	require.Len(t, deep, 1)
	assert.Error(t, deep[0].Err)
}

func TestExpand(t *testing.T) {
	p := Parse("\x00<!--#a-->|<!--#b-->|<!--#a-->\xff")
	values := map[string]string{"a": "<!--#b-->", "b": ""}
	got, err := expand(p, []byte("kept"), func(m *Marker) (string, error) {
		return values[m.Expr.(Name).Word], nil
	})
	require.NoError(t, err)
	assert.Equal(t, "kept\x00<!--#b-->||<!--#b-->\xff", string(got))
	assert.Equal(t, 31, p.Len())
}

func TestExpandStopsAtAnError(t *testing.T) {
	boom := errors.New("boom")
	got, err := expand(Parse("1<!--#a-->2<!--#b-->3<!--#c-->"), nil, func(m *Marker) (string, error) {
		if m.Expr.(Name).Word == "b" {
			return "never seen", boom
		}
		return "A", nil
	})
	assert.Same(t, boom, err)
	assert.Equal(t, "1A2", string(got))
}

func TestExpandAllocatesOnce(t *testing.T) {
	p := Parse(strings.Repeat("text <!--#user.greeting--> text <!--#f(1)-->", 50))
	w := writer{make([]byte, 0, 2*p.Len()), func(*Marker) (string, error) { return "hello", nil }}
	assert.LessOrEqual(t, testing.AllocsPerRun(100, func() {
		w.dst = w.dst[:0]
		_ = p.Expand(&w)
	}), 1.0)
}

// units are pieces of pages that, repeated, would take a careless parser time
// that grows with the square of their number.
var units = []string{
	`<!--#`, `<!--#a`, `<!--# `, `<!--#f(`, `<!--#f("`, `<!--#f('`, `<!--#f("a",`, `<!--#f("",'`, `<!--#f('",`, `<!--#f(",'`,
	`<!--#f("'","`, `<!--#f('",',"`, `<!--#f("-->"`, `<!--#["`, `<!--#["\`, `<!--#f('\`, `<!--#f("\"`, `<!--#f(f(f(`, `f(`, `-->`, `"`, `<!--#'-->"`, `<!--#"-->"`,
	`<!--#echo var="`, `<!--#echo var='`, "<!--#echo var=`", "<!--#echo a='\"` b=", "<!--#echo a=\" b=' c=` ", `<!--#if a=b `, `<!--#echo `,
	`<!--#if a < `, `<!--#if (`, `<!--#if (a,"`, `<!--#if not `, `<!--#for a in b("`, `<!--#if expr="`, `<!--#if a == '`,
}

func TestLinearSteps(t *testing.T) {
	for _, unit := range units {
		for _, before := range []string{"", `<!--#f(`, `<!--#f("`, `<!--#f('`, `<!--#echo a="`} {
			page := before + strings.Repeat(unit, 300)
			requireLinear(t, page)
			requireKept(t, page, Parse(page))
		}
	}
}

func TestUnfinishedOpenings(t *testing.T) {
	for _, unit := range []string{`<!--#`, `<!--#f("`, `<!--#f("'"," `, `<!--#echo a='" `} {
		page := strings.Repeat(unit, 400_000)
		start := time.Now()
		p := Parse(page)
		// Some 0.1 s; the square of 400,000 steps takes many minutes.
		require.Less(t, time.Since(start), 30*time.Second, unit)
		assert.Empty(t, p.Markers(), unit)
	}
}

// requireKept tells that the page consists of its markers and unchanged text, if it has no blocks.
func requireKept(t *testing.T, page string, p *Page) {
	t.Helper()
	end := 0
	for _, m := range p.Markers() {
		require.GreaterOrEqual(t, m.Offset, end)
		end = m.Offset + len(m.Text)
	}
	if slices.ContainsFunc(p.Markers(), func(m *Marker) bool { return m.Kind != Insert }) {
		return
	}
	got, err := expand(p, nil, func(m *Marker) (string, error) { return m.Text, nil })
	require.NoError(t, err)
	require.True(t, page == string(got), "page changed")
}

// A page with more markers than a Page stores is expanded like any other, and again.
func TestVeryManyMarkers(t *testing.T) {
	const n = 25_000
	var page, want strings.Builder
	for i := range n {
		fmt.Fprintf(&page, "é<!--#m%d--><!--#f (-->\n", i)
		fmt.Fprintf(&want, "é[%d %d:2]{%d:%d}\n", 2*i, i+1, 2*i+1, i+1)
	}
	p := Parse(page.String() + "end")
	ev := func(m *Marker) (string, error) {
		if m.Err != nil {
			return fmt.Sprintf("{%d:%d}", m.Index, m.Line), nil
		}
		return fmt.Sprintf("[%d %d:%d]", m.Index, m.Line, m.Column), nil
	}
	assert.Len(t, p.Markers(), maxMarkers)
	for range 2 {
		out, err := expand(p, nil, ev)
		require.NoError(t, err)
		assert.True(t, want.String()+"end" == string(out))
	}
	stop := errors.New("stop")
	out, err := expand(p, nil, func(m *Marker) (string, error) {
		if m.Index == maxMarkers+1 {
			return "", stop
		}
		return "", nil
	})
	assert.Equal(t, stop, err)
	assert.Equal(t, maxMarkers/2+1, strings.Count(string(out), "é"), "what was expanded before it")
}

// What takes many times the memory of its text is refused.
func TestLongMarkers(t *testing.T) {
	for _, c := range []struct{ marker, want string }{
		{"<!--#a" + strings.Repeat(".a", maxParts-1) + "-->", ""},
		{"<!--#a" + strings.Repeat(".a", maxParts) + "-->", "the name has more than 1000 parts"},
		{"<!--#a" + strings.Repeat(`["a"]`, maxParts) + "-->", "the name has more than 1000 parts"},
		{"<!--#f(1" + strings.Repeat(",1", maxParts-1) + ")-->", ""},
		{"<!--#f(1" + strings.Repeat(",1", maxParts) + ")-->", "the call has more than 1000 arguments"},
		{"<!--#f(" + strings.Repeat("a.", maxParts) + "a)-->", "the name has more than 1000 parts"},
	} {
		p := Parse("x" + c.marker + "y<!--#next-->")
		require.Len(t, p.Markers(), 2)
		if m := p.Markers()[0]; c.want == "" {
			assert.NoError(t, m.Err)
		} else {
			assert.ErrorContains(t, m.Err, c.want)
		}
	}
}
