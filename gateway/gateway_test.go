package gateway

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/httpheader"
	"scripter/internal/testlog"
	"scripter/objectdb"
	"scripter/requestlog"
)

// testSite is a root, a folder of pages and a gateway that answers from both.
type testSite struct {
	t      testing.TB
	db     *objectdb.DB
	g      *Gateway
	folder string
	log    *testlog.Buffer
}

func newSite(t testing.TB) *testSite {
	s := &testSite{t: t, db: newDB(t), folder: t.TempDir(), log: &testlog.Buffer{}}
	s.g = New(Options{DB: s.db, Log: slog.New(slog.NewTextHandler(s.log, nil))})
	// The default of ten seconds may be too short for a busy machine.
	s.put("user.webserver.maxTime", objectdb.Number(300))
	return s
}

// list adds a line of scripter.conf, such as "pages", for the root.
func (s *testSite) list(key, value string) {
	s.t.Helper()
	r := s.g.Reach()
	require.NoError(s.t, r.Add(key, value))
	s.g.SetReach(r)
}

func (s *testSite) put(address string, v objectdb.Value) {
	s.t.Helper()
	a, err := objectdb.ParseAddress(address)
	require.NoError(s.t, err)
	update(s.t, s.db, func(tx *objectdb.Tx) error { return tx.Put(a, v) })
}

func (s *testSite) get(address string) objectdb.Value {
	s.t.Helper()
	a, err := objectdb.ParseAddress(address)
	require.NoError(s.t, err)
	var v objectdb.Value
	require.NoError(s.t, s.db.View(context.Background(), func(tx *objectdb.Tx) error {
		var err error
		v, err = tx.Get(a)
		return err
	}), address)
	return v
}

// script stores a script for the URL /NAME.fcgi.
func (s *testSite) script(name, source string) {
	s.t.Helper()
	s.put("suites.webserverScripts."+name, objectdb.Script(source))
}

func (s *testSite) page(name, text string) {
	s.t.Helper()
	require.NoError(s.t, os.WriteFile(filepath.Join(s.folder, name), []byte(text), 0o644))
}

func (s *testSite) request(path string, more map[string]string) *Request {
	script, query, _ := strings.Cut(path, "?")
	p := map[string]string{
		"GATEWAY_INTERFACE": "CGI/1.1", "SERVER_PROTOCOL": "HTTP/1.1", "SERVER_SOFTWARE": "Test/1",
		"SERVER_NAME": "localhost", "SERVER_PORT": "80",
		"REQUEST_METHOD": "GET", "SCRIPT_NAME": script, "REQUEST_URI": path, "QUERY_STRING": query, "DOCUMENT_ROOT": s.folder,
		"REMOTE_ADDR": "192.0.2.1", "HTTP_HOST": "localhost",
	}
	maps.Copy(p, more)
	return &Request{Params: p, Form: NPH}
}

// ask answers a request and parses the response.
func (s *testSite) ask(path string, more map[string]string) *httpheader.Response {
	s.t.Helper()
	resp, _ := s.answer(s.request(path, more))
	return resp
}

func (s *testSite) answer(r *Request) (*httpheader.Response, Outcome) {
	s.t.Helper()
	var b bytes.Buffer
	out := s.g.Answer(context.Background(), r, &b)
	resp, err := httpheader.Parse(b.String())
	require.NoError(s.t, err, b.String())
	return resp, out
}

func (s *testSite) post(path, contentType, body string) *httpheader.Response {
	s.t.Helper()
	r := s.request(path, map[string]string{"REQUEST_METHOD": "POST", "CONTENT_TYPE": contentType,
		"CONTENT_LENGTH": strconv.Itoa(len(body))})
	r.Body = strings.NewReader(body)
	resp, _ := s.answer(r)
	return resp
}

// TestSpecificationShapes checks the responses of section 4.2, byte for byte, with the
// Cache-Control of 4.3.3 and the length that every response gets.
//
// Specification: 4.2.1, 4.2.2, 4.3.7
func TestSpecificationShapes(t *testing.T) {
	s := newSite(t)
	s.script("ok", `return webserver.httpHeader () .. "body"`)
	s.script("go", `return webserver.httpHeader ("302 FOUND", "http://elsewhere.test/x")`)
	s.script("secret", `return webserver.httpHeader ("401 UNAUTHORIZED", "Members") .. "who are you?"`)
	for path, want := range map[string]string{
		"/ok.fcgi": "HTTP/1.0 200 OK\r\nServer: Test/1\r\nMIME-Version: 1.0\r\nContent-type: text/html\r\n" +
			"Cache-Control: private, no-cache\r\nContent-Length: 4\r\n\r\nbody",
		"/go.fcgi": "HTTP/1.0 302 FOUND\r\nLocation: http://elsewhere.test/x\r\nURI: http://elsewhere.test/x\r\n" +
			"Server: Test/1\r\nContent-Type: text/html\r\nCache-Control: private, no-cache\r\nContent-Length: 144\r\n\r\n" +
			"<html><head><title>FOUND</title></head>" +
			"<body><p>The page is at <a href=\"http://elsewhere.test/x\">http://elsewhere.test/x</a>.</p></body></html>\n",
		"/secret.fcgi": "HTTP/1.0 401 UNAUTHORIZED\r\nWWW-Authenticate: Basic realm=\"Members\"\r\nServer: Test/1\r\n" +
			"Content-Type: text/html; charset=utf-8\r\nCache-Control: private, no-cache\r\nContent-Length: 12\r\n\r\nwho are you?",
	} {
		var b bytes.Buffer
		s.g.Answer(context.Background(), s.request(path, nil), &b)
		assert.Equal(t, want, b.String(), path)
	}
	s.put("user.webserver.serverName", objectdb.String("WebTen/2.0"))
	assert.Equal(t, "WebTen/2.0", s.ask("/ok.fcgi", nil).Get("Server"))
}

