package macros

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// blocks is an Evaluator that knows the names yes and no, and loops over as many items as the loop's
// limit says. What fails is written in brackets.
type blocks struct {
	strings.Builder
	items []string
}

func (b *blocks) Text(s string) { b.WriteString(s) }

func (b *blocks) Insert(m *Marker) error {
	if m.Err != nil {
		fmt.Fprintf(b, "[%v]", m.Err)
		return nil
	}
	if name, ok := m.Expr.(Name); ok && len(b.items) > 0 && name.Word == "x" {
		b.WriteString(b.items[len(b.items)-1])
		return nil
	}
	b.WriteString("{" + strings.TrimSuffix(strings.TrimPrefix(m.Text, opening), closing) + "}")
	return nil
}

func (b *blocks) Test(m *Marker) (bool, error) {
	if m.Err != nil {
		return false, b.fail(m)
	}
	name, ok := m.Expr.(Name)
	return ok && name.Word == "yes", nil
}

func (b *blocks) fail(m *Marker) error {
	_ = b.Insert(m)
	return ErrFailed
}

func (b *blocks) Each(m *Marker, body func() error) (bool, error) {
	if m.Err != nil {
		return false, b.fail(m)
	}
	n := int(m.Expr.(Loop).Limit.(Number))
	for i := range n {
		b.items = append(b.items, fmt.Sprint(i+1))
		err := body()
		b.items = b.items[:len(b.items)-1]
		if err != nil {
			return true, err
		}
	}
	return n > 0, nil
}

func (b *blocks) Block(m *Marker, body func() error) error {
	if m.Err != nil {
		_ = b.fail(m)
		return nil
	}
	b.WriteString("(" + string(m.Expr.(Title)) + ":")
	defer b.WriteString(")")
	return body()
}

