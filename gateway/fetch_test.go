package gateway

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
	"scripter/site"
)

// otherHost is a server that scripts may ask. It notes what it is asked.
type otherHost struct {
	*httptest.Server
	mu    sync.Mutex
	asked []string
}

// other starts a server and lists it. do may be nil; it is called for each request, before the answer.
func (s *testSite) other(do func(path string, times int)) *otherHost {
	s.t.Helper()
	o := &otherHost{}
	o.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		o.mu.Lock()
		o.asked = append(o.asked, r.Method+r.URL.String()+string(body))
		times := len(o.asked)
		o.mu.Unlock()
		if do != nil {
			do(r.URL.Path, times)
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Add("X-Two", "a")
		w.Header().Add("X-Two", "b")
		switch r.URL.Path {
		case "/missing":
			w.WriteHeader(404)
		case "/no.json":
			io.WriteString(w, "<p>")
		case "/long":
			io.WriteString(w, strings.Repeat("x", 3000))
		default:
			fmt.Fprintf(w, `{"path": %q, "times": %d, "none": null}`, r.URL.Path, times)
		}
	}))
	s.t.Cleanup(o.Close)
	s.list(site.KeyFetchPrivate, strings.TrimPrefix(o.URL, "http://"))
	s.put("user.other", objectdb.String(o.URL))
	return o
}

func (o *otherHost) requests() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return strings.Join(o.asked, " ")
}

func TestFetch(t *testing.T) {
	s := newSite(t)
	o := s.other(nil)
	for source, want := range map[string]string{
		`local a = http.fetch (user.other .. "/x") return a.status .. a.headers ["content-type"] .. a.headers ["x-two"] [2] .. a.json ().path`: "200application/jsonb/x",
		`local a = http.fetch (user.other .. "/x#y") return a.url == user.other .. "/x" and a.body:sub (1, 8)`:                                 `{"path":`,
		`return http.fetch (user.other .. "/missing").status`:                                                                                  "404",
		`return tostring (http.fetch (user.other).json ().none) .. http.fetch (user.other):json ().times`:                                      "nil",
		`return http.fetch (user.other .. "/no.json").json ()`:                                                                                 "error: json: the answer of http://127",
		`http.fetch (user.other .. "/q?a=1", {query = {b = "x y", a = {2, 3}}}) return "sent"`:                                                 "sent",
		`http.fetch (user.other .. "/f", {form = {a = "ä&"}}) return "sent"`:                                                                   "sent",
		`http.fetch (user.other .. "/j", {json = {1, 2}, method = "PUT"}) return "sent"`:                                                       "sent",
		`http.fetch (user.other .. "/b", {body = "raw", headers = {["X-A"] = {"1", "2"}}}) return "sent"`:                                      "sent",
		`return http.fetch ()`:                                                  "error: bad argument #1 to 'fetch' (string expected",
		`return http.fetch (user.other, {tiemout = 1})`:                         "error: http.fetch: there is no option tiemout; options are headers, query, body,",
		`return http.fetch (user.other, {timeout = "soon"})`:                    "error: http.fetch: timeout: it must be a number of seconds",
		`return http.fetch (user.other, {timeout = -1})`:                        "error: http.fetch: timeout: it must be a number of seconds",
		`return http.fetch (user.other, {redirects = 1.5})`:                     "error: http.fetch: redirects: it must be a whole",
		`return http.fetch (user.other, {body = "a", json = {}})`:               "error: http.fetch: json: the request already has a body",
		`return http.fetch (user.other, {headers = "x"})`:                       "error: http.fetch: headers: it must be a table",
		`return http.fetch (user.other, {headers = {["X-A"] = "a\r\nB: c"}})`:   "error: http.fetch: headers: ",
		`return http.fetch ("http://192.0.2.7/")`:                               `error: http.fetch: 192.0.2.7 is no host that scripter.conf lists: add the line "fetch-private: 192.0.2.7" there`,
		`return select (2, http.fetch (user.other:gsub (":%d+$", ":1") .. ""))`: "error: http.fetch: 127.0.0.1:1 is no host",
	} {
		s.script("x", "local ok, a = pcall (function () "+source+` end) return ok and a or "error: " .. a:gsub ("^[%w.]+:%d+: ", "")`)
		got := s.ask("/x.fcgi", nil).Body
		assert.True(t, strings.HasPrefix(got, want), "%s\n%s", source, got)
	}
	for _, asked := range []string{
		"GET/q?a=1&a=2&a=3&b=x+y", "POST/fa=%C3%A4%26", "PUT/j[1,2]", "POST/braw",
	} {
		assert.Contains(t, strings.Fields(o.requests()), asked)
	}
}

