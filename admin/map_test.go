package admin

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"

	"scripter/devserver"
	"scripter/objectdb"
	"scripter/site"
)

// newWebSite returns a site whose pages are files of the returned folder, behind a web server.
func newWebSite(t *testing.T) (s *testSite, folder string) {
	t.Helper()
	s = newSite(t)
	folder, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	web := httptest.NewServer(&devserver.Server{Gateway: s.server.Gateway, Folder: folder, Software: "Test/1",
		Log: slog.New(slog.DiscardHandler)})
	t.Cleanup(web.Close)
	s.url = web.URL
	return s, folder
}

func writeFile(t *testing.T, folder, name, text string) {
	t.Helper()
	require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600))
}

// mapOf returns the JSON form of the map of a page, with its markers by their texts.
func (b *browser) mapOf(page string) (data map[string]any, markers map[string]map[string]any) {
	data, markers = b.json("map?url="+url.QueryEscape(page)), map[string]map[string]any{}
	for _, m := range data["markers"].([]any) {
		marker := m.(map[string]any)
		markers[marker["marker"].(string)] = marker
	}
	return data, markers
}

const mapped = `<!DOCTYPE html>
<html><head><title><!--#user.title--></title></head>
<body class="<!--#clientIP-->"><h1><!--#user.title--></h1>
<p><!--#user.fails ()--> <!--#user.inner ()--> <!--#clock.now ()--> <!--#user.secretPassword--></p>
<table><!--#user.rows--></table><a href="/x" target="_top">x <!--#user.count ()--></a>
<script>alert(1)</script></body></html>
`

// mapSite returns a site with a page for maps.
func mapSite(t *testing.T) (s *testSite, folder string) {
	s, folder = newWebSite(t)
	s.put("user.title", objectdb.String("<b>Title</b>"))
	s.put("user.rows", objectdb.String("<tr><td>one</td></tr>"))
	s.put("user.secretPassword", objectdb.String("hush"))
	s.put("user.fails", objectdb.Script("\nerror ('no <i>luck</i>')"))
	s.put("user.text", objectdb.Text("[<!--#user.count ()-->]"))
	s.put("user.count", objectdb.Script("scratchpad.n = (scratchpad.n or 0) + 1 return scratchpad.n"))
	s.put("user.inner", objectdb.Script("return webserver.processMacros ('[<!--#user.rows-->]')"))
	writeFile(t, folder, "p.mcro", mapped)
	writeFile(t, folder, "default.mcro", "<!--#clientIP-->")
	writeFile(t, folder, "plain.html", "<p>plain")
	return s, folder
}

// TestMap checks what the map of a page tells of its markers.
func TestMap(t *testing.T) {
	s, folder := mapSite(t)
	ada := s.person("ada", "owner")
	visitor := s.browser()
	a := visitor.get("/p.mcro?scripter-map")
	assert.Equal(t, http.StatusSeeOther, a.status)
	assert.Equal(t, "/scripter/map?url=%2Fp.mcro", a.header.Get("Location"))
	a = visitor.get(a.header.Get("Location"))
	assert.Equal(t, http.StatusSeeOther, a.status)
	assert.True(t, strings.HasPrefix(a.header.Get("Location"), "/scripter/login"), "a visitor only meets the log-in")

	data, m := ada.mapOf("/p.mcro")
	assert.Equal(t, 200.0, data["status"])
	assert.Len(t, data["markers"], 10)
	pages := data["pages"].([]any)
	require.Len(t, pages, 2)
	assert.Equal(t, map[string]any{"number": 1.0, "name": filepath.Join(folder, "p.mcro"), "file": true}, pages[0])
	assert.Equal(t, "webserver.processMacros", pages[1].(map[string]any)["name"])
	assert.Equal(t, "user.count", m["<!--#user.count ()-->"]["address"])
	assert.Equal(t, "script", m["<!--#user.count ()-->"]["kind"])
	assert.Equal(t, true, m["<!--#user.count ()-->"]["shown"])
	assert.Equal(t, false, m["<!--#clientIP-->"]["shown"], "it is in an attribute")
	assert.Equal(t, "request", m["<!--#clientIP-->"]["found"])
	assert.Equal(t, "clock.now", m["<!--#clock.now ()-->"]["verb"])
	assert.NotEmpty(t, m["<!--#clock.now ()-->"]["help"])
	assert.Contains(t, m["<!--#user.fails ()-->"]["error"], "no <i>luck</i>")
	assert.Equal(t, "user.rows", m["<!--#user.rows-->"]["address"])
	assert.Nil(t, s.get("scratchpad.n"), "nothing is kept")

	page := ada.get("map?url=%2Fp.mcro")
	assert.Equal(t, http.StatusOK, page.status)
	assert.Contains(t, page.header.Get("Content-Security-Policy"), "frame-src 'self'")
	assert.Equal(t, "DENY", page.header.Get("X-Frame-Options"))
	assert.Contains(t, page.text(), "no <i>luck</i>")
	assert.Contains(t, page.text(), "<b>Title</b>")
	var links []string
	for _, n := range page.find("a", "href") {
		links = append(links, attributeOf(n, "href"))
	}
	assert.Contains(t, links, "/scripter/at/user.count")
	assert.Contains(t, links, "/scripter/at/user.fails#line-2")
	assert.Equal(t, "/scripter/map/page?url=%2Fp.mcro", page.attr("iframe", "src"))
	assert.Equal(t, "/scripter/map?url=%2Fp.mcro", ada.get("map?url=/p.mcro").header.Get("Location"),
		"the numbers lead to one URL")
	_, m = ada.mapOf("/")
	assert.Contains(t, m, "<!--#clientIP-->", "the page of a folder")
}

