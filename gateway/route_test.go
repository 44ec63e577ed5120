package gateway

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
)

// route stores a route for every host without any check, as a script could.
func (s *testSite) route(name, text string) {
	s.t.Helper()
	s.put(`user.webserver.routes.["*"].["`+name+`"]`, objectdb.String(text))
}

// showParams is a script that shows what routes give.
const showParams = `local p = ...
local names = {}
for name, value in pairs (p.path) do names[#names + 1] = name .. "=" .. value end
table.sort (names)
return ("%s %s %s %s [%s] args=%s"):format (p.method, p.action, p.route, p.scriptName, table.concat (names, " "), p.pathArgs)`

// TestRoutes checks what a routed request gives its script, and how paths are read.
func TestRoutes(t *testing.T) {
	s := newSite(t)
	s.put("user.webserver.scriptFolders", objectdb.String("*"))
	s.script("shop.item", showParams)
	s.script("_private", showParams)
	s.script("a", showParams)
	s.put("suites.webserverScripts.shop.text", objectdb.Text("a text <!--#path.id-->"))
	s.put("suites.webserverScripts.shop.number", objectdb.Number(1))
	s.file("parts/item.mcro", `<p title="<!--#path.id-->"><!--#path.id--> <!--#route--> <!--#scriptName--></p>`)
	for name, text := range map[string]string{
		"home": "GET / shop.item", "item": "GET /items/{id} SHOP.item", "change": "POST PUT /items/{id} shop.item",
		"text": "GET /texts/{id} shop.text", "robots": "GET /robots.txt shop.text", "page": "GET /pages/{id} /parts/item.mcro",
		"private": "GET /private _private", "blog": "GET /blog/*path shop.item", "number": "GET /number shop.number",
		"missing": "GET /missing shop.none", "missingPage": "GET /missingPage /none.mcro", "notPage": "GET /notPage /x.html",
		"all": "* /all/*rest shop.item", "outside": "GET /outside user.webserver.prefs", "dollar": "GET /$x shop.item",
	} {
		s.route(name, text)
	}
	for _, c := range [][2]string{
		{"/", "GET ROUTE home / [] args="},
		{"/items/17", "GET ROUTE item /items/17 [id=17] args="},
		{"/items/17?id=18", "GET ROUTE item /items/17 [id=17] args="},
		{"//items/./17", "GET ROUTE item /items/17 [id=17] args="},
		{"/items/a$b", "GET ROUTE item /items/a$b [id=a$b] args="},
		{"/items/$", "GET ROUTE item /items/$ [id=$] args="},
		{"/$x", "GET ROUTE dollar /$x [] args="},
		{"/items/a<b", "GET ROUTE item /items/a<b [id=a<b] args="},
		{"/items/x.html", "GET ROUTE item /items/x.html [id=x.html] args="},
		{"/blog/", "GET ROUTE blog /blog/ [path=] args="},
		{"/blog/2026/11/", "GET ROUTE blog /blog/2026/11/ [path=2026/11/] args="},
		{"/private", "GET ROUTE private /private [] args="},
		{"/texts/<1>", "a text &lt;1&gt;"},
		{"/pages/\"<1>", "<p title=\"&quot;&lt;1&gt;\">&quot;&lt;1&gt; page /pages/&quot;&lt;1&gt;</p>"},
		// The rules of 1998 go before routes.
		{"/a.fcgi", "GET SCRIPTER  /a.fcgi [] args="},
		{"/all/a.fcgi", "GET SCRIPTER  /all/a.fcgi [] args="},
		{"/items/a.fcgi$17", "GET SCRIPTER  /items/a.fcgi [] args=17"},
		{"/all/a.fcgi/b", "GET SCRIPTER  /all/a.fcgi [] args=/b"},
	} {
		resp := s.ask(c[0], nil)
		assert.Equal(t, c[1], resp.Body, c[0])
		assert.Equal(t, 200, resp.Status, c[0])
	}
	for path, status := range map[string]int{
		"/number": 403, "/missing": 404, "/missingPage": 404, "/notPage": 403, "/outside": 404, "/none": 404, "/items": 404,
		"/items/": 404, "/items/../x": 400, "/items/a$../x": 404, "/Items/17": 404, "/all/x.mcro": 404, "/all/Scripter.acgi": 404,
		"/_private.fcgi": 404, "/items/a\\b": 400, "/parts/item.mcro$x": 404, "/items/a\x00": 400,
	} {
		assert.Equal(t, status, s.ask(path, nil).Status, path)
	}
	assert.Equal(t, "text/plain", strings.Split(s.ask("/texts/1", nil).Get("Content-Type"), ";")[0], "no <html in it")
	assert.Equal(t, "text/html", strings.Split(s.ask("/pages/1", nil).Get("Content-Type"), ";")[0])
	assert.Contains(t, s.log.String(), "there is no suites.webserverScripts.shop.none, and the route missing names it")
	assert.Contains(t, s.log.String(), "/x.html is no page, but the route notPage names it")
	// The page of a route does not depend on the URL; a page with its own URL is as ever.
	s.page("own.mcro", "<!--#path.id-->|<!--#route-->")
	assert.Equal(t, "|", s.ask("/own.mcro", nil).Body)
}

