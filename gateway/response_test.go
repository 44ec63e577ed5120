package gateway

import (
	"html"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"

	"scripter/objectdb"
)

// TestInvalidReturnValues checks that a return value that cannot be a response is an
// error that tells the author what to return, and that visitors do not see the value.
func TestInvalidReturnValues(t *testing.T) {
	s := newSite(t)
	s.put("user.webserver.debugToken", objectdb.String("sesame"))
	developer := map[string]string{"HTTP_SCRIPTER_TOKEN": "sesame"}
	for _, c := range []struct {
		source string
		status int
		says   string
	}{
		{`return true`, 500, `suites.webserverScripts.x returned true, which is not a response: return a text`},
		{`return false`, 500, `returned false, which is not a response`},
		{`write ("text") return true`, 500, `returned true, which is not a response`},
		{`return user.webserver`, 500, `returned the table user.webserver of the root, which is not a response`},
		{`return webserver.httpHeader`, 500,
			`returned the script suites.webserver.httpheader of the root, which is not a response`},
		{`return function () end`, 500, `returned a function, which is not a response`},
		{`return {body = user.webserver}`, 500, `the response's body is the table user.webserver of the root`},
		{`return webserver.util.buildResponse (200, {}, user.webserver)`, 500,
			`the response's body is the table user.webserver of the root`},
		{`write ("a", user.webserver)`, 500, `argument 2 is the table user.webserver of the root`},
		{`webserver.sendPartial (user.webserver)`, 500,
			`argument 1 is the table user.webserver of the root, which is not for visitors`},
		{`local forgotten = "<p>page</p>"`, 404,
			`suites.webserverScripts.x returned nothing, and /x.fcgi is not a plain file that could be sent instead; does it lack a return?`},
		{`return nil`, 404, `does it lack a return?`},
		{`return ""`, 404, `suites.webserverScripts.x returned "", and /x.fcgi is not a plain file`},
	} {
		s.script("x", c.source)
		resp := s.ask("/x.fcgi", nil)
		assert.Equal(t, c.status, resp.Status, c.source)
		assert.NotContains(t, resp.Body, "webserver", c.source)
		assert.Contains(t, html.UnescapeString(s.ask("/x.fcgi", developer).Body), c.says, c.source)
		if c.source != `return ""` {
			assert.Contains(t, s.log.String(), "level=", c.source)
		}
	}
	assert.Regexp(t, `level=WARN msg="request refused" .*does it lack a return`, s.log.String())

	s.script("x", `webserver.sendPartial ("a") return true`)
	resp := s.ask("/x.fcgi", nil)
	assert.Equal(t, "a", resp.Body, "nothing is appended")
	s.script("x", `webserver.sendPartial ("a", false) return {body = "dropped"}`)
	assert.Equal(t, "a", s.ask("/x.fcgi", nil).Body)
	assert.Contains(t, s.log.String(), "the script's return value was dropped")
}

// TestNoBody checks that 204 and 205 have no body, and 205 has the length 0.
func TestNoBody(t *testing.T) {
	s := newSite(t)
	for _, c := range []struct{ source, length string }{
		{`return {status = 204, body = "x"}`, ""},
		{`return {status = 205, body = "x"}`, "0"},
		{`webserver.sendPartial ("HTTP/1.0 205 R\r\n\r\nx") return "y"`, "0"},
		{`webserver.sendPartial ("HTTP/1.0 205 R\r\nContent-Length: 9\r\n\r\nx") return "y"`, "0"},
		{`write (("x"):rep (300000)) return ""`, "300000"},
		{`write ("HTTP/1.0 205 R\r\n\r\n", ("x"):rep (300000)) return ""`, "0"},
	} {
		s.script("x", c.source)
		resp := s.ask("/x.fcgi", nil)
		assert.Equal(t, c.length, resp.Get("Content-Length"), c.source)
		if c.length == "" || c.length == "0" {
			assert.Empty(t, resp.Body, c.source)
		}
	}
}

var incidentOnPage = regexp.MustCompile(`Incident <code>([a-z2-7]{8})</code>`)

// TestIncidentsOnErrorPages checks that the number of an incident on an error page
// is in the log.
func TestIncidentsOnErrorPages(t *testing.T) {
	s := newSite(t)
	s.script("own", `return webserver.errorMessage ("of my own")`)
	for path, method := range map[string]string{"/own.fcgi": "GET", "/x.fcgi": "TRACE", "/y.fcgi": "BREW"} {
		resp := s.ask(path, map[string]string{"REQUEST_METHOD": method})
		found := incidentOnPage.FindStringSubmatch(resp.Body)
		if assert.NotNil(t, found, "%s %s: %s", method, path, resp.Body) {
			assert.Contains(t, s.log.String(), "id="+found[1])
		}
	}
	assert.Equal(t, methods, s.ask("/x.fcgi", map[string]string{"REQUEST_METHOD": "TRACE"}).Get("Allow"))
}
