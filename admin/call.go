package admin

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"scripter/history"
	"scripter/login"
	"scripter/objectdb"
	"scripter/site"
)

// call is one request to the web page.
type call struct {
	*Server
	w    http.ResponseWriter
	r    *http.Request
	base string // the path of the web page, such as "/scripter/"
	json bool   // the client wants JSON
	site *site.Snapshot

	session login.Session
	user    string // the name of the person; "" = nobody has logged in
	role    site.Role
	csrf    string // the token that the forms of this session must send

	past   int64        // the generation that the person looks at, or 0: the present
	db     *objectdb.DB // of the present or the past
	inPast bool
}

// maxForm is the size of the largest form that is read. The limit of the gateway (maxBody) is lower; but
// without a limit here, package net/http would read no more than 10 MB.
const maxForm = 1 << 30

type callKey struct{}

// newCall returns the call for a request. Its request has a path relative to the base.
func (s *Server) newCall(w http.ResponseWriter, r *http.Request) (*call, error) {
	c := &call{Server: s, w: w, db: s.DB}
	err := s.DB.View(r.Context(), func(tx *objectdb.Tx) (err error) {
		if c.site, err = s.Gateway.Site().Snapshot(tx); err != nil {
			return err
		}
		if c.Answers(c.site) {
			c.base = c.site.String(site.AdminPath)
		}
		return c.identify(tx, r)
	})
	if err != nil {
		return nil, err
	}
	rest, ok := strings.CutPrefix(r.URL.Path, strings.TrimSuffix(c.base, "/"))
	if !ok {
		c.base = ""
	}
	if rest, c.json = cutJSON(rest); !c.json {
		c.json = strings.Contains(r.Header.Get("Accept"), "application/json")
	}
	r2 := r.WithContext(context.WithValue(r.Context(), callKey{}, c))
	r2.Body = http.MaxBytesReader(w, r.Body, maxForm)
	r2.URL = &url.URL{Path: rest, RawQuery: r.URL.RawQuery}
	c.r = r2
	return c, nil
}

// ctx returns the context of the request.
func (c *call) ctx() context.Context { return c.r.Context() }

// page returns the path of the page, relative to the base, such as "history/17".
func (c *call) page() string { return strings.Trim(c.r.URL.Path, "/") }

// query returns a parameter of the URL.
func (c *call) query(name string) string { return c.r.URL.Query().Get(name) }

// field returns a field of the form that was sent.
func (c *call) field(name string) string { return c.r.PostFormValue(name) }

// lines returns a field of several lines, with the line ends of the root: browsers send "\r\n".
func (c *call) lines(name string) string { return unixLines(c.field(name)) }

func unixLines(s string) string { return strings.ReplaceAll(s, "\r\n", "\n") }

// view runs fn on the root as the person looks at it: in the present or the past.
func (c *call) view(fn func(tx *objectdb.Tx) error) error { return c.db.View(c.ctx(), fn) }

// update runs fn in a transaction that commits all that it changes, or nothing, with the name of
// the person. what says what was done to which object, for the history. change is its number there,
// or 0 if nothing was kept of what it replaced.
func (c *call) update(what string, fn func(tx *objectdb.Tx) error) (change int64, err error) {
	if c.inPast {
		return 0, pastProblem()
	}
	change, err = history.Commit(c.ctx(), c.DB, func(tx *objectdb.Tx) error {
		tx.Origin = c.by(what)
		return fn(tx)
	})
	if err != nil {
		return 0, err
	}
	return c.kept(change)
}

// by returns the origin of a change that the person makes.
func (c *call) by(what string) objectdb.Origin {
	return objectdb.Origin{Person: true, Who: c.user, Why: "web page", Path: what}
}

// kept returns the number of a change that was made, or 0 if the history keeps nothing of what it replaced.
func (c *call) kept(change int64) (int64, error) {
	if change == 0 {
		return 0, nil
	}
	if kept, err := history.Kept(c.ctx(), c.DB, change); !kept {
		return 0, err
	}
	return change, nil
}

// lookAtPast reads the parameter "at" of the URL: the number of a change that the person looks at.
func (c *call) lookAtPast() error {
	at := c.query("at")
	if at == "" {
		return nil
	}
	n, err := strconv.ParseInt(at, 10, 64)
	if err != nil || n < 1 {
		return bad("error.moment", at)
	}
	err = c.DB.View(c.ctx(), func(tx *objectdb.Tx) error { return history.IsRemembered(tx, n) })
	if err != nil {
		return historyProblem(err)
	}
	c.past, c.inPast, c.db = n, true, c.DB.At(n, nil)
	return nil
}

// address returns the address that the path or the parameter "address" names.
func (c *call) address() (objectdb.Address, error) {
	s := c.r.PathValue("address")
	if s == "" {
		s = c.query("address")
	}
	return c.parseAddress(s)
}