// Specification: 4.2.1, 4.3.7
func TestResponses(t *testing.T) {
	s := newSite(t)
	for _, c := range []struct {
		name, source string
		status       int
		reason, body string
		fields       map[string]string
	}{
		{"text", `return "hello"`, 200, "OK", "hello", map[string]string{"Content-Type": "text/html; charset=utf-8"}},
		{"binary", `return odb.binary ("GIF89a", "image/gif")`, 200, "OK", "GIF89a",
			map[string]string{"Content-Type": "image/gif"}},
		{"number", `return 42`, 200, "OK", "42", nil},
		{"complete", `return "HTTP/1.1 201 Made\r\nX-A: b\r\nContent-Type: text/plain\r\n\r\nmade"`, 201, "Made", "made",
			map[string]string{"X-A": "b", "Content-Type": "text/plain"}},
		{"no type", `return "HTTP/1.0 200 OK\r\n\r\nx"`, 200, "OK", "x",
			map[string]string{"Content-Type": "text/html; charset=utf-8"}},
		{"LF", `return "HTTP/1.0 200 OK\nX-A: b\n\nbody"`, 200, "OK", "body", map[string]string{"X-A": "b"}},
		{"CR", `return "HTTP/1.0 200 OK\rX-A: b\r\rbody\r"`, 200, "OK", "body\r", map[string]string{"X-A": "b"}},
		{"table",
			`return {status = "404 Gone Fishing", headers = {["X-A"] = "b", ["Set-Cookie"] = {"a=1", "b=2"}}, body = "x"}`,
			404, "Gone Fishing", "x", map[string]string{"X-A": "b", "Content-Type": "text/html; charset=utf-8"}},
		{"bare", `return {body = 1}`, 200, "OK", "1", nil},
		{"lying length", `return "HTTP/1.0 200 OK\r\nContent-Length: 3\r\n\r\nlonger"`, 200, "OK", "longer",
			map[string]string{"Content-Length": "6"}},
		{"no content", `return {status = 204, body = "ignored"}`, 204, "No Content", "",
			map[string]string{"Content-Length": ""}},
		{"accel", `return {headers = {["X-Accel-Redirect"] = "/etc", ["X-Sendfile"] = "/etc/passwd"}, body = "x"}`, 200,
			"OK", "x", map[string]string{"X-Accel-Redirect": "", "X-Sendfile": ""}},
		{"own cache word", `return {headers = {["Cache-Control"] = "max-age=5"}, body = "x"}`, 200, "OK", "x",
			map[string]string{"Cache-Control": "max-age=5"}},
		{"useless expires", `return {headers = {Expires = "-1"}, body = "x"}`, 200, "OK", "x",
			map[string]string{"Cache-Control": "private, no-cache"}},
		{"splitting", `return {headers = {["X-A"] = "b\r\nX-Evil: c"}, body = "x"}`, 500, "Internal Server Error", "*",
			map[string]string{"X-Evil": ""}},
		{"splitting a redirect", `return webserver.httpHeader ("302 FOUND", "http://a/\r\nX-Evil: 1")`, 500,
			"Internal Server Error", "*", map[string]string{"X-Evil": ""}},
		{"hop by hop", `return {headers = {Connection = "keep-alive"}, body = "x"}`, 500, "Internal Server Error", "*", nil},
		{"no status", `return {status = 99}`, 500, "Internal Server Error", "*", nil},
		{"half a status", `return {status = 200.5}`, 500, "Internal Server Error", "*", nil},
		{"no response", `return "HTTP/1.0 what"`, 500, "Internal Server Error", "*", nil},
		{"a list", `return {1, 2}`, 500, "Internal Server Error", "*", nil},
		{"unknown cell", `return {stauts = 200}`, 500, "Internal Server Error", "*", nil},
		{"nothing", `return`, 404, "FILE NOT FOUND", "*", nil},
		{"failing", `error ("secret detail")`, 500, "Internal Server Error", "*", nil},
		{"endless", `while true do end`, 500, "Internal Server Error", "*", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.name == "endless" {
				s.put("user.webserver.maxTime", objectdb.Number(0.2))
			}
			s.script("x", c.source)
			resp := s.ask("/x.fcgi", nil)
			assert.Equal(t, c.status, resp.Status)
			assert.Equal(t, c.reason, resp.Reason)
			if c.body != "*" {
				assert.Equal(t, c.body, resp.Body)
			}
			for name, value := range c.fields {
				assert.Equal(t, value, resp.Get(name), name)
			}
			assert.NotContains(t, resp.Body, "secret detail")
		})
	}
}