// TestRouteMethods checks 405 with Allow, HEAD and OPTIONS.
func TestRouteMethods(t *testing.T) {
	s := newSite(t)
	s.script("x", `local p = ... return "answer " .. p.method`)
	s.route("get", "GET /x x")
	s.route("post", "POST /x x")
	s.route("any", "* /any x")
	s.route("options", "OPTIONS /own x")
	ask := func(method, path string) (status int, allow, body string) {
		resp := s.ask(path, map[string]string{"REQUEST_METHOD": method})
		return resp.Status, resp.Get("Allow"), resp.Body
	}
	for _, c := range []struct {
		method, path string
		status       int
		allow, body  string
	}{
		{"GET", "/x", 200, "", "answer GET"},
		{"POST", "/x", 200, "", "answer POST"},
		{"HEAD", "/x", 200, "", ""},
		{"OPTIONS", "/x", 204, "GET, HEAD, POST, OPTIONS", ""},
		{"OPTIONS", "/own", 200, "", "answer OPTIONS"},
		{"OPTIONS", "/any", 200, "", "answer OPTIONS"},
		{"PATCH", "/any", 200, "", "answer PATCH"},
		{"OPTIONS", "/none", 404, "", ""},
	} {
		status, allow, body := ask(c.method, c.path)
		assert.Equal(t, c.status, status, "%s %s", c.method, c.path)
		assert.Equal(t, c.allow, allow, "%s %s", c.method, c.path)
		if status != 404 {
			assert.Equal(t, c.body, body, "%s %s", c.method, c.path)
		}
	}
	status, allow, _ := ask("DELETE", "/x")
	assert.Equal(t, 405, status)
	assert.Equal(t, "GET, HEAD, POST, OPTIONS", allow)
	status, allow, _ = ask("GET", "/own")
	assert.Equal(t, 405, status)
	assert.Equal(t, "OPTIONS", allow)
	status, _, _ = ask("BREW", "/x")
	assert.Equal(t, 501, status)
}

// TestRouteSlash checks that a URL leads to the route that differs from it only by a slash at the end.
func TestRouteSlash(t *testing.T) {
	s := newSite(t)
	s.script("x", `return "x"`)
	s.route("item", "GET POST /items/{id} x")
	s.route("blog", "GET /blog/*path x")
	for path, to := range map[string]string{
		"/items/17/": "/items/17", "/items/a b/?q=1&r=<": "/items/a%20b?q=1&r=%3C", "/blog": "/blog/", "/items/17//": "/items/17",
		"//evil.test/items": "", "/items//": "", "/items/\n/": "",
	} {
		resp := s.ask(path, nil)
		if to == "" {
			assert.NotEqual(t, 301, resp.Status, path)
			continue
		}
		assert.Equal(t, 301, resp.Status, path)
		assert.Equal(t, to, resp.Get("Location"), path)
	}
	assert.Equal(t, 404, s.ask("/items/17/", map[string]string{"REQUEST_METHOD": "POST"}).Status, "a form is not sent twice")
	s.route("two", "GET /{a}/{b}/ x")
	assert.Equal(t, "/evil.test/x/", s.ask("//evil.test/x", nil).Get("Location"), "not another host")
	assert.Equal(t, 405, s.ask("/items/17", map[string]string{"REQUEST_METHOD": "PUT"}).Status)
}

