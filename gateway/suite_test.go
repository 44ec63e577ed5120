package gateway

import (
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/httpform"
	"scripter/httpheader"
	"scripter/objectdb"
	"scripter/root"
)

// everything returns the address and version of each object.
func (s *testSite) everything() map[string]int64 {
	s.t.Helper()
	m := map[string]int64{}
	require.NoError(s.t, s.db.View(s.t.Context(), func(tx *objectdb.Tx) error {
		return tx.Walk(nil, func(a objectdb.Address, n *objectdb.Node) error {
			m[a.String()] = n.Version()
			return nil
		})
	}))
	return m
}

// TestParseArgsStaysInItsTable checks that names that look like addresses, metamethods or Lua are
// only names of cells, and that nothing else in the root changes. In 1998 they were evaluated.
//
// Specification: 4.1.6
func TestParseArgsStaysInItsTable(t *testing.T) {
	s := newSite(t)
	names := []string{
		"user.webserver.debugToken", "..user.webserver.debugToken", "a.b.c", `["user"].x`, "__index",
		"__newindex", "__metatable", "1", "-1",
		"[user.webserver.flScriptTrap]", "^", "@root", "scratchpad", "x\x00y", "x]=1 user.y",
		strings.Repeat("n", 255), "\xff", "Ünï",
	}
	s.put("workspace.target", objectdb.List{})
	update(t, s.db, func(tx *objectdb.Tx) error {
		a := objectdb.Address{"workspace", "target"}
		if err := tx.Delete(a); err != nil {
			return err
		}
		return tx.NewTable(a)
	})
	s.script("x", `
		local params = ...
		local args = params.postArgs
		local t = {}
		assert (webserver.parseArgs (args, t) == t)
		local n = 0
		for name, value in pairs (t) do
			assert (value == "v", name)
			n = n + 1
		end
		assert (rawget (_G, "x") == nil)
		if params.searchTable.store then
			webserver.parseArgs (args, workspace.target)
		end
		return tostring (n)`)
	var body strings.Builder
	for _, name := range names {
		body.WriteString("&" + string(httpform.Escape(nil, name)) + "=v")
	}
	before := s.everything()
	assert.Equal(t, fmt.Sprint(len(names)), s.post("/x.fcgi", "text/plain", body.String()).Body)
	assert.Equal(t, before, s.everything(), "a Lua table: nothing changes in the root")

	for _, name := range names {
		resp := s.post("/x.fcgi?store=1", "text/plain", string(httpform.Escape(nil, name))+"=v")
		if objectdb.CheckName(name) != nil {
			assert.Equal(t, 500, resp.Status, "%q can be no name in the root", name)
			continue
		}
		require.Equal(t, 200, resp.Status, "%q", name)
		v := s.get(objectdb.Address{"workspace", "target", name}.String())
		assert.Equal(t, objectdb.String("v"), v, "%q", name)
	}
	after := s.everything()
	for address, version := range after {
		if strings.HasPrefix(address, "workspace.target") {
			delete(after, address)
			delete(before, address)
			continue
		}
		assert.Equal(t, before[address], version, address)
	}
	assert.Len(t, after, len(before))
}

// TestCookies checks that cookies are sent whatever the script returns, and read by the next
// request.
func TestCookies(t *testing.T) {
	s := newSite(t)
	for _, source := range []string{
		`webserver.util.setCookie ((...), "a", "x y;") webserver.util.setCookie ((...), "b", 2, "", nil, "/b", true, true, "Lax") return "x"`,
		`local p = ... webserver.util.setCookie (p, "a", "x y;") webserver.util.setCookie (p, "b", 2, nil, nil, "/b", true, true, "Lax") return {body = "x"}`,
		`local r = {body = "x"} webserver.util.setCookie (r, "a", "x y;") webserver.util.setCookie (r, "b", 2, "", "", "/b", true, true, "Lax") return r`,
		`webserver.util.setCookie ((...), "a", "x y;") webserver.util.setCookie ((...), "b", 2, nil, nil, "/b", true, true, "Lax") webserver.sendPartial ("x", false) return ""`,
	} {
		s.script("x", source)
		resp := s.ask("/x.fcgi", nil)
		require.Equal(t, 200, resp.Status, source)
		var cookies []string
		for _, f := range resp.Fields {
			if strings.EqualFold(f.Name, "Set-Cookie") {
				cookies = append(cookies, f.Value)
			}
		}
		assert.Equal(t, []string{"a=x+y%3B; Path=/", "b=2; Path=/b; Secure; HttpOnly; SameSite=Lax"}, cookies, source)
	}
	for _, bad := range []string{`"a b", 1`, `"", 1`, `"a", 1, "x;y"`, `"a", 1, "x\r\ny"`, `"a", 1, "", "soon;"`,
		`"a", 1, "", nil, "/\n"`, `"a", 1, "", nil, "/", false, false, "Loose"`} {
		s.script("x", `local ok, e = pcall (webserver.util.setCookie, (...), `+bad+`) return tostring (ok) .. e`)
		assert.Regexp(t, `^false.*bad argument #\d to 'setCookie'`, s.ask("/x.fcgi", nil).Body, bad)
	}
	s.script("x", `webserver.util.setCookie ((...), "a", 1) error ("no")`)
	assert.False(t, s.ask("/x.fcgi", nil).Has("Set-Cookie"), "a request that failed sets nothing")
	s.script("x", `local p = ... return url.decode (webserver.util.parseCookies (p).a) .. p.cookies.b`)
	assert.Equal(t, "x y;2", s.ask("/x.fcgi", map[string]string{"HTTP_COOKIE": "a=x+y%3B; b=2"}).Body)
}

