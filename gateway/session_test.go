package gateway

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/httpheader"
	"scripter/objectdb"
	"scripter/site"
)

// browser keeps cookies as a browser does, and asks a site.
type browser struct {
	s       *testSite
	cookies map[string]string
	vars    map[string]string // added to each request
}

func (s *testSite) browser() *browser { return &browser{s: s, cookies: map[string]string{}} }

func (b *browser) copy() *browser { return &browser{b.s, maps.Clone(b.cookies), maps.Clone(b.vars)} }

// send sends a request. A form makes it a POST.
func (b *browser) send(path string, form url.Values, more map[string]string) *httpheader.Response {
	b.s.t.Helper()
	vars := maps.Clone(b.vars)
	if vars == nil {
		vars = map[string]string{}
	}
	maps.Copy(vars, more)
	var list []string
	for name, value := range b.cookies {
		list = append(list, name+"="+value)
	}
	if len(list) > 0 && vars["HTTP_COOKIE"] == "" {
		vars["HTTP_COOKIE"] = strings.Join(list, "; ")
	}
	body := ""
	if form != nil {
		body = form.Encode()
		if vars["REQUEST_METHOD"] == "" {
			vars["REQUEST_METHOD"] = "POST"
		}
		if _, given := vars["CONTENT_TYPE"]; !given {
			vars["CONTENT_TYPE"] = "application/x-www-form-urlencoded"
		}
		vars["CONTENT_LENGTH"] = strconv.Itoa(len(body))
	}
	r := b.s.request(path, vars)
	r.Body = strings.NewReader(body)
	resp, _ := b.s.answer(r)
	for _, f := range resp.Fields {
		if f.Name != "Set-Cookie" {
			continue
		}
		c, err := http.ParseSetCookie(f.Value)
		require.NoError(b.s.t, err)
		if c.MaxAge < 0 {
			delete(b.cookies, c.Name)
		} else {
			b.cookies[c.Name] = c.Value
		}
	}
	return resp
}

func (b *browser) get(path string) string { b.s.t.Helper(); return b.send(path, nil, nil).Body }

// post sends a form with a fresh token and returns the status and the body.
func (b *browser) post(path string, form url.Values) (int, string) {
	b.s.t.Helper()
	form = maps.Clone(form)
	form.Set("formToken", b.token())
	r := b.send(path, form, nil)
	return r.Status, r.Body
}

var tokenField = regexp.MustCompile(`^<input type="hidden" name="formToken" value="([A-Za-z0-9_-]*)">$`)

func (b *browser) token() string {
	b.s.t.Helper()
	m := tokenField.FindStringSubmatch(b.get("/token.fcgi"))
	require.Len(b.s.t, m, 2)
	return m[1]
}

func setCookies(r *httpheader.Response) (list []string) {
	for _, f := range r.Fields {
		if f.Name == "Set-Cookie" {
			list = append(list, f.Value)
		}
	}
	return list
}

// sessionSite is a site with scripts that use the session, and two users.
func sessionSite(t testing.TB) *testSite {
	s := newSite(t)
	s.script("token", `return form.token ()`)
	s.script("show", `return tostring (session.n)`)
	s.script("set", `local p = ... session.n = p.searchTable.n return "set"`)
	s.script("count", `session.n = (session.n or 0) + 1 return session.n .. ""`)
	s.script("who", `return tostring (users.current ())`)
	s.script("out", `users.logOut () return "out"`)
	s.script("login", `local p = ...
		local name, why, wait = users.logIn (p.argTable.name, p.argTable.password, {remember = p.argTable.remember == "on"})
		return name and "hello " .. name or why .. (wait and " " .. wait or "")`)
	s.script("post", `local p = ... return "posted " .. tostring (p.argTable.a)`)
	s.script("adduser", `httpd.addUser ("Ada", "open sesame") httpd.addUser ("Bob", "bob's sesame") return "done"`)
	require.Equal(t, "done", s.ask("/adduser.fcgi", nil).Body)
	return s
}

