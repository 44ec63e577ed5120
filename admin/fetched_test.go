package admin

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
	"scripter/site"
)

// TestRequestFetched checks that the page of a recorded request says what it has asked other hosts, without secrets, and
// that texts in it are no HTML.
func TestRequestFetched(t *testing.T) {
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "<b>") }))
	defer other.Close()
	s := debuggingSite(t, `return http.fetch (own.other .. "/a?token=hush&b=<script>").body`)
	s.server.Gateway.SetReach(site.Reach{FetchPrivate: []string{strings.TrimPrefix(other.URL, "http://")}})
	s.put("own.other", objectdb.String(other.URL))
	s.person("ada", "owner")
	eve := s.person("eve", "reader")
	require.Equal(t, 200, s.visit("GET", "/x.fcgi", "", nil).Status)
	page := eve.get("requests/1")
	assert.Contains(t, page.text(), text("request.fetched"))
	assert.Contains(t, page.text(), "GET "+other.URL+"/a?token=(masked)&b=<script>: status 200, 3 bytes, ")
	lacks(t, page.body, "hush")
	lacks(t, page.body, "<script>:")
	assert.Len(t, eve.json("requests/1")["fetched"], 1)
}
