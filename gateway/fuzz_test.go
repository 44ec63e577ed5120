package gateway

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/httpform"
	"scripter/objectdb"
	"scripter/requestlog"
	"scripter/runner"
	"scripter/script"
	"scripter/site"
)

// FuzzFields passes any text to what reads single fields: cookies, authorization, host, length,
// path, the head of the request.
func FuzzFields(f *testing.F) {
	for _, s := range []string{
		`a=1; b="two"; c=x=y; a=3; ; d; =e`, "Basic QWRhOnNlY3JldCB3b3Jk", "Basic =", "localhost:8080",
		"[::1]:80", "localhost?", "5", "-1", "+5",
		"100000000000000000000", "/a%2fb%zz%", "http://host/x?y", "/x.fcgi$y%24z", "GET / HTTP/1.0",
		"password=hush&a=b", "%70ass=x",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		parseCookies(s).Each(func(k, v script.Value) bool {
			require.Equal(t, strings.TrimSpace(k.(string)), k)
			require.NotContains(t, k.(string)+v.(string), ";")
			return true
		})
		if user, password := basicAuth(s); user != "" || password != "" {
			require.NotContains(t, user, ":")
		}
		if site.IsHost(s) {
			require.LessOrEqual(t, len(s), 300)
			require.NotContains(t, s, "/")
			require.False(t, strings.ContainsAny(s, "\r\n\x00 <>\"'?#@%"), "%q", s)
		}
		if n, err := contentLength(map[string]string{"CONTENT_LENGTH": s}); err == nil {
			require.GreaterOrEqual(t, n, int64(-1))
		}
		require.LessOrEqual(t, len(DecodePath(s)), len(s))
		requestPath(s)
		requestlog.MaskForm(s)
		r := &Request{Params: map[string]string{"REQUEST_URI": s, "HTTP_X": s, "HTTP_COOKIE": s,
			"QUERY_STRING": s, "REQUEST_METHOD": s}}
		require.LessOrEqual(t, len(r.fullRequest()), fullRequestLimit)
		r.LogPath()
		new(requestlog.Mask).Variables(r.Params)
		r.Params["REQUEST_URI"] = "/x?password=" + s
		shown, _, _ := strings.Cut(r.LogPath(), "&")
		require.Equal(t, "/x?password="+requestlog.Masked, shown, "a secret of the query is not logged")
	})
}

