package devserver

import (
	"bufio"
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/gateway"
	"scripter/internal/testlog"
	"scripter/objectdb"
	"scripter/objectdb/sqlitestore"
	"scripter/objectfiles"
	"scripter/root"
)

// A testSite is a root with a folder of pages, and its server on loopback.
type testSite struct {
	t      *testing.T
	db     *objectdb.DB
	folder string
	log    *testlog.Buffer
	server *Server
	addr   string
}

const patience = time.Minute

func newSite(t *testing.T) *testSite {
	t.Helper()
	s := &testSite{t: t, folder: t.TempDir(), log: &testlog.Buffer{}}
	var err error
	s.db, err = sqlitestore.Create(filepath.Join(t.TempDir(), "test.root"),
		objectdb.Options{Relaxed: true, BusyTimeout: patience, LockTime: patience})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, s.db.Close()) })
	s.update(func(tx *objectdb.Tx) error {
		_, err := objectfiles.Import(tx, root.FS, nil, nil)
		return err
	})
	log := slog.New(slog.NewTextHandler(s.log, nil))
	s.server = &Server{Gateway: gateway.New(gateway.Options{DB: s.db, Log: log}), Folder: s.folder,
		Software: "Scripter/test", Log: log,
		Hosts: []string{"x", "h", "other.test", "One.test", "two.test.", "a.example:80", "site.test", "192.0.2.7:8080"}}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	srv := &http.Server{Handler: s.server}
	go srv.Serve(l)
	t.Cleanup(func() { srv.Close() })
	s.addr = l.Addr().String()
	s.put("user.webserver.maxTime", objectdb.Number(300)) // a busy machine may stand still for ten seconds
	return s
}

func (s *testSite) update(fn func(tx *objectdb.Tx) error) {
	s.t.Helper()
	require.NoError(s.t, s.db.Update(context.Background(), fn))
}

func (s *testSite) put(address string, v objectdb.Value) {
	s.t.Helper()
	a, err := objectdb.ParseAddress(address)
	require.NoError(s.t, err)
	s.update(func(tx *objectdb.Tx) error { return tx.Put(a, v) })
}

// script puts a script for the URL /NAME.fcgi.
func (s *testSite) script(name, source string) {
	s.t.Helper()
	s.put("suites.webserverScripts."+name, objectdb.Script(source))
}

func (s *testSite) page(name, text string) {
	s.t.Helper()
	require.NoError(s.t, os.WriteFile(filepath.Join(s.folder, name), []byte(text), 0o644))
}

// raw sends bytes and reads all that comes back.
func raw(t *testing.T, addr, text string) string {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	require.NoError(t, err)
	defer c.Close()
	require.NoError(t, c.SetDeadline(time.Now().Add(patience)))
	_, err = io.WriteString(c, text)
	require.NoError(t, err)
	b, err := io.ReadAll(bufio.NewReader(c))
	require.NoError(t, err)
	return string(b)
}

// TestStaticShape checks the response with a file, byte for byte (specification, 4.2, the
// last shape).
//
// Specification: 4.2.4
func TestStaticShape(t *testing.T) {
	s := newSite(t)
	addr := s.addr
	s.page("plain.html", "<p>plain</p>")
	got := raw(t, addr, "GET /plain.html HTTP/1.0\r\n\r\n")
	assert.Regexp(t, regexp.MustCompile(`^HTTP/1\.1 200 OK\r
Date: \w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT\r
Server: Scripter/test\r
Last-Modified: \w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT\r
ETag: "[^"]+"\r
Content-Length: 12\r
Accept-Ranges: bytes\r
Connection: close\r
Content-Type: text/html; charset=utf-8\r
\r
<p>plain</p>$`), got)
	etag := regexp.MustCompile(`ETag: (\S+)`).FindStringSubmatch(got)[1]
	assert.Contains(t, raw(t, addr, "GET /plain.html HTTP/1.0\r\nIf-None-Match: "+etag+"\r\n\r\n"), "304 Not Modified")
	got = raw(t, addr, "GET /plain.html HTTP/1.1\r\nHost: x\r\nRange: bytes=3-7\r\n\r\n")
	assert.Contains(t, got, "206 Partial Content")
	assert.Contains(t, got, "Content-Range: bytes 3-7/12")
	assert.True(t, strings.HasSuffix(got, "\r\n\r\nplain"))
	s.put("user.webserver.serverName", objectdb.String("WebTen/2.0"))
	assert.Contains(t, raw(t, addr, "GET /plain.html HTTP/1.0\r\n\r\n"), "\r\nServer: WebTen/2.0\r\n")
	assert.True(t, strings.HasSuffix(raw(t, addr, "HEAD /plain.html HTTP/1.0\r\n\r\n"), "\r\n\r\n"))
	assert.Contains(t, raw(t, addr, "POST /plain.html HTTP/1.0\r\nContent-Length: 1\r\n\r\nx"), "405 Method Not Allowed")
}

