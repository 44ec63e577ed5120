package gateway

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"scripter/login"
	"scripter/objectdb"
	"scripter/site"
)

// require returns an error unless the request may reach the object at a by its URL. An
// invalid row admits nobody.
func (c *attempt) require(a objectdb.Address) error {
	want := c.Site().Requirement(a)
	if want.From == nil && want.Err == nil { // most objects, and their address need not be written
		return nil
	}
	return c.requireFor(a.String(), want)
}

// requirePath returns an error unless the request may reach its URL.
func (c *attempt) requirePath() error {
	return c.requireFor(c.target.Path, c.Site().PathRequirement(c.target.Path))
}

// requireFor returns an error unless the request meets a requirement of what is asked for.
func (c *attempt) requireFor(what string, want site.Requirement) error {
	if want.Err != nil {
		return &Error{Status: 403, warns: true, Message: fmt.Sprintf("%s admits nobody: %v", want.From, want.Err)}
	}
	if want.From == nil {
		return nil
	}
	c.request.trace("%s requires %q (%s)", what, want.Text, want.From)
	if want.Anyone() {
		return nil
	}
	c.private = true
	if user := c.request.checkedUser(); user != "" && want.TakesCheckedUser() {
		if !c.Site().Admits(want, user) {
			return &Error{Status: 403, warns: true, Message: fmt.Sprintf(
				"%s requires %q (%s), but the web server has checked %.80q", what, want.Text, want.From, user)}
		}
		return nil
	}
	if person, err := c.person(); err != nil {
		return err
	} else if person != nil && person.Realm == want.Realm() {
		return c.admit(what, want, person.Name)
	}
	return c.requireLogin(what, want)
}

// admit returns an error unless somebody who has logged in meets a requirement.
func (c *attempt) admit(what string, want site.Requirement, name string) error {
	if !c.Site().Admits(want, name) {
		return &Error{Status: 403, warns: true, Message: fmt.Sprintf(
			"%s requires %q (%s), but %.80q has logged in", what, want.Text, want.From, name)}
	}
	return nil
}

// requireBelow returns an error unless the request may also reach all objects below a
// by their URLs.
func (c *attempt) requireBelow(a objectdb.Address) error {
	for _, of := range c.Site().RequirementsIn(a) {
		_, err := c.Tx.Find(of)
		if objectdb.IsMissing(err) {
			continue // there is no such object
		}
		if err == nil {
			err = c.require(of)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// requireLogin checks the visitor's name and password against the root's users.
func (c *attempt) requireLogin(a string, want site.Requirement) error {
	at, text := want.From, want.Text
	users, err := c.Tx.Find(site.Users.Child(want.Realm()))
	if err != nil && !objectdb.IsMissing(err) {
		return err
	}
	if err != nil || users.Kind() != objectdb.KindTable {
		return &Error{Status: 403, warns: true, Message: fmt.Sprintf(
			"%s requires %q (%s): the web server has checked nobody, and user.webserver.users has no realm %s: "+
				"httpd.addUser adds the first user", a, text, at, want.Realm())}
	}
	name, password := basicAuth(c.request.Params["HTTP_AUTHORIZATION"])
	if name == "" {
		return &Error{Status: 401, realm: want.Realm(), Message: fmt.Sprintf(
			"%s requires %q (%s), but nobody has logged in", a, text, at)}
	}
	hash := ""
	switch spelled, kept, err := site.User(c.Tx, want.Realm(), name); {
	case err == nil:
		name, hash = spelled, kept
	case !errors.Is(err, objectdb.ErrNotFound):
		return err
	}
	ok, err := c.knows(c.Context(), hash, password)
	switch {
	case err != nil:
		return fmt.Errorf("check the password of user.webserver.users.%s: %w", objectdb.Address{want.Realm(), name}, err)
	case !ok:
		return &Error{Status: 401, realm: want.Realm(), warns: true, Message: fmt.Sprintf(
			"%s requires %q (%s): the name %.80q or its password is wrong", a, text, at, name)}
	}
	if err := c.admit(a, want, name); err != nil {
		return err
	}
	c.admitted = login.Account{Name: name, Realm: want.Realm()}
	return nil
}

// knows reports whether the password has this hash. It remembers a right password, so
// that a request that runs again does not hash twice.
func (x *exchange) knows(ctx context.Context, hash, password string) (bool, error) {
	if hash != "" && hash == x.verified && password == x.password {
		return true, nil
	}
	ok, err := x.g.passwords.Check(ctx, hash, password)
	if ok {
		x.verified, x.password = hash, password
	}
	return ok, err
}

// challenge returns the WWW-Authenticate field of a 401, which makes a browser ask for
// name and password (RFC 7617, 2).
func challenge(realm string) string {
	var b strings.Builder
	b.WriteString(`Basic realm="`)
	for _, c := range []byte(realm) {
		switch {
		case c == '"', c == '\\':
			b.WriteByte('\\')
		case c < ' ' || c >= 0x7f:
			c = '?'
		}
		b.WriteByte(c)
	}
	b.WriteString(`", charset="UTF-8"`)
	return b.String()
}
