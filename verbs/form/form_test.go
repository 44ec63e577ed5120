package form_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/httpform"
	"scripter/script"
	"scripter/verbs/form"
)

// plain returns the names and values of a table that a form made.
func plain(t *script.Table) map[string]any {
	m := map[string]any{}
	t.Each(func(name, v script.Value) bool {
		if list, ok := v.(*script.Table); ok {
			var values []any
			list.Each(func(_, v script.Value) bool { values = append(values, v); return true })
			v = values
		}
		m[name.(string)] = v
		return true
	})
	return m
}

// Specification: 4.1.2, 4.1.6
func TestParse(t *testing.T) {
	for text, want := range map[string]map[string]any{
		"":                   {},
		"a=1&b=2":            {"a": "1", "b": "2"},
		"a=1&a=2&a=3":        {"a": []any{"1", "2", "3"}},
		"a":                  {"a": ""},
		"a=b=c":              {"a": "b=c"},
		"a=1&&b=2&":          {"a": "1", "b": "2"},
		"x+y=%41%2b+%C3%A4":  {"x y": "A+ ä"},
		"__index=1&a.b=2&=3": {"__index": "1", "a.b": "2", "": "3"},
		"a=100%&b=%zz&c=%4":  {"a": "100%", "b": "%zz", "c": "%4"},
		"a=%00":              {"a": "\x00"},
	} {
		got, err := form.Parse(text, 10)
		require.NoError(t, err, text)
		assert.Equal(t, want, plain(got), text)
	}
	_, err := form.Parse(strings.Repeat("a=1&", 11), 10)
	assert.EqualError(t, err, "the form has more than 10 fields")
}

func FuzzParseForm(f *testing.F) {
	for _, s := range []string{"a=1&b=2", "a=%41+b", "%zz=%", "&&==", "a=1&a=2"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		parsed, err := form.Parse(s, 1000)
		if err != nil {
			return
		}
		// What is encoded again reads the same.
		var b []byte
		for name, value := range plain(parsed) {
			if text, ok := value.(string); ok {
				b = append(httpform.Escape(append(httpform.Escape(b, name), '='), text), '&')
			}
		}
		again, err := form.Parse(string(b), 1000)
		require.NoError(t, err)
		for name, value := range plain(again) {
			assert.Equal(t, parsed.Get(name), value)
		}
	})
}