var adasLogin = url.Values{"name": {"ada"}, "password": {"open sesame"}}

// rows returns the number of sessions in the root.
func (s *testSite) rows(table objectdb.Address) (n int) {
	s.t.Helper()
	require.NoError(s.t, s.db.View(s.t.Context(), func(tx *objectdb.Tx) error {
		list, err := tx.List(table)
		if objectdb.IsMissing(err) {
			err = nil
		}
		n = len(list)
		return err
	}))
	return n
}

// TestSession checks that a session is stored and a cookie set once something is written, and not before, and that
// the cookie has all its flags.
func TestSession(t *testing.T) {
	s := sessionSite(t)
	s.script("none", `return {headers = {["Cache-Control"] = "public, max-age=60"}, body = "x"}`)
	s.script("reads", `return {headers = {["Cache-Control"] = "public, max-age=60"}, body = tostring (session.n)}`)
	b := s.browser()
	r := b.send("/none.fcgi", nil, nil)
	assert.Equal(t, "public, max-age=60", r.Get("Cache-Control"))
	r = b.send("/reads.fcgi", nil, nil)
	assert.Equal(t, "nil", r.Body)
	assert.Equal(t, "private, no-cache", r.Get("Cache-Control"), "another visitor gets another answer")
	assert.Empty(t, setCookies(r))
	assert.Zero(t, s.rows(site.Visitors))

	r = b.send("/set.fcgi?n=7", nil, nil)
	assert.Regexp(t, `^scripter-visitor=[\w-]{43}; Path=/; HttpOnly; SameSite=Lax$`, setCookies(r)[0])
	assert.Equal(t, "private, no-cache", r.Get("Cache-Control"))
	assert.Equal(t, 1, s.rows(site.Visitors))
	r = b.send("/show.fcgi", nil, nil)
	assert.Equal(t, "7", r.Body)
	assert.Empty(t, setCookies(r), "the browser has it")
	assert.Equal(t, "nil", s.browser().get("/show.fcgi"))
	token, err := base64.RawURLEncoding.DecodeString(b.cookies["scripter-visitor"])
	require.NoError(t, err)
	sum := sha256.Sum256(token)
	id := hex.EncodeToString(sum[:])
	assert.Contains(t, s.everything(), site.Visitors.Child(id).Child("values").Child("n").String(), "the root has only a hash")

	secure := s.browser()
	secure.vars = map[string]string{"HTTPS": "on", "HTTP_HOST": "www.example.org:8443"}
	r = secure.send("/set.fcgi?n=1", nil, nil)
	assert.Regexp(t, `^__Host-scripter-visitor-8443=[\w-]{43}; Path=/; HttpOnly; Secure; SameSite=Lax$`, setCookies(r)[0])
	assert.Equal(t, "1", secure.get("/show.fcgi"))
	secure.vars["HTTP_HOST"] = "other.example.org:8443"
	assert.Equal(t, "nil", secure.get("/show.fcgi"), "a session is one of its host")
}

// TestSessionIsATable checks that the session behaves as a table of the root.
func TestSessionIsATable(t *testing.T) {
	s := sessionSite(t)
	b := s.browser()
	run := func(source string) string {
		t.Helper()
		s.script("try", source)
		return b.get("/try.fcgi")
	}
	assert.Equal(t, "3 milk", run(`session.cart = {milk = 3} session.ok, session.list = true, {1, 2}
		for name, n in pairs (session.cart) do return n .. " " .. name end`))
	assert.Equal(t, "cart list ok n=3 3", run(`local names = {} session.list [3] = 5
		for name in pairs (session) do names [#names + 1] = name end
		return table.concat (names, " ") .. " n=" .. #session .. " " .. #session.list`))
	assert.Equal(t, "3 4", run(`session.cart.milk = session.cart.milk + 1 return #session.list .. " " .. session.CART.Milk`))
	assert.Equal(t, "4 3 nil", run(`local mine = session session.renew ()
		return mine.cart.milk .. " " .. #mine .. " " .. tostring (session.user)`))
	assert.Contains(t, run(`return {body = select (2, pcall (function () session.flash = 1 end))}`), "session.flash is a verb")
	assert.Equal(t, "true", run(`return tostring (session == session and type (session) == "table")`))
	assert.Equal(t, "nil 0", run(`session.close () return tostring (session.cart) .. " " .. #session`))
	assert.Empty(t, b.cookies, "the cookie ends with the session")
	assert.Zero(t, s.rows(site.Visitors))
	assert.Equal(t, "nothing", run(`session.x = nil return "nothing"`))
	assert.Zero(t, s.rows(site.Visitors))
	assert.Equal(t, "new", run(`session.n = "old" session.close () session.n = "new" return session.n`))
	assert.Equal(t, "new", b.get("/show.fcgi"))
}

