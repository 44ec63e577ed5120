package gateway

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/httpheader"
	"scripter/objectdb"
)

// TestFilesElsewhere checks that a path that leads to anything but a regular file below the
// folder of pages is not opened, and that no request waits for it.
func TestFilesElsewhere(t *testing.T) {
	s := newSite(t)
	beside := s.folder + "-old"
	require.NoError(t, os.Mkdir(beside, 0o755))
	t.Cleanup(func() { os.RemoveAll(beside) })
	outside := t.TempDir()
	for _, dir := range []string{beside, outside} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "secret.mcro"), []byte("secret"), 0o644))
	}
	link := func(name, to string) { require.NoError(t, os.Symlink(to, filepath.Join(s.folder, name))) }
	link("out.mcro", filepath.Join(outside, "secret.mcro"))
	link("beside.mcro", filepath.Join(beside, "secret.mcro"))
	link("up.mcro", "../"+filepath.Base(beside)+"/secret.mcro")
	link("folder", outside)
	link("loop.mcro", "loop.mcro")
	link("environ.mcro", "/proc/self/environ")
	link("zero.mcro", "/dev/zero")
	link("self.mcro", "/proc/self/fd/0")
	link("nowhere.mcro", "/nowhere")
	require.NoError(t, syscall.Mkfifo(filepath.Join(s.folder, "fifo.mcro"), 0o644))
	require.NoError(t, os.Mkdir(filepath.Join(s.folder, "folder.mcro"), 0o755))
	s.page("sent.txt", "secret")
	for _, path := range []string{
		"/out.mcro", "/beside.mcro", "/up.mcro", "/folder/secret.mcro", "/loop.mcro",
		"/environ.mcro", "/zero.mcro", "/self.mcro",
		"/nowhere.mcro", "/fifo.mcro", "/folder.mcro", "/sent.txt/x.mcro", "/sent.txt/.mcro",
	} {
		answered := make(chan *httpheader.Response, 1)
		go func() { answered <- s.ask(path, map[string]string{"SCRIPT_FILENAME": s.folder + path}) }()
		select {
		case resp := <-answered:
			assert.Contains(t, []int{403, 404}, resp.Status, path)
			assert.NotContains(t, resp.Body, "secret", path)
			assert.NotContains(t, resp.Body, "PATH=", path)
		case <-time.After(30 * time.Second):
			t.Fatalf("%s is not answered", path)
		}
	}
	// lighttpd cuts the path after the first file that exists.
	resp := s.ask("/sent.txt", map[string]string{"PATH_INFO": "/x.mcro", "SCRIPT_FILENAME": s.folder + "/sent.txt"})
	assert.Equal(t, 404, resp.Status)
}

// TestPagesWithinPages checks that a page that expands itself, and one with too many markers, is
// an error.
func TestPagesWithinPages(t *testing.T) {
	s := newSite(t)
	s.put("user.again", objectdb.Script(`return webserver.processMacros ("x<!--#user.again ()-->")`))
	s.page("again.mcro", "[<!--#user.again ()-->]")
	resp := s.ask("/again.mcro", nil)
	assert.Equal(t, 200, resp.Status)
	assert.Regexp(t, `^\[x{1,16}\]$`, resp.Body)
	s.put("user.webserver.maxMacros", objectdb.Number(100))
	s.page("many.mcro", strings.Repeat("<!--#method-->", 101))
	assert.Equal(t, 500, s.ask("/many.mcro", nil).Status)
	s.page("few.mcro", strings.Repeat("<!--#method-->", 100))
	assert.Equal(t, strings.Repeat("GET", 100), s.ask("/few.mcro", nil).Body)
}

// TestLargestResponse checks that a response over the limit is an error, and that no part of it is
// sent.
func TestLargestResponse(t *testing.T) {
	s := newSite(t)
	s.put("user.webserver.maxResponse", objectdb.Number(1))
	s.script("x", `local p = ... return ("x"):rep (tonumber (p.httpSearchArgs))`)
	assert.Len(t, s.ask("/x.fcgi?1048000", nil).Body, 1048000)
	resp := s.ask("/x.fcgi?1049000", nil)
	assert.Equal(t, 500, resp.Status)
	assert.NotContains(t, resp.Body, "xxxx")
}

