package gateway

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
	"scripter/runner"
	"scripter/site"
)

func (s *testSite) limit(address, name string, value float64) {
	s.t.Helper()
	a, err := objectdb.ParseAddress(address)
	require.NoError(s.t, err)
	set, ok := site.FindLimit(name)
	require.True(s.t, ok, name)
	update(s.t, s.db, func(tx *objectdb.Tx) error { return site.SetLimit(tx, a, set, value) })
}

// TestLimitsOfAScript checks that the row of a script has precedence over that of its table, and
// both over the setting, cell by cell.
func TestLimitsOfAScript(t *testing.T) {
	s := newSite(t)
	s.script("long", `return string.rep ("x", 3 * 2^20):sub (1, 3)`)
	s.script("deep.long", `return string.rep ("x", 3 * 2^20):sub (1, 3)`)
	s.put("user.webserver.maxString", objectdb.Number(1))
	text := func(path string) string { return s.ask(path, map[string]string{"HTTP_SCRIPTER_TOKEN": "secret"}).Body }
	s.put("user.webserver.debugToken", objectdb.String("secret"))

	assert.Contains(t, text("/long.fcgi"), "string length limit of 1048576 bytes exceeded (user.webserver.maxString)")
	s.limit("suites.webserverScripts", "maxString", 2)
	assert.Contains(t, text("/long.fcgi"),
		`limit of 2097152 bytes exceeded (user.webserver.limits.[&quot;suites.webserverScripts&quot;].maxString)`)
	s.limit("suites.webserverScripts.long", "maxString", 4)
	assert.Equal(t, "xxx", text("/long.fcgi"))
	assert.Equal(t, "xxx", text("/LONG.fcgi"), "whatever its case")
	assert.Contains(t, text("/deep.long.fcgi"), "limit of 2097152 bytes")
	s.limit("suites.webserverScripts.deep", "maxTime", 5)
	assert.Contains(t, text("/deep.long.fcgi"), "limit of 2097152 bytes", "a row that has no such cell hides none")

	s.put(`user.webserver.limits.["suites.webserverScripts.long"].maxString`, objectdb.Number(-1))
	assert.Contains(t, text("/long.fcgi"), "limit of 2097152 bytes", "an invalid value is ignored")
	update(t, s.db, func(tx *objectdb.Tx) error {
		return site.RemoveLimit(tx, objectdb.Address{"suites", "webserverScripts"}, site.MaxString)
	})
	assert.Contains(t, text("/long.fcgi"), "limit of 1048576 bytes")
}