// TestSessionIsUndone checks that a request that fails leaves the session as it was, and sets no cookie; and that a
// failed marker undoes what it has written to the session.
func TestSessionIsUndone(t *testing.T) {
	s := sessionSite(t)
	s.script("fails", `session.n = "lost" session.flash ("lost") error "on purpose"`)
	b := s.browser()
	r := b.send("/fails.fcgi", nil, nil)
	assert.Equal(t, 500, r.Status)
	assert.Empty(t, setCookies(r))
	assert.Zero(t, s.rows(site.Visitors))
	b.get("/set.fcgi?n=7")
	assert.Equal(t, 500, b.send("/fails.fcgi", nil, nil).Status)
	assert.Equal(t, "7", b.get("/show.fcgi"))

	s.put("workspace.fails", objectdb.Script(`session.m = "lost" error "on purpose"`))
	s.put("workspace.works", objectdb.Script(`session.m = (session.m or "") .. "kept" return ""`))
	s.page("undone.mcro", `<!--#workspace.fails ()-->[<!--#session.m-->]<!--#workspace.works ()-->[<!--#session.m-->]`)
	assert.Equal(t, "[][kept]", s.browser().get("/undone.mcro"))
	assert.Equal(t, "[][kept]", b.get("/undone.mcro"))
}

// TestSessionInPages checks that a page shows the session as data, and cannot name it otherwise.
func TestSessionInPages(t *testing.T) {
	s := sessionSite(t)
	s.page("p.mcro", `<!--#session.n-->|<!--#if session.n-->yes<!--#else-->no<!--#end-->|<!--#for x in session.cart-->`+
		`<!--#x.key-->=<!--#x-->;<!--#end-->|<!--#users.current ()-->|<!--#for m in flash--><!--#m.kind-->:<!--#m.text--><!--#end-->`)
	b := s.browser()
	assert.Equal(t, "|no|||", b.get("/p.mcro"))
	s.script("fill", `session.n = "<b>" session.cart = {["a&b"] = "<i>"} session.flash ("Saved: <x>.") return "x"`)
	b.get("/fill.fcgi")
	assert.Equal(t, "&lt;b&gt;|yes|a&amp;b=&lt;i&gt;;||info:Saved: &lt;x&gt;.", b.get("/p.mcro"))
	assert.Equal(t, "&lt;b&gt;|yes|a&amp;b=&lt;i&gt;;||", b.get("/p.mcro"), "a message is shown once")
	assert.Equal(t, "|no|||", s.browser().get("/p.mcro"))
	id := ""
	require.NoError(t, s.db.View(t.Context(), func(tx *objectdb.Tx) error {
		list, err := tx.List(site.Visitors)
		id = list[0].Name
		return err
	}))
	s.page("other.mcro", `<!--#user.webserver.visitors.["`+id+`"].values.n-->|<!--#json.encode (user.webserver.visitors)-->`+
		`|<!--#for v in user.webserver.visitors-->x<!--#end-->`)
	assert.Equal(t, "||", s.browser().get("/other.mcro"))
	s.put("user.webserver.flEscapeMarkers", objectdb.Boolean(true))
	s.page("form.mcro", `<!--#form.token ()-->`)
	assert.Regexp(t, tokenField, s.browser().get("/form.mcro"))
}

