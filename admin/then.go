package admin

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	nethtml "golang.org/x/net/html"

	"scripter/gateway"
	"scripter/objectdb"
)

// thenRoutes lists the pages that show the site as a change left it.
func (s *Server) thenRoutes() {
	s.page("GET /then", readers, (*call).thenPage)
	s.page("GET /then/page", readers, (*call).thenPart)
}

// thenData is the site as of then, in a frame.
type thenData struct {
	URL    string `json:"url"`
	Number int64  `json:"change"`
	Frame  string `json:"page"` // the URL of the page itself
}

// checkThen returns an error unless the person looks at the past, and may run what the site ran.
func (c *call) checkThen() error {
	if !c.inPast {
		return bad("then.noMoment")
	}
	return c.mayRun()
}

// thenPage shows a page of the site as of then in a frame, below the banner of the past.
func (c *call) thenPage() (*result, error) {
	if !c.inPast {
		return c.redirect(c.link("history"), "", 0), nil
	}
	if err := c.checkThen(); err != nil {
		return nil, err
	}
	asked := c.query("url")
	if asked == "" {
		asked = "/"
	}
	u, err := c.siteURL(asked)
	if err != nil {
		return nil, err
	}
	c.w.Header().Set("Content-Security-Policy", framePolicy)
	data := &thenData{URL: u.RequestURI(), Number: c.past, Frame: c.link("then/page", "url", u.RequestURI())}
	return &result{template: "then", title: text("then.title", c.past), data: data}, nil
}

// thenPolicy is the Content-Security-Policy of a page of the site as of then. It keeps its origin, because
// the links to other pages as of then need the log-in.
const thenPolicy = "sandbox allow-same-origin; " + sitePolicy

// thenPart sends what the site answered as of then.
func (c *call) thenPart() (*result, error) {
	if err := c.checkThen(); err != nil {
		return nil, err
	}
	u, err := c.siteURL(c.query("url"))
	if err != nil {
		return nil, err
	}
	at, err := c.thenTime()
	if err != nil {
		return nil, err
	}
	g := c.Gateway.On(c.db, nil)
	a, err := c.askSite(g, u, at)
	if err != nil {
		return nil, err
	}
	p := &pastPage{c: c, g: g, url: a.URL, known: map[string]bool{}}
	switch {
	case a.Plain: // only the web server can send it, as it is today
		return &result{serve: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", a.URL.RequestURI())
			w.WriteHeader(http.StatusSeeOther)
		}}, nil
	case a.To != "":
		to, ok := p.thenLink(a.To)
		if !ok {
			return nil, newProblem(http.StatusNotFound, "then.elsewhere", a.To)
		}
		return &result{location: to}, nil
	}
	body := a.Body
	if a.HTML {
		body = p.withLinks(body)
	}
	return &result{serve: func(w http.ResponseWriter, _ *http.Request) { a.send(w, thenPolicy, body) }}, nil
}

// thenTime returns when the change was made that the person looks at.
func (c *call) thenTime() (at time.Time, err error) {
	at = c.Now()
	err = c.DB.View(c.ctx(), func(tx *objectdb.Tx) error {
		for change, err := range tx.Changes(c.past + 1) {
			if err == nil {
				at = time.Unix(0, change.Time).UTC()
			}
			return err
		}
		return nil
	})
	return at, err
}

// pastPage is a page of the site as of then.
type pastPage struct {
	c     *call
	g     *gateway.Gateway // on the root as of then
	url   *url.URL         // of the page
	known map[string]bool  // by path: whether g answers it
}

// resolve returns the path and query that a link of the page leads to. ok is false if it leads to
// another host.
func (p *pastPage) resolve(link string) (u *url.URL, fragment string, ok bool) {
	to, err := p.url.Parse(strings.TrimSpace(link))
	if err != nil || to.Host != "" && !strings.EqualFold(to.Host, p.c.r.Host) ||
		to.Scheme != "" && to.Scheme != "http" && to.Scheme != "https" {
		return nil, "", false
	}
	u, err = p.c.siteURL((&url.URL{Path: to.Path, RawPath: to.RawPath, RawQuery: to.RawQuery}).RequestURI())
	return u, to.EscapedFragment(), err == nil
}

// thenLink returns the URL of what a link leads to as of then.
func (p *pastPage) thenLink(link string) (to string, ok bool) {
	u, fragment, ok := p.resolve(link)
	if !ok {
		return "", false
	}
	to = p.c.link("then/page", "url", u.RequestURI())
	if fragment != "" {
		to += "#" + fragment
	}
	return to, true
}

// answers reports whether the gateway answers what a link leads to. If not, it is a file.
func (p *pastPage) answers(link string) bool {
	u, _, ok := p.resolve(link)
	if !ok {
		return false
	}
	known, ok := p.known[u.Path]
	if !ok {
		known = p.c.answers(p.g, p.c.siteRequest(u, time.Time{}))
		p.known[u.Path] = known
	}
	return known
}

// withLinks returns a page of HTML whose links lead to the site as of then. Pictures and styles that
// are files stay as they are: they are those of today.
func (p *pastPage) withLinks(body string) string {
	var out strings.Builder
	z := nethtml.NewTokenizer(strings.NewReader(body))
	at, based := 0, false
	base := baseTag(p.url)
	for {
		kind := z.Next()
		from := at
		at = min(from+len(z.Raw()), len(body))
		if kind == nethtml.ErrorToken {
			out.WriteString(noTargets(body[at:]))
			return out.String()
		}
		tag := body[from:at]
		if kind != nethtml.StartTagToken && kind != nethtml.SelfClosingTagToken {
			if kind != nethtml.TextToken {
				tag = noTargets(tag)
			}
			out.WriteString(tag)
			continue
		}
		token := z.Token()
		if !based && token.Data != "html" && token.Data != "head" {
			based = true
			out.WriteString(base)
		}
		if p.link(&token) {
			tag = token.String()
		}
		out.WriteString(noTargets(tag))
		if !based && token.Data == "head" {
			based = true
			out.WriteString(base)
		}
	}
}

// link gives the attributes of a tag other links, and reports whether it has.
func (p *pastPage) link(tag *nethtml.Token) (changed bool) {
	for i := range tag.Attr {
		a := &tag.Attr[i]
		isLink := a.Key == "href" && (tag.Data == "a" || tag.Data == "area")
		isPart := a.Key == "href" && tag.Data == "link" || a.Key == "src" || a.Key == "poster"
		if isLink || isPart && p.answers(a.Val) {
			if to, ok := p.thenLink(a.Val); ok {
				a.Val, changed = to, true
			}
		}
	}
	return changed
}

// Then returns the URL of the site as a change left it, or "" if the person may not see it.
func (f *frame) Then(number int64) string {
	if f.mayRun() != nil {
		return ""
	}
	return f.base + "then?at=" + strconv.FormatInt(number, 10)
}