func TestParseHeaders(t *testing.T) {
	s := newSite(t)
	s.script("x", `
		local line, t = webserver.util.parseHeaders ("POST /x HTTP/1.1\r\nHost: a\r\nX-One: 1\rx-Two: a\nx-Two: b\r\n\tfolded\r\nbare\r\n\r\nBody: no", {kept = "k"})
		return table.concat ({line, t.Host, t ["X-One"], t ["x-Two"] [1], t ["x-Two"] [2], t.bare, t.kept, tostring (t.Body)}, "|")`)
	assert.Equal(t, "POST /x HTTP/1.1|a|1|a|b folded||k|nil", s.ask("/x.fcgi", nil).Body)
	s.script("x",
		`local p = ... local line, t = webserver.util.parseHeaders (p.fullRequest) return line .. "|" .. t ["User-Agent"]`)
	assert.Equal(t, "GET /x.fcgi HTTP/1.1|T/1", s.ask("/x.fcgi", map[string]string{"HTTP_USER_AGENT": "T/1"}).Body)
	s.put("user.webserver.maxFields", objectdb.Number(2))
	s.script("x", `return tostring (pcall (webserver.util.parseHeaders, "G\na:1\nb:1\nc:1"))`)
	assert.Contains(t, s.ask("/x.fcgi", nil).Body, "false")
}

// Specification: 5.1
func TestAuth(t *testing.T) {
	s := newSite(t)
	s.script("x", `
		local params = ...
		local name, password = webserver.util.parseAuth (params)
		if name ~= "Ada" or password ~= "se:same" then
			return webserver.util.requestAuth (params, "Members")
		end
		return "Hello"`)
	resp := s.ask("/x.fcgi", nil)
	assert.Equal(t, 401, resp.Status)
	assert.Equal(t, `Basic realm="Members"`, resp.Get("WWW-Authenticate"))
	assert.Contains(t, resp.Body, "<h1>401 Unauthorized</h1>")
	assert.Equal(t, "Hello", s.ask("/x.fcgi", map[string]string{"HTTP_AUTHORIZATION": "Basic QWRhOnNlOnNhbWU="}).Body)
	for _, bad := range []string{"Basic", "Basic !", "Bearer QWRhOnNlOnNhbWU=", "Basic QWRh"} {
		assert.Equal(t, 401, s.ask("/x.fcgi", map[string]string{"HTTP_AUTHORIZATION": bad}).Status, bad)
	}
}

// Specification: 4.2.1
func TestBuildResponse(t *testing.T) {
	s := newSite(t)
	s.script("x",
		`return webserver.util.buildResponse ("201 Made Here", {["Content-Type"] = "text/plain", ["Set-Cookie"] = {"a=1", "b=2"}}, "made")`)
	resp := s.ask("/x.fcgi", nil)
	assert.Equal(t, 201, resp.Status)
	assert.Equal(t, "Made Here", resp.Reason)
	assert.Equal(t, "HTTP/1.1", resp.Proto)
	assert.Equal(t, "made", resp.Body)
	assert.Equal(t, "4", resp.Get("Content-Length"))
	assert.Equal(t, "Test/1", resp.Get("Server"))
	_, err := httpheader.ParseDate(resp.Get("Date"))
	assert.NoError(t, err)
	for _, bad := range []string{`99`, `"what"`, `200, {["X-A"] = "b\r\nX-Evil: 1"}`, `200, {Connection = "close"}`} {
		s.script("x", `return tostring ((pcall (webserver.util.buildResponse, `+bad+`)))`)
		assert.Equal(t, "false", s.ask("/x.fcgi", nil).Body, bad)
	}
}

