package admin

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
	"scripter/requestlog"
	"scripter/site"
)

// ranOf returns what a run has done, by its JSON form.
func ranOf(t *testing.T, b *browser, path string, fields ...string) map[string]any {
	t.Helper()
	form := url.Values{"csrf": {b.csrf}}
	for i := 0; i+1 < len(fields); i += 2 {
		form.Add(fields[i], fields[i+1])
	}
	a := b.send(http.MethodPost, path, strings.NewReader(form.Encode()),
		map[string]string{"Content-Type": "application/x-www-form-urlencoded", "Accept": "application/json"})
	require.Equal(t, http.StatusOK, a.status, a.body)
	m, ok := a.json()["ran"].(map[string]any)
	require.True(t, ok, a.body)
	return m
}

func TestRunWithArguments(t *testing.T) {
	s := newSite(t)
	ada := s.person("ada", "owner")
	s.put("user.greet", objectdb.Script("local name, count = ...\nwrite ('to ')\nuser.greeted = name\nreturn name .. count"))
	a := ada.get("run/user.greet")
	assert.Contains(t, a.text(), "name count The script gets them as texts.")
	assert.Contains(t, ada.get("at/user.greet").body, `href="/scripter/run/user.greet"`)

	a = ada.post("run/user.greet", "arg", "Ada", "arg", "3")
	assert.Equal(t, http.StatusOK, a.status)
	assert.Contains(t, a.text(), "nothing kept")
	assert.Contains(t, a.text(), "to Ada3")
	assert.Contains(t, a.text(), "added user.greeted, string, 3 bytes")
	assert.Nil(t, s.get("user.greeted"), "it was thrown away")
	lacks(t, a.body, `href="/scripter/at/user.greeted"`)

	m := ranOf(t, ada, "run/user.greet", "arg", "Eve", "arg", "1", "keep", "yes")
	assert.Equal(t, true, m["kept"])
	assert.Equal(t, objectdb.String("Eve"), s.get("user.greeted"))
	assert.Positive(t, m["instructions"])
	change := m["change"].(float64)
	h := ada.json(fmt.Sprintf("history/%v", change))
	assert.Equal(t, "ada", h["who"])
	assert.Equal(t, "web page run user.greet", h["what"])
	assert.Equal(t, http.StatusSeeOther, ada.post(fmt.Sprintf("history/%v", change), "do", "undo").status)
	assert.Nil(t, s.get("user.greeted"), "it was undone")

	s.put("user.greeted", objectdb.String("Bob"))
	m = ranOf(t, ada, "run/user.greet", "arg", "Eve", "arg", "1")
	assert.Equal(t, "-Bob\n+Eve\n", m["written"].([]any)[0].(map[string]any)["diff"])

	assert.Equal(t, http.StatusBadRequest, ada.get("run/user.webserver").status, "a table")
	assert.Equal(t, http.StatusNotFound, ada.get("run/user.none").status)
}

func TestRunFails(t *testing.T) {
	s := newSite(t)
	ada := s.person("ada", "owner")
	s.put("user.inner", objectdb.Script("local x = ...\n\nscratchpad.left = 1\nwrite ('so far')\nreturn x.y.z"))
	s.put("user.outer", objectdb.Script("-- <b>calls</b>\nlocal v = user.inner ({})\nreturn v"))
	a := ada.post("run/user.outer")
	assert.Equal(t, http.StatusOK, a.status)
	var links []string
	for _, n := range a.find("a", "href") {
		if href := attributeOf(n, "href"); strings.Contains(href, "#line-") {
			links = append(links, href+" "+textOf(n))
		}
	}
	assert.Equal(t, []string{
		"/scripter/at/user.inner#line-5 user.inner:5",
		"/scripter/at/user.inner#line-5 user.inner:5 in inner", "/scripter/at/user.outer#line-2 user.outer:2",
	}, links)
	assert.Contains(t, a.text(), "attempt to index field 'y'")
	assert.Contains(t, a.text(), "so far")
	assert.Nil(t, s.get("scratchpad.left"))

	m := ranOf(t, ada, "run/user.outer", "keep", "yes")
	failure := m["failure"].(map[string]any)
	assert.Equal(t, "user.inner", failure["place"].(map[string]any)["address"])
	assert.Equal(t, 5.0, failure["place"].(map[string]any)["line"])
	assert.Equal(t, false, m["kept"])
	assert.Nil(t, s.get("scratchpad.left"))

	s.put("user.wrong", objectdb.Script("return 1 +"))
	m = ranOf(t, ada, "run/user.wrong")
	assert.Equal(t, 1.0, m["failure"].(map[string]any)["place"].(map[string]any)["line"])
}

