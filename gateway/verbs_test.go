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

// TestWebserverVerbs tests what the verbs of the group webserver return.
func TestWebserverVerbs(t *testing.T) {
	s := newSite(t)
	s.put("user.data.name", objectdb.String("Ada"))
	for expression, want := range map[string]string{
		`webserver.encodeArgs (webserver.parseArgs ("x=1&y=a+b"))`:                "x=1&y=a+b",
		`webserver.parseArgs ("__index=1&a.b=2") ["a.b"]`:                         "2",
		`webserver.getPref ("chunksize")`:                                         "24",
		`webserver.getPref ("nothing")`:                                           "false",
		`webserver.getPref ("errorPage"):match ("<h1>")`:                          "<h1>",
		`webserver.processMacros ("<!--#x--> <!--#raw (x)-->", {x = "<y>"})`:      "&lt;y&gt; <y>",
		`webserver.processMacros ("<!--#x--> <!--#user.data.name-->", {x = "y"})`: "y Ada",
		`webserver.fileNotFoundError ():match ("^[^\r]*")`:                        "HTTP/1.0 404 FILE NOT FOUND",
		`webserver.errorMessage ("oh <no>"):match ("oh &lt;no&gt;")`:              "oh &lt;no&gt;",
		`webserver.httpHeader ("404 FILE NOT FOUND", "text/plain")`: "HTTP/1.0 404 FILE NOT FOUND\r\nServer: Test/1\r\n" +
			"MIME-Version: 1.0\r\nContent-type: text/plain\r\n\r\n",
		`webserver.httpHeader2 ("200 OK", "text/css", 5):match ("max%-age=%d+")`: "max-age=5",
	} {
		s.script("v", `return {headers = {["Content-Type"] = "text/plain"}, body = tostring (`+expression+`)}`)
		resp := s.ask("/v.fcgi", nil)
		require.Equal(t, 200, resp.Status, expression)
		assert.Equal(t, want, resp.Body, expression)
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
	folder := t.TempDir() // for temporary files, apart from those of other programs
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