// Specification: 3.1, 7.1
func TestFailureLeavesTheRootAsItWas(t *testing.T) {
	s := newSite(t)
	s.put("scratchpad.n", objectdb.Number(1))
	s.script("x", `scratchpad.n = 2; error ("no")`)
	assert.Equal(t, 500, s.ask("/x.fcgi", nil).Status)
	assert.Equal(t, objectdb.Number(1), s.get("scratchpad.n"))
	assert.Contains(t, s.log.String(), "suites.webserverScripts.x")
}

// TestIncident checks that the number on the visitor's page is the one in the log.
//
// Specification: 7.1
func TestIncident(t *testing.T) {
	s := newSite(t)
	s.script("x", `error ("<b>boom</b>")`)
	resp, out := s.answer(s.request("/x.fcgi", nil))
	require.NotEmpty(t, out.Incident)
	assert.Contains(t, resp.Body, out.Incident)
	assert.Contains(t, s.log.String(), "id="+out.Incident)
	assert.NotContains(t, resp.Body, "boom")

	s.put("user.webserver.debugToken", objectdb.String("open sesame"))
	resp = s.ask("/x.fcgi", map[string]string{"HTTP_SCRIPTER_TOKEN": "open sesame"})
	assert.Contains(t, resp.Body, "suites.webserverScripts.x:1: &lt;b&gt;boom&lt;/b&gt;")
	resp = s.ask("/x.fcgi", map[string]string{"HTTP_COOKIE": "a=1; scripterToken=open sesame"})
	assert.Contains(t, resp.Body, "boom")
	for _, more := range []map[string]string{nil, {"HTTP_SCRIPTER_TOKEN": "wrong"}, {"REMOTE_ADDR": "127.0.0.1"}} {
		assert.NotContains(t, s.ask("/x.fcgi", more).Body, "boom")
	}
	s.put("user.webserver.errorStatus", objectdb.Number(200))
	assert.Equal(t, 200, s.ask("/x.fcgi", nil).Status)
}

// Specification: 7.1
func TestErrorPageThatFails(t *testing.T) {
	s := newSite(t)
	s.script("x", `error ("boom")`)
	update(t, s.db, func(tx *objectdb.Tx) error { return tx.Delete(objectdb.Address{"user", "webserver", "prefs"}) })
	resp := s.ask("/x.fcgi", nil)
	assert.Equal(t, 500, resp.Status)
	assert.Contains(t, resp.Body, "Incident")
	assert.NotContains(t, resp.Body, "boom")
}

// Specification: 2.3.2, 4.1.1
func TestNames(t *testing.T) {
	s := newSite(t)
	s.put("user.webserver.scriptFolders", objectdb.String("*"))
	s.put("suites.webserverScripts.folder.text", objectdb.Text("It is <!--#clock.now ()-->."))
	s.put("suites.webserverScripts.folder.html", objectdb.String("<HTML>x</HTML>"))
	s.put("suites.webserverScripts.folder.gif", objectdb.Binary{Type: "image/gif", Data: "GIF89a\x00\xff"})
	s.put("suites.webserverScripts.folder.number", objectdb.Number(1))
	s.put("suites.webserverScripts.folder._private", objectdb.Script("return 1"))
	s.script("folder.run", `return "ran"`)
	for path, want := range map[string]int{
		"/folder.run.fcgi": 200, "/FOLDER.Run.FCGI": 200, "/any/where/folder.run.fcgi": 200, "/folder.run.fcgi/extra": 200,
		"/folder.text.fcgi": 200, "/folder.html.fcgi": 200, "/folder.gif.fcgi": 200,
		"/folder.fcgi": 403, "/folder.number.fcgi": 403, "/folder._private.fcgi": 404,
		"/folder.nothing.fcgi": 404, "/folder.run.more.fcgi": 404,
		"/.fcgi": 404, "/folder..run.fcgi": 404, "/folder.r\xc3\xbcn.fcgi": 404,
		`/folder.["run"].fcgi`: 404, "/folder.run .fcgi": 404,
		"/system.verbs.traps.httpd.sdoc.fcgi": 404, "/user.webserver.debugToken.fcgi": 404, "/scratchpad.fcgi": 404,
		"/folder.\xc5\xbfun.fcgi": 404,
	} {
		assert.Equal(t, want, s.ask(path, nil).Status, path)
	}
	assert.Equal(t, "text/plain; charset=utf-8", s.ask("/folder.text.fcgi", nil).Get("Content-Type"))
	assert.Regexp(t, `^It is \d{4}-`, s.ask("/folder.text.fcgi", nil).Body)
	assert.Equal(t, "text/html; charset=utf-8", s.ask("/folder.html.fcgi", nil).Get("Content-Type"))
	assert.Equal(t, "image/gif", s.ask("/folder.gif.fcgi", nil).Get("Content-Type"))
	assert.Equal(t, "GIF89a\x00\xff", s.ask("/folder.gif.fcgi", nil).Body)
}

