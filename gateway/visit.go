package gateway

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"scripter/httpheader"
	"scripter/login"
	"scripter/objectdb"
	"scripter/script"
	"scripter/site"
)

// visit is the session of the visitor, as one attempt to answer sees it.
type visit struct {
	*login.Visit
	table    *script.Object // what scripts see as session; nil: none has asked for it
	messages *script.Table  // what scripts see as flash; nil: none has asked for it
	token    string         // the token that the browser has, or is sent
	person   *login.Account // who has logged in; nil: nobody, or nobody has asked
	asked    bool           // person was looked for
}

// newLogin returns what checks log-ins at the time of the exchange.
func (x *exchange) newLogin() *login.Login {
	return login.New(login.Config{DB: x.g.db, Site: x.g.site, Passwords: x.g.passwords, Now: x.now})
}

// session returns the session of the visitor. If there is none, it is a new one, which is stored, and for which the
// browser gets a cookie, once something is in it. From then on the response is for this visitor only.
func (c *attempt) session() (*visit, error) {
	if c.visit != nil {
		return c.visit, nil
	}
	c.private = true
	v, err := c.findVisit()
	if err != nil {
		return nil, err
	}
	c.visit = &visit{Visit: v}
	if v == nil {
		c.visit.Visit = login.NewVisit(c.request.Host(), c.Now())
	} else {
		c.visit.token = v.Token()
	}
	return c.visit, nil
}

// findVisit returns the session that the visitor's cookie leads to, or nil.
func (c *attempt) findVisit() (*login.Visit, error) {
	token := c.request.siteCookie(login.VisitCookie)
	if token == "" {
		return nil, nil
	}
	v, err := login.FindVisit(c.Tx, token, c.request.Host(), c.Now(), login.VisitTimes(c.Site()))
	if errors.Is(err, login.ErrNoSession) {
		return nil, nil
	}
	return v, err
}

// siteCookie returns the value of one of the cookies that Scripter sets for a site, or "". Two different ones mean
// that a neighbour below the same domain has set one, and neither counts then.
func (r *Request) siteCookie(name string) string {
	field := r.Params["HTTP_COOKIE"]
	if !strings.Contains(field, name) {
		return ""
	}
	name = login.SiteCookie(name, r.Params["HTTP_HOST"], r.isSecure())
	found := ""
	for part := range strings.SplitSeq(field, ";") {
		key, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		switch {
		case key != name:
		case found != "" && value != found:
			return ""
		default:
			found = value
		}
	}
	return found
}

// setSiteCookie adds such a cookie to the response, in place of one of this name that was added before.
func (c *attempt) setSiteCookie(name, text string, lasts time.Duration) {
	host := c.request.Params["HTTP_HOST"]
	cookie := login.NewSiteCookie(name, host, text, c.request.isSecure(), lasts)
	c.fields = slices.DeleteFunc(c.fields, func(f httpheader.Field) bool {
		return f.Name == "Set-Cookie" && strings.HasPrefix(f.Value, cookie.Name+"=")
	})
	c.fields = append(c.fields, httpheader.Field{Name: "Set-Cookie", Value: cookie.String()})
	c.hide("cookie "+name, text)
}

// hide masks a secret of the response in the recorded request.
func (x *exchange) hide(name, value string) {
	if x.out != nil && x.out.rec != nil && value != "" {
		x.out.rec.Mask.Hide(name, value)
	}
}

// sessionTable returns what scripts see as session.
func (c *attempt) sessionTable() (*script.Object, error) {
	v, err := c.session()
	if err != nil {
		return nil, err
	}
	if v.table == nil {
		if v.table, err = c.Thread.OpenTable(c.visitTable(), "session"); err != nil {
			return nil, err
		}
	}
	return v.table, nil
}

// visitTable returns the address of the table that scripts see as session.
func (c *attempt) visitTable() objectdb.Address {
	if c.command {
		return commandSession
	}
	return c.visit.Values()
}

// isInSession reports whether an address is that of the visitor's session, or lies in it.
func (c *attempt) isInSession(a objectdb.Address) bool {
	if c.visit == nil || c.visit.table == nil {
		return false
	}
	in := c.visitTable()
	return len(a) >= len(in) && a[:len(in)].Equal(in)
}

// commandSession is the table that the scripts of a command see as session: there is no visitor.
var commandSession = objectdb.Address{"system", "temp", "session"}

// writeLists writes what scripts have changed in lists that they have read, so that the transaction has it.
func (c *attempt) writeLists() {
	if c.Thread != nil {
		c.Thread.Tx()
	}
}

// changeVisit calls change, which may give the session another ID, and makes the table of scripts follow.
func (c *attempt) changeVisit(change func(*visit) error) error {
	v, err := c.session()
	if err != nil {
		return err
	}
	c.writeLists()
	if err := change(v); err != nil {
		return err
	}
	v.asked, v.person = false, nil
	if v.table == nil {
		return nil
	}
	return v.table.Open(c.visitTable())
}

