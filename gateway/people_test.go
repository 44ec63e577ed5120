package gateway

import (
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
	"scripter/site"
)

// TestFormTokens checks which requests need the token of the visitor's session, and which tokens count.
func TestFormTokens(t *testing.T) {
	s := sessionSite(t)
	form := url.Values{"a": {"1"}}
	with := func(token string) url.Values { return url.Values{"a": {"1"}, "formToken": {token}} }
	stranger, b, other := s.browser(), s.browser(), s.browser()
	other.get("/set.fcgi?n=1")
	assert.Empty(t, stranger.token())
	assert.Equal(t, "posted 1", stranger.send("/post.fcgi", form, nil).Body, "a form of 1998, without a session")
	early := b.token()
	b.get("/set.fcgi?n=7")
	token := b.token()
	assert.NotEqual(t, token, b.token(), "each form has another text")

	here, there := map[string]string{"HTTP_ORIGIN": "http://localhost"}, map[string]string{"HTTP_ORIGIN": "http://evil.example"}
	same, cross := map[string]string{"HTTP_SEC_FETCH_SITE": "same-origin"}, map[string]string{"HTTP_SEC_FETCH_SITE": "cross-site"}
	for _, c := range []struct {
		name   string
		form   url.Values
		more   map[string]string
		status int
	}{
		{"no token", form, nil, 403},
		{"no token, from here", form, here, 403},
		{"the token", with(token), nil, 200},
		{"the token, from here", with(token), here, 200},
		{"the token in a field of the header", form, map[string]string{"HTTP_X_CSRF_TOKEN": token}, 200},
		{"from another site", with(token), there, 403},
		{"from another site, says the browser", with(token), cross, 403},
		{"a neighbour", with(token), map[string]string{"HTTP_SEC_FETCH_SITE": "same-site"}, 403},
		{"of another visitor", with(other.token()), same, 403},
		{"cut off", with(token[1:]), same, 403},
		{"not base64", with("!" + token[1:]), same, 403},
		{"opened before the session", with(early), nil, 403},
		{"opened before the session, from here", with(early), here, 200},
		{"opened before the session, says the browser", with(early), same, 200},
		{"opened before the session, elsewhere", with(early), there, 403},
		{"multipart without a token", form, map[string]string{"CONTENT_TYPE": "multipart/form-data; boundary=x"}, 403},
		{"plain text", form, map[string]string{"CONTENT_TYPE": "text/plain"}, 403},
		{"no type", form, map[string]string{"CONTENT_TYPE": ""}, 403},
		{"a broken type", form, map[string]string{"CONTENT_TYPE": ";"}, 0},
		{"JSON", form, map[string]string{"CONTENT_TYPE": "application/json"}, 200},
		{"with a name and a password", form, map[string]string{"HTTP_AUTHORIZATION": "Basic YTpi"}, 200},
		{"PUT", form, map[string]string{"REQUEST_METHOD": "PUT"}, 403},
		{"DELETE", url.Values{}, map[string]string{"REQUEST_METHOD": "DELETE"}, 403},
		{"DELETE without a type", url.Values{}, map[string]string{"REQUEST_METHOD": "DELETE", "CONTENT_TYPE": ""}, 200},
		{"PATCH", form, map[string]string{"REQUEST_METHOD": "PATCH"}, 403},
		{"GET", nil, nil, 200},
	} {
		r := b.send("/post.fcgi", c.form, c.more)
		if c.status == 0 {
			assert.GreaterOrEqual(t, r.Status, 400, c.name)
			continue
		}
		assert.Equal(t, c.status, r.Status, c.name)
		if c.status == 403 {
			assert.Contains(t, r.Body, "Form not accepted", c.name)
			assert.Contains(t, r.Body, "copy what you have typed", c.name)
		}
	}
	assert.Contains(t, s.log.String(), "form.token () makes it")

	// The log-in gives the session another token. Forms that were open before go on.
	require.Equal(t, "hello Ada", b.send("/login.fcgi", merged(adasLogin, with(token)), nil).Body)
	assert.Equal(t, 403, b.send("/post.fcgi", with(token), nil).Status)
	assert.Equal(t, "posted 1", b.send("/post.fcgi", with(token), same).Body)
	assert.Equal(t, 403, b.send("/post.fcgi", with(token), cross).Status)
	assert.Equal(t, "posted 1", b.send("/post.fcgi", with(b.token()), nil).Body)

	// An older root has no page for it.
	update(t, s.db, func(tx *objectdb.Tx) error {
		return tx.Delete(objectdb.Address{"user", "webserver", "prefs", "formPage"})
	})
	r := b.send("/post.fcgi", form, nil)
	assert.Equal(t, 403, r.Status)
	assert.Contains(t, r.Body, "copy what you have typed")

	s.put("user.webserver.flFormTokens", objectdb.Boolean(false))
	assert.Equal(t, "posted 1", b.send("/post.fcgi", form, cross).Body)
	assert.Equal(t, 403, b.send("/login.fcgi", adasLogin, cross).Status, "no other site logs a browser in")
}

