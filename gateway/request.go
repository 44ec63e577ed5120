package gateway

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"strings"

	"scripter/objectdb"
	"scripter/site"
)

// Request is a request as it arrived, by whatever transport. It is not changed once the
// transport has made it.
type Request struct {
	// Params are the CGI variables under their RFC 3875 names. They are
	// never copied into the environment of this process.
	Params map[string]string
	// Body is the request's body; nil is an empty one. It is read outside of transactions,
	// unless its method Len, which a transport may offer, says that all of it has arrived.
	Body io.Reader
	// Form is the form of the response's head.
	Form Form
	// CloseField adds "Connection: close" to a complete response. Without it the web server
	// that passes the response on would wait for more.
	CloseField bool
	// HandlerNames are file names that count as the handler's own, beside
	// Scripter.acgi and nph-Scripter.acgi.
	HandlerNames []string
	// Transport is the name of the transport, for "scripter doctor".
	Transport string
	// Developer shows errors in full. Only transports set it that no visitor can use.
	Developer bool
	// ShowErrors shows errors in full, too, but does not answer during maintenance, as Developer
	// does: the request comes from a program on this machine.
	ShowErrors bool
	// By is the origin of the changes that the request makes in the root. The zero value stands for
	// the visitor.
	By objectdb.Origin
	// Yield, if set, is called once the scripts of the request have ended, what they wrote is
	// committed, and the request only waits for the disk: other requests may then run.
	Yield func()
	// Trace, if set, is called with each rule that was tried (scripter explain).
	Trace func(step string)

	repeated string // a header field that came with two spellings; "" = none
}

// Form is the form of a response's head on the wire.
type Form int

const (
	// Parsed begins with "Status: 200 OK": the web server makes the status
	// line of it (RFC 3875, 6.2).
	Parsed Form = iota
	// NPH is a complete response with a status line, which the web server
	// passes on untouched (RFC 3875, 5).
	NPH
)

func (r *Request) trace(format string, args ...any) {
	if r.Trace != nil {
		r.Trace(fmt.Sprintf(format, args...))
	}
}

// Host returns the host the client named, without port, in lower case.
func (r *Request) Host() string {
	h := r.Params["HTTP_HOST"]
	if h == "" {
		h = r.Params["SERVER_NAME"]
	}
	if i := strings.LastIndexByte(h, ':'); i >= 0 && !strings.HasSuffix(h, "]") {
		h = h[:i]
	}
	return strings.ToLower(h)
}

// Origin returns the scheme and host of the request's URL, or "" if neither the client
// nor the web server names a host.
func (r *Request) Origin() string {
	scheme, usual := "http", "80"
	if r.isSecure() {
		scheme, usual = "https", "443"
	}
	if host := r.Params["HTTP_HOST"]; host != "" && site.IsHost(host) {
		return scheme + "://" + host
	}
	host := r.Params["SERVER_NAME"]
	if host == "" || host == "_" || !site.IsHost(host) { // nginx's "_" means no host
		return ""
	}
	if port := r.Params["SERVER_PORT"]; port != "" && port != usual && site.IsHost("h:"+port) {
		host += ":" + port
	}
	return scheme + "://" + host
}

// isSecure reports whether the request came by https.
func (r *Request) isSecure() bool {
	https := r.Params["HTTPS"]
	return https == "1" || strings.EqualFold(https, "on") || strings.EqualFold(r.Params["REQUEST_SCHEME"], "https")
}

// isAnonymous reports whether a request does not identify who makes it and changes nothing. If the root is on a server,
// its answer may come from a state that is up to 50 ms old. A visitor who has sent a form and is redirected usually has
// a cookie, and so sees what the form has changed, on every host.
func (r *Request) isAnonymous() bool {
	if m := r.Params["REQUEST_METHOD"]; m != "GET" && m != "HEAD" || r.Developer || r.By != (objectdb.Origin{}) {
		return false
	}
	for _, name := range identities {
		if r.Params[name] != "" {
			return false
		}
	}
	return true
}

