package conf_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/internal/corpus"
	"scripter/internal/servertest"
)

// TestBadChunks checks that the web server refuses a chunked body with malformed
// chunks, and no script runs. mod_fcgid alone takes the rest of the body for the last
// chunk, and sends a matching CONTENT_LENGTH: Scripter cannot notice.
//
// Catalogue: B9
func TestBadChunks(t *testing.T) {
	for _, s := range servertest.SetUps {
		if s.Resident {
			continue
		}
		t.Run(s.Name(), func(t *testing.T) {
			for _, program := range s.Programs {
				servertest.Need(t, program)
			}
			site := corpus.NewSite(t)
			put(t, site, "suites.webserverScripts.chunked", "--kind", "script", `return "ran: " .. (...).postArgs`)
			client := s.Start(t, site)
			ask := func(body string) *corpus.Response {
				conn, err := client.Dial()
				require.NoError(t, err)
				defer conn.Close()
				r, err := conn.Do([]byte("POST /chunked.fcgi HTTP/1.1\r\nHost: " + client.Addr +
					"\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n" + body))
				require.NoError(t, err, body)
				return r
			}
			assert.Equal(t, "ran: abcde", ask("3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n").Body)
			for _, body := range []string{
				"3\r\nabc\r\nzz\r\nde\r\n0\r\n\r\n", // not a length
				"zz\r\nde\r\n0\r\n\r\n",
				"3\r\nabcXX2\r\nde\r\n0\r\n\r\n", // no line end after a chunk
			} {
				r := ask(body)
				switch s.Name() {
				case "apache-fcgid":
					assert.Contains(t, r.Body, "ran: ", "docs/web-servers.md says so: if mod_fcgid has changed, change it")
				case "caddy":
					assert.Equal(t, 502, r.Status, "%q: %s", body, r.Body)
				default:
					assert.Equal(t, 400, r.Status, "%q: %s", body, r.Body)
				}
			}
		})
	}
}
