package gateway

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"scripter/httpheader"
	"scripter/lua"
	"scripter/objectdb"
	"scripter/runner"
	"scripter/script"
	"scripter/site"
	"scripter/verbs/html"
)

// failurePage returns the response to a failure: the site's own page, from
// user.webserver.prefs, or the developer's.
func (x *exchange) failurePage(ctx context.Context, status int, incident string, err error) *httpheader.Response {
	r := x.request
	var busy *busyError
	// The site's own page would run scripts, which needs a slot, and the root.
	if x.g.db == nil || errors.As(err, &busy) || isUnreachable(err) && !r.Developer && !r.ShowErrors {
		const cannot = "The site cannot answer at the moment. Please try again later."
		message, wait := visitorMessage(status), "1"
		switch {
		case x.g.db == nil: // the owner has to do something first
			message, wait = cannot, "30"
		case errors.Is(err, objectdb.ErrUnknown):
			message = "It is not known whether this was done. Please look before you send it again."
		case isUnreachable(err):
			message = cannot
		}
		resp := plainPage(r, status, message, incident)
		resp.Set("Retry-After", wait)
		complete(r, resp)
		return resp
	}
	var resp *httpheader.Response
	switch {
	case x.developer(ctx) && r.wantsJSON():
		resp = problemPage(r, status, Describe(err), incident)
	case x.developer(ctx):
		resp = x.developerPage(ctx, status, incident, err)
	default:
		resp = x.visitorPage(ctx, status, publicMessage(status, err), incident, err)
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

// visitorPage returns the site's own page for a failure, or a plain page if that fails, too.
func (x *exchange) visitorPage(
	ctx context.Context, status int, message, incident string, err error,
) *httpheader.Response {
	pref := ""
	if e := (*Error)(nil); errors.As(err, &e) {
		pref = e.pref
	}
	// After Yield another request may be running scripts of this page.
	if !x.yielded && status != 401 && !x.request.wantsJSON() {
		var resp *httpheader.Response
		if safely(func() (err error) {
			resp, err = x.sitePage(ctx, status, pref, message, incident)
			return err
		}) == nil {
			return resp
		}
	}
	return plainPage(x.request, status, message, incident)
}

// sitePage returns the site's own page for a failure.
func (x *exchange) sitePage(
	ctx context.Context, status int, pref, message, incident string,
) (resp *httpheader.Response, err error) {
	inner := x.within()
	o := runner.Options{ReadOnly: true, Inner: x.isInner(), Within: x.test, Now: x.now}
	_, err = x.g.runner.Run(ctx, o, func(r *runner.Run) error {
		c := inner.newDispatched(r)
		c.readOnly = true
		if err := c.begin(); err != nil {
			return err
		}
		resp, err = c.errorPage(status, pref, message, incident)
		c.logProblems()
		c.noteProblems()
		x.failures = append(x.failures, inner.failures...)
		return err
	})
	return resp, err
}

// visitorMessage returns the text for visitors, which says no more than the status.
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

// publicMessage returns the text for visitors: what the error has for them, or no more than the status.
func publicMessage(status int, err error) string {
	var e *Error
	if errors.As(err, &e) && e.Public != "" {
		return e.Public
	}
	return visitorMessage(status)
}

// developerMessage returns all that is known of an error: its message and object, the line and
// its text, and the calls that led there.
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

// errorPage returns the response to a failure, with the page pref of user.webserver.prefs if there is one, else
// errorPage or fileNotFoundPage.
func (c *attempt) errorPage(status int, pref, message, incident string) (*httpheader.Response, error) {
	line := fmt.Sprintf("%d %s", status, httpheader.ReasonText(status))
	if _, err := c.Tx.Find(objectdb.Address{"user", "webserver", "prefs", pref}); pref == "" || err != nil {
		pref = "errorPage" // a root that was made before has no other
	}
	if status == 404 {
		// The CGI Framework's words.
		line, pref = "404 FILE NOT FOUND", "fileNotFoundPage"
	}
	if status == 500 && c.Site().Number(site.ErrorStatus) == 200 {
		line = "200 OK"
	}
	return c.prefPage(line, pref, message, incident)
}

// prefPage returns a response with a page of user.webserver.prefs, whose markers see
// errorMessage and incident.
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

// refuse holds the answer to a visitor while Refuse Connections is on.
func (c *attempt) refuse() error {
	c.request.trace("connections are refused (user.webserver.flRefuseConnections)")
	const message = "The site is closed for maintenance. Please come back later."
	err := c.begin()
	var resp *httpheader.Response
	switch {
	case err == nil && c.request.wantsJSON():
		resp = problemPage(c.request, 503, message, "")
	case err == nil:
		resp, err = c.prefPage("503 "+httpheader.ReasonText(503), "maintenancePage", message, "")
	}
	if err != nil {
		if isFatal(err) {
			return err
		}
		resp = plainPage(c.request, 503, message, "")
	}
	resp.Set("Retry-After", fmt.Sprintf("%.0f", c.Site().Number(site.RetryAfter)))
	if err := c.finish(resp); err != nil {
		return err
	}
	c.hold(held{resp: resp})
	return nil
}

// plainPage returns an answer to a failure that is made without the root: a page, or a problem for a
// request that asks for JSON.
func plainPage(r *Request, status int, message, incident string) *httpheader.Response {
	if r.wantsJSON() {
		return problemPage(r, status, message, incident)
	}
	resp := newFailure(r, status, "text/html; charset=utf-8")
	title := fmt.Sprintf("%d %s", status, http.StatusText(status))
	body := "<!DOCTYPE html>\n<html><head><title>" + title + "</title></head><body>\n<h1>" + title + "</h1>\n" +
		"<pre>" + html.Escape(message) + "</pre>\n"
	if incident != "" {
		body += "<p>Incident " + incident + "</p>\n"
	}
	resp.Body = body + "</body></html>\n"
	return resp
}

// newFailure returns the answer to a failure without its body.
func newFailure(r *Request, status int, kind string) *httpheader.Response {
	resp := &httpheader.Response{Status: status, Reason: httpheader.ReasonText(status)}
	resp.Add("Server", cmp.Or(r.Params["SERVER_SOFTWARE"], "Scripter"))
	resp.Add("MIME-Version", "1.0")
	resp.Add("Content-type", kind)
	return resp
}

// developerPage returns the developer's page for a failure: what went wrong, the lines
// of the script around it, the calls that led there, and the number of the incident.
// It does not use the site's own page, which may say less.
func (x *exchange) developerPage(
	ctx context.Context, status int, incident string, err error,
) *httpheader.Response {
	r := x.request
	line := fmt.Sprintf("%d %s", status, http.StatusText(status))
	resp := plainPage(r, status, "", incident)
	switch {
	case status == 404:
		resp.Reason = "FILE NOT FOUND" // as on the site's own page
	case status == 500:
		if s, err := x.siteNow(ctx); err == nil && s.Number(site.ErrorStatus) == 200 {
			resp.Status, resp.Reason = 200, httpheader.ReasonText(200)
		}
	}
	resp.Set("Content-type", "text/html; charset=utf-8")
	message, detail, _ := strings.Cut(developerMessage(err), "\n")
	var b strings.Builder
	b.WriteString("<!DOCTYPE html>\n<html>\n<head><meta charset=\"utf-8\"><title>" + html.Escape(message) +
		"</title>\n<style>" + developerStyle + "</style></head>\n<body>\n")
	b.WriteString("<h1>" + html.Escape(message) + "</h1>\n")
	var s *script.Error
	var e *Error
	if errors.As(err, &s) && !errors.As(err, &e) {
		writeExcerpt(&b, s)
		writeCalls(&b, s.Frames)
	} else {
		s = nil
	}
	if detail != "" && (s == nil || lua.IsPanic(err)) {
		b.WriteString("<pre>" + html.Escape(detail) + "</pre>\n")
	}
	b.WriteString("<p>" + html.Escape(clip(r.Params["REQUEST_METHOD"]+" "+r.LogPath(), 300)) +
		" was answered with " + line)
	if incident != "" {
		b.WriteString(". Incident <code>" + incident + "</code>: <code>scripter requests " + incident +
			"</code> shows the request, if Debugging is on (<code>scripter settings flDebug true</code>)")
	}
	b.WriteString(".</p>\n</body>\n</html>\n")
	resp.Body = b.String()
	return resp
}

const developerStyle = "body{font:16px/1.5 sans-serif;margin:2em;max-width:60em}h1{font-size:1.3em}" +
	"h1,pre{white-space:pre-wrap;overflow-wrap:anywhere}h2{font-size:1em}" +
	"pre{background:#f4f4f4;color:#222;padding:1em}mark{background:#fd8}"

// writeExcerpt writes the lines of the script around the error.
func writeExcerpt(b *strings.Builder, s *script.Error) {
	lines := s.Excerpt()
	if len(lines) == 0 {
		return
	}
	b.WriteString("<pre>")
	for _, l := range lines {
		text := fmt.Sprintf("%4d  %s", l.Number, html.Escape(l.Text))
		if l.Number == s.Line {
			text = "<mark>" + text + "</mark>"
		}
		b.WriteString(text + "\n")
	}
	b.WriteString("</pre>\n")
}

// writeCalls writes the calls that led to an error, innermost first.
func writeCalls(b *strings.Builder, frames []lua.Frame) {
	if len(frames) == 0 {
		return
	}
	b.WriteString("<h2>Calls</h2>\n<pre>")
	for _, f := range frames {
		b.WriteString(html.Escape(f.String()) + "\n")
	}
	b.WriteString("</pre>\n")
}
