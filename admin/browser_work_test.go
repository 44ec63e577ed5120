package admin_test

import (
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/internal/browsertest"
	"scripter/internal/servertest"
)

// TestBrowserFinder: Ctrl-K finds an object by its name, by a text in it, and a page of the menu.
func TestBrowserFinder(t *testing.T) {
	behind(t, func(t *testing.T, s *servertest.Server) {
		s.Scripter(t, "put", "--parents", "workspace.treasure", "--kind", "text", "one\nbelow the palm\n")
		b := logIn(t, s, "ada", "history")
		b.Press("Control+k")
		b.Keys("treasure")
		b.Press("Enter") // before the answer arrives; it opens what is found for the whole word
		b.SeeURL("/scripter/at/workspace.treasure")
		b.Open("/scripter/history")
		b.Press("Control+k")
		b.Keys("palm")
		b.See("below the palm")
		inspect(t, b, "finder")
		b.Press("ArrowDown", "Enter")
		b.SeeURL("/scripter/at/workspace.treasure#line-2")
		b.Open("/scripter/find?q=palm")
		b.Has("link", "workspace.treasure")
		inspect(t, b, "find")
	})
}

// TestBrowserRun: a script is run by keyboard, what it would write is seen, thrown away, and kept.
func TestBrowserRun(t *testing.T) {
	behind(t, func(t *testing.T, s *servertest.Server) {
		s.Scripter(t, "put", "--parents", "suites.webserverScripts.greet", "--kind", "script",
			"local name = ...\nuser.greeted = name\nreturn \"Hello, \" .. name")
		s.Scripter(t, "put", "--parents", "suites.webserverScripts.fails", "--kind", "script",
			"local x = 1\nerror (\"out of tea\")")
		b := logIn(t, s, "ada", "run/suites.webserverScripts.greet?as=arguments")
		b.Type("name", "Grace")
		b.Press("Control+Enter")
		b.See("Hello, Grace")
		b.See("added user.greeted")
		inspect(t, b, "run")
		assert.Contains(t, s.Scripter(t, "ls", "user"), "webserver")
		assert.NotContains(t, s.Scripter(t, "ls", "user"), "greeted", "thrown away")
		b.Click("Run and keep")
		b.See("Undo")
		assert.Equal(t, "Grace\n", s.Scripter(t, "get", "user.greeted"))

		b.Open("/scripter/run/suites.webserverScripts.fails?as=arguments")
		b.Press("Control+Enter")
		b.See("out of tea")
		inspect(t, b, "run-failed")
		b.In("alert", "").ClickRole("link", "suites.webserverScripts.fails:2")
		b.SeeURL("/scripter/at/suites.webserverScripts.fails#line-2")
	})
}

// TestBrowserRequests: from an incident number to the request and the line, and the request again.
func TestBrowserRequests(t *testing.T) {
	behind(t, func(t *testing.T, s *servertest.Server) {
		s.Scripter(t, "settings", "flDebug", "true")
		s.Scripter(t, "put", "--parents", "suites.webserverScripts.fails", "--kind", "script",
			"local x = 1\nerror (\"out of tea\")")
		resp, err := http.Get(s.URL + "/fails.fcgi?cup=blue")
		require.NoError(t, err)
		page, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		require.NoError(t, err)
		require.Equal(t, http.StatusInternalServerError, resp.StatusCode)
		b := logIn(t, s, "ada", "requests")
		b.See("/fails.fcgi?cup=blue")
		inspect(t, b, "requests")
		found := regexp.MustCompile(`Incident <code>([a-z2-7]{8})</code>`).FindSubmatch(page)
		require.NotNil(t, found, "%s", page)
		incident := string(found[1])
		b.Open("/scripter/requests?incident=" + incident)
		b.See("out of tea")
		inspect(t, b, "request")
		s.Scripter(t, "put", "suites.webserverScripts.fails", "return \"tea\"")
		b.Click("Replay now")
		b.See("200")
		inspect(t, b, "replay")
	})
}