// Specification: 2.3.13, 6.3
func TestParams(t *testing.T) {
	s := newSite(t)
	s.script("p", `local p = ...
		return table.concat ({p.pathArgs, p.httpSearchArgs, p.postArgs, p.method, p.scriptName, p.action, p.actionPath, p.contentType,
			p.referer, p.userAgent, p.username, p.password, p.clientIP, p.serverName, p.serverPort, p.argTable.a, p.argTable.b .. table.concat (p.fields.b, "+"),
			p.searchTable.x, p.headers ["user-agent"], p.cookies.c, p.cgi.REQUEST_METHOD, p.websiteFolder, p.fullRequest:match ("^[^\r]*")}, "|")`)
	r := s.request("/p.fcgi$y?x=1",
		map[string]string{"REQUEST_METHOD": "POST",
			"CONTENT_TYPE": "application/x-www-form-urlencoded", "CONTENT_LENGTH": "14",
			"HTTP_REFERER": "http://r/", "HTTP_USER_AGENT": "UA", "HTTP_AUTHORIZATION": "Basic dTpwOnc=",
			"HTTP_COOKIE": "c=d", "HTTP_PROXY": "evil"})
	r.Body = strings.NewReader("a=1&b=2&b=%203")
	resp, _ := s.answer(r)
	assert.Equal(t,
		"y|x=1|a=1&b=2&b=%203|POST|/p.fcgi|SCRIPTER|/cgi-bin/Scripter.acgi|application/x-www-form-urlencoded|"+
			"http://r/|UA|u|p:w|192.0.2.1|localhost|80|1| 32+ 3|1|UA|d|POST|"+s.folder+"|POST /p.fcgi$y?x=1 HTTP/1.1", resp.Body)
	s.script("q",
		`local p = ... return tostring (p.cgi.HTTP_PROXY) .. tostring (p.headers.proxy) .. type (p.connectionID)`)
	assert.Equal(t, "nilnilnumber", s.ask("/q.fcgi", map[string]string{"HTTP_PROXY": "evil"}).Body)
}

// Specification: 4.4.1, 4.4.2.1, 4.4.2.2, 4.4.2.3
func TestMacros(t *testing.T) {
	s := newSite(t)
	s.put("user.greeting", objectdb.String("<b>Hi</b>"))
	s.put("user.text", objectdb.Text("t"))
	s.put("user.n", objectdb.Number(0.5))
	s.put("user.list", objectdb.List{objectdb.Number(1)})
	s.put("user.hello", objectdb.Script(`local a, b = ... return "hello " .. tostring (a) .. " " .. tostring (b)`))
	s.put("user.bad", objectdb.Script(`scratchpad.bad = 1 error ("x")`))
	s.put("user.inject", objectdb.String("<!--#user.greeting-->"))
	for marker, want := range map[string]string{
		`<!--#user.greeting-->`:                      "<b>Hi</b>",
		`<!--#USER.Greeting-->`:                      "<b>Hi</b>",
		`<!--#user.text-->`:                          "t",
		`<!--#user.n-->`:                             "0.5",
		`<!--#user.hello-->`:                         "hello nil nil",
		`<!--#user.hello ()-->`:                      "hello nil nil",
		`<!--#user.hello("a-->b", 2)-->`:             "hello a-->b 2",
		`<!--#user.hello(home, user.n)-->`:           "hello home 0.5",
		`<!--#user.hello(html.escape("<"), true)-->`: "hello &lt; true",
		`<!--#referer-->`:                            "http://r/&lt;x&gt;&amp;&quot;",
		`<!--#raw(referer)-->`:                       `http://r/<x>&"`,
		`<!--#searchTable.q-->`:                      "&lt;!--#user.greeting--&gt;",
		`<!--#raw (searchTable.q)-->`:                "<!--#user.greeting-->",
		`<!--#user.inject-->`:                        "<!--#user.greeting-->",
		`<!--#user-->`:                               "",
		`<!--#user.nothing-->`:                       "",
		`<!--#user.bad ()-->`:                        "",
		`<!--#user.hello(-->`:                        "",
		`<!--#os.execute ("x")-->`:                   "",
		`<!--#include virtual="/x"-->`:               `<!--#include virtual="/x"-->`,
		`<!-- comment -->`:                           `<!-- comment -->`,
		`<!--#counter(home)--> <!--#counter (home,` + "\n" + `site)-->`: "1 1",
	} {
		s.page("p.mcro", "["+marker+"]")
		resp := s.ask("/p.mcro?q=%3C!--%23user.greeting--%3E", map[string]string{"HTTP_REFERER": `http://r/<x>&"`})
		assert.Equal(t, 200, resp.Status, marker)
		assert.Equal(t, "["+want+"]", resp.Body, marker)
	}
	assert.Contains(t, s.log.String(), "user.nothing")
}