// Specification: 4.1.1
func TestServeScripts(t *testing.T) {
	s := newSite(t)
	addr := s.addr
	s.script("x", `local p = ... return webserver.httpHeader ("200 OK", "text/plain") .. p.method .. `+
		`" " .. p.pathArgs .. " " .. p.postArgs .. " " .. p.cgi.REQUEST_URI`)
	assert.Equal(t, "HTTP/1.0 200 OK\r\nServer: Scripter/test\r\nMIME-Version: 1.0\r\n"+
		"Content-type: text/plain\r\nCache-Control: private, no-cache\r\nContent-Length: 20\r\n\r\nGET a  /x.fcgi$a?b=c",
		raw(t, addr, "GET /x.fcgi$a?b=c HTTP/1.0\r\n\r\n"))
	assert.Contains(t, raw(t, addr, "POST /x.fcgi HTTP/1.1\r\nHost: h\r\n"+
		"Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"), "POST  abc /x.fcgi")
	assert.Contains(t, raw(t, addr, "GET http://other.test/x.fcgi HTTP/1.1\r\nHost: h\r\n\r\n"),
		"GET   http://other.test/x.fcgi")
	assert.Contains(t, raw(t, addr, "GET /x.fcgi$http://a//b/../c HTTP/1.0\r\n\r\n"), "GET http://a//b/../c ")
	s.page("plain.html", "plain")
	assert.Contains(t, raw(t, addr, "GET /x.fcgi$x/../plain.html HTTP/1.0\r\n\r\n"), "GET x/../plain.html ")
	assert.Contains(t, raw(t, addr, "GET /plain.html/ HTTP/1.0\r\n\r\n"), " 404 ")
	s.script("new", `return "HTTP/1.1 200 OK\r\n\r\nx"`)
	assert.Contains(t, raw(t, addr, "GET /new.fcgi HTTP/1.1\r\nHost: h\r\n\r\n"), "\r\nConnection: close\r\n")
	assert.Contains(t, raw(t, addr, "GET //x.fcgi HTTP/1.0\r\n\r\n"), "200 OK")
	s.put("user.webserver.maxBody", objectdb.Number(0.001))
	body := strings.Repeat("x", 100_000)
	assert.Contains(t, raw(t, addr, "POST /x.fcgi HTTP/1.0\r\nContent-Length: 100000\r\n\r\n"+body), "413 ")
}

// TestLateReader checks that a client that sends all of a body that is too large before it reads, as
// browsers do, gets the page of the 413.
func TestLateReader(t *testing.T) {
	s := newSite(t)
	s.script("x", `return "x"`)
	body := strings.Repeat("x", 40_000_000)
	assert.Contains(t, raw(t, s.addr, "POST /x.fcgi HTTP/1.1\r\nHost: localhost\r\nContent-Type: multipart/form-data; boundary=B\r\n"+
		"Content-Length: 40000000\r\n\r\n"+body), "it has 38.1 MB, and 16 MB are accepted")
}

// TestBrokenAnswer checks that a client can tell an incomplete response from a complete one.
func TestBrokenAnswer(t *testing.T) {
	s := newSite(t)
	addr := s.addr
	s.script("x", `webserver.sendPartial ("half") error ("boom")`)
	c, err := net.Dial("tcp", addr)
	require.NoError(t, err)
	defer c.Close()
	require.NoError(t, c.SetDeadline(time.Now().Add(patience)))
	_, err = io.WriteString(c, "GET /x.fcgi HTTP/1.0\r\n\r\n")
	require.NoError(t, err)
	_, err = io.ReadAll(c)
	assert.Error(t, err, "the connection is reset")
}

