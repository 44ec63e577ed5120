// Package httpheader is the header of a response: built, parsed, checked and
// encoded.
//
// A script's answer goes this way: [Build] makes the header that a script puts
// in front of its page, [Parse] reads the script's complete response,
// [Response.Check] refuses what must not leave, and [Response.AppendNPH] or
// [Response.AppendParsed] write the header in the form that the web server
// wants. [Static] is the header of a file, [NotModified] decides on 304.
//
// Line ends and blanks around values come out in one form. Nothing else is
// repaired: a field that would split the header, a status that is none and a
// redirect to nowhere are errors, each an [*Error] that says which line or
// field and why.
package httpheader

import (
	"fmt"
	"strings"
)

// ours is the version of a response that names none (specification, 4.2).
const ours = "HTTP/1.0"

// Response is a response to be sent.
type Response struct {
	Proto  string // version as the script wrote it, such as "HTTP/1.0", which is also what "" means
	Status int    // 200 to 599
	Reason string // text behind the status; "" means ReasonText (Status)
	Fields []Field
	Body   string

	// Close makes AppendNPH write "Connection: close", before Content-Type as
	// in the static shape of the specification. A field of that name is
	// refused: the connection is the gateway's, not the script's.
	Close bool
}

// Field is one line of a header.
type Field struct{ Name, Value string }

// Error says what is wrong with a header.
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

// Get returns the value of the first field of that name, "" if there is none.
// The case of letters does not matter in a name, here and below.
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

// Set gives the first field of that name a new value and removes the others.
// If there is none, it adds one.
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

// Del removes every field of that name. A gateway does so with Content-Length,
// which it knows better than a script.
func (r *Response) Del(name string) {
	r.Fields = without(r.Fields, name)
}

// Strip removes the fields that a web server in front would obey instead of
// passing them on, by sending some file of its own for one: nginx's X-Accel-
// fields, X-Sendfile, and what lighttpd and LiteSpeed call it. It reports
// whether it removed any.
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
