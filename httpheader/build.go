package httpheader

import (
	"mime"
	"strings"
)

// Build returns the header of a script's response, in one of the three shapes of
// webserver.httpHeader (specification, 4.2). status is the text after the version.
// It decides what modifier means:
//
//	302 FOUND         Location, URI, Server                 modifier is the URL
//	301 303 307 308   the same, unless the modifier is a MIME type
//	401 UNAUTHORIZED  WWW-Authenticate, Server              modifier is the realm
//	anything else     Server, MIME-Version, Content-type    modifier is the MIME type
//
// An empty status is "200 OK", and an empty MIME type "text/html". A status
// without a reason, such as "404", gets the usual one. Without a server name
// there is no Server line. Build returns the errors of [Response.Check].
func Build(status, modifier, server string) (string, error) {
	r, err := New(status, modifier, server)
	if err != nil {
		return "", err
	}
	header, err := r.AppendNPH(make([]byte, 0, 256))
	if err != nil {
		return "", err
	}
	return string(header), nil
}

// New returns the response whose header Build returns, without a body and unchecked.
func New(status, modifier, server string) (*Response, error) {
	if status == "" {
		status = "200 OK"
	}
	code, reason, ok := splitStatus(status)
	if !ok {
		return nil, &Error{Message: `status ` + excerpt(status) + ` does not begin with three digits, such as "200 OK"`}
	}
	r := &Response{Proto: ours, Status: code, Reason: reason, Fields: make([]Field, 0, 6)}
	if reason == "" {
		r.Reason = ReasonText(code)
	}
	switch {
	case code == 302 && strings.EqualFold(r.Reason, "FOUND"),
		r.Redirects() && code != 302 && modifier != "" && !isMIMEType(modifier):
		r.Add("Location", modifier)
		r.Add("URI", modifier)
		r.addServer(server)
	case code == 401 && strings.EqualFold(r.Reason, "UNAUTHORIZED"):
		r.Add("WWW-Authenticate", "Basic realm="+quote(modifier))
		r.addServer(server)
	default:
		if modifier == "" {
			modifier = "text/html"
		}
		r.addServer(server)
		r.Add("MIME-Version", "1.0")
		r.Add("Content-type", modifier)
	}
	return r, nil
}

// Redirects reports whether the status sends the visitor to another URL, which
// Location names.
func (r *Response) Redirects() bool {
	switch r.Status {
	case 301, 302, 303, 307, 308:
		return true
	}
	return false
}

// isMIMEType reports whether s is a MIME type with one of the registered top-level
// types (RFC 6838, 4.2) and not a URL: "text/html; charset=utf-8" is a MIME type,
// "thanks.fcgi" and "/old/page" are URLs.
func isMIMEType(s string) bool {
	kind, _, err := mime.ParseMediaType(s)
	if err != nil {
		return false
	}
	top, _, _ := strings.Cut(kind, "/")
	switch top {
	case "application", "audio", "font", "image", "message", "model", "multipart", "text", "video":
		return true
	}
	return false
}

func (r *Response) addServer(name string) {
	if name != "" {
		r.Add("Server", name)
	}
}

// quote returns s as a quoted-string (RFC 9110, 5.6.4).
func quote(s string) string {
	if strings.ContainsAny(s, `"\`) {
		s = strings.NewReplacer(`"`, `\"`, `\`, `\\`).Replace(s)
	}
	return `"` + s + `"`
}
