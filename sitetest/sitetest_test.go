package sitetest

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/gateway"
	"scripter/lua"
	"scripter/objectdb"
	"scripter/objectdb/sqlitestore"
	"scripter/objectfiles"
	"scripter/requestlog"
	"scripter/root"
	"scripter/site"
)

// testSite is a new root with a gateway.
type testSite struct {
	t  *testing.T
	db *objectdb.DB
	g  *gateway.Gateway
}

func newSite(t *testing.T) *testSite {
	t.Helper()
	db, err := sqlitestore.Create(filepath.Join(t.TempDir(), "site.root"), objectdb.Options{Relaxed: true})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, db.Close()) })
	s := &testSite{t, db, gateway.New(gateway.Options{DB: db})}
	s.update(func(tx *objectdb.Tx) error {
		_, err := objectfiles.Import(tx, root.FS, nil, nil)
		return err
	})
	return s
}

func (s *testSite) update(fn func(tx *objectdb.Tx) error) {
	s.t.Helper()
	require.NoError(s.t, s.db.Update(context.Background(), fn))
}

func (s *testSite) put(address string, v objectdb.Value) {
	s.t.Helper()
	a, err := objectdb.ParseAddress(address)
	require.NoError(s.t, err)
	s.update(func(tx *objectdb.Tx) error { return tx.Put(a, v) })
}

func (s *testSite) find(address, match string) (list []Test) {
	s.t.Helper()
	a, err := objectdb.ParseAddress(address)
	require.NoError(s.t, err)
	var m *regexp.Regexp
	if match != "" {
		m = regexp.MustCompile(match)
	}
	require.NoError(s.t, s.db.View(context.Background(), func(tx *objectdb.Tx) (err error) {
		list, err = Find(tx, a, m)
		return err
	}))
	return list
}

func (s *testSite) run(list []Test) (results []Result) {
	s.t.Helper()
	require.NoError(s.t, Run(s.t.Context(), s.g.Runner(), list, func(r Result) error {
		results = append(results, r)
		return nil
	}))
	return results
}

func addresses(list []Test) string {
	var names []string
	for _, t := range list {
		name := t.Address.String()
		if t.Setup != nil {
			name += "<" + t.Setup.String()
		}
		names = append(names, name)
	}
	return strings.Join(names, " ")
}

func TestFind(t *testing.T) {
	s := newSite(t)
	for _, a := range []string{
		"suites.tests.testB", "suites.tests.TestA", "suites.tests.helper", "suites.tests.deep.testC",
		"suites.tests.deep.setup", "suites.shop.testNone", "suites.shop._test.testD", "suites.shop._TEST.more.test",
		"user._test.testE",
	} {
		s.put(a, objectdb.Script("return 1"))
	}
	s.put("suites.tests.testText", objectdb.String("no script"))
	s.put("user._test.setup", objectdb.String("no script"))
	const deep = "suites.tests.deep.testC<suites.tests.deep.setup"
	for _, c := range [][3]string{
		{"", "", "suites.shop._test.more.test suites.shop._test.testD " + deep +
			" suites.tests.TestA suites.tests.testB user._test.testE"},
		{"suites.shop", "", "suites.shop._test.more.test suites.shop._test.testD"},
		{"suites.TESTS.deep", "", deep},
		{"suites.tests.testa", "", "suites.tests.TestA"},
		{"suites", "deep|[bB]$", deep + " suites.tests.testB"},
		{"apps", "", ""},
	} {
		assert.Equal(t, c[2], addresses(s.find(c[0], c[1])), "%q", c)
	}
	require.NoError(t, s.db.View(t.Context(), func(tx *objectdb.Tx) error {
		_, err := Find(tx, objectdb.Address{"suites", "tests", "helper"}, nil)
		assert.ErrorIs(t, err, ErrNoTest)
		_, err = Find(tx, objectdb.Address{"suites", "nothing"}, nil)
		assert.ErrorIs(t, err, objectdb.ErrNotFound)
		return nil
	}))
}

