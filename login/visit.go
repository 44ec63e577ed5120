package login

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"slices"
	"time"

	"scripter/objectdb"
	"scripter/site"
)

// Times say how long the session of a visitor lasts.
type Times struct {
	Idle    time.Duration // since it was used
	Longest time.Duration // since it began
}

// VisitTimes returns the times that the owner of a site has set.
func VisitTimes(s *site.Snapshot) Times {
	return Times{
		Idle:    time.Duration(s.Number(site.SessionIdle) * float64(time.Minute)),
		Longest: time.Duration(s.Number(site.SessionDays) * 24 * float64(time.Hour)),
	}
}

// seenEvery returns how often the root notes that a session is used.
func (t Times) seenEvery() time.Duration { return min(seenEvery, t.Idle/10) }

// A Visit is the session of a visitor of the site, on one host. It is a row of user.webserver.visitors,
// once something is stored in it: a table with the cell "about", which is JSON text, and the table
// "values" with what scripts have stored.
type Visit struct {
	ID string // the name of its row; it is no secret

	row    visitRow
	token  []byte
	stored bool
	dirty  bool // row differs from what is stored
}

type visitRow struct {
	Host    string    `json:"host"`
	Created int64     `json:"created"` // seconds since 1970
	Seen    int64     `json:"seen"`
	Name    string    `json:"name,omitempty"` // of who has logged in
	Realm   string    `json:"realm,omitempty"`
	Rights  string    `json:"rights,omitempty"`  // see candidate.rights
	Series  string    `json:"series,omitempty"`  // the row of site.Remembered that the log-in depends on
	Earlier []byte    `json:"earlier,omitempty"` // the form key before the last log-in
	Flash   []Message `json:"flash,omitempty"`
}

// A Message is shown once, by the next page that shows messages.
type Message struct {
	Text string `json:"text"`
	Kind string `json:"kind"`
}

// The cells of a row.
const (
	visitAbout  = "about"
	visitValues = "values"
)

// NewVisit returns a session that is stored nowhere yet.
func NewVisit(host string, now time.Time) *Visit {
	v := &Visit{row: visitRow{Host: host, Created: now.Unix(), Seen: now.Unix()}}
	v.renew()
	return v
}

func (v *Visit) renew() {
	v.token, _ = newToken()
	v.ID = idOf(v.token)
}

// FindVisit returns the session with a token on a host. It only reads. The error is [ErrNoSession], or a
// failure of the root.
func FindVisit(tx *objectdb.Tx, token, host string, now time.Time, times Times) (*Visit, error) {
	bytes, ok := parseToken(token)
	if !ok {
		return nil, ErrNoSession
	}
	v, err := ReadVisit(tx, idOf(bytes))
	if err != nil {
		return nil, err
	}
	if v.row.Host != host || !v.lasts(now, times) {
		return nil, ErrNoSession
	}
	v.token = bytes
	return v, nil
}

// ReadVisit returns the session with an ID, which may have expired. Without its token it can neither be
// renewed nor check forms.
func ReadVisit(tx *objectdb.Tx, id string) (*Visit, error) {
	v := &Visit{ID: id, stored: true}
	ok, err := readRow(tx, site.Visitors.Child(id), visitAbout, &v.row)
	if err == nil && !ok {
		err = ErrNoSession
	}
	return v, err
}

// lasts reports whether a session has not expired.
func (v *Visit) lasts(now time.Time, times Times) bool {
	return now.Before(v.Expires(times)) && v.Created().Before(now.Add(seenEvery)) // else a clock was set back
}

// Expires returns the time when the session ends if it is not used again.
func (v *Visit) Expires(times Times) time.Time {
	idle, longest := v.Seen().Add(times.Idle), v.Created().Add(times.Longest)
	if idle.Before(longest) {
		return idle
	}
	return longest
}

// Created returns when the session began.
func (v *Visit) Created() time.Time { return time.Unix(v.row.Created, 0) }

// Seen returns when the session was used last, to within ten minutes.
func (v *Visit) Seen() time.Time { return time.Unix(v.row.Seen, 0) }

// Host returns the host of the session.
func (v *Visit) Host() string { return v.row.Host }

// Values returns the address of the table of what scripts have stored.
func (v *Visit) Values() objectdb.Address { return v.address().Child(visitValues) }

func (v *Visit) address() objectdb.Address { return site.Visitors.Child(v.ID) }

// IsStored reports whether the root has the session.
func (v *Visit) IsStored() bool { return v.stored }

