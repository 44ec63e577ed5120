package admin_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/internal/servertest"
	"scripter/metrics"
)

// noticed is a page with an empty marker in the middle, where a click on the page reaches its number.
const noticed = `<!DOCTYPE html>
<title>Tea</title>
<body style="height: 95vh; display: grid; place-items: center"><!--#user.tea.notice--></body>
`

// TestBrowserMap goes from a page of the site to its map, and from a number there to the object, which it edits.
func TestBrowserMap(t *testing.T) {
	behind(t, func(t *testing.T, s *servertest.Server) {
		s.Scripter(t, "put", "--parents", "user.tea.notice", "--kind", "text", "")
		require.NoError(t, os.WriteFile(filepath.Join(s.WWW, "tea.mcro"), []byte(noticed), 0o644))
		b := logIn(t, s, "ada", "map")
		inspect(t, b, "map-empty")
		b.Open("/tea.mcro?scripter-map")
		b.SeeURL("/scripter/map?url=%2Ftea.mcro")
		b.Has("heading", "Map of /tea.mcro")
		inspect(t, b, "map")
		b.ClickRole("Iframe", "The page /tea.mcro with the numbers of its markers")
		b.SeeURL("/scripter/map?url=%2Ftea.mcro#m1")
		b.In("main", "").ClickRole("link", "user.tea.notice")
		b.SeeURL("/scripter/at/user.tea.notice")
		rewrite(b, "text", "Tea is <b>ready</b>.")
		b.Press("Control+s")
		b.See("Saved.")
		assert.Contains(t, get(t, s, "/tea.mcro"), "Tea is <b>ready</b>.")

		// By keyboard: the number is the first element of the page that gets the focus.
		b.Open("/tea.mcro?scripter-map")
		b.See("20 B Tea is <b>ready</b>.")
		b.TabTo("Iframe", "The page /tea.mcro with the numbers of its markers")
		b.Press("Enter")
		b.SeeURL("/scripter/map?url=%2Ftea.mcro#m1")
	})
}

// TestBrowserThen looks at the site as an earlier change left it, and goes back to the present.
func TestBrowserThen(t *testing.T) {
	behind(t, func(t *testing.T, s *servertest.Server) {
		for i, price := range []string{"2", "3"} {
			s.Scripter(t, "put", "--parents", "suites.webserverScripts.tea", "--kind", "text",
				`<html><title>Tea</title><p>A cup costs `+price+`.</p><a href="/cake.fcgi">Cake</a></html>`)
			s.Scripter(t, "put", "--parents", "suites.webserverScripts.cake", "--kind", "script",
				fmt.Sprintf("return \"Today: %d cakes.\"", 10+i))
		}
		last := lastChange(t, s, "suites.webserverScripts.tea")
		b := logIn(t, s, "ada", "history?address=suites.webserverScripts.tea")
		b.In("main", "").ClickRole("link", fmt.Sprint(last))
		b.Click("The root before it")
		b.Click("The site as of then")
		b.See("You see the root as change")
		b.Type("Page of the site", "/tea.fcgi")
		b.Click("Look")
		title := fmt.Sprintf("The page /tea.fcgi as of change %d", last-1)
		frame := b.In("Iframe", title)
		frame.See("A cup costs 2.")
		inspect(t, b, "then")
		assert.Contains(t, get(t, s, "/tea.fcgi"), "A cup costs 3.")
		b.TabTo("Iframe", title)
		b.Press("Enter")
		frame.See("Today: 10 cakes.")
		b.Click("Back to the present")
		b.NotSee("You see the root as change")
	})
}

// lastChange returns the number of the last change of an object.
func lastChange(t *testing.T, s *servertest.Server, address string) int {
	t.Helper()
	var log struct{ Changes []struct{ Number int } }
	require.NoError(t, json.Unmarshal([]byte(s.Scripter(t, "log", "--json", address)), &log))
	require.NotEmpty(t, log.Changes)
	return log.Changes[0].Number
}

// TestBrowserDoctor lets doctor ask the web server, and then for another page.
func TestBrowserDoctor(t *testing.T) {
	behind(t, func(t *testing.T, s *servertest.Server) {
		require.NoError(t, os.WriteFile(filepath.Join(s.WWW, "tea.mcro"), []byte("<!--#clock.now ()-->"), 0o644))
		b := logIn(t, s, "ada", "doctor")
		b.See("The web server was not asked yet.")
		b.Click("Ask the web server")
		b.See("The web server at " + s.URL + "/ was asked.")
		inspect(t, b, "doctor-asked")
		b.Type("Page with macros", "/nothing.mcro")
		b.Click("Ask the web server")
		b.See("nothing.mcro")
		b.Has("heading", "Doctor")
		b.Type("Page with macros", "/tea.mcro")
		b.Click("Ask the web server")
		b.See("/tea.mcro")
	})
}

// hour is the last hour of a process that answers from a root: busier towards its end, with some errors.
func hour(now time.Time) metrics.Hour {
	h := metrics.Hour{PID: os.Getpid(), Started: now.Add(-3 * time.Hour)}
	for i := range 60 {
		some := i * i * 7919 % 97 // it looks random, but is always the same
		requests := uint64(60 + 2*i + some)
		m := metrics.Minute{Time: now.Add(time.Duration(i-60) * time.Minute), Requests: requests,
			Seconds: float64(requests) * (2 + float64(some)/40) / 1000, Running: some / 30, Workers: 3 + i/40,
			Memory: int64(60+i/6+some/20) << 20}
		if some > 85 {
			m.Errors = uint64(some % 4)
		}
		h.Minutes = append(h.Minutes, m)
	}
	return h
}

// putHour writes the last hour of this process beside the root.
func putHour(t *testing.T, s *servertest.Server) {
	t.Helper()
	text, err := json.Marshal(hour(time.Now()))
	require.NoError(t, err)
	path := fmt.Sprintf("%s-status-%d", s.Root, os.Getpid())
	require.NoError(t, os.WriteFile(path, text, 0o644))
	t.Cleanup(func() { os.Remove(path) })
}

// TestBrowserStatus looks at the last hour in plots, and minute by minute.
func TestBrowserStatus(t *testing.T) {
	t.Parallel()
	s := startSite(t, "serve")
	b := logIn(t, s, "ada", "status")
	b.Has("heading", "Programs")
	inspect(t, b, "status-new")
	putHour(t, s)
	b.Reload()
	b.Has("heading", "Requests per minute")
	b.Has("heading", "Memory")
	b.Click("All minutes")
	b.Has("columnheader", "Minute (UTC)")
	inspect(t, b, "status")
	b.Click("Pause")
	assert.Equal(t, "true", b.State("button", "Pause", "pressed"))
}