// endVisit ends the session. Another one begins once something is stored again.
func (c *attempt) endVisit() error {
	return c.changeVisit(func(v *visit) error {
		if err := v.End(c.Tx); err != nil {
			return err
		}
		v.Visit, v.messages = login.NewVisit(c.request.Host(), c.Now()), nil
		return nil
	})
}

// storeVisit stores what is new of the session before the head of the response is sent, and adds the cookie.
func (c *attempt) storeVisit() error {
	v := c.visit
	if v == nil || c.readOnly {
		return nil
	}
	c.writeLists()
	if c.Tx.Written() && v.table != nil {
		if err := c.checkVisit(v); err != nil {
			return err
		}
	}
	if err := v.Store(c.Tx, c.Now(), login.VisitTimes(c.Site())); err != nil {
		return err
	}
	switch {
	case v.IsStored() && v.token != v.Token():
		c.newVisit = c.newVisit || v.token == ""
		v.token = v.Token()
		c.setSiteCookie(login.VisitCookie, v.token, 0)
	case !v.IsStored() && v.token != "":
		v.token = ""
		c.setSiteCookie(login.VisitCookie, "", 0)
	}
	return nil
}

// checkVisit returns an error if the session holds more than it may.
func (c *attempt) checkVisit(v *visit) error {
	n, err := v.Size(c.Tx)
	if limit := int64(c.Site().Number(site.MaxSessionSize) * 1024); err == nil && n > limit {
		err = &Error{Status: 500, Message: "the session of the visitor holds more than the setting maxSessionSize allows: keep " +
			"in it what leads to the data, and the data in a table of the root"}
	}
	return err
}

// storeLate stores what was written to the session after the head was sent. A new session is dropped, because
// its visitor has got no cookie for it.
func (c *attempt) storeLate() error {
	v := c.visit
	if v == nil || c.readOnly {
		return nil
	}
	c.writeLists()
	if v.token == v.Token() {
		return v.Store(c.Tx, c.Now(), login.VisitTimes(c.Site()))
	}
	if _, err := c.Tx.Find(v.Values().Parent()); err == nil {
		if !c.isQuiet() {
			c.g.log.Warn("a session was begun or renewed after the first piece of sendPartial: the visitor has got no cookie for it",
				"path", c.request.LogPath(), "script", c.answerer())
		}
		return v.End(c.Tx)
	}
	return nil
}

// tryMarker runs fn, and if fn fails, undoes what it has done to the root and to the session. The failed tries to
// log in still count.
func (c *attempt) tryMarker(fn func() error) error {
	tries, before := len(c.tries), c.visit
	var saved visit
	var session login.Visit
	if before != nil {
		saved, session = *before, *before.Visit
	}
	failed := c.Thread.Try(fn)
	if failed == nil || isFatal(failed) {
		return failed
	}
	if before != nil && before.ID != session.ID {
		if err := c.restoreVisit(before, saved, session); err != nil {
			return err
		}
	} else if before != nil {
		*before.Visit = session
	} else if c.visit != nil {
		v, err := c.findVisit()
		if err != nil {
			return err
		}
		if v == nil {
			v = login.NewVisit(c.request.Host(), c.Now())
		}
		if err := c.restoreVisit(c.visit, visit{table: c.visit.table}, *v); err != nil {
			return err
		}
		if v.IsStored() {
			c.visit.token = v.Token()
		}
	}
	if err := c.newLogin().CountAgain(c.Tx, c.tries[tries:]); err != nil {
		return err
	}
	return failed
}

// restoreVisit makes the session what it was.
func (c *attempt) restoreVisit(v *visit, saved visit, session login.Visit) error {
	table := v.table
	*v = saved
	v.Visit, v.table = &session, table
	if table == nil {
		return nil
	}
	return table.Open(c.visitTable())
}

// takeMessages returns the messages for this page as scripts see them. They are not shown again.
func (c *attempt) takeMessages() (*script.Table, error) {
	v, err := c.session()
	if err != nil {
		return nil, err
	}
	if v.messages == nil {
		list := v.Messages()
		if len(list) > 0 && !c.readOnly {
			v.TakeMessages()
		}
		v.messages = script.NewList()
		for _, m := range list {
			t := script.NewTable()
			t.Set("text", m.Text)
			t.Set("kind", m.Kind)
			v.messages.Append(t)
		}
	}
	return v.messages, nil
}

// sweepEach is how often a process looks whether sessions that have expired are to be removed, in seconds.
const sweepEach = 60

// sweepVisits removes what has expired of the sessions of all visitors, after a request that has begun one. The visitor
// does not wait for it.
func (x *exchange) sweepVisits(ctx context.Context) {
	now := x.g.now().Unix()
	if last := x.g.swept.Load(); !x.beganVisit || x.isDry() || now-last < sweepEach && now >= last ||
		!x.g.swept.CompareAndSwap(last, now) {
		return
	}
	x.out.flush() // a lost client is reported elsewhere
	if _, err := x.newLogin().SweepIfDue(context.WithoutCancel(ctx)); err != nil {
		x.g.log.Warn("expired sessions not removed", "err", err)
	}
}
