package site

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
)

func TestCORS(t *testing.T) {
	s := newSite(t)
	row := func(cells string) string { return `user.webserver.cors.["/api/"].` + cells }
	set := func(cells map[string]objectdb.Value) *CORS {
		require.NoError(t, s.try(func(tx *objectdb.Tx) error {
			if err := tx.Delete(CORSRows); err != nil {
				return err
			}
			return tx.NewTable(CORSRows)
		}))
		for cell, v := range cells {
			s.put(row(cell), v)
		}
		return s.now().CORS("/api/items/7")
	}
	assert.Nil(t, s.now().CORS("/api/"))
	c := set(map[string]objectdb.Value{"origins": objectdb.String("https://App.example, http://[::1]:8080")})
	require.NoError(t, c.Why)
	assert.True(t, c.Admits("https://app.example"))
	assert.True(t, c.Admits("HTTPS://APP.EXAMPLE"))
	for _, origin := range []string{"", "null", "*", "https://app.example:8443", "http://app.example", "https://app.example.evil"} {
		assert.False(t, c.Admits(origin), origin)
	}
	assert.Nil(t, s.now().CORS("/apis"))
	assert.Nil(t, s.now().CORS("/API/"))
	assert.Equal(t, corsMaxAge, c.MaxAge)
	c = set(map[string]objectdb.Value{"origins": objectdb.List{objectdb.String("*")}, "methods": objectdb.String("get, put"),
		"maxAge": objectdb.Number(0)})
	require.NoError(t, c.Why)
	assert.True(t, c.Admits("null"))
	assert.Equal(t, []string{"GET", "PUT"}, c.Methods)
	assert.Equal(t, 0, c.MaxAge)
	s.put(`user.webserver.cors.["/api/items"]`, objectdb.String("https://other.example"))
	assert.Equal(t, "/api/items", s.now().CORS("/api/items/7").Prefix, "the longest prefix")

	any := objectdb.String("*")
	for want, cells := range map[string]map[string]objectdb.Value{
		"it names no origins": {"methods": objectdb.String("GET")},
		"credentials cannot":  {"origins": any, "credentials": objectdb.Boolean(true)},
		"beside others":       {"origins": objectdb.String("* https://a.example")},
		"is no origin":        {"origins": objectdb.String("https://a.example/path")},
		"without the port":    {"origins": objectdb.String("https://a.example:443")},
		"is no method":        {"origins": any, "methods": objectdb.String("G\r\nT")},
		"is no header":        {"origins": any, "headers": objectdb.String("A:b")},
		"no such cell":        {"origins": any, "origin": any},
		"is not between":      {"origins": any, "maxAge": objectdb.Number(-1)},
		"not a number":        {"origins": any, "maxAge": any},
		"not a boolean":       {"origins": any, "credentials": any},
		"no text":             {"origins": objectdb.List{objectdb.Number(1)}},
		"not a text or":       {"origins": objectdb.Number(1)},
	} {
		c := set(cells)
		assert.ErrorContains(t, c.Why, want)
		assert.False(t, c.Admits("https://a.example"), want)
	}
}

// FuzzCheckOrigin checks that an origin that is accepted can stand in a header field, and has no path.
func FuzzCheckOrigin(f *testing.F) {
	for _, origin := range []string{"*", "https://app.example", "http://[::1]:80", "https://a@b", "://", "http://a\r\nb"} {
		f.Add(origin)
	}
	f.Fuzz(func(t *testing.T, origin string) {
		if checkOrigin(origin) == nil && origin != "*" {
			scheme, host, ok := strings.Cut(origin, "://")
			require.True(t, ok && scheme != "" && host != "")
			require.False(t, strings.ContainsAny(origin, "\r\n\x00 \t,@?#"))
			require.NotContains(t, host, "/")
		}
	})
}
