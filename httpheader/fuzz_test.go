package httpheader

import (
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func FuzzParse(f *testing.F) {
	for _, text := range []string{
		answer, "", "HTTP/1.1 204\n\n", "HTTP/1.0 302 FOUND\rLocation: /x\rURI: /x\r\rbody", "HTTP/1.0 200 OK\r\nA: 1\n B\r\r\n",
		"HTTP/1.0 200 \xff\nA:\t\x85\n\n", "HTTP/1.0 200 OK\nSet-Cookie: a=b\nset-cookie: c=d\n\n\x00",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r, err := Parse(text)
		if err != nil {
			var e *Error
			require.ErrorAs(t, err, &e)
			require.Nil(t, r)
			return
		}
		require.True(t, strings.HasSuffix(text, r.Body))
		if r.Check() != nil {
			return
		}
		header, err := r.AppendNPH(nil)
		require.NoError(t, err)
		again, err := Parse(string(header) + r.Body)
		require.NoError(t, err)
		if r.Reason == "" {
			r.Reason = ReasonText(r.Status)
		}
		assert.Equal(t, r, again)
	})
}

// FuzzEncode tells that what goes in as one field comes out as one line.
func FuzzEncode(f *testing.F) {
	f.Add(200, "OK", "X", "y", "Z", "", true)
	f.Add(302, "FOUND", "Location", "/x\r\nSet-Cookie: a=b", "URI", "//x", false)
	f.Add(404, "", "A\n", "\u0085", "Content-Type", "\xff\x80", true)
	f.Add(500, "\r", "Status", "200", "Connection", "close", false)
	f.Fuzz(func(t *testing.T, status int, reason, name1, value1, name2, value2 string, closing bool) {
		r := &Response{Status: status, Reason: reason, Fields: []Field{{name1, value1}, {name2, value2}}, Close: closing}
		nph, err := r.AppendNPH(nil)
		parsed, errParsed := r.AppendParsed(nil)
		require.Equal(t, err, errParsed)
		require.Equal(t, r.Check(), err)
		if err != nil {
			require.Empty(t, nph)
			require.Empty(t, parsed)
			return
		}
		want := 2 + len(r.Fields) // status line and blank line
		requireLines(t, want, string(parsed))
		if closing {
			want++
		}
		requireLines(t, want, string(nph))

		again, err := Parse(string(nph))
		require.NoError(t, err)
		require.Equal(t, status, again.Status)
		if strings.Trim(reason, " \t") == reason && reason != "" {
			require.Equal(t, reason, again.Reason)
		}
		again.Del("Connection")
		require.Equal(t, []Field{
			{name1, strings.Trim(value1, " \t")},
			{name2, strings.Trim(value2, " \t")},
		}, again.Fields)
		require.Empty(t, again.Body)
	})
}

func requireLines(t *testing.T, want int, header string) {
	t.Helper()
	require.True(t, strings.HasSuffix(header, "\r\n\r\n"))
	require.Equal(t, want, strings.Count(header, "\r\n"))
	rest := strings.ReplaceAll(header, "\r\n", "")
	for _, r := range rest {
		require.False(t, r < ' ' && r != '\t' || r == 0x7f, "%U in %q", r, header)
	}
}

func FuzzMatchETag(f *testing.F) {
	f.Add(`W/"a-gzip", "b"`, `"a"`)
	f.Add(`"a,b`, `W/`)
	f.Fuzz(func(t *testing.T, list, etag string) {
		MatchETag(list, etag)
		if opaque := strings.Trim(etag, `"`); !strings.ContainsAny(opaque, `"`) {
			tag := `"` + opaque + `"`
			require.True(t, MatchETag(tag, tag))
			require.True(t, MatchETag(`"x", W/`+tag, tag))
			require.True(t, MatchETag(`"`+opaque+`-gzip"`, "W/"+tag))
		}
	})
}

func FuzzParseDate(f *testing.F) {
	f.Add("Sun, 06 Nov 1994 08:49:37 GMT")
	f.Add("Sunday, 06-Nov-94 08:49:37 GMT")
	f.Add("Sun Nov  6 08:49:37 1994")
	f.Fuzz(func(t *testing.T, s string) {
		date, err := ParseDate(s)
		if err != nil {
			return
		}
		again, err := ParseDate(FormatDate(date))
		require.NoError(t, err)
		require.True(t, date.Equal(again), "%v is not %v", date, again)
	})
}

// FuzzComplete checks that a relative reference never leads to another host.
func FuzzComplete(f *testing.F) {
	f.Add("thanks.fcgi", "/dir/form.fcgi", "a=1")
	f.Add("..//evil.example/", "/", "")
	f.Add("?a#b", "//evil.example/x", "q")
	f.Add("./../.", "/a/./b/..", "")
	f.Fuzz(func(t *testing.T, ref, path, query string) {
		r := &Response{Status: 302, Fields: []Field{{"Location", ref}}}
		if r.Check() != nil || hasPrefix(ref, "http") {
			return
		}
		path = "/" + path
		r.Complete(Base{"https://this.example:81", path, query})
		got := r.Get("Location")
		require.True(t, strings.HasPrefix(got, "https://this.example:81/"), got)
		if u, err := url.Parse(got); err == nil {
			require.Equal(t, "this.example:81", u.Host)
		}
		r.Set("Location", ref)
		r.Complete(Base{"", path, query})
		got = r.Get("Location")
		require.True(t, strings.HasPrefix(got, "/") && !strings.HasPrefix(got, "//"), got)
	})
}
