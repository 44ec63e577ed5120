package gateway

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"scripter/httpheader"
	"scripter/lua"
	"scripter/objectdb"
	"scripter/script"
	"scripter/site"
	"scripter/verbs/html"
)

// developerPage makes the developer's page for a failure: what went wrong, the lines
// of the script around it, the calls that led there, and the number of the incident.
// It does not use the site's own page, which may say less.
func (g *Gateway) developerPage(ctx context.Context, r *Request, status int, incident string, err error) *httpheader.Response {
	line := fmt.Sprintf("%d %s", status, http.StatusText(status))
	resp := plainPage(r, status, "", incident)
	switch {
	case status == 404:
		resp.Reason = "FILE NOT FOUND" // as on the site's own page
	case status == 500 && g.errorStatusNow(ctx) == 200:
		resp.Status, resp.Reason = 200, httpheader.ReasonText(200)
	}
	resp.Set("Content-type", "text/html; charset=utf-8")
	message, detail, _ := strings.Cut(developerMessage(err), "\n")
	var b strings.Builder
	b.WriteString("<!DOCTYPE html>\n<html>\n<head><meta charset=\"utf-8\"><title>" + html.Escape(message) + "</title>\n<style>" + developerStyle + "</style></head>\n<body>\n")
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
	b.WriteString("<p>" + html.Escape(clip(r.Params["REQUEST_METHOD"]+" "+r.LogPath(), 300)) + " was answered with " + line)
	if incident != "" {
		b.WriteString(". Incident <code>" + incident + "</code>: <code>scripter requests " + incident +
			"</code> shows the request, if Debugging is on (<code>scripter settings flDebug true</code>)")
	}
	b.WriteString(".</p>\n</body>\n</html>\n")
	resp.Body = b.String()
	return resp
}

const developerStyle = "body{font:16px/1.5 sans-serif;margin:2em;max-width:60em}h1{font-size:1.3em}" +
	"h1,pre{white-space:pre-wrap;overflow-wrap:anywhere}h2{font-size:1em}pre{background:#f4f4f4;color:#222;padding:1em}mark{background:#fd8}"

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

// errorStatusNow returns the setting errorStatus, or 500 if the root cannot be read.
func (g *Gateway) errorStatusNow(ctx context.Context) float64 {
	n := 500.0
	g.db.View(ctx, func(tx *objectdb.Tx) error {
		s, err := g.site.Snapshot(tx)
		if err == nil {
			n = s.Number(site.ErrorStatus)
		}
		return err
	})
	return n
}
