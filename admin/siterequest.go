package admin

import (
	"bytes"
	"cmp"
	"html"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"scripter/gateway"
	"scripter/httpheader"
	"scripter/requestlog"
	"scripter/site"
)

// This file makes requests to the site, for pages that show the site within the web page. They are
// GET requests without a session or credentials. What they write is thrown away, and they
// are not recorded.

// siteURL reads the path and query of a page of the site, as a person or a link names it.
func (c *call) siteURL(asked string) (*url.URL, error) {
	u, err := url.Parse(asked)
	if err != nil || u.Scheme != "" || u.Host != "" || u.User != nil || u.Opaque != "" ||
		!strings.HasPrefix(u.Path, "/") || strings.HasPrefix(u.Path, "//") {
		return nil, bad("site.badURL", asked)
	}
	if err := site.CheckPath(u.Path); err != nil {
		return nil, bad("site.badURL", asked)
	}
	bare, _, _ := strings.Cut(u.Path, "$")
	if p := site.CleanPath(bare); strings.HasPrefix(p+"/", c.base) {
		return nil, bad("site.own", asked)
	}
	u.Fragment, u.RawFragment = "", ""
	return u, nil
}

// siteRequest returns the request for a page of the site on the host that the person uses. at is the
// time of its clock.
func (c *call) siteRequest(u *url.URL, at time.Time) *requestlog.Request {
	host, port, err := net.SplitHostPort(c.r.Host)
	scheme, usual := "http", "80"
	if isSecure(c.r) {
		scheme, usual = "https", "443"
	}
	if err != nil {
		host, port = c.r.Host, usual
	}
	v := map[string]string{
		"GATEWAY_INTERFACE": "CGI/1.1", "SERVER_PROTOCOL": "HTTP/1.1", "SERVER_NAME": host, "SERVER_PORT": port,
		"REQUEST_SCHEME": scheme, "REQUEST_METHOD": http.MethodGet, "REQUEST_URI": u.RequestURI(),
		"SCRIPT_NAME": u.Path, "QUERY_STRING": u.RawQuery, "REMOTE_ADDR": c.from().Address, "HTTP_HOST": c.r.Host,
		"HTTP_USER_AGENT": c.r.UserAgent(), "HTTP_ACCEPT": "text/html,*/*",
	}
	if scheme == "https" {
		v["HTTPS"] = "on"
	}
	if folder := gateway.DocumentRoot(c.ctx()); folder != "" {
		v["DOCUMENT_ROOT"] = folder
	}
	return &requestlog.Request{Time: at, Variables: v}
}

// siteAnswer is the answer of the site.
type siteAnswer struct {
	URL    *url.URL // with the name of a file, if a folder was asked for
	Plain  bool     // a file that a web server sends, not the gateway; nothing else is set
	Status int
	Type   string // of the content
	HTML   bool
	Body   string
	To     string // of a redirect
	Error  string // why it failed

	Expansions []*gateway.Expansion // of the markers; those of an error page are the last
	Left       int                  // how many markers more there were
}

// askToday asks for a page of the site as it is now. The gateway keeps the scripts that it has compiled:
// otherwise the first marker of each page would seem slow.
func (c *call) askToday(u *url.URL) (*siteAnswer, error) {
	g := c.aside()
	g.SetReach(c.Gateway.Reach())
	return c.askSite(g, u, c.Now())
}

// askSite asks a gateway for a page of the site.
func (c *call) askSite(g *gateway.Gateway, u *url.URL, at time.Time) (*siteAnswer, error) {
	u, err := c.indexed(g, u)
	if err != nil {
		return nil, err
	}
	a := &siteAnswer{URL: u}
	r := c.siteRequest(u, at)
	if !c.answers(g, r) {
		a.Plain = true
		return a, nil
	}
	var b bytes.Buffer
	out, _ := g.Replay(c.ctx(), r, &b, gateway.ReplayOptions{
		Developer: true, DocumentRoot: gateway.DocumentRoot(c.ctx()),
		Markers: a.addTrace,
	})
	if out.Err != nil {
		a.Error = cutAt(gateway.Describe(out.Err), requestText)
	}
	resp, err := httpheader.Parse(b.String())
	if err != nil {
		return nil, err
	}
	a.Status, a.Type, a.Body, a.To = resp.Status, resp.Get("Content-Type"), resp.Body, resp.Get("Location")
	kind, _, err := mime.ParseMediaType(a.Type)
	a.HTML = err == nil && kind == "text/html"
	return a, nil
}

// answers reports whether a gateway answers a request. If not, it is for a file.
func (c *call) answers(g *gateway.Gateway, r *requestlog.Request) bool {
	isFile := false
	if folder := gateway.DocumentRoot(c.ctx()); folder != "" {
		info, err := os.Stat(filepath.Join(folder, filepath.FromSlash(site.CleanPath(r.Variables["SCRIPT_NAME"]))))
		isFile = err == nil && info.Mode().IsRegular()
	}
	return g.Answers(c.ctx(), &gateway.Request{Params: r.Variables}, isFile)
}

// baseTag returns the base element with which the relative links of a page work as at its own URL.
func baseTag(u *url.URL) string { return `<base href="` + html.EscapeString(u.EscapedPath()) + `">` }

// addTrace adds the trace of the markers of a page, or of an error page. Their numbers go on.
func (a *siteAnswer) addTrace(t *gateway.MarkerTrace) {
	last := 0
	for _, e := range a.Expansions {
		last += len(e.Markers)
	}
	for _, e := range t.Expansions {
		for _, m := range e.Markers {
			m.Number += last
		}
	}
	a.Expansions = append(a.Expansions, t.Expansions...)
	a.Left += t.Left
}

// indexed returns the URL of the file that answers for the URL of a folder, if there is one.
func (c *call) indexed(g *gateway.Gateway, u *url.URL) (*url.URL, error) {
	root := gateway.DocumentRoot(c.ctx())
	if !strings.HasSuffix(u.Path, "/") || root == "" {
		return u, nil
	}
	names, err := g.DirectoryIndex(c.ctx(), &gateway.Request{Params: c.siteRequest(u, c.Now()).Variables}, u.Path)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if strings.ContainsAny(name, `/\`) {
			continue
		}
		path := site.CleanPath(u.Path) + "/" + name
		if f, _, err := g.OpenFile(root, root+path); err == nil {
			f.Close()
			file := *u
			file.Path, file.RawPath = site.CleanPath(path), ""
			return &file, nil
		}
	}
	return u, nil
}

// framePolicy is the Content-Security-Policy of a page that shows a page of the site in a frame. sitePolicy, after
// a sandbox directive, is that of the page in the frame: it runs no script and sends no form.
const (
	framePolicy = contentSecurityPolicy + "; frame-src 'self'"
	sitePolicy  = "default-src 'none'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; " +
		"font-src 'self' data:; media-src 'self'; form-action 'none'; frame-ancestors 'self'; base-uri 'self'"
)

// otherPage returns HTML that is not part of the web page, with a policy of its own.
func otherPage(policy, page string) *result {
	return &result{serve: func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Security-Policy", policy)
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		io.WriteString(w, page)
	}}
}

// send sends an answer of the site as a part of the web page, with a policy and a body of its own.
func (a *siteAnswer) send(w http.ResponseWriter, policy, body string) {
	h := w.Header()
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Frame-Options", "SAMEORIGIN")
	h.Del("Cross-Origin-Opener-Policy") // browsers do not show a page that has both it and a sandbox
	h.Set("Content-Type", cmp.Or(a.Type, "text/plain; charset=utf-8"))
	w.WriteHeader(a.Status)
	io.WriteString(w, body)
}
