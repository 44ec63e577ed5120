package admin

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"

	"scripter/gateway"
	"scripter/objectdb"
	"scripter/objectdb/sqlitestore"
	"scripter/objectfiles"
	"scripter/root"
	"scripter/site"
)

// testSite is a root with the web page, served over HTTP.
type testSite struct {
	t      *testing.T
	db     *objectdb.DB
	server *Server
	url    string // of the server, without a slash at the end
}

// password is the password of everybody in the tests.
const password = "correct horse battery"

// newSite returns a site with the supplied objects and nobody who may use the web page.
func newSite(t *testing.T) *testSite {
	t.Helper()
	db, err := sqlitestore.Create(filepath.Join(t.TempDir(), "test.root"), objectdb.Options{Relaxed: true, History: site.History()})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, db.Close()) })
	require.NoError(t, db.Update(context.Background(), func(tx *objectdb.Tx) error {
		_, err := objectfiles.Import(tx, root.FS, nil, nil)
		return err
	}))
	g := gateway.New(gateway.Options{DB: db})
	s := &testSite{t: t, db: db, server: New(Config{DB: db, Gateway: g, Log: slog.New(slog.NewTextHandler(t.Output(), nil))})}
	g.SetAdmin(s.server)
	web := httptest.NewServer(s.server)
	t.Cleanup(web.Close)
	s.url = web.URL
	return s
}

// update changes the root as a person at the command line.
func (s *testSite) update(fn func(tx *objectdb.Tx) error) {
	s.t.Helper()
	require.NoError(s.t, s.db.Update(context.Background(), func(tx *objectdb.Tx) error {
		tx.Origin = objectdb.Origin{Person: true, Who: "test", Why: "scripter put"}
		return fn(tx)
	}))
}

// put stores a value.
func (s *testSite) put(address string, v objectdb.Value) {
	s.t.Helper()
	a, err := objectdb.ParseAddress(address)
	require.NoError(s.t, err)
	s.update(func(tx *objectdb.Tx) error { return tx.Put(a, v) })
}

// get returns the value at an address, or nil.
func (s *testSite) get(address string) (v objectdb.Value) {
	s.t.Helper()
	a, err := objectdb.ParseAddress(address)
	require.NoError(s.t, err)
	require.NoError(s.t, s.db.View(context.Background(), func(tx *objectdb.Tx) error {
		v, _ = tx.Get(a)
		return nil
	}))
	return v
}

// person adds somebody with a role, and returns a browser in which that person has logged in.
func (s *testSite) person(name, role string) *browser {
	s.t.Helper()
	hash, err := s.server.Gateway.Passwords().Hash(context.Background(), password)
	require.NoError(s.t, err)
	s.update(func(tx *objectdb.Tx) error {
		if err := site.SetPassword(tx, name, hash); err != nil {
			return err
		}
		return site.SetRole(tx, name, role)
	})
	b := s.browser()
	answer := b.post("login", "name", name, "password", password)
	require.Equal(s.t, http.StatusSeeOther, answer.status, answer.body)
	b.csrf = b.get("").attr("body", "data-csrf")
	require.NotEmpty(s.t, b.csrf)
	return b
}

// browser sends requests with its own cookies and follows no redirect.
type browser struct {
	s      *testSite
	client http.Client
	csrf   string // that it sends with forms; "" = none
}

func (s *testSite) browser() *browser {
	jar, err := cookiejar.New(nil)
	require.NoError(s.t, err)
	b := &browser{s: s}
	b.client = http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return b
}

// answer is an answer to a browser.
type answer struct {
	t      *testing.T
	status int
	header http.Header
	body   string
	doc    *html.Node
}

// get opens a page; its path is relative to /scripter/, unless it begins with "/".
func (b *browser) get(path string) *answer { return b.send(http.MethodGet, path, nil, nil) }

// post sends a form with pairs of names and values.
func (b *browser) post(path string, fields ...string) *answer {
	form := url.Values{}
	for i := 0; i+1 < len(fields); i += 2 {
		form.Add(fields[i], fields[i+1])
	}
	if b.csrf != "" && !form.Has("csrf") {
		form.Set("csrf", b.csrf)
	}
	return b.send(http.MethodPost, path, strings.NewReader(form.Encode()),
		map[string]string{"Content-Type": "application/x-www-form-urlencoded"})
}