// TestNotServed checks that visitors cannot get certain files.
//
// Specification: 4.1.5
func TestNotServed(t *testing.T) {
	s := newSite(t)
	addr := s.addr
	secret := filepath.Join(t.TempDir(), "secret.html")
	require.NoError(t, os.WriteFile(secret, []byte("secret"), 0o644))
	require.NoError(t, os.Symlink(secret, filepath.Join(s.folder, "link.html")))
	require.NoError(t, os.Symlink(s.db.Path(), filepath.Join(s.folder, "data.html")))
	require.NoError(t, os.Link(s.db.Path(), filepath.Join(s.folder, "hard.html")))
	require.NoError(t, os.Mkdir(filepath.Join(s.folder, "empty"), 0o755))
	s.page(".hidden", "secret")
	s.page("page.mcro", "secret source <!--#nothing-->")
	for _, path := range []string{"/link.html", "/data.html", "/hard.html", "/.hidden", "/empty/", "/missing",
		"/../secret.html", "/%2e%2e/secret.html", "/..%5csecret.html", "/x%00.html"} {
		got := raw(t, addr, "GET "+path+" HTTP/1.0\r\n\r\n")
		assert.Regexp(t, `^HTTP/1\.\d 40[04] `, got, path)
		assert.NotContains(t, got, "secret", path)
		assert.NotContains(t, got, "SQLite", path)
	}
	assert.NotContains(t, raw(t, addr, "GET /page.mcro HTTP/1.0\r\n\r\n"), "<!--#")
}

// Specification: 2.1.9, 4.1.4
func TestServeIndex(t *testing.T) {
	s := newSite(t)
	addr := s.addr
	require.NoError(t, os.Mkdir(filepath.Join(s.folder, "d"), 0o755))
	s.page("d/default.mcro", `m <!--#cgi.REQUEST_URI-->`)
	assert.Contains(t, raw(t, addr, "GET /d?x=1 HTTP/1.0\r\n\r\n"), "Location: http://"+addr+"/d/?x=1\r\n")
	assert.Contains(t, raw(t, addr, "GET /d/?x=1 HTTP/1.0\r\n\r\n"), "m /d/?x=1")
	s.page("d/index.html", "i")
	assert.True(t, strings.HasSuffix(raw(t, addr, "GET /d/ HTTP/1.0\r\n\r\n"), "\r\n\r\ni"))
	s.put(`user.webserver.directoryIndex.["one.test"].["/"]`, objectdb.String("default.mcro"))
	assert.Contains(t, raw(t, addr, "GET /d/ HTTP/1.0\r\nHost: one.test\r\n\r\n"), "m /d/")
	assert.True(t, strings.HasSuffix(raw(t, addr, "GET /d/ HTTP/1.0\r\nHost: two.test\r\n\r\n"), "\r\n\r\ni"))
}

// TestServerName checks that scripts always get a name of the server, as SERVER_NAME and
// as the parameter of 1998.
//
// Specification: 2.3.13
func TestServerName(t *testing.T) {
	s := newSite(t)
	addr := s.addr
	s.script("x", `local p = ... return p.serverName .. " " .. p.cgi.SERVER_NAME`)
	for host, want := range map[string]string{
		"":                       "127.0.0.1 127.0.0.1",
		"Host: a.example:81\r\n": "a.example a.example",
		"Host: [::1]:81\r\n":     "[::1] [::1]",
	} {
		got := raw(t, addr, "GET /x.fcgi HTTP/1.0\r\n"+host+"\r\n")
		assert.True(t, strings.HasSuffix(got, "\r\n\r\n"+want), "%q: %s", host, got)
	}
}

