package gateway

import (
	"strings"
	"time"

	"scripter/lua"
	"scripter/requestlog"
	"scripter/site"
)

// The slow log: a request that takes longer than the setting slowLog is logged
// at that moment, with the place in Lua where it is, and once more when it is
// over. A request that was not in Lua then is logged at its end only.

// slowBody bounds what is logged of a form's body, in bytes.
const slowBody = 1000

// watchSlow makes the run tell when its scripts are slow.
func (c *attempt) watchSlow() {
	limit := time.Duration(c.Limits().Get(site.SlowLog).Value * float64(time.Millisecond))
	if limit <= 0 || c.isQuiet() {
		return
	}
	c.slow = limit
	if c.slowID == "" { // else it was logged; this is another run
		c.SlowAfter = max(limit-c.now().Sub(c.began), time.Microsecond)
		c.Slow = c.logSlow
	}
}

// logSlow logs where the scripts are.
func (x *exchange) logSlow(frames []lua.Frame) {
	x.slowID = x.incidentID() // of a failure to come, too
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

// slowArgs returns what the slow log says of the request itself, without secrets.
func (x *exchange) slowArgs() []any {
	r := x.request
	args := []any{"method", r.Params["REQUEST_METHOD"], "path", r.LogPath()}
	if x.body != "" {
		args = append(args, "bodyBytes", len(x.body))
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
		g.log.Warn("slow request ended", "id", x.slowID, "path", x.request.LogPath(), "status", out.Status, "took", took.Round(time.Millisecond))
	default:
		g.metrics.Slow.Add(1)
		g.log.Warn("slow request", append(x.slowArgs(), "action", x.action(), "status", out.Status, "took", took.Round(time.Millisecond),
			"detail", "not in a script: it waited for its body, its turn, the root or the client")...)
	}
}