// TestEveryLimitOfAScript checks that each limit can be lowered for one script. The limit stops
// this script and no other. The error says where it was set, and it is counted under its name.
func TestEveryLimitOfAScript(t *testing.T) {
	s := newSite(t)
	s.page("page.mcro", strings.Repeat("<!--#method-->", 5))
	post := func(body string) *Request {
		r := s.request("", map[string]string{"REQUEST_METHOD": "POST",
			"CONTENT_TYPE": "application/x-www-form-urlencoded", "CONTENT_LENGTH": "20"})
		r.Body = strings.NewReader(body)
		return r
	}
	for _, c := range []struct {
		name   string
		value  float64
		source string
		status int
		text   string
	}{
		{"maxTime", 0.05, `while true do end`, 500, "time limit of 50ms exceeded"},
		{"maxInstructions", 0.05, `for i = 1, 1e6 do end return "ok"`, 500, "limit of 50000 instructions exceeded"},
		{"maxMemory", 8,
			`local t = {} for i = 1, 64 do t [i] = ("x"):rep (2^20) .. i end for i = 1, 4e6 do end return #t == 64 and "ok"`,
			500, "memory limit of 8 MB exceeded"},
		{"maxString", 0.5, `return ("x"):rep (2^20):sub (1, 2)`, 500, "string length limit of 524288 bytes exceeded"},
		{"maxPatternSteps", 0.001, `return ("x"):rep (500):find (".-b") or "ok"`, 500,
			"limit of 1000 pattern steps exceeded"},
		{"maxCoroutines", 2, `for i = 1, 3 do coroutine.create (function () end) end return "ok"`, 500,
			"limit of 2 coroutines exceeded"},
		{"maxDepth", 20, `local function f (n) if n > 0 then return 1 + f (n - 1) end return 0 end return "ok" .. f (40)`,
			500, "stack overflow: calls nest more than 20 deep"},
		{"maxSource", 1, `return assert (loadstring ("return [[" .. ("x"):rep (2000) .. "]]")) ():sub (1, 2)`, 500,
			"source is longer than 1024 bytes"},
		{"maxSource", 1, "return 'ok' --" + strings.Repeat("-", 2000), 500, "source is longer than 1024 bytes"},
		{"maxResponse", 1, `return ("x"):rep (2 * 2^20)`, 500, "the response has 2097152 bytes, the limit is 1048576"},
		{"maxResponse", 1, `for i = 1, 3 do write (("x"):rep (2^19)) end`, 500, "the response is longer than 1048576 bytes"},
		{"maxBody", 0.00001, `return "ok"`, 413, "the body has 20 bytes, the limit is 10"},
		{"maxFields", 2, `return "ok"`, 413, "the form has more than 2 fields"},
	} {
		s.script("bound", c.source)
		s.script("free", c.source)
		ask := func(name string) (int, Outcome, string) {
			r := post("a=1&b=2&c=3&d=4&e=56")
			r.Developer = true
			r.Params["SCRIPT_NAME"], r.Params["REQUEST_URI"] = "/"+name+".fcgi", "/"+name+".fcgi"
			var b bytes.Buffer
			out := s.g.Answer(context.Background(), r, &b)
			return out.Status, out, b.String()
		}
		s.limit("suites.webserverScripts.bound", c.name, c.value)
		s.g.TakeCounts()
		runtime.GC() // garbage of other tests would count as memory in use
		status, out, page := ask("bound")
		assert.Equal(t, c.status, status, "%s: %s", c.name, c.source)
		assert.Contains(t, page,
			c.text+" (user.webserver.limits.[&quot;suites.webserverScripts.bound&quot;]."+c.name+")", c.source)
		assert.Equal(t, c.name, runner.LimitOf(out.Err), c.source)
		assert.Equal(t, map[string]uint64{c.name: 1}, s.g.TakeCounts().Limits)
		if c.name != "maxTime" {
			status, _, page = ask("free")
			assert.Equal(t, 200, status, "%s: %s: %.300s", c.name, c.source, page)
		}
		set, _ := site.FindLimit(c.name)
		update(t, s.db, func(tx *objectdb.Tx) error {
			return site.RemoveLimit(tx, objectdb.Address{"suites", "webserverScripts", "bound"}, set)
		})
	}
	s.limit("user.webserver.actions.macro", "maxMacros", 4)
	r := s.request("/page.mcro", nil)
	r.Developer = true
	resp, out := s.answer(r)
	assert.Equal(t, 500, resp.Status)
	assert.Contains(t, resp.Body,
		"more than 4 markers in one request (user.webserver.limits.[&quot;user.webserver.actions.macro&quot;].maxMacros)")
	assert.Equal(t, "maxMacros", runner.LimitOf(out.Err))
	s.limit("suites.webserverScripts.deepCalls", "maxDepth", 50)
	s.script("deepCalls", `local function f (n) return n == 0 and 0 or 1 + f (n - 1) end return f (100)`)
	s.script("freeCalls", `local function f (n) return n == 0 and 0 or 1 + f (n - 1) end return f (100)`)
	assert.Equal(t, 500, s.ask("/deepCalls.fcgi", nil).Status)
	assert.Equal(t, "100", s.ask("/freeCalls.fcgi", nil).Body)
}

// TestLimitsWithoutWebServer checks that the limits of a script apply to CGI, to Run
// and to the guard of a process.
func TestLimitsWithoutWebServer(t *testing.T) {
	s := newSite(t)
	s.script("loop", `while true do end`)
	s.limit("suites.webserverScripts.loop", "maxInstructions", 0.02)
	s.limit("suites.webserverScripts.loop", "maxTime", 3)
	s.limit("suites.webserverScripts.loop", "maxMemory", 7)
	const want = "limit of 20000 instructions exceeded"
	given := map[string]string{"SCRIPT_NAME": "/loop.fcgi", "REQUEST_URI": "/loop.fcgi", "REQUEST_METHOD": "GET",
		"GATEWAY_INTERFACE": "CGI/1.1"}

	var environ []string
	for name, value := range given {
		environ = append(environ, name+"="+value)
	}
	out := s.g.ServeCGI(context.Background(), CGI{Environ: environ, Stdin: strings.NewReader(""), Stdout: &bytes.Buffer{}})
	assert.ErrorContains(t, out.Err, want)

	_, err := s.g.runner.Call(context.Background(), runner.Options{}, objectdb.Address{"suites", "webserverScripts", "loop"}, nil)
	assert.ErrorContains(t, err, want)

	told := &noted{}
	guarded := New(Options{DB: s.db, Guard: told})
	guarded.Answer(context.Background(), s.request("/loop.fcgi", nil), &bytes.Buffer{})
	require.NotEmpty(t, told.times)
	assert.LessOrEqual(t, told.times[0], 3*time.Second, "the guard gets the limit of the script")
	assert.Positive(t, told.times[0])
	assert.Equal(t, int64(7<<20), told.bytes[0])
	assert.Equal(t, 1, strings.Count(s.log.String(), "limit=maxInstructions"), s.log.String())
}