func TestRunAsTyped(t *testing.T) {
	s := newSite(t)
	ada := s.person("ada", "owner")
	s.put("suites.webserverScripts.tea", objectdb.Script("return 'stored'"))
	m := ranOf(t, ada, "run/suites.webserverScripts.tea", "as", "arguments", "source", "return 'typed ' .. (...)", "arg", "now")
	assert.Empty(t, m["written"], "the typed script itself is not listed")
	assert.Equal(t, "typed now", m["output"].(map[string]any)["text"])
	m = ranOf(t, ada, "run/suites.webserverScripts.tea", "do", "typed", "value", "return 'from the editor'")
	assert.Equal(t, "from the editor", m["answer"].(map[string]any)["body"].(map[string]any)["text"], "the script answers requests")
	m = ranOf(t, ada, "run/suites.webserverScripts.tea", "as", "request", "url", "/tea.fcgi", "source", "return 'typed request'")
	assert.Equal(t, "typed request", m["answer"].(map[string]any)["body"].(map[string]any)["text"])
	assert.Equal(t, objectdb.Script("return 'stored'"), s.get("suites.webserverScripts.tea"))
	a := ada.post("run/suites.webserverScripts.tea", "source", "return 1", "keep", "yes")
	assert.Equal(t, http.StatusBadRequest, a.status)
	a = ada.post("run/suites.webserverScripts.tea", "source", "return 1 1")
	assert.Contains(t, a.text(), "suites.webserverScripts.tea:1")
	assert.Equal(t, "return 1 1", strings.TrimSpace(textOf(a.find("textarea", "name")[0])))
}

func TestRunAsRequest(t *testing.T) {
	s := newSite(t)
	ada := s.person("ada", "owner")
	s.put("suites.webserverScripts.tea", objectdb.Script(`
local p = ...
user.asked = p.method .. p.argTable.who
return {status = 201, headers = {["X-Tea"] = p.headers["x-want"] or "none", ["Content-Type"] = "text/html"}, body = "<p>Tea <script>alert(1)</script>"}`))
	a := ada.get("run/suites.webserverScripts.tea?as=request")
	assert.Contains(t, a.body, `value="/tea.fcgi"`)
	post := []string{"as", "request", "method", "POST", "url", "/tea.fcgi", "header", "X-Want: green\r\nX-Other: a", "body", "who=two"}
	a = ada.post("run/suites.webserverScripts.tea", post...)
	assert.Contains(t, a.text(), "201 Created")
	assert.Contains(t, a.text(), "X-Tea: green")
	assert.Contains(t, a.text(), "<p>Tea <script>alert(1)</script>")
	lacks(t, a.body, "<script>alert")
	shown := ""
	for _, n := range a.find("textarea", "name") {
		if attributeOf(n, "name") == "html" {
			shown = textOf(n)
		}
	}
	assert.Equal(t, "<p>Tea <script>alert(1)</script>", shown)
	preview := ada.post("run-preview", "html", shown)
	assert.Contains(t, preview.body, shown)
	assert.Contains(t, preview.header.Get("Content-Security-Policy"), "sandbox; default-src 'none'; img-src data: 'self'; style-src")
	assert.NotContains(t, preview.header.Get("Content-Security-Policy"), "script")
	assert.NotContains(t, preview.header.Get("Content-Security-Policy"), "allow-")
	assert.Nil(t, s.get("user.asked"))
	m := ranOf(t, ada, "run/suites.webserverScripts.tea", append(post, "keep", "yes")...)
	assert.Equal(t, objectdb.String("POSTtwo"), s.get("user.asked"))
	assert.Equal(t, "web page run POST /tea.fcgi", ada.json(fmt.Sprintf("history/%v", m["change"]))["what"])

	m = ranOf(t, ada, "run/suites.webserverScripts.tea", "as", "request", "url", "/tea.fcgi")
	assert.Equal(t, 500.0, m["answer"].(map[string]any)["status"])
	assert.Contains(t, m["failure"].(map[string]any)["message"], "nil value")
	assert.Contains(t, m["log"].([]any)[0], "ERROR script failed")
	m = ranOf(t, ada, "run/suites.webserverScripts.tea", "as", "request", "url", "/none.fcgi")
	assert.Equal(t, 404.0, m["answer"].(map[string]any)["status"])
}

