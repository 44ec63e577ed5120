package gateway

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/httpheader"
	"scripter/objectdb"
	"scripter/site"
)

// requires stores a row for the object at an address without any check, as a script
// could.
func (s *testSite) requires(address, text string) {
	s.t.Helper()
	s.put(`user.webserver.requires.["`+address+`"]`, objectdb.String(text))
}

// TestRequires checks that a row applies to the object, whatever URL leads to it, and
// that an invalid row admits nobody.
func TestRequires(t *testing.T) {
	s := newSite(t)
	s.script("members.report", `return "the report"`)
	s.script("members.help", `return "help"`)
	s.script("free", `return "free"`)
	s.page("page.mcro", "page")
	status := func(path string, vars map[string]string) int { t.Helper(); return s.ask(path, vars).Status }
	ada := map[string]string{"REMOTE_USER": "ada"}
	redirected := map[string]string{"REDIRECT_REMOTE_USER": "ada"}

	assert.Equal(t, 200, status("/members.report.fcgi", nil))
	s.requires("suites.webserverScripts.members", "user")
	assert.Equal(t, 403, status("/members.report.fcgi", nil), "there are no users who could log in")
	assert.Equal(t, 200, status("/members.report.fcgi", ada))
	assert.Equal(t, 200, status("/members.report.fcgi", redirected), "behind Apache's Action")
	for name, want := range map[string]int{"200": 200, "404": 200, "403": 200, "401": 403, "400": 403, "500": 403} {
		again := map[string]string{"REDIRECT_REMOTE_USER": "ada", "REDIRECT_STATUS": name}
		assert.Equal(t, want, status("/members.report.fcgi", again), "an ErrorDocument %s", name)
		again["REDIRECT_STATUS"], again["REDIRECT_REDIRECT_STATUS"] = "200", name
		assert.Equal(t, want, status("/members.report.fcgi", again), "an Action after an ErrorDocument %s", name)
	}
	assert.Equal(t, 403, status("/MEMBERS.Report.FCGI/x$y", map[string]string{"HTTP_REMOTE_USER": "ada"}))
	assert.Equal(t, 200, status("/free.fcgi", nil))
	s.requires("suites.webserverScripts.members.help", "anyone")
	assert.Equal(t, 200, status("/members.help.fcgi", nil), "the nearest row counts")

	s.requires("suites.webserverScripts.members.report", "user bob  carol")
	assert.Equal(t, 403, status("/members.report.fcgi", ada))
	assert.Equal(t, 200, status("/members.report.fcgi", map[string]string{"REMOTE_USER": "carol"}))

	for _, text := range []string{"", "users", "realm", "realm a\nb", "anyone else"} {
		s.requires("suites.webserverScripts.members.report", text)
		assert.Equal(t, 403, status("/members.report.fcgi", ada), "%q", text)
	}
	s.put(`user.webserver.requires.["suites.webserverScripts.members.report"]`, objectdb.Boolean(false))
	assert.Equal(t, 403, status("/members.report.fcgi", ada), "a row that is not a text")
	update(t, s.db, func(tx *objectdb.Tx) error { return tx.Delete(site.RequireRows) })
	assert.Equal(t, 200, status("/members.report.fcgi", nil))
	s.put("user.webserver.requires", objectdb.String("none"))
	assert.Equal(t, 403, status("/free.fcgi", nil), "rows that are not a table")
	update(t, s.db, func(tx *objectdb.Tx) error { return tx.Delete(site.RequireRows) })

	// The script of an action, also the one that runs without Lua.
	s.requires("user.webserver.actions.MACRO", "user")
	assert.Equal(t, 403, status("/page.mcro", nil))
	assert.Equal(t, 200, status("/page.mcro", ada))
	s.put("user.webserver.actions.MACRO", objectdb.Script("local p = ...\nlocal t = webserver.expandPage (p)\nreturn t"))
	assert.Equal(t, 403, status("/page.mcro", nil))
	s.requires("user.webserver.actions", "anyone")
	assert.Equal(t, 403, status("/page.mcro", nil))
}

