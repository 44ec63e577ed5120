package login

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestCSRF checks that each session has a form token of its own, which nothing in the root tells.
func TestCSRF(t *testing.T) {
	l := newLogin(t)
	l.person("ada", "owner")
	s, token := l.enter("ada")
	other, _ := l.enter("ada")
	found, err := l.find(token)
	require.NoError(t, err)
	form := s.CSRF()
	assert.Equal(t, form, found.CSRF())
	assert.True(t, found.CheckCSRF(form))
	for _, bad := range []string{"", other.CSRF(), token, s.ID, form + "A", form[1:], strings.ToUpper(form)} {
		assert.False(t, found.CheckCSRF(bad), bad)
	}
	listed := l.sessions("ada")[0]
	assert.Empty(t, listed.CSRF())
	assert.False(t, listed.CheckCSRF(""))
	assert.False(t, Session{}.CheckCSRF(""))
}

// TestCheckOrigin checks which requests count as sent by a page of the site.
func TestCheckOrigin(t *testing.T) {
	for _, c := range []struct {
		method, site, origin string
		ok                   bool
	}{
		{"POST", "same-origin", "https://site.example", true},
		{"POST", "none", "", true},
		{"POST", "", "https://site.example", true},
		{"POST", "", "", true}, // no browser: the CSRF token and the cookie decide
		{"POST", "cross-site", "", false},
		{"POST", "cross-site", "https://site.example", false},
		{"POST", "same-site", "https://other.site.example", false},
		{"POST", "", "https://evil.example", false},
		{"POST", "", "null", false},
		{"POST", "", "https://site.example.evil.example", false},
		{"POST", "", "https://site.example:8443", false},
		{"DELETE", "cross-site", "", false},
		{"GET", "cross-site", "https://evil.example", true},
	} {
		r := httptest.NewRequest(c.method, "https://site.example/scripter/", nil)
		if c.site != "" {
			r.Header.Set("Sec-Fetch-Site", c.site)
		}
		if c.origin != "" {
			r.Header.Set("Origin", c.origin)
		}
		assert.Equal(t, c.ok, CheckOrigin(r) == nil, "%+v", c)
	}
}

// TestCookie checks the attributes of the cookie, and that only its own name counts.
func TestCookie(t *testing.T) {
	c := NewCookie("site.example", "/scripter/", "secret", true)
	assert.Equal(t, "__Secure-scripter-session=secret; Path=/scripter/; HttpOnly; Secure; SameSite=Strict", c.String())
	c = NewCookie("127.0.0.1:8080", "/scripter/", "secret", false)
	assert.Equal(t, "scripter-session-8080=secret; Path=/scripter/; HttpOnly; SameSite=Strict", c.String())
	c = NewCookie("[::1]", "/scripter/", "", false)
	assert.Equal(t, "scripter-session=; Path=/scripter/; Max-Age=0; HttpOnly; SameSite=Strict", c.String())
	for host, want := range map[string]string{"a.example:80x": "scripter-session", "a:": "scripter-session", "": "scripter-session"} {
		assert.Equal(t, want, cookieName(host, false), host)
	}
	r := httptest.NewRequest("GET", "http://127.0.0.1:8080/scripter/", nil)
	assert.Empty(t, Token(r, false))
	r.Header.Set("Cookie", "scripter-session=a; scripter-session-8081=b; scripter-session-8080=c; __Secure-scripter-session-8080=d")
	assert.Equal(t, "c", Token(r, false))
	assert.Equal(t, "d", Token(r, true))
}
