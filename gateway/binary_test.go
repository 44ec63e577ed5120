package gateway

import (
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/httpheader"
	"scripter/objectdb"
)

// TestBinaries checks the fields of binaries that a URL names, and of those that scripts return.
func TestBinaries(t *testing.T) {
	s := newSite(t)
	s.put("suites.webserverScripts.page", objectdb.Binary{Type: "text/html", Data: "<script>1</script>"})
	s.put("user.page", objectdb.Binary{Type: "text/html", Data: "<script>1</script>"})
	s.put("user.svg", objectdb.Binary{Type: "image/svg+xml", Data: "<svg/>"})
	s.put("user.odd", objectdb.Binary{Type: "", Data: "x"})
	s.put("user.gif", objectdb.Binary{Type: "image/gif", Data: "GIF89a"})
	for source, want := range map[string]string{
		"":                         " text/html; charset=utf-8 nosniff",
		`return user.page`:         "sandbox text/html; charset=utf-8 nosniff",
		`return user.svg`:          "sandbox image/svg+xml nosniff",
		`return user.odd`:          " application/octet-stream nosniff",
		`return user.gif`:          " image/gif nosniff",
		`return {body = user.gif}`: " image/gif nosniff",
		`return {body = user.svg, headers = {["content-security-policy"] = "script-src 'self'"}}`: "script-src 'self' image/svg+xml nosniff",
		`return {body = user.gif, headers = {["Content-Type"] = "text/html"}}`:                    "sandbox text/html; charset=utf-8 nosniff",
		`return webserver.download (user.svg, "x.svg")`:                                           "sandbox image/svg+xml nosniff",
	} {
		name := "/page.fcgi"
		if source != "" {
			s.script("x", source)
			name = "/x.fcgi"
		}
		resp := s.ask(name, nil)
		got := resp.Get("Content-Security-Policy") + " " + resp.Get("Content-Type") + " " + resp.Get("X-Content-Type-Options")
		assert.Equal(t, want, got, source)
		etag := resp.Get("ETag")
		require.NotEmpty(t, etag, source)
		assert.Equal(t, "bytes", resp.Get("Accept-Ranges"), source)
		assert.Equal(t, 304, s.ask(name, map[string]string{"HTTP_IF_NONE_MATCH": etag}).Status, source)
	}
	first := s.ask("/page.fcgi", nil)
	assert.Equal(t, 304, s.ask("/page.fcgi", map[string]string{"HTTP_IF_MODIFIED_SINCE": first.Get("Last-Modified")}).Status)
	s.put("suites.webserverScripts.page", objectdb.Binary{Type: "text/html", Data: "<script>2</script>"})
	assert.NotEqual(t, first.Get("ETag"), s.ask("/page.fcgi", nil).Get("ETag"))
}

// TestRanges checks ranges of a binary that a script returns (RFC 9110, 14).
func TestRanges(t *testing.T) {
	s := newSite(t)
	s.put("user.gif", objectdb.Binary{Type: "image/gif", Data: "0123456789"})
	s.script("x", `return {headers = {["Cache-Control"] = "max-age=60"}, body = user.gif}`)
	etag := s.ask("/x.fcgi", nil).Get("ETag")
	for _, c := range []struct {
		method, span, ifRange string
		status                int
		content, body         string
	}{
		{"GET", "bytes=2-4", "", 206, "bytes 2-4/10", "234"},
		{"GET", "bytes=7-", "", 206, "bytes 7-9/10", "789"},
		{"GET", "bytes=-2", "", 206, "bytes 8-9/10", "89"},
		{"GET", "bytes=0-99", "", 206, "bytes 0-9/10", "0123456789"},
		{"GET", "bytes=2-4", etag, 206, "bytes 2-4/10", "234"},
		{"GET", "bytes=2-4", `"other"`, 200, "", "0123456789"},
		{"GET", "bytes=10-", "", 416, "bytes */10", ""},
		{"GET", "lines=1-2", "", 416, "", ""},
		{"HEAD", "bytes=2-4", "", 206, "bytes 2-4/10", ""},
		{"POST", "bytes=2-4", "", 200, "", "0123456789"},
		{"GET", "bytes=0-9,0-9,0-9", "", 200, "", "0123456789"},
	} {
		resp := s.ask("/x.fcgi", map[string]string{"REQUEST_METHOD": c.method, "HTTP_RANGE": c.span, "HTTP_IF_RANGE": c.ifRange})
		assert.Equal(t, c.status, resp.Status, "%v", c)
		assert.Equal(t, c.content, resp.Get("Content-Range"), "%v", c)
		if c.status != 416 {
			assert.Equal(t, c.body, resp.Body, "%v", c)
			assert.Equal(t, "max-age=60", resp.Get("Cache-Control"), "%v", c)
			assert.Equal(t, etag, resp.Get("ETag"))
			assert.Equal(t, "nosniff", resp.Get("X-Content-Type-Options"))
		}
	}
	assert.Equal(t, 412, s.ask("/x.fcgi", map[string]string{"HTTP_IF_MATCH": `"other"`}).Status)
	assert.Equal(t, "3", s.ask("/x.fcgi", map[string]string{"REQUEST_METHOD": "HEAD", "HTTP_RANGE": "bytes=2-4"}).Get("Content-Length"))

	resp := s.ask("/x.fcgi", map[string]string{"HTTP_RANGE": "bytes=0-1,8-9"})
	assert.Equal(t, 206, resp.Status)
	_, params, err := mime.ParseMediaType(resp.Get("Content-Type"))
	require.NoError(t, err)
	parts := multipart.NewReader(strings.NewReader(resp.Body), params["boundary"])
	for _, want := range []string{"01", "89"} {
		p, err := parts.NextPart()
		require.NoError(t, err)
		text, err := io.ReadAll(p)
		require.NoError(t, err)
		assert.Equal(t, want, string(text))
	}
	s.script("x", `return "0123456789"`)
	assert.Equal(t, 200, s.ask("/x.fcgi", map[string]string{"HTTP_RANGE": "bytes=2-4"}).Status, "a text has no ranges")
	s.put(`user.webserver.cors.["/"]`, objectdb.String("*"))
	s.script("x", `return user.gif`)
	assert.Equal(t, "*", s.ask("/x.fcgi", map[string]string{"HTTP_RANGE": "bytes=2-4", "HTTP_ORIGIN": "https://a.example"}).
		Get("Access-Control-Allow-Origin"))
}

