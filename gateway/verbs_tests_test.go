package gateway

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
	"scripter/runner"
	"scripter/script"
)

// runTest runs a script as a test. It checks that nothing is committed.
func (s *testSite) runTest(source string) runner.TestResult {
	s.t.Helper()
	s.g.testSite = s.folder
	a := objectdb.Address{"suites", "tests", "testOne"}
	update(s.t, s.db, func(tx *objectdb.Tx) error { return tx.Put(a, objectdb.Script(source)) })
	before := s.generation()
	result := s.g.runner.Test(s.t.Context(), a, nil)
	assert.Equal(s.t, before, s.generation(), "a test has committed: %s", source)
	return result
}

func (s *testSite) generation() int64 {
	s.t.Helper()
	info, err := s.db.Info(s.t.Context())
	require.NoError(s.t, err)
	return info.Generation
}

// pass runs a test that must pass.
func (s *testSite) pass(source string) runner.TestResult {
	s.t.Helper()
	result := s.runTest(source)
	if result.Err != nil {
		s.t.Errorf("%s\n%s\n%q", source, Describe(result.Err), result.Notes)
	}
	return result
}

func TestTestVerbExamples(t *testing.T) {
	s := newSite(t)
	for _, v := range TestVerbs() {
		source := v.Source()
		if !strings.Contains(source, "return ") {
			source = "return " + source
		}
		s.put("suites.tests.example", objectdb.Script(source))
		s.pass("expect.equal (suites.tests.example (), " + luaString(v.Gives) + ")")
		assert.Contains(t, v.Example, v.Name+" (", "the example must call the verb")
		assert.Regexp(t, `^[A-Z][^\n]+[.]$`, v.Doc, v.Name)
	}
}

// TestRequest checks the fields of a test's request, and what it answers.
func TestRequest(t *testing.T) {
	s := newSite(t)
	s.script("show", `local p = ...
		return {status = 201, headers = {["Content-Type"] = "text/plain", ["Set-Cookie"] = {"a=1", "b=2"}}, body = json.encode ({
			p.method, p.searchTable, p.argTable, p.postArgs, p.headers, p.contentType, p.cgi.REMOTE_USER or "", p.pathArgs,
			p.files.f and {p.files.f.filename, p.files.f.type, p.files.f.data} or "none", p.cgi.REQUEST_URI})}`)
	for request, want := range map[string]string{
		`path = "/show.fcgi"`: `["GET",{},{},"",{},"","","","none","/show.fcgi"]`,
		`path = "/show.fcgi$x?a=b", query = {c = {1, 2}, d = "e f"}, method = "DELETE"`: `["DELETE",` +
			`{"a":"b","c":"2","d":"e f"},{},"",{},"","","x","none","/show.fcgi$x?a=b\u0026c=1\u0026c=2\u0026d=e+f"]`,
		`path = "/show.fcgi", form = {x = "ä&", y = 2}`: `["POST",{},{"x":"ä\u0026","y":"2"},"x=%C3%A4%26\u0026y=2",{},` +
			`"application/x-www-form-urlencoded","","","none","/show.fcgi"]`,
		`path = "/show.fcgi", form = {}`:           `["POST",{},{},"",{},"application/x-www-form-urlencoded","","","none","/show.fcgi"]`,
		`path = "/show.fcgi", json = {1, {a = 2}}`: `["POST",{},{},"[1,{\"a\":2}]",{},"application/json","","","none","/show.fcgi"]`,
		`path = "/show.fcgi", method = "PUT", body = "x\0y", headers = {["content-type"] = "a/b", ["X-Y"] = {1, 2}},
			cgi = {REMOTE_USER = "ada"}`: `["PUT",{},{},"x\u0000y",{"x-y":"1, 2"},"a/b","ada","","none","/show.fcgi"]`,
	} {
		s.pass(`local a = request {` + request + `}
			expect.equal (a.status, 201)
			expect.equal (a.errors, {})
			expect.equal (a.headers ["content-type"], "text/plain; charset=utf-8")
			expect.equal (a.headers ["set-cookie"], {"a=1", "b=2"})
			expect.equal (a.body, ` + luaString(want) + `)`)
	}
	s.pass(`local a = request {path = "/show.fcgi", form = {x = "y"}, files = {f = {filename = "a.png", type = "image/png", data = "\0scripter-test"}}}
		local v = json.decode (a.body)
		expect.equal (v [3], {x = "y"})
		expect.equal (v [9], {"a.png", "image/png", "\0scripter-test"})`)
	s.script("when", `return os.time () .. " " .. math.random (1e9)`)
	s.pass(`local a = request {path = "/when.fcgi", time = odb.date ("2001-02-03 04:05:06"), seed = 7}
		local b = request {path = "/when.fcgi", time = odb.date ("2001-02-03 04:05:06"), seed = 7}
		local c = request {path = "/when.fcgi"}
		expect.equal (a.body, b.body)
		expect.match (a.body, "^981173106 ")
		expect.equal (request {path = "/when.fcgi"}.body:match (" .*"), c.body:match (" .*"))
		expect.match (c.body, "^" .. tostring (os.time ()):sub (1, 6))`)
	s.page("page.mcro", `<p><!--#user.note--> <!--#nothing--></p>`)
	s.pass(`user.note = "of the test"
		local a = request {path = "/page.mcro"}
		expect.equal (a.body, "<p>of the test </p>")
		expect.equal (#a.errors, 1)
		expect.match (a.errors [1], "page.mcro, line 1, column 22: .*nothing names nothing")`)
	s.page("plain.html", "as it is")
	s.script("plain", `return ""`)
	s.pass(`expect.equal (request {path = "/plain.fcgi"}.status, 404)`)
	for request, want := range map[string]string{
		`{}`:                                           "the field path is missing",
		`{path = "x"}`:                                 `path: "x" does not begin with /`,
		`{path = "/", methd = "GET"}`:                  "it has no field methd; its fields are path, query, headers",
		`{path = "/", form = 1}`:                       "form: it must be a table",
		`{path = "/", body = "", json = {}}`:           "body: the request already has a body",
		`{path = "/", time = 1}`:                       "time: it must be a date",
		`{path = "/", seed = "x"}`:                     "seed: it must be a number",
		`{path = "/", files = {f = "x"}}`:              "files: f: it must be a table with filename, type and data",
		`{path = "/", json = print}`:                   "undefined name: print",
		`{path = "/", json = tostring}`:                "json: a function has no JSON",
		`{path = "/", "x"}`:                            "it has no field 1;",
		`{path = "/", headers = {{"a", "b"}}}`:         "",
		`{path = "/", cgi = {DOCUMENT_ROOT = "/etc"}}`: "cgi: DOCUMENT_ROOT is the folder of the pages, which --site names",
		`{path = "/", cgi = {SERVER_NAME = ""}}`:       "",
	} {
		result := s.runTest(`request (` + request + `)`)
		if want == "" {
			assert.NoError(t, result.Err)
			continue
		}
		assert.ErrorContains(t, result.Err, want)
	}
	assert.ErrorContains(t, s.runTest(`request ()`).Err, "bad argument #1 to 'request' (table expected, got no value)")
}

