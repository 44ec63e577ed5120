package login

import (
	"context"
	"errors"
	"strings"
	"time"

	"scripter/objectdb"
	"scripter/site"
)

// A link logs in without a password, once: "scripter serve" prints one. Its page (GET) has a
// button, or the page's script presses it at once, and only the form (POST) uses the token up: the
// preview of a chat program or a browser that loads pages ahead uses nothing up. The redirect of
// a GET would also be sent without the new cookie if the link was clicked in a page of another
// site, because the cookie is SameSite=Strict.
//
// Who runs such a program may write the root's file, and so is as powerful as an owner. So the
// session has the role owner whatever user.webserver.roles says, and nothing is written there: a
// root that was only served at the desk has no owner when it goes to a web server, and the
// web page is not answered there.

// linkTime is how long a link can be used.
const linkTime = 10 * time.Minute

const linkPrefix = "link-"

func isLink(id string) bool { return strings.HasPrefix(id, linkPrefix) }

// errNotLocal is returned for links where Config.Local is false.
var errNotLocal = errors.New("links are for a program that runs for the person at its machine")

// OneTime returns the token of a link, with which a person at this machine becomes a local owner,
// once, within 10 minutes. It needs Config.Local.
func (l *Login) OneTime(ctx context.Context, name string) (token string, err error) {
	if !l.Local {
		return "", errNotLocal
	}
	bytes, text := newToken()
	err = l.DB.Update(ctx, func(tx *objectdb.Tx) error {
		tx.Origin = objectdb.Origin{Who: name, Why: "make a link"}
		if err := l.removeEnded(tx, name); err != nil {
			return err
		}
		return writeRow(tx, site.Sessions, linkPrefix+idOf(bytes),
			sessionRow{Name: name, Created: l.Now().Unix(), Local: true})
	})
	return text, err
}

// Redeem uses up a link and makes a session. The token that it returns is for the cookie. The error
// wraps [ErrRefused], or is a failure of the root.
func (l *Login) Redeem(ctx context.Context, link string, from From) (s Session, token string, err error) {
	bytes, ok := parseToken(link)
	if !ok || !l.Local {
		return Session{}, "", ErrRefused
	}
	id := linkPrefix + idOf(bytes)
	err = l.DB.Update(ctx, func(tx *objectdb.Tx) error {
		tx.Origin = origin("log in")
		ok, err := l.linkCounts(tx, id)
		if err == nil && !ok {
			err = ErrRefused
		}
		if err != nil {
			return err
		}
		var row sessionRow
		if _, err := readRow(tx, site.Sessions, id, &row); err != nil {
			return err
		}
		if err := End(tx, id); err != nil {
			return err
		}
		s, token, err = l.begin(tx, sessionRow{Name: row.Name, Local: true}, from)
		s.Role = site.LocalOwner
		return err
	})
	if err != nil {
		return Session{}, "", err
	}
	return s, token, nil
}

// linkCounts reports whether a link can still be used.
func (l *Login) linkCounts(tx *objectdb.Tx, id string) (bool, error) {
	var row sessionRow
	ok, err := readRow(tx, site.Sessions, id, &row)
	age := l.Now().Sub(time.Unix(row.Created, 0))
	return ok && row.Local && age < linkTime && age > -linkTime, err
}
