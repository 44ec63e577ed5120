package admin

import (
	"errors"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"scripter/login"
	"scripter/objectdb"
	"scripter/site"
)

// isSecure reports whether the request came by https, as the web server says.
func isSecure(r *http.Request) bool { return r.TLS != nil }

// identify sets the session of the request and its user, if the request has a session.
func (c *call) identify(tx *objectdb.Tx, r *http.Request) error {
	s, err := c.login.Find(tx, login.Token(r, isSecure(r)))
	if errors.Is(err, login.ErrNoSession) {
		return nil
	}
	if err == nil {
		c.session, c.user, c.role, c.csrf = s, s.Name, s.Role, s.CSRF()
	}
	return err
}

// setCookie sets the cookie with the token of a session, for the web page at a path; "" deletes the cookie.
func (c *call) setCookie(path, token string) {
	http.SetCookie(c.w, login.NewCookie(c.r.Host, path, token, isSecure(c.r)))
}

// csrfField is the header field that a script sends instead of the hidden field "csrf" of a form.
const csrfField = "X-CSRF-Token"

// admit returns what to answer instead of the page, if it is a log-in page, or an error for a
// request that may not have the page.
func (c *call) admit(admitted who) (*result, error) {
	changes := c.r.Method != http.MethodGet && c.r.Method != http.MethodHead
	if changes {
		if err := login.CheckOrigin(c.r); err != nil {
			return nil, newProblem(http.StatusForbidden, "error.origin")
		}
	}
	switch {
	case admitted == everybody && c.user == "":
		return nil, nil
	case c.user == "" && (changes || c.json):
		return nil, newProblem(http.StatusUnauthorized, "error.login")
	case c.user == "":
		return c.redirect(c.link("login", "to", c.path()), "", 0), nil
	case changes && !c.session.CheckCSRF(c.csrfToken()):
		return nil, newProblem(http.StatusForbidden, "error.csrf")
	case admitted == owners && c.role.Kind != site.RoleOwner:
		return nil, newProblem(http.StatusForbidden, "error.owners")
	}
	return nil, nil
}

// csrfToken returns the token that the request has.
func (c *call) csrfToken() string {
	if t := c.r.Header.Get(csrfField); t != "" {
		return t
	}
	return c.field("csrf")
}

// path returns the path and query of the request.
func (c *call) path() string {
	u := url.URL{Path: strings.TrimSuffix(c.base, "/") + c.r.URL.Path, RawQuery: c.r.URL.RawQuery}
	return u.RequestURI()
}

// loginData is the page for logging in.
type loginData struct {
	Name  string `json:"name,omitempty"`
	To    string `json:"to,omitempty"` // the path to go on to
	Link  string `json:"-"`            // the token of a link
	Error string `json:"error,omitempty"`
}

// loginPage asks for name and password, or offers to use a link.
func (c *call) loginPage() (*result, error) {
	if c.user != "" {
		return c.redirect(c.after(c.query("to")), "", 0), nil
	}
	data := &loginData{To: c.query("to"), Link: c.query("link")}
	return &result{template: "login", title: text("login.title"), data: data}, nil
}

// logIn begins a session, with a name and password or with a link.
func (c *call) logIn() (*result, error) {
	from := c.from()
	var s login.Session
	var token string
	var err error
	link := c.field("link")
	if link != "" {
		s, token, err = c.login.Redeem(c.ctx(), link, from)
	} else {
		s, token, err = c.login.Enter(c.ctx(), c.field("name"), c.field("password"), from)
	}
	if err != nil {
		return c.refuse(err, link != "")
	}
	c.Log.Info("web page: logged in", "user", s.Name, "address", from.Address)
	c.setCookie(c.base, token)
	return c.redirect(c.after(c.field("to")), "", 0), nil
}

// refuse shows the page for logging in again, after a try that failed.
func (c *call) refuse(err error, link bool) (*result, error) {
	p := c.waitProblem(err)
	switch {
	case p != nil:
	case errors.Is(err, login.ErrRefused) && link:
		p = newProblem(http.StatusUnauthorized, "login.link")
	case errors.Is(err, login.ErrRefused):
		p = newProblem(http.StatusUnauthorized, "login.refused")
	default:
		return nil, err
	}
	// The typed name is not logged: it is sometimes a password.
	c.Log.Warn("web page: log-in refused", "address", c.r.RemoteAddr, "err", err)
	data := &loginData{Name: c.field("name"), To: c.field("to"), Error: p.Text}
	return &result{status: p.Status, template: "login", title: text("login.title"), data: data}, nil
}

// waitProblem returns the problem of a password that was not checked, because too many were wrong or too many are
// being checked, or nil.
func (c *call) waitProblem(err error) *problem {
	var wait *login.WaitError
	switch {
	case errors.As(err, &wait):
		seconds := int(math.Ceil(wait.For.Seconds()))
		c.w.Header().Set("Retry-After", strconv.Itoa(seconds))
		return newProblem(http.StatusTooManyRequests, "login.wait", seconds)
	case errors.Is(err, site.ErrManyPasswords):
		return newProblem(http.StatusServiceUnavailable, "login.busy")
	}
	return nil
}

// logOut ends the session.
func (c *call) logOut() (*result, error) {
	if c.user != "" {
		err := c.DB.Update(c.ctx(), func(tx *objectdb.Tx) error {
			tx.Origin = objectdb.Origin{Who: c.user, Why: "log out"}
			return login.End(tx, c.session.ID)
		})
		if err != nil {
			return nil, err
		}
		c.user = ""
	}
	c.setCookie(c.base, "")
	return c.redirect(c.link("login"), "", 0), nil
}

// after returns where to go after logging in. Only a path of the web page counts.
func (c *call) after(to string) string {
	if !strings.HasPrefix(to, c.base) || strings.Contains(to, "..") || strings.ContainsAny(to, "\\\r\n") {
		return c.base
	}
	return to
}
