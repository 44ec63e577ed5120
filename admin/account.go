package admin

import (
	"errors"
	"net"
	"net/http"

	"scripter/login"
	"scripter/objectdb"
	"scripter/site"
)

// accountData is the page on which people see and change what is their own.
type accountData struct {
	Name   string    `json:"name"`
	Role   string    `json:"role"`
	Local  bool      `json:"local,omitempty"` // of scripter serve: there is no row, and no password
	Logins []session `json:"logins"`
	mistake
}

// Others reports whether there are other sessions than that of this request.
func (data *accountData) Others() bool { return len(data.Logins) > 1 }

// accountPage shows the person's own sessions, and a form for another password.
func (c *call) accountPage() (*result, error) { return c.accountPageWith("") }

func (c *call) accountPageWith(message string) (*result, error) {
	data := &accountData{Name: c.user, Role: c.role.String(), Local: c.session.Local,
		mistake: mistake{message, c.field("do")}}
	var err error
	data.Logins, err = c.sessionsOf(c.user, c.session.Local)
	return &result{template: "account", title: text("account.title"), data: data}, err
}

// changeAccount does what a form of the page asks for.
func (c *call) changeAccount() (*result, error) {
	said, err := "", error(nil)
	switch do := c.field("do"); do {
	case "password":
		said, err = "ownPassword", c.changeOwnPassword()
	case "end":
		said, err = "sessionEnded", c.endOf(c.user, c.session.Local, c.field("id"))
	case "endOthers":
		said, err = "sessionsEnded", c.endOf(c.user, c.session.Local, "", c.session.ID)
	case "endAll":
		if err = c.endOf(c.user, c.session.Local, ""); err == nil {
			return c.logOut()
		}
	default:
		err = unknownAction(do)
	}
	if err != nil {
		return c.orAgain(err, c.accountPageWith)
	}
	return c.redirect(c.link("account"), said, 0), nil
}

// from says where the request comes from.
func (c *call) from() login.From {
	address, _, err := net.SplitHostPort(c.r.RemoteAddr)
	if err != nil {
		address = c.r.RemoteAddr
	}
	return login.From{Address: address, UserAgent: c.r.UserAgent()}
}

// changeOwnPassword sets another password for who knows the old one. A wrong one counts as a failed
// try to log in, with the same waits. All sessions end, and this browser gets a new one.
func (c *call) changeOwnPassword() error {
	if c.session.Local {
		return newProblem(http.StatusConflict, "account.local")
	}
	hash, err := c.newHash()
	if err != nil {
		return err
	}
	s, token, err := c.login.Enter(c.ctx(), c.user, c.field("old"), c.from())
	if err != nil {
		return c.oldPasswordProblem(err)
	}
	_, err = c.update("password of "+s.Name, func(tx *objectdb.Tx) error {
		// The old password must still be the right one.
		if _, err := c.login.Find(tx, token); errors.Is(err, login.ErrNoSession) {
			return newProblem(http.StatusConflict, "account.changed")
		} else if err != nil {
			return err
		}
		if err := site.SetPassword(tx, s.Name, hash); err != nil {
			return err
		}
		return login.EndAll(tx, s.Name)
	})
	if err != nil {
		return err
	}
	c.Log.Info("web page: password changed", "user", s.Name, "address", c.from().Address)
	_, token, err = c.login.Enter(c.ctx(), s.Name, c.field("password"), c.from())
	if err != nil {
		c.Log.Warn("web page: no session after another password", "user", s.Name, "err", err)
		return nil // the next page asks for the password
	}
	c.setCookie(c.base, token)
	return nil
}

// oldPasswordProblem returns the problem of a password that was not taken.
func (c *call) oldPasswordProblem(err error) error {
	if p := c.waitProblem(err); p != nil {
		return p
	}
	if errors.Is(err, login.ErrRefused) {
		c.Log.Warn("web page: old password refused", "user", c.user, "address", c.r.RemoteAddr)
		return newProblem(http.StatusForbidden, "account.wrong")
	}
	return err
}
