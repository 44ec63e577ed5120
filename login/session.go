package login

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"scripter/objectdb"
	"scripter/site"
)

const (
	// idleTime is how long a session lasts that nobody uses, and longestTime how long any lasts.
	idleTime    = 12 * time.Hour
	longestTime = 14 * 24 * time.Hour
	// seenEvery is how often the root notes that a session is used.
	seenEvery = 10 * time.Minute
	// maxSessions is how many sessions one person has. The one that was used least recently ends.
	maxSessions = 20

	tokenBytes   = 32
	maxUserAgent = 200 // bytes that are kept
	maxAddress   = 60
)

// ErrNoSession is returned for a token without a session: one that has ended, or never was.
var ErrNoSession = errors.New("there is no such session")

// A Session is the time in which a person is logged in with one browser.
type Session struct {
	ID        string // for End; it is no secret
	Name      string // of the person, as the root spells it
	Role      site.Role
	Local     bool // of the person at the machine: see Config.Local
	Created   time.Time
	Seen      time.Time // to within 10 minutes
	Address   string
	UserAgent string

	token []byte // nil unless the session was found by it
}

// Expires returns the time when the session ends if it is not used again.
func (s Session) Expires() time.Time {
	idle, longest := s.Seen.Add(idleTime), s.Created.Add(longestTime)
	if idle.Before(longest) {
		return idle
	}
	return longest
}

// sessionRow is a row of user.webserver.sessions, which is JSON text. Its name is the ID of the
// session, or that of a link.
type sessionRow struct {
	Name      string `json:"name"`
	Created   int64  `json:"created"` // seconds since 1970
	Seen      int64  `json:"seen,omitempty"`
	Address   string `json:"address,omitempty"`
	UserAgent string `json:"userAgent,omitempty"`
	Rights    string `json:"rights,omitempty"` // see candidate.rights
	Local     bool   `json:"local,omitempty"`
}

