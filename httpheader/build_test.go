package httpheader

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Specification: 4.2.1, 4.2.2
func TestBuild(t *testing.T) {
	for _, c := range []struct{ status, modifier, server, want string }{
		// the specification's shapes, 4.2, byte for byte
		{"200 OK", "text/html", "X", "HTTP/1.0 200 OK\r\nServer: X\r\nMIME-Version: 1.0\r\nContent-type: text/html\r\n\r\n"},
		{"302 FOUND", "http://www.example.com/x?a=b#c", "X", "HTTP/1.0 302 FOUND\r\nLocation: http://www.example.com/x?a=b#c\r\nURI: http://www.example.com/x?a=b#c\r\nServer: X\r\n\r\n"},
		{"401 UNAUTHORIZED", "My Site", "X", "HTTP/1.0 401 UNAUTHORIZED\r\nWWW-Authenticate: Basic realm=\"My Site\"\r\nServer: X\r\n\r\n"},

		{"404 FILE NOT FOUND", "text/html", "Apache/2.4 (Unix)", "HTTP/1.0 404 FILE NOT FOUND\r\nServer: Apache/2.4 (Unix)\r\nMIME-Version: 1.0\r\nContent-type: text/html\r\n\r\n"},
		{"200 OK", "text/plain; charset=utf-8", "X", "HTTP/1.0 200 OK\r\nServer: X\r\nMIME-Version: 1.0\r\nContent-type: text/plain; charset=utf-8\r\n\r\n"},
		{"302 Found", "/home.mcro", "X", "HTTP/1.0 302 Found\r\nLocation: /home.mcro\r\nURI: /home.mcro\r\nServer: X\r\n\r\n"},
		{"301 MOVED PERMANENTLY", "text/html", "X", "HTTP/1.0 301 MOVED PERMANENTLY\r\nServer: X\r\nMIME-Version: 1.0\r\nContent-type: text/html\r\n\r\n"},
		{"301 Moved Permanently", "/new?x=1", "X", "HTTP/1.0 301 Moved Permanently\r\nLocation: /new?x=1\r\nURI: /new?x=1\r\nServer: X\r\n\r\n"},
		{"303", "https://www.example.com/", "", "HTTP/1.0 303 See Other\r\nLocation: https://www.example.com/\r\nURI: https://www.example.com/\r\n\r\n"},
		{"307", "thanks.fcgi", "", "HTTP/1.0 307 Temporary Redirect\r\nLocation: thanks.fcgi\r\nURI: thanks.fcgi\r\n\r\n"},
		{"308", "texts/new", "", "HTTP/1.0 308 Permanent Redirect\r\nLocation: texts/new\r\nURI: texts/new\r\n\r\n"},
		{"301", "TEXT/html; charset=utf-8", "", "HTTP/1.0 301 Moved Permanently\r\nMIME-Version: 1.0\r\nContent-type: TEXT/html; charset=utf-8\r\n\r\n"},
		{"301", "", "", "HTTP/1.0 301 Moved Permanently\r\nMIME-Version: 1.0\r\nContent-type: text/html\r\n\r\n"},
		{"302 ELSEWHERE", "text/html", "X", "HTTP/1.0 302 ELSEWHERE\r\nServer: X\r\nMIME-Version: 1.0\r\nContent-type: text/html\r\n\r\n"},
		{"401 UNAUTHORIZED", `the "old" C:\`, "X", "HTTP/1.0 401 UNAUTHORIZED\r\nWWW-Authenticate: Basic realm=\"the \\\"old\\\" C:\\\\\"\r\nServer: X\r\n\r\n"},

		// what is left out
		{"", "", "", "HTTP/1.0 200 OK\r\nMIME-Version: 1.0\r\nContent-type: text/html\r\n\r\n"},
		{"404", "", "X", "HTTP/1.0 404 Not Found\r\nServer: X\r\nMIME-Version: 1.0\r\nContent-type: text/html\r\n\r\n"},
		{"302", "/", "X", "HTTP/1.0 302 Found\r\nLocation: /\r\nURI: /\r\nServer: X\r\n\r\n"},
		{"401", "", "X", "HTTP/1.0 401 Unauthorized\r\nWWW-Authenticate: Basic realm=\"\"\r\nServer: X\r\n\r\n"},
	} {
		got, err := Build(c.status, c.modifier, c.server)
		require.NoError(t, err, c.status)
		assert.Equal(t, c.want, got)
	}
}

func TestBuildRefuses(t *testing.T) {
	for _, c := range []struct{ status, modifier, server, want string }{
		{"200 OK\r\nX: y", "text/html", "X", `response header: reason has the control character U+000D at byte 3: "OK\r\nX: y"`},
		{"200 OK", "text/html\r\nX: y", "X", `response header, field Content-type: value has the control character U+000D at byte 10: "text/html\r\nX: y"`},
		{"200 OK", "text/html", "X\n", `response header, field Server: value has the control character U+000A at byte 2: "X\n"`},
		{"302 FOUND", "http://x/\x00", "X", `response header, field Location: value has the control character U+0000 at byte 10: "http://x/\x00"`},
		{"401 UNAUTHORIZED", "a\nb", "X", `response header, field WWW-Authenticate: value has the control character U+000A at byte 15: "Basic realm=\"a\nb\""`},
		{"302 FOUND", "javascript:alert(1)", "X", `response header, field Location: "javascript:alert(1)" is neither an http or https URL nor a relative reference`},
		{"302 FOUND", "", "X", `response header, field Location: "" is empty`},
		{"301 MOVED PERMANENTLY", "javascript:alert(1)", "X", `response header, field Location: "javascript:alert(1)" is neither an http or https URL nor a relative reference`},
		{"OK", "", "X", `response header: status "OK" does not begin with three digits, such as "200 OK"`},
		{"200abc", "", "X", `response header: status "200abc" does not begin with three digits, such as "200 OK"`},
		{"+20 OK", "", "X", `response header: status "+20 OK" does not begin with three digits, such as "200 OK"`},
		{"100 CONTINUE", "", "X", `response header: status 100 is not between 200 and 599`},
	} {
		got, err := Build(c.status, c.modifier, c.server)
		assert.EqualError(t, err, c.want)
		assert.Empty(t, got)
	}
}

func TestReasonText(t *testing.T) {
	for status, want := range map[int]string{
		200: "OK", 404: "Not Found", 503: "Service Unavailable", 511: "Network Authentication Required",
		299: "Successful", 399: "Redirection", 499: "Client Error", 599: "Server Error", 700: "Unknown", 0: "Unknown", -1: "Unknown",
	} {
		assert.Equal(t, want, ReasonText(status), status)
	}
	for status, text := range reasons {
		assert.LessOrEqual(t, len(text), maxReason, status)
		assert.Equal(t, -1, badByte(text), status)
	}
}

func TestQuoteKeepsHeaderWhole(t *testing.T) {
	header, err := Build("401", strings.Repeat(`"\`, 10), "")
	require.NoError(t, err)
	r, err := Parse(header)
	require.NoError(t, err)
	assert.Len(t, r.Fields, 1)
}
