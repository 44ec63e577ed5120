package lua

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestCheck(t *testing.T) {
	require.NoError(t, Check("user.ok", "local a = 1 return a", 0))
	require.NoError(t, Check("user.empty", "", 0))
	for source, want := range map[string]*SyntaxError{
		"x = = 1":                           {Line: 1, Column: 5, Near: "=", Message: "unexpected symbol"},
		"\n\nlocal 5":                       {Line: 3, Column: 7, Near: "5", Message: "'<name>' expected"},
		"if x then\n":                       {Line: 2, Column: 1, Near: "<eof>", Message: "'end' expected (to close 'if' at line 1)"},
		"goto done ::done::":                {Line: 1, Column: 1, Near: "goto", Message: "goto and labels are not part of Lua 5.1"},
		"\nbreak":                           {Line: 2, Column: 6, Near: "<eof>", Message: "no loop to break"},
		"return 0x":                         {Line: 1, Column: 8, Near: "0x", Message: "malformed number"},
		"\nreturn 1e":                       {Line: 2, Column: 8, Near: "1e", Message: "malformed number"},
		"x = 'open":                         {Line: 1, Column: 5, Near: "<eof>", Message: "unfinished string"},
		"x = 'open\\\nstill\nand":           {Line: 2, Near: "'open\nstill", Message: "unfinished string"},
		"return function() return ... end":  {Line: 1, Column: 26, Near: "...", Message: "cannot use '...' outside a vararg function"},
		"if a then break end break":         {Line: 1, Column: 17, Near: "end", Message: "no loop to break"},
		"f\n(x)":                            {Line: 2, Column: 1, Near: "(", Message: "ambiguous syntax (function call x new statement)"},
		"x = 'a\\400'":                      {Line: 1, Column: 5, Near: "'a", Message: "escape sequence too large"},
		"x = [[a[[b]]":                      {Line: 1, Column: 5, Near: "[", Message: "nesting of [[...]] is deprecated"},
		"x = é":                             {Line: 1, Column: 5, Near: "é", Message: "unexpected symbol"},
		"while x do\nif x then break\nif y": {Line: 3, Column: 1, Near: "if", Message: "'end' expected (to close 'if' at line 2)"},
		"x = 1;;":                           {Line: 1, Column: 7, Near: ";", Message: "unexpected symbol"},
		"x = \x00":                          {Line: 1, Column: 5, Message: "unexpected symbol"},
	} {
		err := Check("user.bad", source, 0)
		var got *SyntaxError
		require.ErrorAs(t, err, &got, source)
		want.Name, want.Source = "user.bad", SourceLine(source, want.Line)
		assert.Equal(t, want, got, source)
	}
}

func TestSyntaxErrorText(t *testing.T) {
	assert.EqualError(t, Check("user.hello", "x = = 1", 0), "user.hello:1: unexpected symbol near '='")
	assert.EqualError(t, Check("user.hello", "break", 0), "user.hello:1: no loop to break near '<eof>'")
}

// numbered repeats a piece with a number in it.
func numbered(n int, piece string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.ReplaceAll(piece, "#", strconv.Itoa(i)))
	}
	return b.String()
}

// These sources would cost the parser or the compiler much time or memory, or would be
// translated wrongly.
func TestCheckRefuses(t *testing.T) {
	for name, c := range map[string]struct{ source, why string }{
		"long":          {strings.Repeat("x = 1 ", 50_000), "source is longer than 262144 bytes"},
		"parentheses":   {"return " + strings.Repeat("(", 100_000), "too many syntax levels"},
		"braces":        {"return " + strings.Repeat("{", 100_000), "too many syntax levels"},
		"brackets":      {"return " + strings.Repeat("a[", 100_000), "too many syntax levels"},
		"calls":         {"return " + strings.Repeat("f(", 100_000), "too many syntax levels"},
		"blocks":        {strings.Repeat("do ", 80_000), "too many syntax levels"},
		"functions":     {strings.Repeat("function f() ", 15_000), "too many syntax levels"},
		"not":           {"return " + strings.Repeat("not ", 60_000) + "x", "too many syntax levels"},
		"minus":         {"return " + strings.Repeat("- ", 100_000) + "x", "too many syntax levels"},
		"power":         {"return " + strings.Repeat("x^", 100_000) + "x", "too many syntax levels"},
		"concat":        {"return " + strings.Repeat("x..", 80_000) + "x", "too many syntax levels"},
		"sum":           {"return " + strings.Repeat("x+", 100_000) + "x", "too many syntax levels"},
		"or":            {"return " + strings.Repeat("x or ", 50_000) + "x", "too many syntax levels"},
		"call chain":    {"return f" + strings.Repeat("()", 100_000), "too many syntax levels"},
		"nested ifs":    {strings.Repeat("if x then ", 20_000), "too many syntax levels"},
		"constants":     {"return {" + numbered(20_000, "'k#',") + "}", "too many constants"},
		"items":         {"return {" + strings.Repeat("1,", 26_000) + "}", "table constructor has more than 25550 items"},
		"locals":        {numbered(300, "local a# "), "main function has more than 200 local variables"},
		"upvalues":      {numbered(100, "local a# ") + "return function() return " + numbered(100, "a#,") + "1 end", "function at line 1 has more than 60 upvalues"},
		"arguments":     {"f(" + strings.Repeat("x,", 300) + "x)", "function or expression too complex"},
		"targets":       {strings.Repeat("a,", 200) + "a = 1", "main function has more than 197 variables in assignment"},
		"elseif":        {"if a then " + strings.Repeat("elseif a then ", 15_000) + "end", "too complex"},
		"visible names": {strings.Repeat("return function() "+numbered(190, "local a# "), 90) + strings.Repeat("x=y ", 10_000) + strings.Repeat(" end", 90), "too complex"},
	} {
		t.Run(name, func(t *testing.T) {
			var err error
			const most = 2 * time.Second
			assert.Less(t, quickest(most, func() { err = Check("test", c.source, 0) }), most)
			var syntax *SyntaxError
			require.ErrorAs(t, err, &syntax)
			assert.Contains(t, syntax.Message, c.why)
		})
	}
}

