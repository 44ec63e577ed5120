package gateway

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"scripter/objectdb"
)

const callbacksAt = "user.webserver.callbacks."

// Specification: 4.3.6
func TestFilterRequest(t *testing.T) {
	s := newSite(t)
	s.script("x", `local p = ... return p.method .. tostring (p.trail)`)
	s.put(callbacksAt+"filterRequest.b",
		objectdb.Script(`local p = ... p.trail = tostring (p.trail) .. "b" return "ignored"`))
	s.put(callbacksAt+"filterRequest.a", objectdb.Script(`local p = ... p.trail = "a"`))
	s.put("workspace.elsewhere", objectdb.Script(`local p = ... p.trail = p.trail .. "e"`))
	s.put(callbacksAt+"filterRequest.c", objectdb.Address{"workspace", "elsewhere"})
	s.put(callbacksAt+"filterRequest.note", objectdb.String("no script"))
	assert.Equal(t, "GETabe", s.ask("/x.fcgi", nil).Body, "in the order of the names")

	s.put(callbacksAt+"filterRequest.a", objectdb.Script(`error ("broken filter")`))
	assert.Equal(t, "GETnilbe", s.ask("/x.fcgi", nil).Body)
	assert.Contains(t, s.log.String(), "callback failed")
	assert.Contains(t, s.log.String(), "user.webserver.callbacks.filterRequest.a")
	assert.Contains(t, s.log.String(), "broken filter")

	// A limit ends the request.
	s.put("user.webserver.maxTime", objectdb.Number(0.1))
	s.put(callbacksAt+"filterRequest.a", objectdb.Script(`while true do end`))
	assert.Equal(t, 500, s.ask("/x.fcgi", nil).Status)

	// It may change the action or the script.
	s.put("user.webserver.maxTime", objectdb.Number(10))
	s.put(callbacksAt+"filterRequest.a", objectdb.Script(`local p = ... p.scriptName = "/y.fcgi"`))
	s.script("y", `return "y"`)
	assert.Equal(t, "y", s.ask("/x.fcgi", nil).Body)
}

// Specification: 4.3.6
func TestHandleRequest(t *testing.T) {
	s := newSite(t)
	s.script("x", `return "action"`)
	s.put(callbacksAt+"handleRequest.a", objectdb.Script(`return ""`))
	s.put(callbacksAt+"handleRequest.b", objectdb.Script(`return`))
	assert.Equal(t, "action", s.ask("/x.fcgi", nil).Body)
	s.put(callbacksAt+"handleRequest.c", objectdb.Script(`local p = ... if p.searchTable.c then return "c" end`))
	s.put(callbacksAt+"handleRequest.d", objectdb.Script(`return {status = 418, body = "d"}`))
	assert.Equal(t, "c", s.ask("/x.fcgi?c=1", nil).Body)
	assert.Equal(t, 418, s.ask("/x.fcgi", nil).Status)
	s.put(callbacksAt+"handleRequest.a", objectdb.Script(`error ("no")`))
	assert.Equal(t, 500, s.ask("/x.fcgi", nil).Status)
}

func TestFilterPage(t *testing.T) {
	s := newSite(t)
	s.put(callbacksAt+"filterPage.a",
		objectdb.Script(`local p, page = ... return (page:gsub ("body", p.method .. " body"))`))
	s.put(callbacksAt+"filterPage.b", objectdb.Script(`local p, page = ... scratchpad.seen = page`))
	s.put(callbacksAt+"filterPage.c",
		objectdb.Script(`local p, page = ... return (page:gsub ("\r\n\r\n", "\r\nX-Filter: yes\r\n\r\n", 1))`))
	for _, source := range []string{
		`return "body"`,
		`return webserver.httpHeader () .. "body"`,
		`return {body = "body"}`,
		`write ("bo") return "dy"`,
	} {
		s.script("x", source)
		resp := s.ask("/x.fcgi", nil)
		assert.Equal(t, "GET body", resp.Body, source)
		assert.Equal(t, "yes", resp.Get("X-Filter"), source)
		assert.Equal(t, "8", resp.Get("Content-Length"), source)
		seen := string(s.get("scratchpad.seen").(objectdb.String))
		assert.True(t, strings.HasPrefix(seen, "HTTP/1.0 200 OK\r\n") && strings.HasSuffix(seen, "\r\n\r\nGET body"),
			"%s: %q", source, seen)
	}
	s.page("p.mcro", "<!--#method--> body")
	assert.Equal(t, "GET GET body", s.ask("/p.mcro", nil).Body)

	long := strings.Repeat("x", 3*262144) // most of it in a file
	s.script("x", `write (("x"):rep (`+"3 * 262144"+`))`)
	assert.Equal(t, long, s.ask("/x.fcgi", nil).Body)

	s.script("x", `webserver.sendPartial ("body") return ""`)
	assert.Equal(t, "body", s.ask("/x.fcgi", nil).Body, "what was sent in parts is not filtered")
	s.script("x", `return ""`)
	assert.Equal(t, 404, s.ask("/x.fcgi", nil).Status, "an empty response is not filtered")

	// A script that calls the handler again is filtered once.
	s.script("y", `return "body"`)
	s.script("x", `local p = ... p.scriptName = "/y.fcgi" return webserver.handler (p)`)
	assert.Equal(t, "GET body", s.ask("/x.fcgi", nil).Body)

	s.put(callbacksAt+"filterPage.b", objectdb.Script(`return 42`))
	assert.Equal(t, 500, s.ask("/x.fcgi", nil).Status)
	assert.Contains(t, s.log.String(), "it returns the page, or nothing")
	s.put(callbacksAt+"filterPage.b", objectdb.Script(`error ("no")`))
	assert.Equal(t, 500, s.ask("/x.fcgi", nil).Status, "a page that was not filtered is not sent")
}