// TestBrowserConsole types and runs Lua, whose changes are thrown away. Earlier entries are recalled as in a shell.
func TestBrowserConsole(t *testing.T) {
	t.Parallel()
	s := startSite(t, "serve")
	b := logIn(t, s, "ada", "console")
	rewrite(b, "Lua", "user.made = 6 * 7 return user.made")
	b.Press("Control+Enter")
	b.See("42")
	b.See("added user.made")
	assert.NotContains(t, s.Scripter(t, "ls", "user"), "made")
	inspect(t, b, "console")

	rewrite(b, "Lua", "return 1 +")
	b.Press("Control+Enter")
	b.In("alert", "").See("unexpected")
	rewrite(b, "Lua", "local a = 2\nreturn a")
	b.Press("Control+Enter")
	b.See("Done.")
	b.In("region", "Result").See("2")
	rewrite(b, "Lua", "unfinished")
	value := func(want string) {
		t.Helper()
		b.In("textbox", "Lua").See(want)
	}
	b.Press("ArrowUp")
	value("return a")
	b.See("Earlier entry 1 of 3.")
	b.Press("ArrowUp")
	value("return 1 +")
	b.Press("ArrowUp", "ArrowUp")
	value("return user.made")
	b.Press("ArrowDown", "ArrowDown")
	value("return a")
	b.Press("ArrowDown")
	value("unfinished")
	assert.Equal(t, "textbox Lua", b.Focus())
	inspect(t, b, "console-recall")
	b.Press("ArrowUp", "Control+Enter")
	b.See("Done.")
	rewrite(b, "Lua", "scratchpad.kept = 1")
	b.Click("Run and keep")
	b.See("It has written")
	assert.Equal(t, "1\n", s.Scripter(t, "get", "scratchpad.kept"))
	b.See("Done.")
	rewrite(b, "Lua", " ")
	b.Press("Control+Enter")
	b.See("There is no Lua to run.")
	b.Expect("status of 400")
}

// TestBrowserOutlineKeys: an outline is written with the keys of an outliner, and saved.
func TestBrowserOutlineKeys(t *testing.T) {
	t.Parallel()
	s := startSite(t, "serve")
	s.Scripter(t, "put", "--parents", "workspace.plan", "--kind", "outline", "Morning")
	b := logIn(t, s, "ada", "at/workspace.plan")
	b.ClickRole("tree", "outline")
	b.Press("End")
	b.Press("Enter")
	b.Keys("tea")
	b.Press("Tab", "Enter")
	b.Keys("toast")
	b.Press("Enter")
	b.Keys("Noon")
	b.Press("Shift+Tab", "Control+s")
	b.See("Saved.")
	assert.Equal(t, "Morning\n\ttea\n\ttoast\nNoon", strings.TrimRight(s.Scripter(t, "get", "workspace.plan"), "\n"))
	inspect(t, b, "outline-keys")
}

// TestBrowserIdle checks that pages that nobody uses ask the server less than once in 10 s, whatever they show.
func TestBrowserIdle(t *testing.T) {
	t.Parallel()
	s := startSite(t, "serve")
	s.Scripter(t, "settings", "flDebug", "true")
	pages := map[string]*browsertest.Tab{}
	begun := map[string]time.Time{}
	for _, path := range []string{"", "requests", "status", "at/suites.webserverScripts.samples.tellTime"} {
		pages[path] = logIn(t, s, "ada", path)
		pages[path].See("Log out")
		pages[path].Requests()
		begun[path] = time.Now()
	}
	time.Sleep(32 * time.Second)
	for path, b := range pages {
		asked, idle := b.Requests(), time.Since(begun[path])
		assert.Less(t, float64(len(asked)), idle.Seconds()/10, "%s, in %v: %v", path, idle, asked)
	}
}
