package gateway

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base32"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"time"

	"scripter/objectdb"
	"scripter/runner"
	"scripter/site"
)

// Error is a failure with the status that the visitor gets. Its message is
// for the owner; a visitor sees the status and an incident number.
type Error struct {
	Status  int
	Message string
	Allow   string // value of the Allow field of a 405
	Public  string // what a visitor reads of it; "" = no more than the status says
	realm   string // of a 401: the realm whose users may log in
	Err     error

	pref  string // the page of user.webserver.prefs for it; "" = errorPage
	warns bool   // logged as a warning, although the status is below 500
}

func (e *Error) Error() string { return e.Message }

func (e *Error) Unwrap() error { return e.Err }

// tooLarge returns the error for a request that exceeds a limit: 413.
func tooLarge(b runner.Bound, format string, args ...any) *Error {
	err := b.Error(format, args...)
	return &Error{Status: 413, Message: err.Error(), Err: err}
}

// fail logs a failure and sends an error page, if nothing was sent yet.
func (x *exchange) fail(ctx context.Context, err error) Outcome {
	out := Outcome{Err: err}
	g, path := x.g, x.request.LogPath()
	var p *panicked
	if ctx.Err() != nil && !errors.As(err, &p) {
		g.log.Info("client gone", "path", path, "err", err)
		out.Broken = true
		return out
	}
	status := statusOf(err)
	var busy *busyError
	isBusy := errors.As(err, &busy)
	// The pages of 404 and 401 show no number: a 401 only asks for a name and password.
	if status != 401 && status != 404 && !isBusy && err != errNoRoot {
		out.Incident = x.incidentID()
	}
	switch {
	case isBusy:
		if n := g.slots.takeRefused(time.Now()); n > 0 {
			g.log.Warn("too many requests at once: some were turned away", "turnedAway", n, "path", path, "err", err)
		}
	case err != errNoRoot && !x.isQuiet(): // the program that could not open the root has logged why
		g.logFailure(path, status, out.Incident, err)
	}
	if x.out.started {
		out.Broken = true
		return out
	}
	x.hold(held{resp: x.failurePage(ctx, status, out.Incident, err)})
	if err := safely(x.send); err != nil {
		g.log.Info("client gone", "path", path, "err", err)
		out.Broken = true
	}
	return out
}

// statusOf returns the status of the response to a failure.
func statusOf(err error) int {
	var e *Error
	var busy *busyError
	switch {
	case errors.As(err, &e):
		return e.Status
	case errors.As(err, &busy), errors.Is(err, site.ErrManyPasswords), errors.Is(err, objectdb.ErrBusy),
		objectdb.IsFailure(err), errors.Is(err, objectdb.ErrNotRoot), errors.Is(err, objectdb.ErrNewer),
		errors.Is(err, objectdb.ErrMoved):
		return 503
	}
	return 500
}

// isUnreachable reports whether an error says that the server of the root does not answer.
func isUnreachable(err error) bool {
	return errors.Is(err, objectdb.ErrUnreachable) || errors.Is(err, objectdb.ErrUnknown)
}

// siteNow returns the site as it is now, for a request whose transaction has ended.
func (x *exchange) siteNow(ctx context.Context) (*site.Snapshot, error) {
	if x.test != nil {
		return x.g.site.Snapshot(x.test.Tx)
	}
	return x.g.siteNow(ctx)
}

// newIncident returns a new number for a failure, which stands in the visitor's page and in the
// log: see [requestlog.IsIncident].
func newIncident() string {
	var b [5]byte
	rand.Read(b[:])
	return strings.ToLower(base32.StdEncoding.EncodeToString(b[:]))
}

// developer reports whether the request sees errors in full: it comes from the command
// line, from the author on this machine, or with the developer's token.
func (x *exchange) developer(ctx context.Context) bool {
	r := x.request
	if r.Developer || r.ShowErrors {
		return true
	}
	if r.givenToken() == "" {
		return false
	}
	s, err := x.siteNow(ctx)
	return err == nil && r.hasToken(s)
}

// showsErrors reports whether a page shows the errors of its markers.
func (c *attempt) showsErrors() bool { return c.request.ShowErrors || c.developer() }

// developer is [exchange.developer] within the transaction, but without Request.ShowErrors.
func (c *attempt) developer() bool {
	return c.request.Developer || c.request.hasToken(c.Site())
}

// hasToken reports whether the request has the developer's token.
func (r *Request) hasToken(s *site.Snapshot) bool {
	given := r.givenToken()
	return given != "" && sameToken(given, s.String(site.DebugToken))
}

// givenToken returns the developer's token that the request has, or "".
func (r *Request) givenToken() string {
	if t := r.Params["HTTP_SCRIPTER_TOKEN"]; t != "" {
		return t
	}
	c := r.Params["HTTP_COOKIE"]
	if !strings.Contains(c, "scripterToken") {
		return ""
	}
	return tableText(parseCookies(c), "scripterToken")
}

// sameToken compares in constant time. An empty token equals none.
func sameToken(given, token string) bool {
	return token != "" && subtle.ConstantTimeCompare([]byte(given), []byte(token)) == 1
}

// LostAnswer returns the answer to a FastCGI request whose process has ended (500), that took
// too long to arrive (408), or for which there is no slot (503): a plain page, and the number
// of an incident for the log.
func LostAnswer(status int) (answer []byte, incident string) {
	var b bytes.Buffer
	r := &Request{Form: Parsed}
	x := exchange{request: r, out: newResponder(&b, r)}
	if status >= 500 {
		incident = newIncident()
	}
	resp := plainPage(r, status, visitorMessage(status), incident)
	if status == 503 {
		resp.Set("Retry-After", "1")
	}
	complete(r, resp)
	x.hold(held{resp: resp})
	x.send() // into memory
	return b.Bytes(), incident
}

// panicked is the error of a panic in Go while a request was answered, which is a mistake in
// Scripter. Only this request fails. Package script handles panics in verbs.
type panicked struct {
	value any
	stack []byte
}

func (e *panicked) Error() string { return fmt.Sprintf("panic: %v", e.value) }

// safely calls fn and returns its panic as an error. So fn must release what it holds by
// defer.
func safely(fn func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &panicked{v, debug.Stack()}
		}
	}()
	return fn()
}
