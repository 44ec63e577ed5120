package httpheader

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParseLineEnds(t *testing.T) {
	want := &Response{
		Proto: "HTTP/1.0", Status: 404, Reason: "FILE NOT FOUND",
		Fields: []Field{{"Server", "X"}, {"Content-type", "text/html"}},
		Body:   "<p>\r\rbody\n\n",
	}
	for _, text := range []string{
		"HTTP/1.0 404 FILE NOT FOUND\r\nServer: X\r\nContent-type: text/html\r\n\r\n<p>\r\rbody\n\n",
		"HTTP/1.0 404 FILE NOT FOUND\nServer: X\nContent-type: text/html\n\n<p>\r\rbody\n\n",
		"HTTP/1.0 404 FILE NOT FOUND\rServer: X\rContent-type: text/html\r\r<p>\r\rbody\n\n",
		"HTTP/1.0 404 FILE NOT FOUND\r\nServer: X\nContent-type: text/html\r\n\n<p>\r\rbody\n\n",
		"HTTP/1.0 404 FILE NOT FOUND\rServer: X\r\nContent-type: text/html\n\r\n<p>\r\rbody\n\n",
		"HTTP/1.0 404 FILE NOT FOUND\nServer: X\rContent-type: text/html\n\r<p>\r\rbody\n\n",
		// blanks that mean nothing
		"HTTP/1.0  404  FILE NOT FOUND \nServer:X\nContent-type: \ttext/html\t \n\n<p>\r\rbody\n\n",
	} {
		got, err := Parse(text)
		require.NoError(t, err, text)
		assert.Equal(t, want, got, text)
	}
}

func TestParse(t *testing.T) {
	for text, want := range map[string]*Response{
		"HTTP/1.1 204\n\n":             {Proto: "HTTP/1.1", Status: 204, Fields: []Field{}},
		"HTTP/1.0 200 OK\n\n\n":        {Proto: "HTTP/1.0", Status: 200, Reason: "OK", Fields: []Field{}, Body: "\n"},
		"HTTP/2 200 OK\n\nHTTP/1.0":    {Proto: "HTTP/2", Status: 200, Reason: "OK", Fields: []Field{}, Body: "HTTP/1.0"},
		"HTTP/1.0 999 x\nA:\nA: 1\n\n": {Proto: "HTTP/1.0", Status: 999, Reason: "x", Fields: []Field{{"A", ""}, {"A", "1"}}},
		"HTTP/1.0 200 OK\nX: a:b: c, d\n\n\x00\xff": {Proto: "HTTP/1.0", Status: 200, Reason: "OK",
			Fields: []Field{{"X", "a:b: c, d"}}, Body: "\x00\xff"},
		"HTTP/1.0 200 OK\nX: caf\xe9\nY: café 日本\n\n": {Proto: "HTTP/1.0", Status: 200, Reason: "OK",
			Fields: []Field{{"X", "caf\xe9"}, {"Y", "café 日本"}}},
	} {
		got, err := Parse(text)
		require.NoError(t, err, text)
		assert.Equal(t, want, got)
	}
}

func TestParseSaysWhichLineAndWhy(t *testing.T) {
	for text, want := range map[string]string{
		"":                                     `, line 1: expected a status line such as "HTTP/1.0 200 OK", found ""`,
		"Hello\n\n":                            `, line 1: expected a status line such as "HTTP/1.0 200 OK", found "Hello"`,
		"HTTP/ 200 OK\n\n":                     `, line 1: expected a status line such as "HTTP/1.0 200 OK", found "HTTP/ 200 OK"`,
		"HTTP/1. 200 OK\n\n":                   `, line 1: expected a status line such as "HTTP/1.0 200 OK", found "HTTP/1. 200 OK"`,
		"HTTP/1.x 200 OK\n\n":                  `, line 1: expected a status line such as "HTTP/1.0 200 OK", found "HTTP/1.x 200 OK"`,
		"http/1.0 200 OK\n\n":                  `, line 1: expected a status line such as "HTTP/1.0 200 OK", found "http/1.0 200 OK"`,
		"HTTP/1.0\n\n":                         `, line 1: expected a status of three digits after HTTP/1.0, found ""`,
		"HTTP/1.0 200abc\n\n":                  `, line 1: expected a status of three digits after HTTP/1.0, found "200abc"`,
		"HTTP/1.0 -20 x\n\n":                   `, line 1: expected a status of three digits after HTTP/1.0, found "-20 x"`,
		"HTTP/1.0 1000 x\n\n":                  `, line 1: expected a status of three digits after HTTP/1.0, found "1000 x"`,
		"HTTP/1.0 200 O\x00K\n\n":              `, line 1: reason has the control character U+0000 at byte 2: "O\x00K"`,
		"HTTP/1.0 200 OK\nHTTP/1.0 200 OK\n\n": `, line 2: a second status line: "HTTP/1.0 200 OK"`,
		"HTTP/1.0 200 OK\nServer: X\n<p>Hello\n\n":           `, line 3: expected a field such as "Content-type: text/html", found "<p>Hello"`,
		"HTTP/1.0 200 OK\nServer : X\n\n":                    `, line 2: field name "Server " has a character that no name may have: " "`,
		"HTTP/1.0 200 OK\nContent type: X\n\n":               `, line 2: field name "Content type" has a character that no name may have: " "`,
		"HTTP/1.0 200 OK\n: X\n\n":                           `, line 2: a field has no name`,
		"HTTP/1.0 200 OK\nA: 1\n b\n\n":                      `, line 3: it begins with a blank: a field must be on one line`,
		"HTTP/1.0 200 OK\n\tA: 1\n\n":                        `, line 2: it begins with a blank: a field must be on one line`,
		"HTTP/1.0 200 OK\r\nA: 1\r\nB: x\x1by\r\n\r\n":       `, line 3, field B: value has the control character U+001B at byte 2: "x\x1by"`,
		"HTTP/1.0 200 OK\n\xff: 1\n\n":                       `, line 2: field name "\xff" has a character that no name may have: "\xff"`,
		"HTTP/1.0 200 OK":                                    `: it has no end: a blank line must follow the last field`,
		"HTTP/1.0 200 OK\n":                                  `: it has no end: a blank line must follow the last field`,
		"HTTP/1.0 302 FOUND\r\nLocation: /x\r\n":             `: it has no end: a blank line must follow the last field`,
		"HTTP/1.0 200 OK\n" + strings.Repeat("x", 50) + "\n": `, line 2: expected a field such as "Content-type: text/html", found "` + strings.Repeat("x", 40) + `"…`,
	} {
		r, err := Parse(text)
		assert.EqualError(t, err, "response header"+want, text)
		assert.Nil(t, r)
	}
}
