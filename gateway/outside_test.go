package gateway

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/site"
)

// TestOutside: the doctor learns what scripts may use and whether it can be reached.
func TestOutside(t *testing.T) {
	s := newSite(t)
	s.shop()
	o := s.other(nil)
	s.list(site.KeyFetch, "*.example.org")
	s.list(site.KeyFetchPrivate, "127.0.0.1:1")
	s.list(site.KeyDatabase, "gone /nowhere/gone.db")
	s.list(site.KeyDatabase, "remote postgres://reader@db/shop")
	found := map[string]string{}
	for _, x := range s.g.Outside(t.Context()) {
		name, rest, _ := strings.Cut(x.Line, ": ")
		if name == site.KeyDatabase {
			name, _, _ = strings.Cut(rest, " ")
		} else {
			name += " " + rest
		}
		found[name] = x.Failure
		if x.Untried {
			found[name] = "untried"
		}
	}
	require.Len(t, found, 7)
	assert.Empty(t, found["fetch-private "+strings.TrimPrefix(o.URL, "http://")])
	assert.Contains(t, found["fetch-private 127.0.0.1:1"], "refused")
	assert.Equal(t, "untried", found["fetch *.example.org"])
	assert.Empty(t, found["shop"])
	assert.Empty(t, found["till"])
	assert.Equal(t, "there is no file /nowhere/gone.db", found["gone"])
	assert.Contains(t, found["remote"], "needs a resident server")
	assert.Empty(t, o.requests(), "nothing is asked")
}
