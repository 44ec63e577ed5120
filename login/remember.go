package login

import (
	"crypto/subtle"
	"errors"
	"strings"
	"time"

	"scripter/objectdb"
	"scripter/site"
)

// A remembered log-in is a series of tokens, of which each is used once. The cookie has the place of the
// series, the series and the token; the root has a row of user.webserver.remembered with the token's
// digest. When a token is used, the browser gets the next one, and the one before counts until
// that is used, because its answer may have been lost, or two tabs have sent it at once. Any other
// token of a series was used before: it was copied, and whoever has it is not told from the owner. Then the
// series ends, with all sessions that it has begun.

// sameTime is how long two requests with the same token count as sent at once.
const sameTime = 10 * time.Minute

// maxRemembered is how many log-ins of one account are remembered.
const maxRemembered = 20

// ErrStolen is returned for a token of a remembered log-in that was used before.
var ErrStolen = errors.New("the token of a remembered log-in was used twice: it has been copied")

// rememberedRow is a row of user.webserver.remembered: JSON text.
type rememberedRow struct {
	Name    string `json:"name"`
	Realm   string `json:"realm"`
	Rights  string `json:"rights"`
	Host    string `json:"host"`
	Token   string `json:"token"`            // the digest of the next token
	Before  string `json:"before,omitempty"` // that of the token before it
	Created int64  `json:"created"`          // seconds since 1970
	Used    int64  `json:"used"`
}

// placeOf returns with what the rows of an account begin.
func placeOf(a Account) string {
	return digest("account", a.Realm, objectdb.Fold(a.Name))[:placeLength]
}

const placeLength = 16

// Remember begins a series for an account. It returns the text for the cookie, and the name of the row.
func (l *Login) Remember(tx *objectdb.Tx, a Account, host string) (cookie, id string, err error) {
	place := placeOf(a)
	if err := removeOldest(tx, place, maxRemembered-1); err != nil {
		return "", "", err
	}
	series, seriesText := newToken()
	token, text := newToken()
	now := l.Now().Unix()
	id = place + "-" + idOf(series)
	err = writeRow(tx, site.Remembered, id, rememberedRow{Name: a.Name, Realm: a.Realm, Rights: a.rights, Host: host,
		Token: idOf(token), Created: now, Used: now})
	return place + "." + seriesText + "." + text, id, err
}

// removeOldest removes the least recently used series of an account, all but so many.
func removeOldest(tx *objectdb.Tx, place string, most int) error {
	table, err := tx.Find(site.Remembered)
	if objectdb.IsMissing(err) || err == nil && table.Kind() != objectdb.KindTable {
		return nil
	}
	if err != nil {
		return err
	}
	nodes, err := tx.Page(table, place+"-", place+".", false, 2*maxRemembered)
	if err != nil {
		return err
	}
	for len(nodes) > most {
		oldest, used := 0, int64(1<<62)
		for i, n := range nodes {
			var row rememberedRow
			if _, err := readRow(tx, site.Remembered, n.Name(), &row); err != nil {
				return err
			}
			if row.Used < used {
				oldest, used = i, row.Used
			}
		}
		if err := deleteRow(tx, site.Remembered, nodes[oldest].Name()); err != nil {
			return err
		}
		nodes = append(nodes[:oldest], nodes[oldest+1:]...)
	}
	return nil
}

// A Recalled is a log-in that was remembered.
type Recalled struct {
	Account Account
	Series  string // the name of its row
	Cookie  string // the next text for the cookie; "" = it stays
}

// parseRemembered returns the name of the row, the parts of a cookie, and its token.
func parseRemembered(cookie string) (id, place, seriesText string, token []byte, ok bool) {
	place, rest, _ := strings.Cut(cookie, ".")
	seriesText, tokenText, _ := strings.Cut(rest, ".")
	series, ok := parseToken(seriesText)
	token, also := parseToken(tokenText)
	if !ok || !also || len(place) != placeLength || strings.Trim(place, "0123456789abcdef") != "" {
		return "", "", "", nil, false
	}
	return place + "-" + idOf(series), place, seriesText, token, true
}

// EndRemembered ends the series that a cookie belongs to, if there is one.
func EndRemembered(tx *objectdb.Tx, cookie string) error {
	id, _, _, _, ok := parseRemembered(cookie)
	if !ok {
		return nil
	}
	return deleteRow(tx, site.Remembered, id)
}

// Recall uses a token of a remembered log-in. lasts is how long a series lasts without use. The error is
// [ErrNoSession], [ErrStolen] with who it was, or a failure of the root.
func (l *Login) Recall(tx *objectdb.Tx, cookie, host string, lasts time.Duration) (r Recalled, err error) {
	id, place, seriesText, token, ok := parseRemembered(cookie)
	if !ok {
		return r, ErrNoSession
	}
	r.Series = id
	var row rememberedRow
	if ok, err := readRow(tx, site.Remembered, r.Series, &row); err != nil || !ok {
		return r, orNoSession(err)
	}
	now, used := l.Now(), time.Unix(row.Used, 0)
	if row.Host != host || !now.Before(used.Add(lasts)) {
		return r, ErrNoSession
	}
	c, err := l.candidate(tx, row.Realm, row.Name)
	if err != nil || c.hash == "" || c.rights() != row.Rights {
		return r, orNoSession(err)
	}
	r.Account = Account{c.name, row.Realm, row.Rights}
	switch id := idOf(token); {
	case isSameText(id, row.Token):
		row.Before = row.Token
	case !isSameText(id, row.Before):
		return r, errors.Join(ErrStolen, deleteRow(tx, site.Remembered, r.Series))
	case now.Sub(used) < sameTime:
		return r, nil
	}
	next, text := newToken()
	row.Token, row.Used = idOf(next), now.Unix()
	r.Cookie = place + "." + seriesText + "." + text
	return r, writeRow(tx, site.Remembered, r.Series, row)
}

func orNoSession(err error) error {
	if err == nil {
		err = ErrNoSession
	}
	return err
}

func isSameText(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }
