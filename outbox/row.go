package outbox

import (
	"crypto/rand"
	"encoding/base32"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"scripter/objectdb"
)

// A Kind says what a row is.
type Kind string

const (
	Mail   Kind = "mail"
	Post   Kind = "post"   // an HTTP request
	Script Kind = "script" // a script that runs later
)

// A State says which table a row is in.
type State string

const (
	Waiting State = "queue"
	Dead    State = "dead"
	Sent    State = "sent"
)

// States lists all states.
var States = []State{Waiting, Dead, Sent}

// A Row is what the outbox says of one delivery, without its content. It is stored as JSON text,
// which is so short that it is read with the list of the rows.
type Row struct {
	Key     string `json:"-"` // the name of the row: see NewKey
	Kind    Kind   `json:"kind"`
	To      string `json:"to"`                // recipients, a URL without its query, or the address of a script
	Subject string `json:"subject,omitempty"` // of a mail; the method of a post
	From    string `json:"from,omitempty"`    // what wrote the row, such as "POST /order.fcgi"
	Size    int    `json:"size"`              // bytes of the content

	Created int64 `json:"created"`         // milliseconds since 1970, as all times
	Next    int64 `json:"next"`            // when it is to be delivered; of a sent or dead row, when it was
	Tries   int   `json:"tries,omitempty"` // deliveries that were begun

	By    string `json:"by,omitempty"`    // the agent that has claimed the row
	Lease int64  `json:"lease,omitempty"` // when the claim ends
	Error string `json:"error,omitempty"` // of the last delivery
}

// The lengths to which the texts of a row are cut, in bytes.
const (
	maxTo      = 200
	maxSubject = 120
	maxFrom    = 120
	maxError   = 240
)

// Claimed reports whether an agent has the row.
func (r *Row) Claimed(now time.Time) bool { return r.By != "" && now.UnixMilli() < r.Lease }

// Due returns when the row can be claimed next.
func (r *Row) Due() time.Time { return time.UnixMilli(max(r.Next, r.Lease)) }

func (r *Row) clip() {
	r.To, r.Subject, r.From = clip(r.To, maxTo), clip(r.Subject, maxSubject), clip(r.From, maxFrom)
	r.Error = clip(r.Error, maxError)
}

// clip returns the beginning of a text, of at most so many bytes, as valid UTF-8.
func clip(text string, most int) string {
	if len(text) > most {
		text = text[:most-len("…")] + "…"
	}
	return strings.ToValidUTF8(text, "")
}

func (r *Row) value() (objectdb.Value, error) {
	r.clip()
	text, err := json.Marshal(r)
	return objectdb.String(text), err
}

// parseRow reads a stored row.
func parseRow(key string, v objectdb.Value) (Row, error) {
	text, ok := v.(objectdb.String)
	if !ok {
		return Row{}, fmt.Errorf("%s is a %s, and no row of the outbox", key, v.Kind())
	}
	var r Row
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		return Row{}, fmt.Errorf("%s is no row of the outbox: %w", key, err)
	}
	r.Key = key
	return r, nil
}

var keyEncoding = base32.NewEncoding("0123456789abcdefghjkmnpqrstvwxyz").WithPadding(base32.NoPadding)

// NewKey returns a key that nobody can guess. Keys sort by their times.
func NewKey(now time.Time) string {
	var b [16]byte
	binary.BigEndian.PutUint64(b[:8], uint64(now.UnixMilli())<<16)
	rand.Read(b[6:]) // never fails
	return keyEncoding.EncodeToString(b[:])
}

// IsKey reports whether a text has the form of a key.
func IsKey(text string) bool {
	b, err := keyEncoding.DecodeString(text)
	return err == nil && len(b) == 16
}
