// Package verbs lists the functions for scripts that are written in Go and need no request.
//
// Scripts see them as tables in system.verbs.builtins. Each group is a folder under the
// name that scripts use: verbs/text has text.trim and the other verbs of text. Each verb
// has its own documentation, which the manual, the command line and editors show. The
// group webserver is in package gateway.
package verbs

import (
	"slices"

	"scripter/script"
	"scripter/site"
	"scripter/verbs/after"
	"scripter/verbs/base64"
	"scripter/verbs/clock"
	"scripter/verbs/csv"
	"scripter/verbs/date"
	"scripter/verbs/expect"
	"scripter/verbs/feed"
	"scripter/verbs/form"
	"scripter/verbs/hash"
	"scripter/verbs/html"
	"scripter/verbs/http"
	"scripter/verbs/image"
	"scripter/verbs/json"
	"scripter/verbs/mail"
	"scripter/verbs/markdown"
	"scripter/verbs/outbox"
	"scripter/verbs/qr"
	"scripter/verbs/random"
	"scripter/verbs/records"
	"scripter/verbs/sql"
	"scripter/verbs/text"
	"scripter/verbs/url"
	"scripter/verbs/uuid"
	"scripter/verbs/xml"
)

// All returns the verbs of every group. They hash passwords with p.
func All(p *site.Passwords) []script.Verb {
	return slices.Concat(after.Verbs, base64.Verbs, clock.Verbs, csv.Verbs, date.Verbs, feed.Verbs, form.Verbs,
		hash.Verbs(p), html.Verbs, http.Verbs, image.Verbs, json.Verbs, mail.Verbs, markdown.Verbs, outbox.Verbs, qr.Verbs,
		random.Verbs, records.Verbs, sql.Verbs, text.Verbs, url.Verbs, uuid.Verbs, xml.Verbs)
}

// Tests returns the verbs that only the scripts of tests see.
func Tests() []script.Verb { return expect.Verbs }

// Properties returns the computed cells that lie beside the verbs.
func Properties() []script.Property { return []script.Property{json.Null} }