// Sources that are large but within the limits compile quickly.
func TestCheckAccepts(t *testing.T) {
	for name, source := range map[string]string{
		"statements":    strings.Repeat("x = x + 1 ", 25_000),
		"levels":        "return " + strings.Repeat("(", 150) + "1" + strings.Repeat(")", 150),
		"sum":           "return " + strings.Repeat("x+", 900) + "x",
		"concat":        "return " + strings.Repeat("x..", 180) + "x",
		"elseif":        "if a then " + strings.Repeat("elseif a then x = 1 ", 1000) + "end",
		"constants":     "return {" + numbered(3900, "'k#',") + "}",
		"items":         "return {" + strings.Repeat("1,", 25_000) + "}",
		"locals":        numbered(190, "local a# = 1 "),
		"assignments":   numbered(2000, "a, b = b, a "),
		"chain":         "return x" + strings.Repeat(":f()", 500),
		"long string":   "return '" + strings.Repeat("(", 100_000) + "'",
		"long comment":  "--[==[" + strings.Repeat("(", 100_000) + "]==] return 1 -- ((((",
		"long brackets": "return [[" + strings.Repeat("{[(", 50_000) + "]]",
	} {
		t.Run(name, func(t *testing.T) {
			const most = 2 * time.Second
			assert.Less(t, quickest(most, func() { assert.NoError(t, Check("test", source, 0)) }), most)
		})
	}
}

// The prototype knows the lines of the source and nothing of the normaliser.
func TestPositions(t *testing.T) {
	s := newSandbox(t, Limits{})
	_, err := s.run("local t = {}\nlocal function f()\n  return t.a.b\nend\n\nlocal x =\n  f()\nreturn x")
	require.Error(t, err)
	assert.Equal(t, "test:3: attempt to index field 'a' (a nil value)", errorText(err))
}

func TestTraceback(t *testing.T) {
	proto, err := Compile("user.page", `
local function inner(t)
  return t.a.b
end
local function middle()
  local r = inner({})
  return r
end
local c = coroutine.wrap(function() middle() end)
table.sort({1, 2}, function() c() end)`)
	require.NoError(t, err)
	s := newSandbox(t, Limits{})
	_, frames, err := invoke(s.L, s.L.NewFunctionFromProto(proto))
	require.Error(t, err)
	assert.Equal(t, []Frame{
		{Source: "user.page", Line: 3, Function: "inner"},
		{Source: "user.page", Line: 6, Function: "middle"},
		{Source: "user.page", Line: 9},
		{Function: "c"},
		{Source: "user.page", Line: 10},
		{Function: "sort"},
		{Source: "user.page", Line: 10},
	}, frames)
}

func TestTracebackOfTheDeadline(t *testing.T) {
	proto, err := Compile("user.loop", "local function spin()\n  while true do end\nend\npcall(spin)")
	require.NoError(t, err)
	s := newSandbox(t, Limits{Instructions: 1000})
	_, frames, err := invoke(s.L, s.L.NewFunctionFromProto(proto))
	assert.Equal(t, "instructions", LimitName(err))
	require.NotEmpty(t, frames)
	assert.Equal(t, Frame{Source: "user.loop", Line: 2}, frames[0])
}

// TestConstructorItems compares constructors with assignments one by one.
func TestConstructorItems(t *testing.T) {
	for _, n := range []int{0, 1, 2, 49, 50, 51, 99, 100, 101, 150} {
		for _, last := range []string{"three ()", "(three ())", "x = three ()", "one ()"} {
			fields, assignments := "", ""
			for i := range n {
				fields += "one (), "
				assignments += "b [#b + 1] = one () "
				if i%50 >= 48 {
					fields += "x = three (), "
					assignments += "b.x = three () "
				}
			}
			switch last {
			case "three ()":
				assignments += "local at = #b b [at + 1], b [at + 2], b [at + 3] = three ()"
			case "x = three ()":
				assignments += "b.x = three ()"
			default:
				assignments += "b [#b + 1] = " + last
			}
			source := `local n = 0
local function one () n = n + 1 return n end
local function three () return one (), one (), one () end
local function text (t) return table.concat (t, " ") .. ", x = " .. tostring (t.x) end
local a = {` + fields + last + `}
n = 0
local b = {}
` + assignments + `
return text (a) == text (b) or text (a)`
			assert.Equal(t, "true", eval(t, source), "%d items and %s", n, last)
		}
	}
}
