package conf_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/internal/corpus"
	"scripter/internal/servertest"
)

// The scripts of TestLateFailure.
const (
	lateScript      = `webserver.sendPartial ("abc") error ("late")`
	lateKnownScript = `local head = webserver.httpHeader ():sub (1, -3)
webserver.sendPartial (head .. "Content-Length: 10\r\nCache-Control: max-age=60\r\n\r\nabc")
error ("late")`
)

// TestLateFailure compares what a client sees of a streamed response whose script
// fails with the table in web-servers.md.
func TestLateFailure(t *testing.T) {
	says := lateTable(t)
	for _, s := range servertest.SetUps {
		t.Run(s.Name(), func(t *testing.T) {
			for _, program := range s.Programs {
				servertest.Need(t, program)
			}
			site := corpus.NewSite(t)
			put(t, site, "suites.webserverScripts.late", "--kind", "script", lateScript)
			put(t, site, "suites.webserverScripts.lateKnown", "--kind", "script", lateKnownScript)
			client := s.Start(t, site)
			row, ok := says[strings.TrimSuffix(s.Name(), "-relay")]
			require.True(t, ok, "web-servers.md has no row for %s", s.Name())
			for i, path := range []string{"/late.fcgi", "/lateKnown.fcgi"} {
				conn, err := client.Dial()
				require.NoError(t, err)
				defer conn.Close()
				r, err := conn.Do([]byte("GET " + path + " HTTP/1.1\r\nHost: " + client.Addr + "\r\n\r\n"))
				switch row[i] {
				case "breaks off":
					assert.ErrorContains(t, err, "EOF", "%s: %+v", path, r)
				case "looks whole":
					require.NoError(t, err, path)
					assert.Equal(t, "abc", r.Body, path)
				case "looks whole, with Apache's page for 500 behind it":
					require.NoError(t, err, path)
					assert.Regexp(t, `^abc<!DOCTYPE`, r.Body, path)
				default:
					t.Errorf("web-servers.md says %q of %s", row[i], s.Name())
				}
				if err == nil {
					field, _ := r.Field("Cache-Control")
					assert.Equal(t, "private, no-store", field, path)
				}
			}
			// The next request is answered as usual.
			assert.Equal(t, "ready", get(t, client, "/ready.fcgi").Body)
		})
	}
}

// lateTable reads the table in web-servers.md: set-up, what a client sees without a
// Content-Length, and what it sees with one.
func lateTable(t *testing.T) map[string][2]string {
	t.Helper()
	page, err := os.ReadFile("../docs/web-servers.md")
	require.NoError(t, err)
	_, section, ok := strings.Cut(string(page), "\n## When a streamed response breaks off\n")
	require.True(t, ok)
	section, _, _ = strings.Cut(section, "\n## ")
	rows := map[string][2]string{}
	for line := range strings.Lines(section) {
		if cells := strings.Split(line, " | "); len(cells) == 3 {
			rows[strings.TrimPrefix(cells[0], "| ")] = [2]string{cells[1], strings.TrimSuffix(strings.TrimSpace(cells[2]), " |")}
		}
	}
	return rows
}