func TestMacroErrorShownToTheDeveloper(t *testing.T) {
	s := newSite(t)
	s.put("user.webserver.debugToken", objectdb.String("T"))
	s.page("p.mcro", "one\n  <!--#user.nothing-->")
	resp := s.ask("/p.mcro", map[string]string{"HTTP_SCRIPTER_TOKEN": "T"})
	assert.Contains(t, resp.Body, "line 2, column 3")
	assert.Contains(t, resp.Body, "user.nothing")
}

// Specification: 1.2.2, 4.1.3, 4.4.1
func TestPages(t *testing.T) {
	s := newSite(t)
	outside := filepath.Join(t.TempDir(), "secret.mcro")
	require.NoError(t, os.WriteFile(outside, []byte("secret"), 0o644))
	require.NoError(t, os.Symlink(outside, filepath.Join(s.folder, "link.mcro")))
	require.NoError(t, os.Mkdir(filepath.Join(s.folder, "dir.mcro"), 0o755))
	s.page("a.mcro", "first")
	s.page("inner.mcro", "inner")
	require.NoError(t, os.Symlink(filepath.Join(s.folder, "inner.mcro"), filepath.Join(s.folder, "ok.mcro")))
	for path, want := range map[string]int{"/a.mcro": 200, "/ok.mcro": 200, "/link.mcro": 403, "/dir.mcro": 404,
		"/missing.mcro": 404, "/a.mcro/extra": 200} {
		assert.Equal(t, want, s.ask(path, nil).Status, path)
	}
	s.page("a.mcro", "second, longer")
	assert.Equal(t, "second, longer", s.ask("/a.mcro", nil).Body, "an edit is live at the next request")
	s.put("user.webserver.pageFolders", objectdb.List{objectdb.String(filepath.Dir(outside))})
	assert.Equal(t, 403, s.ask("/link.mcro", nil).Status)
	s.list("pages", filepath.Dir(outside))
	assert.Equal(t, "secret", s.ask("/link.mcro", nil).Body)
}

// Specification: 2.2.1, 2.3.1, 4.3.5, 6.1
func TestTrap(t *testing.T) {
	s := newSite(t)
	s.script("x", `local p = ... return "x" .. tostring (p.extra)`)
	s.script("y", `return "y"`)
	const trap = "system.verbs.traps.httpd.sdoc"
	s.put(trap, objectdb.Script(`local p = ... p.extra = "!" return webserver.dispatch (p)`))
	assert.Equal(t, "x!", s.ask("/x.fcgi", nil).Body)
	s.put(trap, objectdb.Script(`local p = ... p.scriptName = "/y.fcgi" return webserver.handler (p)`))
	assert.Equal(t, "y", s.ask("/x.fcgi", nil).Body)
	s.put(trap, objectdb.Script(`return "trapped"`))
	assert.Equal(t, "trapped", s.ask("/x.fcgi", nil).Body)
	s.put("user.webserver.flScriptTrap", objectdb.Boolean(false))
	assert.Equal(t, "xnil", s.ask("/x.fcgi", nil).Body)
	s.put("user.webserver.flScriptTrap", objectdb.Boolean(true))
	s.put(trap, objectdb.Script(`error ("trap")`))
	assert.Equal(t, 500, s.ask("/x.fcgi", nil).Status)
	s.put("user.webserver.serverId", objectdb.String("other"))
	assert.Equal(t, "xnil", s.ask("/x.fcgi", nil).Body, "there is no trap for this server id")
}

// Specification: 2.3.3, 4.3.6
func TestActionScript(t *testing.T) {
	s := newSite(t)
	s.put("user.webserver.actions.SHOUT", objectdb.Script(`local p = ... return p.action .. " " .. p.scriptName:upper ()`))
	s.put(`user.webserver.mimeTable.[".shout"].action`, objectdb.String("SHOUT"))
	assert.Equal(t, "SHOUT /A.SHOUT", s.ask("/a.shout", nil).Body)
	assert.Equal(t, "SHOUT /A.HTML", s.ask("/a.html", map[string]string{"REDIRECT_HANDLER": "shout"}).Body)
	assert.Equal(t, 404, s.ask("/a.html", nil).Status)
}