func (c *call) parseAddress(s string) (objectdb.Address, error) {
	a, err := objectdb.ParseAddress(s)
	if err == nil {
		return a, nil
	}
	names := strings.Split(s, ".") // a permalink: its names may have "-"
	if slices.ContainsFunc(names, func(name string) bool { return !isPlain(name) }) {
		return nil, badInput(err)
	}
	return names, nil
}

// isPlain reports whether a name can stand in a path: no web server changes or refuses it.
func isPlain(name string) bool {
	for _, b := range []byte(name) {
		if b != '_' && b != '-' && (b < '0' || '9' < b) && (b < 'a' || 'z' < b) && (b < 'A' || 'Z' < b) {
			return false
		}
	}
	return name != ""
}

// suffixes are names that in a path, after a dot, would be a suffix which web servers treat in
// a way of their own, or which asks for the JSON form.
var suffixes = map[string]bool{
	"json": true, "fcgi": true, "mcro": true, "acgi": true, "root": true, "conf": true, "log": true,
}

// link returns the URL of a page of the web page, with parameters in pairs of name and value, in the
// past that the person looks at.
func (c *call) link(page string, parameters ...string) string {
	q := url.Values{}
	for i := 0; i+1 < len(parameters); i += 2 {
		if parameters[i+1] != "" {
			q.Set(parameters[i], parameters[i+1])
		}
	}
	if c.inPast && !q.Has("at") {
		q.Set("at", strconv.FormatInt(c.past, 10))
	}
	u := c.base + strings.TrimPrefix(page, "/")
	if len(q) > 0 {
		u += "?" + q.Encode()
	}
	return u
}

// linkTo returns the URL of the page of an object: its permalink.
func (c *call) linkTo(page string, a objectdb.Address, parameters ...string) string {
	plain := len(a) > 0
	for _, name := range a {
		plain = plain && isPlain(name) && !suffixes[strings.ToLower(name)]
	}
	if plain {
		return c.link(page+"/"+strings.Join(a, "."), parameters...)
	}
	return c.link(page, append([]string{"address", a.String()}, parameters...)...)
}

// problem is an error that a person can understand and correct.
type problem struct {
	Status int
	Text   string
	Data   map[string]any // more for the JSON form
}

func (p *problem) Error() string { return p.Text }

// newProblem returns a problem with the text of a key.
func newProblem(status int, key string, args ...any) *problem {
	return &problem{Status: status, Text: text(key, args...)}
}

// bad returns the problem of an invalid value in a form or a URL.
func bad(key string, args ...any) error { return newProblem(http.StatusBadRequest, key, args...) }

// badInput returns the problem of what a person has sent, in the words of another package.
func badInput(err error) error {
	return &problem{Status: http.StatusBadRequest, Text: strings.TrimPrefix(err.Error(), "objectdb: ")}
}

// unknownAction returns the problem of a form that asks for what its page cannot do.
func unknownAction(do string) error { return bad("error.action", do) }

// pastProblem returns the problem of a change that is requested while the person looks at the past.
func pastProblem() error { return newProblem(http.StatusConflict, "error.past") }

func (c *call) notFound() error {
	return newProblem(http.StatusNotFound, "error.404")
}

// problemOf returns the problem to show for an error. The text of an unexpected error is for the
// log only.
func (c *call) problemOf(err error) *problem {
	var p *problem
	var known *objectdb.Error
	status := 0
	switch {
	case errors.As(err, &p):
		return p
	case errors.Is(err, objectdb.ErrNotFound), errors.Is(err, objectdb.ErrReach):
		status = http.StatusNotFound
	case errors.Is(err, objectdb.ErrExists), errors.Is(err, objectdb.ErrConflict):
		status = http.StatusConflict
	case errors.Is(err, objectdb.ErrBusy), errors.Is(err, objectdb.ErrMoved):
		status = http.StatusServiceUnavailable
	case objectdb.IsFailure(err):
	case errors.As(err, &known):
		status = http.StatusBadRequest
	}
	if status != 0 {
		return &problem{Status: status, Text: strings.TrimPrefix(err.Error(), "objectdb: ")}
	}
	c.Log.Error("web page", "path", c.r.URL.Path, "user", c.user, "err", err)
	switch {
	case errors.Is(err, objectdb.ErrUnknown):
		return newProblem(http.StatusServiceUnavailable, "error.unknown")
	case errors.Is(err, objectdb.ErrUnreachable):
		return newProblem(http.StatusServiceUnavailable, "error.unreachable")
	}
	return newProblem(http.StatusInternalServerError, "error.500")
}

// mayChange returns an error unless the person may change the object.
func (c *call) mayChange(a objectdb.Address) error {
	if c.role.MayChange(a) {
		return nil
	}
	return newProblem(http.StatusForbidden, "error.mayNotChange", c.user, name(a))
}

// name returns an address for people.
func name(a objectdb.Address) string {
	if len(a) == 0 {
		return text("root")
	}
	return a.String()
}
