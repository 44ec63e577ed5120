package gateway

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/script"
)

// TestVerbExamples runs the example of every verb in a request of its own.
func TestVerbExamples(t *testing.T) {
	s := newSite(t)
	s.page("hello.mcro", `<p><!--#html.escape ("1 < 2")--></p>`)
	for _, v := range Verbs() {
		source := v.Source()
		if source != v.Example {
			source = `return {headers = {["Content-Type"] = "text/plain"}, body = tostring (` + v.Example + `)}`
		}
		s.script("example", source)
		resp := s.ask("/example.fcgi", nil)
		require.Equal(t, 200, resp.Status, "%s: %s", v.Name, s.log)
		assert.Equal(t, v.Gives, resp.Body, v.Name)
		assert.Contains(t, v.Example, v.Name+" (", "the example calls the verb")
	}
}

var verbType = regexp.MustCompile(`^(string|number|integer|boolean|table|any|date|binary|address|string\[\]|date\|nil|table\|string|(table|string|number|boolean|table\[\])\|nil|table\[\]|table\|false|table<string, string>\|nil|` +
	`table<string, string\|string\[\]>|fetched\|nil|database)$`)

// TestVerbsAreDocumented checks that verbs are documented with sentences and with types that
// editors know, and that optional arguments are the last ones.
func TestVerbsAreDocumented(t *testing.T) {
	names := map[string]bool{}
	for _, v := range Verbs() {
		assert.False(t, names[v.Name], "%s is there twice", v.Name)
		names[v.Name] = true
		assert.Regexp(t, `^[A-Z][^\n]+[.]$`, v.Doc, v.Name)
		assert.NotEmpty(t, v.Gives, v.Name)
		optional := false
		for _, p := range append(v.Params[:len(v.Params):len(v.Params)], v.Results...) {
			assert.Regexp(t, verbType, p.Type, v.Name)
			assert.False(t, strings.HasSuffix(p.Doc, "."), "%s: %s", v.Name, p.Doc)
		}
		for _, p := range v.Params {
			assert.NotEmpty(t, p.Name, v.Name)
			assert.False(t, optional && !p.Optional, "%s: %s comes after an optional argument", v.Name, p.Name)
			optional = p.Optional
		}
	}
}

// TestVerbsRequireArguments calls every verb without arguments: those that need one return an error.
func TestVerbsRequireArguments(t *testing.T) {
	s := newSite(t)
	for _, v := range Verbs() {
		s.script("none", `local ok, e = pcall (`+v.Name+`) return {body = ok and "fine" or tostring (e)}`)
		body := s.ask("/none.fcgi", nil).Body
		needs := len(v.Params) > 0 && !v.Params[0].Optional && v.Params[0].Type != "any"
		if needs {
			assert.Contains(t, body, "bad argument #1", v.Name)
		} else {
			assert.NotContains(t, body, "bad argument", v.Name)
		}
	}
}

func TestUsage(t *testing.T) {
	for want, params := range map[string][]script.Param{
		"a.b ()":     nil,
		"a.b (x, y)": {script.Arg("x", "any", ""), script.Arg("y", "any", "")},
		`a.b (x [, y [, z = 1]])`: {script.Arg("x", "any", ""), script.Opt("y", "any", "", ""),
			script.Opt("z", "number", "1", "")},
		`a.b ([x = "q" [, y]])`: {script.Opt("x", "string", `"q"`, ""), script.Opt("y", "any", "", "")},
		"a.b (…)":               {script.Arg("…", "any", "")},
	} {
		v := script.Verb{Name: "a.b", Params: params}
		assert.Equal(t, want, v.Usage())
	}
}
