package gateway

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/httpheader"
	"scripter/objectdb"
)

// TestVerbs: what each verb gives; %q is how Lua writes it.
func TestVerbs(t *testing.T) {
	s := newSite(t)
	s.put("user.data.name", objectdb.String("Ada"))
	s.put("user.data.list", objectdb.List{objectdb.Number(1), objectdb.String("two")})
	s.put("user.data.when", objectdb.Date{})
	for expression, want := range map[string]string{
		`html.escape ("<a href='x'>\"&\"")`:                                        "&lt;a href=&#39;x&#39;&gt;&quot;&amp;&quot;",
		`url.encode ("a b&c/\195\164")`:                                            "a+b%26c%2F%C3%A4",
		`url.decode ("a+b%26c")`:                                                   "a b&c",
		`url.decode ("100%")`:                                                      "error: url.decode: ",
		`form.encode (form.parse ("b=2&a=1&a=%C3%A4"))`:                            "a=1&a=%C3%A4&b=2",
		`webserver.encodeArgs (webserver.parseArgs ("x=1&y=a+b"))`:                 "x=1&y=a+b",
		`webserver.parseArgs ("__index=1&a.b=2") ["a.b"]`:                          "2",
		`text.trim ("  x y\n")`:                                                    "x y",
		`table.concat (text.split ("a,b,,c", ","), "|")`:                           "a|b||c",
		`table.concat (text.split ("a,b,c", ",", 2), "|")`:                         "a|b,c",
		`text.split ("a", "")`:                                                     "error: bad argument #2",
		`table.concat (text.lines ("a\r\nb\rc\n\nd\n"), "|")`:                      "a|b|c||d",
		`#text.lines ("")`:                                                         "0",
		`text.pad ("ab", 5) .. "."`:                                                "ab   .",
		`text.pad ("\195\164", 3, "left", "0")`:                                    "00ä",
		`text.pad ("x", 4, "center", "-")`:                                         "-x--",
		`text.length ("\195\164bc")`:                                               "3",
		`text.sub ("\195\164bcd", 2, 3)`:                                           "bc",
		`text.sub ("\195\164bcd", -2)`:                                             "cd",
		`text.sub ("abc", 3, 1)`:                                                   "",
		`text.upper ("\195\164\195\159")`:                                          "ÄSS|ÄẞS|Äß",
		`text.valid ("\255")`:                                                      "false",
		`base64.encode ("\0\255")`:                                                 "AP8=",
		`base64.decode ("QUI=")`:                                                   "AB",
		`base64.decode ("!")`:                                                      "error: base64.decode: illegal base64",
		`hash.sha256 ("abc")`:                                                      "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
		`hash.hmac ("Jefe", "what do ya want for nothing?")`:                       "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
		`tostring (hash.equal ("a", "a")) .. tostring (hash.equal ("a", "b"))`:     "truefalse",
		`#random.token (30)`:                                                       "40",
		`random.token () == random.token ()`:                                       "false",
		`json.encode ({1, "two", false, {x = 0.5}})`:                               `[1,"two",false,{"x":0.5}]`,
		`json.encode ("</script>\n")`:                                              `"\u003c/script\u003e\n"`,
		`json.encode ({b = 1, [1] = 2})`:                                           "error: json.encode: ",
		`json.encode ("\255")`:                                                     "error: json.encode: the text",
		`json.encode (0/0)`:                                                        "error: json.encode: JSON has no number",
		`json.encode (json.decode ('{"z":1,"a":[1,2.5,-0],"b":{"c":"\\u00e4"}}'))`: `{"z":1,"a":[1,2.5,-0],"b":{"c":"ä"}}`,
		`json.decode ("[1,null]")`:                                                 "error: json.decode: at byte 7: an array has null; pass a value for it as the second argument: json.decode (text, json.null)",
		`json.decode ("[1,null]", "none") [2]`:                                     "none",
		`json.decode ("{\"a\":null}").a == nil`:                                    "true",
		`json.decode ("[1] 2")`:                                                    "error: json.decode: at byte",
		`json.decode ("[1")`:                                                       "error: json.decode: at byte 2: unexpected EOF",
		`json.decode (("["):rep (200))`:                                            "error: json.decode: ",
		`json.encode (user.data)`:                                                  `{"list":[1,"two"],"name":"Ada","when":"0001-01-01T00:00:00Z"}`,
		`json.encode (odb.list ())`:                                                "[]",
		`json.encode ({})`:                                                         "{}",
		`json.encode (json.decode ('[]'))`:                                         "[]",
		`json.encode (json.decode ('{"a":[],"b":{},"c":[[],{}]}'))`:                `{"a":[],"b":{},"c":[[],{}]}`,
		`json.encode (json.decode ('[null,{"a":null}]', json.null))`:               `[null,{"a":null}]`,
		`json.encode (odb.date ("2026-01-31T18:30:05.25Z"))`:                       `"2026-01-31T18:30:05.25Z"`,
		`json.encode ({at = odb.date ("2026-01-31")})`:                             `{"at":"2026-01-31T00:00:00Z"}`,
		`json.encode (json.null) .. tostring (json.null) .. tostring (json.null == JSON.Null) .. odb.kind (json.null)`: "nullnulltruenull",
		`json.null.x`:      "error: attempt to index json.null",
		`type (json.null)`: "userdata",
		`(function () local l = json.decode ("[1]") table.remove (l) return json.encode (l) end) ()`:                                              "[]",
		`(function () local l = json.decode ("[]") l.a = 1 return json.encode (l) end) ()`:                                                        `{"a":1}`,
		`(function () user.list = json.decode ('[{"a":[],"b":null}]', json.null) return json.encode (user.list) end) ()`:                          `[{"a":[],"b":null}]`,
		`(function () user.tree = json.decode ('{"a":[],"b":{"c":[{"d":1}]}}') return json.encode (user.tree) end) ()`:                            `{"a":[],"b":{"c":[{"d":1}]}}`,
		`(function () user.box = {list = {{a = 1}}} user.box.list [1].a = 2 return json.encode (user.box.list) .. json.encode (user.box) end) ()`: `[{"a":2}]{"list":[{"a":2}]}`,
		`(function () user.x = json.null end) ()`:                                    "error: set user.x: null can be stored only within a list; nil deletes a cell",
		`(function () user.x = {a = json.null} end) ()`:                              "error: set user.x.a: null can be stored only within a list; nil deletes a cell",
		`json.encode (9007199254740991) .. json.encode (0.1) .. json.encode (1e300)`: "90071992547409910.11e+300",
		`json.encode ({2^53, 1e20, 1e21, -2^62})`:                                    "[9007199254740992,100000000000000000000,1e+21,-4611686018427388000]",
		`json.decode ("1e999")`:                                                      "error: json.decode: at byte 5: the number 1e999 is too large",
		`date.format (odb.date ("2026-01-31T18:30:05Z"), "%d %B %Y %H:%M:%S %j")`:    "31 January 2026 18:30:05 031",
		`date.format (odb.date ("2026-07-31T18:30:05Z"), "%H %Z", "Europe/Paris")`:   "20 CEST",
		`date.format (clock.now (), "%Y", "Nowhere/Land")`:                           "error: date.format: there is no zone",
		`date.format ("x", "%Y")`:                                                    "error: bad argument #1",
		`date.http (odb.date ("1994-11-06T08:49:37Z"))`:                              "Sun, 06 Nov 1994 08:49:37 GMT",
		`date.rfc3339 (date.parseHttp ("Sunday, 06-Nov-94 08:49:37 GMT"))`:           "1994-11-06T08:49:37Z",
		`date.parseHttp ("yesterday") == nil`:                                        "true",
		`date.rfc3339 (date.parse ("2026-01-31 18:30", "America/New_York"))`:         "2026-01-31T23:30:00Z",
		`date.parse ("soon") == nil`:                                                 "true",
		`clock.ticks () > 1e11`:                                                      "true",
		`tostring (clock.now ().year > 2000)`:                                        "true",
		`webserver.getPref ("chunksize")`:                                            "24",
		`webserver.getPref ("nothing")`:                                              "false",
		`webserver.getPref ("errorPage"):match ("<h1>")`:                             "<h1>",
		`webserver.processMacros ("<!--#x--> <!--#raw (x)-->", {x = "<y>"})`:         "&lt;y&gt; <y>",
		`webserver.processMacros ("<!--#x--> <!--#user.data.name-->", {x = "y"})`:    "y Ada",
		`webserver.fileNotFoundError ():match ("^[^\r]*")`:                           "HTTP/1.0 404 FILE NOT FOUND",
		`webserver.errorMessage ("oh <no>"):match ("oh &lt;no&gt;")`:                 "oh &lt;no&gt;",
		`webserver.httpHeader ("404 FILE NOT FOUND", "text/plain")`:                  "HTTP/1.0 404 FILE NOT FOUND\r\nServer: Test/1\r\nMIME-Version: 1.0\r\nContent-type: text/plain\r\n\r\n",
		`webserver.httpHeader2 ("200 OK", "text/css", 5):match ("max%-age=%d+")`:     "max-age=5",
	} {
		s.script("v", `local ok, r = pcall (function () return `+expression+` end)
			if not ok then r = "error: " .. tostring (r):gsub ("^[%w.]+:%d+: ", "") end
			return {headers = {["Content-Type"] = "text/plain"}, body = tostring (r)}`)
		resp := s.ask("/v.fcgi", nil)
		require.Equal(t, 200, resp.Status, expression)
		switch {
		case strings.HasPrefix(want, "error: "):
			assert.True(t, strings.HasPrefix(resp.Body, want), "%s: %s", expression, resp.Body)
		case strings.Contains(want, "Äß"): // Unicode has grown a capital
			assert.Contains(t, strings.Split(want, "|"), resp.Body, expression)
		default:
			assert.Equal(t, want, resp.Body, expression)
		}
	}
}

