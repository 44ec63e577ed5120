package gateway

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/httpheader"
	"scripter/objectdb"
)

// TestCORSFields checks the fields of responses that sendPartial has begun, of redirects and of 304, and
// that a script's own fields stay.
func TestCORSFields(t *testing.T) {
	s := newSite(t)
	s.put(`user.webserver.cors.["/"]`, objectdb.String("https://app.example"))
	for source, want := range map[string]string{
		`webserver.sendPartial ("x") return ""`:                                           "https://app.example",
		`return {status = 303, headers = {Location = "/y"}}`:                              "https://app.example",
		`return {headers = {ETag = '"a"'}, body = "x"}`:                                   "https://app.example",
		`return {headers = {["access-control-allow-origin"] = "https://own"}, body = ""}`: "https://own",
		`return {headers = {vary = "accept, ORIGIN"}, body = ""}`:                         "https://app.example",
	} {
		s.script("x", source)
		resp := s.ask("/x.fcgi", map[string]string{"HTTP_ORIGIN": "https://app.example", "HTTP_IF_NONE_MATCH": `"a"`})
		assert.Equal(t, want, resp.Get("Access-Control-Allow-Origin"), source)
		if want != "https://own" {
			assert.Regexp(t, "(?i)origin", resp.Get("Vary"), source)
			assert.Equal(t, 1, count(resp, "Vary"), source)
		}
	}
	s.script("x", `return "x"`)
	assert.Equal(t, "Origin", s.ask("/x.fcgi", nil).Get("Vary"), "without an Origin, too")
	s.script("x", `return "script " .. method`)
	resp := s.ask("/x.fcgi", map[string]string{"REQUEST_METHOD": "OPTIONS", "HTTP_ORIGIN": "https://app.example"})
	assert.Equal(t, "script OPTIONS", resp.Body, "no preflight")
	resp = s.ask("/scripter/", map[string]string{"REQUEST_METHOD": "OPTIONS", "HTTP_ORIGIN": "https://app.example",
		"HTTP_ACCESS_CONTROL_REQUEST_METHOD": "POST"})
	assert.Empty(t, resp.Get("Access-Control-Allow-Origin"), "the web page is for no other site")
}

// TestCORSExplained checks that scripter explain says which row applies, and why one has no effect.
func TestCORSExplained(t *testing.T) {
	s := newSite(t)
	s.script("x", `return "x"`)
	s.put(`user.webserver.cors.["/"]`, objectdb.String("https://app.example"))
	s.put(`user.webserver.cors.["/wrong.fcgi"]`, objectdb.String("app.example"))
	explained := func(path, origin string) string {
		var steps []string
		r := s.request(path, map[string]string{"HTTP_ORIGIN": origin})
		r.Trace = func(step string) { steps = append(steps, step) }
		_, err := s.g.Explain(t.Context(), r)
		require.NoError(t, err)
		return strings.Join(steps, "\n")
	}
	assert.Contains(t, explained("/x.fcgi", "https://app.example"), `pages of https://app.example may call this (user.webserver.cors.["/"])`)
	assert.Contains(t, explained("/x.fcgi", "https://b.example"), "pages of https://b.example may not call this")
	assert.Contains(t, explained("/wrong.fcgi", ""), `the row user.webserver.cors.["/wrong.fcgi"] lets no other site in: "app.example" is no origin`)
}

func count(resp *httpheader.Response, name string) (n int) {
	for _, f := range resp.Fields {
		if strings.EqualFold(f.Name, name) {
			n++
		}
	}
	return n
}
