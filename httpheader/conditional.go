package httpheader

import "strings"

// NotModified reports whether 304 is the response to a conditional request, where
// r would be the response without conditions (RFC 9110, 13). headers returns
// a request's field by its name, "" if there is none.
//
// If-None-Match takes precedence over If-Modified-Since. Both apply only to GET
// and HEAD, and only if r is a 200 with an ETag or Last-Modified to compare with.
func NotModified(method string, headers func(name string) string, r *Response) bool {
	if method != "GET" && method != "HEAD" || r.Status != 200 {
		return false
	}
	if tags := headers("If-None-Match"); tags != "" {
		return MatchETag(tags, r.Get("ETag"))
	}
	return !modifiedSince(r.Get("Last-Modified"), headers("If-Modified-Since"))
}

// ToNotModified turns r into the 304 response to a conditional request: it removes
// the body and the fields that describe the body (RFC 9110, 15.4.5).
func (r *Response) ToNotModified() {
	r.Status, r.Reason, r.Body = 304, ReasonText(304), ""
	for _, name := range []string{
		"Content-Type", "Content-Length", "Content-Encoding", "Content-Language", "Content-Range",
	} {
		r.Del(name)
	}
}

// modifiedSince reports whether modified is later than since, in seconds. It treats
// an invalid or missing date as a change. Old browsers add "; length=…" to theirs.
func modifiedSince(modified, since string) bool {
	if modified == "" || since == "" {
		return true
	}
	since, _, _ = strings.Cut(since, ";")
	s, err := ParseDate(strings.TrimSpace(since))
	if err != nil {
		return true
	}
	m, err := ParseDate(modified)
	return err != nil || m.After(s)
}

// MatchETag reports whether the value of If-None-Match, "*" or a list of entity
// tags, has the tag of a response among them. The comparison is the weak one
// (RFC 9110, 8.8.3.2). Apache and other servers that compress a response change
// its tag to "tag-gzip" and do not undo this in the next request: MatchETag
// ignores such a suffix for gzip, br and zstd.
func MatchETag(list, etag string) bool {
	list = strings.Trim(list, " \t")
	if list == "*" {
		return true
	}
	want := strings.TrimPrefix(etag, "W/")
	if want == "" {
		return false
	}
	for list != "" {
		var tag string
		tag, list = cutETag(list)
		if tag == want || isCompressed(tag, want) {
			return true
		}
	}
	return false
}

// cutETag returns the first tag of a list without its W/, and the rest. A comma
// may be part of a tag in quotes. A tag without quotes, which some
// scripts send and get back, ends at the comma.
func cutETag(list string) (tag, rest string) {
	list = strings.TrimLeft(list, " \t,")
	list = strings.TrimPrefix(list, "W/")
	if strings.HasPrefix(list, `"`) {
		if i := strings.IndexByte(list[1:], '"'); i >= 0 {
			return list[:i+2], list[i+2:]
		}
	}
	tag, rest, _ = strings.Cut(list, ",")
	return strings.TrimRight(tag, " \t"), rest
}

// isCompressed reports whether tag is want with the name of a compression inserted
// before its last quote.
func isCompressed(tag, want string) bool {
	inside, ok := strings.CutSuffix(want, `"`)
	if !ok || !strings.HasPrefix(tag, inside) {
		return false
	}
	switch tag[len(inside):] {
	case `-gzip"`, `-br"`, `-zstd"`:
		return true
	}
	return false
}