// TestInit checks that init makes what is missing and changes nothing else.
//
// Specification: 2.1.7
func TestInit(t *testing.T) {
	s := newSite(t)
	s.script("x", `return table.concat (webserver.init (), " ")`)
	before := s.everything()
	assert.Equal(t, 404, s.ask("/x.fcgi", nil).Status, "an empty list: nothing to do")
	assert.Equal(t, before, s.everything())

	s.put("user.webserver.chunkSize", objectdb.Number(7))
	s.put("user.webserver.prefs.errorPage", objectdb.String("mine"))
	s.put("user.webserver.actions.MACRO", objectdb.Script("return 'mine'"))
	update(t, s.db, func(tx *objectdb.Tx) error {
		for _, name := range []string{"flDebug", "callbacks", "mimeTable"} {
			if err := tx.Delete(objectdb.Address{"user", "webserver", name}); err != nil {
				return err
			}
		}
		return tx.Delete(objectdb.Address{"user", "webserver", "prefs", "fileNotFoundPage"})
	})
	s.put(`user.webserver.mimeTable.[".fcgi"].action`, objectdb.String("SCRIPTER"))
	before = s.everything()
	assert.Equal(t,
		`user.webserver.flDebug user.webserver.callbacks user.webserver.mimeTable.[".fcgi"].type `+
			`user.webserver.mimeTable.[".mcro"] user.webserver.prefs.fileNotFoundPage`,
		s.ask("/x.fcgi", nil).Body)
	after := s.everything()
	kinds := map[string]bool{"user.webserver": true, "user.webserver.prefs": true, "user.webserver.mimeTable": true,
		`user.webserver.mimeTable.[".fcgi"]`: true}
	for address, version := range before {
		if !kinds[address] { // the version of a table changes with its names
			assert.Equal(t, version, after[address], address)
		}
	}
	assert.Equal(t, objectdb.Boolean(false), s.get("user.webserver.flDebug"))
	assert.Equal(t, objectdb.Number(7), s.get("user.webserver.chunkSize"))
	assert.Equal(t, objectdb.String("mine"), s.get("user.webserver.prefs.errorPage"))
	assert.Equal(t, objectdb.String("MACRO"), s.get(`user.webserver.mimeTable.[".mcro"].action`))
}

// TestCounterMacro checks that counts are exact with many requests at once, separate for each name
// and folder, and shown with commas.
//
// Specification: 2.4.4, 4.4.2.3
func TestCounterMacro(t *testing.T) {
	s := newSite(t)
	s.page("c.mcro", "<!--#counter(home)-->")
	s.page("other.mcro", "<!--#counter(other)--> <!--#counter(1)--> <!--#counter(home,elsewhere)-->")
	const clients, times = 8, 25
	var wg sync.WaitGroup
	for range clients {
		wg.Go(func() {
			for range times {
				assert.Equal(t, 200, s.ask("/c.mcro", nil).Status)
			}
		})
	}
	wg.Wait()
	assert.Equal(t, "201", s.ask("/c.mcro", nil).Body)
	assert.Equal(t, "1 1 1", s.ask("/other.mcro", nil).Body)
	second := t.TempDir()
	s.list("pages", s.folder)
	s.put("user.webserver.pageFolders", objectdb.List{objectdb.String(s.folder)})
	s.script("c", `return counter ("home")`)
	assert.Equal(t, "1", s.ask("/c.fcgi", map[string]string{"DOCUMENT_ROOT": second}).Body, "another virtual host")
	assert.Equal(t, "202", s.ask("/c.fcgi", nil).Body)
	s.put(objectdb.Address{"user", "webserver", "counters", s.folder, "home"}.String(), objectdb.Number(1234566))
	assert.Equal(t, "1,234,567", s.ask("/c.mcro", nil).Body)

	update(t, s.db, func(tx *objectdb.Tx) error {
		return tx.Delete(objectdb.Address{"user", "webserver", "counters"})
	})
	assert.Equal(t, "1", s.ask("/c.mcro", nil).Body, "the table is made anew")
	s.page("bad.mcro", `a<!--#counter()--><!--#counter("")-->b`)
	assert.Equal(t, "ab", s.ask("/bad.mcro", nil).Body)
}

