package gateway

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"scripter/login"
	"scripter/site"
)

// person returns who has logged in on the site in this visitor's session, or nil. If a log-in is remembered, the
// session becomes one of that person.
func (c *attempt) person() (*login.Account, error) {
	v, err := c.session()
	if err != nil || v.asked {
		if v != nil {
			return v.person, err
		}
		return nil, err
	}
	l := c.newLogin()
	a, ok, err := l.VisitAccount(c.Tx, v.Visit)
	if err != nil {
		return nil, err
	}
	if ok {
		v.person, v.asked = &a, true
		return v.person, nil
	}
	if err := c.recall(l, v); err != nil {
		return nil, err
	}
	v.asked = true
	return v.person, nil
}

// recall logs in whom the browser has a remembered log-in of.
func (c *attempt) recall(l *login.Login, v *visit) error {
	cookie := c.request.siteCookie(login.RememberedCookie)
	if cookie == "" || c.readOnly || c.command {
		return nil
	}
	lasts := login.RememberTime(c.Site())
	r, err := l.Recall(c.Tx, cookie, c.request.Host(), lasts)
	switch {
	case errors.Is(err, login.ErrStolen):
		c.warnings = append(c.warnings, fmt.Sprintf("%.80q: %v", r.Account.Name, login.ErrStolen))
		c.setSiteCookie(login.RememberedCookie, "", 0)
		return nil
	case errors.Is(err, login.ErrNoSession):
		c.setSiteCookie(login.RememberedCookie, "", 0)
		return nil
	case err != nil:
		return err
	}
	if r.Cookie != "" {
		c.setSiteCookie(login.RememberedCookie, r.Cookie, lasts)
	}
	if err := c.changeVisit(func(v *visit) error { return v.LogIn(c.Tx, r.Account, r.Series) }); err != nil {
		return err
	}
	v.person = &r.Account
	return nil
}

// checkTry checks a name and a password, with waits after failed tries. why says in words for visitors why they were
// refused.
func (c *attempt) checkTry(name, password, realm string) (a login.Account, why error, err error) {
	try := login.Try{Name: name, Realm: realm, Address: c.request.Params["REMOTE_ADDR"]}
	c.writeLists()
	a, err = c.newLogin().CheckTry(c.Tx, try, func(hash string) (bool, error) {
		return c.knows(c.Context(), hash, password)
	})
	var wait *login.WaitError
	switch {
	case errors.As(err, &wait):
		return a, wait, nil
	case errors.Is(err, login.ErrRefused):
		c.tries = append(c.tries, try)
		if err != login.ErrRefused {
			c.warnings = append(c.warnings, err.Error())
		}
		return a, login.ErrRefused, nil
	}
	return a, nil, err
}

// checkPassword checks the password of who is logged in. why says in words for visitors why it was refused.
func (c *attempt) checkPassword(a login.Account, password string) (why error, err error) {
	_, why, err = c.checkTry(a.Name, password, a.Realm)
	if why == login.ErrRefused {
		why = errors.New("the old password is wrong")
	}
	return why, err
}

// logIn logs a visitor in. why says in words for visitors why that was refused.
func (c *attempt) logIn(name, password, realm string, remember bool) (who string, why error, err error) {
	if err := c.checkOrigin(); err != nil {
		return "", nil, err
	}
	a, why, err := c.checkTry(name, password, realm)
	if why != nil || err != nil {
		return "", why, err
	}
	l := c.newLogin()
	series := ""
	if lasts := login.RememberTime(c.Site()); remember && lasts > 0 {
		cookie := ""
		if cookie, series, err = l.Remember(c.Tx, a, c.request.Host()); err != nil {
			return "", nil, err
		}
		c.setSiteCookie(login.RememberedCookie, cookie, lasts)
	} else if err = c.forgetRemembered(); err != nil {
		return "", nil, err
	}
	err = c.changeVisit(func(v *visit) error { return v.LogIn(c.Tx, a, series) })
	if err == nil {
		c.visit.person, c.visit.asked = &a, true
	}
	return a.Name, nil, err
}

