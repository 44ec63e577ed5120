package requestlog

import (
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"strings"
	"time"

	"scripter/httpheader"
)

// Bounds of what is recorded, in bytes: of a body, of a request or a response, that is
// recorded as a whole; of a response's head; of the text of a failure.
const (
	maxBody  = 64 << 10
	maxHead  = 16 << 10
	maxError = 4 << 10
)

// An Answer is a response as it was sent, with its secrets masked. It is the same over
// every transport: the head is the complete one, without the Connection field.
type Answer struct {
	Status int
	Head   string // status line and fields, each with a line end
	Body   string // "" if it is longer than 64 KB
	Size   int64  // of the body as sent, in bytes
	SHA256 string // of the body as sent, in hex; "" if Body is complete
}

// Whole reports whether Body is the complete body.
func (a *Answer) Whole() bool { return a.SHA256 == "" }

// A Recorder records a response while it is sent. Its memory is bounded.
type Recorder struct {
	Mask  *Mask     // nil: secrets are not masked
	Begun time.Time // when the request began

	head string
	body []byte
	size int64
	sum  hash.Hash // of the body, set when the body is too long to be recorded
}

// Head records the head of a response.
func (rec *Recorder) Head(resp *httpheader.Response) {
	plain := *resp
	plain.Close = false
	if rec.Mask != nil {
		plain.Fields = nil
		for _, f := range resp.Fields {
			if strings.EqualFold(f.Name, "Set-Cookie") {
				f.Value = maskSetCookie(f.Value)
			}
			plain.Fields = append(plain.Fields, f)
		}
	}
	head, err := plain.AppendNPH(nil)
	if err != nil {
		return // cannot happen: the response was sent with this head
	}
	text := strings.TrimSuffix(strings.ReplaceAll(string(head), "\r\n", "\n"), "\n")
	rec.head = cutText(rec.Mask.Text(text), maxHead)
}

// maskSetCookie masks the value of a cookie, but not its name and attributes.
func maskSetCookie(value string) string {
	cookie, attributes, more := strings.Cut(value, ";")
	name, _, _ := strings.Cut(cookie, "=")
	if more {
		return name + "=" + Masked + ";" + attributes
	}
	return name + "=" + Masked
}

// Write records a piece of the body.
func (rec *Recorder) Write(piece []byte) {
	rec.size += int64(len(piece))
	switch {
	case rec.sum != nil:
		rec.sum.Write(piece)
	case rec.size <= maxBody:
		rec.body = append(rec.body, piece...)
	default:
		rec.sum = sha256.New()
		rec.sum.Write(rec.body)
		rec.sum.Write(piece)
		rec.body = nil
	}
}

// Answer returns the recorded response.
func (rec *Recorder) Answer(status int) *Answer {
	a := &Answer{Status: status, Head: rec.head, Size: rec.size}
	if rec.sum != nil {
		a.SHA256 = hex.EncodeToString(rec.sum.Sum(nil))
	} else {
		a.Body = rec.Mask.Text(string(rec.body))
	}
	return a
}
