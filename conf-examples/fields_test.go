package conf_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/internal/corpus"
	"scripter/internal/servertest"
)

// TestUnderscores checks that a visitor's field with "_" in its name never replaces
// the one with "-" that a proxy has set, whichever comes first.
func TestUnderscores(t *testing.T) {
	for _, s := range servertest.SetUps {
		t.Run(s.Name(), func(t *testing.T) {
			t.Parallel()
			s := servertest.Named(t, s.Name())
			site := corpus.NewSite(t)
			put(t, site, "suites.webserverScripts.field", "--kind", "script",
				`local cgi = (...).cgi return tostring (cgi.HTTP_X_REAL_IP) .. " " .. tostring (cgi.HTTP_X_OTHER_NAME)`)
			client := s.Start(t, site)
			ask := func(fields string) *corpus.Response {
				conn, err := client.Dial()
				require.NoError(t, err)
				defer conn.Close()
				r, err := conn.Do([]byte("GET /field.fcgi HTTP/1.1\r\nHost: " + client.Addr + "\r\nConnection: close\r\n" +
					fields + "\r\n"))
				require.NoError(t, err)
				return r
			}
			for _, fields := range []string{
				"X_Real_Ip: visitor\r\nX-Real-Ip: proxy\r\n", "X-Real-Ip: proxy\r\nX_Real-Ip: visitor\r\n",
				"x-real_ip: visitor\r\nX-Real-Ip: proxy\r\nX_REAL_IP: visitor\r\n",
			} {
				r := ask(fields)
				assert.Equal(t, 200, r.Status, fields)
				assert.Equal(t, "proxy nil", r.Body, fields)
			}
			assert.Equal(t, "nil nil", ask("X_Real_Ip: visitor\r\n").Body)
			// A name that the example does not list: lighttpd passes on both, Scripter answers 400.
			for _, fields := range []string{"X_Other_Name: visitor\r\nX-Other-Name: proxy\r\n",
				"X-Other-Name: proxy\r\nX-Other_Name: visitor\r\n"} {
				r := ask(fields)
				assert.Contains(t, []int{200, 400}, r.Status, fields)
				assert.NotContains(t, r.Body, "visitor", fields)
				if r.Status == 200 {
					assert.Equal(t, "nil proxy", r.Body, fields)
				}
			}
			// A repeated field has one name and is accepted. (fcgiwrap keeps one value.)
			assert.Contains(t, []string{"nil a, b", "nil a"}, ask("X-Other-Name: a\r\nX-Other-Name: b\r\n").Body)
		})
	}
}

// TestServerField checks which Server field a visitor sees in the response of a
// script and of a page against docs/web-servers.md.
//
// Specification: 2.2.4, 4.2.1
func TestServerField(t *testing.T) {
	for _, c := range []struct{ setUp, sees string }{
		{"apache-cgi", "Apache/"}, {"apache-fcgid", "Apache/"}, {"caddy", "Caddy"},
		{"apache-nph", ""}, {"apache-proxy-fcgi", ""}, {"nginx-fastcgi", ""}, {"nginx-fcgiwrap", ""}, {"lighttpd-cgi", ""},
		{"lighttpd-fastcgi", ""},
	} {
		t.Run(c.setUp, func(t *testing.T) {
			t.Parallel()
			s := servertest.Named(t, c.setUp)
			site := corpus.NewSite(t)
			put(t, site, "user.webserver.serverName", "WebTen/2.0")
			put(t, site, "suites.webserverScripts.own", "--kind", "script", `return {headers = {Server = "Own/1.0"}, body = ""}`)
			client := s.Start(t, site)
			for path, writes := range map[string]string{"/own.fcgi": "Own/1.0", "/get-script.fcgi": "WebTen/2.0",
				"/page-plain/page.mcro": "WebTen/2.0"} {
				server, _ := get(t, client, path).Field("Server")
				if c.sees == "" {
					assert.Equal(t, writes, server, path)
				} else {
					assert.Regexp(t, "^"+c.sees, server, path)
				}
			}
		})
	}
}