func TestEmptyTextSendsTheFile(t *testing.T) {
	s := newSite(t)
	s.put("user.webserver.actions.PREPROCESSOR", objectdb.Script(`return ""`))
	s.page("a.txt", "plain file")
	word := map[string]string{"REDIRECT_HANDLER": "preprocessor"}
	resp := s.ask("/a.txt", word)
	assert.Equal(t, 200, resp.Status)
	assert.Equal(t, "plain file", resp.Body)
	assert.Contains(t, resp.Get("Content-Type"), "text/plain")
	word["HTTP_IF_NONE_MATCH"] = resp.Get("ETag")
	assert.Equal(t, 304, s.ask("/a.txt", word).Status)
	delete(word, "HTTP_IF_NONE_MATCH")
	word["HTTP_RANGE"] = "bytes=0-4"
	resp = s.ask("/a.txt", word)
	assert.Equal(t, 206, resp.Status)
	assert.Equal(t, "plain", resp.Body)
	delete(word, "HTTP_RANGE")
	s.page("a.mcro", "source")
	assert.Equal(t, 404, s.ask("/a.mcro", word).Status, "the source of a page is never sent")
	assert.Equal(t, 404, s.ask("/b.txt", word).Status)
	s.page(".env", "secret")
	require.NoError(t, os.Link(s.db.Path(), filepath.Join(s.folder, "data.txt")))
	for _, path := range []string{"/.env", "/data.txt"} {
		assert.Equal(t, 404, s.ask(path, word).Status, path)
	}
}

// Specification: 4.3.3
func TestConditional(t *testing.T) {
	s := newSite(t)
	s.script("x", `return {headers = {ETag = '"v1"'}, body = "x"}`)
	assert.Equal(t, 200, s.ask("/x.fcgi", nil).Status)
	for tag, want := range map[string]int{`"v1"`: 304, `W/"v1"`: 304, `"v0", "v1-gzip"`: 304, `*`: 304, `"v2"`: 200} {
		resp := s.ask("/x.fcgi", map[string]string{"HTTP_IF_NONE_MATCH": tag})
		assert.Equal(t, want, resp.Status, tag)
		if want == 304 {
			assert.Empty(t, resp.Body)
			assert.Equal(t, `"v1"`, resp.Get("ETag"))
		}
	}
}

func TestHead(t *testing.T) {
	s := newSite(t)
	s.script("x", `local p = ... return "method " .. p.method`)
	var b bytes.Buffer
	s.g.Answer(context.Background(), s.request("/x.fcgi", map[string]string{"REQUEST_METHOD": "HEAD"}), &b)
	assert.True(t, strings.HasSuffix(b.String(), "Content-Length: 11\r\n\r\n"), b.String())
}

// pieces records what is written between two flushes.
type pieces struct {
	bytes.Buffer
	sent []int
}

func (p *pieces) Flush() error {
	p.sent = append(p.sent, p.Len())
	return nil
}

// Specification: 2.2.5, 8.1
func TestChunks(t *testing.T) {
	s := newSite(t)
	s.script("x", `return ("x"):rep (60 * 1024)`)
	for size, want := range map[float64]int{24: 2, 0: 0, 10: 5, 100: 0} {
		s.put("user.webserver.chunkSize", objectdb.Number(size))
		var p pieces
		s.g.Answer(context.Background(), s.request("/x.fcgi", nil), &p)
		assert.Len(t, p.sent, want, "flushes between chunks of %v KB", size)
		for i := 1; i < len(p.sent); i++ {
			assert.Equal(t, int(size)*1024, p.sent[i]-p.sent[i-1])
		}
	}
}

// Specification: 2.2.5, 8.1
func TestSendPartial(t *testing.T) {
	s := newSite(t)
	s.put("scratchpad.n", objectdb.Number(0))
	s.script("x", `scratchpad.n = 1
		webserver.sendPartial (webserver.httpHeader ("200 OK", "text/plain") .. "one ")
		webserver.sendPartial ("two ", ...)
		webserver.sendPartial ("three", false)
		return ""`)
	var p pieces
	s.g.Answer(context.Background(), s.request("/x.fcgi", nil), &p)
	resp, err := httpheader.Parse(p.String())
	require.NoError(t, err)
	assert.Equal(t, "one two three", resp.Body)
	assert.Equal(t, "", resp.Get("Content-Length"))
	assert.Len(t, p.sent, 3)
	assert.Equal(t, objectdb.Number(1), s.get("scratchpad.n"))

	s.script("x", `scratchpad.n = 2
		webserver.sendPartial ("one ")
		scratchpad.n = 3
		error ("late")`)
	p = pieces{}
	out := s.g.Answer(context.Background(), s.request("/x.fcgi", nil), &p)
	assert.True(t, out.Broken)
	assert.True(t, strings.HasSuffix(p.String(), "\r\n\r\none "), "what was sent stays sent")
	assert.Equal(t, objectdb.Number(2), s.get("scratchpad.n"), "what the first piece committed stays, the rest does not")

	s.script("x", `webserver.sendPartial ("a", false) webserver.sendPartial ("b")`)
	p = pieces{}
	assert.True(t, s.g.Answer(context.Background(), s.request("/x.fcgi", nil), &p).Broken)
}