// Specification: 4.4.2.3
func TestCounterPicture(t *testing.T) {
	s := newSite(t)
	assert.Equal(t, 404, s.ask("/counter.svg.fcgi?name=home", nil).Status)
	assert.Equal(t, 404, s.ask("/counter.svg.fcgi", nil).Status)
	assert.Equal(t, 404, s.ask("/counter.svg.fcgi?name=a&name=b", nil).Status)
	s.page("c.mcro", "<!--#counter(home)-->")
	s.ask("/c.mcro", nil)
	resp := s.ask("/counter.svg.fcgi?name=home", nil)
	assert.Equal(t, 200, resp.Status)
	assert.Equal(t, "image/svg+xml", resp.Get("Content-Type"))
	assert.True(t, strings.HasPrefix(resp.Body, `<svg xmlns="http://www.w3.org/2000/svg" width="124" height="34"`),
		resp.Body)
	assert.Contains(t, resp.Body, `aria-label="2"`)
	assert.Equal(t, 5, strings.Count(resp.Body, ">0</text>"))
	assert.Contains(t, resp.Body, ">2</text>\n</svg>")
	s.page("p.mcro", "<!--#counterPicture(home)-->")
	assert.Contains(t, s.ask("/p.mcro", nil).Body, `aria-label="3"`)
	assert.Equal(t, "4", s.ask("/c.mcro", nil).Body, "one count for text and picture")
}

// TestFilters tests the macros that show or hide parts of a page by the request.
//
// Specification: 5.1
func TestFilters(t *testing.T) {
	s := newSite(t)
	fields := map[string]string{
		"HTTP_USER_AGENT": "Mozilla/5.0 (X11; Linux)", "HTTP_REFERER": "http://Search.test/?q=tea",
		"REMOTE_HOST": "pc7.Example.com",
		"REMOTE_ADDR": "10.1.2.3", "HTTP_AUTHORIZATION": "Basic QWRhOlNlc2FtZQ==", // Ada, Sesame
	}
	for marker, want := range map[string]string{
		`browserFilter(userAgent, "linux", "<b>yes</b>")`:     "<b>yes</b>",
		`browserFilter(userAgent, "Windows", "yes")`:          "",
		`browserFilter(userAgent, "!Windows", "yes")`:         "yes",
		`browserFilter(userAgent, "(x11", "yes")`:             "yes",
		`refererFilter(referer, "search.test", "yes")`:        "yes",
		`refererFilter(referer, "!search.test", "yes")`:       "",
		`domainFilter(clientAddress, ".example.com", "yes")`:  "yes",
		`domainFilter(clientAddress, "example", "yes")`:       "",
		`domainFilter(clientAddress, "!.example.org", "yes")`: "yes",
		`ipFilter(clientIP, "10.1.", "yes")`:                  "yes",
		`ipFilter(clientIP, "0.1.", "yes")`:                   "",
		`ipFilter(clientIP, "!192.168.", "yes")`:              "yes",
		`usernameFilter(username, "ADA", "yes")`:              "yes",
		`usernameFilter(username, "Ad", "yes")`:               "",
		`passwordFilter(password, "Sesame", "yes")`:           "yes",
		`passwordFilter(password, "sesame", "yes")`:           "",
		`passwordFilter(password, "", "yes")`:                 "",
		`passwordFilter(password, "!Sesame", "yes")`:          "",
		`browserFilter("", "x", "yes")`:                       "",
		`usernameFilter(nothing.at.all, "x", "yes")`:          "",
	} {
		s.page("f.mcro", "<!--#"+marker+"-->")
		assert.Equal(t, want, s.ask("/f.mcro", fields).Body, marker)
	}
}

// TestMacrosReadme checks that every marker in the text of the macros works, and that the text
// names every macro.
//
// Specification: 2.3.5
func TestMacrosReadme(t *testing.T) {
	s := newSite(t)
	text := string(s.get("suites.webserver.macros.readme").(objectdb.Text))
	fields := map[string]string{"HTTP_REFERER": "http://a.test/"}
	count := 0
	for line := range strings.Lines(text) {
		marker, ok := strings.CutPrefix(line, "  #")
		if !ok {
			continue
		}
		marker, _, _ = strings.Cut(marker, "   ")
		count++
		r := s.request("/p.mcro", fields)
		r.Developer = true // shows why a marker fails
		s.page("p.mcro", "<!--#"+strings.TrimSpace(marker)+"-->")
		resp, out := s.answer(r)
		require.NoError(t, out.Err, marker)
		assert.NotContains(t, resp.Body, "Macro error", marker)
		assert.NotContains(t, resp.Body, "<!--#", marker)
	}
	assert.Greater(t, count, 12)
	macros, err := fs.ReadDir(root.FS, "suites/webserver/macros")
	require.NoError(t, err)
	for _, m := range macros {
		if name, ok := strings.CutSuffix(m.Name(), ".lua"); ok {
			assert.Contains(t, text, "#"+name+" (", "the readme tells of %s", name)
		}
	}
}
