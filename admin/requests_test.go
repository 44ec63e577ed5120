package admin

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/gateway"
	"scripter/objectdb"
	"scripter/requestlog"
)

// nasty is a text that is not to be read as HTML.
const nasty = `<script>alert(1)</script>"'&`

// visit sends a request to the site as a web server does, and returns its outcome.
func (s *testSite) visit(method, path, body string, params map[string]string) gateway.Outcome {
	s.t.Helper()
	script, query, _ := strings.Cut(path, "?")
	p := map[string]string{
		"REQUEST_METHOD": method, "SCRIPT_NAME": gateway.DecodePath(script), "QUERY_STRING": query, "REQUEST_URI": path,
		"SERVER_PROTOCOL": "HTTP/1.0", "SERVER_NAME": "localhost", "SERVER_PORT": "80", "REMOTE_ADDR": "192.0.2.7",
	}
	if body != "" {
		p["CONTENT_LENGTH"], p["CONTENT_TYPE"] = fmt.Sprint(len(body)), "application/x-www-form-urlencoded"
	}
	for name, value := range params {
		p[name] = value
	}
	return s.server.Gateway.Answer(context.Background(),
		&gateway.Request{Params: p, Form: gateway.NPH, Body: strings.NewReader(body)}, io.Discard)
}

// debugging returns a site that records requests, with a script at /x.fcgi.
func debuggingSite(t *testing.T, script string) *testSite {
	s := newSite(t)
	s.put("user.webserver.flDebug", objectdb.Boolean(true))
	s.put("suites.webserverScripts.x", objectdb.Script(script))
	return s
}

// TestRequests checks the list of recorded requests, its filters, and the way from an incident
// number to its request.
func TestRequests(t *testing.T) {
	s := debuggingSite(t, `local p = ... if p.searchTable.fail then error ("boom") end return "fine"`)
	ada := s.person("ada", "owner")
	assert.Contains(t, ada.get("requests").text(), text("requests.waiting"))
	s.visit("GET", "/x.fcgi?a=1", "", map[string]string{"REMOTE_USER": "eve", "AUTH_TYPE": "Basic"})
	failed := s.visit("GET", "/x.fcgi?fail=1&token=hush", "", nil)
	require.Equal(t, 500, failed.Status)
	require.NotEmpty(t, failed.Incident)
	s.visit("GET", "/x.fcgi?q="+url.QueryEscape(nasty), "", nil)

	page := ada.get("requests")
	require.Equal(t, 200, page.status, page.body)
	lacks(t, page.body, "<script>alert")
	lacks(t, page.body, "hush")
	assert.Contains(t, page.text(), "GET /x.fcgi?fail=1&token=(masked)")
	list := ada.json("requests")["requests"].([]any)
	require.Len(t, list, 3)
	first := list[0].(map[string]any)
	assert.EqualValues(t, 3, first["number"])
	assert.Equal(t, "GET", first["method"])
	assert.EqualValues(t, 200, first["status"])
	assert.Equal(t, "192.0.2.7", first["from"])

	numbers := func(query string) string {
		var list []string
		for _, r := range ada.json("requests?" + query)["requests"].([]any) {
			list = append(list, fmt.Sprint(r.(map[string]any)["number"]))
		}
		return strings.Join(list, " ")
	}
	for query, want := range map[string]string{
		"": "3 2 1", "text=FAIL": "2", "text=nothing+like+it": "", "status=5": "2", "status=2": "3 1", "status=none": "",
		"status=500": "2", "before=3": "2 1", "text=192.0.2": "3 2 1", "text=" + failed.Incident[:5]: "2", "before=x": "3 2 1",
	} {
		assert.Equal(t, want, numbers(query), query)
	}

	for _, path := range []string{"requests?incident=" + failed.Incident, "requests?text=" + strings.ToUpper(failed.Incident)} {
		answer := ada.get(path)
		assert.Equal(t, http.StatusSeeOther, answer.status)
		assert.Equal(t, "/scripter/requests/2", answer.header.Get("Location"))
	}
	assert.Equal(t, 200, ada.get("requests?part=list&text="+failed.Incident).status, "a part is no other page")
	answer := ada.get("requests?incident=22222222")
	assert.Equal(t, http.StatusNotFound, answer.status)
	assert.Contains(t, answer.text(), "id=22222222")
	assert.Equal(t, http.StatusBadRequest, ada.get("requests?incident=x").status)
	assert.Contains(t, ada.get("requests?text=settings").text(), "id=settings", "it may be an incident number")
}

