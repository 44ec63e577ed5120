package gateway

import (
	"context"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/httpheader"
	"scripter/objectdb"
)

// slowVisitor is a writer that takes so many bytes per second.
type slowVisitor struct {
	rate  float64
	bytes int
}

func (v *slowVisitor) Write(p []byte) (int, error) {
	time.Sleep(time.Duration(float64(len(p)) / v.rate * float64(time.Second)))
	v.bytes += len(p)
	return len(p), nil
}

// TestSlowVisitors checks that the time of a slow visitor does not count as time of the script,
// unless the visitor is very slow.
func TestSlowVisitors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		testSlowVisitors(t, newSite(t))
		time.Sleep(time.Minute) // the watchdog of the scripts ends a moment later
	})
}

func testSlowVisitors(t *testing.T, s *testSite) {
	s.put("user.webserver.maxTime", objectdb.Number(0.5))
	s.script("x", `
		webserver.sendPartial (webserver.httpHeader ("200 OK", "text/plain"))
		for i = 1, 32 do webserver.sendPartial (("x"):rep (32 * 1024)) end
		webserver.sendPartial ("", false)
		return ""`)
	patient := &slowVisitor{rate: 512 << 10} // two seconds
	out := s.g.Answer(context.Background(), s.request("/x.fcgi", nil), patient)
	assert.NoError(t, out.Err)
	assert.Greater(t, patient.bytes, 1<<20)

	crawling := &slowVisitor{rate: slowest / 4}
	out = s.g.Answer(context.Background(), s.request("/x.fcgi", nil), crawling)
	assert.ErrorContains(t, out.Err, "time limit")
	assert.True(t, out.Broken)
	assert.Less(t, crawling.bytes, 1<<20)
}

// TestStreamedLength checks that a streamed response has exactly the Content-Length
// that its script has set.
func TestStreamedLength(t *testing.T) {
	s := newSite(t)
	head := func(length string) string {
		return `webserver.sendPartial ("HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\nContent-Length: ` + length + `\r\n\r\n`
	}
	for _, c := range []struct {
		name, source, method string
		status               int
		length, body, err    string
	}{
		{"just right", head("7") + `one ") webserver.sendPartial ("two", false) return ""`, "GET", 200, "7", "one two", ""},
		{"returned", head("7") + `one ") return "two"`, "GET", 200, "7", "one two", ""},
		{"written", head("7") + `") write ("one ") return "two"`, "GET", 200, "7", "one two", ""},
		{"long", head("600000") + `") write (("x"):rep (300000)) webserver.sendPartial (("y"):rep (300000)) return ""`,
			"GET", 200, "600000", "*", ""},
		{"too few", head("8") + `one ") return "two"`, "GET", 200, "8", "one two",
			"ended after 7 bytes, but its Content-Length is 8"},
		{"too many", head("6") + `one ") return "two"`, "GET", 200, "6", "one ", "longer than its Content-Length, 6"},
		{"too many pieces", head("6") + `one ") pcall (webserver.sendPartial, "two") return ""`, "GET", 200, "6", "one ",
			"longer than its Content-Length, 6"},
		{"too many written", head("6") + `one ") write (("x"):rep (300000)) return ""`, "GET", 200, "6", "one ",
			"longer than its Content-Length, 6"},
		{"first piece", head("3") + `one ") return ""`, "GET", 500, "", "",
			"the first piece has 4 bytes, but the response's Content-Length is 3"},
		{"no number", head("+3") + `one") return ""`, "GET", 500, "", "", "not a number of bytes"},
		{"empty", head("") + `one") return ""`, "GET", 500, "", "", "not a number of bytes"},
		{"twice", head(`3\r\ncontent-length: 3`) + `one") return ""`, "GET", 500, "", "", "two Content-Length fields"},
		{"HEAD", head("7") + `") return ""`, "HEAD", 200, "7", "", ""},
		{"no content", `webserver.sendPartial ("HTTP/1.0 204 No Content\r\nContent-Length: 7\r\n\r\n") return "one two"`,
			"GET", 204, "", "", ""},
	} {
		s.script("x", c.source)
		var p pieces
		out := s.g.Answer(context.Background(), s.request("/x.fcgi", map[string]string{"REQUEST_METHOD": c.method}), &p)
		resp, err := httpheader.Parse(p.String())
		require.NoError(t, err, c.name)
		assert.Equal(t, c.status, resp.Status, c.name)
		assert.Equal(t, c.err != "" && c.status == 200, out.Broken, c.name)
		if c.err != "" {
			require.ErrorContains(t, out.Err, c.err, c.name)
		} else {
			require.NoError(t, out.Err, c.name)
		}
		if c.status == 500 {
			continue
		}
		assert.Equal(t, c.length, resp.Get("Content-Length"), c.name)
		if c.body == "*" {
			assert.Len(t, resp.Body, 600000, c.name)
		} else {
			assert.Equal(t, c.body, resp.Body, c.name)
		}
	}
}

