package httpheader

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestCheckStatus(t *testing.T) {
	for _, r := range []Response{
		{Status: 200}, {Status: 599}, {Status: 404, Reason: "FILE NOT FOUND"}, {Status: 200, Reason: "café \t"},
		{Status: 200, Proto: "HTTP/1.0"}, {Status: 200, Proto: "HTTP/1.1"}, {Status: 200, Reason: strings.Repeat("x", 80)},
	} {
		assert.NoError(t, r.Check())
	}
	for want, r := range map[string]Response{
		`status 0 is not between 200 and 599`:                                   {},
		`status -1 is not between 200 and 599`:                                  {Status: -1},
		`status 99 is not between 200 and 599`:                                  {Status: 99},
		`status 100 is not between 200 and 599`:                                 {Status: 100},
		`status 101 is not between 200 and 599`:                                 {Status: 101},
		`status 199 is not between 200 and 599`:                                 {Status: 199},
		`status 600 is not between 200 and 599`:                                 {Status: 600},
		`status 1000 is not between 200 and 599`:                                {Status: 1000},
		`version "HTTP/2" is neither HTTP/1.0 nor HTTP/1.1`:                     {Status: 200, Proto: "HTTP/2"},
		`version "HTTP/1.0\r\n" is neither HTTP/1.0 nor HTTP/1.1`:               {Status: 200, Proto: "HTTP/1.0\r\n"},
		`reason has 81 bytes, more than 80: "` + strings.Repeat("x", 40) + `"…`: {Status: 200, Reason: strings.Repeat("x", 81)},
		`reason has the control character U+000D at byte 2: "a\r"`:              {Status: 200, Reason: "a\r"},
	} {
		assert.EqualError(t, r.Check(), "response header: "+want)
	}
}

// Every control byte, in every place of a field, is refused on both ways out.
func TestNoFieldSplitsTheHeader(t *testing.T) {
	bad := []string{"\u0080", "\u0085", "\u009f", "\u2028", "\u2029", "\u009b", "a\x85", "\xff\x80", "é\u0085", "\xff\u2028"}
	for c := range 0x20 {
		if c != '\t' {
			bad = append(bad, string(rune(c)))
		}
	}
	for _, s := range append(bad, "\x7f", "\r\n", "\r\nSet-Cookie: a=b", "\r\n\r\n<p>") {
		for _, f := range []Field{{"X", s}, {"X", s + "a"}, {"X", "é" + s}, {"X" + s, "a"}, {s, "a"}, {"Location", "/" + s}} {
			r := Response{Status: 200, Fields: []Field{{"A", "b"}, f}}
			require.Error(t, r.Check(), "%q", f)
			nph, err := r.AppendNPH([]byte("kept"))
			assert.Error(t, err)
			assert.Equal(t, "kept", string(nph))
			parsed, err := r.AppendParsed([]byte("kept"))
			assert.Error(t, err)
			assert.Equal(t, "kept", string(parsed))
		}
		r := Response{Status: 200, Reason: "a" + s}
		require.Error(t, r.Check(), "%q", s)
	}
}

func TestCheckValues(t *testing.T) {
	for _, value := range []string{"", " ", "a\tb", "café", "caf\xe9", "日本", "\u560a", "\u00a0", "\u2027", "\u202a", "a, b; c=\"d\"", strings.Repeat("x", maxLine-3)} {
		r := Response{Status: 200, Fields: []Field{{"X", value}}}
		assert.NoError(t, r.Check(), "%q", value)
	}
	r := Response{Status: 200, Fields: []Field{{"X", strings.Repeat("x", maxLine-2)}}}
	assert.EqualError(t, r.Check(), "response header, field X: the line has 8191 bytes, more than 8190")
}

