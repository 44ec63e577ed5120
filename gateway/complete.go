package gateway

import (
	"fmt"
	"html"
	"mime"
	"slices"
	"strings"

	"scripter/httpheader"
	"scripter/site"
)

// finish adds the fields that scripts have set, checks a response and completes it.
func (c *attempt) finish(resp *httpheader.Response) error {
	if err := c.storeVisit(); err != nil {
		return err
	}
	for _, f := range c.fields {
		resp.Add(f.Name, f.Value)
	}
	if err := resp.Check(); err != nil {
		return fmt.Errorf("the response cannot be sent: %w", err)
	}
	if pass := c.Site().Flag(site.FlPassAccel); !pass || !c.g.Reach().Sendfile {
		if resp.Strip() && pass && !c.isQuiet() {
			c.g.log.Warn("header fields for the web server removed", "path", c.request.LogPath(),
				"err", c.g.Reach().Check(site.FlPassAccel.Name, site.KeySendfile, "on"))
		}
	}
	if c.private {
		keepPrivate(resp)
	}
	complete(c.request, resp)
	return nil
}

// complete does what every response needs, over every transport. It adds a Cache-Control field:
// nothing is cached unless the script allows it (specification, 4.3.3), and caches in front would
// cache responses without this field. It answers a conditional request, and it removes a
// Content-Length.
func complete(r *Request, resp *httpheader.Response) {
	sayCaching(r, resp)
	if r.conditional() && httpheader.NotModified(r.Params["REQUEST_METHOD"], r.field, resp) {
		resp.ToNotModified()
	}
	resp.Del("Content-Length")
	if bodyless(resp.Status) {
		resp.Body = ""
	}
}

// sayCaching adds a Cache-Control field if the response has no field for caches.
func sayCaching(r *Request, resp *httpheader.Response) {
	switch {
	case r.unusualBody():
		noStore(resp)
	case !cacheSpoken(resp):
		resp.Add("Cache-Control", "private, no-cache")
	}
}

// cacheSpoken reports whether a response says what caches may do.
func cacheSpoken(resp *httpheader.Response) bool {
	return resp.Has("Cache-Control") || hasDate(resp, "Expires")
}

// cacheable reports whether a response lets a cache or a browser keep it.
func cacheable(resp *httpheader.Response) bool {
	control := strings.ToLower(resp.Get("Cache-Control"))
	return cacheSpoken(resp) && !strings.Contains(control, "no-cache") && !strings.Contains(control, "no-store")
}

// sharedFields take precedence over Cache-Control in some shared caches.
var sharedFields = []string{"Surrogate-Control", "CDN-Cache-Control", "X-Accel-Expires"}

// noStore forbids every cache to store a response. It removes the fields that take
// precedence over Cache-Control in some caches.
func noStore(resp *httpheader.Response) {
	resp.Del("Expires")
	for _, name := range sharedFields {
		resp.Del(name)
	}
	resp.Set("Cache-Control", "private, no-store")
}

// keepPrivate keeps a response that only some visitors may see out of shared caches: a
// cache does not check who asks.
func keepPrivate(resp *httpheader.Response) {
	for _, name := range sharedFields {
		resp.Del(name)
	}
	for _, f := range resp.Fields {
		if strings.EqualFold(f.Name, "Cache-Control") && forbidsSharing(f.Value) {
			return
		}
	}
	resp.Set("Cache-Control", "private, no-cache")
}

// forbidsSharing reports whether a Cache-Control field keeps a whole response out of
// shared caches. private="Set-Cookie" does so for one field only, and a quoted text may
// contain the same words, so a field with quotes does not count.
func forbidsSharing(control string) bool {
	return !strings.Contains(control, `"`) && slices.ContainsFunc(strings.Split(control, ","), func(word string) bool {
		word = strings.TrimSpace(word)
		return strings.EqualFold(word, "private") || strings.EqualFold(word, "no-store")
	})
}

func hasDate(resp *httpheader.Response, name string) bool {
	value := resp.Get(name)
	if value == "" {
		return false
	}
	_, err := httpheader.ParseDate(value)
	return err == nil
}

// bodyless reports whether responses with this status have no body, whatever the script wrote
// (RFC 9110, 6.4.1 and 15.3.6).
func bodyless(status int) bool { return status == 204 || status == 205 || status == 304 }

// linkRedirect adds a short page with the link to a redirect without a body: "some client
// proxies do not understand this 302 response" (specification, 4.2), and RFC 9110, 15.4, asks
// for it. A response with another type than HTML gets no page. The URL is checked with the
// response.
func linkRedirect(resp *httpheader.Response) {
	location := resp.Get("Location")
	if !resp.Redirects() || location == "" {
		return
	}
	kind, _, err := mime.ParseMediaType(resp.Get("Content-Type"))
	if resp.Has("Content-Type") && (err != nil || kind != htmlType) {
		return
	}
	resp.Set("Content-Type", htmlType)
	title := resp.Reason
	if title == "" {
		title = httpheader.ReasonText(resp.Status)
	}
	link := html.EscapeString(asciiURL(location))
	resp.Body = "<html><head><title>" + html.EscapeString(title) + "</title></head>" +
		"<body><p>The page is at <a href=\"" + link + "\">" + link + "</a>.</p></body></html>\n"
}

// completeTargets makes the fields Location and URI absolute (specification, 4.2). A
// redirect without one is sent as it is, because its body may have the links; but
// browsers do not follow it, so it is logged.
func (c *attempt) completeTargets(resp *httpheader.Response) {
	if resp.Has("Location") || resp.Has("URI") {
		resp.Complete(c.base())
	}
	if resp.Redirects() && !resp.Has("Location") && !c.isQuiet() {
		c.g.log.Warn("a redirect has no Location: no browser follows it", "path", c.request.LogPath(),
			"script", c.answerer(), "status", resp.Status)
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

// plainURL replaces bytes that are invalid in a URL with %XX; some clients send them.
func plainURL(s string) string {
	return encodeBytes(s, func(c byte) bool { return c > ' ' && c < 0x7f && strings.IndexByte("\"#<>\\^`{|}", c) < 0 })
}

// asciiURL replaces the bytes of a URL that are not ASCII with %XX, so that the page means the
// same in every charset.
func asciiURL(s string) string { return encodeBytes(s, func(c byte) bool { return c < 0x80 }) }

// encodeBytes replaces the bytes of a text that may not stay with %XX.
func encodeBytes(s string, mayStay func(byte) bool) string {
	var b strings.Builder
	for _, c := range []byte(s) {
		if mayStay(c) {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}