// TestRouteOrder checks what goes before routes, and what is asked before and after them: the web page,
// the web server's word, overrides, the trap, callbacks, an action script, requirements.
func TestRouteOrder(t *testing.T) {
	s := newSite(t)
	s.put("user.webserver.scriptFolders", objectdb.String("*"))
	s.script("x", showParams)
	s.script("y", `return "y"`)
	s.script("old", `return "the script old"`)
	s.route("item", "GET /items/{id} x")
	s.route("other", "GET /others/{id} y")
	s.route("shadow", "GET /scripter/{id} x")
	get := func(path string, more map[string]string) string { return s.ask(path, more).Body }

	// The word of a web server that names our route action is no override; another action is one.
	assert.Equal(t, "GET ROUTE item /items/17 [id=17] args=", get("/items/17", map[string]string{"REDIRECT_HANDLER": "ROUTE"}))
	assert.Equal(t, "GET ROUTE item /items/17 [id=17] args=", get("/items/17", map[string]string{"REDIRECT_HANDLER": "none"}))
	assert.Equal(t, "the script old", get("/items/old", map[string]string{"SCRIPTER_ACTION": "SCRIPTER"}))
	assert.Equal(t, 404, s.ask("/old", map[string]string{"SCRIPTER_ACTION": "ROUTE"}).Status, "nobody answers it")
	// Action Override.
	s.put(`user.webserver.overrides.["*"].["/items/"]`, objectdb.String("SCRIPTER"))
	assert.Equal(t, "the script old", get("/items/old", nil))
	update(t, s.db, func(tx *objectdb.Tx) error { return tx.Delete(objectdb.Address{"user", "webserver", "overrides", "*"}) })
	// The web page has its path, whether it is there or not.
	assert.Equal(t, 404, s.ask("/scripter/17", nil).Status)
	// Callbacks see the route and may answer.
	s.put("user.webserver.callbacks.filterRequest.a", objectdb.Script(`local p = ... p.path.id = p.path.id .. "!"`))
	assert.Equal(t, "GET ROUTE item /items/17 [id=17!] args=", get("/items/17", nil))
	s.put("user.webserver.callbacks.handleRequest.a",
		objectdb.Script(`local p = ... if p.route == "other" then return "callback" end`))
	assert.Equal(t, "callback", get("/others/1", nil))
	update(t, s.db, func(tx *objectdb.Tx) error { return tx.Delete(objectdb.Address{"user", "webserver", "callbacks"}) })
	// The trap may lead a request to another route, or to a route at all.
	s.put("system.verbs.traps.httpd.sdoc", objectdb.Script(`local p = ...
if p.path.id == "redirect" then p.scriptName = "/items/18" end
if p.path.id == "nowhere" then p.scriptName = "/nowhere" end
if p.scriptName == "/y.fcgi" then p.action, p.scriptName = "ROUTE", "/items/19" end
return webserver.handler (p)`))
	assert.Equal(t, "GET ROUTE item /items/18 [id=18] args=", get("/others/redirect", nil))
	assert.Equal(t, "GET ROUTE item /items/19 [id=19] args=", get("/y.fcgi", nil))
	assert.Equal(t, 404, s.ask("/others/nowhere", nil).Status)
	// Requirements apply to the object.
	s.requires("suites.webserverScripts.x", "user ada")
	assert.Equal(t, 403, s.ask("/items/17", map[string]string{"REMOTE_USER": "eve"}).Status)
	assert.Equal(t, "GET ROUTE item /items/17 [id=17] args=", get("/items/17", map[string]string{"REMOTE_USER": "ada"}))
	// A script for the action ROUTE answers in the place of all routes.
	s.put("user.webserver.actions.ROUTE", objectdb.Script(`local p = ... return "own " .. p.route`))
	assert.Equal(t, "own item", get("/items/17", nil))
	assert.Equal(t, 404, s.ask("/elsewhere", map[string]string{"REDIRECT_HANDLER": "ROUTE"}).Status)
}