func TestRunRefusesBadRequests(t *testing.T) {
	s := newSite(t)
	ada := s.person("ada", "owner")
	s.put("suites.webserverScripts.tea", objectdb.Script(`return "tea"`))
	for _, bad := range [][]string{
		{"url", "tea.fcgi"}, {"url", "http://evil.example/"}, {"url", "/tea.fcgi x"}, {"url", "/tea\r\nX: y"},
		{"url", "/tea.fcgi", "method", "TRACE"}, {"url", "/tea.fcgi", "method", "GET / HTTP/1.1\r\nX: y"},
		{"url", "/tea.fcgi", "header", "no colon"}, {"url", "/tea.fcgi", "header", "X-A: a\x00b"}, {"url", "/tea.fcgi", "header", "X A: b"},
		{"url", "/tea.fcgi", "header", "X-A: a\rX-B: b"},
	} {
		a := ada.post("run/suites.webserverScripts.tea", append([]string{"as", "request"}, bad...)...)
		assert.Equal(t, http.StatusBadRequest, a.status, "%q", bad)
	}
	s.put("suites.webserverScripts.tea", objectdb.Script(`return {headers = {["X-A"] = "a\r\nX-Evil: b"}, body = "x"}`))
	a := ada.post("run/suites.webserverScripts.tea", "as", "request", "url", "/tea.fcgi")
	assert.Contains(t, a.text(), "500")
	assert.Empty(t, a.header.Get("X-Evil"))
	s.put("suites.webserverScripts.tea", objectdb.Script(`local p = ... return p.cgi.REMOTE_USER or "nobody"`))
	m := ranOf(t, ada, "run/suites.webserverScripts.tea", "as", "request", "url", "/tea.fcgi", "header", "Remote-User: root")
	assert.Equal(t, "nobody", m["answer"].(map[string]any)["body"].(map[string]any)["text"])
}

func TestRunWithKeptRequest(t *testing.T) {
	s := newSite(t)
	ada := s.person("ada", "owner")
	bob := s.person("bob", "author suites.webserverScripts")
	s.put("suites.webserverScripts.tea", objectdb.Script(`local p = ... scratchpad.n = 1 return "Tea for " .. p.searchTable.who`))
	s.update(func(tx *objectdb.Tx) error {
		r := &requestlog.Request{Time: time.Now(), Variables: map[string]string{
			"REQUEST_METHOD": "GET", "SCRIPT_NAME": "/tea.fcgi", "QUERY_STRING": "who=<b>&password=hush",
		}}
		return r.Add(tx, 10)
	})
	a := ada.get("run/suites.webserverScripts.tea?as=kept")
	assert.Contains(t, a.text(), "GET /tea.fcgi?who=<b>")
	lacks(t, a.body, "hush")
	m := ranOf(t, ada, "run/suites.webserverScripts.tea", "as", "kept", "request", "1")
	assert.Equal(t, "Tea for <b>", m["answer"].(map[string]any)["body"].(map[string]any)["text"])
	assert.Equal(t, http.StatusNotFound, ada.post("run/suites.webserverScripts.tea", "as", "kept", "request", "9").status)
	assert.Equal(t, http.StatusBadRequest, ada.post("run/suites.webserverScripts.tea", "as", "kept").status)
	assert.Equal(t, http.StatusOK, bob.post("run/suites.webserverScripts.tea", "as", "kept", "request", "1").status)
	assert.Equal(t, http.StatusForbidden, bob.post("run/suites.webserverScripts.tea", "as", "kept", "request", "1", "keep", "yes").status)
	assert.Nil(t, s.get("scratchpad.n"))
}

