package admin

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
	"scripter/site"
)

func TestLogin(t *testing.T) {
	s := newSite(t)
	s.person("ada", "owner")
	b := s.browser()

	a := b.get("at/user.webserver?view=list")
	assert.Equal(t, http.StatusSeeOther, a.status)
	assert.Equal(t, "/scripter/login?to=%2Fscripter%2Fat%2Fuser.webserver%3Fview%3Dlist", a.header.Get("Location"))
	assert.Contains(t, b.get("login").text(), "Log in to Scripter")

	a = b.post("login", "name", "ada", "password", "wrong")
	assert.Equal(t, http.StatusUnauthorized, a.status)
	assert.Contains(t, a.text(), "The name or the password is wrong.")
	assert.Equal(t, a.body, strings.ReplaceAll(b.post("login", "name", "nobody", "password", "wrong").body, `value="nobody"`, `value="ada"`))

	a = b.post("login", "name", "ada", "password", password, "to", "/scripter/at/user")
	require.Equal(t, http.StatusSeeOther, a.status)
	assert.Equal(t, "/scripter/at/user", a.header.Get("Location"))
	assert.Regexp(t, `^scripter-session-\d+=[\w-]+; Path=/scripter/; HttpOnly; SameSite=Strict$`, a.header.Get("Set-Cookie"))
	assert.Contains(t, b.get("at/user").text(), "webserver")

	b.csrf = b.get("").attr("body", "data-csrf")
	require.Equal(t, http.StatusSeeOther, b.post("logout").status)
	assert.Equal(t, http.StatusSeeOther, b.get("at/user").status, "logged out")
}

func TestAfterLogin(t *testing.T) {
	s := newSite(t)
	s.person("ada", "owner")
	for _, to := range []string{"https://evil.example/", "//evil.example/", "/\\evil.example", "/elsewhere", "/scripter/\r\nX: y", "/scripter/..//evil.example"} {
		a := s.browser().post("login", "name", "ada", "password", password, "to", to)
		require.Equal(t, http.StatusSeeOther, a.status)
		assert.True(t, strings.HasPrefix(a.header.Get("Location"), "/scripter/"), "%q leads to %q", to, a.header.Get("Location"))
		assert.Empty(t, a.header.Get("X"))
	}
}

// TestNoPageWithoutLogin asks for every page without a log-in.
func TestNoPageWithoutLogin(t *testing.T) {
	s := newSite(t)
	s.person("ada", "owner")
	s.put("user.secretStory", objectdb.String("the treasure"))
	for _, p := range s.server.patterns {
		method, path, _ := strings.Cut(p, " ")
		path = strings.NewReplacer("{$}", "", "{address...}", "user.secretStory", "{number}", "1", "{hash}/{name}", "x/y").Replace(path)
		if method == "/" || path == "/login" || path == "/logout" {
			continue
		}
		for _, accept := range []string{"text/html", "application/json"} {
			a := s.browser().send(method, "/scripter"+path, nil, map[string]string{"Accept": accept})
			assert.Contains(t, []int{http.StatusSeeOther, http.StatusUnauthorized}, a.status, "%s %s", p, accept)
			lacks(t, a.body, "treasure")
		}
	}
}

func TestCSRF(t *testing.T) {
	s := newSite(t)
	ada := s.person("ada", "owner")
	eve := s.person("eve", "owner")
	s.put("user.story", objectdb.String("once"))
	deletes := func(why, token string, header map[string]string) {
		if header == nil {
			header = map[string]string{}
		}
		header["Content-Type"] = "application/x-www-form-urlencoded"
		a := ada.send(http.MethodPost, "at/user.story", strings.NewReader("do=delete&csrf="+token), header)
		assert.Equal(t, http.StatusForbidden, a.status, why)
		assert.NotNil(t, s.get("user.story"), why)
	}
	deletes("no token", "", nil)
	deletes("a wrong token", "abc", nil)
	deletes("the token of somebody else", eve.csrf, nil)
	deletes("from another site", ada.csrf, map[string]string{"Sec-Fetch-Site": "cross-site"})
	deletes("from another origin", ada.csrf, map[string]string{"Origin": "https://evil.example"})
	assert.Equal(t, http.StatusSeeOther, ada.post("at/user.story", "do", "delete").status)
	assert.Nil(t, s.get("user.story"))
}