// TestRoutePageByMacroScript checks that a changed script of the action MACRO expands the pages of routes, too.
func TestRoutePageByMacroScript(t *testing.T) {
	s := newSite(t)
	s.page("item.mcro", `<!--#path.id-->`)
	s.page("other.mcro", `other`)
	s.route("item", "GET /items/{id} /item.mcro")
	s.put("user.webserver.actions.MACRO", objectdb.Script(`local p = ... return "<b>" .. webserver.expandPage (p) .. "</b>"`))
	assert.Equal(t, "<b>17</b>", s.ask("/items/17", nil).Body)
	s.put("user.webserver.actions.MACRO", objectdb.Script(`local p = ...
p.scriptName = "/other.mcro"
return "<b>" .. webserver.expandPage (p) .. "</b>"`))
	assert.Equal(t, "<b>other</b>", s.ask("/items/17", nil).Body)
	update(t, s.db, func(tx *objectdb.Tx) error {
		return tx.Delete(objectdb.Address{"user", "webserver", "actions", "MACRO"})
	})
	assert.Equal(t, "17", s.ask("/items/17", nil).Body)
	assert.Equal(t, 404, s.ask("/items/17", map[string]string{"DOCUMENT_ROOT": ""}).Status)
}

// TestRouteHosts checks routes of one host.
func TestRouteHosts(t *testing.T) {
	s := newSite(t)
	s.script("x", `return "all " .. url.to ("x")`)
	s.script("y", `return "one " .. url.to ("x", {q = 1})`)
	s.route("x", "GET /x x")
	s.put(`user.webserver.routes.["One.test"].x`, objectdb.String("GET /x y"))
	assert.Equal(t, "all /x", s.ask("/x", nil).Body)
	assert.Equal(t, "one /x?q=1", s.ask("/x", map[string]string{"HTTP_HOST": "ONE.test:8080"}).Body)
}

// TestURLTo checks the verb url.to in scripts and pages.
func TestURLTo(t *testing.T) {
	s := newSite(t)
	s.put("user.title", objectdb.Text("a title"))
	s.put("user.table.x", objectdb.Number(1))
	s.route("item", "GET /items/{id} x")
	s.route("blog", "GET /blog/*path x")
	for source, want := range map[string]string{
		`return url.to ("item", {id = 17})`:                                                "/items/17",
		`return url.to ("item", {id = 17, b = "x y&z", a = true, c = ""})`:                 "/items/17?a=true&b=x+y%26z&c=",
		`return url.to ("item", "id", 17, "b", 1, "a", "ä")`:                               "/items/17?b=1&a=%C3%A4",
		`return url.to ("item", {id = user.title})`:                                        "/items/a%20title",
		`return url.to ("blog", {path = "a/b"}) .. url.to ("blog", "path", "")`:            "/blog/a/b/blog/",
		`return url.to ("item")`:                                                           "url.to: the route item (/items/{id}): the parameter id is missing",
		`return url.to ("item", {ID = 1})`:                                                 "the parameter id is missing",
		`return url.to ("item", {17})`:                                                     "each needs a name",
		`return url.to ("item", "id")`:                                                     `the parameter "id" has no value after it`,
		`return url.to ("item", "id", 1, "x")`:                                             `the parameter "x" has no value after it`,
		`return url.to ("item", "id", 1, "id", 2)`:                                         `the parameter "id" comes twice`,
		`return url.to ("item", "id", nil)`:                                                `the parameter "id" is nil`,
		`return url.to ("item", {id = {}})`:                                                `the parameter "id" is a table`,
		`return url.to ("item", {id = tostring})`:                                          `the parameter "id" is a function`,
		`return url.to ("item", {id = user.table})`:                                        `the parameter "id" is a table`,
		`return url.to ("none")`:                                                           `there is no route "none"`,
		`return url.to ()`:                                                                 "bad argument #1 to 'to' (string expected",
		`user.webserver.routes["*"].new = "GET /new/{x} x" return url.to ("new", {x = 1})`: "/new/1",
	} {
		s.script("x", "local ok, v = pcall (function () "+source+" end) return tostring (v)")
		assert.Contains(t, s.ask("/x.fcgi", nil).Body, want, source)
	}
	s.page("p.mcro", `<a href="<!--#url.to ("item", "id", searchTable.id, "q", "x")-->">x</a>`)
	assert.Equal(t, `<a href="/items/%22%3E%3C?q=x">x</a>`, s.ask(`/p.mcro?id=%22%3E%3C`, nil).Body)
}