// identities are variables that say who makes a request: a cookie, a password or token, the user whom the web server
// has checked, a certificate.
var identities = []string{
	"HTTP_COOKIE", "HTTP_AUTHORIZATION", "REDIRECT_HTTP_AUTHORIZATION", "HTTP_SCRIPTER_TOKEN", "REMOTE_USER", redirectUser,
	"SSL_CLIENT_S_DN", "SSL_CLIENT_CERT",
}

// redirectUser is the name that Apache gives REMOTE_USER after an internal redirect.
const redirectUser = "REDIRECT_REMOTE_USER"

// checkedUser returns the name that the web server has checked, or "".
func (r *Request) checkedUser() string {
	return cmp.Or(r.Params["REMOTE_USER"], r.Params[redirectUser])
}

// withoutUncheckedUser returns the request without the name of a visitor whose login has
// failed. Apache passes it to an ErrorDocument in the same variable as a name that it has
// checked. The statuses of its redirects distinguish the two: after 401 the login has failed;
// after 400 and 500 Apache may not have checked it.
func (r *Request) withoutUncheckedUser() *Request {
	if r.Params[redirectUser] == "" {
		return r
	}
	for name, status := range r.Params {
		if !strings.HasPrefix(name, "REDIRECT_") || !strings.HasSuffix(name, "REDIRECT_STATUS") {
			continue
		}
		switch status {
		case "", "200", "403", "404":
		default:
			without := *r
			without.Params = maps.Clone(r.Params)
			delete(without.Params, redirectUser)
			return &without
		}
	}
	return r
}

// methods are the methods of requests that scripts may answer.
const methods = "GET, HEAD, POST, PUT, DELETE, PATCH, OPTIONS"

// Check returns an error for a request that no honest client or server sends.
func (r *Request) Check() error {
	if m := r.Params["REQUEST_METHOD"]; !isToken(m) || len(m) > 32 {
		return &Error{Status: 400, Message: fmt.Sprintf("the method %.40q is none", m)}
	}
	switch m := r.Params["REQUEST_METHOD"]; m {
	case "GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS":
	case "TRACE", "CONNECT":
		// TRACE would show visitors what proxies have added.
		return &Error{Status: 405, Message: m + " is not answered", Allow: methods}
	default:
		return &Error{Status: 501, Message: fmt.Sprintf("the method %.40q is unknown", m)}
	}
	if r.repeated != "" {
		return &Error{Status: 400, Message: fmt.Sprintf(
			"the header field %s came twice, spelled with - and with _", clip(r.repeated, 60))}
	}
	if h := r.Params["HTTP_HOST"]; !site.IsHost(h) {
		return &Error{Status: 400, Message: fmt.Sprintf("the Host field %.80q names no host", h)}
	}
	return nil
}

// isToken reports whether a text is a token (RFC 9110, 5.6.2).
func isToken(s string) bool {
	for i := 0; i < len(s); i++ {
		if !isAlnum(s[i]) && strings.IndexByte("!#$%&'*+-.^_`|~", s[i]) < 0 {
			return false
		}
	}
	return s != ""
}

func isAlnum(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}

// unusualBody reports whether a GET or HEAD request has a body. The response may
// depend on the body, but the key of caches is the URL alone.
func (r *Request) unusualBody() bool {
	m := r.Params["REQUEST_METHOD"]
	return (m == "GET" || m == "HEAD") && hasBody(r)
}

// conditional reports whether a request has a condition that can be answered 304.
func (r *Request) conditional() bool {
	return r.Params["HTTP_IF_NONE_MATCH"] != "" || r.Params["HTTP_IF_MODIFIED_SINCE"] != ""
}

// field returns a header field of the request by its name, such as If-None-Match.
func (r *Request) field(name string) string {
	return r.Params["HTTP_"+strings.ReplaceAll(strings.ToUpper(name), "-", "_")]
}