func merged(a, b url.Values) url.Values {
	m := url.Values{}
	for _, from := range []url.Values{a, b} {
		for name, values := range from {
			m[name] = values
		}
	}
	return m
}

// TestLogIn checks log-ins with a name and a password: what they tell, and that failed tries make others wait,
// whatever the script does after them.
func TestLogIn(t *testing.T) {
	s := sessionSite(t)
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	s.g.now = func() time.Time { return now }
	b := s.browser()
	try := func(path, name, password string) string {
		t.Helper()
		return b.send(path, url.Values{"name": {name}, "password": {password}}, nil).Body
	}
	const wrong = "the name or the password is wrong"
	assert.Equal(t, wrong, try("/login.fcgi", "ada", "wrong"))
	assert.Equal(t, wrong, try("/login.fcgi", "nobody", "open sesame"))
	assert.Equal(t, wrong, try("/login.fcgi", "", ""))
	assert.Empty(t, b.cookies, "a failed try makes no session")
	assert.Equal(t, "hello Ada", try("/login.fcgi", "ada", "open sesame"))
	assert.Equal(t, "Ada", b.get("/who.fcgi"))
	b.get("/out.fcgi")
	assert.Equal(t, "nil", b.get("/who.fcgi"))

	s.script("fails", `local p = ... assert (users.logIn (p.argTable.name, p.argTable.password)) return "in"`)
	stranger := map[string]string{"REMOTE_ADDR": "192.0.2.9"}
	for range 3 {
		r := b.send("/fails.fcgi", url.Values{"name": {"bob"}, "password": {"wrong"}}, stranger)
		assert.Equal(t, 500, r.Status)
	}
	r := b.send("/login.fcgi", url.Values{"name": {"bob"}, "password": {"bob's sesame"}}, stranger)
	assert.Equal(t, "too many tries: wait for 1s 1", r.Body, "tries of scripts that failed count")
	now = now.Add(time.Second)
	r = b.send("/login.fcgi", url.Values{"name": {"bob"}, "password": {"bob's sesame"}}, stranger)
	assert.Equal(t, "hello Bob", r.Body)

	// Ada in Bob's browser does not see what Bob has stored.
	b.get("/set.fcgi?n=bob")
	_, body := b.post("/login.fcgi", adasLogin)
	require.Equal(t, "hello Ada", body)
	assert.Equal(t, "nil", b.get("/show.fcgi"))

	// A log-in ends with the password and the role, whoever changes them.
	s.script("roles", `user.webserver.roles.Ada = "reader" return "x"`)
	s.browser().get("/roles.fcgi")
	assert.Equal(t, "nil", b.get("/who.fcgi"))
	s.script("realm", `local p = ... httpd.addUser ("Eve", "eve's sesame", "club")
		return users.logIn ("eve", "eve's sesame", {realm = "club"}) .. select (2, users.current ())`)
	assert.Equal(t, "Eveclub", s.browser().get("/realm.fcgi"))
	s.script("bad", `local p = ... return select (2, pcall (users.logIn, "a", "b", {rembmer = true}))`)
	assert.Contains(t, s.browser().get("/bad.fcgi"), `not "rembmer"`)
}

// TestLogInInMarker checks that a failed marker undoes a log-in and a message, but not the count of a failed try.
func TestLogInInMarker(t *testing.T) {
	s := sessionSite(t)
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	s.g.now = func() time.Time { return now }
	s.put("workspace.try", objectdb.Script(`assert (users.logIn ("ada", "wrong")) return "in"`))
	s.put("workspace.undone", objectdb.Script(`users.logIn ("ada", "open sesame") session.n = 1 session.flash ("x") error "on purpose"`))
	s.page("try.mcro", "<!--#workspace.try ()-->out")
	s.page("undone.mcro", "<!--#workspace.undone ()--><!--#users.current ()-->|<!--#session.n-->|<!--#for m in flash-->x<!--#end-->")
	b := s.browser()
	assert.Equal(t, "||", b.get("/undone.mcro"))
	assert.Empty(t, b.cookies)
	assert.Zero(t, s.rows(site.Visitors))
	b.get("/set.fcgi?n=7")
	assert.Equal(t, "|7|", b.get("/undone.mcro"))
	assert.Equal(t, "7", b.get("/show.fcgi"))
	assert.Equal(t, "nil", b.get("/who.fcgi"))
	for range 3 {
		assert.Equal(t, "out", s.browser().get("/try.mcro"))
	}
	assert.Contains(t, s.browser().send("/login.fcgi", adasLogin, nil).Body, "too many tries")
}