// FuzzVerbs passes any two texts to the verbs that read texts. Each verb must end soon, with a
// result or an error that a script can catch. What is encoded and decoded must be the same.
func FuzzVerbs(f *testing.F) {
	for _, s := range [][2]string{
		{`{"a": [1, null, "\u00e9"], "b": -1.5e3}`, "none"}, {"[[[[", "%"}, {"2026-01-31T18:30:00Z", "%d %B %Y, %H:%M"},
		{"Sun, 06 Nov 1994 08:49:37 GMT", "Europe/Paris"}, {"YWJj", "="}, {"a=1&b=%41+c", "&"}, {"<p>&amp;&#65;&lt;", ";"},
		{"X: y\r\n z\r\nA: b\r\n\r\nbody", ":"}, {"a,b,,c", ","}, {"$argon2id$v=19$m=256,t=2,p=1$c29tZXNhbHQ$nf65", "x"},
		{"http://host/a/b.html?c", "/"}, {"12345678.9", "é"}, {"<!--#method--><!--#raw (\"", "-->"},
		{"<a x='1'>t<b/>&lt;<![CDATA[x]]></a>", "b"}, {"a;b\n1;\"2\"\n", ";"}, {"31.1.2026 9:05 PM", "%d.%m.%Y %I:%M %p"},
		{"# *a* [b](c \"d\")\n\n|a|\n|-|\n> - 1. <b>", "tables"}, {"<feed><entry><title>a</title></entry></feed>", "x"},
	} {
		f.Add(s[0], s[1])
	}
	const source = `
local a, b = ...
local function try (f, ...)
	local ok, v = pcall (f, ...)
	return ok and v or nil
end
local v = try (json.decode, a, b)
if type (v) == "table" and try (json.encode, v) then
	assert (json.encode (json.decode (json.encode (v))) == json.encode (v), "json")
end
assert (base64.decode (base64.encode (a)) == a, "base64")
assert (url.decode (url.encode (a)) == a, "url")
local t = text.split (a, b ~= "" and b or ",")
assert (table.concat (t, b ~= "" and b or ",") == a, "split")
local rows = try (csv.parse, a, {separator = b})
if rows and not a:find "\r" then
	assert (csv.format (csv.parse (csv.format (rows))) == csv.format (rows), "csv")
end
local doc = try (xml.parse, a)
if doc then
	local text = xml.build (doc)
	assert (xml.build (xml.parse (text)) == text, "xml")
	try (xml.find, doc, b)
end
try (feed.parse, a) try (uuid.parse, a) try (qr.svg, a)
local page = try (markdown.html, a, {tables = true}) or ""
assert (not page:lower ():find ("<script", 1, true) and not page:lower ():find ('href="javascript:', 1, true), "markdown")
try (date.parse, a, nil, b) try (date.parse, a, b) try (date.parse, a) try (date.parseHttp, a) try (odb.date, a)
try (date.format, clock.now (), b) try (date.format, clock.now (), "%c", a)
for _, f in ipairs {text.lines, text.trim, text.upper, text.lower, text.length, text.valid, text.addCommas, html.escape, html.entities,
	url.parseArgs, url.folder, form.parse, hash.sha256, webserver.util.parseHeaders, webserver.util.parseCookies, webserver.util.parseAuth} do
	try (f, a)
end
for _, f in ipairs {text.countFields, text.nthField, text.popSuffix, text.pad, hash.hmac, hash.equal, base64.decode, webserver.httpHeader} do
	try (f, a, b)
end
try (text.sub, a, #b, -#b) try (text.nthField, a, b, 2) try (text.pad, a, #b, "left", b) try (base64.decode, a)
local h = try (webserver.httpHeader, a, b)
assert (not h or not h:find ("\n[^\n]*\r[^\n]") and select (2, h:gsub ("\r\n\r\n", "")) == 1, "header")
webserver.processMacros (a, {x = b})
return "done"`
	s := newSite(f)
	s.script("x", `local p = ... local run = loadstring (p.argTable.source) return run (p.argTable.a, p.argTable.b)`)
	f.Fuzz(func(t *testing.T, a, b string) {
		body := "source=" + string(httpform.Escape(nil, source)) + "&a=" + string(httpform.Escape(nil, a)) + "&b=" +
			string(httpform.Escape(nil, b))
		s.t = t
		start := time.Now()
		resp := s.post("/x.fcgi", "application/x-www-form-urlencoded", body)
		require.Equal(t, "done", resp.Body, s.log)
		assert.Less(t, time.Since(start), 8*time.Second)
		s.log.Take()
	})
}

// FuzzJSONList stores any JSON in a list of the root and checks that the script and
// another one read back what was stored.
func FuzzJSONList(f *testing.F) {
	for _, s := range []string{
		`[]`, `{}`, `null`, `[[],{},null,{"record":{"text":"x"}},{"date":"2026"}]`, `{"a":{"b":[1,-0,1e300]},"A":"\u0000"}`,
		`{"1":2,"":[null,[null]]}`, strings.Repeat(`{"a":[`, 60) + strings.Repeat(`]}`, 60),
	} {
		f.Add(s)
	}
	const source = `
local text = ...
local known, value = pcall (json.decode, text, json.null)
if not known or not pcall (function () user.fuzz = {value} end) then
	return
end
local encoded, once = pcall (json.encode, user.fuzz)
if encoded then
	user.fuzz = json.decode (once, json.null)
	assert (json.encode (user.fuzz) == once, once)
end
user.fuzz [2] = "more"`
	s := newSite(f)
	undo := errors.New("undo")
	f.Fuzz(func(t *testing.T, text string) {
		require.ErrorIs(t, s.db.Update(t.Context(), func(tx *objectdb.Tx) error {
			th := s.g.runner.Engine().NewThread(t.Context(), script.ThreadOptions{Tx: tx})
			defer th.Close()
			_, err := th.RunSource("fuzz", source, text)
			require.NoError(t, err)
			if _, err := tx.Find(objectdb.Address{"user", "fuzz"}); err != nil {
				return undo
			}
			again := s.g.runner.Engine().NewThread(t.Context(), script.ThreadOptions{Tx: tx})
			defer again.Close()
			more, err := again.RunSource("fuzz", "return user.fuzz [2]")
			require.NoError(t, err)
			require.Equal(t, "more", more)
			return undo
		}), undo)
	})
}