// Specification: 2.3.6, 2.3.11
func TestSetDirtyRoot(t *testing.T) {
	s := newSite(t)
	s.script("x", `webserver.setDirtyRoot () return "x"`)
	require.Equal(t, objectdb.Boolean(false), s.get("user.webserver.flDirtyRoot"))
	s.ask("/x.fcgi", nil)
	assert.Equal(t, objectdb.Boolean(true), s.get("user.webserver.flDirtyRoot"))
}

func TestWrite(t *testing.T) {
	s := newSite(t)
	folder := t.TempDir() // of temporary files: other programs have theirs where they belong
	t.Setenv("TMPDIR", folder)
	for _, c := range []struct{ source, want string }{
		{`write ("a", 1, true) write (nil, "b")`, "a1trueb"},
		{`write ("a") return "b"`, "ab"},
		{`write (webserver.httpHeader ("200 OK", "text/x")) write ("body")`, "body"},
		{`for i = 1, 400 do write (("x"):rep (1000)) end return "end"`, strings.Repeat("x", 400_000) + "end"},
		{`write ("a") webserver.sendPartial ("b") write ("c") return "d"`, "abcd"},
		{`for i = 1, 400 do write (("x"):rep (1000)) end webserver.sendPartial ("p") for i = 1, 400 do write (("y"):rep (1000)) end`,
			strings.Repeat("x", 400_000) + "p" + strings.Repeat("y", 400_000)},
	} {
		s.script("x", c.source)
		resp := s.ask("/x.fcgi", nil)
		assert.Equal(t, 200, resp.Status, c.source)
		assert.Equal(t, len(c.want), len(resp.Body), c.source)
		assert.True(t, c.want == resp.Body, c.source)
	}
	s.script("x", `write ("a") return {body = "b"}`)
	assert.Equal(t, 500, s.ask("/x.fcgi", nil).Status)
	s.put("user.webserver.maxResponse", objectdb.Number(1))
	s.script("x", `for i = 1, 1100 do write (("x"):rep (1000)) end`)
	assert.Equal(t, 500, s.ask("/x.fcgi", nil).Status)
	var out bytes.Buffer
	s.script("x", `for i = 1, 400 do write (("x"):rep (1000)) end`)
	s.g.Answer(context.Background(), s.request("/x.fcgi", map[string]string{"REQUEST_METHOD": "HEAD"}), &out)
	resp, err := httpheader.Parse(out.String())
	require.NoError(t, err)
	assert.Equal(t, "400000", resp.Get("Content-Length"))
	assert.Empty(t, resp.Body)
	left, err := os.ReadDir(folder)
	require.NoError(t, err)
	assert.Empty(t, left, "a temporary file is left behind")
}

func TestEscapeHTML(t *testing.T) {
	slow := strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&#39;")
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	for _, s := range []string{"", "plain", "&", "&&<<", "a<b>c", "'\"'", "ends with <", string(all), strings.Repeat("<é>", 1000)} {
		assert.Equal(t, slow.Replace(s), escapeHTML(s))
	}
}

func BenchmarkEscapeHTML(b *testing.B) {
	for name, s := range map[string]string{
		"plain": "f01", "dense": strings.Repeat(`a <b> & "c" `, 5), "text": strings.Repeat("Lorem ipsum dolor sit amet & more. ", 60),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				escapeHTML(s)
			}
		})
	}
}
