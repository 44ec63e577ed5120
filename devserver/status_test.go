package devserver

import (
	"bufio"
	"bytes"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"scripter/gateway"
)

// TestServerStatus checks that the built-in server shows its name at /server-status, as
// web servers do (specification, 2.2), and only to this machine.
//
// Specification: 2.2.4
func TestServerStatus(t *testing.T) {
	s := newSite(t)
	addr := s.addr
	got := raw(t, addr, "GET /server-status?auto HTTP/1.0\r\nHost: site.test:80\r\n\r\n")
	assert.Regexp(t, `^HTTP/1\.1 200 OK\r\n(?s:.*)Cache-Control: private, no-cache\r\n`+
		`(?s:.*)\r\n\r\nsite\.test\nServerVersion: Scripter/test\n`, got)
	got = raw(t, addr, "GET /server-status HTTP/1.0\r\nHost: site.test\r\n\r\n")
	assert.Contains(t, got, "<dt>Server Version: Scripter/test</dt>")
	assert.True(t, strings.HasSuffix(raw(t, addr, "HEAD /server-status HTTP/1.0\r\n\r\n"), "\r\n\r\n"))
	assert.Contains(t, raw(t, addr, "POST /server-status HTTP/1.0\r\nContent-Length: 0\r\n\r\n"), "405 ")

	for from, shown := range map[string]bool{"127.0.0.1:5": true, "[::1]:5": true, "192.0.2.1:5": false,
		"nonsense": false} {
		hr := newHTTPRequest(t, "/server-status", from)
		assert.Equal(t, shown, showsStatus(hr, statusPath), from)
	}
	assert.False(t, showsStatus(newHTTPRequest(t, "/", "127.0.0.1:5"), "/"))
	hr := newHTTPRequest(t, "/server-status", "192.0.2.1:5")
	var b bytes.Buffer
	c := &conn{out: bufio.NewWriter(&b)}
	assert.Equal(t, 404, s.server.serve(hr, &gateway.Request{Params: s.server.params(hr), Form: gateway.NPH}, c))
}

func newHTTPRequest(t *testing.T, path, from string) *http.Request {
	t.Helper()
	hr := httptest.NewRequest(http.MethodGet, "http://localhost"+path, nil)
	hr.RemoteAddr = from
	return hr
}