// TestOddVariables checks that the answer is well-formed and no panic, whatever variables the web
// server sends.
func TestOddVariables(t *testing.T) {
	s := newSite(t)
	s.script("x", `local p = ... return p.fullRequest .. p.serverName .. p.pathArgs`)
	long := strings.Repeat("x", 100_000)
	for i, more := range []map[string]string{
		{"SERVER_PROTOCOL": "HTTP/9.9"}, {"SERVER_PROTOCOL": ""}, {"SERVER_PROTOCOL": long},
		{"SERVER_NAME": "", "HTTP_HOST": ""},
		{"SERVER_PORT": "none"}, {"REQUEST_URI": ""}, {"REQUEST_URI": "%"}, {"REQUEST_URI": "http://"}, {"REQUEST_URI": long},
		{"QUERY_STRING": strings.Repeat("%", 1000)}, {"QUERY_STRING": "=&=&;"}, {"HTTP_COOKIE": strings.Repeat(";", 60_000)},
		{"HTTP_COOKIE": long}, {"HTTP_AUTHORIZATION": "Basic " + long},
		{"HTTP_AUTHORIZATION": "Basic"}, {"HTTP_IF_NONE_MATCH": long},
		{"HTTP_IF_MODIFIED_SINCE": "Mon, 99 Foo"}, {"DOCUMENT_ROOT": ""}, {"DOCUMENT_ROOT": "/"}, {"PATH_INFO": "/" + long},
		{"PATH_TRANSLATED": "\x01"}, {"SCRIPT_FILENAME": "proxy:fcgi://"},
		{"REMOTE_ADDR": "", "REMOTE_HOST": ""}, {"HTTP_": "x", "HTTP__": "y"},
	} {
		resp := s.ask("/x.fcgi", more)
		assert.Less(t, resp.Status, 500, "%d", i)
	}
	for i, p := range []map[string]string{nil, {}, {"REQUEST_METHOD": "GET"},
		{"REQUEST_METHOD": "GET", "SCRIPT_NAME": "x"}} {
		for _, form := range []Form{Parsed, NPH} {
			var out strings.Builder
			o := s.g.Answer(t.Context(), &Request{Params: p, Form: form}, &out)
			assert.Contains(t, []int{400, 404}, o.Status, "%d", i)
			assert.Regexp(t, fmt.Sprintf(`^(Status:|HTTP/1\.0) %d `, o.Status), out.String(), "%d", i)
		}
	}
}

// TestVerbsStop checks that the limits of a script stop a verb that makes a long result.
func TestVerbsStop(t *testing.T) {
	s := newSite(t)
	s.put("user.webserver.maxInstructions", objectdb.Number(1))
	for name, c := range map[string]struct{ source, limit string }{
		"text.split":  {`return #text.split (("a,"):rep (2e6), ",")`, "instructions"},
		"text.lines":  {`return #text.lines (("\n"):rep (2e6))`, "instructions"},
		"json.decode": {`return #json.decode ("[" .. ("1,"):rep (2e6) .. "1]")`, "instructions"},
		"json.encode": {`return #json.encode (("<"):rep (4e6))`, "is longer than 16777216 bytes"},
		"html.escape": {`return #html.escape (("<"):rep (8e6))`, "string length limit of 16777216 bytes"},
		"url.encode":  {`return #url.encode (("<"):rep (8e6))`, "string length limit of 16777216 bytes"},
	} {
		s.script("x", `pcall (function () error ("caught") end) `+c.source)
		resp, out := s.answer(s.request("/x.fcgi", nil))
		assert.Equal(t, 500, resp.Status, name)
		assert.ErrorContains(t, out.Err, c.limit, name)
	}
	s.script("x",
		`return #text.split (("a,"):rep (1e4), ",") .. " " .. #json.decode ("[" .. ("1,"):rep (1e4) .. "1]") .. " " .. json.encode (("é<"):rep (3))`)
	assert.Equal(t, `10001 10001 "é\u003cé\u003cé\u003c"`, s.ask("/x.fcgi", nil).Body)
	s.script("x", `local s = ("x"):rep (65535) .. ("é"):rep (70000) return tostring (json.decode (json.encode (s)) == s)`)
	assert.Equal(t, "true", s.ask("/x.fcgi", nil).Body, "texts are encoded in pieces")
}