// TestRun checks that tests do not see each other, that the others run when one fails, and what a
// failure says.
func TestRun(t *testing.T) {
	s := newSite(t)
	for _, name := range []string{"testE", "testJ"} {
		s.put("user.webserver.limits.[\"suites.tests."+name+"\"].maxTime", objectdb.Number(0.05))
	}
	s.put("scratchpad.n", objectdb.Number(0))
	for name, source := range map[string]string{
		"setup": "scratchpad.n = scratchpad.n + 1; return 7",
		"testA": "expect.equal (scratchpad.n, 1)\nexpect.equal (..., 7)\nscratchpad.n = 100\nglobal = 1\nwrite ('a')",
		"testB": "expect.equal (scratchpad.n, 1)\nexpect.equal (rawget (_G, 'global'), nil)",
		"testC": "local function f ()\n\texpect.equal ('x', 'y', 'letter')\nend\nf ()",
		"testD": "local x = = 1",
		"testE": "while true do end",
		"testF": "os.exit (0)",
		"testG": "pcall (error)\nerror ({message = 'of a table'})",
		"testH": "suites.tests.testH = nil\nuser = nil",
		"testI": "coroutine.yield (1)",
		"testJ": "return suites.tests.testJ ()",
		"testK": "local t = {} while true do t [#t + 1] = ('x'):rep (1e6) .. #t end",
		"testZ": "expect.equal (scratchpad.n, 1)",
	} {
		s.put("suites.tests."+name, objectdb.Script(source))
	}
	want := map[string]string{
		"testC": `^suites.tests.testC:2: expect.equal: letter: got "x", wanted "y"$`,
		"testD": `^suites.tests.testD:1: unexpected symbol near '='$`,
		"testE": `^suites.tests.testE:1: time limit of 50ms exceeded`,
		"testF": `^suites.tests.testF:1: .*exit`,
		"testG": `of a table`,
		"testI": `attempt to yield across`,
		"testJ": `^suites.tests.testJ:1: time limit of 50ms exceeded`,
		"testK": `^suites.tests.testK:1: .*memory`,
	}
	results := s.run(s.find("", ""))
	require.Len(t, results, 12)
	for _, r := range results {
		f := r.Failure()
		pattern := want[r.Address.Name()]
		if pattern == "" {
			assert.Nil(t, f, "%s: %v", r.Address, r.Err)
			continue
		}
		if assert.NotNil(t, f, r.Address) {
			assert.Regexp(t, pattern, f.Message)
		}
	}
	assert.Equal(t, "a", results[0].Written)
	f := results[2].Failure()
	assert.Equal(t, []string{"suites.tests.testC:2 in f", "suites.tests.testC:4"}, f.Calls)
	assert.Equal(t, "expect.equal ('x', 'y', 'letter')", strings.TrimSpace(f.Source))
	assert.True(t, f.Compared)
	assert.Equal(t, []any{"x", "y", "suites.tests.testC", 2}, []any{f.Got, f.Wanted, f.Script, f.Line})

	// If setup fails, each test fails, with the place in setup.
	s.put("suites.tests.setup", objectdb.Script("\nerror ('no data')"))
	results = s.run(s.find("suites.tests.testA", ""))
	assert.Equal(t, "suites.tests.setup:2: no data", results[0].Failure().Message)

	ctx, cancel := context.WithCancel(t.Context())
	n := 0
	err := Run(ctx, s.g.Runner(), s.find("", ""), func(Result) error {
		n++
		cancel()
		return nil
	})
	assert.ErrorIs(t, err, context.Canceled)
	assert.Equal(t, 1, n)
}

// TestManyTests runs ten thousand tests, half of which make a request.
func TestManyTests(t *testing.T) {
	const n = 10_000
	s := newSite(t)
	s.update(func(tx *objectdb.Tx) error {
		if err := tx.Put(objectdb.Address{"suites", "webserverScripts", "n"},
			objectdb.Script("return scratchpad.n")); err != nil {
			return err
		}
		for i := range n {
			source := fmt.Sprintf("scratchpad.n = (scratchpad.n or 0) + %d\nexpect.equal (scratchpad.n, %[1]d)", i)
			if i%2 == 0 {
				source += fmt.Sprintf("\nexpect.equal (request {path = '/n.fcgi'}.body, '%d')", i)
			}
			a := objectdb.Address{"suites", "tests", fmt.Sprintf("test%05d", i)}
			if err := tx.Put(a, objectdb.Script(source)); err != nil {
				return err
			}
		}
		return nil
	})
	begun := time.Now()
	results := s.run(s.find("", ""))
	require.Len(t, results, n)
	for _, r := range results {
		require.NoError(t, r.Err, r.Address)
	}
	assert.Less(t, time.Since(begun), time.Minute)
}

