package gateway

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"

	"scripter/objectdb"
)

// TestAppInfo checks that appInfo has the name of the web server of the request, else that of the
// setting (specification, 2.3 and 6.2).
//
// Specification: 2.2.4, 2.3.10, 6.2
func TestAppInfo(t *testing.T) {
	s := newSite(t)
	s.put("user.webserver.serverPath", objectdb.String("/usr/sbin/apache2"))
	s.script("x",
		`return httpd.appInfo.name .. "|" .. apps.httpd.appInfo.version .. "|" .. httpd.appInfo.id .. "|" .. httpd.appInfo.path`)
	for software, want := range map[string]string{
		"Apache/2.4.62 (Debian)": "Apache|2.4.62 (Debian)|httpd|/usr/sbin/apache2",
		"nginx/1.26.3":           "nginx|1.26.3|httpd|/usr/sbin/apache2",
		"Caddy":                  "Caddy||httpd|/usr/sbin/apache2",
		"":                       "Scripter||httpd|/usr/sbin/apache2",
	} {
		assert.Equal(t, want, s.ask("/x.fcgi", map[string]string{"SERVER_SOFTWARE": software}).Body)
	}
	s.put("user.webserver.serverName", objectdb.String("WebTen/2.0"))
	assert.Equal(t, "WebTen|2.0|httpd|/usr/sbin/apache2", s.ask("/x.fcgi", map[string]string{"SERVER_SOFTWARE": ""}).Body)
	s.page("p.mcro", "<!--#httpd.appInfo.name-->")
	assert.Equal(t, "Test", s.ask("/p.mcro", nil).Body)
	s.put("apps.httpd.appInfo.name", objectdb.String("mine"))
	assert.Equal(t, "mine", s.ask("/p.mcro", nil).Body, "an object of the root has precedence")
}

// TestServerNameOfEachRequest sends requests of two web servers at the same time to one gateway.
//
// Specification: 6.2.1, 6.2.3
func TestServerNameOfEachRequest(t *testing.T) {
	s := newSite(t)
	s.script("x", `return httpd.appInfo.name .. " " .. httpd.getPort () .. " " .. (...).connectionID`)
	var wg sync.WaitGroup
	for i := range 40 {
		name := []string{"Apache", "nginx"}[i%2]
		wg.Go(func() {
			resp := s.ask("/x.fcgi", map[string]string{"SERVER_SOFTWARE": name + "/1", "SERVER_PORT": fmt.Sprint(8000 + i)})
			assert.True(t, strings.HasPrefix(resp.Body, fmt.Sprintf("%s %d ", name, 8000+i)), resp.Body)
			assert.Equal(t, name+"/1", resp.Get("Server"))
		})
	}
	wg.Wait()
}

// Specification: 2.3.9, 6.2.2
func TestRefuseConnections(t *testing.T) {
	s := newSite(t)
	s.script("x", `scratchpad.n = (scratchpad.n or 0) + 1 return "x"`)
	s.script("close", `httpd.refuseConnections (true) return "closed"`)
	assert.Equal(t, "x", s.ask("/x.fcgi", nil).Body)
	assert.Equal(t, "closed", s.ask("/close.fcgi", nil).Body)
	s.put("user.webserver.retryAfter", objectdb.Number(77))
	for _, r := range []*Request{s.request("/x.fcgi", nil),
		s.request("/x.fcgi", map[string]string{"HTTP_SCRIPTER_TOKEN": ""}),
		s.request("/x.fcgi", map[string]string{"REQUEST_METHOD": "POST", "CONTENT_LENGTH": "3"})} {
		r.Body = strings.NewReader("a=b")
		resp, out := s.answer(r)
		assert.Equal(t, 503, resp.Status)
		assert.Equal(t, "77", resp.Get("Retry-After"))
		assert.Contains(t, resp.Body, "closed for maintenance")
		assert.NoError(t, out.Err, "it is not a failure")
	}
	assert.Equal(t, objectdb.Number(1), s.get("scratchpad.n"))
	assert.NotContains(t, s.log.String(), "ERROR")

	s.put("user.webserver.debugToken", objectdb.String("let me in"))
	assert.Equal(t, "x", s.ask("/x.fcgi", map[string]string{"HTTP_SCRIPTER_TOKEN": "let me in"}).Body)
	assert.Equal(t, 503, s.ask("/x.fcgi", map[string]string{"HTTP_SCRIPTER_TOKEN": "let me"}).Status)
	s.put("user.webserver.prefs.maintenancePage", objectdb.String("<html><!--#nothing--><!--#errorMessage--></html>"))
	assert.Equal(t, "<html>The site is closed for maintenance. Please come back later.</html>", s.ask("/x.fcgi", nil).Body)
	update(t, s.db, func(tx *objectdb.Tx) error {
		return tx.Delete(objectdb.Address{"user", "webserver", "prefs", "maintenancePage"})
	})
	resp := s.ask("/x.fcgi", nil)
	assert.Equal(t, 503, resp.Status)
	assert.Equal(t, "77", resp.Get("Retry-After"), "the connection is refused without the page, too")
	s.put("user.webserver.flRefuseConnections", objectdb.Boolean(false))
	assert.Equal(t, "x", s.ask("/x.fcgi", nil).Body)
}

