package httpheader

import (
	"net/url"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestResolve compares Resolve with net/url, which resolves as browsers do.
//
// Specification: 4.2.2
func TestResolve(t *testing.T) {
	b := Base{"https://www.example.com:8443", "/dir/form.fcgi", "q=1"}
	whole, err := url.Parse(b.Origin + b.Path + "?" + b.Query)
	require.NoError(t, err)
	for ref, want := range map[string]string{
		"thanks.fcgi": "/dir/thanks.fcgi", "thanks.fcgi?a=../b#../c": "/dir/thanks.fcgi?a=../b#../c", "/there": "/there",
		"?a=1": "/dir/form.fcgi?a=1", "#end": "/dir/form.fcgi?q=1#end", "../x": "/x", "../../../x": "/x", ".": "/dir/", "..": "/",
		"./x/": "/dir/x/", "x/./y/../z": "/dir/x/z", "../": "/", "a//b": "/dir/a//b",
	} {
		assert.Equal(t, b.Origin+want, b.Resolve(ref), ref)
		u, err := whole.Parse(ref)
		require.NoError(t, err)
		assert.Equal(t, u.String(), b.Resolve(ref), ref)
		assert.Equal(t, want, Base{"", b.Path, b.Query}.Resolve(ref), ref)
	}
	for _, ref := range []string{"http://x/", "HTTPS://x/", "http://u@x:1/a?b#c"} {
		assert.Equal(t, ref, b.Resolve(ref), "an absolute URL is not changed")
	}
	assert.Equal(t, b.Origin+"//evil.example/", b.Resolve("..//evil.example/"), "a path, not a host")
	assert.Equal(t, "/evil.example/", Base{"", "/x", ""}.Resolve("..//evil.example/"))
}

func TestComplete(t *testing.T) {
	r := Response{Status: 302, Fields: []Field{{"location", "x"}, {"URI", "/y"}, {"X-Location", "z"}}}
	r.Complete(Base{"http://a", "/", ""})
	assert.Equal(t, []Field{{"location", "http://a/x"}, {"URI", "http://a/y"}, {"X-Location", "z"}}, r.Fields)
	for _, bad := range []string{"//evil.example", `/\evil.example`, "javascript:x", "http:evil.example", ""} {
		r := Response{Status: 302, Fields: []Field{{"Location", bad}}}
		r.Complete(Base{"http://a", "/", ""})
		assert.Equal(t, bad, r.Get("Location"))
		assert.Error(t, r.Check(), bad)
	}
}