// TestRemember checks log-ins that outlive the browser: each token is used once, and one that is used again after
// the next one tells of a thief.
func TestRemember(t *testing.T) {
	s := sessionSite(t)
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	s.g.now = func() time.Time { return now }
	const cookie = "scripter-remembered"
	restart := func(b *browser) *browser { // a browser forgets its sessions when it is closed
		b = b.copy()
		delete(b.cookies, "scripter-visitor")
		return b
	}
	b := s.browser()
	form := merged(adasLogin, url.Values{"remember": {"on"}})
	r := b.send("/login.fcgi", form, nil)
	require.Equal(t, "hello Ada", r.Body)
	assert.Regexp(t, `^scripter-remembered=[0-9a-f]{16}\.[\w-]{43}\.[\w-]{43}; Path=/; Max-Age=2592000; HttpOnly; SameSite=Lax$`, setCookies(r)[0])
	first := b.cookies[cookie]
	now = now.Add(20 * time.Hour)
	assert.Equal(t, "nil", b.get("/show.fcgi"), "the session is over")
	copied := restart(b)
	b = restart(b)
	two := b.copy()
	assert.Equal(t, "Ada", b.get("/who.fcgi"))
	assert.NotEqual(t, first, b.cookies[cookie])
	assert.Equal(t, "Ada", two.get("/who.fcgi"), "two tabs at once")
	assert.Equal(t, first, two.cookies[cookie])
	assert.Equal(t, "Ada", b.get("/who.fcgi"))

	now = now.Add(20 * time.Hour)
	b = restart(b)
	assert.Equal(t, "Ada", b.get("/who.fcgi"))
	assert.Equal(t, "nil", copied.get("/who.fcgi"), "a token that was used before the last one")
	assert.Empty(t, copied.cookies[cookie])
	assert.Contains(t, s.log.String(), "it has been copied")
	assert.Equal(t, "nil", b.get("/who.fcgi"), "nobody knows which of the two is the thief")
	assert.Zero(t, s.rows(site.Remembered))

	// An answer that got lost does no harm.
	b = s.browser()
	b.send("/login.fcgi", form, nil)
	lost := restart(b)
	now = now.Add(20 * time.Hour)
	assert.Equal(t, "Ada", lost.copy().get("/who.fcgi"))
	now = now.Add(20 * time.Hour)
	assert.Equal(t, "Ada", lost.get("/who.fcgi"))
	now = now.Add(29 * 24 * time.Hour)
	lost = restart(lost)
	assert.Equal(t, "Ada", lost.get("/who.fcgi"))
	now = now.Add(30 * 24 * time.Hour)
	assert.Equal(t, "nil", restart(lost).get("/who.fcgi"), "nobody used it for 30 days")

	// The log-out, and another password, end it.
	b = s.browser()
	b.send("/login.fcgi", form, nil)
	out := restart(b)
	b.get("/out.fcgi")
	assert.Empty(t, b.cookies)
	assert.Equal(t, "nil", out.get("/who.fcgi"))
	b.send("/login.fcgi", form, nil)
	elsewhere := restart(b)
	s.script("change", `local p = ... return tostring (users.changePassword ("open sesame", "another sesame"))`)
	assert.Equal(t, "true", b.get("/change.fcgi"))
	assert.Equal(t, "Ada", b.get("/who.fcgi"), "this session stays")
	assert.Equal(t, "nil", elsewhere.get("/who.fcgi"))
	for _, bad := range []string{"", ".", "..", "x.y.z", strings.Repeat("a", 16) + ".b.c", "\x00" + first[1:], first + "x"} {
		b = s.browser()
		b.cookies[cookie] = bad
		assert.Equal(t, "nil", b.get("/who.fcgi"), "%q", bad)
	}
	s.put("user.webserver.rememberDays", objectdb.Number(0))
	b = s.browser()
	b.send("/login.fcgi", url.Values{"name": {"bob"}, "password": {"bob's sesame"}, "remember": {"on"}}, nil)
	assert.Empty(t, b.cookies[cookie])
}