// TestStreamedCaching checks that no cache may store a streamed response without a
// Content-Length.
func TestStreamedCaching(t *testing.T) {
	s := newSite(t)
	answer := func(fields, rest string, more map[string]string) *httpheader.Response {
		s.script("x", `webserver.sendPartial ("HTTP/1.0 200 OK\r\n`+fields+`\r\nabc") `+rest)
		return s.ask("/x.fcgi", more)
	}
	escaped := `Cache-Control: public, max-age=60\r\nExpires: Thu, 31 Jan 2030 00:00:00 GMT\r\nSurrogate-Control: max-age=60\r\nETag: \"1\"\r\n`
	for _, rest := range []string{`return ""`, `return "d"`, `error ("late")`} {
		resp := answer(escaped, rest, nil)
		assert.Equal(t, "private, no-store", resp.Get("Cache-Control"), rest)
		assert.False(t, resp.Has("Expires"), rest)
		assert.False(t, resp.Has("Surrogate-Control"), rest)
		assert.False(t, resp.Has("Content-Length"), rest)
	}
	assert.Contains(t, s.log.String(), "no cache may store a streamed response without a Content-Length")
	resp := answer(escaped+`Content-Length: 4\r\n`, `return "d"`, nil)
	assert.Equal(t, "public, max-age=60", resp.Get("Cache-Control"))
	assert.True(t, resp.Has("Surrogate-Control"))
	resp = answer(escaped, `return ""`, map[string]string{"HTTP_IF_NONE_MATCH": `"1"`})
	assert.Equal(t, 304, resp.Status)
	assert.Equal(t, "public, max-age=60", resp.Get("Cache-Control"), "there is no body that could be truncated")
	assert.Equal(t, "private, no-store", answer("", `return ""`, nil).Get("Cache-Control"))
}

// TestRequestWithUnusualBody checks that no cache may store the response to a GET or
// HEAD request with a body.
func TestRequestWithUnusualBody(t *testing.T) {
	s := newSite(t)
	s.script("x", `return webserver.httpHeader2 ("200 OK", "text/plain", 60) .. (...).postArgs`)
	s.script("fails", `error ("no")`)
	for _, c := range []struct{ path, method, body, want string }{
		{"/x.fcgi", "GET", "", "public, max-age=60"},
		{"/x.fcgi", "GET", "a=1", "private, no-store"},
		{"/x.fcgi", "HEAD", "a=1", "private, no-store"},
		{"/x.fcgi", "POST", "a=1", "public, max-age=60"},
		{"/fails.fcgi", "GET", "a=1", "private, no-store"},
		{"/missing.fcgi", "GET", "a=1", "private, no-store"},
	} {
		r := s.request(c.path, map[string]string{"REQUEST_METHOD": c.method})
		if c.body != "" {
			r.Params["CONTENT_LENGTH"], r.Body = strconv.Itoa(len(c.body)), strings.NewReader(c.body)
		}
		var p pieces
		s.g.Answer(context.Background(), r, &p)
		resp, err := httpheader.Parse(p.String())
		require.NoError(t, err)
		assert.Equal(t, c.want, resp.Get("Cache-Control"), "%s %s %q", c.method, c.path, c.body)
	}
}