// TestRequestsLive checks that the list which a page asks for again and again costs nothing while it is
// the same.
func TestRequestsLive(t *testing.T) {
	s := debuggingSite(t, `return "fine"`)
	ada := s.person("ada", "owner")
	s.visit("GET", "/x.fcgi", "", nil)
	part := ada.get("requests").attr("div", "data-live")
	require.NotEmpty(t, part)
	first := ada.get(part)
	require.Equal(t, 200, first.status)
	assert.True(t, strings.HasPrefix(first.body, "<div"), first.body)
	tag := first.header.Get("ETag")
	require.NotEmpty(t, tag)
	again := func() *answer { return ada.send("GET", part, nil, map[string]string{"If-None-Match": tag}) }
	assert.Equal(t, http.StatusNotModified, again().status)
	assert.Empty(t, again().body)
	s.visit("GET", "/x.fcgi", "", nil)
	assert.Equal(t, 200, again().status)
}

// TestDebugging checks that only an owner switches Debugging, and that the page says when it ends.
func TestDebugging(t *testing.T) {
	s := newSite(t)
	ada, eve := s.person("ada", "owner"), s.person("eve", "reader")
	for _, b := range []*browser{ada, eve} {
		assert.Contains(t, b.get("requests").text(), text("requests.none"))
	}
	assert.Equal(t, http.StatusForbidden, eve.post("requests", "do", "on").status)
	assert.Equal(t, http.StatusBadRequest, ada.post("requests", "do", "maybe").status)
	answer := ada.post("requests", "do", "on")
	require.Equal(t, http.StatusSeeOther, answer.status, answer.body)
	assert.Equal(t, objectdb.Boolean(true), s.get("user.webserver.flDebug"))
	state := ada.json("requests")["debugging"].(map[string]any)
	assert.Equal(t, true, state["on"])
	ends, err := time.Parse(time.RFC3339, state["ends"].(string))
	require.NoError(t, err)
	assert.WithinDuration(t, time.Now().Add(30*time.Minute), ends, time.Minute)
	assert.Contains(t, ada.get("requests").text(), ends.Format("15:04:05"))

	later := time.Now().Add(time.Hour)
	s.server.Now = func() time.Time { return later }
	assert.Equal(t, false, ada.json("requests")["debugging"].(map[string]any)["on"], "it has ended")
	s.server.Now = time.Now
	ada.post("requests", "do", "off")
	assert.Equal(t, objectdb.Boolean(false), s.get("user.webserver.flDebug"))
}

// TestDebuggingAgain checks that Debugging begins anew when it is switched on while the setting was
// still on, although its time was over.
func TestDebuggingAgain(t *testing.T) {
	s := newSite(t)
	ada := s.person("ada", "owner")
	s.put("user.webserver.debugMinutes", objectdb.Number(0.0001))
	s.put("user.webserver.flDebug", objectdb.Boolean(true))
	time.Sleep(20 * time.Millisecond)
	require.Equal(t, false, ada.json("requests")["debugging"].(map[string]any)["on"])
	s.put("user.webserver.debugMinutes", objectdb.Number(30))
	before := time.Now()
	ada.post("requests", "do", "on")
	state := ada.json("requests")["debugging"].(map[string]any)
	ends, err := time.Parse(time.RFC3339Nano, state["ends"].(string))
	require.NoError(t, err)
	assert.True(t, ends.After(before.Add(30*time.Minute-time.Second)), "%v", ends)
}