func TestWhoMayRun(t *testing.T) {
	s := newSite(t)
	s.person("ada", "owner")
	bob, rita := s.person("bob", "author suites.webserverScripts.bobs"), s.person("rita", "reader")
	const writes = `scratchpad.ran = 1 return "done"`
	s.put("suites.webserverScripts.bobs.own", objectdb.Script(writes))
	s.put("suites.webserverScripts.other", objectdb.Script(writes))
	for _, p := range []string{"run/suites.webserverScripts.bobs.own", "run/suites.webserverScripts.other"} {
		assert.Contains(t, rita.get(p).text(), "Readers may not run scripts")
		for _, fields := range [][]string{nil, {"keep", "yes"}, {"as", "request", "url", "/other.fcgi"}, {"as", "kept", "request", "1"}, {"source", writes}} {
			assert.Equal(t, http.StatusForbidden, rita.post(p, fields...).status)
		}
	}
	assert.Equal(t, http.StatusForbidden, rita.post("run-preview", "html", "<p>").status)
	own, other := "run/suites.webserverScripts.bobs.own", "run/suites.webserverScripts.other"
	assert.Equal(t, http.StatusOK, bob.post(other).status)
	for _, forbidden := range [][]string{
		{other, "keep", "yes"}, {other, "source", writes}, {own, "as", "request", "url", "/other.fcgi", "keep", "yes"},
		{own, "as", "request", "url", "/other.fcgi?/bobs.own.fcgi", "keep", "yes"}, {own, "as", "request", "url", "/bobs.own.fcgi/../other.fcgi", "keep", "yes"},
	} {
		assert.Equal(t, http.StatusForbidden, bob.post(forbidden[0], forbidden[1:]...).status, "%v", forbidden)
	}
	assert.Equal(t, http.StatusForbidden, bob.get("console").status)
	assert.Equal(t, http.StatusForbidden, bob.post("console", "lua", "return 1").status)
	assert.Nil(t, s.get("scratchpad.ran"))
	assert.Equal(t, http.StatusOK, bob.post(own, "as", "request", "url", "/bobs.own.fcgi?x=1", "keep", "yes").status)
	assert.NotNil(t, s.get("scratchpad.ran"))

	token := bob.csrf
	bob.csrf = "wrong"
	assert.Equal(t, http.StatusForbidden, bob.post(own).status)
	bob.csrf = token
}

func TestRunStopsAtLimits(t *testing.T) {
	s := newSite(t)
	ada := s.person("ada", "owner")
	s.put("user.loop", objectdb.Script("scratchpad.left = 1\nwhile true do end"))
	s.put("user.webserver.maxTime", objectdb.Number(0.2))
	a := ada.post("run/user.loop")
	assert.Equal(t, http.StatusOK, a.status)
	assert.Contains(t, a.text(), "time limit of 200ms exceeded")
	assert.Contains(t, a.body, `href="/scripter/at/user.webserver.maxTime"`)
	s.put(`user.webserver.limits.["user.loop"].maxInstructions`, objectdb.Number(0.01))
	m := ranOf(t, ada, "run/user.loop", "keep", "yes")
	assert.Equal(t, `user.webserver.limits.["user.loop"].maxInstructions`, m["failure"].(map[string]any)["limit"].(map[string]any)["address"])
	assert.GreaterOrEqual(t, m["instructions"], 10000.0)
	s.put("user.webserver.maxTime", objectdb.Number(10))
	s.put("suites.webserverScripts.fat", objectdb.Script("local t = {} for i = 1, 1e7 do t[i] = 'x' .. i end"))
	s.put("user.webserver.maxMemory", objectdb.Number(8))
	m = ranOf(t, ada, "run/suites.webserverScripts.fat", "as", "request", "url", "/fat.fcgi")
	assert.Equal(t, "maxMemory", m["failure"].(map[string]any)["limit"].(map[string]any)["setting"])
	assert.Nil(t, s.get("scratchpad.left"))
}

