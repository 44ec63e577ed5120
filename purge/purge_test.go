package purge

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParsePage(t *testing.T) {
	for target, want := range map[string]Page{
		"":                         {},
		"/news.fcgi$a%20b?x=1":     {"here.test", "/news.fcgi$a%20b?x=1"},
		"http://second.test:81/":   {"second.test:81", "/"},
		"https://second.test/a?b":  {"second.test", "/a?b"},
		"http://second.test/a/../": {"second.test", "/a/../"},
	} {
		p, err := ParsePage(target, "here.test")
		require.NoError(t, err, target)
		assert.Equal(t, want, p, target)
	}
	for target, why := range map[string]string{
		"news":              "it is not a path such as /news.fcgi",
		"/x\r\nHost: y":     "it is not a path",
		"*":                 "it is neither a path",
		"ftp://x/y":         "it is neither a path such as /news.fcgi nor an http address",
		"http://u:p@host/x": "it is neither a path",
	} {
		_, err := ParsePage(target, "here.test")
		assert.ErrorContains(t, err, why, target)
	}
}

func TestListAdd(t *testing.T) {
	a, b, all := Page{"h", "/a"}, Page{"h", "/b"}, Page{}
	var many []Page
	for i := range maxPages + 1 {
		many = append(many, Page{"h", "/" + strconv.Itoa(i)})
	}
	for _, c := range []struct{ add, want []Page }{
		{[]Page{a, b, a}, []Page{a, b}},
		{[]Page{a, all, b}, []Page{all}},
		{many[:maxPages], many[:maxPages]},
		{many, []Page{all}},
	} {
		var l List
		for _, p := range c.add {
			l.Add(p, Caches{})
		}
		assert.Equal(t, c.want, l.pages)
	}
}

func TestServerCannotRedirect(t *testing.T) {
	var asked atomic.Int32
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	defer other.Close()
	server := httptest.NewServer(http.RedirectHandler(other.URL+"/", http.StatusTemporaryRedirect))
	defer server.Close()
	err := purgeServer(context.Background(), server.URL, []Page{{"h", "/"}})
	require.ErrorContains(t, err, "it answers 307")
	assert.Zero(t, asked.Load())
}