// Specification: 2.3.9
func TestLogSwitches(t *testing.T) {
	s := newSite(t)
	s.script("bad", `error ("boom")`)
	s.script("x", `return "x"`)
	s.script("switch",
		`httpd.suspendLogging ((...).searchTable.s == "1") httpd.verboseMessages ((...).searchTable.v == "1") return "x"`)
	s.page("p.mcro", "<!--#nothing-->")
	logged := func() string {
		s.log.Take()
		s.ask("/x.fcgi?password=secret", nil)
		s.ask("/bad.fcgi", nil)
		s.ask("/p.mcro", nil)
		return s.log.String()
	}
	plain := logged()
	assert.Contains(t, plain, "boom")
	assert.Contains(t, plain, "macro failed")
	assert.NotContains(t, plain, "msg=request ")
	s.ask("/switch.fcgi?v=1", nil)
	verbose := logged()
	assert.Regexp(t,
		`msg=request method=GET path="/x.fcgi\?password=\(masked\)" action=SCRIPTER status=200 time=\S+ server=Test/1`,
		verbose)
	assert.Regexp(t, `msg=request .*path=/bad.fcgi action=SCRIPTER status=500`, verbose)
	assert.Contains(t, verbose, "boom")
	s.ask("/switch.fcgi?v=1&s=1", nil)
	assert.Empty(t, logged())
}

// TestHTTPDTables checks the verbs of 1998 that read and set the action table and the mime table
// as texts: a table is set as a whole or not at all.
//
// Specification: 2.1.1, 2.1.3, 2.3.9
func TestHTTPDTables(t *testing.T) {
	s := newSite(t)
	run := func(source string) string {
		t.Helper()
		s.script("u", `local ok, r = pcall (function () `+source+` end) return {body = tostring (r)}`)
		return s.ask("/u.fcgi", nil).Body
	}
	before := run(`return httpd.getSuffixMappings ()`)
	assert.Equal(t, ".fcgi\ttext/html\tSCRIPTER\n.mcro\ttext/html\tMACRO\n", before)
	actions := run(`return httpd.getActions ()`)
	assert.Equal(t, "MACRO\t/cgi-bin/Scripter.acgi\nSCRIPTER\t/cgi-bin/Scripter.acgi\n", actions)
	for source, want := range map[string]string{
		`httpd.setSuffixMappings ("")`:                                        "without extensions",
		`httpd.setSuffixMappings (".a\ttext/html\n")`:                         "line 1 is not an extension",
		`httpd.setSuffixMappings ("fcgi\ttext/html\tSCRIPTER")`:               "line 1 is not",
		`httpd.setSuffixMappings (".a\thtml\tSCRIPTER")`:                      "line 1 is not",
		`httpd.setSuffixMappings (".a\ttext/html\tMACRO\n.A\ttext/x\tMACRO")`: "line 2: .A is there twice",
		`httpd.setSuffixMappings (".a\ttext/html\tNOTHING")`:                  "there is no action NOTHING",
		`httpd.setActions ("")`:                                               "without actions",
		`httpd.setActions ("MACRO /cgi-bin/x")`:                               "line 1 is not a name",
		`httpd.setActions ("MACRO\t/a\nmacro\t/b")`:                           "line 2: macro is there twice",
		`httpd.setTimeOut (0)`:                                                "wants seconds",
		`httpd.setIndexFile ("../x")`:                                         "names of files",
		`httpd.setErrorFile ("error.html")`:                                   "wants the page itself",
		`httpd.refuseConnections (1)`:                                         "wants true or false",
		`httpd.sendPartial ("x", 1)`:                                          "is not this request's",
		`httpd.setPort (80)`:                                                  "is not there any more",
	} {
		assert.Contains(t, run(source), want, source)
	}
	assert.Equal(t, before, run(`return httpd.getSuffixMappings ()`), "no part of an invalid text is set")
	assert.Equal(t, actions, run(`return httpd.getActions ()`))
	run(`httpd.setActions (httpd.getActions () .. "LOUD\t/cgi-bin/Scripter.acgi\n")
		user.webserver.actions.LOUD = odb.script ("return 'loud'")
		httpd.setSuffixMappings (httpd.getSuffixMappings () .. ".loud\ttext/plain\tLOUD\n")`)
	assert.Equal(t, "loud", s.ask("/any.loud", nil).Body)
	assert.Equal(t, objectdb.KindText, s.get("user.webserver.prefs.errorPage").Kind())
	run(`httpd.setErrorFile ("<html>oh</html>")`)
	assert.Equal(t, objectdb.Text("<html>oh</html>"), s.get("user.webserver.prefs.errorPage"))
}