func (b *browser) send(method, path string, body io.Reader, header map[string]string) *answer {
	t := b.s.t
	t.Helper()
	if !strings.HasPrefix(path, "/") {
		path = "/scripter/" + path
	}
	r, err := http.NewRequest(method, b.s.url+path, body)
	require.NoError(t, err)
	for name, value := range header {
		r.Header.Set(name, value)
	}
	resp, err := b.client.Do(r)
	require.NoError(t, err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	a := &answer{t: t, status: resp.StatusCode, header: resp.Header, body: string(text)}
	isValue := strings.Contains(resp.Header.Get("Content-Security-Policy"), "sandbox") // it may have anything in it
	if strings.HasPrefix(resp.Header.Get("Content-Type"), "text/html") && !isValue {
		a.doc, err = html.Parse(strings.NewReader(a.body))
		require.NoError(t, err)
		a.checkPage()
	}
	return a
}

var missingText = regexp.MustCompile(`\[[a-z]+\.[a-zA-Z0-9.]+\]|ZgotmplZ|%!`)

// checkPage checks what must be so in every page: no text is missing, nothing is inline, and
// every link stays on this server.
func (a *answer) checkPage() {
	a.t.Helper()
	assert.Empty(a.t, missingText.FindAllString(a.body, -1), "missing texts")
	for n := range a.doc.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		assert.NotEqual(a.t, "style", n.Data)
		if n.Data == "script" {
			assert.Nil(a.t, n.FirstChild, "an inline script")
		}
		for _, attr := range n.Attr {
			assert.NotEqual(a.t, "style", attr.Key, "an inline style")
			assert.False(a.t, strings.HasPrefix(attr.Key, "on"), "the handler %s", attr.Key)
			if attr.Key == "href" || attr.Key == "src" || attr.Key == "action" {
				want := `^(/scripter/|#|data:,$|/$)`
				if attributeOf(n, "rel") == "external" { // the page of the site that it shows
					want = `^/[^/\\]`
				}
				assert.Regexp(a.t, want, attr.Val, "a link to elsewhere")
			}
		}
	}
}

// find returns the elements with a name, and with an attribute if that is not "".
func (a *answer) find(name, attribute string) (list []*html.Node) {
	require.NotNil(a.t, a.doc, "%d: not a page: %.200s", a.status, a.body)
	for n := range a.doc.Descendants() {
		if n.Type == html.ElementNode && n.Data == name && (attribute == "" || attributeOf(n, attribute) != "") {
			list = append(list, n)
		}
	}
	return list
}

func attributeOf(n *html.Node, name string) string {
	for _, attr := range n.Attr {
		if attr.Key == name {
			return attr.Val
		}
	}
	return ""
}

// attr returns the attribute of the first element with a name that has it.
func (a *answer) attr(name, attribute string) string {
	for _, n := range a.find(name, attribute) {
		return attributeOf(n, attribute)
	}
	return ""
}

// textOf returns the text in an element, with single blanks.
func textOf(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			b.WriteString(d.Data + " ")
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// text returns the text of the page's main part.
func (a *answer) text() string {
	for _, n := range a.find("main", "") {
		return textOf(n)
	}
	return ""
}

// json opens the JSON form of a page.
func (b *browser) json(path string) map[string]any {
	b.s.t.Helper()
	a := b.send(http.MethodGet, path, nil, map[string]string{"Accept": "application/json"})
	require.Equal(b.s.t, "application/json; charset=utf-8", a.header.Get("Content-Type"), a.body)
	return a.json()
}

func (a *answer) json() map[string]any {
	a.t.Helper()
	var m map[string]any
	require.NoError(a.t, json.Unmarshal([]byte(a.body), &m), a.body)
	return m
}

// lacks checks that a page does not have a text, without printing the whole page.
func lacks(t *testing.T, page, text string) {
	t.Helper()
	if i := strings.Index(page, text); i >= 0 {
		assert.Fail(t, "the page has "+text, "%.200s", page[max(0, i-100):])
	}
}

func TestNothingWithoutAnOwner(t *testing.T) {
	s := newSite(t)
	for _, path := range []string{"", "login", "at/user", "static/x/admin.css"} {
		assert.Equal(t, http.StatusNotFound, s.browser().get(path).status, path)
	}
}

// TestJSONIsDocumented compares the JSON forms of pages with the table in the manual.
func TestJSONIsDocumented(t *testing.T) {
	s := newSite(t)
	ada := s.person("ada", "owner")
	s.put("user.story", objectdb.Text("once"))
	change := ada.lastChange()
	manual, err := os.ReadFile("../docs/web-page.md")
	require.NoError(t, err)
	rows := map[string]string{} // by page
	for line := range strings.Lines(string(manual)) {
		if page, rest, ok := strings.Cut(strings.TrimPrefix(line, "| "), " | "); ok {
			rows[page] = rest
		}
	}
	for page, path := range map[string]string{
		"`/`": "", "`/at/ADDRESS` a table": "at/user", "`/at/ADDRESS` a value": "at/user.story", "`/tree/ADDRESS`": "tree/user",
		"`/find`": "find?q=story", "`/history`": "history", "`/history/NUMBER`": fmt.Sprint("history/", change),
		"`/history/diff`": fmt.Sprint("history/diff?address=user.story&from=", change), "`/requests`": "requests",
		"`/run/ADDRESS`": "run/suites.webserverScripts.samples.tellTime", "`/settings`": "settings",
		"`/settings/limits` and others": "settings/limits", "`/saves`": "saves", "`/users`": "users",
		"`/users/person`": "users/person?name=ada", "`/account`": "account", "`/doctor`": "doctor", "`/status`": "status",
		"`/console`": "console", "`/then`": fmt.Sprint("then?url=/&at=", change),
	} {
		require.Contains(t, rows, page)
		for field := range ada.json(path) {
			assert.Contains(t, rows[page], "`"+field+"`", "%s has the field %s", page, field)
		}
	}
}