// TestSaveActive checks that a file that a browser would run is not saved where URLs lead.
func TestSaveActive(t *testing.T) {
	s := newSite(t)
	s.script("x", `local ok, why = pcall (params.files.f.save, "suites.webserverScripts.up") return tostring (why)`)
	form := func(data string) string { return filePart("f", "a.html", "image/png", data) + "--B--\r\n" }
	assert.Contains(t, s.post("/x.fcgi", multipartB, form("<html>")).Body, "save: the file \"a.html\" is text/html, which would run")
	assert.Equal(t, "suites.webserverScripts.up", s.post("/x.fcgi", multipartB, form(png)).Body)
}

func TestDisposition(t *testing.T) {
	for name, want := range map[string]string{
		"":             `attachment; filename="file"`,
		"a b.pdf":      `attachment; filename="a b.pdf"`,
		"Bericht ä+.x": `attachment; filename="Bericht _+.x"; filename*=UTF-8''Bericht%20%C3%A4%2B.x`,
	} {
		assert.Equal(t, want, disposition(name))
	}
}

// FuzzRange checks that a part that is sent is the one that Content-Range says.
func FuzzRange(f *testing.F) {
	for _, span := range []string{"bytes=0-1", "bytes=-5", "bytes=5-", "bytes=1-2,4-5", "bytes=9999999999999999999-", "bytes=,"} {
		f.Add(span, `"x"`)
	}
	s := newSite(f)
	const data = "0123456789abcdefghij"
	s.put("user.gif", objectdb.Binary{Type: "image/gif", Data: data})
	s.script("x", `return user.gif`)
	f.Fuzz(func(t *testing.T, span, ifRange string) {
		if strings.ContainsAny(span+ifRange, "\r\n\x00") {
			return
		}
		s := &testSite{t: t, db: s.db, g: s.g, folder: s.folder}
		resp := s.ask("/x.fcgi", map[string]string{"HTTP_RANGE": span, "HTTP_IF_RANGE": ifRange})
		checkRange(t, resp, data)
	})
}

func checkRange(t *testing.T, resp *httpheader.Response, data string) {
	t.Helper()
	switch resp.Status {
	case 200:
		assert.Equal(t, data, resp.Body)
	case 206:
		if strings.HasPrefix(resp.Get("Content-Type"), "multipart/byteranges") {
			assert.LessOrEqual(t, len(resp.Body), 4<<10)
			return
		}
		var first, last, size int
		_, err := fmt.Sscanf(resp.Get("Content-Range"), "bytes %d-%d/%d", &first, &last, &size)
		require.NoError(t, err)
		assert.Equal(t, data[first:last+1], resp.Body)
		assert.Equal(t, len(data), size)
	default:
		assert.Equal(t, 416, resp.Status)
	}
}
