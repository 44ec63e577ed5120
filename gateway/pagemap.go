package gateway

import (
	"net/http"
	"net/url"
	"strings"

	"scripter/httpheader"
	"scripter/objectdb"
	"scripter/site"
)

// mapKey is the key in the query of a page's URL with which a person asks for its map.
const mapKey = "scripter-map"

// mapURL returns the URL at which the web page shows the map of the page that the request asks for,
// or "" if it asks for no map, or if there is no web page. Everybody may follow the redirect: what
// is behind it needs a log-in.
func (c *attempt) mapURL() string {
	p := c.request.Params
	if !strings.Contains(p["QUERY_STRING"], mapKey) || c.isInner() || c.g.admin == nil {
		return ""
	}
	base := c.Site().String(site.AdminPath)
	rest, asked := cutMapKey(p["QUERY_STRING"])
	isGet := p["REQUEST_METHOD"] == http.MethodGet || p["REQUEST_METHOD"] == http.MethodHead
	if !asked || !isGet || base == "" || !c.g.admin.Answers(c.Site()) || !c.isPage() {
		return ""
	}
	page := url.URL{Path: c.target.Path + c.target.Extra, RawQuery: rest}
	if c.target.PathArgs != "" {
		page.Path += "$" + c.target.PathArgs
	}
	to := url.URL{Path: base + "map", RawQuery: url.Values{"url": {page.RequestURI()}}.Encode()}
	return to.String()
}

// cutMapKey removes the key from a query, and reports whether it was there.
func cutMapKey(query string) (rest string, found bool) {
	var parts []string
	for part := range strings.SplitSeq(query, "&") {
		if key, _, _ := strings.Cut(part, "="); key == mapKey {
			found = true
		} else {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, "&"), found
}

// isPage reports whether the request asks for a text with markers: a page, or a text of the root.
func (c *attempt) isPage() bool {
	if strings.EqualFold(c.target.Action, macroAction) {
		return true
	}
	if c.target.Action == "" || c.actionObject(c.target.Action) != nil {
		return false
	}
	var n *objectdb.Node
	var err error
	if route := c.target.Route; route == nil {
		n, _, err = c.scriptObject(c.target.Path)
	} else if route.Object == nil {
		return true
	} else {
		n, _, err = c.routeObject(route)
	}
	return err == nil && (n.Kind() == objectdb.KindString || n.Kind() == objectdb.KindText ||
		n.Kind() == objectdb.KindOutline)
}

// redirect holds a response that leads to another URL of this site.
func (c *attempt) redirect(to string) error { return c.redirectAs(http.StatusSeeOther, to) }

// redirectAs is redirect with a status. No cache keeps the response.
func (c *attempt) redirectAs(status int, to string) error {
	resp := &httpheader.Response{Status: status, Reason: http.StatusText(status)}
	resp.Add("Location", to)
	resp.Add("Cache-Control", "private, no-store")
	if err := resp.Check(); err != nil {
		return err
	}
	complete(c.request, resp)
	c.hold(held{resp: resp})
	return nil
}
