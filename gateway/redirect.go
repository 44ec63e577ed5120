package gateway

import (
	"html"
	"mime"
	"strings"

	"scripter/httpheader"
)

// linkRedirect gives a redirect without a body a short page with the link:
// "some client proxies do not understand this 302 response" (specification,
// 4.2), and RFC 9110, 15.4, asks for it. A script that says another type than
// HTML wants no page. Where the link goes is checked with the response.
func linkRedirect(resp *httpheader.Response) {
	switch resp.Status {
	case 301, 302, 303, 307, 308:
	default:
		return
	}
	location := resp.Get("Location")
	if location == "" {
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
