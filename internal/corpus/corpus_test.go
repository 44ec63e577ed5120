package corpus

import (
	"bufio"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestLoad(t *testing.T) {
	cases, shared, err := Load()
	require.NoError(t, err)
	assert.GreaterOrEqual(t, len(cases), 60, "the corpus has at least 60 cases")
	assert.NotEmpty(t, shared)
	for _, c := range cases {
		assert.Equal(t, strings.ToLower(c.Name), c.Name, "names of cases are in lower case")
	}
}

func TestParseCaseRefuses(t *testing.T) {
	const about = "About.\n"
	for _, test := range []struct{ name, text, want string }{
		{"silent", "-- request --\nGET / HTTP/1.0\n-- want --\nstatus 200\n", "does not say what it checks"},
		{"no wish", about + "-- request --\nGET / HTTP/1.0\n", "request 1 has no checks"},
		{"unknown section", about + "-- request --\nGET / HTTP/1.0\n-- wants --\nstatus 200\n", "is unknown"},
		{"want first", about + "-- want --\nstatus 200\n", "neither a file of the site nor a request"},
		{"file afterwards", about + "-- request --\nGET / HTTP/1.0\n-- want --\nstatus 200\n-- site/x --\n", "is unknown"},
		{"status", about + "-- request --\nGET / HTTP/1.0\n-- want --\nstatus 99\n", `"99" is not a status`},
		{"pattern", about + "-- request --\nGET / HTTP/1.0\n-- want --\nfield A ~ (\n", "missing closing )"},
		{"field", about + "-- request --\nGET / HTTP/1.0\n-- want --\nfield A\n", "needs a colon"},
		{"body", about + "-- request --\nGET / HTTP/1.0\n-- want --\nbody like x\n", "not a check of a body"},
		{"hex", about + "-- site/x.hex --\nzz\n-- request --\nGET / HTTP/1.0\n-- want --\nstatus 200\n", "invalid byte"},
	} {
		_, err := parseCase(test.name, []byte(test.text))
		assert.ErrorContains(t, err, test.want, test.name)
	}
}

func TestWant(t *testing.T) {
	r := &Response{Proto: "HTTP/1.1", Status: 404, Reason: "Gone", Body: "some text",
		Fields: []Field{{"X-One", "1"}, {"x-one", "2"}}}
	for line, right := range map[string]bool{
		"status 404":           true,
		"status 400 or 404":    true,
		"status 404 Gone":      true,
		"status 404 Gone Away": false,
		"status 400 or 200":    false,
		"field X-One: 1, 2":    true,
		"field X-One: 1":       false,
		"field X-One ~ ^1":     true,
		"field X-One ~ 3":      false,
		"field X-One absent":   false,
		"field X-Two absent":   true,
		"field X-Two: 1":       false,
		"field X-Two ~ .":      false,
		"body contains me t":   true,
		"body contains no":     false,
		"body lacks no":        true,
		"body lacks me":        false,
		`body = "some text"`:   true,
		`body = "some"`:        false,
		"body ~ ^some":         true,
		"body ~ ^text":         false,
		"body length 9":        true,
		"body length 8":        false,
		"body sha256 b94f6f125c79e3a5ffaa826f584c10d52ada669e6762051b826b55776d05aed2": true,
		"body sha256 094f6f125c79e3a5ffaa826f584c10d52ada669e6762051b826b55776d05aed2": false,
	} {
		var w Want
		require.NoError(t, w.parse(line), line)
		wrong := ""
		for _, c := range w.checks {
			if _, w := c.look(r, func(s string) string { return s }); w != "" {
				wrong = w
			}
		}
		assert.Equal(t, right, wrong == "", "%s: %s", line, wrong)
	}
}

func TestWire(t *testing.T) {
	client := Client{Addr: "127.0.0.1:80"}
	s := Step{Head: "POST / HTTP/1.1\nHost: {host}\nContent-Length: {length}", Body: "{x*3}\n"}
	assert.Equal(t, "POST / HTTP/1.1\r\nHost: 127.0.0.1:80\r\nContent-Length: 4\r\n\r\nxxx\n",
		string(s.wire(filler(client, s, nil))))
	s = Step{Head: "POST / HTTP/1.1\nTransfer-Encoding: chunked", Body: "12345678"}
	assert.Equal(t, "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n7\r\n1234567\r\n1\r\n8\r\n0\r\n\r\n",
		string(s.wire(filler(client, s, nil))))
}

func TestReadResponse(t *testing.T) {
	for name, test := range map[string]struct {
		wire, body string
		head       bool
	}{
		"to the end": {wire: "HTTP/1.0 200 OK\r\nA: b\r\n\r\nall of it", body: "all of it"},
		"length":     {wire: "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nallmore", body: "all"},
		"chunks": {
			wire: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nall\r\n2\r\n!!\r\n0\r\n\r\n",
			body: "all!!",
		},
		"interim":    {wire: "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\r\nafter", body: "after"},
		"head":       {wire: "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n", head: true},
		"no content": {wire: "HTTP/1.1 204 No Content\r\n\r\n"},
	} {
		r, err := readResponse(bufio.NewReader(strings.NewReader(test.wire)), test.head)
		require.NoError(t, err, name)
		assert.Equal(t, test.body, r.Body, name)
	}
	for name, wire := range map[string]string{
		"nothing":    "",
		"no status":  "200 OK\r\n\r\n",
		"no colon":   "HTTP/1.1 200 OK\r\nwords\r\n\r\n",
		"cut length": "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nall",
		"cut chunks": "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nall",
	} {
		_, err := readResponse(bufio.NewReader(strings.NewReader(wire)), false)
		assert.Error(t, err, name)
	}
}

func TestDifferences(t *testing.T) {
	table := []Difference{
		{Transports: "nginx-* caddy", Cases: "a b-*", Aspect: "reason", Gives: "^Found$", Why: "its own words"},
		{Transports: "other", Cases: "*", Aspect: "status", Gives: ".", Why: "elsewhere"},
	}
	d := differencesOf("nginx-fastcgi", table)
	assert.Len(t, d.unused(), 2)
	assert.True(t, d.of("a").allows("reason", "Found"))
	assert.False(t, d.of("a").allows("reason", "Lost"), "another value is no difference that we allow")
	assert.False(t, d.of("a").allows("status", "Found"), "nor is another aspect")
	assert.False(t, d.of("c").allows("reason", "Found"), "nor is another case")
	assert.Len(t, d.unused(), 1, "no case b-* met its row")
	assert.True(t, d.of("b-1").allows("reason", "Found"))
	assert.Empty(t, d.unused())
	assert.Empty(t, differencesOf("gateway", table).unused(), "rows of other transports do not count")
}

// TestDifferencesHaveReasons: a row without a reason is an excuse.
func TestDifferencesHaveReasons(t *testing.T) {
	for _, row := range Differences {
		assert.NotEmpty(t, row.Why, row.String())
		_, err := regexp.Compile(row.Gives)
		assert.NoError(t, err, row.String())
	}
}
