package gateway

import (
	"strings"
	"time"

	"scripter/lua"
	"scripter/script"
)

// The slow log: a request that takes longer than the setting slowLog is logged
// at that moment, with the place in Lua where it is, and once more when it is
// over. A request that was not in Lua then is logged at its end only.

// slowBody bounds what is logged of a form's body, in bytes.
const slowBody = 1000

// watchSlow makes o tell when the scripts of c are slow.
func (c *call) watchSlow(o *script.ThreadOptions) {
	limit := time.Duration(c.limits.number(slowLog) * float64(time.Millisecond))
	if limit <= 0 || c.a.quiet {
		return
	}
	c.a.slow = limit
	if c.a.slowID != "" { // it was logged; this is another run
		return
	}
	o.SlowAfter = max(limit-c.g.now().Sub(c.a.began), time.Microsecond)
	o.Slow = c.logSlow
}

// logSlow logs where the scripts are.
func (c *call) logSlow(frames []lua.Frame) {
	a := c.a
	if c.r.incident == "" {
		c.r.incident = newIncident() // of a failure to come, too
	}
	a.slowID = c.r.incident
	c.g.watch.slow.Add(1)
	args := append([]any{"id", a.slowID}, c.r.slowArgs()...)
	args = append(args, "action", a.action, "ran", c.g.now().Sub(a.began).Round(time.Millisecond))
	lines := make([]string, len(frames))
	placed := false
	for i, f := range frames {
		lines[i] = f.String()
		if f.Line > 0 && !placed {
			placed = true
			args = append(args, "addr", f.Source, "line", f.Line)
		}
	}
	c.g.log.Warn("slow request", append(args, "detail", strings.Join(lines, "\n"))...)
}

// slowArgs are what the slow log says of the request itself, without secrets.
func (r *Request) slowArgs() []any {
	args := []any{"method", r.Params["REQUEST_METHOD"], "path", r.LogPath()}
	if body := r.body.text; body != "" {
		args = append(args, "bodyBytes", len(body))
		if kind := strings.ToLower(r.Params["CONTENT_TYPE"]); strings.HasPrefix(kind, "application/x-www-form-urlencoded") {
			args = append(args, "body", clip(maskForm(body), slowBody))
		}
	}
	return args
}

// endSlow logs that a slow request is over.
func (g *Gateway) endSlow(r *Request, a *answer, out Outcome, took time.Duration) {
	switch {
	case a.slow <= 0 || took < a.slow || a.quiet:
	case a.slowID != "":
		g.log.Warn("slow request ended", "id", a.slowID, "path", r.LogPath(), "status", out.Status, "took", took.Round(time.Millisecond))
	default:
		g.watch.slow.Add(1)
		g.log.Warn("slow request", append(r.slowArgs(), "action", a.action, "status", out.Status, "took", took.Round(time.Millisecond),
			"detail", "not in a script: it waited for its body, its turn, the root or the client")...)
	}
}
