package gateway

import (
	"html"
	"mime"
	"strings"

	"scripter/httpheader"
	"scripter/site"
)

// linkRedirect gives a redirect without a body a short page with the link:
// "some client proxies do not understand this 302 response" (specification,
// 4.2), and RFC 9110, 15.4, asks for it. A script that says another type than
// HTML wants no page. Where the link goes is checked with the response.
func linkRedirect(resp *httpheader.Response) {
	location := resp.Get("Location")
	if !resp.Redirects() || location == "" {
		return
	}
	if kind, _, err := mime.ParseMediaType(resp.Get("Content-Type")); resp.Has("Content-Type") && (err != nil || kind != "text/html") {
		return
	}
	resp.Set("Content-Type", "text/html")
	title := resp.Reason
	if title == "" {
		title = httpheader.ReasonText(resp.Status)
	}
	link := html.EscapeString(asciiURL(location))
	resp.Body = "<html><head><title>" + html.EscapeString(title) + "</title></head><body><p>The page is at <a href=\"" + link + "\">" + link + "</a>.</p></body></html>\n"
}

// completeTargets makes the fields Location and URI absolute (specification, 4.2). A
// redirect without one is sent as it is, because its body may have the links; but
// browsers go nowhere with it, so the log says so.
func (c *attempt) completeTargets(resp *httpheader.Response) {
	if resp.Has("Location") || resp.Has("URI") {
		resp.Complete(c.base())
	}
	if resp.Redirects() && !resp.Has("Location") && !c.isQuiet() {
		c.g.log.Warn("a redirect has no Location: no browser follows it", "path", c.request.LogPath(), "script", c.answerer(), "status", resp.Status)
	}
}

// base returns the URL of the client's request. It ignores fields such as
// X-Forwarded-Host, which any client can send: if a proxy in front speaks HTTPS, the
// web server has to set its variable HTTPS.
func (c *attempt) base() httpheader.Base {
	b := httpheader.Base{Origin: c.request.Origin()}
	path, query, ok := strings.Cut(withoutOrigin(c.request.Params["REQUEST_URI"]), "?")
	if !strings.HasPrefix(path, "/") {
		path, query, ok = c.target.Path+c.target.Extra, "", false
		if c.target.PathArgs != "" {
			path += "$" + c.target.PathArgs
		}
		path = strings.NewReplacer("%", "%25", "?", "%3F", "#", "%23").Replace(path)
	}
	if !ok {
		query = c.request.Params["QUERY_STRING"]
	}
	b.Path, b.Query = plainURL(path), plainURL(query)
	return b
}

// Origin returns the scheme and host of the request's URL, or "" if neither the client
// nor the web server names a host.
func (r *Request) Origin() string {
	scheme, usual := "http", "80"
	switch strings.ToLower(r.Params["HTTPS"]) {
	case "on", "1":
		scheme, usual = "https", "443"
	}
	if strings.EqualFold(r.Params["REQUEST_SCHEME"], "https") {
		scheme, usual = "https", "443"
	}
	if host := r.Params["HTTP_HOST"]; host != "" && site.IsHost(host) {
		return scheme + "://" + host
	}
	host := r.Params["SERVER_NAME"]
	if host == "" || host == "_" || !site.IsHost(host) { // nginx's "_" means no host
		return ""
	}
	if port := r.Params["SERVER_PORT"]; port != "" && port != usual && site.IsHost("h:"+port) {
		host += ":" + port
	}
	return scheme + "://" + host
}

// plainURL replaces bytes that are invalid in a URL with %XX; some clients send them.
func plainURL(s string) string {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(s) {
		if c := s[i]; c > ' ' && c < 0x7f && strings.IndexByte("\"#<>\\^`{|}", c) < 0 {
			b.WriteByte(c)
		} else {
			b.Write([]byte{'%', hex[c>>4], hex[c&15]})
		}
	}
	return b.String()
}

// asciiURL writes the bytes of a URL that are not ASCII as %XX: the page then
// means the same in every character set.
func asciiURL(s string) string {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(s) {
		if c := s[i]; c < 0x80 {
			b.WriteByte(c)
		} else {
			b.Write([]byte{'%', hex[c>>4], hex[c&15]})
		}
	}
	return b.String()
}
