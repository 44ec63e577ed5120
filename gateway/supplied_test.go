package gateway

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
)

func (s *testSite) supplied() (p suppliedScripts) {
	s.t.Helper()
	require.NoError(s.t, s.db.View(s.t.Context(), func(tx *objectdb.Tx) (err error) {
		p, err = s.g.supplied.Get(tx)
		return err
	}))
	return p
}

func TestSuppliedScripts(t *testing.T) {
	s := newSite(t)
	assert.Equal(t, suppliedScripts{trap: true, header: true, macro: true}, s.supplied())
}

// TestScriptsInPlaceOfSuppliedOnes checks that a script in the place of a supplied one is run, and
// so is one that a supplied script would call.
func TestScriptsInPlaceOfSuppliedOnes(t *testing.T) {
	const mine = `return "HTTP/1.0 299 MINE\r\nServer: x\r\n\r\n"`
	for name, c := range map[string]struct {
		address, source string
		script, page    int // statuses
		supplied        suppliedScripts
	}{
		"the header": {"suites.webserver.httpheader", mine, 299, 299, suppliedScripts{trap: true}},
		"the verb of the header": {"system.verbs.builtins.webserver.httpHeader", mine, 299,
			299, suppliedScripts{trap: true}},
		"the handler":       {"suites.webserver.handler", mine, 299, 299, suppliedScripts{header: true, macro: true}},
		"a name before all": {"webserver.handler", mine, 299, 299, suppliedScripts{}},
		"the trap": {"system.verbs.traps.httpd.sdoc", mine, 299, 299,
			suppliedScripts{header: true, macro: true}},
		"the trap, by other name": {"system.verbs.traps.httpd.sdoc", "return webserver.dispatch (...)", 200, 200,
			suppliedScripts{header: true, macro: true}},
		"another trap": {"system.verbs.traps.sdoc", mine, 299, 299, suppliedScripts{header: true, macro: true}},
		"the action": {"user.webserver.actions.MACRO", mine, 200, 299,
			suppliedScripts{trap: true, header: true}},
		"the page": {"suites.webserver.expandPage", `return "mine"`, 200, 200,
			suppliedScripts{trap: true, header: true}},
		"a comment": {"suites.webserver.httpheader",
			"-- mine\n\n\treturn system.verbs.builtins.webserver.httpHeader (...)\n", 200, 200,
			suppliedScripts{trap: true, header: true, macro: true}},
		"a long comment": {"suites.webserver.httpheader",
			"--[[\nreturn system.verbs.builtins.webserver.httpHeader (...)\n--]]" + mine, 299, 299, suppliedScripts{trap: true}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			s.script("x", `return "text"`)
			s.page("x.mcro", "page")
			assert.Equal(t, 200, s.ask("/x.fcgi", nil).Status)
			s.put(c.address, objectdb.Script(c.source))
			assert.Equal(t, c.supplied, s.supplied())
			assert.Equal(t, c.script, s.ask("/x.fcgi", nil).Status)
			assert.Equal(t, c.page, s.ask("/x.mcro", nil).Status)
		})
	}
}

// TestRequestThatChangesTheSite checks that what a request has changed applies to the rest of it.
func TestRequestThatChangesTheSite(t *testing.T) {
	for name, c := range map[string]struct {
		source string
		status int
	}{
		"a global over the verbs": {`system = {verbs = {builtins = {webserver = {httpHeader = function ()
			return "HTTP/1.0 299 MINE\r\nServer: x\r\n\r\n" end}}}} return "text"`, 299},
		"past the notice of the environment": {`rawset (_G, "system", {verbs = {builtins = {webserver = {httpHeader = function ()
			return "HTTP/1.0 299 MINE\r\nServer: x\r\n\r\n" end}}}}) return "text"`, 299},
		"a parameter over the verbs": {`local p = ... p.system = {verbs = {builtins = {webserver = {httpHeader = function ()
			return "HTTP/1.0 299 MINE\r\nServer: x\r\n\r\n" end}}}} return "text"`, 299},
		"the header": {`suites.webserver.httpheader = odb.script ('return "HTTP/1.0 299 MINE\\r\\nServer: x\\r\\n\\r\\n"') return "text"`, 299},
		"a setting":  {`user.webserver.maxResponse = 1 return ("x"):rep (1048577)`, 500},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			s.script("x", c.source)
			assert.Equal(t, c.status, s.ask("/x.fcgi", nil).Status)
		})
	}
}

func TestSiteAfterAPartOfTheResponse(t *testing.T) {
	s := newSite(t)
	s.put("user.webserver.flVerboseMessages", objectdb.Boolean(false))
	s.script("x", `user.webserver.maxFields = 1
webserver.sendPartial ("a")
local ok, why = pcall (webserver.parseArgs, "a=1&b=2")
return tostring (ok)`)
	assert.Equal(t, "afalse", s.ask("/x.fcgi", nil).Body)
}

func TestActionsInAnyCase(t *testing.T) {
	s := newSite(t)
	s.script("x", `return (...).action .. (...).actionPath`)
	for _, word := range []string{"SCRIPTER", "scripter", "Scripter"} {
		assert.Equal(t, "SCRIPTER/cgi-bin/Scripter.acgi",
			s.ask("/x.html", map[string]string{"SCRIPTER_ACTION": word}).Body, word)
	}
	assert.Equal(t, 200, s.ask("/x.FCGI", nil).Status)
	s.put("user.webserver.overrides.LocalHost.["+`"/y/"`+"]", objectdb.String("scripter"))
	assert.Equal(t, 404, s.ask("/y/x.html", nil).Status, "a new root has scripts in the top folder alone")
	s.put("user.webserver.scriptFolders", objectdb.String("/ /y"))
	assert.Equal(t, 200, s.ask("/y/x.html", nil).Status)
	assert.Equal(t, 404, s.ask("/z/x.html", nil).Status)
}
