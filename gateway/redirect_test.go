package gateway

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestRedirectsCarryTheLink, for proxies and clients that do not follow them.
//
// Specification: 4.2.2, 4.2.3
func TestRedirectsCarryTheLink(t *testing.T) {
	s := newSite(t)
	page := func(title, link string) string {
		return "<html><head><title>" + title + `</title></head><body><p>The page is at <a href="` + link + `">` + link + "</a>.</p></body></html>\n"
	}
	for _, c := range []struct{ name, source, body, kind string }{
		{"by the header", `return webserver.httpHeader ("302 FOUND", "http://elsewhere.test/x?a=1&b=2")`,
			page("FOUND", "http://elsewhere.test/x?a=1&amp;b=2"), "text/html"},
		{"to a path", `return {status = 301, headers = {Location = "/there"}}`, page("Moved Permanently", "/there"), "text/html"},
		{"reason of its own", `return {status = "303 <Look>", headers = {Location = "/there"}}`, page("&lt;Look&gt;", "/there"), "text/html"},
		{"without a reason", `return "HTTP/1.0 307\r\nLocation: /there\r\n\r\n"`, page("Temporary Redirect", "/there"), "text/html"},
		{"quotes", `return {status = 308, headers = {Location = "/a'b&lt"}}`, page("Permanent Redirect", "/a&#39;b&amp;lt"), "text/html"},
		{"letters beyond ASCII", `return {status = 302, headers = {Location = "/café"}}`, page("Found", "/caf%C3%A9"), "text/html"},
		{"written", `write (webserver.httpHeader ("302 FOUND", "/there")) return ""`, page("FOUND", "/there"), "text/html"},
		{"body of its own", `return {status = 302, headers = {Location = "/there"}, body = "go there"}`, "go there", "text/html"},
		{"type of its own", `return {status = 302, headers = {Location = "/there", ["Content-Type"] = "application/json"}}`, "", "application/json"},
		{"HTML in a character set", `return {status = 302, headers = {Location = "/there", ["Content-Type"] = "text/html; charset=utf-8"}}`, page("Found", "/there"), "text/html"},
		{"no redirect", `return {status = 201, headers = {Location = "/there"}}`, "", "text/html"},
		{"nowhere", `return {status = 302}`, "", "text/html"},
		{"streamed", `webserver.sendPartial (webserver.httpHeader ("302 FOUND", "/there")) return "go there"`, "go there", ""},
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
	assert.Equal(t, "110", resp.Get("Content-Length"), "of what GET would give")
}
