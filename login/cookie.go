package login

import (
	"net/http"
	"strings"
	"time"
)

// The names of the cookies: of the web page's session, and of the session and the remembered log-in of a visitor
// of the site.
const (
	pageCookie       = "scripter-session"
	VisitCookie      = "scripter-visitor"
	RememberedCookie = "scripter-remembered"
)

// cookieName returns the name of the cookie. The names for https have a prefix with which browsers
// accept them only from https. Cookies do not tell ports apart, so the name has the port: two
// programs on one machine do not log one another's people out.
func cookieName(host string, secure bool) string {
	name := withPort(pageCookie, host)
	if secure {
		name = "__Secure-" + name
	}
	return name
}

// SiteCookie returns the name of one of the cookies of a visitor on a host. With the prefix for https, browsers
// accept it from no other host, so that a neighbour below the same domain cannot set it.
func SiteCookie(name, host string, secure bool) string {
	name = withPort(name, host)
	if secure {
		name = "__Host-" + name
	}
	return name
}

// NewSiteCookie returns such a cookie. It lasts as long as the browser, or for a time. The text "" removes it.
func NewSiteCookie(name, host, text string, secure bool, lasts time.Duration) *http.Cookie {
	c := &http.Cookie{Name: SiteCookie(name, host, secure), Value: text, Path: "/", Secure: secure,
		HttpOnly: true, SameSite: http.SameSiteLaxMode, MaxAge: int(lasts / time.Second)}
	if text == "" {
		c.MaxAge = -1
	}
	return c
}

func withPort(name, host string) string {
	if i := strings.LastIndexByte(host, ':'); i >= 0 && i < len(host)-1 &&
		strings.Trim(host[i+1:], "0123456789") == "" {
		name += "-" + host[i+1:]
	}
	return name
}

// NewCookie returns the cookie with the token of a session, for the paths below path. The token ""
// removes it from the browser. host is the Host field of the request, and secure says that it
// came by https.
func NewCookie(host, path, token string, secure bool) *http.Cookie {
	c := &http.Cookie{Name: cookieName(host, secure), Value: token, Path: path, Secure: secure,
		HttpOnly: true, SameSite: http.SameSiteStrictMode}
	if token == "" {
		c.MaxAge = -1
	}
	return c
}

// Token returns the token of a request's cookie, or "".
func Token(r *http.Request, secure bool) string {
	c, err := r.Cookie(cookieName(r.Host, secure))
	if err != nil {
		return ""
	}
	return c.Value
}