// TestTextOfARefusedForm sends a long text when the session has ended, or another one has begun.
func TestTextOfARefusedForm(t *testing.T) {
	s := newSite(t)
	ada := s.person("ada", "owner")
	s.put("user.story", objectdb.Text("once"))
	const typed = "\n</textarea><script>alert(1)</script> a long text\n"
	shown := func(a *answer) string {
		assert.NotContains(t, a.body, typed)
		for _, n := range a.find("textarea", "class") {
			return n.FirstChild.Data
		}
		return ""
	}
	a := s.browser().post("edit/user.story", "do", "save", "value", typed)
	assert.Equal(t, http.StatusUnauthorized, a.status)
	assert.Equal(t, typed, shown(a))
	assert.Equal(t, "/scripter/login", a.attr("a", "href"))
	ada.csrf = "another"
	a = ada.post("edit/user.story", "do", "save", "value", typed)
	assert.Equal(t, http.StatusForbidden, a.status)
	assert.Equal(t, typed, shown(a))
	a = ada.send(http.MethodPost, "edit/user.story", strings.NewReader(url.Values{"do": {"save"}, "value": {typed}}.Encode()),
		map[string]string{"Content-Type": "application/x-www-form-urlencoded", "Sec-Fetch-Site": "cross-site"})
	assert.Equal(t, http.StatusForbidden, a.status)
	assert.Empty(t, shown(a), "another site cannot choose the text of the page")
	assert.Equal(t, objectdb.Text("once"), s.get("user.story"))
}

func TestSessionIsNew(t *testing.T) {
	s := newSite(t)
	s.person("ada", "owner")
	const chosen = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
	a := s.browser().send(http.MethodPost, "login", strings.NewReader("name=ada&password="+strings.ReplaceAll(password, " ", "+")),
		map[string]string{"Content-Type": "application/x-www-form-urlencoded",
			"Cookie": "scripter-session=" + chosen})
	require.Equal(t, http.StatusSeeOther, a.status)
	assert.NotContains(t, a.header.Get("Set-Cookie"), chosen)
	b := s.browser()
	a = b.send(http.MethodGet, "at/user", nil, map[string]string{"Cookie": "scripter-session=" + chosen})
	assert.Equal(t, http.StatusSeeOther, a.status, "the token that the browser brought is no session")
}

func TestHeaders(t *testing.T) {
	s := newSite(t)
	ada := s.person("ada", "owner")
	check := func(h http.Header, path string) {
		assert.Contains(t, h.Get("Content-Security-Policy"), "default-src 'none'; script-src 'self'; style-src 'self'", path)
		assert.Contains(t, h.Get("Content-Security-Policy"), "frame-ancestors 'none'", path)
		assert.Equal(t, "DENY", h.Get("X-Frame-Options"), path)
		assert.Equal(t, "nosniff", h.Get("X-Content-Type-Options"), path)
		assert.Equal(t, "private, no-store", h.Get("Cache-Control"), path)
	}
	for _, path := range []string{"", "at/user", "login", "nothing", "at/user.json"} {
		check(ada.get(path).header, path)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel() // the root cannot be read
	w := httptest.NewRecorder()
	s.server.ServeHTTP(w, httptest.NewRequestWithContext(ctx, http.MethodGet, "/scripter/", nil))
	assert.Equal(t, http.StatusInternalServerError, w.Code)
	check(w.Header(), "a root that cannot be read")
}

func TestRoles(t *testing.T) {
	s := newSite(t)
	s.person("ada", "owner")
	author, reader := s.person("bob", `author user.pages user.["odd name"]`), s.person("rita", "reader")
	s.put("user.pages.one", objectdb.String("one"))
	s.put("user.other", objectdb.String("two"))
	for _, b := range []*browser{author, reader} {
		assert.Contains(t, b.get("at/user.pages").text(), "one")
		a := b.get("at/user.webserver.users")
		lacks(t, a.body, "argon2")
		assert.Equal(t, http.StatusForbidden, b.post("at/user.other", "do", "delete").status)
		assert.Equal(t, http.StatusForbidden, b.post("at/user.webserver.roles", "do", "new", "name", "eve", "kind", "string").status)
		assert.Equal(t, http.StatusForbidden, b.post("at/user.other", "do", "move", "to", "user.pages.taken").status)
		assert.Equal(t, http.StatusForbidden, b.post("at/user.webserver", "do", "copy", "to", "user.pages.copy").status)
	}
	assert.Equal(t, http.StatusForbidden, reader.post("at/user.pages.one", "do", "delete").status)
	assert.Equal(t, http.StatusSeeOther, author.post("at/user.pages.one", "do", "move", "to", "user.pages.two").status)
	assert.Equal(t, objectdb.String("one"), s.get("user.pages.two"))
	assert.Equal(t, http.StatusForbidden, author.post("at/user.pages.two", "do", "move", "to", "user.elsewhere").status)

	// What a role allows changes at the next request.
	s.update(func(tx *objectdb.Tx) error { return site.SetRole(tx, "bob", "reader") })
	assert.NotEqual(t, http.StatusOK, author.post("at/user.pages.two", "do", "delete").status)
	assert.NotNil(t, s.get("user.pages.two"))
}
