package gateway

import (
	"maps"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"scripter/objectdb"
)

// TestRedirectsCarryTheLink checks the page of a redirect, for proxies and clients that do not
// follow it.
//
// Specification: 4.2.2, 4.2.3
func TestRedirectsCarryTheLink(t *testing.T) {
	s := newSite(t)
	page := func(title, link string) string {
		return "<html><head><title>" + title + `</title></head><body><p>The page is at <a href="` + link + `">` +
			link + "</a>.</p></body></html>\n"
	}
	for _, c := range []struct{ name, source, body, kind string }{
		{"by the header", `return webserver.httpHeader ("302 FOUND", "http://elsewhere.test/x?a=1&b=2")`,
			page("FOUND", "http://elsewhere.test/x?a=1&amp;b=2"), "text/html"},
		{"to a path", `return {status = 301, headers = {Location = "/there"}}`,
			page("Moved Permanently", "http://localhost/there"), "text/html"},
		{"reason of its own", `return {status = "303 <Look>", headers = {Location = "/there"}}`,
			page("&lt;Look&gt;", "http://localhost/there"), "text/html"},
		{"without a reason", `return "HTTP/1.0 307\r\nLocation: /there\r\n\r\n"`,
			page("Temporary Redirect", "http://localhost/there"), "text/html"},
		{"quotes", `return {status = 308, headers = {Location = "/a'b&lt"}}`,
			page("Permanent Redirect", "http://localhost/a&#39;b&amp;lt"), "text/html"},
		{"letters beyond ASCII", `return {status = 302, headers = {Location = "/café"}}`,
			page("Found", "http://localhost/caf%C3%A9"), "text/html"},
		{"written", `write (webserver.httpHeader ("302 FOUND", "/there")) return ""`,
			page("FOUND", "http://localhost/there"), "text/html"},
		{"body of its own", `return {status = 302, headers = {Location = "/there"}, body = "go there"}`,
			"go there", "text/html; charset=utf-8"},
		{"type of its own", `return {status = 302, headers = {Location = "/there", ["Content-Type"] = "application/json"}}`,
			"", "application/json"},
		{"HTML in a character set",
			`return {status = 302, headers = {Location = "/there", ["Content-Type"] = "text/html; charset=utf-8"}}`,
			page("Found", "http://localhost/there"), "text/html"},
		{"no redirect", `return {status = 201, headers = {Location = "/there"}}`, "", "text/html"},
		{"nowhere", `return {status = 302}`, "", "text/html"},
		{"streamed", `webserver.sendPartial (webserver.httpHeader ("302 FOUND", "/there")) return "go there"`, "go there",
			""},
	} {
		s.script("go", c.source)
		resp := s.ask("/go.fcgi", nil)
		assert.Equal(t, c.body, resp.Body, c.name)
		assert.Equal(t, c.kind, resp.Get("Content-Type"), c.name)
	}
	s.script("go", `return {status = 302, headers = {Location = "javascript:alert(1)"}}`)
	assert.NotContains(t, s.ask("/go.fcgi", nil).Body, "javascript", "it is refused before a link is made of it")

	s.script("go", `return webserver.httpHeader ("302 FOUND", "/there")`)
	resp := s.ask("/go.fcgi", map[string]string{"REQUEST_METHOD": "HEAD"})
	assert.Empty(t, resp.Body)
	assert.Equal(t, "142", resp.Get("Content-Length"), "of what GET would give")
}

// TestRedirectWithoutLocation checks that a redirect without a Location is sent and
// logged.
func TestRedirectWithoutLocation(t *testing.T) {
	for source, warned := range map[string]bool{
		`return {status = 301}`:                                                              true,
		`return webserver.httpHeader ("303 SEE OTHER")`:                                      true,
		`return "HTTP/1.0 307 Temporary Redirect\r\n\r\n"`:                                   true,
		`webserver.sendPartial (webserver.httpHeader ("308", "text/html")) return "go away"`: true,
		`return {status = 302, headers = {Location = "/there"}}`:                             false,
		`return webserver.httpHeader ("301", "/there")`:                                      false,
		`return {status = 300}`:                                                              false,
		`return {status = 304}`:                                                              false,
	} {
		s := newSite(t)
		s.script("go", source)
		s.ask("/go.fcgi", nil)
		const says = `level=WARN msg="a redirect has no Location: no browser follows it" path=/go.fcgi script=suites.webserverScripts.go`
		assert.Equal(t, warned, strings.Contains(s.log.String(), says), "%s\n%s", source, s.log.String())
	}
}