// TestFetchWithoutAnswer: a host that is not there is no error of the script, and is logged.
func TestFetchWithoutAnswer(t *testing.T) {
	s := newSite(t)
	o := s.other(func(path string, _ int) {
		if path == "/slow" {
			time.Sleep(300 * time.Millisecond)
		}
	})
	s.script("x", `local a, why = http.fetch (user.other .. "/slow?key=hush", {timeout = 0.05}) return tostring (a) .. why`)
	assert.Regexp(t, `^nil127\.0\.0\.1:\d+ has not answered within 50ms$`, s.ask("/x.fcgi", nil).Body)
	assert.Contains(t, s.log.String(), `msg="fetch failed" method=GET host=http://127.0.0.1:`)
	assert.Contains(t, s.log.String(), "script=suites.webserverScripts.x")
	assert.NotContains(t, s.log.String(), "hush")
	o.Close()
	s.script("x", `local a, why = http.fetch (user.other) return tostring (a) .. why`)
	assert.Regexp(t, `^nil127\.0\.0\.1:\d+: dial .*refused$`, s.ask("/x.fcgi", nil).Body)
	s.script("x", `return assert (http.fetch (user.other)).body`)
	assert.Equal(t, 500, s.ask("/x.fcgi", nil).Status)
	assert.Contains(t, s.log.String(), "suites.webserverScripts.x:1: 127.0.0.1:")
}

// TestFetchAgain checks that a request that loses a race asks nothing twice.
func TestFetchAgain(t *testing.T) {
	const source = `local n, texts = scratchpad.n, {}
		for i = 1, 2 do texts [i] = http.fetch (user.other .. "/" .. i).json ().times end
		texts [3] = http.fetch (user.other .. "/1").json ().times
		scratchpad.n = n + 1
		return n .. ":" .. table.concat (texts, ",")`
	for name, script := range map[string]string{
		"plain": source, "caught": "local ok, x = pcall (function () " + source + " end) return x",
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			s.put("scratchpad.n", objectdb.Number(0))
			s.script("x", script)
			o := s.other(func(path string, times int) {
				if times == 2 { // another request is faster
					s.put("scratchpad.n", objectdb.Number(10))
				}
			})
			assert.Equal(t, "10:1,2,3", s.ask("/x.fcgi", nil).Body)
			assert.Equal(t, objectdb.Number(11), s.get("scratchpad.n"))
			assert.Equal(t, "GET/1 GET/2 GET/1", o.requests())
			assert.Equal(t, uint64(1), s.g.metrics.Again.Load())
		})
	}
}

// TestFetchAnother: a second run, which holds the writer's lock, may ask for something else. While it is asked, nobody
// holds the lock, so the other host can write to the root.
func TestFetchAnother(t *testing.T) {
	for name, source := range map[string]string{
		"plain":  `return http.fetch (user.other .. "/" .. n).json ().path`,
		"caught": `local ok, x = pcall (http.fetch, user.other .. "/" .. n) scratchpad.caught = n return ok and x.json ().path or x`,
		"marker": `user.ask = odb.script ("return http.fetch (user.other .. '/" .. n .. "').json ().path")
			return webserver.processMacros ("<!--#user.ask-->")`,
		"coroutine": `return coroutine.wrap (function () return http.fetch (user.other .. "/" .. n).json ().path end) ()`,
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			s.put("scratchpad.n", objectdb.Number(1))
			s.script("x", "local n = scratchpad.n scratchpad.runs = (scratchpad.runs or 0) + 1 local function f () "+source+
				` end return f () .. n`)
			restless := false
			o := s.other(func(path string, times int) {
				if times <= 2 || restless {
					s.put("scratchpad.n", objectdb.Number(float64(times+1)))
				}
			})
			assert.Equal(t, "/33", s.ask("/x.fcgi", nil).Body)
			assert.Equal(t, "GET/1 GET/2 GET/3", o.requests())
			assert.Equal(t, objectdb.Number(1), s.get("scratchpad.runs"))

			// If another host changes the root each time, the request ends.
			restless = true
			resp, out := s.answer(s.request("/x.fcgi", nil))
			assert.Equal(t, 503, resp.Status)
			assert.ErrorContains(t, out.Err, "they asked for something else outside of the root")
		})
	}
}