// TestChangePassword checks what another password needs and ends.
func TestChangePassword(t *testing.T) {
	s := sessionSite(t)
	s.script("change", `local p = ... local done, why = users.changePassword (p.argTable.old, p.argTable.new)
		return done and "changed" or why`)
	b, other := s.browser(), s.browser()
	assert.Equal(t, 500, b.send("/change.fcgi", url.Values{"old": {"x"}, "new": {"y"}}, nil).Status, "nobody is logged in")
	b.send("/login.fcgi", adasLogin, nil)
	other.send("/login.fcgi", adasLogin, nil)
	_, body := b.post("/change.fcgi", url.Values{"old": {"wrong"}, "new": {"another sesame"}})
	assert.Equal(t, "the old password is wrong", body)
	_, body = b.post("/change.fcgi", url.Values{"old": {"open sesame"}, "new": {"short"}})
	assert.Equal(t, "the password has fewer than 10 characters", body)
	before := b.copy()
	_, body = b.post("/change.fcgi", url.Values{"old": {"open sesame"}, "new": {"another sesame"}})
	assert.Equal(t, "changed", body)
	assert.Equal(t, "Ada", b.get("/who.fcgi"))
	assert.Equal(t, "nil", other.get("/who.fcgi"))
	assert.Equal(t, "nil", before.get("/who.fcgi"), "the session has another token")
	s.script("set2", `users.setPassword ("ada", "a third sesame") return "set"`)
	assert.Equal(t, "set", s.browser().get("/set2.fcgi"))
	assert.Equal(t, "nil", b.get("/who.fcgi"))
	s.script("nobody", `return select (2, pcall (users.setPassword, "nobody", "a third sesame"))`)
	assert.Contains(t, b.get("/nobody.fcgi"), `there is no user "nobody"`)
}

// TestRequiresPerson checks that a log-in on the site meets a requirement, and that others are sent to the log-in page.
func TestRequiresPerson(t *testing.T) {
	s := sessionSite(t)
	s.requires("suites.webserverScripts.post", "role editor boss")
	s.requires("/members/", "user")
	s.requires("/members/open.mcro", "anyone")
	s.script("editor", `users.setRoles ("Ada", {"Editor"}) return tostring (users.hasRole ("editor", "ada"))`)
	s.script("role", `return tostring (users.hasRole ("EDITOR")) .. tostring (users.hasRole ("boss"))`)
	require.NoError(t, os.Mkdir(filepath.Join(s.folder, "members"), 0o755))
	s.page("members/a.mcro", "for members")
	s.page("members/open.mcro", "open")
	b := s.browser()
	page := map[string]string{"HTTP_ACCEPT": "text/html,*/*", "SCRIPT_NAME": "/members/a.mcro"}
	at := func(path string) (int, string) {
		t.Helper()
		r := b.send(path, nil, map[string]string{"HTTP_ACCEPT": "text/html,*/*"})
		return r.Status, r.Body
	}
	for _, path := range []string{"/members/a.mcro", "/Members/a.mcro", "/members//a.mcro", "/members/post.fcgi", "/members/a.mcro/x"} {
		status, _ := at(path)
		assert.Equal(t, 401, status, path)
	}
	status, body := at("/members/open.mcro")
	assert.Equal(t, "200 open", strconv.Itoa(status)+" "+body)

	s.put("user.webserver.loginPage", objectdb.String("/login.fcgi"))
	r := b.send("/members/a.mcro?x=1&y=%26", nil, map[string]string{"HTTP_ACCEPT": "text/html,*/*"})
	assert.Equal(t, 303, r.Status)
	assert.Equal(t, "/login.fcgi?to=%2Fmembers%2Fa.mcro%3Fx%3D1%26y%3D%2526", r.Get("Location"))
	assert.Contains(t, r.Get("Cache-Control"), "private")
	assert.Equal(t, 401, b.send("/members/a.mcro", nil, nil).Status, "no browser")
	assert.Equal(t, 401, b.send("/members/a.mcro", url.Values{}, page).Status, "a form")
	page["HTTP_SEC_FETCH_MODE"] = "cors"
	assert.Equal(t, 401, b.send("/members/a.mcro", nil, page).Status, "a script of a page")
	assert.Equal(t, 303, b.send("/post.fcgi", nil, map[string]string{"HTTP_ACCEPT": "text/html"}).Status)

	b.send("/login.fcgi", adasLogin, nil)
	status, body = at("/members/a.mcro")
	assert.Equal(t, "200 for members", strconv.Itoa(status)+" "+body)
	status, _ = at("/post.fcgi")
	assert.Equal(t, 403, status, "somebody without the role")
	assert.Equal(t, "falsefalse", b.get("/role.fcgi"))
	b.get("/editor.fcgi")
	status, _ = at("/post.fcgi")
	assert.Equal(t, 200, status)
	assert.Equal(t, "truefalse", b.get("/role.fcgi"))
	assert.Equal(t, 200, s.ask("/post.fcgi", map[string]string{"REMOTE_USER": "Ada"}).Status, "whom the web server has checked")
	assert.Equal(t, 403, s.ask("/post.fcgi", map[string]string{"REMOTE_USER": "Bob"}).Status)
	assert.Equal(t, "Ada", s.ask("/who.fcgi", map[string]string{"REMOTE_USER": "Ada"}).Body)

	s.requires("suites.webserverScripts.login", "user")
	r = s.ask("/login.fcgi", map[string]string{"HTTP_ACCEPT": "text/html"})
	assert.Equal(t, 500, r.Status, "a log-in page that requires a log-in")
	s.requires("/", "user")
	assert.Equal(t, 303, s.ask("/show.fcgi", map[string]string{"HTTP_ACCEPT": "text/html"}).Status)
	s.requires("/", "users")
	assert.Equal(t, 403, s.ask("/show.fcgi", map[string]string{"HTTP_ACCEPT": "text/html"}).Status, "a wrong row admits nobody")
}