// TestCounter checks that requests that increment the same number at the same time lose nothing.
//
// Specification: 3.1
func TestCounter(t *testing.T) {
	s := newSite(t)
	s.put("scratchpad.n", objectdb.Number(0))
	s.script("x", `scratchpad.n = scratchpad.n + 1 return scratchpad.n`)
	const clients, each = 8, 25
	seen := make([]map[string]bool, clients)
	var wg sync.WaitGroup
	for i := range clients {
		seen[i] = map[string]bool{}
		wg.Go(func() {
			for range each {
				var b bytes.Buffer
				s.g.Answer(context.Background(), s.request("/x.fcgi", nil), &b)
				_, body, _ := strings.Cut(b.String(), "\r\n\r\n")
				seen[i][body] = true
			}
		})
	}
	wg.Wait()
	all := map[string]bool{}
	for _, m := range seen {
		maps.Copy(all, m)
	}
	assert.Len(t, all, clients*each, "every request saw a number of its own")
	assert.Equal(t, objectdb.Number(clients*each), s.get("scratchpad.n"))
}

// TestSendPartialAgain checks that a request that loses a race before anything was sent is run
// again, and sends its response once.
func TestSendPartialAgain(t *testing.T) {
	s := newSite(t)
	s.put("scratchpad.n", objectdb.Number(0))
	s.script("x", `scratchpad.n = scratchpad.n + 1 webserver.sendPartial ("n" .. scratchpad.n) return ""`)
	const clients, each = 6, 20
	var wg sync.WaitGroup
	for range clients {
		wg.Go(func() {
			for range each {
				var b bytes.Buffer
				out := s.g.Answer(context.Background(), s.request("/x.fcgi", nil), &b)
				assert.NoError(t, out.Err)
				assert.Equal(t, 1, strings.Count(b.String(), "HTTP/1.0"), b.String())
			}
		})
	}
	wg.Wait()
	assert.Equal(t, objectdb.Number(clients*each), s.get("scratchpad.n"))
}

// Specification: 2.2.6, 2.3.8
func TestDebugging(t *testing.T) {
	s := newSite(t)
	s.script("x", `error ("boom")`)
	ask := func() {
		r := s.request("/x.fcgi?q=1&token=hush",
			map[string]string{"REQUEST_METHOD": "POST",
				"CONTENT_TYPE": "application/x-www-form-urlencoded", "CONTENT_LENGTH": "41",
				"HTTP_AUTHORIZATION": "Basic aHVzaDpodXNo", "HTTP_COOKIE": "id=hush; hush", "REDIRECT_HTTP_COOKIE": "id=hush",
				"HTTP_X_AUTH_TOKEN": "hush", "HTTP_REFERER": "http://r/?password=hush"})
		r.Body = strings.NewReader("a=1&A=2&=3&password=hush&%70asswort=hush&")
		resp, _ := s.answer(r)
		require.Equal(t, 500, resp.Status)
	}
	ask()
	require.NoError(t, s.db.View(context.Background(), func(tx *objectdb.Tx) error {
		_, err := tx.Stat(requestlog.LastParams)
		assert.ErrorIs(t, err, objectdb.ErrNotFound, "nothing is kept while debugging is off")
		return nil
	}))
	s.put("user.webserver.flDebug", objectdb.Boolean(true))
	ask()
	assert.Equal(t, objectdb.String("/x.fcgi"), s.get("scratchpad.cgiparams.scriptName"))
	assert.Equal(t, objectdb.String("POST"), s.get("scratchpad.cgiparams.method"))
	assert.Equal(t, objectdb.String("2"), s.get("scratchpad.cgiparams.argTable.A"))
	assert.Equal(t, objectdb.String("1"), s.get(`scratchpad.cgiparams.argTable.["a (3)"]`),
		"a name that differs only in case gets a number")
	assert.NotContains(t, s.recordedText(), "hush")
	assert.NotContains(t, s.recordedText(), "aHVzaDpodXNo")
	assert.Equal(t, 404, s.ask("/scratchpad.cgiparams.fcgi", nil).Status)
}

