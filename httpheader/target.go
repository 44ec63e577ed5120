package httpheader

import (
	"fmt"
	"strings"
)

// Base is the URL of a request as the client sent it. Relative references of
// redirects are resolved against it.
type Base struct {
	Origin string // scheme and host, "https://www.example.com"; "" if the host is unknown
	Path   string // begins with "/"
	Query  string // without the "?"
}

// Complete makes the fields Location and URI absolute (specification, 4.2). It
// does not change a value that Check refuses.
func (r *Response) Complete(b Base) {
	for i := range r.Fields {
		f := &r.Fields[i]
		if isTarget(f.Name) && badTarget(f.Value) == "" {
			f.Value = b.Resolve(f.Value)
		}
	}
}

// Resolve resolves a reference against b (RFC 3986, 5.2). It returns an absolute URL
// unchanged. If b has no Origin, it returns a path.
func (b Base) Resolve(ref string) string {
	if hasPrefix(ref, "http://") || hasPrefix(ref, "https://") {
		return ref
	}
	path := ref
	switch {
	case strings.HasPrefix(ref, "/"):
	case strings.HasPrefix(ref, "?"):
		path = b.Path + ref
	case strings.HasPrefix(ref, "#"):
		path = b.Path + ref
		if b.Query != "" {
			path = b.Path + "?" + b.Query + ref
		}
	default:
		end := strings.IndexAny(ref, "?#")
		if end < 0 {
			end = len(ref)
		}
		path = withoutDots(b.Path[:strings.LastIndexByte(b.Path, '/')+1]+ref[:end]) + ref[end:]
	}
	if b.Origin == "" { // "//x" would mean another host
		return "/" + strings.TrimLeft(path, "/")
	}
	return b.Origin + path
}

// withoutDots removes the segments "." and ".." (RFC 3986, 5.2.4).
func withoutDots(path string) string {
	parts := strings.Split(strings.TrimPrefix(path, "/"), "/")
	kept := parts[:0]
	for i, p := range parts {
		last := i == len(parts)-1
		switch p {
		case ".", "..":
			if p == ".." && len(kept) > 0 {
				kept = kept[:len(kept)-1]
			}
			if last {
				kept = append(kept, "")
			}
		default:
			kept = append(kept, p)
		}
	}
	return "/" + strings.Join(kept, "/")
}

func isTarget(name string) bool { return sameName(name, "Location") || sameName(name, "URI") }

// badTarget returns what is wrong with the URL of a redirect, or "".
// To a browser, "//host" and "/\host" name other hosts.
func badTarget(url string) string {
	if url == "" {
		return "is empty"
	}
	if i := strings.IndexAny(url, " \t\"<>\\"); i >= 0 {
		return fmt.Sprintf("has the character %q, which no URL may have", url[i])
	}
	if strings.HasPrefix(url, "//") {
		return `begins with "//", which means another host`
	}
	if !hasPrefix(url, "http://") && !hasPrefix(url, "https://") {
		// A colon in the first segment ends a scheme (RFC 3986, 4.2).
		first := url
		if i := strings.IndexAny(url, "/?#"); i >= 0 {
			first = url[:i]
		}
		if strings.Contains(first, ":") {
			return "is neither an http or https URL nor a relative reference"
		}
		return ""
	}
	_, host, _ := strings.Cut(url, "://")
	if i := strings.IndexAny(host, "/?#"); i >= 0 {
		host = host[:i]
	}
	host = host[strings.LastIndexByte(host, '@')+1:]
	if host == "" || host[0] == ':' {
		return "names no host"
	}
	return ""
}