// TestRequest checks the page of a recorded request: everything that it sent and got, masked and escaped,
// the way to the failing line, and the change that it made.
func TestRequest(t *testing.T) {
	s := debuggingSite(t, "local p = ...\nif p.searchTable.fail then error (p.searchTable.fail) end\n"+
		"user.seen = p.argTable.name\nreturn p.argTable.name .. p.argTable.password")
	ada, eve := s.person("ada", "owner"), s.person("eve", "reader")
	fields := map[string]string{"HTTP_COOKIE": "sid=hushcookie; plain=" + nasty, "HTTP_X_NOTE": nasty, "HTTP_REFERER": "/?password=hushref"}
	form := url.Values{"name": {nasty}, "password": {"hushpassword"}}.Encode()
	require.Equal(t, 200, s.visit("POST", "/x.fcgi?token=hushtoken&a=1", form, fields).Status)
	failed := s.visit("GET", "/x.fcgi?fail="+url.QueryEscape(nasty), "", nil)
	require.Equal(t, 500, failed.Status)

	for _, b := range []*browser{ada, eve} {
		page := b.get("requests/1")
		require.Equal(t, 200, page.status, page.body)
		lacks(t, page.body, "<script>alert")
		lacks(t, page.body, "hush")
		text := page.text()
		for _, want := range []string{nasty, "X-Note", "token", "Request 1", "192.0.2.7", "HTTP/1.0 200 OK"} {
			assert.Contains(t, text, want)
		}
		data := b.json("requests/1")
		assert.Equal(t, []any{"HTTP_COOKIE", "field password", "field token"}, data["masked"])
		changes := data["changes"].([]any)
		require.Len(t, changes, 1)
		assert.Equal(t, "added user.seen", changes[0].(map[string]any)["summary"])
		link := fmt.Sprintf("/scripter/history/%v", changes[0].(map[string]any)["number"])
		assert.Contains(t, page.body, `href="`+link+`"`)

		page = b.get("requests/2")
		require.Equal(t, 200, page.status, page.body)
		lacks(t, page.body, "<script>alert")
		assert.Contains(t, page.text(), failed.Incident)
		assert.Contains(t, page.body, `href="/scripter/at/suites.webserverScripts.x#line-2"`)
	}
	for _, path := range []string{"requests/3", "requests/0", "requests/x", "requests/-1", "requests/99999999999999999999"} {
		assert.Equal(t, http.StatusNotFound, ada.get(path).status, path)
	}
}

// TestRequestSecrets checks that secrets which were recorded as they are are shown to nobody but an owner
// who asks for them.
func TestRequestSecrets(t *testing.T) {
	s := debuggingSite(t, `return "hushtoken"`)
	s.put("user.webserver.flDebugSecrets", objectdb.Boolean(true))
	ada, eve := s.person("ada", "owner"), s.person("eve", "author suites.webserverScripts")
	s.visit("POST", "/x.fcgi?token=hushtoken", "password=hushpassword", map[string]string{"HTTP_COOKIE": "sid=hushcookie"})
	for _, path := range []string{"requests", "requests/1", "requests/1?secrets=shown", "requests/1.json?secrets=shown"} {
		lacks(t, eve.get(path).body, "hush")
	}
	lacks(t, ada.get("requests/1").body, "hush")
	lacks(t, ada.get("requests").body, "hush")
	shown := ada.get("requests/1?secrets=shown").body
	for _, secret := range []string{"hushtoken", "hushpassword", "hushcookie"} {
		assert.Contains(t, shown, secret)
	}
	for _, do := range []string{"now", "compare", "recorded"} {
		answer := eve.post("requests/1", "do", do)
		assert.Equal(t, 200, answer.status, answer.body)
		lacks(t, strings.ReplaceAll(answer.body, "return &#34;hushtoken", ""), "hushp")
	}
}