func TestBlocks(t *testing.T) {
	for page, want := range map[string]string{
		`a<!--#if yes-->b<!--#end-->c`:                                                                   "abc",
		`a<!--#if no-->b<!--#end-->c`:                                                                    "ac",
		`a<!--#IF no-->b<!--#Else-->c<!--#END-->d`:                                                       "acd",
		`<!--#if no-->1<!--#elseif yes-->2<!--#elseif yes-->3<!--#else-->4<!--#end-->`:                   "2",
		`<!--#if no-->1<!--#elseif no-->2<!--#else-->4<!--#end-->`:                                       "4",
		`<!--#if yes--><!--#if no-->1<!--#else-->2<!--#end-->3<!--#else-->4<!--#end-->`:                  "23",
		`<!--#for x in l limit 3--><!--#x-->,<!--#end-->.`:                                               "1,2,3,.",
		`<!--#for x in l limit 0--><!--#x-->,<!--#else-->none<!--#end-->.`:                               "none.",
		`<!--#for x in l limit 2--><!--#x-->,<!--#else-->none<!--#end-->.`:                               "1,2,.",
		`<!--#for x in l limit 2--><!--#for x in m limit 2--><!--#x--><!--#end-->;<!--#x-->|<!--#end-->`: "12;1|12;2|",
		`<!--#block title-->T<!--#if yes-->!<!--#end--><!--#end-->`:                                      "(title:T!)",

		// Outside of blocks end and else are what they were, and if (x) without an end is a call.
		`<!--#end-->`:                             "{end}",
		`<!--#else--><!--#endif-->`:               `<!--#else--><!--#endif-->`,
		`a<!--#if (x)-->b`:                        "a{if (x)}b",
		`<!--#if(a, b)-->b<!--#end-->`:            "{if(a, b)}b{end}",
		`<!--#elseif (x)-->`:                      "{elseif (x)}",
		`<!--#if (yes)-->b<!--#end-->`:            "b",
		`<!--#if yes--><!--#if (x)--><!--#end-->`: "[line 1, column 1: it has no <!--#end-->]",
		`<!--#for--><!--#block (x)--><!--#if.x--><!--#if ["x"]--><!--#block-->`: `{for}{block (x)}{if.x}{if ["x"]}{block}`,
		`<!--#block x--><!--#else--><!--#end-->`:                                "(x:<!--#else-->)",

		// mod_include's own if within one of ours, and around it
		`<!--#if yes--><!--#if expr="x"-->a<!--#else-->b<!--#endif--><!--#else-->c<!--#end-->`: `<!--#if expr="x"-->a<!--#else-->b<!--#endif-->`,
		`<!--#if expr="x"--><!--#if no-->a<!--#else-->b<!--#end--><!--#else-->c<!--#endif-->`:  `<!--#if expr="x"-->b<!--#else-->c<!--#endif-->`,
		`<!--#if yes--><!--#if expr="x"-->a<!--#end-->b`:                                       `<!--#if expr="x"-->ab`,

		// mistakes
		`a<!--#if yes-->b`:                                                    "a[line 1, column 2: it has no <!--#end-->]",
		`a<!--#if no.-->b<!--#else-->c<!--#end-->d`:                           `a[line 1, column 13: expected a name after ".", found the end of the marker]d`,
		`a<!--#for x of y-->b<!--#else-->c<!--#end-->d`:                       `a[line 1, column 13: expected "in" after the name of the items, found "of"]d`,
		`<!--#if no-->a<!--#elseif = 1-->b<!--#end-->`:                        "",
		`<!--#if no-->a<!--#else if yes-->b<!--#else-->c<!--#end-->`:          "[line 1, column 20: else if is written elseif]",
		`<!--#elseif yes-->`:                                                  "[line 1, column 1: there is no if that this elseif could belong to]",
		`<!--#if no--><!--#else-->a<!--#else-->b<!--#elseif x-->c<!--#end-->`: "a[line 1, column 27: no branch may follow the else]b[line 1, column 40: no branch may follow the else]c",
		`<!--#for x in l limit 1-->a<!--#elseif yes-->b<!--#end-->`:           "a[line 1, column 28: there is no if that this elseif could belong to]b",
		`<!--#block a b-->x<!--#end-->y`:                                      `[line 1, column 14: expected "-->" after the block, found "b"]y`,
	} {
		b := &blocks{}
		require.NoError(t, Parse(page).Expand(b))
		assert.Equal(t, want, b.String(), page)
		requirePaired(t, Parse(page))
	}
}

func TestConditions(t *testing.T) {
	and := func(x, y Expr) Expr { return Operation{"and", x, y} }
	or := func(x, y Expr) Expr { return Operation{"or", x, y} }
	a, b, c := name("a"), name("b"), name("c")
	for text, want := range map[string]Expr{
		`a`: a, `user.["odd name"]`: Name{Path: []string{"user", "odd name"}}, `"x"`: String("x"), `'x'`: String("x"),
		`not a`: Not{a}, `NOT not a`: Not{Not{a}}, `not (a)`: Not{a}, `a and b`: and(a, b),
		`a or b and c`: or(a, and(b, c)), `(a or b) and c`: and(or(a, b), c), `a and b and c`: and(and(a, b), c),
		`not a and b`: and(Not{a}, b), `not a == b`: Not{Operation{"==", a, b}},
		`a == "x"`: Operation{"==", a, String("x")}, `a=="-->"`: Operation{"==", a, String("-->")},
		`a ~= nil`: Operation{"~=", a, Nil{}}, `a != true`: Operation{"~=", a, Bool(true)},
		`a<3`: Operation{"<", a, Number(3)}, `a <= -3.5`: Operation{"<=", a, Number(-3.5)},
		`a>b`: Operation{">", a, b}, `2 >= a`: Operation{">=", Number(2), a},
		`f(a, my page) == 1`: Operation{"==", call("f", a, String("my page")), Number(1)},
		`a.nil`:              name("a.nil"), `android`: name("android"), `a == (b)`: Operation{"==", a, b},
		"a\r\n\tand\nb": and(a, b),
	} {
		m := Parse(opening + "if " + text + closing + "<!--#end-->").Markers()[0]
		require.NoError(t, m.Err, text)
		assert.Equal(t, If, m.Kind, text)
		assert.Equal(t, want, m.Expr, text)
	}
	for text, want := range map[string]string{
		`a = b`:                             `a comparison is written "=="`,
		`a ==`:                              `expected a name, a number or a text in quotes, found the end of the marker`,
		`a b`:                               `expected "-->" after the condition, found "b"`,
		`a == b c`:                          `expected "-->" after the condition, found "c"`,
		`a < b < c`:                         `expected "-->" after the condition, found "<"`,
		`a and`:                             `expected a name, a number or a text in quotes, found the end of the marker`,
		`a + 1`:                             `expected "-->" after the condition, found "+"`,
		`not (a`:                            `expected ")" after the condition, found the end of the marker`,
		`a == "x`:                           `expected another " to close this one, found the end of the marker`,
		`a == {}`:                           `expected a name, a number or a text in quotes, found "{"`,
		strings.Repeat("not ", 200) + "a":   "the condition is nested more than 100 deep",
		strings.Repeat("(", 200) + "a":      "the condition is nested more than 100 deep",
		"a" + strings.Repeat(" or a", 2000): "the condition has more than 1000 parts",
	} {
		m := Parse(opening + "if " + text + closing + "<!--#end-->").Markers()[0]
		assert.ErrorContains(t, m.Err, want, text)
		assert.Equal(t, If, m.Kind, text)
	}
}

