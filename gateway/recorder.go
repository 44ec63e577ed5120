package gateway

import (
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"strings"
	"time"

	"scripter/httpheader"
)

// keptBody is the longest body, of a request and of a response, that is kept
// whole, in bytes; keptHead and keptError bound a response's head and the
// text of a failure.
const (
	keptBody  = 64 << 10
	keptHead  = 16 << 10
	keptError = 4 << 10
)

// Recorded is an answer as it was sent, its secrets masked. It is the same on
// every road: the head is the complete one, without the Connection field.
type Recorded struct {
	Status int
	Head   string // status line and fields, each with a line end
	Body   string // "" when it is longer than 64 KB
	Size   int64  // of the body as sent, in bytes
	SHA256 string // of the body as sent, in hex; "" when Body has it whole
}

// Whole tells whether Body is all of the body.
func (r *Recorded) Whole() bool { return r.SHA256 == "" }

// recorder records an answer while it is sent. Its memory is bounded.
type recorder struct {
	mask  *masking // nil: secrets are shown
	begun time.Time
	head  string
	body  []byte
	size  int64
	sum   hash.Hash // once the body is too long to be kept
}

// start records the head of a response.
func (rec *recorder) start(resp *httpheader.Response) {
	plain := *resp
	plain.Close = false
	if rec.mask != nil {
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
		return // it was sent, so it can be written
	}
	text := strings.TrimSuffix(strings.ReplaceAll(string(head), "\r\n", "\n"), "\n")
	rec.head = cutText(rec.mask.text(text), keptHead)
}

// maskSetCookie leaves the cookie's name and its attributes.
func maskSetCookie(value string) string {
	cookie, attributes, more := strings.Cut(value, ";")
	name, _, _ := strings.Cut(cookie, "=")
	if more {
		return name + "=" + masked + ";" + attributes
	}
	return name + "=" + masked
}

// write records a piece of the body.
func (rec *recorder) write(piece []byte) {
	rec.size += int64(len(piece))
	switch {
	case rec.sum != nil:
		rec.sum.Write(piece)
	case rec.size <= keptBody:
		rec.body = append(rec.body, piece...)
	default:
		rec.sum = sha256.New()
		rec.sum.Write(rec.body)
		rec.sum.Write(piece)
		rec.body = nil
	}
}

// recorded gives what was recorded. Whoever reads it later need not know the
// secrets.
func (rec *recorder) recorded(status int) *Recorded {
	r := &Recorded{Status: status, Head: rec.head, Size: rec.size}
	if rec.sum != nil {
		r.SHA256 = hex.EncodeToString(rec.sum.Sum(nil))
	} else {
		r.Body = rec.mask.text(string(rec.body))
	}
	return r
}
