// Package httpform reads and writes forms as browsers send them: URL-encoded
// fields (WHATWG URL, application/x-www-form-urlencoded) and multipart forms
// (RFC 7578).
//
// The package does not interpret names, values and file names.
package httpform

import (
	"fmt"
	"mime"
)

// The content types of forms.
const (
	URLEncoded = "application/x-www-form-urlencoded"
	Multipart  = "multipart/form-data"
)

// MaxFields bounds the fields of a form that a script parses from a text. The limits
// of a request do not apply to it.
const MaxFields = 100_000

// Media returns the media type of a Content-Type field, in lower case, and the
// boundary of a multipart one. A body without a type is treated as URL-encoded.
func Media(contentType string) (media, boundary string, err error) {
	if contentType == "" || contentType == URLEncoded {
		return URLEncoded, "", nil
	}
	media, params, _ := mime.ParseMediaType(contentType) // an invalid parameter is ignored
	if media == "" {
		return "", "", fmt.Errorf("the content type %.80q is none", contentType)
	}
	return media, params["boundary"], nil
}

// A LimitError says that a form has more than Most of something.
type LimitError struct {
	Most   int64
	IsFile bool   // Most is a number of bytes of a file
	IsText bool   // Most is a number of bytes of all fields together
	File   string // the field of the file
	what   string
}

func (e *LimitError) Error() string {
	if e.IsFile {
		return fmt.Sprintf("the file %.60q has more than %d bytes", e.File, e.Most)
	}
	return fmt.Sprintf("the form has more than %d %s", e.Most, e.what)
}
