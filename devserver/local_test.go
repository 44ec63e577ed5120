package devserver

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
)

// TestErrorsShownToThisMachine checks that a request directly from this machine sees message,
// lines and calls, and that one through a proxy or with another host name sees what
// visitors see.
func TestErrorsShownToThisMachine(t *testing.T) {
	s := newSite(t)
	s.script("bad", "local p = ...\nlocal t\n-- here <it> comes\nreturn t.x\n-- after\n")
	s.script("outer", `return suites.webserverScripts.bad ()`)
	s.script("syntax", "local a = 1\nif a then\n")
	s.script("gone", `error ({})`)
	s.page("page.mcro", "<p><!--#nothing.at.all--></p>")
	s.put("user.webserver.prefs.errorPage", objectdb.Text("<h1>Sorry</h1>")) // the site's own page shows no error
	s.server.ShowErrors, s.server.Hosts = true, []string{"rebound.example", "127.0.0.1.example", "192.0.2.1"}
	addr := s.addr
	_, port, _ := strings.Cut(addr, ":")
	get := func(path, host, proto, fields string) string {
		return raw(t, addr, "GET "+path+" HTTP/"+proto+"\r\nHost: "+host+"\r\n"+fields+"\r\n")
	}

	page := get("/outer.fcgi", addr, "1.1", "")
	assert.Contains(t, page, "HTTP/1.0 500 Internal Server Error\r\n")
	at := 0
	for _, part := range []string{
		"<h1>suites.webserverScripts.bad:4: attempt to index local &#39;t&#39; (a nil value)</h1>",
		"   3  -- here &lt;it&gt; comes\n", "<mark>   4  return t.x</mark>\n", "   5  -- after\n",
		"<h2>Calls</h2>", "suites.webserverScripts.bad:4", "suites.webserverScripts.outer",
		"GET /outer.fcgi was answered with 500", "Incident <code>",
	} {
		i := strings.Index(page[at:], part)
		require.GreaterOrEqual(t, i, 0, "%s\nin\n%s", part, page)
		at += i
	}
	assert.Contains(t, get("/syntax.fcgi", addr, "1.1", ""), "   2  if a then\n<mark>   3  </mark>\n")
	assert.Contains(t, get("/gone.fcgi", addr, "1.1", ""), "(error value is a table)")
	assert.Contains(t, get("/page.mcro", addr, "1.1", ""), "[Macro error: ")
	assert.Contains(t, get("/nothing.fcgi", addr, "1.1", ""), "<h1>there is no suites.webserverScripts.nothing</h1>")
	assert.Contains(t, get("/nothing.html", addr, "1.1", ""), "404")

	for _, host := range []string{"localhost", "localhost:" + port, "127.0.0.1", "127.8.9.1:80", "[::1]:" + port,
		"LOCALHOST", "mine.localhost:" + port} {
		assert.Contains(t, get("/bad.fcgi", host, "1.1", ""), "attempt to index", host)
	}
	for _, c := range []struct{ host, proto, fields string }{
		{"rebound.example", "1.1", ""}, {"rebound.example:" + port, "1.1", ""}, {"127.0.0.1.example", "1.1", ""},
		{"192.0.2.1", "1.1", ""},
		{addr, "1.0", ""}, // as nginx asks
		{addr, "1.1", "X-Forwarded-For: 192.0.2.1\r\n"}, {addr, "1.1", "x_forwarded_for: 192.0.2.1\r\n"},
		{addr, "1.1", "Forwarded: for=192.0.2.1\r\n"},
		{addr, "1.1", "Via: 1.1 proxy\r\n"}, {addr, "1.1", "X-Real-IP: 192.0.2.1\r\n"},
		{addr, "1.1", "X-Forwarded-Proto: https\r\n"},
	} {
		for _, path := range []string{"/bad.fcgi", "/page.mcro"} {
			got := get(path, c.host, c.proto, c.fields)
			assert.NotContains(t, got, "attempt to index", c)
			assert.NotContains(t, got, "Macro error", c)
			if path == "/bad.fcgi" {
				assert.Contains(t, got, "<h1>Sorry</h1>", c)
			}
		}
	}

	s.put("user.webserver.flRefuseConnections", objectdb.Boolean(true))
	assert.Contains(t, get("/bad.fcgi", addr, "1.1", ""), "503 ", "maintenance applies to the author, too")
	s.put("user.webserver.flRefuseConnections", objectdb.Boolean(false))
	s.server.ShowErrors = false
	assert.Contains(t, get("/bad.fcgi", addr, "1.1", ""), "<h1>Sorry</h1>")
}