// noted is a guard that records the limits that it gets.
type noted struct {
	times []time.Duration
	bytes []int64
}

func (n *noted) Begin(limit time.Duration, bytes int64) {
	n.times, n.bytes = append(n.times, limit), append(n.bytes, bytes)
}

func (n *noted) End() {}

// TestExplainLimits checks that explain returns all limits, and traces those that differ from the
// settings.
func TestExplainLimits(t *testing.T) {
	s := newSite(t)
	s.script("x", `return 1`)
	s.limit("suites.webserverScripts.x", "maxTime", 60)
	var steps []string
	r := s.request("/x.fcgi", nil)
	r.Trace = func(step string) { steps = append(steps, step) }
	e, err := s.g.Explain(context.Background(), r)
	require.NoError(t, err)
	assert.Contains(t, steps, `limit maxTime 60 (user.webserver.limits.["suites.webserverScripts.x"].maxTime)`)
	require.Len(t, e.Limits, 20)
	assert.Equal(t, 60.0, e.Limits[0].Value)
	assert.NotEmpty(t, e.Limits[0].Row)
	assert.Empty(t, e.Limits[1].Row)
	assert.Equal(t, "user.webserver.maxInstructions", e.Limits[1].From().String())
}

// TestLintLimits checks that lint of the root, or of the table of the rows, finds rows without
// effect.
func TestLintLimits(t *testing.T) {
	s := newSite(t)
	s.script("good", `return 1`)
	s.limit("suites.webserverScripts.good", "maxTime", 60)
	s.limit("suites.webserverScripts.gone", "maxTime", 60)
	const home = `user.webserver.limits.`
	s.put(home+`["suites.webserverScripts.good"].maxTimes`, objectdb.Number(1))
	s.put(home+`["suites.webserverScripts.good"].maxMemory`, objectdb.String("much"))
	s.put(home+`["suites..good"].maxTime`, objectdb.Number(1))
	s.put(home+`good`, objectdb.Number(1))
	want := []string{
		home + `good: it is a number: a row is a table of limits`,
		home + `["suites..good"]: its name is not an address:`,
		home + `["suites.webserverScripts.gone"]: there is no suites.webserverScripts.gone`,
		home + `["suites.webserverScripts.good"].maxMemory: it is a string, not a number`,
		home + `["suites.webserverScripts.good"].maxTimes: there is no such limit of a script`,
	}
	for _, a := range []objectdb.Address{nil, {"user"}, site.LimitRows} {
		l, err := s.g.runner.Lint(context.Background(), a)
		require.NoError(t, err)
		var got []string
		for _, f := range l.Findings {
			if f.Rule == "limit" {
				got = append(got, f.String())
			}
		}
		require.Len(t, got, len(want), "%s: %s", a, got)
		for i := range want {
			assert.Condition(t, func() bool {
				for _, g := range got {
					if strings.HasPrefix(g, want[i]) {
						return true
					}
				}
				return false
			}, "%s in %q", want[i], got)
		}
	}
	l, err := s.g.runner.Lint(context.Background(), objectdb.Address{"suites", "webserverScripts", "good"})
	require.NoError(t, err)
	assert.Empty(t, l.Findings)
}

func TestSetLimit(t *testing.T) {
	s := newSite(t)
	for _, c := range []struct {
		a     objectdb.Address
		value float64
		want  string
	}{
		{objectdb.Address{"user", "x"}, 0, "0 is not between 0.01 and 3600"},
		{objectdb.Address{strings.Repeat("long", 60), "and", strings.Repeat("long", 60)}, 1, "cannot be the name of a row"},
	} {
		err := s.db.Update(context.Background(),
			func(tx *objectdb.Tx) error { return site.SetLimit(tx, c.a, site.MaxTime, c.value) })
		assert.ErrorContains(t, err, c.want)
	}
	_, ok := site.FindLimit("maxSaves")
	assert.False(t, ok, "it bounds no request")
	_, err := os.Stat(filepath.Join("..", "root", "user", "webserver", "limits"))
	assert.NoError(t, err)
}
