package httpheader

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestMatchETag(t *testing.T) {
	for _, c := range []struct {
		list, etag string
		want       bool
	}{
		{`"abc"`, `"abc"`, true},
		{`W/"abc"`, `"abc"`, true},
		{`"abc"`, `W/"abc"`, true},
		{`W/"abc"`, `W/"abc"`, true},
		{`"abd"`, `"abc"`, false},
		{`"ABC"`, `"abc"`, false},
		{`"a", W/"b" ,"c"`, `"b"`, true},
		{`,, "a","abc"`, `"abc"`, true},
		{`"a" "abc"`, `"abc"`, true},
		{`"x, y", "z"`, `"x, y"`, true},
		{`"x, y", "z"`, `"y"`, false},
		{`"a,b"`, `"a"`, false},
		{`*`, `"abc"`, true},
		{`*`, ``, true},
		{` * `, ``, true},
		{`"*"`, `"abc"`, false},
		{``, ``, false},
		{`"abc"`, ``, false},
		{`""`, `""`, true},

		// compression on the way out, none on the way back
		{`"abc-gzip"`, `"abc"`, true},
		{`W/"abc-br"`, `"abc"`, true},
		{`"x", "abc-zstd"`, `W/"abc"`, true},
		{`"abc-gzip"`, `"abc-gzip"`, true},
		{`"abc"`, `"abc-gzip"`, false},
		{`"abc-deflate"`, `"abc"`, false},
		{`"abc-gzip-gzip"`, `"abc"`, false},
		{`"abc-gzip-gzip"`, `"abc-gzip"`, true},
		{`"-gzip"`, `""`, true},

		// no entity tags, but scripts make them
		{`abc`, `abc`, true},
		{`x, abc , y`, `abc`, true},
		{`"abc`, `"abc`, true},
		{`"`, `"abc"`, false},
		{`W/`, `"abc"`, false},
	} {
		assert.Equal(t, c.want, MatchETag(c.list, c.etag), "%s against %s", c.list, c.etag)
	}
}

func TestNotModified(t *testing.T) {
	const (
		tag   = `"abc"`
		date  = "Wed, 21 Jan 1998 11:00:00 GMT"
		later = "Wed, 21 Jan 1998 11:00:01 GMT"
		early = "Wed, 21 Jan 1998 10:59:59 GMT"
	)
	for _, c := range []struct {
		method        string
		status        int
		match, since  string
		etag, changed string
		want          bool
	}{
		{"GET", 200, "", "", tag, date, false},
		{"GET", 200, tag, "", tag, "", true},
		{"HEAD", 200, tag, "", tag, "", true},
		{"POST", 200, tag, "", tag, "", false},
		{"GET", 404, tag, "", tag, "", false},
		{"GET", 206, tag, "", tag, "", false},
		{"GET", 200, `"x"`, "", tag, "", false},
		{"GET", 200, tag, "", "", "", false},
		{"GET", 200, "*", "", "", "", true},

		{"GET", 200, "", date, "", date, true},
		{"HEAD", 200, "", date, "", date, true},
		{"POST", 200, "", date, "", date, false},
		{"GET", 200, "", later, "", date, true},
		{"GET", 200, "", early, "", date, false},
		{"GET", 200, "", date, "", "", false},
		{"GET", 200, "", "yesterday", "", date, false},
		{"GET", 200, "", date, "", "yesterday", false},
		{"GET", 200, "", "Wednesday, 21-Jan-98 11:00:00 GMT; length=1234", "", date, true},
		{"GET", 200, "", "Wed Jan 21 11:00:00 1998", "", date, true},

		// If-None-Match goes first
		{"GET", 200, `"x"`, later, tag, date, false},
		{"GET", 200, tag, early, tag, date, true},
		{"GET", 200, tag, later, "", date, false},
	} {
		r := &Response{Status: c.status}
		if c.etag != "" {
			r.Add("ETag", c.etag)
		}
		if c.changed != "" {
			r.Add("Last-Modified", c.changed)
		}
		headers := map[string]string{"If-None-Match": c.match, "If-Modified-Since": c.since}
		got := NotModified(c.method, func(name string) string { return headers[name] }, r)
		assert.Equal(t, c.want, got, "%+v", c)
	}
}

func TestToNotModified(t *testing.T) {
	r := &Response{Proto: "HTTP/1.1", Status: 200, Reason: "FINE", Body: "text", Fields: []Field{
		{"Content-Type", "text/html"}, {"ETag", `"a"`}, {"Content-Length", "4"}, {"Cache-Control", "private"}, {"content-encoding", "gzip"},
		{"Vary", "Cookie"}, {"Content-Location", "/x"}, {"Content-Language", "de"}, {"Expires", "0"}, {"Content-Range", "x"}, {"Set-Cookie", "a=b"},
	}}
	r.ToNotModified()
	assert.Equal(t, &Response{Proto: "HTTP/1.1", Status: 304, Reason: "Not Modified", Fields: []Field{
		{"ETag", `"a"`}, {"Cache-Control", "private"}, {"Vary", "Cookie"}, {"Content-Location", "/x"}, {"Expires", "0"}, {"Set-Cookie", "a=b"},
	}}, r)
}

func TestDates(t *testing.T) {
	now := time.Date(2025, 6, 1, 0, 0, 0, 0, time.UTC)
	want := time.Date(1994, 11, 6, 8, 49, 37, 0, time.UTC)
	// RFC 9110, 5.6.7
	for _, s := range []string{"Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"} {
		got, err := parseDate(s, now)
		require.NoError(t, err, s)
		assert.Equal(t, want, got, s)
	}
	assert.Equal(t, "Sun, 06 Nov 1994 08:49:37 GMT", FormatDate(want.In(time.FixedZone("", -7200))))

	for s, year := range map[string]int{
		"Monday, 01-Jan-00 00:00:00 GMT":    2000,
		"Monday, 01-Jan-75 00:00:00 GMT":    2075,
		"Thursday, 01-Aug-75 00:00:00 GMT":  1975, // more than 50 years ahead
		"Thursday, 01-Jan-76 00:00:00 GMT":  1976,
		"Wednesday, 01-Jan-69 00:00:00 GMT": 2069,
	} {
		got, err := parseDate(s, now)
		require.NoError(t, err, s)
		assert.Equal(t, year, got.Year(), s)
	}
	for _, s := range []string{"", "0", "-1", "yesterday", "1998-01-21", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 CET", "Sun, 32 Nov 1994 08:49:37 GMT", "x Sun, 06 Nov 1994 08:49:37 GMT"} {
		_, err := ParseDate(s)
		assert.EqualError(t, err, excerpt(s)+" is not a date such as Mon, 02 Jan 2006 15:04:05 GMT")
	}
}