// recorded answers a request while Debugging is on, and returns what was recorded.
func (s *testSite) recorded(path, body string, more map[string]string) *requestlog.Request {
	s.t.Helper()
	script, query, _ := strings.Cut(path, "?")
	p := map[string]string{
		"GATEWAY_INTERFACE": "CGI/1.1", "SERVER_PROTOCOL": "HTTP/1.1", "SERVER_NAME": "localhost", "SERVER_PORT": "80",
		"REQUEST_METHOD": "GET", "SCRIPT_NAME": gateway.DecodePath(script), "QUERY_STRING": query, "REMOTE_ADDR": "127.0.0.1",
	}
	if body != "" {
		p["REQUEST_METHOD"], p["CONTENT_LENGTH"] = "POST", strconv.Itoa(len(body))
	}
	for name, value := range more {
		p[name] = value
	}
	s.g.Answer(s.t.Context(), &gateway.Request{Params: p, Body: strings.NewReader(body), Form: gateway.NPH}, io.Discard)
	var r *requestlog.Request
	require.NoError(s.t, s.db.View(s.t.Context(), func(tx *objectdb.Tx) (err error) {
		r, err = requestlog.Find(tx, 0)
		return err
	}))
	return r
}

// TestScript checks that tests made of recorded requests pass.
func TestScript(t *testing.T) {
	s := newSite(t)
	s.put("user.webserver.flDebug", objectdb.Boolean(true))
	s.put("suites.webserverScripts.show", objectdb.Script(`local p = ...
		local headers = {}
		for name, value in pairs (p.headers) do headers [#headers + 1] = name .. "=" .. value end
		table.sort (headers)
		local fields = {}
		for name, values in pairs (p.fields) do fields [#fields + 1] = name .. "=" .. table.concat (values, "|") end
		table.sort (fields)
		local raw = p.contentType:match ("urlencoded") and "" or p.postArgs
		return {status = 201, headers = {["Content-Type"] = "text/plain"}, body = table.concat ({p.method, p.scriptName, p.pathArgs,
			p.contentType, p.username, p.clientAddress, os.time (), math.random (1e9), raw,
			table.concat (headers, "\n"), table.concat (fields, "\n"), ""}, "\n")}`))
	s.put("suites.webserverScripts.go", objectdb.Script(`return webserver.httpHeader ("302 FOUND", "/x?a=b")`))
	s.put("suites.webserverScripts.bytes", objectdb.Script(`return {headers = {["Content-Type"] = "a/b"}, body = "\0\255\r\n]]" .. ("x"):rep (10)}`))
	s.put("suites.webserverScripts.large", objectdb.Script(`return ("line\n"):rep ((...).argTable.n or 4000)`))
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/late" {
			time.Sleep(100 * time.Millisecond)
		}
		fmt.Fprintf(w, "%s\n\"%s\"", r.Method, r.URL.Path)
	}))
	defer other.Close()
	s.g.SetReach(site.Reach{FetchPrivate: []string{strings.TrimPrefix(other.URL, "http://")}})
	s.put("user.other", objectdb.String(other.URL))
	s.put("suites.webserverScripts.fetch", objectdb.Script(`return http.fetch (user.other .. "/x?a=1&token=hush").body ..
		http.fetch (user.other .. "/y", {body = "z"}).body .. select (2, http.fetch (user.other .. "/late", {timeout = 0.02}))`))
	const urlencoded = "application/x-www-form-urlencoded"
	for i, r := range []*requestlog.Request{
		s.recorded("/show.fcgi", "", nil),
		s.recorded("/show.fcgi$a%20b%3Fc?x=1&y=%C3%A4&x=2", "", nil),
		s.recorded("/show.fcgi?x=1", "a=b&c=%22%5C%0Ad&a=%00e&]]=]]", map[string]string{"CONTENT_TYPE": urlencoded}),
		s.recorded("/show.fcgi", "a&b=%zz", map[string]string{"CONTENT_TYPE": urlencoded}),
		s.recorded("/show.fcgi", "[[\n1]]\n", map[string]string{"CONTENT_TYPE": "application/json", "REQUEST_METHOD": "PUT"}),
		s.recorded("/show.fcgi", "\n]==]]]\r\n\x00\xff", map[string]string{"CONTENT_TYPE": "x/y", "HTTP_ACCEPT_LANGUAGE": "de",
			"REMOTE_USER": "ada", "HTTP_X_Y": `"quoted\"`, "REMOTE_ADDR": "192.0.2.7"}),
		s.recorded("/show.fcgi", "", map[string]string{"REQUEST_METHOD": "DELETE", "CONTENT_LENGTH": "0"}),
		s.recorded("/show.fcgi", "", map[string]string{"REQUEST_METHOD": "HEAD"}),
		s.recorded("/go.fcgi", "", nil),
		s.recorded("/fetch.fcgi", "", nil),
		s.recorded("/bytes.fcgi", "", nil),
		s.recorded("/large.fcgi", "", nil),
		s.recorded("/large.fcgi?n=40000", "", nil),
		s.recorded("/samples.runtimeError.fcgi", "", nil),
		s.recorded("/nothing.fcgi", "", nil),
	} {
		source, masked := Script(r, "scripter requests 1")
		require.NoError(t, lua.Check("test", source, 0), source)
		assert.Empty(t, masked)
		assert.Less(t, len(source), 24<<10)
		s.put(fmt.Sprintf("suites.tests.test%d", i), objectdb.Script(source))
		result := s.run(s.find(fmt.Sprintf("suites.tests.test%d", i), ""))[0]
		if f := result.Failure(); f != nil {
			t.Errorf("%s\n%s", source, f.Detail)
		}
	}
}

