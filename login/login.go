package login

import (
	"context"
	"errors"
	"fmt"
	"time"

	"scripter/objectdb"
	"scripter/site"
)

// Config says what a Login works with. All fields but Now and Local are needed.
type Config struct {
	DB        *objectdb.DB
	Site      *site.Cache
	Passwords *site.Passwords
	Now       func() time.Time // nil is time.Now
	// Local says that this program runs for the person at its machine, who may write the root's
	// file anyway: scripter serve. It makes links for a local owner, and sessions of such a
	// link count only in programs with Local.
	Local bool
}

// A Login checks who uses the web page. It is safe for concurrent use.
type Login struct {
	Config
}

// New returns a Login.
func New(c Config) *Login {
	if c.Now == nil {
		c.Now = time.Now
	}
	return &Login{c}
}

// Answers reports whether the web page is to be answered at all: somebody has the role owner, or
// the program is Local.
func (l *Login) Answers(s *site.Snapshot) bool { return l.Local || s.HasOwner() }

// ErrRefused is returned for a wrong name, password or link, and for a person without a valid role.
// What wraps it is for the log, and not for the client.
var ErrRefused = errors.New("the name or the password is wrong")

// A WaitError is returned instead of an answer after too many failed tries.
type WaitError struct {
	For time.Duration // after which the next try is answered
}

func (e *WaitError) Error() string {
	return fmt.Sprintf("too many tries: wait for %v", e.For.Round(time.Second))
}

// From says where a log-in comes from.
type From struct {
	Address   string // of the client, as the web server says it
	UserAgent string
}

// origin is the origin of the commits for a person who is not known yet.
func origin(why string) objectdb.Origin { return objectdb.Origin{Why: why} }

// Enter checks a name and a password, and makes a session. The token is for the cookie of the
// browser; it is a new one each time. The error wraps [ErrRefused], is a [*WaitError], or else says
// why nobody can log in now: [site.ErrManyPasswords], or a failure of the root.
//
// A refusal takes the same time and says the same whether there is such a name or not.
func (l *Login) Enter(ctx context.Context, name, password string, from From) (s Session, token string, err error) {
	var c *candidate
	err = l.DB.Update(context.WithoutCancel(ctx), func(tx *objectdb.Tx) (err error) {
		tx.Origin = origin("log in")
		if err = l.countTry(tx, name, from.Address); err == nil {
			c, err = l.candidate(tx, site.DefaultRealm, name)
		}
		return err
	})
	if err != nil {
		return Session{}, "", err
	}
	defer func() {
		if err != nil && !errors.Is(err, ErrRefused) { // it was no answer, and so no try
			l.forgetTry(context.WithoutCancel(ctx), name, from.Address)
		}
	}()
	ok, err := l.Passwords.Check(ctx, c.hash, password)
	if err != nil {
		return Session{}, "", fmt.Errorf("check the password of %.80q: %w", name, err)
	}
	switch {
	case c.broken != nil:
		return Session{}, "", fmt.Errorf("%w: %w", ErrRefused, c.broken)
	case !ok:
		return Session{}, "", ErrRefused
	case c.role.Err != nil:
		return Session{}, "", fmt.Errorf("%w: the role of %q gives no rights: %w", ErrRefused, c.name, c.role.Err)
	case c.role.Kind == site.RoleNone:
		return Session{}, "", fmt.Errorf("%w: %q has no role", ErrRefused, c.name)
	}
	err = l.DB.Update(ctx, func(tx *objectdb.Tx) error {
		tx.Origin = objectdb.Origin{Who: c.name, Why: "log in"}
		now, err := l.candidate(tx, site.DefaultRealm, name)
		if err != nil {
			return err
		}
		if now.rights() != c.rights() {
			return fmt.Errorf("%w: the password or the role of %q was changed meanwhile", ErrRefused, c.name)
		}
		if err := l.succeeded(tx, now.name, from.Address); err != nil {
			return err
		}
		s, token, err = l.begin(tx, sessionRow{Name: now.name, Rights: now.rights()}, from)
		s.Role = now.role
		return err
	})
	return s, token, err
}

// candidate is what the root says of somebody of a realm who wants to log in.
type candidate struct {
	name   string // as the root spells it
	hash   string // "": no password is right
	role   site.Role
	broken error // why no password can be checked
}

func (l *Login) candidate(tx *objectdb.Tx, realm, name string) (*candidate, error) {
	snapshot, err := l.Site.Snapshot(tx)
	if err != nil {
		return nil, err
	}
	c := &candidate{name: name}
	spelled, hash, err := site.User(tx, realm, name)
	switch {
	case err == nil:
		c.name = spelled
		if realm == site.DefaultRealm {
			c.role = snapshot.Role(spelled)
		}
		if err := site.CheckHash(hash); err != nil && hash != "" {
			c.broken = fmt.Errorf("the password of %q cannot be checked: %w", spelled, err)
		} else {
			c.hash = hash
		}
	case !objectdb.IsMissing(err):
		return nil, err
	}
	return c, nil
}

// rights returns a text that changes with the password and the role. A session ends when it
// does, whoever has changed them, and in whatever way.
func (c *candidate) rights() string { return digest("rights", c.hash, c.role.Text) }