// TestFetchLocked: for a moment after a lost race, requests of the same path hold the writer's lock from their start.
func TestFetchLocked(t *testing.T) {
	s := newSite(t)
	s.script("x", `scratchpad.x = http.fetch (user.other).status .. http.fetch (user.other .. "/2").status return scratchpad.x`)
	o := s.other(func(string, int) { s.put("user.meanwhile", objectdb.Boolean(true)) })
	r := s.request("/x.fcgi", nil)
	s.g.runner.Conflicted("/x.fcgi", s.g.now())
	begin := time.Now()
	resp, out := s.answer(r)
	require.NoError(t, out.Err)
	assert.Equal(t, "200200", resp.Body)
	assert.Equal(t, "GET/ GET/2", o.requests())
	assert.Less(t, time.Since(begin), 2*time.Second, "the other host has not waited for the lock")
}

func TestFetchAfterSendPartial(t *testing.T) {
	s := newSite(t)
	s.script("x", `scratchpad.x = 1 webserver.sendPartial ("a") return http.fetch (user.other).status`)
	s.other(func(string, int) { s.put("user.meanwhile", objectdb.Boolean(true)) })
	assert.Equal(t, "a200", s.ask("/x.fcgi", nil).Body)
	assert.Equal(t, objectdb.Boolean(true), s.get("user.meanwhile"))
}

func TestFetchLimits(t *testing.T) {
	s := newSite(t)
	o := s.other(func(path string, _ int) {
		if path == "/slow" {
			time.Sleep(400 * time.Millisecond)
		}
	})
	s.script("x", `local ok, why for i = 1, 4 do ok, why = pcall (http.fetch, user.other) end return tostring (ok) .. why`)
	s.put("user.webserver.maxFetches", objectdb.Number(3))
	assert.Equal(t, "falsehttp.fetch: the request fetches more than 3 times (user.webserver.maxFetches)",
		s.ask("/x.fcgi", nil).Body)
	assert.Len(t, o.asked, 3)

	s.put("user.webserver.maxFetchSize", objectdb.Number(0.002))
	s.script("x", `local ok, why = pcall (http.fetch, user.other .. "/long") return why`)
	assert.Regexp(t, `^http\.fetch: http://127\.0\.0\.1:\d+: the answer is larger than 0\.002 MB \(user\.webserver\.maxFetchSize\)$`,
		s.ask("/x.fcgi", nil).Body)

	s.put("user.webserver.maxFetchTime", objectdb.Number(0.05))
	s.script("x", `return select (2, http.fetch (user.other .. "/slow", {timeout = 60}))`)
	assert.Contains(t, s.ask("/x.fcgi", nil).Body, "has not answered within 50ms")

	s.put("user.webserver.maxFetchTime", objectdb.Number(60))
	s.put("user.webserver.maxTime", objectdb.Number(0.1))
	s.script("x", `scratchpad.x = 1 pcall (http.fetch, user.other .. "/slow") return "went on"`)
	_, out := s.answer(s.request("/x.fcgi", nil))
	assert.ErrorContains(t, out.Err, "time limit of 100ms exceeded")
}

// TestFetchNowhere has the places where nothing is asked.
func TestFetchNowhere(t *testing.T) {
	s := newSite(t)
	o := s.other(nil)
	s.page("p.mcro", `<!--#http.fetch (user.other)-->`)
	assert.NotContains(t, s.ask("/p.mcro", nil).Body, "path")
	assert.Contains(t, s.log.String(), "http.fetch")
	assert.Empty(t, o.requests())

	s.g.SetReach(site.Reach{})
	s.script("x", `return select (2, pcall (http.fetch, user.other))`)
	assert.Contains(t, s.ask("/x.fcgi", nil).Body, `add the line "fetch-private: 127.0.0.1:`)
	assert.Empty(t, o.requests())
}
