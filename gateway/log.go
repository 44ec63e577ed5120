package gateway

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"time"

	"scripter/lua"
	"scripter/requestlog"
	"scripter/runner"
	"scripter/script"
	"scripter/site"
)

// log writes a line for the request if Verbose Messages is on.
func (x *exchange) log() {
	if x.plan == nil || !x.plan.verbose || x.plan.quiet {
		return
	}
	r := x.request
	x.g.verbose.Info("request", "method", r.Params["REQUEST_METHOD"], "path", r.LogPath(), "action", x.action(),
		"status", x.out.status, "time", x.now().Sub(x.began).Round(time.Microsecond),
		"server", r.Params["SERVER_SOFTWARE"])
}

// LogPath returns the URL for the log: clipped, and with secrets of the query masked.
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
		if e.warns || incident != "" { // a CGI program logs warnings only, and the log must have the number
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

// logProblems logs the markers and callbacks that have failed, and what is odd about log-ins.
func (c *attempt) logProblems() {
	for _, w := range c.warnings {
		c.g.log.Warn("log-in", "path", c.request.LogPath(), "client", c.request.Params["REMOTE_ADDR"], "err", w)
	}
	for _, p := range c.problems {
		if p.marker == "" {
			c.g.log.Warn("callback failed", "addr", p.page, "err", developerMessage(p.err))
			continue
		}
		c.g.log.Warn("macro failed", "page", p.page, "line", p.line, "column", p.column,
			"marker", clip(p.marker, 200), "err", p.reason())
	}
	if c.unlogged > 0 {
		c.g.log.Warn("more macros failed", "path", c.request.LogPath(), "count", c.unlogged)
	}
}

// clip cuts a text to n bytes.
func clip(s string, n int) string {
	if len(s) > n {
		return s[:n] + "…"
	}
	return s
}

// The slow log has each request that takes longer than the setting slowLog. The request is logged
// when it exceeds this time, with the place in Lua where it is, and once more at its end. A request
// that is not in Lua at that time is logged at its end only.

// slowBody is how many bytes of a form's body are logged.
const slowBody = 1000

// watchSlow makes the run call logSlow if its scripts are slow.
func (c *attempt) watchSlow() {
	limit := time.Duration(c.Limits().Get(site.SlowLog).Value * float64(time.Millisecond))
	if limit <= 0 || c.isQuiet() {
		return
	}
	c.slow = limit
	if c.slowID == "" { // else the first run was logged
		c.SlowAfter = max(limit-c.now().Sub(c.began), time.Microsecond)
		c.Slow = c.logSlow
	}
}

// logSlow logs where the scripts are.
func (x *exchange) logSlow(frames []lua.Frame) {
	x.slowID = x.incidentID() // a failure of this request will have the same number
	x.g.metrics.Slow.Add(1)
	args := append([]any{"id", x.slowID}, x.slowArgs()...)
	args = append(args, "action", x.action(), "ran", x.now().Sub(x.began).Round(time.Millisecond))
	lines := make([]string, len(frames))
	placed := false
	for i, f := range frames {
		lines[i] = f.String()
		if f.Line > 0 && !placed {
			placed = true
			args = append(args, "addr", f.Source, "line", f.Line)
		}
	}
	x.g.log.Warn("slow request", append(args, "detail", strings.Join(lines, "\n"))...)
}

// slowArgs returns what the slow log says of the request itself, with secrets masked.
func (x *exchange) slowArgs() []any {
	r := x.request
	args := []any{"method", r.Params["REQUEST_METHOD"], "path", r.LogPath()}
	if n := x.bodySize(); n > 0 {
		args = append(args, "bodyBytes", n)
		if kind := strings.ToLower(r.Params["CONTENT_TYPE"]); strings.HasPrefix(kind, "application/x-www-form-urlencoded") {
			args = append(args, "body", clip(requestlog.MaskForm(x.body), slowBody))
		}
	}
	return args
}

// endSlow logs that a slow request is over.
func (x *exchange) endSlow(out Outcome, took time.Duration) {
	g := x.g
	switch {
	case x.slow <= 0 || took < x.slow || x.isQuiet():
	case x.slowID != "":
		g.log.Warn("slow request ended", "id", x.slowID, "path", x.request.LogPath(),
			"status", out.Status, "took", took.Round(time.Millisecond))
	default:
		g.metrics.Slow.Add(1)
		g.log.Warn("slow request", append(x.slowArgs(), "action", x.action(), "status", out.Status,
			"took", took.Round(time.Millisecond),
			"detail", "not in a script: it waited for its body, a slot, the root or the client")...)
	}
}