// TestRedirectsAreAbsolute checks that a relative reference is resolved against the
// request's URL, and that forwarded fields have no effect.
//
// Specification: 4.2.2
func TestRedirectsAreAbsolute(t *testing.T) {
	s := newSite(t)
	s.put("user.webserver.scriptFolders", objectdb.String("*"))
	s.script("go", `return webserver.httpHeader ("302 FOUND", (...).cookies.to)`)
	plain := map[string]string{"HTTP_HOST": "www.example.com", "REQUEST_URI": "/dir/go.fcgi?q=1",
		"SCRIPT_NAME": "/dir/go.fcgi", "QUERY_STRING": "q=1"}
	for _, c := range []struct {
		name, to string
		more     map[string]string
		want     string
	}{
		{"beside it", "thanks.fcgi", nil, "http://www.example.com/dir/thanks.fcgi"},
		{"path", "/x", nil, "http://www.example.com/x"},
		{"query", "?a=1", nil, "http://www.example.com/dir/go.fcgi?a=1"},
		{"fragment", "#end", nil, "http://www.example.com/dir/go.fcgi?q=1#end"},
		{"above", "../x", nil, "http://www.example.com/x"},
		{"absolute", "https://elsewhere.test/?a", nil, "https://elsewhere.test/?a"},
		{"port", "/x", map[string]string{"HTTP_HOST": "www.example.com:8080"}, "http://www.example.com:8080/x"},
		{"HTTPS", "/x", map[string]string{"HTTPS": "on"}, "https://www.example.com/x"},
		{"no HTTPS", "/x", map[string]string{"HTTPS": "off"}, "http://www.example.com/x"},
		{"scheme", "/x", map[string]string{"REQUEST_SCHEME": "https"}, "https://www.example.com/x"},
		{"a proxy's fields", "/x",
			map[string]string{"HTTP_X_FORWARDED_PROTO": "https", "HTTP_X_FORWARDED_HOST": "evil.example",
				"HTTP_FORWARDED": "host=evil.example"}, "http://www.example.com/x"},
		{"no Host", "/x", map[string]string{"HTTP_HOST": "", "SERVER_NAME": "server.test", "SERVER_PORT": "80"},
			"http://server.test/x"},
		{"no Host, port", "/x",
			map[string]string{"HTTP_HOST": "", "SERVER_NAME": "[::1]", "SERVER_PORT": "8080"}, "http://[::1]:8080/x"},
		{"no Host, HTTPS", "/x",
			map[string]string{"HTTP_HOST": "", "SERVER_NAME": "server.test", "SERVER_PORT": "443", "HTTPS": "on"},
			"https://server.test/x"},
		{"no name", "x", map[string]string{"HTTP_HOST": "", "SERVER_NAME": "_"}, "/dir/x"},
		{"absolute request", "x", map[string]string{"REQUEST_URI": "http://evil.example/dir/go.fcgi"},
			"http://www.example.com/dir/x"},
		{"slashes", "?x", map[string]string{"REQUEST_URI": "//evil.example/go.fcgi"},
			"http://www.example.com//evil.example/go.fcgi?x"},
		{"markup in the request", "?x", map[string]string{"REQUEST_URI": "/go.fcgi/\"><b>\xff"},
			"http://www.example.com/go.fcgi/%22%3E%3Cb%3E%FF?x"},
		{"no REQUEST_URI", "?x",
			map[string]string{"REQUEST_URI": "", "REDIRECT_STATUS": "200", "SCRIPT_NAME": "/dir/go.fcgi$50%"},
			"http://www.example.com/dir/go.fcgi$50%25?x"},
	} {
		more := maps.Clone(plain)
		maps.Copy(more, c.more)
		more["HTTP_COOKIE"] = "to=" + c.to
		resp := s.ask("/dir/go.fcgi?q=1", more)
		assert.Equal(t, 302, resp.Status, c.name)
		assert.Equal(t, c.want, resp.Get("Location"), c.name)
		assert.Equal(t, c.want, resp.Get("URI"), c.name)
	}
	for _, bad := range []string{"", "//evil.example", "/\\evil.example", "\\\\evil.example", "javascript:alert(1)",
		"http:evil.example", "http:///evil.example", "https:/evil.example", "mailto:a@b"} {
		resp := s.ask("/go.fcgi", map[string]string{"HTTP_COOKIE": "to=" + bad})
		assert.Equal(t, 500, resp.Status, bad)
		assert.False(t, resp.Has("Location"), bad)
	}
	s.script("streamed", `webserver.sendPartial ("HTTP/1.0 302 FOUND\r\nLocation: x\r\n\r\n") return ""`)
	assert.Equal(t, "http://localhost/x", s.ask("/streamed.fcgi", nil).Get("Location"))
	s.script("made", `return {status = 201, headers = {Location = "x"}}`)
	assert.Equal(t, "http://localhost/x", s.ask("/made.fcgi", nil).Get("Location"))
}