// luaString returns a text as a literal of Lua.
func luaString(s string) string { return "[==[" + s + "]==]" }

// TestRequestFails checks what a test sees of a request that fails, and that only its own writes
// are undone.
func TestRequestFails(t *testing.T) {
	s := newSite(t)
	s.script("bad", `user.a = "lost"; error ("boom")`)
	s.script("streams", `user.a = "sent"; webserver.sendPartial ("x"); user.b = "lost"; error ("late")`)
	result := s.pass(`user.a, user.b = "first", "first"
		local a = request {path = "/bad.fcgi"}
		expect.equal (a.status, 500)
		expect.equal (user.a, "first")
		expect.contains (a.body, "Incident")
		expect.equal (a.body:find ("boom"), nil, "a visitor does not see the error")
		expect.match (a.errors [1], "webserverScripts.bad:1: boom")
		local b = request {path = "/streams.fcgi"}
		expect.equal ({b.status, b.body, user.a, user.b}, {200, "x", "sent", "first"})
		expect.match (b.errors [1], "late")
		expect.equal (request {path = "/none.fcgi"}.status, 404)
		user.webserver.prefs.fileNotFoundPage = "<p>mine <!--#errorMessage--></p>"
		expect.contains (request {path = "/none.fcgi"}.body, "<p>mine There is nothing at this address.</p>")
		user.webserver.errorStatus = 200
		expect.equal (request {path = "/bad.fcgi"}.status, 200)
		user.webserver.flRefuseConnections = true
		expect.equal (request {path = "/bad.fcgi"}.status, 503)`)
	require.NotEmpty(t, result.Notes)
	assert.Regexp(t, `^GET /bad.fcgi was answered with status 500:\nsuites.webserverScripts.bad:1: boom\n`, result.Notes[0])

	s.script("endless", `while true do end`)
	s.put("user.webserver.limits.["+`"suites.webserverScripts.endless"`+"].maxTime", objectdb.Number(0.1))
	s.pass(`local a = request {path = "/endless.fcgi"}
		expect.equal (a.status, 500)
		expect.match (a.errors [1], "time limit of 100ms exceeded")`)
	s.script("large", `for i = 1, 3 do webserver.sendPartial (("x"):rep (2^20)) end`)
	s.put("user.webserver.maxResponse", objectdb.Number(2))
	assert.ErrorContains(t, s.runTest(`request {path = "/large.fcgi"}`).Err, "the response is longer than 2097152 bytes")
}