// recordedText returns all that lies at scratchpad.cgiparams as one text.
func (s *testSite) recordedText() string {
	var all strings.Builder
	require.NoError(s.t, s.db.View(context.Background(), func(tx *objectdb.Tx) error {
		return tx.Walk(requestlog.LastParams, func(a objectdb.Address, n *objectdb.Node) error {
			if n.Kind() == objectdb.KindTable {
				return nil
			}
			v, err := tx.Value(n)
			fmt.Fprintf(&all, "%s=%v\n", a, v)
			return err
		})
	}))
	return all.String()
}

// TestDebuggingBodies checks that no secret of a body is recorded, whatever its form, and that a
// body cannot fill the root.
func TestDebuggingBodies(t *testing.T) {
	s := newSite(t)
	s.script("x", `return "x"`)
	s.put("user.webserver.flDebug", objectdb.Boolean(true))
	for contentType, body := range map[string]string{
		"application/json":                  `{"password":"hush"}`,
		"application/x-www-form-urlencoded": "p%61ssword=hush&a=1",
		"multipart/form-data; boundary=B":   "--B\r\nContent-Disposition: form-data; name=password\r\n\r\nhush\r\n--B--\r\n",
	} {
		require.Equal(t, 200, s.post("/x.fcgi", contentType, body).Status)
		assert.Contains(t, s.recordedText(), "scratchpad.cgiparams.method=POST", contentType)
		assert.NotContains(t, s.recordedText(), "hush", contentType)
	}
	require.Equal(t, 200, s.post("/x.fcgi", "", strings.Repeat("a="+strings.Repeat("x", 60_000)+"&", 200)).Status)
	assert.Less(t, len(s.recordedText()), 512<<10)
}

// Specification: 4.1.2, 4.1.6
func TestPost(t *testing.T) {
	s := newSite(t)
	s.script("x", `local p = ... return p.argTable.a .. p.files.f.data`)
	resp := s.post("/x.fcgi", "multipart/form-data; boundary=B",
		"--B\r\nContent-Disposition: form-data; name=a\r\n\r\nA\r\n"+
			"--B\r\nContent-Disposition: form-data; name=f; filename=x\r\n\r\nF\r\n--B--\r\n")
	assert.Equal(t, "AF", resp.Body)
	assert.Equal(t, 400, s.post("/x.fcgi", "application/x-www-form-urlencoded", "a=%zz").Status)
	s.put("user.webserver.maxBody", objectdb.Number(0.00001))
	assert.Equal(t, 413, s.post("/x.fcgi", "text/plain", strings.Repeat("x", 100)).Status)
}

// Specification: 7.1
func TestRefused(t *testing.T) {
	s := newSite(t)
	for name, c := range map[string]struct {
		more   map[string]string
		status int
	}{
		"no method":        {map[string]string{"REQUEST_METHOD": ""}, 400},
		"odd method":       {map[string]string{"REQUEST_METHOD": "GE T"}, 400},
		"trace":            {map[string]string{"REQUEST_METHOD": "TRACE"}, 405},
		"unknown method":   {map[string]string{"REQUEST_METHOD": "get"}, 501},
		"bad host":         {map[string]string{"HTTP_HOST": "localhost?"}, 400},
		"lying length":     {map[string]string{"CONTENT_LENGTH": "10"}, 400},
		"length no number": {map[string]string{"CONTENT_LENGTH": "ten"}, 400},
	} {
		resp := s.ask("/samples.tellTime.fcgi", c.more)
		assert.Equal(t, c.status, resp.Status, name)
		assert.NotContains(t, resp.Body, "localhost?", name)
	}
}

func BenchmarkAnswer(b *testing.B) {
	s := newSite(b)
	s.script("hello",
		`return webserver.httpHeader () .. "<html><body>Hello, world. This page has about one hundred bytes, as the comparison wants.</body></html>"`)
	var page strings.Builder
	for i := range 20 {
		name := fmt.Sprintf("value%d", i)
		s.put("user.page."+name, objectdb.String("some value"))
		fmt.Fprintf(&page, "<p>%s <!--#user.page.%s--></p>\n", strings.Repeat("text ", 90), name)
	}
	s.page("page.mcro", page.String())
	for name, path := range map[string]string{"script": "/hello.fcgi", "page": "/page.mcro"} {
		b.Run(name, func(b *testing.B) {
			r := s.request(path, nil)
			var out bytes.Buffer
			b.ReportAllocs()
			for b.Loop() {
				out.Reset()
				again := *r
				if o := s.g.Answer(context.Background(), &again, &out); o.Status != 200 {
					b.Fatal(o.Err)
				}
			}
		})
	}
}

// Specification: 2.3.13
func TestServerNameWithoutHost(t *testing.T) {
	s := newSite(t)
	s.script("x", `local p = ... return p.serverName .. " " .. p.cgi.SERVER_NAME`)
	resp := s.ask("/x.fcgi", map[string]string{"SERVER_NAME": "", "HTTP_HOST": "", "SERVER_ADDR": "10.0.0.1"})
	assert.Equal(t, "10.0.0.1 ", resp.Body)
}