// TestMapOfParts checks that the markers of a page, its layout, its parts and rows have numbers in the page.
func TestMapOfParts(t *testing.T) {
	s, folder := mapSite(t)
	ada := s.person("ada", "owner")
	s.put("user.list.a", objectdb.String("one"))
	writeFile(t, folder, "layout.mcro", `<html><body><p><!--#user.title--></p><!--#content--></body></html>`)
	writeFile(t, folder, "row.mcro", `<p><!--#row--></p>`)
	writeFile(t, folder, "q.mcro", `<!--#layout (layout.mcro)--><h1><!--#clientIP--></h1>
<!--#for row in user.list--><!--#include (row.mcro)--><!--#end-->`)
	data, m := ada.mapOf("/q.mcro")
	assert.Len(t, data["pages"], 3)
	for _, text := range []string{"<!--#user.title-->", "<!--#clientIP-->", "<!--#row-->"} {
		assert.Equal(t, true, m[text]["shown"], text)
	}
	assert.Equal(t, "user.list.a", m["<!--#row-->"]["address"])
	assert.Equal(t, "item", m["<!--#row-->"]["found"])
}

// TestMapFrame checks that the page in the frame has numbers, and no rights.
func TestMapFrame(t *testing.T) {
	s, _ := mapSite(t)
	ada := s.person("ada", "owner")
	a := ada.get("map/page?url=%2Fp.mcro")
	assert.Equal(t, http.StatusOK, a.status)
	policy := a.header.Get("Content-Security-Policy")
	assert.True(t, strings.HasPrefix(policy, "sandbox allow-top-navigation-by-user-activation; default-src 'none';"), policy)
	for _, never := range []string{"allow-scripts", "allow-same-origin", "allow-forms", "allow-popups", "script-src"} {
		assert.NotContains(t, policy, never)
	}
	assert.Contains(t, policy, "frame-ancestors 'self'")
	assert.Equal(t, "SAMEORIGIN", a.header.Get("X-Frame-Options"))
	assert.Equal(t, "private, no-store", a.header.Get("Cache-Control"))
	assert.Empty(t, a.header.Values("Set-Cookie"))
	doc, err := html.Parse(strings.NewReader(a.body))
	require.NoError(t, err)
	numbers := map[string]string{} // and their elements
	for n := range doc.Descendants() {
		if attributeOf(n, "class") == "scripter-number" || strings.HasPrefix(attributeOf(n, "class"), "scripter-number ") {
			numbers[textOf(n)] = n.Data
			if n.Data == "a" {
				assert.Equal(t, "/scripter/map?url=%2Fp.mcro#m"+textOf(n), attributeOf(n, "href"))
				assert.Equal(t, "_top", attributeOf(n, "target"))
			}
		} else if n.Type == html.ElementNode {
			assert.Empty(t, attributeOf(n, "target"), "a link of the page leads out of the frame")
		}
		if n.Type == html.ElementNode && n.Data == "title" {
			assert.Equal(t, "<b>Title</b>", textOf(n))
		}
	}
	assert.Equal(t, map[string]string{"3": "a", "4": "a", "5": "a", "6": "a", "7": "a", "8": "a", "9": "a", "10": "span"}, numbers)
}

// TestMapRefuses checks addresses that are no pages of the site, and who may run it.
func TestMapRefuses(t *testing.T) {
	s, folder := mapSite(t)
	outside := filepath.Dir(folder)
	writeFile(t, outside, "outside.mcro", "outside <!--#clientIP-->")
	require.NoError(t, os.Symlink(filepath.Join(outside, "outside.mcro"), filepath.Join(folder, "link.mcro")))
	require.NoError(t, os.Mkdir(filepath.Join(folder, ".git"), 0o700))
	writeFile(t, filepath.Join(folder, ".git"), "x.mcro", "hidden <!--#clientIP-->")
	ada := s.person("ada", "owner")
	for page, status := range map[string]int{
		"//evil.test/p.mcro": 400, "http://evil.test/p.mcro": 400, `/\evil.test/p.mcro`: 400, "p.mcro": 400, "/../outside.mcro": 400,
		"/%2e%2e/outside.mcro": 400, "javascript:alert(1)": 400, "/scripter/map?url=%2Fp.mcro": 400, "/./scripter/": 400, "/plain.html": 404,
	} {
		for _, path := range []string{"map?url=", "map/page?url="} {
			a := ada.send(http.MethodGet, path+url.QueryEscape(page), nil, map[string]string{"Accept": "application/json"})
			assert.Equal(t, status, a.status, path+page)
		}
	}
	for _, page := range []string{"/link.mcro", "/.git/x.mcro", "/none.mcro", "/p.mcro$x"} {
		data, m := ada.mapOf(page)
		assert.GreaterOrEqual(t, data["status"], 400.0, page)
		assert.NotContains(t, m, "<!--#clientIP-->", page)
		lacks(t, ada.get("map/page?url="+url.QueryEscape(page)).body, "outside <")
	}
	eve := s.person("eve", "reader")
	bob := s.person("bob", "author suites.webserverScripts")
	for _, path := range []string{"map", "map?url=%2Fp.mcro", "map/page?url=%2Fp.mcro"} {
		assert.Equal(t, http.StatusForbidden, eve.get(path).status, path)
		assert.Equal(t, http.StatusOK, bob.get(path).status, path)
		assert.Equal(t, http.StatusSeeOther, s.browser().get(path).status, path)
	}
	lacks(t, bob.get("map?url=%2Fp.mcro").body, "/scripter/at/user.secretPassword")
	s.put(site.AdminPath.Address().String(), objectdb.String(""))
	assert.Equal(t, http.StatusOK, s.browser().get("/default.mcro?scripter-map").status)
}