// TestTestsLeaveNoTrace calls every verb in a test, and in a request that a test makes. Verbs that
// commit or flush caches elsewhere do not do so there.
func TestTestsLeaveNoTrace(t *testing.T) {
	s := newSite(t)
	s.list("cache-folder", s.folder)
	cache := filepath.Join(s.folder, "cache")
	require.NoError(t, os.Mkdir(cache, 0o755))
	s.put("user.webserver.cacheFolders", objectdb.List{objectdb.String(cache)})
	cached := filepath.Join(cache, strings.Repeat("a", 32))
	require.NoError(t, os.WriteFile(cached, []byte("\nKEY: x\n"), 0o644))
	s.put("user.webserver.flDebug", objectdb.Boolean(true))
	s.script("recorded", `scratchpad.n = (scratchpad.n or 0) + 1; return "recorded " .. scratchpad.n`)
	s.ask("/recorded.fcgi", nil)
	s.page("hello.mcro", `<p><!--#html.escape ("1 < 2")--></p>`)
	for _, v := range Verbs() {
		source := v.Source()
		s.pass(`suites.webserverScripts.example = odb.script (` + luaString(source) + `)
			pcall (suites.webserverScripts.example)
			request {path = "/example.fcgi"}`)
	}
	s.pass(`scratchpad.n = 41
		suites.webserverScripts.again = odb.script ("return webserver.debugCGI ()")
		expect.contains (webserver.debugCGI (), "recorded 42")
		expect.equal (scratchpad.n, 41, "after debugCGI in the test")
		expect.contains (request {path = "/again.fcgi"}.body, "recorded 42")
		expect.equal (scratchpad.n, 41, "after debugCGI in a request")`)
	s.pass(`suites.webserverScripts.flush = odb.script ("webserver.flushCache () return 'flushed'")
		webserver.flushCache ()
		expect.equal (request {path = "/flush.fcgi"}.body, "flushed")`)
	assert.FileExists(t, cached, "a test has flushed a cache")
	assert.ErrorContains(t, s.runTest(`webserver.sendPartial ("x")`).Err, "there is no client to send to")
	s.pass(`user.x = 1
		suites.webserverScripts.pieces = odb.script ("user.x = user.x + 1; for i = 1, 5 do webserver.sendPartial (i) end return user.x")
		expect.equal (request {path = "/pieces.fcgi"}.body, "123452")
		expect.equal (user.x, 2)`)
	for _, source := range []string{
		`os.exit ()`, `os.execute ("touch x")`, `io.open ("x", "w")`, `os.remove ("x")`, `require ("os").execute ("touch x")`,
	} {
		assert.Error(t, s.runTest(source).Err, source)
	}
	// The same outside a test shows that the checks above can fail.
	s.put("suites.webserverScripts.flush", objectdb.Script(`webserver.flushCache () return "flushed"`))
	before := s.generation()
	s.ask("/flush.fcgi", nil)
	assert.NoFileExists(t, cached)
	assert.Greater(t, s.generation(), before, "the request is recorded")
}

// TestNamesOfTests checks who sees the verbs of tests.
func TestNamesOfTests(t *testing.T) {
	s := newSite(t)
	s.put("suites.request", objectdb.Script(`return "the site's own"`))
	s.script("names", `return request () .. tostring (rawget (_G, "expect"))`)
	s.script("unknown", `return expect.equal (1, 1)`)
	s.put("user.helper", objectdb.Script(`expect.equal (1, 1) return "seen"`))
	s.pass(`expect.equal (request {path = "/names.fcgi"}.body, "the site's ownnil")
		expect.contains (request {path = "/unknown.fcgi"}.errors [1],
			'undefined name: expect; only tests have it, which "scripter test" runs')
		expect.equal (user.helper (), "seen")
		Expect.EQUAL (1, 1)
		expect.error (function () expect.equall (1, 1) end, "a missing object: expect.equall")
		expect.equal (suites.request (), "the site's own")
		request = nil
		expect.error (function () request {} end)`)
	var verb script.Verb
	for _, v := range TestVerbs() {
		if v.Name == "request" {
			verb = v
		}
	}
	for _, f := range requestFields {
		assert.Regexp(t, regexp.MustCompile(`\b`+f.name+`\b`), verb.Params[0].Doc, "the verb describes the field")
	}
}