func TestLoops(t *testing.T) {
	list := name("user.list")
	for text, want := range map[string]Loop{
		`x in user.list`:                   {Var: "x", In: list},
		"entry\n in user.list reverse":     {Var: "entry", In: list, Reverse: true},
		`x IN user.list limit 5`:           {Var: "x", In: list, Limit: Number(5)},
		`x in user.list limit n reverse`:   {Var: "x", In: list, Limit: name("n"), Reverse: true},
		`x in user.list reverse limit f()`: {Var: "x", In: list, Limit: call("f"), Reverse: true},
		`x in f("a")`:                      {Var: "x", In: call("f", String("a"))},
	} {
		m := Parse(opening + "for " + text + closing + "<!--#end-->").Markers()[0]
		require.NoError(t, m.Err, text)
		assert.Equal(t, want, m.Expr, text)
	}
	for text, want := range map[string]string{
		`in user.list`:           `expected a name for the items, found "in"`,
		`x in`:                   `expected the name of a table, found the end of the marker`,
		`x in "a"`:               `expected the name of a table, found "\""`,
		`x in a limit`:           `expected a number, found the end of the marker`,
		`x in a reverse reverse`: `expected "reverse", "limit" or "-->" after the table, found "reverse"`,
		`x, y in a`:              `expected "in" after the name of the items, found ","`,
	} {
		m := Parse(opening + "for " + text + closing + "<!--#end-->").Markers()[0]
		assert.ErrorContains(t, m.Err, want, text)
	}
}

// Blocks are bounded in depth, and must end among the markers that a page stores.
func TestManyBlocks(t *testing.T) {
	deep := &blocks{}
	require.NoError(t, Parse(strings.Repeat("<!--#if yes-->a", 150)+strings.Repeat("<!--#end-->b", 150)).Expand(deep))
	assert.Equal(t, strings.Repeat("a", 100)+"[line 1, column 1501: blocks are nested more than 100 deep]"+strings.Repeat("b", 101),
		deep.String())

	many := &blocks{}
	require.NoError(t, Parse("<!--#if yes-->"+strings.Repeat("<!--#x-->", maxMarkers)+"<!--#end-->c").Expand(many))
	assert.Equal(t, "[line 1, column 1: it has no <!--#end-->]", many.String())

	late := &blocks{}
	require.NoError(t, Parse(strings.Repeat("<!--#x-->", maxMarkers)+"<!--#if yes-->a<!--#end-->").Expand(late))
	assert.Contains(t, late.String(), "blocks must end among the first 10,000 markers of a page]a")
}