// TestSessionReadsOnly checks that a request that reads the session writes nothing, but notes every ten minutes
// that it is used; and when it expires.
func TestSessionReadsOnly(t *testing.T) {
	s := sessionSite(t)
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	s.g.now = func() time.Time { return now }
	b := s.browser()
	b.get("/set.fcgi?n=7")
	generation := func() (n int64) {
		require.NoError(t, s.db.View(t.Context(), func(tx *objectdb.Tx) error { n = tx.Generation(); return nil }))
		return n
	}
	before := generation()
	b.get("/show.fcgi")
	now = now.Add(10*time.Minute - time.Second)
	b.get("/show.fcgi")
	assert.Equal(t, before, generation())
	now = now.Add(time.Second)
	assert.Equal(t, "7", b.get("/show.fcgi"))
	assert.Equal(t, before+1, generation())
	now = now.Add(12*time.Hour - time.Second)
	assert.Equal(t, "7", b.get("/show.fcgi"))
	now = now.Add(12 * time.Hour)
	assert.Equal(t, "nil", b.get("/show.fcgi"), "nobody used it for 12 hours")
	now = now.Add(-12 * time.Hour)
	s.put("user.webserver.sessionIdle", objectdb.Number(60*24*30))
	assert.Equal(t, "7", b.get("/show.fcgi"))
	now = now.Add(14 * 24 * time.Hour)
	assert.Equal(t, "nil", b.get("/show.fcgi"), "it lasts 14 days")

	// A session that begins removes what has expired, at most every ten minutes.
	require.Equal(t, 1, s.rows(site.Visitors))
	s.browser().get("/set.fcgi?n=1")
	assert.Equal(t, 1, s.rows(site.Visitors))
	s.put("user.webserver.maxSessions", objectdb.Number(3))
	for range 5 {
		now = now.Add(time.Second)
		s.browser().get("/set.fcgi?n=1")
	}
	assert.Equal(t, 6, s.rows(site.Visitors))
	now = now.Add(11 * time.Minute)
	last := s.browser()
	last.get("/set.fcgi?n=9")
	assert.Equal(t, 3, s.rows(site.Visitors))
	assert.Equal(t, "9", last.get("/show.fcgi"))
}

// TestSessionLimits checks that a session and its messages are bounded.
func TestSessionLimits(t *testing.T) {
	s := sessionSite(t)
	s.script("big", `local p = ... session.n = ("x"):rep (tonumber (p.searchTable.n)) return "stored"`)
	b := s.browser()
	assert.Equal(t, "stored", b.get("/big.fcgi?n=65000"))
	r := b.send("/big.fcgi?n=65536", nil, nil)
	assert.Equal(t, 500, r.Status)
	s.script("len", `return #session.n .. ""`)
	assert.Equal(t, "65000", b.get("/len.fcgi"))
	s.script("many", `for i = 1, 25 do session.flash ("m" .. i) end return "x"`)
	b.get("/many.fcgi")
	s.script("flash", `return #flash .. flash [1].text .. flash [20].text`)
	assert.Equal(t, "20m6m25", b.get("/flash.fcgi"))
	s.script("long", `return select (2, pcall (session.flash, ("x"):rep (1001)))`)
	assert.Contains(t, b.get("/long.fcgi"), "at most 1000 bytes")
}

