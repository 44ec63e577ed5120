package conf_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/internal/corpus"
	"scripter/internal/servertest"
)

// cacheSetUp is a cache in front of a web server with Scripter.
type cacheSetUp struct {
	name     string
	programs []string
	files    []string // the first is the example
	port     string   // in the example
	behind   string   // the set-up of the web server
	command  func(p servertest.Place, conf string) []string
	folder   bool // it is flushed by emptying its folder
	asks     bool // it keeps a page of max-age=0 and asks about it
}

var cacheSetUps = []cacheSetUp{
	{
		name: "varnish", programs: []string{"varnishd"}, files: []string{"varnish.vcl"}, port: "6081",
		behind:  "apache-proxy-fcgi",
		command: varnish, asks: true,
	},
	{
		name: "nginx-cache", programs: []string{"nginx"}, files: []string{"nginx-cache.conf", "nginx-base.conf"},
		port: "8090", behind: "nginx-fastcgi",
		command: servertest.Nginx, folder: true,
	},
	{
		name: "apache-cache", programs: []string{"apache2"}, files: []string{"apache-cache.conf", "apache-base.conf"},
		port: "8091", behind: "apache-cgi",
		command: servertest.Apache, folder: true,
	},
}

// backendPort is where the web server listens in all examples of caches.
const backendPort = "8085"

func varnish(p servertest.Place, conf string) []string {
	return []string{"varnishd", "-F", "-n", filepath.Join(p.Run, "varnish"), "-a", "visitors=127.0.0.1:" + p.Port, "-a",
		"purge=127.0.0.1:" + p.PurgePort, "-T", "none", "-s", "default,16m", "-f", conf}
}

// cached is a site behind a web server behind a cache.
type cached struct {
	cacheSetUp
	t      *testing.T
	site   *corpus.Site
	client corpus.Client // of the cache
	dir    string        // what stands for /srv/scripter of the cache
	purge  string        // host:port where Varnish accepts PURGE

	mu     sync.Mutex
	passed []passage
}

// passage is one request that the cache did not answer itself.
type passage struct {
	method, uri, condition string
	status, bytes          int
}

func startCached(t *testing.T, s cacheSetUp) *cached {
	i := slices.IndexFunc(servertest.SetUps, func(b servertest.SetUp) bool { return b.Name() == s.behind })
	require.GreaterOrEqual(t, i, 0)
	for _, program := range append(s.programs, servertest.SetUps[i].Programs...) {
		servertest.Need(t, program)
	}
	c := &cached{cacheSetUp: s, t: t, site: corpus.NewSite(t)}
	c.install()
	p := servertest.Place{Site: &corpus.Site{Dir: corpus.OpenTempDir(t)}, Run: corpus.OpenTempDir(t),
		Port: corpus.FreePort(t), PurgePort: corpus.FreePort(t)}
	// The lines of scripter.conf that list the cache for this root.
	c.site.Listed = fmt.Sprintf("cache: 127.0.0.1:%s\ncache-folder: %s\n", p.PurgePort, filepath.Join(p.Dir, "cache"))
	require.NoError(t, os.WriteFile(c.site.Program("scripter.conf"), []byte("root: "+c.site.Root+"\n"+c.site.Listed),
		0o644))
	server := servertest.SetUps[i].Start(t, c.site)
	between := httptest.NewServer(c.recorder(server.Addr))
	t.Cleanup(between.Close)
	c.start(p, strings.TrimPrefix(between.URL, "http://127.0.0.1:"))
	return c
}

// recorder stands between cache and web server and writes down what passes.
func (c *cached) recorder(web string) http.Handler {
	return &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(&url.URL{Scheme: "http", Host: web})
			r.Out.Host = r.In.Host
		},
		ModifyResponse: func(r *http.Response) error {
			if strings.Contains(r.Request.URL.Path, ".late") {
				return nil // the response is truncated, and the cache must see that
			}
			body, err := io.ReadAll(r.Body)
			if err != nil {
				return err
			}
			r.Body.Close()
			r.Body = io.NopCloser(strings.NewReader(string(body)))
			h := r.Request.Header
			c.mu.Lock()
			defer c.mu.Unlock()
			c.passed = append(c.passed, passage{r.Request.Method, r.Request.URL.RequestURI(), h.Get("If-None-Match") +
				h.Get("If-Modified-Since"), r.StatusCode, len(body)})
			return nil
		},
	}
}

