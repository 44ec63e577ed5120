package gateway

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
)

// cacheServer records the PURGE requests that it gets.
type cacheServer struct {
	*httptest.Server
	mu     sync.Mutex
	told   []string
	status int
	look   func() // while a request is answered
}

func newCacheServer(t *testing.T) *cacheServer {
	s := &cacheServer{status: 200}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.told = append(s.told,
			strings.TrimSpace(fmt.Sprintf("%s %s%s %s", r.Method, r.Host, r.RequestURI, r.Header.Get("Scripter-Flush"))))
		if s.look != nil {
			s.look()
		}
		w.WriteHeader(s.status)
	}))
	t.Cleanup(s.Close)
	return s
}

// asked returns the requests since the last call, in order.
func (s *cacheServer) asked() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	told := s.told
	s.told = nil
	slices.Sort(told)
	return told
}

// TestFlushCacheTellsServers checks that each configured server gets the request after the commit
// and before the answer.
//
// Specification: 1.4
func TestFlushCacheTellsServers(t *testing.T) {
	s, one, two := newSite(t), newCacheServer(t), newCacheServer(t)
	s.list("cache", one.URL)
	s.list("cache", two.URL)
	s.put("user.webserver.cacheServers",
		objectdb.List{objectdb.String(one.URL), objectdb.String(strings.TrimPrefix(two.URL, "http://"))})
	everything := "PURGE " + strings.TrimPrefix(one.URL, "http://") + "/ all"
	for _, c := range []struct {
		source string
		want   []string
	}{
		{`webserver.flushCache ("/news.fcgi$a%20b?x=1")`, []string{"PURGE localhost/news.fcgi$a%20b?x=1"}},
		{`webserver.flushCache ("http://second.test:81/")`, []string{"PURGE second.test:81/"}},
		{`webserver.flushCache ("/a") webserver.flushCache ("/a") webserver.flushCache ("/b")`,
			[]string{"PURGE localhost/a", "PURGE localhost/b"}},
		{`webserver.flushCache ()`, []string{everything}},
		{`webserver.flushCache ("/a") webserver.flushCache ("") webserver.flushCache ("/b")`, []string{everything}},
		{`for i = 1, 101 do webserver.flushCache ("/" .. i) end`, []string{everything}},
		{`error ("no")`, nil},
		{`webserver.flushCache ("/a") error ("no")`, nil},
	} {
		s.script("flush", c.source+` return "done"`)
		s.ask("/flush.fcgi", nil)
		assert.Equal(t, c.want, one.asked(), c.source)
		if c.want != nil && c.want[0] != everything {
			assert.Equal(t, c.want, two.asked(), c.source)
		}
	}

	two.asked()
	s.script("flush", `scratchpad.edited = true webserver.flushCache ("/a") return "done"`)
	committed := false
	one.look = func() { committed = s.get("scratchpad.edited") == objectdb.Boolean(true) }
	s.ask("/flush.fcgi", nil)
	assert.Equal(t, []string{"PURGE localhost/a"}, one.asked())
	assert.True(t, committed, "the edit is there before the cache asks for it")
	one.look = nil

	s.script("flush", `webserver.sendPartial ("x") webserver.flushCache ("/a") error ("no")`)
	s.ask("/flush.fcgi", nil)
	assert.Equal(t, []string{"PURGE localhost/a"}, one.asked(),
		"what was committed by the first piece may be in the cache")
}