// TestHosts checks that requests for another host (DNS rebinding) are refused before
// anything else is done.
func TestHosts(t *testing.T) {
	s := newSite(t)
	addr := s.addr
	s.page("plain.html", "<p>plain</p>")
	s.script("x", `scratchpad.ran = true return "ran"`)
	for host, ours := range map[string]bool{
		"localhost": true, "LOCALHOST.:8080": true, "app.localhost:1": true, "127.0.0.1": true, "127.8.9.1:80": true,
		"[::1]:81": true,
		addr:       true, "one.test": true, "two.test:81": true, "a.example": true, "192.0.2.7": true,
		"evil.example": false, "localhost.evil.example": false, "127.0.0.1.evil.example": false, "192.0.2.8": false,
		"[2001:db8::1]": false,
		"10.0.0.1:8080": false, "xx": false, "notlocalhost": false,
	} {
		for path, answer := range map[string]string{"/plain.html": "200", "/x.fcgi": "200", "/none.html": "404"} {
			got := raw(t, addr, "GET "+path+" HTTP/1.1\r\nHost: "+host+"\r\nConnection: close\r\n\r\n")
			if !ours {
				answer = "421"
				assert.Contains(t, got, "This server answers to localhost and to its own address, not to ", host)
				assert.Contains(t, got, "scripter serve --host "+strings.Trim(strings.TrimSuffix(host, ":8080"), "[]"), host)
				assert.NotContains(t, got, "plain</p>")
			}
			assert.Equal(t, answer, strings.Fields(got)[1], "%s %s", host, path)
		}
	}
	// The host of an absolute target takes precedence (RFC 9112, 3.2.2).
	assert.Contains(t, raw(t, addr, "GET http://evil.example/plain.html HTTP/1.1\r\n"+
		"Host: localhost\r\nConnection: close\r\n\r\n"), " 421 ")
	assert.Contains(t, raw(t, addr, "GET /plain.html HTTP/1.0\r\n\r\n"), " 200 ")
	assert.Contains(t, s.log.String(), "request for an unknown host")

	ran := func() bool {
		var there bool
		require.NoError(t, s.db.View(t.Context(), func(tx *objectdb.Tx) error {
			_, err := tx.Get(objectdb.Address{"scratchpad", "ran"})
			there = err == nil
			return nil
		}))
		return there
	}
	s.update(func(tx *objectdb.Tx) error { return tx.Delete(objectdb.Address{"scratchpad", "ran"}) })
	raw(t, addr, "POST /x.fcgi HTTP/1.1\r\nHost: evil.example\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
	assert.False(t, ran())
}

// TestRootFilesAreNotServed checks that roots, the files beside them, hidden
// files and scripter.conf are refused in the site's folder.
func TestRootFilesAreNotServed(t *testing.T) {
	s := newSite(t)
	addr := s.addr
	head := make([]byte, 4096)
	copy(head, "SQLite format 3\x00")
	other := string(head)
	copy(head[68:], "SCrt")
	require.NoError(t, os.Mkdir(s.folder+"/.git", 0o755))
	require.NoError(t, os.Mkdir(s.folder+"/sub", 0o755))
	refused := map[string]string{
		"x.root": "text", "X.ROOT": "text", "x.root-wal": "text", "x.root-shm": "text", "x.root-lock": "",
		"x.root-door": "text", "x.root-journal": "text",
		"x.saved-20260131T183000Z.root": "text", "x.saved-20260131T183000Z.v2.root": "text", "x.saving": "text",
		"x.root.undo-20260131T183000.000Z.zip": "text", "x.root.undo.part": "text",
		"x.root.redo-20260131T183000.000Z.zip": "text", "x.root.undo.part-123": "text", "x.root.redo.part-123": "text",
		"upload.part": "text", "x.resident.log": "text",
		"scripter.conf": "text", "sub/Scripter.conf": "text", "scripter.conf.bak": "text", ".env": "text",
		".git/config": "text", ".htpasswd": "text",
		"backup.bin": string(head), "page.html": string(head), "page.mcro": string(head),
	}
	served := map[string]string{
		"app.sqlite": other, "root": "text", "x.root.txt": "text", "scripter.config": "text", "jquery.undo-redo.js": "text",
		"x.conf": "text", "party.html": "text", "empty.txt": "", "sub/a.b": "text",
	}
	for name, text := range refused {
		s.page(name, text)
	}
	for name, text := range served {
		s.page(name, text)
	}
	// Links to them.
	for name, to := range map[string]string{"link.txt": ".env", "link.html": "backup.bin", "hidden": ".git",
		"conf.txt": "scripter.conf", "own.txt": s.db.Path(), "wal.txt": s.db.Path() + "-wal"} {
		if !filepath.IsAbs(to) {
			to = filepath.Join(s.folder, to)
		}
		require.NoError(t, os.Symlink(to, filepath.Join(s.folder, name)))
		refused[name] = "link"
	}
	refused["hidden/config"] = "text"
	require.NoError(t, os.Link(s.db.Path(), filepath.Join(s.folder, "hard.txt")))
	refused["hard.txt"] = "link"
	ask := func(name string) string {
		return raw(t, addr, "GET /"+name+" HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
	}
	look := func(when string) {
		for name := range refused {
			status := strings.Fields(ask(name))[1]
			if name == "hidden" && status == "301" { // to the folder, which has no index
				continue
			}
			if status == "403" && (name == "own.txt" || name == "wal.txt") { // outside of the folder
				continue
			}
			assert.Equal(t, "404", status, "%s %s", name, when)
		}
	}
	look("as a file")
	for name, text := range served {
		got := ask(name)
		assert.Contains(t, got, " 200 ", name)
		assert.True(t, strings.HasSuffix(got, "\r\n\r\n"+text), name)
	}
	// An action for every path does not send them as pages, nor does a script that
	// returns "".
	s.put("user.webserver.overrides.[\"*\"].[\"/\"]", objectdb.String("MACRO"))
	look("as a page")
	s.put("user.webserver.actions.SELF", objectdb.Script(`return ""`))
	s.put("user.webserver.overrides.[\"*\"].[\"/\"]", objectdb.String("SELF"))
	look("as a script's answer")
	assert.Contains(t, ask("x.conf"), " 200 ")
}

// TestCharsetOfFiles checks the charset of plain files, served by themselves or
// because a script returned nothing.
func TestCharsetOfFiles(t *testing.T) {
	s := newSite(t)
	addr := s.addr
	for name, kind := range map[string]string{"utf8": "text/html; charset=utf-8", "latin": "text/html",
		"passed-utf8": "text/html; charset=utf-8", "passed-latin": "text/html"} {
		text := "<p>Grüße</p>"
		if strings.HasSuffix(name, "latin") {
			text = "<p>Gr\xfc\xdfe</p>"
		}
		s.page(name+".html", text)
		if strings.HasPrefix(name, "passed") { // a script leaves it to the web server
			s.script(`["`+name+`"]`, `return ""`)
			s.put(`user.webserver.overrides.["*"].["/`+name+`.html"]`, objectdb.String("SCRIPTER"))
		}
		assert.Contains(t, raw(t, addr, "GET /"+name+".html HTTP/1.0\r\n\r\n"), "Content-Type: "+kind+"\r\n", name)
	}
	s.page("README", "Gr\xfc\xdfe, all of you")
	assert.Contains(t, raw(t, addr, "GET /README HTTP/1.0\r\n\r\n"), "Content-Type: text/plain\r\n")
	s.page("own.odd", "Grüße")
	s.put("user.webserver.mimeTable.[\".odd\"].type", objectdb.String("text/x-odd"))
	assert.Contains(t, raw(t, addr, "GET /own.odd HTTP/1.0\r\n\r\n"), "Content-Type: text/x-odd; charset=utf-8\r\n")
}

// TestLimits checks that the limits of a script apply to requests over HTTP.
func TestLimits(t *testing.T) {
	s := newSite(t)
	s.script("loop", `while true do end`)
	s.put(`user.webserver.limits.["suites.webserverScripts.loop"].maxInstructions`, objectdb.Number(0.02))
	assert.Contains(t, raw(t, s.addr, "GET /loop.fcgi HTTP/1.0\r\n\r\n"), " 500 ")
	assert.Contains(t, s.log.String(), "limit=maxInstructions")
	assert.Contains(t, s.log.String(), "limit of 20000 instructions exceeded")
}

// TestServeRoutes checks that files and folders go before routes, and that a folder without an index has a
// route.
func TestServeRoutes(t *testing.T) {
	s := newSite(t)
	s.script("x", `local p = ... return p.method .. " " .. p.scriptName .. " " .. p.route .. " " .. tostring (p.path.all)`)
	s.put(`user.webserver.routes.["*"].all`, objectdb.String("* /*all x"))
	s.page("plain.html", "plain")
	require.NoError(t, os.Mkdir(filepath.Join(s.folder, "empty"), 0o755))
	require.NoError(t, os.Mkdir(filepath.Join(s.folder, "full"), 0o755))
	s.page("full/index.html", "the index")
	get := func(method, path string) string {
		head, body, _ := strings.Cut(raw(t, s.addr, method+" "+path+" HTTP/1.0\r\n\r\n"), "\r\n\r\n")
		status := strings.Fields(head)[1]
		if status == "200" {
			return body
		}
		return status
	}
	for _, c := range [][3]string{
		{"GET", "/plain.html", "plain"},
		{"GET", "/full/", "the index"},
		{"GET", "/full", "301"},
		{"GET", "/empty", "301"},
		{"GET", "/empty/", "GET /empty/ all empty/"},
		{"GET", "/", "GET / all "},
		{"POST", "/none", "POST /none all none"},
		{"POST", "/plain.html", "405"},
		{"GET", "/plain.html$x", "GET /plain.html$x all plain.html$x"},
		{"GET", "/a%2Fb%3Fc", "GET /a/b?c all a/b?c"},
		{"GET", "/none.mcro", "404"},
		{"GET", "/none.fcgi", "404"},
		{"GET", "/.git/x", "404"},
		{"GET", "/cgi-bin/x", "404"},
	} {
		assert.Equal(t, c[2], get(c[0], c[1]), c[1])
	}
	s.put(`user.webserver.routes.["*"].all`, objectdb.String("POST /*all x"))
	assert.Equal(t, "plain", get("GET", "/plain.html"))
	assert.Equal(t, "405", get("GET", "/none"))
	assert.Equal(t, "405", get("GET", "/empty/"))
}