// TestRequiresLogin checks that users of the root log in with HTTP Basic.
func TestRequiresLogin(t *testing.T) {
	s := newSite(t)
	s.script("report", `return {headers = {["Cache-Control"] = "public, max-age=60"}, body = "the report"}`)
	s.script("private", `return {headers = {["Cache-Control"] = "private, max-age=60"}, body = "the report"}`)
	s.script("add",
		`httpd.addUser ("Ada", "sesame") httpd.addUser ("Bob", "sesame") httpd.addUser ("Eve", "sesame", 'the "back" room') return "done"`)
	require.Equal(t, 200, s.ask("/add.fcgi", nil).Status)
	ask := func(path, says string) (int, string, string) {
		t.Helper()
		vars := map[string]string{}
		if says != "" {
			vars["HTTP_AUTHORIZATION"] = "Basic " + base64.StdEncoding.EncodeToString([]byte(says))
		}
		r := s.ask(path, vars)
		return r.Status, r.Get("WWW-Authenticate"), r.Get("Cache-Control")
	}
	s.requires("suites.webserverScripts.report", "user")
	s.requires("suites.webserverScripts.private", "user Ada")
	for says, want := range map[string]int{
		"": 401, "Ada:sesame": 200, "ada:sesame": 200, "Ada:wrong": 401, "Ada:": 401, ":sesame": 401, "Eve:sesame": 401,
		"Ada:" + strings.Repeat("x", 5000): 401, "a\nb:sesame": 401, strings.Repeat("n", 5000) + ":sesame": 401,
	} {
		got, field, caches := ask("/report.fcgi", says)
		assert.Equal(t, want, got, "%.20q", says)
		assert.Equal(t, want == 401, field == `Basic realm="default", charset="UTF-8"`, "%.20q: %s", says, field)
		assert.Equal(t, "private, no-cache", caches, "%.20q", says)
	}
	got, _, caches := ask("/private.fcgi", "ada:sesame")
	assert.Equal(t, 200, got, "the name counts as the table spells it")
	assert.Equal(t, "private, max-age=60", caches)
	got, _, _ = ask("/private.fcgi", "Bob:sesame")
	assert.Equal(t, 403, got)
	got, _, _ = ask("/private.fcgi", "Bob:wrong")
	assert.Equal(t, 401, got, "without the password nobody learns who is admitted")

	s.requires("suites.webserverScripts.report", `realm the "back" room`)
	got, field, _ := ask("/report.fcgi", "Ada:sesame")
	assert.Equal(t, 401, got)
	assert.Equal(t, `Basic realm="the \"back\" room", charset="UTF-8"`, field)
	got, _, _ = ask("/report.fcgi", "Eve:sesame")
	assert.Equal(t, 200, got)
	assert.Equal(t, 401, s.ask("/report.fcgi", map[string]string{"REMOTE_USER": "Eve"}).Status,
		"a user whom the web server has checked has no realm")
	s.put(`user.webserver.users.["the \"back\" room"].Eve`, objectdb.String("no hash"))
	got, _, _ = ask("/report.fcgi", "Eve:sesame")
	assert.Equal(t, 500, got, "an invalid hash admits nobody")
}

// TestKeepPrivate checks that no header of a script lets a shared cache store a response that
// requires a user.
func TestKeepPrivate(t *testing.T) {
	for control, want := range map[string]string{
		"":                                 "private, no-cache",
		"public, max-age=60":               "private, no-cache",
		"max-age=60, Private":              "max-age=60, Private",
		"no-store":                         "no-store",
		`private="Set-Cookie", max-age=60`: "private, no-cache",
		`max-age=60, x="a, private, b"`:    "private, no-cache",
		"max-age=60, notprivate=1":         "private, no-cache",
		"max-age=60, no-storex":            "private, no-cache",
	} {
		resp := &httpheader.Response{}
		if control != "" {
			resp.Add("Cache-Control", control)
		}
		resp.Add("Surrogate-Control", "max-age=60")
		resp.Add("X-Accel-Expires", "60")
		keepPrivate(resp)
		assert.Equal(t, want, resp.Get("Cache-Control"), control)
		assert.Len(t, resp.Fields, 1, control)
	}
}

// TestScriptFolders checks in which folders of URLs scripts are found.
func TestScriptFolders(t *testing.T) {
	s := newSite(t)
	s.script("x", `return "x"`)
	for _, c := range []struct {
		setting objectdb.Value
		open    string // paths that answer; all others of the list below do not
	}{
		{objectdb.String("/"), "/x.fcgi //x.fcgi /./x.fcgi /x.fcgi/extra/x"},
		{objectdb.String("*"),
			"/x.fcgi //x.fcgi /./x.fcgi /x.fcgi/extra/x /a/x.fcgi /A/x.fcgi /a/b/x.fcgi /a/b/x.fcgi/extra"},
		{nil, "/x.fcgi //x.fcgi /./x.fcgi /x.fcgi/extra/x /a/x.fcgi /A/x.fcgi /a/b/x.fcgi /a/b/x.fcgi/extra"},
		{objectdb.String(" /a\n/a/b "), "/a/x.fcgi /a/b/x.fcgi /a/b/x.fcgi/extra"},
		{objectdb.String("a"), "/x.fcgi //x.fcgi /./x.fcgi /x.fcgi/extra/x"}, // invalid: the strictest value counts
		{objectdb.Number(1), "/x.fcgi //x.fcgi /./x.fcgi /x.fcgi/extra/x"},
	} {
		if c.setting == nil {
			update(t, s.db, func(tx *objectdb.Tx) error { return tx.Delete(site.ScriptFolders.Address()) })
		} else {
			s.put("user.webserver.scriptFolders", c.setting)
		}
		open := strings.Fields(c.open)
		for _, path := range []string{"/x.fcgi", "//x.fcgi", "/./x.fcgi", "/x.fcgi/extra/x", "/a/x.fcgi", "/A/x.fcgi",
			"/a/b/x.fcgi", "/a/b/x.fcgi/extra"} {
			want := 404
			for _, p := range open {
				if p == path {
					want = 200
				}
			}
			assert.Equal(t, want, s.ask(path, nil).Status, "%v: %s", c.setting, path)
		}
	}
}

// FuzzChallenge checks that no realm can split a header field.
func FuzzChallenge(f *testing.F) {
	for _, realm := range []string{"default", "the back room", "\x00", "a\"b\\", "\r\nX: y"} {
		f.Add(realm)
	}
	f.Fuzz(func(t *testing.T, realm string) {
		field := challenge(realm)
		for _, c := range []byte(field) {
			require.True(t, c >= ' ' && c < 0x7f, "%q", field)
		}
	})
}