// passages gives what has passed since the last time.
func (c *cached) passages() []passage {
	c.mu.Lock()
	defer c.mu.Unlock()
	p := c.passed
	c.passed = nil
	return p
}

// start starts the cache in front of the web server at a port.
func (c *cached) start(p servertest.Place, web string) {
	c.dir, c.purge = p.Dir, "127.0.0.1:"+p.PurgePort
	for _, f := range c.files {
		data, err := os.ReadFile(f)
		require.NoError(c.t, err)
		text := strings.NewReplacer("/srv/scripter", p.Dir, "/run/scripter", p.Run, ":"+c.port, ":"+p.Port, backendPort,
			web).Replace(string(data))
		if _, _, ok := corpus.ServerUser(c.t); !ok {
			text = servertest.ServerUserLines.ReplaceAllString(text, "")
		}
		p.Write(c.t, filepath.Join("conf", f), 0o644, text)
	}
	require.NoError(c.t, os.MkdirAll(filepath.Join(p.Dir, "cache"), 0o755))
	require.NoError(c.t, os.MkdirAll(filepath.Join(p.Dir, "www"), 0o755))
	corpus.GiveToServer(c.t, p.Dir)
	corpus.GiveToServer(c.t, p.Run)
	c.t.Cleanup(func() { servertest.ShowLogs(c.t, p.Run) })
	command := c.command(p, filepath.Join(p.Dir, "conf", c.files[0]))
	program, err := servertest.Find(command[0])
	require.NoError(c.t, err)
	c.client = corpus.Client{Addr: "127.0.0.1:" + p.Port}
	corpus.StartProcess(c.t, false, nil, program, command[1:]...).WaitFor(c.t, "tcp", c.client.Addr)
	c.client.WaitReady(c.t)
	c.passages()
}

// cacheObjects are the scripts of these tests, by their names below
// suites.webserverScripts.caches.
var cacheObjects = map[string]string{
	"plain":  `return "made at " .. os.clock () .. random.token ()`,
	"tagged": `return {headers = {ETag = '"1"', ["Last-Modified"] = "Fri, 16 Jan 1998 12:00:00 GMT"}, body = "tagged"}`,
	"fails":  `error ("on purpose")`,
	"moves":  `return webserver.httpHeader ("302 FOUND", "http://elsewhere.example/")`,
	"gone":   `return {status = 410, body = "gone"}`,
	"bytag": `scratchpad.tagRuns = (scratchpad.tagRuns or 0) + 1
		local page = "version " .. workspace.version
		return webserver.httpHeader2 ("200 OK", "text/plain", 1, page) .. page`,
	"bydate": `scratchpad.dateRuns = (scratchpad.dateRuns or 0) + 1
		return webserver.httpHeader2 ("200 OK", "text/plain", 1, odb.date ("1998-01-0" .. workspace.version)) .. "version " .. workspace.version`,
	"late": `webserver.sendPartial (webserver.httpHeader2 ("200 OK", "text/plain", 600) .. "abc")
		if not workspace.healed then error ("late") end
		return "defghij"`,
	"lateknown": `local head = webserver.httpHeader2 ("200 OK", "text/plain", 600)
		webserver.sendPartial (head:sub (1, -3) .. "Content-Length: 10\r\n\r\nabc")
		if not workspace.healed then error ("late") end
		return "defghij"`,
	"long":  `return webserver.httpHeader2 ("200 OK", "text/plain", 600) .. "version " .. workspace.version`,
	"other": `return webserver.httpHeader2 ("200 OK", "text/plain", 600) .. "version " .. workspace.version`,
	"edit": `workspace.version = workspace.version + 1
		webserver.flushCache ((...).searchTable.page)
		return "edited"`,
}

func (c *cached) install() {
	// A case of the corpus has a copy of its own; here the supplied one counts.
	c.tool("put", "--parents", "suites.webserver.httpHeader2", "--kind", "script", "--file",
		"../root/suites/webserver/httpHeader2.lua")
	for name, source := range cacheObjects {
		c.tool("put", "--parents", "suites.webserverScripts.caches."+name, "--kind", "script", source)
	}
	c.tool("put", "--parents", "workspace.version", "--kind", "number", "1")
	require.NoError(c.t, os.WriteFile(filepath.Join(c.site.WWW, "cache.mcro"),
		[]byte("<html><!--#counter(cache)--></html>"), 0o644))
	old := time.Date(1998, 1, 16, 12, 0, 0, 0, time.UTC)
	require.NoError(c.t, os.Chtimes(filepath.Join(c.site.WWW, "static-picture", "dot.gif"), old, old))
	for i := range 2 { // for keepsNoBody
		file := filepath.Join(c.site.WWW, fmt.Sprintf("file%d.txt", i))
		require.NoError(c.t, os.WriteFile(file, []byte("a file"), 0o644))
		require.NoError(c.t, os.Chtimes(file, old, old))
	}
	corpus.GiveToServer(c.t, c.site.Dir)
}