func TestRunIsBounded(t *testing.T) {
	s := newSite(t)
	ada := s.person("ada", "owner")
	s.put("user.much", objectdb.Script(`for i = 1, 10000 do scratchpad["n" .. i] = i end
scratchpad.long = string.rep ("x\n", 1e6)
for i = 1, 400 do write (string.rep ("y", 1e4)) end
return "\0"`))
	began := time.Now()
	a := ada.post("run/user.much")
	assert.Less(t, time.Since(began), 30*time.Second)
	assert.Less(t, len(a.body), 1<<20)
	assert.Contains(t, a.text(), fmt.Sprintf("%d more objects are not shown", 10001-ranObjects))
	s.put("suites.webserverScripts.much", objectdb.Script(`return string.rep ("<p>", 3e6)`))
	a = ada.post("run/suites.webserverScripts.much", "as", "request", "url", "/much.fcgi")
	assert.Less(t, len(a.body), 3<<20)
	assert.Contains(t, a.text(), "This is the beginning of 9.0 MB")
	s.put("suites.webserverScripts.much", objectdb.Script(`return {headers = {["Content-Type"] = "image/png"}, body = "\137PNG\0\255"}`))
	assert.Contains(t, ada.post("run/suites.webserverScripts.much", "as", "request", "url", "/much.fcgi").text(), "6 B of binary data")
}

func TestRunEscapes(t *testing.T) {
	s := newSite(t)
	ada := s.person("ada", "owner")
	const evil = `<script>alert(1)</script>"'&`
	s.update(func(tx *objectdb.Tx) error {
		return tx.Put(objectdb.Address{"user", evil}, objectdb.Script(`local a = ... write (a) scratchpad [a] = a error (a)`))
	})
	path := "run?address=" + url.QueryEscape(objectdb.Address{"user", evil}.String())
	for _, a := range []*answer{ada.get(path), ada.post(path, "arg", evil)} {
		assert.Equal(t, http.StatusOK, a.status)
		lacks(t, a.body, "<script>alert")
		assert.Contains(t, a.text(), evil)
	}
	s.put("user.fine", objectdb.Script(`local a = ... scratchpad [a] = a return a`))
	a := ada.post("run/user.fine", "arg", evil)
	lacks(t, a.body, "<script>alert")
	assert.Contains(t, a.text(), evil)
	a = ada.post("console", "lua", "return {x = '"+strings.ReplaceAll(evil, "'", "")+"'}, '</textarea><script>alert(1)</script>'")
	lacks(t, a.body, "<script>alert")
	assert.Contains(t, a.text(), "</textarea><script>alert(1)</script>")
}

func TestRunPart(t *testing.T) {
	s := newSite(t)
	ada := s.person("ada", "owner")
	s.put("user.a", objectdb.Script("return 'out'"))
	part := func(form string) *answer {
		return ada.send(http.MethodPost, "run/user.a", strings.NewReader("csrf="+ada.csrf+"&"+form),
			map[string]string{"Content-Type": "application/x-www-form-urlencoded", "X-Part": "1"})
	}
	a := part("")
	assert.Contains(t, a.body, "out")
	lacks(t, a.body, "<nav")
	a = part("as=request&url=x")
	assert.Equal(t, http.StatusBadRequest, a.status)
	lacks(t, a.body, "<nav")
}

