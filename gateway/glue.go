package gateway

import (
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"scripter/httpheader"
	"scripter/objectdb"
	"scripter/script"
	"scripter/site"
	"scripter/verbs"
)

// The glue of apps.httpd (specification, 6): what its scripts cannot know by
// themselves. Two web servers may share one root and one server id; a script
// tells them apart by the name of the one that asked.

var appInfo = objectdb.Address{"apps", "httpd", "appInfo"}

// properties are the computed cells of the root.
var properties = append(verbs.Properties(), []script.Property{
	{Address: appInfo.Child("name"), Doc: "what the web server calls itself",
		Value: func(t *script.Thread) script.Value { return serverOf(t).name }},
	{Address: appInfo.Child("version"), Doc: "its version",
		Value: func(t *script.Thread) script.Value { return serverOf(t).version }},
	{Address: appInfo.Child("id"), Doc: "the server id, which two servers may share",
		Value: func(t *script.Thread) script.Value { return stringSetting(t, site.ServerID) }},
	{Address: appInfo.Child("path"), Doc: "its program, the setting serverPath: no server tells it",
		Value: func(t *script.Thread) script.Value { return stringSetting(t, site.ServerPath) }},
}...)

// siteOf returns the site as the transaction of the thread sees it.
func siteOf(t *script.Thread) (*site.Snapshot, error) {
	if c, ok := t.Host().(*attempt); ok {
		return c.Site(), nil
	}
	return site.Read(t.Tx())
}

// stringSetting returns a setting, or "" if the root cannot be read.
func stringSetting(t *script.Thread, set *site.Setting) string {
	s, err := siteOf(t)
	if err != nil {
		return ""
	}
	return s.String(set)
}

// product is a name with a version, as SERVER_SOFTWARE has them (RFC 3875,
// 4.1.17): "Apache/2.4.62 (Debian)".
type product struct{ name, version string }

// serverOf gives the web server whose request is being answered; where there
// is none, the one of Set Server Name.
func serverOf(t *script.Thread) product {
	if c, ok := t.Host().(*attempt); ok {
		if s := c.request.Params["SERVER_SOFTWARE"]; s != "" {
			return parseProduct(s)
		}
	}
	if s := stringSetting(t, site.ServerName); s != "" {
		return parseProduct(s)
	}
	return product{name: "Scripter"}
}

func parseProduct(s string) product {
	name, version, ok := strings.Cut(s, "/")
	if !ok {
		return product{name: s}
	}
	return product{name, version}
}

// Started returns when the gateway was made.
func (g *Gateway) Started() time.Time { return g.counts.started }

// Requests returns how many requests are running and how many were answered.
func (g *Gateway) Requests() (running, answered int64) {
	return g.counts.running.Load(), g.counts.answered.Load()
}

// counts are of one process.
type counts struct {
	started                   time.Time
	running, answered, failed atomic.Int64
}

// log writes the line of a request when Verbose Messages is on.
func (x *exchange) log() {
	if x.plan == nil || !x.plan.verbose || x.plan.quiet {
		return
	}
	r := x.request
	x.g.wanted.Info("request", "method", r.Params["REQUEST_METHOD"], "path", r.LogPath(), "action", x.action(),
		"status", x.out.status, "time", x.now().Sub(x.began).Round(time.Microsecond), "server", r.Params["SERVER_SOFTWARE"])
}

// refuse answers a visitor while Refuse Connections is on.
func (c *attempt) refuse() error {
	c.request.trace("connections are refused (user.webserver.flRefuseConnections)")
	const message = "The site is closed for maintenance. Please come back later."
	err := c.begin()
	var resp *httpheader.Response
	if err == nil {
		resp, err = c.prefPage("503 "+httpheader.ReasonText(503), "maintenancePage", message, "")
	}
	if err != nil {
		if fatal(err) {
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

var statusVerbs = []script.Verb{
	{
		Name: "webserver.statusReport",
		Doc: "What the web server is called, what this process has answered, and which switches are " +
			"on: lines of a name, a colon and a value.",
		Results: script.Returns("string", ""),
		Errors:  "outside a request",
		Example: `webserver.statusReport ():match ("^[^\n]*")`,
		Gives:   "Server: Test/1",
		Func:    verbStatusReport,
	},
}

func verbStatusReport(v *script.Call) error {
	c, err := hostOf(v)
	if err != nil {
		return err
	}
	n := &c.g.counts
	server := c.request.Params["SERVER_SOFTWARE"]
	if server == "" {
		server = c.server()
	}
	var b strings.Builder
	line := func(name string, value any) { fmt.Fprintf(&b, "%s: %v\n", name, value) }
	line("Server", server)
	line("Root", c.g.db.Path())
	line("Process since", n.started.UTC().Format(time.DateTime))
	line("Requests answered", n.answered.Load())
	line("Requests failed", n.failed.Load())
	line("Requests running", n.running.Load())
	for _, s := range []*site.Setting{site.FlRefuseConnections, site.FlSuspendLogging, site.FlVerboseMessages, site.FlDebug, site.FlScriptTrap} {
		line(s.Title, c.Site().Flag(s))
	}
	v.Return(b.String())
	return nil
}