// tool runs the operator's tool as the site's owner.
func (c *cached) tool(args ...string) string {
	c.t.Helper()
	cmd := exec.Command(c.site.Program("scripter"), append([]string{"--root", c.site.Root}, args...)...)
	out, err := cmd.CombinedOutput()
	require.NoError(c.t, err, "%s", out)
	corpus.GiveToServer(c.t, filepath.Dir(c.site.Root))
	return strings.TrimSpace(string(out))
}

func (c *cached) ask(method, path string, fields ...string) *corpus.Response {
	c.t.Helper()
	conn, err := c.client.Dial()
	require.NoError(c.t, err)
	defer conn.Close()
	request := method + " " + path + " HTTP/1.1\r\nHost: " + c.client.Addr + "\r\nConnection: close\r\n"
	for _, f := range fields {
		request += f + "\r\n"
	}
	r, err := conn.Do([]byte(request + "\r\n"))
	require.NoError(c.t, err)
	return r
}

func (c *cached) get(path string, fields ...string) *corpus.Response {
	c.t.Helper()
	return c.ask("GET", path, fields...)
}

// TestCaches puts each cache in front of a web server and looks at what it
// asks for.
func TestCaches(t *testing.T) {
	for _, s := range cacheSetUps {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel() // most of it is waiting for pages to grow old
			c := startCached(t, s)
			for _, test := range []struct {
				name string
				run  func(*cached, *testing.T)
			}{
				// Specification: 4.3.3
				{"keeps nothing by default", (*cached).keepsNothing},
				// Specification: 1.4, 4.3.2, 4.3.9
				{"keeps files", (*cached).keepsFiles},
				{"keeps nothing of a GET with a body", (*cached).keepsNoBody},
				// Specification: 1.4, 2.3.12, 4.3.2, 4.3.3
				{"keeps a page for its max-age", (*cached).keepsForMaxAge},
				// Specification: 4.3.3
				{"asks by ETag", func(c *cached, t *testing.T) { c.validates(t, "/caches.bytag.fcgi", "scratchpad.tagRuns") }},
				{"asks by date", func(c *cached, t *testing.T) { c.validates(t, "/caches.bydate.fcgi", "scratchpad.dateRuns") }},
				// Specification: 4.3.3
				{"shows an edit at once", (*cached).showsEdits},
				// Specification: 1.4, 4.3.2
				{"keeps no truncated response", (*cached).keepsNoTruncated},
				{"is flushed", (*cached).isFlushed},
				{"is flushed by nobody else", (*cached).isFlushedByNobodyElse},
			} {
				t.Run(test.name, func(t *testing.T) {
					outer := c.t
					c.t = t
					defer func() { c.t = outer }()
					c.passages()
					test.run(c, t)
				})
			}
		})
	}
}

// keepsNothing: responses of ours that say nothing of caches are made anew
// each time, whatever they are.
func (c *cached) keepsNothing(t *testing.T) {
	for path, status := range map[string]int{
		"/caches.plain.fcgi": 200, "/caches.plain.fcgi?x=1": 200, "/cache.mcro": 200, "/caches.tagged.fcgi": 200,
		"/caches.fails.fcgi": 500, "/caches.moves.fcgi": 302, "/caches.gone.fcgi": 410, "/caches.missing.fcgi": 404,
	} {
		bodies := map[string]bool{}
		for range 3 {
			r := c.get(path)
			assert.Equal(t, status, r.Status, path)
			bodies[r.Body] = true
		}
		assert.Len(t, c.passages(), 3, "GET %s", path)
		if path == "/caches.plain.fcgi" || path == "/cache.mcro" {
			assert.Len(t, bodies, 3, path)
		}
		for range 2 {
			r := c.ask("HEAD", path)
			assert.Equal(t, status, r.Status, path)
			assert.Empty(t, r.Body)
		}
		assert.Len(t, c.passages(), 2, "HEAD %s", path)
	}
}