// TestScriptMasks checks that a test has no secret of a recorded request, even if the request was
// recorded without a mask.
func TestScriptMasks(t *testing.T) {
	s := newSite(t)
	s.put("user.webserver.flDebug", objectdb.Boolean(true))
	s.put("suites.webserverScripts.show", objectdb.Script(`local p = ... return p.argTable.password .. " " .. (p.cookies.sid or "") .. "\n"`))
	s.put("suites.webserverScripts.bad", objectdb.Script(`error (...)`))
	for _, plain := range []bool{false, true} {
		s.put("user.webserver.flDebugSecrets", objectdb.Boolean(plain))
		for _, path := range []string{"/show.fcgi?token=hush-one", "/bad.fcgi?token=hush-one"} {
			r := s.recorded(path, "password=hush-two&a=1", map[string]string{
				"CONTENT_TYPE": "application/x-www-form-urlencoded", "HTTP_COOKIE": "sid=hush-three",
				"HTTP_AUTHORIZATION": "Basic hush-four"})
			source, masked := Script(r, "scripter requests 1")
			assert.Equal(t, []string{"HTTP_AUTHORIZATION", "HTTP_COOKIE", "field password", "field token"}, masked)
			assert.NotContains(t, source, "hush", plain)
			assert.Contains(t, source, "-- Masked: HTTP_AUTHORIZATION, HTTP_COOKIE, field password, field token.")
			assert.NoError(t, lua.Check("test", source, 0))
		}
		r := s.recorded("/show.fcgi", `{"password": "hush"}`, map[string]string{"CONTENT_TYPE": "application/json"})
		source, masked := Script(r, "scripter requests 1")
		assert.Equal(t, []string{"body"}, masked)
		assert.NotContains(t, source, "hush")
	}
	r := s.recorded("/show.fcgi", "x="+strings.Repeat("y", 100_000), map[string]string{"CONTENT_TYPE": "text/plain"})
	source, masked := Script(r, "scripter requests 1")
	assert.Equal(t, []string{"body"}, masked)
	assert.Contains(t, source, "-- Too long to be recorded: body.")
}

// TestAddress checks which names of tests are completed, and which are refused.
func TestAddress(t *testing.T) {
	for name, want := range map[string]string{
		"order": "suites.tests.testOrder", "testOrder": "suites.tests.testOrder", "élan": `suites.tests.["testÉlan"]`,
		"suites.tests.testX": "suites.tests.testX", "suites.own._test.testX": "suites.own._test.testX",
	} {
		a, err := Address(name)
		require.NoError(t, err, name)
		wanted, err := objectdb.ParseAddress(want)
		require.NoError(t, err)
		assert.Equal(t, wanted, a, name)
	}
	_, err := Address("suites.tests.order")
	assert.ErrorIs(t, err, ErrNotTest)
	assert.EqualError(t, err, "suites.tests.order would not be a test")
	_, err = Address("a..b")
	assert.Error(t, err)
}