// TestExplainRoutes checks that the trace tells which route wins, and why.
func TestExplainRoutes(t *testing.T) {
	s := newSite(t)
	s.script("x", "return 1")
	s.page("p.mcro", "page")
	s.route("item", "GET /items/{id} x")
	s.route("any", "GET /items/*rest x")
	s.route("post", "POST /items/{id} x")
	s.route("page", "GET /pages/{id} /p.mcro")
	explain := func(method, path string) string {
		s.log.Take()
		r := s.traced(path)
		r.Params["REQUEST_METHOD"] = method
		e, err := s.g.Explain(context.Background(), r)
		require.NoError(t, err)
		return fmt.Sprintf("%s%d %s", s.log.Take(), e.Status, e.Answer)
	}
	const rows = `user.webserver.routes.["*"]`
	assert.Equal(t, `the extension "" has no action in user.webserver.mimeTable
route item (`+rows+`.item) matches: GET /items/{id}
route post (`+rows+`.post) matches, but not the method GET: POST /items/{id}
route any (`+rows+`.any) matches, too, but item goes before it: GET /items/*rest
path.id is "17"
path "/items/17", extra path "", path arguments ""
action ROUTE, by the route item
trap system.verbs.traps.httpd.sdoc gets the parameters first (user.webserver.flScriptTrap)
suites.webserverScripts.x: a script
0 the script suites.webserverScripts.x answers`, explain("GET", "/items/17"))
	assert.Contains(t, explain("DELETE", "/items/17"),
		"405 status 405: /items/17 has routes for GET, HEAD, POST, OPTIONS, not for DELETE")
	assert.Contains(t, explain("OPTIONS", "/items/17"), "0 the methods of its routes: GET, HEAD, POST, OPTIONS")
	assert.Contains(t, explain("GET", "/pages/1/"), "0 a redirect to /pages/1, which has the route page")
	assert.Contains(t, explain("GET", "/pages/1"), "0 the markers of "+s.folder+"/p.mcro are expanded")
	assert.Contains(t, explain("GET", "/elsewhere"), `no route matches "/elsewhere" (user.webserver.routes)`)
	s.requires("suites.webserverScripts.x", "user")
	assert.Contains(t, explain("GET", "/items/17"), "403 status 403")
}

// BenchmarkManyRoutes is W1, a routed W1, and a URL that nothing answers, with no, one and 200 routes.
func BenchmarkManyRoutes(b *testing.B) {
	for _, n := range []int{0, 1, 200} {
		s := newBenchSite(b)
		for i := range n {
			s.route(fmt.Sprint("r", i), fmt.Sprintf("GET /r%d/{id}/part/*rest W1", i))
		}
		b.Run(fmt.Sprintf("W1/%d", n), func(b *testing.B) { s.serveFCGI(b, benchWorks[0]) })
		if n > 0 {
			w := benchWorks[0]
			w.path = fmt.Sprintf("/r%d/17/part/a/b", n-1)
			b.Run(fmt.Sprintf("routed/%d", n), func(b *testing.B) { s.serveFCGI(b, w) })
		}
	}
}

// TestFolderWithoutSlash checks that the URL of a folder is redirected where a web server passes it on, as
// one does that passes on all URLs that are no files.
func TestFolderWithoutSlash(t *testing.T) {
	s := newSite(t)
	s.file("folder/index.html", "x")
	s.file(".git/config", "x")
	assert.Equal(t, 404, s.ask("/folder", nil).Status, "without routes nobody passes it on")
	s.route("x", "GET /x x")
	resp := s.ask("/folder?q=1", nil)
	assert.Equal(t, 301, resp.Status)
	assert.Equal(t, "/folder/?q=1", resp.Get("Location"))
	for _, path := range []string{"/folder/", "/folder/index.html", "/.git", "/folder$x", "/none"} {
		assert.Equal(t, 404, s.ask(path, nil).Status, path)
	}
	assert.Equal(t, 404, s.ask("/folder", map[string]string{"REQUEST_METHOD": "POST"}).Status)
	assert.Equal(t, 404, s.ask("/folder", map[string]string{"DOCUMENT_ROOT": ""}).Status)
}