// TestFlushCacheFails checks that the script gets an error if nothing can be flushed, and that the
// log has an error if a cache fails later, when the visitor gets the answer anyway.
func TestFlushCacheFails(t *testing.T) {
	s, server := newSite(t), newCacheServer(t)
	s.script("flush",
		`local ok, why = pcall (webserver.flushCache, (...).searchTable.path) return {body = ok and "done" or why}`)
	assert.Contains(t, s.ask("/flush.fcgi", nil).Body, "no cache is configured")

	s.list("cache-folder", "/nowhere")
	s.list("cache", server.URL)
	s.put("user.webserver.cacheFolders", objectdb.List{objectdb.String("/nowhere/at/all")})
	assert.Contains(t, s.ask("/flush.fcgi", nil).Body,
		"flush the cache folder /nowhere/at/all (user.webserver.cacheFolders): it is not a folder on this machine")
	s.put("user.webserver.cacheFolders", objectdb.List{})

	s.put("user.webserver.cacheServers", objectdb.List{objectdb.String(server.URL)})
	for path, why := range map[string]string{
		"news":                      "it is not a path such as /news.fcgi",
		"ftp%3A%2F%2Fx%2Fy":         "it is neither a path such as /news.fcgi nor an http address",
		"http%3A%2F%2Fu%3Ap%40x%2F": "it is neither a path",
		"%2Fx%0D%0AHost%3A+y":       "it is not a path",
		"*":                         "it is neither a path",
	} {
		assert.Contains(t, s.ask("/flush.fcgi?path="+path, nil).Body, why, path)
	}
	assert.Empty(t, server.asked())

	server.status = 405
	assert.Equal(t, "done", s.ask("/flush.fcgi", nil).Body)
	assert.Contains(t, s.log.String(), "cache not flushed")
	assert.Contains(t, s.log.String(), "it answers 405 Method Not Allowed; does it allow PURGE from here?")

	// A server that accepts connections and does not answer.
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer silent.Close()
	s.list("cache", silent.Addr().String())
	s.put("user.webserver.cacheServers", objectdb.List{objectdb.String(silent.Addr().String())})
	s.log.Take()
	assert.Equal(t, "done", s.ask("/flush.fcgi", nil).Body)
	assert.Contains(t, s.log.String(), "context deadline exceeded")
}

// TestHTTPHeader2 checks the fields for caches that webserver.httpHeader2 makes, and that a
// conditional request is answered 304.
//
// Specification: 2.3.12, 4.3.3
func TestHTTPHeader2(t *testing.T) {
	s := newSite(t)
	s.g.now = func() time.Time { return time.Date(1998, 1, 16, 12, 0, 42, 0, time.UTC) }
	for _, c := range []struct{ call, control, etag, modified string }{
		{`()`, "public, max-age=60", "", "Fri, 16 Jan 1998 12:00:00 GMT"},
		{`("200 OK", "text/html", 30)`, "public, max-age=30", "", "Fri, 16 Jan 1998 12:00:30 GMT"},
		{`("200 OK", "text/html", 0)`, "public, max-age=0, must-revalidate", "", "Fri, 16 Jan 1998 12:00:42 GMT"},
		{`("200 OK", "text/html", 2.9, "page")`, "public, max-age=2", `"3660315a9af3df255d8f19ab077e4797"`, ""},
		{`("200 OK", "text/html", nil, odb.date ("1998-01-02T03:04:05Z"))`, "public, max-age=60", "",
			"Fri, 02 Jan 1998 03:04:05 GMT"},
	} {
		s.script("page", `return webserver.httpHeader2 `+c.call+` .. "x"`)
		resp := s.ask("/page.fcgi", nil)
		require.Equal(t, 200, resp.Status, s.log.String())
		assert.Equal(t, c.control, resp.Get("Cache-Control"), c.call)
		assert.Equal(t, c.etag, resp.Get("ETag"), c.call)
		assert.Equal(t, c.modified, resp.Get("Last-Modified"), c.call)
		field, value := "HTTP_IF_MODIFIED_SINCE", resp.Get("Last-Modified")
		if resp.Has("ETag") {
			field, value = "HTTP_IF_NONE_MATCH", resp.Get("ETag")
		}
		var b bytes.Buffer
		s.g.Answer(context.Background(), s.request("/page.fcgi", map[string]string{field: value}), &b)
		assert.Contains(t, b.String(), " 304 ", c.call)
	}
}
