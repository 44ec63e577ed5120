package site

import (
	"fmt"
	"path"
	"strings"
)

// CleanPath returns [path.Clean] of a path, with "/" in front of it.
func CleanPath(p string) string {
	if !strings.HasPrefix(p, "/") || strings.HasSuffix(p, "/") ||
		strings.Contains(p, "//") || strings.Contains(p, "/.") {
		return path.Clean("/" + p)
	}
	return p // most paths are clean already
}

// CheckPath returns an error for a path that could lead out of the document root, or
// that no file or script can have.
func CheckPath(p string) error {
	why := ""
	switch {
	case p == "":
		why = "is empty"
	case strings.IndexByte(p, 0) >= 0:
		why = "has a NUL byte"
	case strings.IndexByte(p, '\\') >= 0:
		why = "has a backslash"
	case strings.ContainsAny(p, "\r\n"):
		why = "has a line end"
	case hasDotDot(p):
		why = `has a ".." part`
	default:
		return nil
	}
	return fmt.Errorf("the path %.200q %s", p, why)
}

func hasDotDot(p string) bool {
	for segment := range strings.SplitSeq(p, "/") {
		if segment == ".." {
			return true
		}
	}
	return false
}

// hasPathPrefix reports whether p is prefix or lies below it.
func hasPathPrefix(p, prefix string) bool {
	if !strings.HasPrefix(p, prefix) {
		return false
	}
	return strings.HasSuffix(prefix, "/") || len(p) == len(prefix) || p[len(prefix)] == '/'
}

// IsHost reports whether h is a host of RFC 3986, 3.2.2, with or without a port, as
// names are written in practice: letters, digits, "-", "." and "_", or an address in
// brackets. "" is valid: HTTP/1.0 has no Host.
func IsHost(h string) bool {
	if h == "" {
		return true
	}
	if len(h) > 300 {
		return false
	}
	name, port := h, ""
	if i := strings.LastIndexByte(h, ':'); i >= 0 && !strings.HasSuffix(h, "]") {
		name, port = h[:i], h[i+1:]
		for i := 0; i < len(port); i++ {
			if port[i] < '0' || port[i] > '9' {
				return false
			}
		}
	}
	if strings.HasPrefix(name, "[") {
		return len(name) > 2 && strings.HasSuffix(name, "]") &&
			strings.Trim(name[1:len(name)-1], "0123456789abcdefABCDEF:.") == ""
	}
	for i := 0; i < len(name); i++ {
		c := name[i]
		if !isAlphanumeric(c) && c != '-' && c != '.' && c != '_' {
			return false
		}
	}
	return name != ""
}

func isAlphanumeric(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}
