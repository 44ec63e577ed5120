package gateway

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
)

// TestTrapIsFound checks where the trap may lie, and which place has precedence (specification,
// 2.3 and 6.1).
//
// Specification: 2.2.1, 2.3.1, 4.3.5, 6.1
func TestTrapIsFound(t *testing.T) {
	s := newSite(t)
	s.script("x", `return "x"`)
	drop := func(a ...string) {
		update(t, s.db, func(tx *objectdb.Tx) error { return tx.Delete(objectdb.Address(a)) })
	}
	drop("system", "verbs", "traps", "httpd", "sdoc")
	assert.Equal(t, "x", s.ask("/x.fcgi", nil).Body, "there is no trap")
	for _, where := range []string{
		`system.verbs.traps.WWWΩ.sdoc`,
		`system.verbs.traps.["WEB "].sdoc`,
		`system.verbs.traps.WEB.sdoc`,
		`system.verbs.traps.sdoc`,
	} {
		s.put("user.webserver.serverId", objectdb.String("WEB "))
		s.put(where, objectdb.Script("return [=["+where+"]=]"))
		assert.Equal(t, where, s.ask("/x.fcgi", nil).Body)
		e, err := s.g.Explain(context.Background(), s.traced("/x.fcgi"))
		require.NoError(t, err)
		assert.Zero(t, e.Status)
		assert.Contains(t, s.log.String(), "trap "+where+" gets the parameters first")
	}
	s.put("system.verbs.traps.sdoc", objectdb.String("no script"))
	assert.Equal(t, "system.verbs.traps.WEB.sdoc", s.ask("/x.fcgi", nil).Body, "an object that is no script is no trap")
}

// traced returns a request that writes its trace to the log of the site.
func (s *testSite) traced(path string) *Request {
	r := s.request(path, nil)
	r.Trace = func(step string) { fmt.Fprintln(s.log, step) }
	return r
}

// TestTrapThatFails checks that the visitor sees an incident, that the log names the trap, and
// that the root is unchanged.
//
// Specification: 2.3.1, 7.1
func TestTrapThatFails(t *testing.T) {
	s := newSite(t)
	s.script("x", `return "x"`)
	s.put("scratchpad.n", objectdb.Number(1))
	for _, source := range []string{`scratchpad.n = 2 error ("secret")`, `scratchpad.n = 2 if`,
		`scratchpad.n = 2 return {what = 1}`} {
		s.log.Take()
		s.put("system.verbs.traps.httpd.sdoc", objectdb.Script(source))
		resp := s.ask("/x.fcgi", nil)
		assert.Equal(t, 500, resp.Status, source)
		assert.Contains(t, resp.Body, "Incident", source)
		assert.NotContains(t, resp.Body, "secret")
		assert.Equal(t, objectdb.Number(1), s.get("scratchpad.n"), source)
		assert.Contains(t, s.log.String(), "failed", source)
	}
	s.put("system.verbs.traps.httpd.sdoc", objectdb.Script(`error ("secret")`))
	s.ask("/x.fcgi", nil)
	assert.Contains(t, s.log.String(), "system.verbs.traps.httpd.sdoc")
	// A trap may catch the failure of the action and answer itself.
	s.script("x", `error ("x")`)
	s.put("system.verbs.traps.httpd.sdoc", objectdb.Script(`
		local params = ...
		local ok, page = pcall (webserver.handler, params)
		return ok and page or "sorry"`))
	assert.Equal(t, "sorry", s.ask("/x.fcgi", nil).Body)
}

// TestEmptyReply checks that "" leaves the URL to the web server, whichever script returns it.
//
// Specification: 6.3
func TestEmptyReply(t *testing.T) {
	s := newSite(t)
	s.page("plain.txt", "from the disk")
	s.put(`user.webserver.overrides.["*"].["/"]`, objectdb.String("PREPROCESSOR"))
	s.put("user.webserver.actions.PREPROCESSOR", objectdb.Script(`
		local params = ...
		if params.scriptName:find ("%.mcro$") then
			params.action = "MACRO"
			return webserver.handler (params)
		end
		scratchpad.seen = params.scriptName
		return ""`))
	resp := s.ask("/plain.txt", nil)
	assert.Equal(t, 200, resp.Status)
	assert.Equal(t, "from the disk", resp.Body)
	assert.Equal(t, objectdb.String("/plain.txt"), s.get("scratchpad.seen"))
	s.page("p.mcro", "<!--#method-->")
	assert.Equal(t, "GET", s.ask("/p.mcro", nil).Body, "one action handed on to another")
	assert.Equal(t, 404, s.ask("/none.txt", nil).Status)
}