// TestRunSendsAPart checks that a dry run keeps nothing of what sendPartial would commit, and that the page
// says what was kept of a run that fails after it.
func TestRunSendsAPart(t *testing.T) {
	s := newSite(t)
	ada := s.person("ada", "owner")
	s.put("suites.webserverScripts.parts", objectdb.Script(`user.first = 1 webserver.sendPartial ("one") user.second = 2 error ("late")`))
	m := ranOf(t, ada, "run/suites.webserverScripts.parts")
	assert.Contains(t, m["failure"].(map[string]any)["message"], "late")
	assert.Nil(t, m["sent"])
	assert.Nil(t, s.get("user.first"))
	m = ranOf(t, ada, "run/suites.webserverScripts.parts", "keep", "yes")
	assert.Equal(t, true, m["sent"])
	assert.Equal(t, true, m["answer"].(map[string]any)["broken"])
	assert.Positive(t, m["change"])
	assert.Equal(t, objectdb.Number(1), s.get("user.first"))
	assert.Nil(t, s.get("user.second"))
}

func TestRunInThePast(t *testing.T) {
	s := newSite(t)
	ada := s.person("ada", "owner")
	s.put("user.a", objectdb.Script("scratchpad.x = 1 return 'then'"))
	var then int64
	require.NoError(t, s.db.View(context.Background(), func(tx *objectdb.Tx) error { then = tx.Generation(); return nil }))
	s.put("user.a", objectdb.Script("return 'now'"))
	m := ranOf(t, ada, fmt.Sprintf("run/user.a?at=%d", then))
	assert.Equal(t, "then", m["output"].(map[string]any)["text"])
	assert.Equal(t, http.StatusConflict, ada.post(fmt.Sprintf("run/user.a?at=%d", then), "keep", "yes").status)
	m = ranOf(t, ada, fmt.Sprintf("console?at=%d", then), "lua", "return user.a ()")
	assert.Equal(t, "then", m["values"].([]any)[0].(map[string]any)["text"].(map[string]any)["text"])
	assert.Nil(t, s.get("scratchpad.x"))
}

// TestRunEndsWithTheClient checks that a run ends when nobody waits for its page any more.
func TestRunEndsWithTheClient(t *testing.T) {
	s := newSite(t)
	ada := s.person("ada", "owner")
	s.put("user.loop", objectdb.Script("while true do end"))
	s.put(site.MaxTime.Address().String(), objectdb.Number(600))
	s.put(site.MaxInstructions.Address().String(), objectdb.Number(1<<20))
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url+"/scripter/run/user.loop", strings.NewReader("csrf="+ada.csrf))
	require.NoError(t, err)
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	_, err = ada.client.Do(r)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	assert.Eventually(t, func() bool { return len(s.server.runs) == 0 }, 5*time.Second, 10*time.Millisecond)
}

func TestConsole(t *testing.T) {
	s := newSite(t)
	ada := s.person("ada", "owner")
	m := ranOf(t, ada, "console", "lua", "write ('w') scratchpad.n = 3 return scratchpad.n + 1, nil, {a = {1, 2}}")
	assert.Equal(t, "w", m["output"].(map[string]any)["text"])
	values := m["values"].([]any)
	require.Len(t, values, 3)
	assert.Equal(t, 4.0, values[0].(map[string]any)["json"])
	assert.Equal(t, "nil", values[1].(map[string]any)["text"].(map[string]any)["text"])
	assert.Equal(t, map[string]any{"a": []any{1.0, 2.0}}, values[2].(map[string]any)["json"])
	assert.Nil(t, s.get("scratchpad.n"))
	m = ranOf(t, ada, "console", "lua", "user.n = 3", "keep", "yes")
	assert.Equal(t, objectdb.Number(3), s.get("user.n"))
	assert.Positive(t, m["change"])

	a := ada.post("console", "lua", "return\n  x.y", "earlier", "return 1", "earlier", "return 2")
	assert.Contains(t, a.text(), "typed:2")
	var earlier []string
	for _, n := range a.find("input", "value") {
		if attributeOf(n, "name") == "earlier" {
			earlier = append(earlier, attributeOf(n, "value"))
		}
	}
	assert.Equal(t, []string{"return\n  x.y", "return 1", "return 2"}, earlier)
	a = ada.post("console", "again", "return 1", "earlier", "return 1")
	assert.Equal(t, "return 1", textOf(a.find("textarea", "name")[0]))
	assert.Equal(t, http.StatusBadRequest, ada.post("console", "lua", " ").status)
}