// parseRow reads JSON text into row.
func parseRow(text string, row any) error {
	d := json.NewDecoder(strings.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(row); err != nil {
		return fmt.Errorf("it is no row of package login: %w", err)
	}
	return nil
}

// readRow reads the row of a table into row. It reports false if there is no row, or none that
// can be read.
func readRow(tx *objectdb.Tx, table objectdb.Address, name string, row any) (bool, error) {
	v, err := tx.Get(table.Child(name))
	if objectdb.IsMissing(err) || errors.Is(err, objectdb.ErrIsTable) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	text, ok := v.(objectdb.String)
	return ok && parseRow(string(text), row) == nil, nil
}

func writeRow(tx *objectdb.Tx, table objectdb.Address, name string, row any) error {
	text, err := json.Marshal(row)
	if err != nil {
		return err
	}
	return tx.Put(table.Child(name), objectdb.String(text))
}

// deleteRow deletes a row if there is one.
func deleteRow(tx *objectdb.Tx, table objectdb.Address, name string) error {
	err := tx.Delete(table.Child(name))
	if objectdb.IsMissing(err) {
		return nil
	}
	return err
}

// rowNames returns the names of the rows of a table.
func rowNames(tx *objectdb.Tx, table objectdb.Address) ([]string, error) {
	n, err := tx.Find(table)
	if errors.Is(err, objectdb.ErrNotFound) || err == nil && n.Kind() != objectdb.KindTable {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	nodes, err := tx.Children(n)
	names := make([]string, 0, len(nodes))
	for _, n := range nodes {
		names = append(names, n.Name())
	}
	return names, err
}

// digest returns the SHA-256 of texts as hexadecimal digits.
func digest(texts ...string) string {
	h := sha256.New()
	for _, t := range texts {
		fmt.Fprintf(h, "%d:%s", len(t), t)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// newToken returns a random token, and its text.
func newToken() (token []byte, text string) {
	token = make([]byte, tokenBytes)
	rand.Read(token) // never fails
	return token, base64.RawURLEncoding.EncodeToString(token)
}

// parseToken reads the text of a token.
func parseToken(text string) ([]byte, bool) {
	if len(text) != base64.RawURLEncoding.EncodedLen(tokenBytes) {
		return nil, false
	}
	token, err := base64.RawURLEncoding.Strict().DecodeString(text)
	return token, err == nil && len(token) == tokenBytes
}

// idOf returns the name of the row for a token. Nobody can tell the token from it.
func idOf(token []byte) string {
	sum := sha256.Sum256(token)
	return hex.EncodeToString(sum[:])
}

// begin makes a session with a new token. It removes the sessions that have ended, and the least
// recently used one of a person who has too many.
func (l *Login) begin(tx *objectdb.Tx, row sessionRow, from From) (s Session, text string, err error) {
	if err := l.removeEnded(tx, row.Name); err != nil {
		return s, "", err
	}
	now := l.Now()
	row.Created, row.Seen = now.Unix(), now.Unix()
	row.Address, row.UserAgent = clip(from.Address, maxAddress), clip(from.UserAgent, maxUserAgent)
	token, text := newToken()
	s = row.session(idOf(token))
	s.token = token
	return s, text, writeRow(tx, site.Sessions, s.ID, row)
}

func (row sessionRow) session(id string) Session {
	return Session{ID: id, Name: row.Name, Local: row.Local, Created: time.Unix(row.Created, 0),
		Seen: time.Unix(row.Seen, 0), Address: row.Address, UserAgent: row.UserAgent}
}

// clip returns the beginning of a text, of at most so many bytes, as valid UTF-8.
func clip(text string, most int) string {
	return strings.ToValidUTF8(text[:min(len(text), most)], "")
}

// Find returns the session with a token, and the role that its person has now. It only reads, and
// the cache of the root has what it reads. The error is [ErrNoSession], or a failure of the root.
// Call [Login.Touch] after the request.
func (l *Login) Find(tx *objectdb.Tx, token string) (Session, error) {
	bytes, ok := parseToken(token)
	if !ok {
		return Session{}, ErrNoSession
	}
	s, ok, err := l.read(tx, idOf(bytes))
	switch {
	case err != nil:
		return Session{}, err
	case !ok:
		return Session{}, ErrNoSession
	}
	s.token = bytes
	return s, nil
}

// read returns the session with an ID. It reports false unless the session counts now.
func (l *Login) read(tx *objectdb.Tx, id string) (s Session, ok bool, err error) {
	var row sessionRow
	if ok, err := readRow(tx, site.Sessions, id, &row); !ok || err != nil || isLink(id) {
		return s, false, err
	}
	s = row.session(id)
	if now := l.Now(); !now.Before(s.Expires()) || s.Created.After(now.Add(seenEvery)) { // a clock was set back
		return s, false, nil
	}
	if row.Local {
		s.Role = site.LocalOwner
		return s, l.Local, nil
	}
	c, err := l.candidate(tx, site.DefaultRealm, row.Name)
	if err != nil {
		return s, false, err
	}
	s.Role = c.role
	return s, c.role.Kind != site.RoleNone && c.hash != "" && c.rights() == row.Rights, nil
}

// Touch notes in the root that a session is used, if it was not noted in the last 10 minutes.
func (l *Login) Touch(ctx context.Context, s Session) error {
	if now := l.Now(); now.Sub(s.Seen) < seenEvery {
		return nil
	}
	return l.DB.Update(ctx, func(tx *objectdb.Tx) error {
		tx.Origin = objectdb.Origin{Who: s.Name, Why: "web page"}
		var row sessionRow
		if ok, err := readRow(tx, site.Sessions, s.ID, &row); !ok || err != nil {
			return err // it has ended meanwhile
		}
		row.Seen = max(row.Seen, l.Now().Unix())
		return writeRow(tx, site.Sessions, s.ID, row)
	})
}

// Sessions returns the sessions of a person, or of all for "", the last used one first. They have
// no CSRF tokens.
func (l *Login) Sessions(tx *objectdb.Tx, name string) ([]Session, error) {
	ids, err := rowNames(tx, site.Sessions)
	if err != nil {
		return nil, err
	}
	var list []Session
	for _, id := range ids {
		s, ok, err := l.read(tx, id)
		if err != nil {
			return nil, err
		}
		if ok && (name == "" || objectdb.Fold(s.Name) == objectdb.Fold(name)) {
			list = append(list, s)
		}
	}
	slices.SortFunc(list, func(a, b Session) int { return b.Seen.Compare(a.Seen) })
	return list, nil
}

// End ends the session with an ID, if there is one.
func End(tx *objectdb.Tx, id string) error { return deleteRow(tx, site.Sessions, id) }

// EndAll ends the sessions of a person, on the web page and on the site.
func EndAll(tx *objectdb.Tx, name string) error {
	if _, err := EndVisits(tx, site.DefaultRealm, name); err != nil {
		return err
	}
	ids, err := rowNames(tx, site.Sessions)
	if err != nil {
		return err
	}
	for _, id := range ids {
		var row sessionRow
		ok, err := readRow(tx, site.Sessions, id, &row)
		if err == nil && ok && objectdb.Fold(row.Name) == objectdb.Fold(name) {
			err = End(tx, id)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// removeEnded removes the rows of links and sessions that count no more, and enough sessions of a
// person that there is room for another one.
func (l *Login) removeEnded(tx *objectdb.Tx, name string) error {
	ids, err := rowNames(tx, site.Sessions)
	if err != nil {
		return err
	}
	var own []Session
	for _, id := range ids {
		keep := false
		if isLink(id) {
			keep, err = l.linkCounts(tx, id)
		} else {
			var s Session
			s, keep, err = l.read(tx, id)
			keep = keep || s.Local && l.Now().Before(s.Expires()) // of a program with Config.Local
			if keep && objectdb.Fold(s.Name) == objectdb.Fold(name) {
				own = append(own, s)
			}
		}
		if err == nil && !keep {
			err = End(tx, id)
		}
		if err != nil {
			return err
		}
	}
	slices.SortFunc(own, func(a, b Session) int { return b.Seen.Compare(a.Seen) })
	for i := maxSessions - 1; i < len(own); i++ {
		if err := End(tx, own[i].ID); err != nil {
			return err
		}
	}
	return nil
}