// forgetRemembered ends the remembered log-in that the browser has the cookie of, if it has one.
func (c *attempt) forgetRemembered() error {
	cookie := c.request.siteCookie(login.RememberedCookie)
	if cookie == "" {
		return nil
	}
	c.setSiteCookie(login.RememberedCookie, "", 0)
	return login.EndRemembered(c.Tx, cookie)
}

// logOut ends the session and the remembered log-in.
func (c *attempt) logOut() error {
	if _, err := c.person(); err != nil { // a log-in that is only remembered ends too
		return err
	}
	if err := c.forgetRemembered(); err != nil {
		return err
	}
	return c.endVisit()
}

// setPassword gives an account another password, which ends all of its sessions but this one, and its remembered
// log-ins. why says in words for visitors why the password was refused.
func (c *attempt) setPassword(realm, name, password string) (why error, err error) {
	if why := site.CheckPassword(password); why != nil {
		return why, nil
	}
	now, err := c.person()
	if err != nil {
		return nil, err
	}
	hash, err := c.g.passwords.Hash(c.Context(), password)
	if err != nil {
		return nil, err
	}
	c.writeLists()
	a, err := c.newLogin().ChangePassword(c.Tx, realm, name, hash)
	if err != nil || now == nil || !now.Is(a) {
		return nil, err
	}
	if err := c.forgetRemembered(); err != nil {
		return nil, err
	}
	err = c.changeVisit(func(v *visit) error { return v.LogIn(c.Tx, a, "") })
	if err == nil {
		c.visit.person, c.visit.asked = &a, true
	}
	return nil, err
}

// countTries counts the failed tries to log in of a transaction that was undone: a script that fails after
// them must not make them free.
func (c *attempt) countTries(ctx context.Context) {
	if len(c.tries) == 0 || c.isDry() {
		return
	}
	if err := c.newLogin().CountFailed(ctx, c.tries); err != nil {
		c.g.log.Warn("failed tries to log in not counted", "path", c.request.LogPath(), "err", err)
	}
}

// checkOrigin returns an error if the browser says that a page of another site has made the request.
func (c *attempt) checkOrigin() error {
	if err := login.CheckOrigin(c.request.originRequest()); err != nil {
		return foreignForm("a page of another site has made this request: " + err.Error())
	}
	return nil
}

// originRequest returns the request with what [login.CheckOrigin] looks at.
func (r *Request) originRequest() *http.Request {
	h := &http.Request{Method: r.Params["REQUEST_METHOD"], Host: r.Params["HTTP_HOST"], Header: http.Header{}, URL: &url.URL{}}
	for _, name := range []string{"Sec-Fetch-Site", "Origin"} {
		if v := r.field(name); v != "" {
			h.Header.Set(name, v)
		}
	}
	return h
}

// orLogin redirects a browser whose visitor must log in first to the log-in page. It returns every other error.
func (c *attempt) orLogin(err error) error {
	var e *Error
	if !errors.As(err, &e) || e.Status != 401 || e.realm == "" || c.out.started {
		return err
	}
	page := c.Site().String(site.LoginPage)
	if page == "" || !c.asksForPage() {
		return err
	}
	if site.CleanPath(c.target.Path) == page {
		return &Error{Status: 500, Err: err, Message: fmt.Sprintf(
			"%s is the log-in page (user.webserver.loginPage), and requires a log-in itself: %v", page, err)}
	}
	base := c.base()
	to := base.Path
	if base.Query != "" {
		to += "?" + base.Query
	}
	c.request.trace("the visitor must log in first: redirected to %s (user.webserver.loginPage)", page)
	return c.redirect(page + "?" + url.Values{returnField: {to}}.Encode())
}

// returnField is the name of the field with the URL to which the log-in page returns.
const returnField = "to"

// asksForPage reports whether a browser asks for a page of its own, which a person sees.
func (c *attempt) asksForPage() bool {
	r := c.request
	m := r.Params["REQUEST_METHOD"]
	if mode := r.field("Sec-Fetch-Mode"); mode != "" && mode != "navigate" {
		return false
	}
	return (m == "GET" || m == "HEAD") && r.Params["HTTP_AUTHORIZATION"] == "" &&
		strings.Contains(r.Params["HTTP_ACCEPT"], "text/html")
}
