package gateway

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/runner"
	"scripter/script"
	"scripter/site"
)

// plain returns a Lua table as Go values, for comparison.
func plain(v script.Value) any {
	t, ok := v.(*script.Table)
	if !ok {
		return v
	}
	if t.Len() > 0 {
		var list []any
		t.Each(func(_, e script.Value) bool { list = append(list, plain(e)); return true })
		return list
	}
	m := map[string]any{}
	for _, k := range t.Names() {
		m[k] = plain(t.Get(k))
	}
	return m
}

// Specification: 4.1.2, 4.1.6
func TestLastFields(t *testing.T) {
	got, err := lastFields("a=1&x+y=%41%2b&a=2&__index=1&=3&a=100%&b",
		runner.Bound{Limit: site.Limit{Setting: site.MaxFields}, Most: 10}, false)
	require.NoError(t, err)
	assert.Equal(t, map[string]any{"a": "100%", "x y": "A+", "__index": "1", "": "3", "b": ""}, plain(got))
}

// Specification: 8.3
func TestParseFormLimits(t *testing.T) {
	var e *Error
	_, err := lastFields(strings.Repeat("a=1&", 11),
		runner.Bound{Limit: site.Limit{Setting: site.MaxFields}, Most: 10}, false)
	require.ErrorAs(t, err, &e)
	assert.Equal(t, 413, e.Status)
	_, err = lastFields("a=%zz", runner.Bound{Limit: site.Limit{Setting: site.MaxFields}, Most: 10}, true)
	require.ErrorAs(t, err, &e)
	assert.Equal(t, 400, e.Status)
	assert.Contains(t, e.Message, "a=%zz")
}

func TestParseBody(t *testing.T) {
	crlf := func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") }
	multi := crlf(`--B
Content-Disposition: form-data; name="title"

Two words
--B
Content-Disposition: form-data; name="title"

again
--B
Content-Disposition: form-data; name="up"; filename="../../etc/x.txt"
Content-Type: text/plain

line 1
line 2
--B
Content-Disposition: form-data; name="none"; filename=""
Content-Type: application/octet-stream


--B--
`)
	f, err := parseBody("multipart/form-data; boundary=B", multi, testBounds(10))
	require.NoError(t, err)
	assert.Equal(t, map[string]any{"title": "again"}, plain(f.args))
	assert.Len(t, f.parts, 4, "all parts, in their order")
	up := f.files.Get("up").(*script.Table)
	assert.Equal(t, "line 1\r\nline 2", up.Get("data"))
	assert.Equal(t, "text/plain", up.Get("type"))
	assert.NotContains(t, up.Get("filename"), "/", "a file name is never a path")
	assert.Equal(t, 0.0, f.files.Get("none").(*script.Table).Get("size"))

	f, err = parseBody("application/json", `{"a":1}`, testBounds(10))
	require.NoError(t, err)
	assert.Equal(t, map[string]any{}, plain(tableOr(f.args)))

	for _, c := range []struct {
		contentType, body string
		status            int
	}{
		{"multipart/form-data", multi, 400},
		{"multipart/form-data; boundary=" + strings.Repeat("x", 71), multi, 400},
		{"multipart/form-data; boundary=B", multi[:len(multi)-40], 400},
		{"multipart/form-data; boundary=B",
			strings.Repeat(crlf("--B\nContent-Disposition: form-data; name=a\n\nx\n"), 11) + "--B--", 413},
		{"application/x-www-form-urlencoded", "a=%4", 400},
	} {
		_, err := parseBody(c.contentType, c.body, testBounds(10))
		var e *Error
		if assert.ErrorAs(t, err, &e, c.contentType) {
			assert.Equal(t, c.status, e.Status, c.contentType)
		}
	}
}

func TestParseCookies(t *testing.T) {
	got := plain(parseCookies(`a=1; b="two"; c=x=y; a=3; ; d; =e`))
	assert.Equal(t, map[string]any{"a": "1", "b": "two", "c": "x=y", "d": ""}, got)
}

func FuzzParseBody(f *testing.F) {
	f.Add("multipart/form-data; boundary=B", "--B\r\nContent-Disposition: form-data; name=a\r\n\r\nx\r\n--B--")
	f.Add("application/x-www-form-urlencoded", "a=1")
	f.Fuzz(func(t *testing.T, contentType, body string) {
		if _, err := parseBody(contentType, body, testBounds(100)); err != nil {
			var e *Error
			require.ErrorAs(t, err, &e)
			assert.Contains(t, []int{400, 413}, e.Status)
		}
	})
}

func BenchmarkLastFields(b *testing.B) {
	text := strings.Repeat("field=some+value%21with%20escapes&", 20)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := lastFields(text,
			runner.Bound{Limit: site.Limit{Setting: site.MaxFields}, Most: 1000}, true); err != nil {
			b.Fatal(err)
		}
	}
}

// testBounds returns the bounds of a form with so many fields.
func testBounds(fields int64) formBounds {
	bound := func(set *site.Setting, most int64) runner.Bound {
		return runner.Bound{Limit: site.Limit{Setting: set}, Most: most}
	}
	return formBounds{
		fields: bound(site.MaxFields, fields), file: bound(site.MaxFile, 1<<20), text: bound(site.MaxString, 1<<20),
	}
}
