package fcgi

import (
	"errors"
	"strings"
)

var (
	errMalformed = errors.New("malformed parameters")
	errTooMany   = errors.New("too many parameters")
	errConflict  = errors.New("parameter given twice with different values")
)

// parseParams puts the pairs of block into m, at most limit of them. Of a repeated name it
// keeps the last value, with these exceptions: it joins repeated header fields (HTTP_*), as
// RFC 9110, section 5.3, allows, and it returns errConflict for a second, different
// CONTENT_LENGTH or SCRIPT_NAME, because the sender of a request must not choose which one
// counts. For an empty name or a NUL, which no CGI variable can hold, it returns errMalformed.
//
// lighttpd joins repeated fields itself. If it sends a variable twice, the fields had
// different names, such as "X-Real-Ip" and "X_Real_Ip": that is errConflict, too.
func parseParams(m map[string]string, block string, limit int) error {
	count := 0
	for rest := block; rest != ""; {
		name, value, r, ok := cutPair(rest)
		if !ok || name == "" || strings.IndexByte(name, 0) >= 0 || strings.IndexByte(value, 0) >= 0 {
			return errMalformed
		}
		if count++; count > limit {
			return errTooMany
		}
		m[name] = value
		rest = r
	}
	if len(m) == count {
		return nil // no name came twice
	}
	joined := strings.HasPrefix(m["SERVER_SOFTWARE"], "lighttpd")
	clear(m)
	return mergeParams(m, block, joined)
}

// mergeParams is parseParams for a well-formed block in which names repeat. joined
// says whether the web server has joined repeated fields itself.
func mergeParams(m map[string]string, block string, joined bool) error {
	for rest := block; rest != ""; {
		name, value, r, _ := cutPair(rest)
		rest = r
		old, again := m[name]
		switch {
		case !again:
		case joined && strings.HasPrefix(name, "HTTP_"):
			return errConflict
		case name == "HTTP_COOKIE": // RFC 6265, section 5.4
			value = old + "; " + value
		case strings.HasPrefix(name, "HTTP_"):
			value = old + ", " + value
		case (name == "CONTENT_LENGTH" || name == "SCRIPT_NAME") && old != value:
			return errConflict
		}
		m[name] = value
	}
	return nil
}