// TestRequestReplay checks that a request is run again on today's root and on the root as it was, that
// nothing of it is kept unless an owner says so, and what differs.
func TestRequestReplay(t *testing.T) {
	s := debuggingSite(t, `local p = ... user.seen = p.argTable.name return "old " .. p.argTable.name .. " " .. (p.remoteUser or "")`)
	ada, eve, bob := s.person("ada", "owner"), s.person("eve", "author user"), s.person("bob", "reader")
	require.Equal(t, 200, s.visit("POST", "/x.fcgi", "name="+url.QueryEscape(nasty), nil).Status)
	s.put("user.seen", objectdb.String("today"))
	s.put("suites.webserverScripts.x", objectdb.Script(`local p = ... user.seen = "new" return "new " .. p.argTable.name`))

	outcomeOf := func(b *browser, fields ...string) map[string]any {
		t.Helper()
		form := url.Values{"csrf": {b.csrf}}
		for i := 0; i < len(fields); i += 2 {
			form.Add(fields[i], fields[i+1])
		}
		answer := b.send("POST", "requests/1", strings.NewReader(form.Encode()),
			map[string]string{"Content-Type": "application/x-www-form-urlencoded", "Accept": "application/json"})
		require.Equal(t, 200, answer.status, answer.body)
		return answer.json()["outcome"].(map[string]any)
	}
	ran := func(o map[string]any) map[string]any { return o["ran"].(map[string]any) }
	body := func(o map[string]any) any {
		return ran(o)["answer"].(map[string]any)["body"].(map[string]any)["text"]
	}
	for _, b := range []*browser{ada, eve} {
		o := outcomeOf(b, "do", "now")
		assert.Equal(t, "new "+nasty, body(o))
		assert.Equal(t, "user.seen", ran(o)["written"].([]any)[0].(map[string]any)["address"])
		assert.Equal(t, false, ran(o)["kept"])
		assert.Equal(t, "old "+nasty+" ", body(outcomeOf(b, "do", "then")))
		assert.Equal(t, "new ed", body(outcomeOf(b, "do", "now", "field.name", "ed")))
		d := outcomeOf(b, "do", "compare")["difference"].(map[string]any)
		assert.Equal(t, false, d["same"])
		assert.Len(t, d["body"], 2)
		assert.Len(t, d["written"], 2)
		d = outcomeOf(b, "do", "recorded")["difference"].(map[string]any)
		assert.Equal(t, []any{"-old " + nasty + " ", "+new " + nasty}, d["body"])

		page := b.post("requests/1", "do", "now")
		require.Equal(t, 200, page.status)
		lacks(t, page.body, "<script>alert")
		for _, do := range []string{"compare", "recorded", "then"} {
			lacks(t, b.post("requests/1", "do", do).body, "<script>alert")
		}
	}
	assert.Equal(t, objectdb.String("today"), s.get("user.seen"), "nothing was kept")

	for _, do := range []string{"now", "then", "compare", "recorded"} {
		assert.Equal(t, http.StatusForbidden, bob.post("requests/1", "do", do).status, do)
	}
	assert.Equal(t, http.StatusForbidden, eve.post("requests/1", "do", "now", "keep", "yes").status)
	assert.Equal(t, http.StatusForbidden, eve.post("requests/1", "do", "now", "variables", "REMOTE_USER=ada").status)
	assert.Equal(t, http.StatusBadRequest, ada.post("requests/1", "do", "now", "variables", "what").status)
	assert.Equal(t, http.StatusBadRequest, ada.post("requests/1", "do", "all").status)

	o := outcomeOf(ada, "do", "now", "keep", "yes")
	assert.Equal(t, true, ran(o)["kept"])
	assert.Equal(t, objectdb.String("new"), s.get("user.seen"))
	change := fmt.Sprintf("history/%v", ran(o)["change"])
	assert.Contains(t, ada.get(change).text(), "replay request 1")
	assert.Contains(t, ada.get(change).text(), "ada")

	s.put("suites.webserverScripts.x", objectdb.Script("local p = ...\nuser.seen = 'lost'\nerror (p.argTable.name)"))
	o = outcomeOf(ada, "do", "now", "keep", "yes")
	assert.Equal(t, false, ran(o)["kept"])
	assert.Contains(t, ran(o)["failure"].(map[string]any)["place"].(map[string]any)["text"], "suites.webserverScripts.x:3")
	page := ada.post("requests/1", "do", "now")
	lacks(t, page.body, "<script>alert")
	assert.Contains(t, page.body, `href="/scripter/at/suites.webserverScripts.x#line-3"`)
	assert.Equal(t, objectdb.String("new"), s.get("user.seen"))
}

// TestReplayPart checks that the script of the page gets the outcome alone.
func TestReplayPart(t *testing.T) {
	s := debuggingSite(t, `return "fine"`)
	ada := s.person("ada", "owner")
	s.visit("GET", "/x.fcgi", "", nil)
	form := url.Values{"csrf": {ada.csrf}, "do": {"now"}}
	answer := ada.send("POST", "requests/1", strings.NewReader(form.Encode()),
		map[string]string{"Content-Type": "application/x-www-form-urlencoded", "X-Part": "1"})
	assert.True(t, strings.HasPrefix(answer.body, "<section"), "%.100s", answer.body)
	assert.Contains(t, answer.body, "fine")
}