// FuzzPage expands any text as a page, in a file and in the root, with any query: the answer
// must be a page with the text outside of markers unchanged.
func FuzzPage(f *testing.F) {
	f.Add("a <!--#method--> b", "x=1")
	f.Add("<!--#user.fuzz (searchTable.x, \"a\", 1, true)-->", "x=%3C!--%23method--%3E")
	f.Add("<!--#include virtual=\"/x\" --><!--#raw (referer)--><!--#", "")
	f.Add("<!--#browserFilter(userAgent, \"!x\", \"<b>\")--><!--#counter(a,b)-->", "&&")
	f.Add("<html><!--#scratchpad--><!--#_G--><!--#user.webserver.debugToken-->", "a=1&a=2")
	f.Add(`<!--#layout (page.mcro)--><!--#if searchTable.x < 3 or not referer--><!--#for r in user.webserver.prefs reverse limit 2-->`+
		`<a href="<!--#r.key-->" title=<!--#r-->><!--#end--><!--#else--><!--#block b--><!--#include (user.fuzz)--><!--#end--><!--#end-->`, "x=2")
	s := newSite(f)
	s.put("user.fuzz", objectdb.Script(`return (...)`))
	s.put("suites.webserver.macros.counter", objectdb.Script(`return "1"`)) // the root stays as it is
	f.Fuzz(func(t *testing.T, text, query string) {
		s.t = t
		s.page("page.mcro", text)
		resp := s.ask("/page.mcro?"+query, nil)
		require.Contains(t, []int{200, 413, 500}, resp.Status, s.log)
		if !strings.Contains(text, "<!--#") && resp.Status == 200 {
			require.Equal(t, text, resp.Body)
		}
		if resp.Status == 500 {
			require.Contains(t, s.log.String(), "failed", "the log says why")
		}
		s.log.Take()
	})
}

// errUndo ends a transaction whose changes are undone.
var errUndo = errors.New("undo")

// FuzzSettings stores any values in the settings and tables that every request reads: a mistake
// of the owner must not take the site down.
func FuzzSettings(f *testing.F) {
	f.Add("maxTime", "-1", ".fcgi", "*", "/")
	f.Add("chunkSize", "1e300", ".mcro", "localhost", "/a")
	f.Add("serverName", "x\r\ny", "", "", "")
	f.Add("overrides", "MACRO", "SCRIPTER", "\x00", "//")
	s := newSite(f)
	s.script("x", `return "answered"`)
	f.Fuzz(func(t *testing.T, name, value, ext, host, prefix string) {
		s.t = t
		_, err := s.g.runner.Run(context.Background(), runner.Options{}, func(run *runner.Run) error {
			tx := run.Tx
			home := objectdb.Address{"user", "webserver"}
			for _, a := range []objectdb.Address{
				home.Child(name), home.Child("mimeTable").Child(ext).Child("type"),
				home.Child("mimeTable").Child("." + ext).Child("action"),
				home.Child("overrides").Child(host).Child(prefix), home.Child("directoryIndex").Child(host).Child(prefix),
				home.Child("actionTable").Child(value), home.Child("prefs").Child("errorPage"),
			} {
				for _, v := range []objectdb.Value{objectdb.String(value), objectdb.Number(len(value)), objectdb.Boolean(true)} {
					if err := tx.Put(a, v); err != nil && tx.Context().Err() != nil {
						return err
					}
				}
			}
			// The request sees what was put; the error undoes it.
			x := s.g.newExchange(s.request("/x.fcgi", map[string]string{"HTTP_HOST": "localhost", "REDIRECT_HANDLER": value}),
				nil)
			c := x.newAttempt(run)
			for _, set := range site.Settings {
				v := c.Site().Value(set)
				if set.Check != nil && !set.NamesFile() {
					require.NoError(t, set.Check(v), set.Name)
				}
			}
			c.Limits()
			if _, err := dispatch(c.request, c.Site()); err != nil {
				var e *Error
				require.ErrorAs(t, err, &e)
			}
			return errUndo
		})
		require.ErrorIs(t, err, errUndo)
		require.Equal(t, "answered", s.ask("/x.fcgi", nil).Body)
	})
}
