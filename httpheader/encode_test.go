package httpheader

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestEncode(t *testing.T) {
	for _, c := range []struct {
		r           Response
		nph, parsed string
	}{
		{Response{Status: 200}, "HTTP/1.0 200 OK\r\n\r\n", "Status: 200 OK\r\n\r\n"},
		{Response{Status: 299}, "HTTP/1.0 299 Successful\r\n\r\n", "Status: 299 Successful\r\n\r\n"},
		{
			Response{Proto: "HTTP/1.1", Status: 404, Reason: "FILE NOT FOUND", Fields: []Field{{"A", "b"}, {"a", ""}}, Body: "not written"},
			"HTTP/1.1 404 FILE NOT FOUND\r\nA: b\r\na: \r\n\r\n",
			"Status: 404 FILE NOT FOUND\r\nA: b\r\na: \r\n\r\n",
		},
		{
			Response{Status: 200, Close: true, Fields: []Field{{"Server", "X"}, {"Content-type", "text/html"}, {"content-types", "x/y"}}},
			"HTTP/1.0 200 OK\r\nServer: X\r\nConnection: close\r\nContent-type: text/html\r\ncontent-types: x/y\r\n\r\n",
			"Status: 200 OK\r\nServer: X\r\nContent-type: text/html\r\ncontent-types: x/y\r\n\r\n",
		},
		{
			Response{Status: 302, Close: true, Fields: []Field{{"Location", "/x"}}},
			"HTTP/1.0 302 Found\r\nLocation: /x\r\nConnection: close\r\n\r\n",
			"Status: 302 Found\r\nLocation: /x\r\n\r\n",
		},
	} {
		nph, err := c.r.AppendNPH([]byte("+"))
		require.NoError(t, err)
		assert.Equal(t, "+"+c.nph, string(nph))
		parsed, err := c.r.AppendParsed([]byte("+"))
		require.NoError(t, err)
		assert.Equal(t, "+"+c.parsed, string(parsed))
	}
}

func TestEncodeDoesNotAllocate(t *testing.T) {
	r, err := Parse(answer)
	require.NoError(t, err)
	r.Reason, r.Close = "", true
	dst := make([]byte, 0, 1024)
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		dst, _ = r.AppendNPH(dst[:0])
		dst, _ = r.AppendParsed(dst)
	}))
}

func TestFileETag(t *testing.T) {
	when := time.Date(1998, 1, 2, 3, 4, 5, 678, time.UTC)
	tag := FileETag(when, 100)
	assert.Regexp(t, `^"[0-9a-f]+-[0-9a-f]+"$`, tag)
	assert.Equal(t, tag, FileETag(when, 100))
	assert.NotEqual(t, tag, FileETag(when, 101))
	assert.NotEqual(t, tag, FileETag(when.Add(1), 100))
}

func TestFields(t *testing.T) {
	r := Response{Fields: []Field{{"A", "1"}, {"Set-Cookie", "x"}, {"a", "2"}, {"set-cookie", "y"}}}
	assert.Equal(t, "1", r.Get("a"))
	assert.Equal(t, "x", r.Get("SET-COOKIE"))
	assert.Empty(t, r.Get("B"))
	assert.True(t, r.Has("set-Cookie"))
	assert.False(t, r.Has("Set"))

	r.Set("a", "3")
	assert.Equal(t, []Field{{"A", "3"}, {"Set-Cookie", "x"}, {"set-cookie", "y"}}, r.Fields)
	r.Set("B", "4")
	r.Add("b", "5")
	r.Del("SET-COOKIE")
	r.Del("none")
	assert.Equal(t, []Field{{"A", "3"}, {"B", "4"}, {"b", "5"}}, r.Fields)
}

func TestStrip(t *testing.T) {
	r := Response{Fields: []Field{
		{"X-Accel-Redirect", "/etc"}, {"X-A", "1"}, {"x-accel-buffering", "no"}, {"X-Sendfile", "/x"}, {"X-SENDFILE2", "/x"},
		{"X-LIGHTTPD-send-file", "/x"}, {"X-LiteSpeed-Location", "/x"}, {"Content-Length", "5"}, {"X-Accelerate", "2"},
	}}
	r.Strip()
	assert.Equal(t, []Field{{"X-A", "1"}, {"Content-Length", "5"}, {"X-Accelerate", "2"}}, r.Fields)
}
