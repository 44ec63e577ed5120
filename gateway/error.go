package gateway

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base32"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"scripter/httpheader"
	"scripter/objectdb"
	"scripter/requestlog"
	"scripter/runner"
	"scripter/script"
	"scripter/site"
	"scripter/verbs/html"
)

// Error is a failure with the status that the visitor gets. Its message is
// for the owner; a visitor sees the status and an incident number.
type Error struct {
	Status  int
	Message string
	Allow   string // value of the Allow field of a 405
	realm   string // of a 401: the realm whose users may log in
	Err     error

	warns bool // the owner reads of it where only warnings are logged
}

func (e *Error) Error() string { return e.Message }
func (e *Error) Unwrap() error { return e.Err }

// tooLarge returns the error of a limit that the request of a visitor exceeds: 413.
func tooLarge(b runner.Bound, format string, args ...any) error {
	err := b.Error(format, args...)
	return &Error{Status: 413, Message: err.Error(), Err: err}
}

// fail logs a failure and answers it, if nothing was sent yet.
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
	var crowd *busyError
	isCrowd := errors.As(err, &crowd)
	// The pages of 404 and 401 show no number: a 401 only asks for a name and password.
	if status != 401 && status != 404 && !isCrowd && err != errNoRoot {
		out.Incident = x.incidentID()
	}
	switch {
	case isCrowd:
		if n := g.slots.takeRefused(time.Now()); n > 0 {
			g.log.Warn("too many requests at once: some were turned away", "turnedAway", n, "path", path, "err", err)
		}
	case err != errNoRoot && !x.isQuiet(): // who could not open it has said why
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

// statusOf gives the status of a failure (the visitor's half of it).
func statusOf(err error) int {
	var e *Error
	var crowd *busyError
	switch {
	case errors.As(err, &e):
		return e.Status
	case errors.As(err, &crowd), errors.Is(err, site.ErrManyPasswords), errors.Is(err, objectdb.ErrBusy):
		return 503
	case errors.Is(err, objectdb.ErrDamaged), errors.Is(err, objectdb.ErrDisk), errors.Is(err, objectdb.ErrNotRoot), errors.Is(err, objectdb.ErrNewer):
		return 503
	}
	return 500
}

// LogPath returns the URL for the log: clipped, and without secrets of the query.
func (r *Request) LogPath() string {
	if u := r.Params["REQUEST_URI"]; u != "" {
		if path, query, ok := strings.Cut(u, "?"); ok {
			u = path + "?" + requestlog.MaskForm(query)
		}
		return clip(u, 200)
	}
	return clip(r.Params["SCRIPT_NAME"]+r.Params["PATH_INFO"], 200)
}

// logFailure writes the one line of a failed request.
func (g *Gateway) logFailure(path string, status int, incident string, err error) {
	args := []any{"path", path, "status", status}
	if incident != "" {
		args = append(args, "id", incident)
	}
	var e *Error
	var s *script.Error
	switch {
	case errors.As(err, &e) && status < 500:
		level := slog.LevelInfo
		if e.warns || incident != "" { // who reads the number must find it in the log, of a CGI program too
			level = slog.LevelWarn
		}
		g.log.Log(context.Background(), level, "request refused", append(args, "err", e)...)
		return
	case !errors.As(err, &s):
		var p *panicked
		if errors.As(err, &p) {
			args = append(args, "detail", string(p.stack))
		}
		g.log.Error("request failed", append(args, "err", err)...)
		return
	}
	args = append(args, "addr", s.Name, "line", s.Line, "err", s.Message)
	if limit := runner.LimitOf(err); limit != "" {
		args = append(args, "limit", limit)
	}
	if s.Err != nil && s.Err.Error() != s.Message {
		args = append(args, "cause", s.Err)
	}
	g.log.Error("script failed", append(args, "detail", s.Detail())...)
}

// incidentLength is the length of an incident's number.
const incidentLength = 8

// IsIncident reports whether text has the form of an incident's number.
func IsIncident(text string) bool {
	return len(text) == incidentLength && strings.Trim(text, "abcdefghijklmnopqrstuvwxyz234567") == ""
}

// newIncident makes the number that a visitor's page and the log share.
func newIncident() string {
	var b [5]byte
	rand.Read(b[:])
	return strings.ToLower(base32.StdEncoding.EncodeToString(b[:]))
}

// failurePage makes the response to a failure: the site's own page, from
// user.webserver.prefs, or the developer's.
func (x *exchange) failurePage(ctx context.Context, status int, incident string, err error) *httpheader.Response {
	r := x.request
	var crowd *busyError
	if x.g.db == nil || errors.As(err, &crowd) { // a page that runs scripts would be one more of the crowd
		message, wait := visitorMessage(status), "1"
		if x.g.db == nil { // somebody has to mend that first
			message, wait = "The site cannot answer at the moment. Please try again later.", "30"
		}
		resp := plainPage(r, status, message, incident)
		resp.Set("Retry-After", wait)
		complete(r, resp)
		return resp
	}
	var resp *httpheader.Response
	if x.g.developer(ctx, r) {
		resp = x.g.developerPage(ctx, r, status, incident, err)
	} else {
		resp = x.visitorPage(ctx, status, incident)
	}
	var e *Error
	if errors.As(err, &e) && e.Allow != "" {
		resp.Set("Allow", e.Allow)
	}
	if e != nil && status == 401 {
		resp.Set("WWW-Authenticate", challenge(e.realm))
	}
	if status == 503 {
		resp.Set("Retry-After", "1")
	}
	complete(r, resp)
	return resp
}

// visitorPage makes the site's own page for a failure, or a plain page if that fails
// too.
func (x *exchange) visitorPage(ctx context.Context, status int, incident string) *httpheader.Response {
	message := visitorMessage(status)
	// After Yield another request may be running scripts of this page.
	if !x.yielded && status != 401 {
		var resp *httpheader.Response
		if safely(func() (err error) {
			resp, err = x.sitePage(ctx, status, message, incident)
			return err
		}) == nil {
			return resp
		}
	}
	return plainPage(x.request, status, message, incident)
}

// sitePage makes the site's own page of a failure.
func (x *exchange) sitePage(ctx context.Context, status int, message, incident string) (resp *httpheader.Response, err error) {
	inner := x.within()
	_, err = x.g.runner.Run(ctx, runner.Options{ReadOnly: true, Inner: x.replay != nil, Now: x.now}, func(r *runner.Run) error {
		c := inner.newAttempt(r)
		c.target, _ = dispatch(c.request, c.Site())
		if err := c.begin(); err != nil {
			return err
		}
		resp, err = c.errorPage(status, message, incident)
		c.logProblems()
		return err
	})
	return resp, err
}

// visitorMessage says no more than the status does.
func visitorMessage(status int) string {
	switch status {
	case 400:
		return "The request could not be understood."
	case 401:
		return "This page requires a name and a password."
	case 403:
		return "This cannot be served."
	case 404:
		return "There is nothing at this address."
	case 405, 501:
		return "This address does not answer this method."
	case 408:
		return "The request did not arrive in time."
	case 413:
		return "The request is too large."
	case 503:
		return "The site is busy. Please try again in a moment."
	}
	return "The page could not be made."
}

// developerMessage says all there is to say: message, object, line, its text,
// and the calls that led there.
func developerMessage(err error) string {
	var e *Error
	if errors.As(err, &e) {
		return e.Error()
	}
	var s *script.Error
	if !errors.As(err, &s) {
		return err.Error()
	}
	return s.Detail()
}

// errorPage makes the page of a failure from user.webserver.prefs.errorPage
// or fileNotFoundPage.
func (c *attempt) errorPage(status int, message, incident string) (*httpheader.Response, error) {
	line := fmt.Sprintf("%d %s", status, httpheader.ReasonText(status))
	pref := "errorPage"
	if status == 404 {
		// The CGI Framework's words.
		line, pref = "404 FILE NOT FOUND", "fileNotFoundPage"
	}
	if status == 500 && c.Site().Number(site.ErrorStatus) == 200 {
		line = "200 OK"
	}
	return c.prefPage(line, pref, message, incident)
}

// prefPage makes the response of a page in user.webserver.prefs, whose markers
// see errorMessage and incident.
func (c *attempt) prefPage(line, pref, message, incident string) (*httpheader.Response, error) {
	c.params.Set("errorMessage", message)
	c.params.Set("incident", incident)
	n, err := c.Tx.Find(objectdb.Address{"user", "webserver", "prefs", pref})
	if err != nil {
		return nil, fmt.Errorf("find user.webserver.prefs.%s: %w", pref, err)
	}
	page, err := c.objectPage(n)
	if err != nil {
		return nil, err
	}
	text, err := c.expand(page, "user.webserver.prefs."+pref, nil)
	if err != nil {
		return nil, err
	}
	head, err := c.header(line, "text/html")
	if err != nil {
		return nil, err
	}
	resp, err := httpheader.Parse(head)
	if err != nil {
		return nil, err
	}
	resp.Body = text
	if err := c.nameCharset(resp, nil, false); err != nil {
		return nil, err
	}
	return resp, resp.Check()
}

// plainPage is the page of a failure when the root cannot be asked.
func plainPage(r *Request, status int, message, incident string) *httpheader.Response {
	resp := &httpheader.Response{Status: status, Reason: httpheader.ReasonText(status)}
	server := r.Params["SERVER_SOFTWARE"]
	if server == "" {
		server = "Scripter"
	}
	resp.Add("Server", server)
	resp.Add("MIME-Version", "1.0")
	resp.Add("Content-type", "text/html; charset=utf-8")
	title := fmt.Sprintf("%d %s", status, http.StatusText(status))
	body := "<!DOCTYPE html>\n<html><head><title>" + title + "</title></head><body>\n<h1>" + title + "</h1>\n<pre>" + html.Escape(message) + "</pre>\n"
	if incident != "" {
		body += "<p>Incident " + incident + "</p>\n"
	}
	resp.Body = body + "</body></html>\n"
	return resp
}

// developer reports whether the request sees errors in full: it comes from the command
// line, from the author on this machine, or with the developer's token.
func (g *Gateway) developer(ctx context.Context, r *Request) bool {
	if r.Developer || r.ShowErrors {
		return true
	}
	if r.givenToken() == "" {
		return false
	}
	known := false
	err := g.db.View(ctx, func(tx *objectdb.Tx) error {
		s, err := g.site.Snapshot(tx)
		known = err == nil && r.hasToken(s)
		return err
	})
	return known && err == nil
}

// showsErrors reports whether a page shows the errors of its markers.
func (c *attempt) showsErrors() bool { return c.request.ShowErrors || c.developer() }

func (c *attempt) developer() bool {
	return c.request.Developer || c.request.hasToken(c.Site())
}

// hasToken reports whether the request has the developer's token.
func (r *Request) hasToken(s *site.Snapshot) bool {
	given := r.givenToken()
	return given != "" && sameToken(given, s.String(site.DebugToken))
}

// givenToken is what the request offers as the developer's token.
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

func sameToken(given, token string) bool {
	return token != "" && subtle.ConstantTimeCompare([]byte(given), []byte(token)) == 1
}

// LostAnswer is the answer to a FastCGI request that a process did not live to
// answer (500), that took too long to arrive (408), or that there is no room
// for (503): a plain page, with the number of an incident for the log.
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