// keepsFiles: pictures of a page come from the cache.
func (c *cached) keepsFiles(t *testing.T) {
	first := c.get("/static-picture/dot.gif")
	assert.Equal(t, 200, first.Status)
	assert.Len(t, first.Body, 43)
	assert.Len(t, c.passages(), 1, "the cache has no picture: the web server answers")
	second := c.get("/static-picture/dot.gif")
	assert.Equal(t, first.Body, second.Body)
	assert.Empty(t, c.passages(), "the cache has it")
}

// keepsNoTruncated checks that a truncated streamed response is not stored, with and
// without a Content-Length, though its Cache-Control allows it.
func (c *cached) keepsNoTruncated(t *testing.T) {
	for path, whole := range map[string]string{"/caches.late.fcgi": "abcdefghij", "/caches.lateknown.fcgi": "abcdefghij"} {
		c.tool("put", "--parents", "workspace.healed", "--kind", "boolean", "false")
		conn, err := c.client.Dial()
		require.NoError(t, err)
		r, err := conn.Do([]byte("GET " + path + " HTTP/1.1\r\nHost: " + c.client.Addr + "\r\nConnection: close\r\n\r\n"))
		conn.Close()
		if err == nil {
			assert.NotEqual(t, whole, r.Body, path)
		}
		c.tool("put", "workspace.healed", "--kind", "boolean", "true")
		r = c.get(path)
		assert.Equal(t, 200, r.Status, path)
		assert.Equal(t, whole, r.Body, path)
	}
}

// keepsNoBody checks that a GET with a body is not answered from the cache, and that
// the response is not stored, though the page allows it.
func (c *cached) keepsNoBody(t *testing.T) {
	withBody := func(path string, fields ...string) {
		conn, err := c.client.Dial()
		require.NoError(t, err)
		defer conn.Close()
		request := "GET " + path + " HTTP/1.1\r\nHost: " + c.client.Addr + "\r\nConnection: close\r\n" +
			strings.Join(fields, "\r\n") + "\r\n\r\n"
		body := "x=1"
		if strings.HasPrefix(fields[0], "Transfer-Encoding") {
			body = "3\r\nx=1\r\n0\r\n\r\n"
		}
		_, err = conn.Do([]byte(request + body))
		require.NoError(t, err)
	}
	for i, fields := range [][]string{{"Content-Length: 3"}, {"Transfer-Encoding: chunked"}} {
		path := fmt.Sprintf("/file%d.txt", i) // the web server ignores the body
		withBody(path, fields...)
		assert.Len(t, c.passages(), 1, "%s: the web server answers", fields)
		c.get(path)
		assert.Len(t, c.passages(), 1, "%s: nothing was stored", fields)
		c.get(path)
		assert.Empty(t, c.passages(), "%s: without a body it is stored", fields)
		withBody(path, fields...)
		assert.Len(t, c.passages(), 1, "%s: it is not answered from the cache", fields)
	}
}

// keepsForMaxAge: a page through httpHeader2 is kept.
func (c *cached) keepsForMaxAge(t *testing.T) {
	first := c.get("/samples.cached.fcgi")
	require.Equal(t, 200, first.Status, first.Body)
	control, _ := first.Field("Cache-Control")
	assert.Equal(t, "public, max-age=60", control)
	require.Len(t, c.passages(), 1)
	second := c.get("/samples.cached.fcgi")
	assert.Equal(t, first.Body, second.Body)
	assert.Empty(t, c.passages())

	c.get("/caches.bytag.fcgi")
	c.passages()
	time.Sleep(2100 * time.Millisecond)
	c.get("/caches.bytag.fcgi")
	assert.Len(t, c.passages(), 1, "its second is over")
	modified, _ := c.get("/samples.cached.fcgi").Field("Last-Modified")
	require.NotEmpty(t, modified)
	conditional := c.get("/samples.cached.fcgi", "If-Modified-Since: "+modified)
	assert.Equal(t, 304, conditional.Status, "the cache answers a condition itself")
	assert.Empty(t, c.passages())
}

