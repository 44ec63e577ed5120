package httpheader

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

const (
	maxReason = 80   // bytes
	maxLine   = 8190 // bytes of a field; Apache answers 500 to a longer line of a CGI program
)

// Check returns an error if the response must not be sent. It refuses:
//
//   - a status outside 200 to 599, a version other than HTTP/1.0 and HTTP/1.1;
//   - a reason of more than 80 bytes or with control characters;
//   - a name that is no token (RFC 9110, 5.6.2), a value with control
//     characters, CR and LF first of all, or a line of more than 8190 bytes;
//   - fields that concern one connection and are not for scripts to set:
//     Connection, Keep-Alive, Proxy-…, TE, Trailer, Transfer-Encoding, Upgrade;
//   - a Status field, because the status line has the status;
//   - a Location or URI that is neither an absolute http or https URL nor a
//     relative reference, which [Response.Complete] makes absolute;
//   - a Location with status 200: from a CGI program Apache sends a redirect
//     instead (RFC 3875, 6.2.2 and 6.2.3), other servers do not;
//   - two Location or two Content-Type fields: some servers send the first,
//     some the last, some both.
//
// It does not check the body or Content-Length.
func (r *Response) Check() error {
	if r.Status < 200 || r.Status > 599 {
		return &Error{Message: fmt.Sprintf("status %d is not between 200 and 599", r.Status)}
	}
	if r.Proto != "" && r.Proto != "HTTP/1.0" && r.Proto != "HTTP/1.1" {
		return &Error{Message: "version " + excerpt(r.Proto) + " is neither HTTP/1.0 nor HTTP/1.1"}
	}
	if len(r.Reason) > maxReason {
		return &Error{Message: fmt.Sprintf("reason has %d bytes, more than %d: %s",
			len(r.Reason), maxReason, excerpt(r.Reason))}
	}
	if i := badByte(r.Reason); i >= 0 {
		return &Error{Message: control("reason", r.Reason, i)}
	}
	locations, types := 0, 0
	for i := range r.Fields {
		f := &r.Fields[i]
		if err := f.check(); err != nil {
			return err
		}
		switch {
		case sameName(f.Name, "Location"):
			locations++
		case sameName(f.Name, "Content-Type"):
			types++
		}
	}
	switch {
	case locations > 1:
		return &Error{Field: "Location", Message: "it is there twice"}
	case types > 1:
		return &Error{Field: "Content-Type", Message: "it is there twice"}
	case locations > 0 && r.Status == 200:
		return &Error{Field: "Location", Message: "status 200 does not go with it: " +
			"some web servers make a redirect of that; say 201 or 302"}
	}
	return nil
}

// CheckLine returns an error if the field cannot be one line of a header, of a response or of a request.
func (f *Field) CheckLine() error {
	if why := badName(f.Name); why != "" {
		return &Error{Message: why}
	}
	if i := badByte(f.Value); i >= 0 {
		return &Error{Field: f.Name, Message: control("value", f.Value, i)}
	}
	if n := len(f.Name) + len(": ") + len(f.Value); n > maxLine {
		return &Error{Field: f.Name, Message: fmt.Sprintf("the line has %d bytes, more than %d", n, maxLine)}
	}
	return nil
}

func (f *Field) check() error {
	if err := f.CheckLine(); err != nil {
		return err
	}
	wrong := func(message string) error { return &Error{Field: f.Name, Message: message} }
	switch {
	case OfConnection(f.Name):
		return wrong("it is about the connection, which belongs to the web server")
	case sameName(f.Name, "Status"):
		return wrong("the status line says it already")
	case isTarget(f.Name):
		if why := badTarget(f.Value); why != "" {
			return wrong(excerpt(f.Value) + " " + why)
		}
	}
	return nil
}

// OfConnection reports whether the field is a hop-by-hop one (RFC 9110, 7.6.1).
func OfConnection(name string) bool {
	switch len(name) {
	case 2:
		return sameName(name, "TE")
	case 7:
		return sameName(name, "Trailer") || sameName(name, "Upgrade")
	case 10:
		if sameName(name, "Connection") || sameName(name, "Keep-Alive") {
			return true
		}
	case 17:
		if sameName(name, "Transfer-Encoding") {
			return true
		}
	}
	return hasPrefix(name, "Proxy-")
}

// badName returns what is wrong with the name of a field, or "".
func badName(name string) string {
	if name == "" {
		return "a field has no name"
	}
	for i := range len(name) {
		if !isTokenByte(name[i]) {
			return fmt.Sprintf("field name %s has a character that no name may have: %s",
				excerpt(name), excerpt(name[i:i+1]))
		}
	}
	return ""
}

// isTokenByte reports whether c is a tchar of RFC 9110, 5.6.2.
func isTokenByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' ||
		strings.IndexByte("!#$%&'*+-.^_`|~", c) >= 0
}

// badByte returns the index of the first control character in a value, or -1. A tab
// is allowed (RFC 9110, 5.5). Beyond ASCII, values are UTF-8 or some older encoding.
// The control characters of both count (0x80 to 0x9f, and Unicode's line and
// paragraph separators), because some program may take them for the end of a line.
func badByte(s string) int {
	for i := range len(s) {
		switch c := s[i]; {
		case c < ' ' && c != '\t', c == 0x7f:
			return i
		case c >= utf8.RuneSelf:
			return badBeyondASCII(s, i)
		}
	}
	return -1
}

func badBeyondASCII(s string, from int) int {
	unicode := utf8.ValidString(s)
	for i, c := range s[from:] {
		if !unicode && c == utf8.RuneError {
			c = rune(s[from+i])
		}
		switch {
		case c < ' ' && c != '\t', c >= 0x7f && c <= 0x9f, c == '\u2028', c == '\u2029':
			return from + i
		}
	}
	return -1
}

// control returns the message about the control character at s[i].
func control(what, s string, i int) string {
	r, size := utf8.DecodeRuneInString(s[i:])
	if r == utf8.RuneError && size == 1 {
		r = rune(s[i])
	}
	return fmt.Sprintf("%s has the control character %U at byte %d: %s", what, r, i+1, excerpt(s))
}