// TestReplayFiles checks that a recorded request, which a script can write, opens no file outside of the
// site that the web server has told.
func TestReplayFiles(t *testing.T) {
	s := debuggingSite(t, "")
	ada := s.person("ada", "owner")
	secret, pages := t.TempDir(), t.TempDir()
	for folder, content := range map[string]string{secret: "of another folder", pages: "of the site"} {
		require.NoError(t, os.WriteFile(filepath.Join(folder, "p.mcro"), []byte(content), 0o600))
	}
	s.visit("GET", "/p.mcro", "", map[string]string{"DOCUMENT_ROOT": secret, "PATH_TRANSLATED": filepath.Join(secret, "p.mcro"),
		"SCRIPT_FILENAME": filepath.Join(secret, "p.mcro")})
	answer := ada.post("requests/1", "do", "now")
	require.Equal(t, 200, answer.status, answer.body)
	assert.NotContains(t, answer.attrText("div", "outcome"), "of another folder")

	// The same through the gateway, which tells the web page the folder of the site.
	cookie := ""
	for _, k := range ada.client.Jar.Cookies(mustURL(t, s.url+"/scripter/")) {
		cookie += k.Name + "=" + k.Value + "; "
	}
	s.update(func(tx *objectdb.Tx) error { return tx.Delete(requestlog.Log.Child("000000001").Child("responseBody")) })
	replayed := func(folder string) string {
		s.update(func(tx *objectdb.Tx) error {
			var list objectdb.List
			for _, v := range []string{"REQUEST_METHOD=GET", "SCRIPT_NAME=/p.mcro", "SERVER_NAME=localhost", "SERVER_PORT=80",
				"SERVER_PROTOCOL=HTTP/1.0", "DOCUMENT_ROOT=" + folder} {
				list = append(list, objectdb.String(v))
			}
			return tx.Put(requestlog.Log.Child("000000001").Child("variables"), list)
		})
		form := url.Values{"csrf": {ada.csrf}, "do": {"now"}}.Encode()
		var b strings.Builder
		s.server.Gateway.Answer(context.Background(), &gateway.Request{Form: gateway.NPH, Body: strings.NewReader(form), Params: map[string]string{
			"REQUEST_METHOD": "POST", "SCRIPT_NAME": "/scripter/requests/1", "SERVER_PROTOCOL": "HTTP/1.0", "SERVER_NAME": "localhost",
			"SERVER_PORT": "80", "REMOTE_ADDR": "192.0.2.7", "DOCUMENT_ROOT": pages, "HTTP_COOKIE": cookie,
			"CONTENT_TYPE": "application/x-www-form-urlencoded", "CONTENT_LENGTH": fmt.Sprint(len(form)),
			"HTTP_HOST": strings.TrimPrefix(s.url, "http://"), "HTTP_ORIGIN": s.url,
		}}, &b)
		require.Contains(t, b.String(), text("ran.title"))
		return b.String()
	}
	assert.Contains(t, replayed(pages), "of the site")
	lacks(t, replayed(secret), "of another folder")
}

// TestSaveTest checks that a test is made of a request by those who may change the place.
func TestSaveTest(t *testing.T) {
	s := debuggingSite(t, `return "fine"`)
	ada, eve, bob := s.person("ada", "owner"), s.person("eve", "author suites.tests"), s.person("bob", "author pages")
	s.visit("GET", "/x.fcgi?password=hush", "", nil)
	assert.Equal(t, "testX1", ada.get("requests/1").attr2("input", "name", "name", "value"))
	answer := ada.post("requests/1", "do", "test", "name", "testX1")
	require.Equal(t, http.StatusSeeOther, answer.status, answer.body)
	source := string(s.get("suites.tests.testX1").(objectdb.Script))
	assert.Contains(t, source, `expect.equal (answer.body, "fine")`)
	lacks(t, source, "hush")
	page := ada.get(answer.header.Get("Location"))
	assert.Contains(t, page.body, `href="/scripter/at/suites.tests.testX1"`)
	assert.Contains(t, page.text(), "scripter test suites.tests.testX1")

	assert.Equal(t, http.StatusConflict, ada.post("requests/1", "do", "test", "name", "testX1").status)
	assert.Equal(t, http.StatusBadRequest, ada.post("requests/1", "do", "test", "name", "user.notest").status)
	assert.Equal(t, http.StatusBadRequest, ada.post("requests/1", "do", "test", "name", "").status)
	assert.Equal(t, http.StatusSeeOther, eve.post("requests/1", "do", "test", "name", "mine").status)
	assert.Equal(t, http.StatusForbidden, bob.post("requests/1", "do", "test", "name", "his").status)
	assert.Equal(t, 200, ada.get("requests/1?test="+url.QueryEscape(nasty)).status)
	lacks(t, ada.get("requests/1?test=user.webserver").text(), "user.webserver")
}