// TestReturnURL checks that the field of a log-in page leads nowhere but to this site.
func TestReturnURL(t *testing.T) {
	s := sessionSite(t)
	s.script("to", `return users.returnURL ("/home")`)
	for to, want := range map[string]string{
		"": "/home", "/a.fcgi?x=1": "/a.fcgi?x=1", "//evil.example": "/home", `/\evil.example`: "/home", "http://evil.example/": "/home",
		"/\t/evil.example": "/home", "javascript:alert(1)": "/home", "evil": "/home", "/" + strings.Repeat("x", 3000): "/home", "/a\r\nX: y": "/home",
	} {
		assert.Equal(t, want, s.browser().get("/to.fcgi?"+url.Values{"to": {to}}.Encode()), to)
		assert.Equal(t, want, s.browser().send("/to.fcgi", url.Values{"to": {to}}, nil).Body, to)
	}
}

// TestSessionIsMasked checks that a recorded request shows neither the cookies nor the token of a form.
func TestSessionIsMasked(t *testing.T) {
	s := sessionSite(t)
	s.script("both", `local p = ... session.n = "x" return form.token () .. p.method`)
	s.put("user.webserver.flDebug", objectdb.Boolean(true))
	b := s.browser()
	r := b.send("/both.fcgi", nil, nil)
	token := tokenField.FindStringSubmatch(strings.TrimSuffix(r.Body, "GET"))[1]
	require.NotEmpty(t, token)
	assert.Equal(t, "hello Ada", b.send("/login.fcgi", merged(merged(adasLogin, url.Values{"remember": {"on"}}),
		url.Values{"formToken": {token}}), nil).Body)
	b.get("/show.fcgi")
	text := s.recordedText()
	for name, value := range b.cookies {
		assert.NotContains(t, text, value, name)
	}
	assert.NotContains(t, text, token)
	assert.NotContains(t, text, "open sesame")
}

// FuzzSiteCookie checks that a cookie is only read by its own name, and never from two different ones.
func FuzzSiteCookie(f *testing.F) {
	for _, text := range []string{"", "a=b", "scripter-visitor=x", "scripter-visitor=x; scripter-visitor=y", "scripter-visitor", ";;=",
		"x=scripter-visitor=1", " scripter-visitor = x ;"} {
		f.Add(text, "/")
	}
	f.Add("a", "//evil")
	f.Fuzz(func(t *testing.T, text, to string) {
		r := &Request{Params: map[string]string{"HTTP_COOKIE": text, "HTTP_HOST": "localhost"}}
		if got := r.siteCookie("scripter-visitor"); got != "" {
			require.Contains(t, text, "scripter-visitor="+got)
			require.NotContains(t, got, ";")
		}
		if site.IsLocalPath(to) {
			u, err := url.Parse("https://localhost" + to)
			if err == nil {
				require.Equal(t, "localhost", u.Host)
			}
			u, err = url.Parse("https://localhost/")
			require.NoError(t, err)
			if u, err = u.Parse(to); err == nil {
				require.Equal(t, "localhost", u.Host)
			}
		}
	})
}