// validates: a page that is no longer fresh is asked for with what validates
// it. The script runs, and no body is sent until there is another one.
func (c *cached) validates(t *testing.T, path, counter string) {
	const stale = 2100 * time.Millisecond
	c.tool("put", "workspace.version", "1")
	path += "?a+page+of+its+own"
	require.Equal(t, "version 1", c.get(path).Body)
	before := c.tool("get", counter)
	c.passages()
	time.Sleep(stale)
	r := c.get(path)
	assert.Equal(t, 200, r.Status)
	assert.Equal(t, "version 1", r.Body)
	passed := c.passages()
	require.Len(t, passed, 1)
	assert.NotEmpty(t, passed[0].condition)
	assert.Equal(t, 304, passed[0].status)
	assert.Zero(t, passed[0].bytes, "no body was sent")
	assert.NotEqual(t, before, c.tool("get", counter), "the script ran")

	c.tool("put", "workspace.version", "2")
	time.Sleep(stale)
	assert.Equal(t, "version 2", c.get(path).Body)
	passed = c.passages()
	require.Len(t, passed, 1)
	assert.Equal(t, 200, passed[0].status)
}

// showsEdits: a page that says max-age=0, must-revalidate is asked about each
// time.
func (c *cached) showsEdits(t *testing.T) {
	const path, text = "/samples.cachedText.fcgi", "suites.webserverScripts.samples.readme"
	c.tool("put", text, "first")
	assert.Contains(t, c.get(path).Body, "first")
	time.Sleep(10 * time.Millisecond) // varnish.vcl keeps it for one
	assert.Contains(t, c.get(path).Body, "first")
	passed := c.passages()
	require.Len(t, passed, 2)
	if c.asks {
		assert.Equal(t, 304, passed[1].status)
		assert.Zero(t, passed[1].bytes)
	}
	c.tool("put", text, "second")
	r := c.get(path)
	assert.Contains(t, r.Body, "second")
	control, _ := r.Field("Cache-Control")
	assert.Equal(t, "public, max-age=0, must-revalidate", control)
}

// isFlushed: webserver.flushCache makes the cache forget, after the commit of
// the change and before the answer.
func (c *cached) isFlushed(t *testing.T) {
	const long, other = "/caches.long.fcgi", "/caches.other.fcgi"
	version := func(path string) string {
		t.Helper()
		_, v, ok := strings.Cut(c.get(path).Body, "version ")
		require.True(t, ok)
		return v
	}
	r := c.get("/caches.edit.fcgi?page=" + long)
	assert.Equal(t, 500, r.Status, "no cache is configured yet")

	setting, value := "cacheServers", "http://"+c.purge
	if c.folder {
		setting, value = "cacheFolders", filepath.Join(c.dir, "cache")
	}
	c.tool("put", "user.webserver."+setting, "--kind", "list", `["`+value+`"]`)

	was := version(long)
	require.Equal(t, was, version(other))
	edit := c.get("/caches.edit.fcgi?page=" + long)
	require.Equal(t, "edited", edit.Body)
	now := version(long)
	assert.NotEqual(t, was, now)
	if !c.folder {
		assert.Equal(t, was, version(other), "one page was flushed")
	} else {
		assert.Equal(t, now, version(other), "the folder was emptied")
	}
	c.passages()
	assert.Equal(t, now, version(long))
	assert.Empty(t, c.passages(), "it is kept again")

	require.Equal(t, "edited", c.get("/caches.edit.fcgi").Body)
	assert.NotEqual(t, now, version(long), "everything was flushed")
	assert.Equal(t, version(long), version(other))
}

// isFlushedByNobodyElse: a visitor's PURGE is refused, by Varnish or by us.
func (c *cached) isFlushedByNobodyElse(t *testing.T) {
	const path = "/caches.long.fcgi"
	c.get(path)
	c.passages()
	if c.folder {
		assert.Equal(t, 501, c.ask("PURGE", path).Status)
		c.passages()
	} else {
		assert.Equal(t, 405, c.ask("PURGE", path).Status, "from this machine, as through a TLS proxy")
		assert.Equal(t, 405, c.ask("PURGE", path, "X-Forwarded-For: 192.0.2.1").Status, "through a proxy on this machine")
		assert.Equal(t, 405, c.ask("PURGE", "/", "X-Forwarded-For: 127.0.0.1", "Scripter-Flush: all").Status)
		// Another address, as from another machine.
		dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2)}}
		conn, err := dialer.Dial("tcp", c.purge)
		require.NoError(t, err)
		defer conn.Close()
		_, err = io.WriteString(conn, "PURGE "+path+" HTTP/1.1\r\nHost: "+c.client.Addr+"\r\nConnection: close\r\n\r\n")
		require.NoError(t, err)
		answer, err := io.ReadAll(conn)
		require.NoError(t, err)
		assert.Regexp(t, `^HTTP/1\.1 405 `, string(answer))
	}
	c.get(path)
	assert.Empty(t, c.passages(), "the page is still kept")
}