// TestDamagedRequest checks the pages of recorded requests that scripts have written: cells of odd kinds
// and values, huge texts.
func TestDamagedRequest(t *testing.T) {
	s := debuggingSite(t, `return "fine"`)
	ada := s.person("ada", "owner")
	for range 3 {
		s.visit("GET", "/x.fcgi", "", nil)
	}
	huge := strings.Repeat(nasty+"\n", 100_000)
	s.update(func(tx *objectdb.Tx) error {
		one, two := requestlog.Log.Child("000000001"), requestlog.Log.Child("000000002")
		many := objectdb.List{objectdb.Number(1), objectdb.String("x"), objectdb.String("REQUEST_URI=" + huge), objectdb.String("HTTP_=")}
		for i := range 2000 {
			many = append(many, objectdb.String(fmt.Sprintf("HTTP_%s%d=%s", nasty, i, nasty)))
		}
		for name, v := range map[string]objectdb.Value{
			"generation": objectdb.Number(1e300), "status": objectdb.Number(-1e300), "milliseconds": objectdb.Number(1e300),
			"variables": many, "body": objectdb.String(huge), "responseBody": objectdb.String(huge), "error": objectdb.String(huge),
			"responseHead": objectdb.String(huge), "masked": objectdb.Boolean(true), "incident": objectdb.String(nasty),
			"cut": objectdb.List{objectdb.String(nasty)}, "secrets": objectdb.Boolean(true), "connectionID": objectdb.Number(-1),
		} {
			if err := tx.Put(one.Child(name), v); err != nil {
				return err
			}
		}
		for _, name := range []string{"time", "variables", "body", "status", "responseHead", "seed"} {
			if err := tx.Delete(two.Child(name)); err != nil {
				return err
			}
			if err := tx.NewTable(two.Child(name)); err != nil {
				return err
			}
		}
		return tx.Delete(requestlog.Log.Child("000000003").Child("request"))
	})
	for _, path := range []string{"requests", "requests/1", "requests/2", "requests/3", "requests/1?secrets=shown"} {
		page := ada.get(path)
		assert.Equal(t, 200, page.status, "%s: %.300s", path, page.body)
		lacks(t, page.body, "<script>alert")
		assert.Less(t, len(page.body), 6<<20, path)
		ada.json(path)
	}
	for _, do := range []string{"now", "then", "compare", "recorded", "test"} {
		for _, n := range []string{"1", "2"} {
			answer := ada.post("requests/"+n, "do", do, "name", "test"+n)
			assert.NotEqual(t, http.StatusInternalServerError, answer.status, "%s %s", do, n)
			if answer.doc != nil {
				lacks(t, answer.body, "<script>alert")
			}
		}
	}
}

// TestRequestsInThePast checks that recorded requests, which have no history, are shown while somebody looks
// at the past, and that nothing can be run then.
func TestRequestsInThePast(t *testing.T) {
	s := debuggingSite(t, `return "fine"`)
	ada := s.person("ada", "owner")
	s.visit("GET", "/x.fcgi", "", nil)
	var at int64
	require.NoError(t, s.db.View(context.Background(), func(tx *objectdb.Tx) error { at = tx.Generation(); return nil }))
	page := ada.get(fmt.Sprintf("requests?at=%d", at))
	require.Equal(t, 200, page.status)
	assert.Contains(t, page.text(), text("requests.past"))
	assert.Equal(t, 200, ada.get(fmt.Sprintf("requests/1?at=%d", at)).status)
	assert.Equal(t, http.StatusConflict, ada.post(fmt.Sprintf("requests/1?at=%d", at), "do", "now").status)
	assert.Equal(t, http.StatusConflict, ada.post(fmt.Sprintf("requests?at=%d", at), "do", "off").status)
}

func mustURL(t *testing.T, s string) *url.URL {
	u, err := url.Parse(s)
	require.NoError(t, err)
	return u
}

// attrText returns the text of the element with an id.
func (a *answer) attrText(name, id string) string {
	for _, n := range a.find(name, "id") {
		if attributeOf(n, "id") == id {
			return textOf(n)
		}
	}
	return ""
}

// attr2 returns an attribute of the element whose other attribute has a value.
func (a *answer) attr2(element, name, value, wanted string) string {
	for _, n := range a.find(element, name) {
		if attributeOf(n, name) == value {
			return attributeOf(n, wanted)
		}
	}
	return ""
}