// TestSessionCookies checks tokens that no session has: made up, of a session that ended, and set by a neighbour.
func TestSessionCookies(t *testing.T) {
	s := sessionSite(t)
	b := s.browser()
	b.get("/set.fcgi?n=7")
	token := b.cookies["scripter-visitor"]
	for _, cookie := range []string{
		"scripter-visitor=", "scripter-visitor=x", "scripter-visitor=" + token[1:], "scripter-visitor=" + strings.Repeat("A", 43),
		"Scripter-Visitor=" + token, "x=scripter-visitor=" + token, "scripter-visitor-80=" + token,
		"scripter-visitor=" + strings.Repeat("A", 43) + "; scripter-visitor=" + token, "scripter-visitor=\x00",
	} {
		assert.Equal(t, "nil", s.ask("/show.fcgi", map[string]string{"HTTP_COOKIE": cookie}).Body, cookie)
	}
	assert.Equal(t, "7", s.ask("/show.fcgi", map[string]string{"HTTP_COOKIE": "a=b; scripter-visitor=" + token + "; scripter-visitor=" + token}).Body)

	// A token that was brought along is never taken for a new session.
	fixed := s.browser()
	fixed.cookies["scripter-visitor"] = strings.Repeat("A", 43)
	fixed.get("/set.fcgi?n=1")
	assert.NotEqual(t, strings.Repeat("A", 43), fixed.cookies["scripter-visitor"])
	assert.Equal(t, "1", fixed.get("/show.fcgi"))

	// Nor does one that somebody else knows survive the log-in.
	known := fixed.copy()
	_, body := fixed.post("/login.fcgi", adasLogin)
	require.Equal(t, "hello Ada", body)
	assert.Equal(t, "1", fixed.get("/show.fcgi"), "what is in the session stays")
	assert.Equal(t, "nil", known.get("/who.fcgi"))
	assert.Equal(t, "nil", known.get("/show.fcgi"))

	// A copy is worth nothing after the log-out.
	stolen := fixed.copy()
	assert.Equal(t, "Ada", stolen.get("/who.fcgi"))
	fixed.get("/out.fcgi")
	assert.Empty(t, fixed.cookies)
	assert.Equal(t, "nil", stolen.get("/who.fcgi"))
	assert.Equal(t, "nil", stolen.get("/show.fcgi"))
}

// TestSessionAtOnce checks that requests of one session at once lose no write.
func TestSessionAtOnce(t *testing.T) {
	s := sessionSite(t)
	b := s.browser()
	b.get("/count.fcgi")
	var all sync.WaitGroup
	for range 4 {
		tab := b.copy()
		all.Go(func() {
			for range 10 {
				for tab.send("/count.fcgi", nil, nil).Status != 200 {
				}
			}
		})
	}
	all.Wait()
	assert.Equal(t, "41", b.get("/show.fcgi"))
	assert.Equal(t, 1, s.rows(site.Visitors))
}

// TestSessionAndPartial checks sessions of scripts that send their answer in pieces.
func TestSessionAndPartial(t *testing.T) {
	s := sessionSite(t)
	s.script("before", `local p = ... session.n = 5 webserver.sendPartial ("a", p) session.n = 6 return "b"`)
	s.script("after", `local p = ... webserver.sendPartial ("a", p) session.n = 6 return "b"`)
	b := s.browser()
	assert.Equal(t, "ab", b.get("/before.fcgi"))
	assert.Equal(t, "6", b.get("/show.fcgi"))
	late := s.browser()
	assert.Equal(t, "ab", late.get("/after.fcgi"))
	assert.Empty(t, late.cookies)
	assert.Equal(t, 1, s.rows(site.Visitors), "a session without a cookie is dropped")
	assert.Contains(t, s.log.String(), "after the first piece of sendPartial")
}

// TestSessionWithFile checks that the answer has the cookie if the script leaves its URL to the web server.
func TestSessionWithFile(t *testing.T) {
	s := sessionSite(t)
	s.put("user.webserver.actions.PREPROCESSOR", objectdb.Script(`session.n = "1" return ""`))
	s.page("a.txt", "a file")
	b := s.browser()
	r := b.send("/a.txt", nil, map[string]string{"REDIRECT_HANDLER": "preprocessor"})
	assert.Equal(t, "a file", r.Body)
	assert.Equal(t, "private, no-cache", r.Get("Cache-Control"))
	assert.Equal(t, "1", b.get("/show.fcgi"))
}