func TestCheckNames(t *testing.T) {
	for _, name := range []string{"X", "Content-type", "a!#$%&'*+-.^_`|~9", "Text", "Team", "Upgrades", "Trailers", "Connections", "Keep-Alives", "Proxy", "Locations", "Statuses", "Transfer-Encodings"} {
		r := Response{Status: 200, Fields: []Field{{name, "x"}}}
		assert.NoError(t, r.Check(), name)
	}
	for _, name := range []string{"", " ", "a b", "a:", "a(b)", "é", "a\"", "{a}", "a/b", "a@", "[a]", "a,b", "<a>", "a=b", "a?", "a\\"} {
		r := Response{Status: 200, Fields: []Field{{name, "x"}}}
		assert.Error(t, r.Check(), name)
	}
	for _, name := range []string{
		"Connection", "connection", "Keep-Alive", "Proxy-Connection", "Proxy-Authenticate", "PROXY-anything", "TE", "te",
		"Trailer", "Transfer-Encoding", "TRANSFER-ENCODING", "Upgrade",
	} {
		r := Response{Status: 200, Fields: []Field{{name, "close"}}}
		assert.EqualError(t, r.Check(), "response header, field "+name+": it is about the connection, which belongs to the web server")
	}
	r := Response{Status: 200, Fields: []Field{{"status", "404 x"}}}
	assert.EqualError(t, r.Check(), "response header, field status: the status line says it already")
}

func TestCheckTargets(t *testing.T) {
	const neither = "is neither an http or https URL nor a relative reference"
	for url, want := range map[string]string{
		"http://www.example.com": "", "HTTPS://x/": "", "http://x:8080/a?b=c&d#e": "", "https://[::1]/": "", "http://u:p@x/": "",
		"/": "", "/page.mcro": "", "/a?u=http://x//y": "", "/%0d%0a": "", "/日本": "", "/a:b": "", "/'x'": "",
		"page.mcro": "", "www.example.com": "", "../x": "", "?x": "", "#x": "", "./a:b": "", "?u=http://x": "",

		"":                    "is empty",
		"a:b":                 neither,
		"www.example.com:80":  neither,
		"javascript:alert(1)": neither,
		"JavaScript:x":        neither,
		"data:text/html,x":    neither,
		"ftp://x/":            neither,
		"http:/x":             neither,
		"http:x":              neither,
		"//evil.example":      `begins with "//", which means another host`,
		"///evil.example":     `begins with "//", which means another host`,
		`/\evil.example`:      `has the character '\\', which no URL may have`,
		`\\evil.example`:      `has the character '\\', which no URL may have`,
		"/a b":                `has the character ' ', which no URL may have`,
		" /a":                 `has the character ' ', which no URL may have`,
		"/\t/evil.example":    `has the character '\t', which no URL may have`,
		`/"><script>`:         `has the character '"', which no URL may have`,
		"http://":             "names no host",
		"http:///x":           "names no host",
		"https://?x":          "names no host",
		"http://:80/":         "names no host",
		"http://user@/":       "names no host",
	} {
		for _, name := range []string{"Location", "location", "URI", "uri"} {
			r := Response{Status: 302, Fields: []Field{{name, url}}}
			if want == "" {
				assert.NoError(t, r.Check(), url)
				continue
			}
			assert.EqualError(t, r.Check(), "response header, field "+name+": "+excerpt(url)+" "+want)
		}
	}
	long := Response{Status: 302, Fields: []Field{{"Location", "/" + strings.Repeat("x", 60_000)}}}
	assert.Error(t, long.Check())
}

// What web servers would make different things of is refused.
func TestCheckWhatServersDifferIn(t *testing.T) {
	for _, r := range []Response{
		{Status: 201, Fields: []Field{{"Location", "/x"}}},
		{Status: 200, Fields: []Field{{"Content-Location", "/x"}, {"Content-Type", "text/plain"}, {"URI", "/x"}}},
		{Status: 200, Fields: []Field{{"Set-Cookie", "a=1"}, {"Set-Cookie", "b=2"}, {"Server", "X"}, {"server", "Y"}}},
	} {
		assert.NoError(t, r.Check(), "%v", r)
	}
	for want, r := range map[string]Response{
		"Location: status 200 does not go with it: some web servers make a redirect of that; say 201 or 302": {
			Status: 200, Fields: []Field{{"Location", "http://www.example.com/"}}},
		"Location: it is there twice":     {Status: 302, Fields: []Field{{"Location", "/a"}, {"location", "/a"}}},
		"Content-Type: it is there twice": {Status: 200, Fields: []Field{{"Content-Type", "text/html"}, {"A", "b"}, {"content-type", "text/plain"}}},
	} {
		assert.EqualError(t, r.Check(), "response header, field "+want)
	}
}
