// Package httpheader builds, parses, checks and encodes the header of a response.
//
// The response of a script passes these functions: [Build] returns the header that
// a script puts in front of its page, [Parse] parses the script's complete response,
// [Response.Check] returns an error if it must not be sent, and [Response.AppendNPH]
// or [Response.AppendParsed] encodes the header in the form that the web server
// expects. [NotModified] decides whether the response is a 304.
//
// Line ends and blanks around values are normalized. Nothing else is repaired: a
// field that would split the header, an invalid status and an invalid redirect are
// errors. Each is an [*Error] with the line or field and the reason.
package httpheader

import (
	"fmt"
	"strings"
)

// ours is the version of a response without a version (specification, 4.2).
const ours = "HTTP/1.0"

// Response is a response to be sent.
type Response struct {
	Proto  string // version as the script wrote it; "" means "HTTP/1.0"
	Status int    // 200 to 599
	Reason string // text behind the status; "" means ReasonText (Status)
	Fields []Field
	Body   string

	// Close makes AppendNPH write "Connection: close", before Content-Type as
	// in the static shape of the specification. Check refuses a field of that
	// name: the gateway decides about the connection, not the script.
	Close bool
}

// Field is one line of a header.
type Field struct{ Name, Value string }

// Error is an error in a header.
type Error struct {
	Line    int    // line of the text that was parsed, 1 is the status line; 0 if no text was
	Field   string // name of the field, "" if it is about the status line or the whole
	Message string
}

func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString("response header")
	if e.Line > 0 {
		fmt.Fprintf(&b, ", line %d", e.Line)
	}
	if e.Field != "" {
		fmt.Fprintf(&b, ", field %s", e.Field)
	}
	return b.String() + ": " + e.Message
}

// Get returns the value of the first field of that name, "" if there is none. Like
// the other methods it ignores the case of the name.
func (r *Response) Get(name string) string {
	for i := range r.Fields {
		if sameName(r.Fields[i].Name, name) {
			return r.Fields[i].Value
		}
	}
	return ""
}

// Has reports whether there is a field of that name.
func (r *Response) Has(name string) bool {
	for i := range r.Fields {
		if sameName(r.Fields[i].Name, name) {
			return true
		}
	}
	return false
}

// Set sets the value of the first field of that name and removes the others. If
// there is none, it adds one.
func (r *Response) Set(name, value string) {
	for i := range r.Fields {
		if sameName(r.Fields[i].Name, name) {
			r.Fields[i].Value = value
			r.Fields = append(r.Fields[:i+1], without(r.Fields[i+1:], name)...)
			return
		}
	}
	r.Add(name, value)
}

// Add adds a field at the end.
func (r *Response) Add(name, value string) {
	r.Fields = append(r.Fields, Field{name, value})
}

// Del removes every field of that name.
func (r *Response) Del(name string) {
	r.Fields = without(r.Fields, name)
}

// Strip removes the fields that make a web server in front send another file instead
// of the response: nginx's X-Accel- fields, X-Sendfile, and the equivalent fields of
// lighttpd and LiteSpeed. It reports whether it removed any.
func (r *Response) Strip() bool {
	kept := r.Fields[:0]
	for _, f := range r.Fields {
		if !serverObeys(f.Name) {
			kept = append(kept, f)
		}
	}
	had := len(kept) < len(r.Fields)
	r.Fields = kept
	return had
}

func serverObeys(name string) bool {
	return hasPrefix(name, "X-Accel-") || hasPrefix(name, "X-Sendfile") ||
		hasPrefix(name, "X-LIGHTTPD-") || sameName(name, "X-LiteSpeed-Location")
}

// without removes the fields of that name in place.
func without(fields []Field, name string) []Field {
	kept := fields[:0]
	for _, f := range fields {
		if !sameName(f.Name, name) {
			kept = append(kept, f)
		}
	}
	return kept
}

func sameName(a, b string) bool { return len(a) == len(b) && strings.EqualFold(a, b) }

func hasPrefix(name, prefix string) bool {
	return len(name) >= len(prefix) && strings.EqualFold(name[:len(prefix)], prefix)
}