// Token returns the text for the cookie of the browser.
func (v *Visit) Token() string { return base64.RawURLEncoding.EncodeToString(v.token) }

// Store writes what has changed of the session. One that is new is stored once there is something in it. The root
// notes its last use only if the time that it has noted is old, so that a request that only reads the session
// writes nothing as a rule.
func (v *Visit) Store(tx *objectdb.Tx, now time.Time, times Times) error {
	if v.stored && now.Sub(v.Seen()) >= times.seenEvery() {
		v.row.Seen, v.dirty = now.Unix(), true
	}
	if !v.stored {
		has, err := v.HasContent(tx)
		if err != nil {
			return err
		}
		v.dirty = has
	}
	if !v.dirty {
		return nil
	}
	v.stored, v.dirty = true, false
	return writeRow(tx, v.address(), visitAbout, v.row)
}

// HasContent reports whether something is in the session, so that the root has it, or will have it.
func (v *Visit) HasContent(tx *objectdb.Tx) (bool, error) {
	if v.stored || v.dirty {
		return true, nil
	}
	_, err := tx.Find(v.Values())
	if objectdb.IsMissing(err) {
		return false, nil
	}
	return err == nil, err
}

// Size returns the length in bytes of what scripts have stored: names and values.
func (v *Visit) Size(tx *objectdb.Tx) (n int64, err error) {
	for _, m := range v.row.Flash {
		n += int64(len(m.Text) + len(m.Kind))
	}
	err = tx.Walk(v.Values(), func(_ objectdb.Address, node *objectdb.Node) error {
		n += int64(len(node.Name())) + node.Size()
		return nil
	})
	if objectdb.IsMissing(err) {
		err = nil
	}
	return n, err
}

// Renew gives the session another token, and an ID that belongs to it: whoever knows the one before
// has nothing any more. Forms that were opened before are [EarlierForm] then.
func (v *Visit) Renew(tx *objectdb.Tx) error {
	from := v.address()
	v.row.Earlier = formKey(v.token)
	v.renew()
	v.dirty = v.dirty || v.stored
	if _, err := tx.Find(from); err != nil {
		if objectdb.IsMissing(err) {
			err = nil
		}
		return err
	}
	return tx.Move(from, v.address())
}

// End removes the session, the log-in that it belongs to, and all that is stored in it.
func (v *Visit) End(tx *objectdb.Tx) error {
	if v.row.Series != "" {
		if err := deleteRow(tx, site.Remembered, v.row.Series); err != nil {
			return err
		}
	}
	return deleteRow(tx, site.Visitors, v.ID)
}

// maxMessages is how many messages are kept that no page has shown.
const maxMessages = 20

// Flash adds a message. The oldest beyond maxMessages are dropped.
func (v *Visit) Flash(m Message) {
	list := append(v.row.Flash, m)
	v.row.Flash, v.dirty = list[max(0, len(list)-maxMessages):], true
}

// Messages returns the messages that no page has shown.
func (v *Visit) Messages() []Message { return slices.Clone(v.row.Flash) }

// TakeMessages returns the messages, and removes them.
func (v *Visit) TakeMessages() []Message {
	list := v.row.Flash
	v.row.Flash, v.dirty = nil, v.dirty || len(list) > 0
	return list
}

// How a form token is related to a session.
type FormKind int

const (
	ForeignForm FormKind = iota // not at all
	EarlierForm                 // the form was opened before the session was renewed
	OwnForm
)

// saltBytes make each form token another text, so that a page that is compressed does not tell it.
const saltBytes = 9

// FormToken returns a token for the forms of the session, each time another one.
func (v *Visit) FormToken() string {
	salt := make([]byte, saltBytes)
	rand.Read(salt) // never fails
	return base64.RawURLEncoding.EncodeToString(append(salt, formSum(formKey(v.token), salt)...))
}

func formSum(key, salt []byte) []byte {
	h := hmac.New(sha256.New, key)
	h.Write(salt)
	return h.Sum(nil)
}

// CheckForm says how a form token is related to the session.
func (v *Visit) CheckForm(token string) FormKind {
	bytes, err := base64.RawURLEncoding.Strict().DecodeString(token)
	if err != nil || len(bytes) != saltBytes+sha256.Size {
		return ForeignForm
	}
	salt, sum := bytes[:saltBytes], bytes[saltBytes:]
	switch {
	case hmac.Equal(sum, formSum(formKey(v.token), salt)):
		return OwnForm
	case len(v.row.Earlier) > 0 && hmac.Equal(sum, formSum(v.row.Earlier, salt)):
		return EarlierForm
	}
	return ForeignForm
}
