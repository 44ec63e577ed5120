package site

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// A Pattern says which paths a route answers. Its segments are
//
//	items          the text itself; %XX stands for a byte
//	{id}           any text that is not empty, under this name
//	{id:number}    1 to 15 digits
//	*rest          the rest of the path, slashes and all, and also none; it comes last
//
// A slash at the end belongs to the pattern. Case matters.
type Pattern struct {
	text  string
	parts []patternPart
}

type patternPart struct {
	kind partKind
	text string // of a literal, decoded; else the name
}

// partKind is the kind of a segment. Of two patterns for the same path the one with the smaller kind goes
// first, in the first segment where they differ.
type partKind uint8

const (
	partLiteral partKind = iota
	partNumber
	partName
	partRest
)

// longestNumber is how many digits a {name:number} has: Lua has all such numbers exactly.
const longestNumber = 15

// ParsePattern reads a pattern.
func ParsePattern(text string) (Pattern, error) {
	p := Pattern{text: text}
	rest, ok := strings.CutPrefix(text, "/")
	if !ok {
		return p, fmt.Errorf("the pattern %.100q does not begin with /", text)
	}
	for more := true; more; {
		var segment string
		segment, rest, more = strings.Cut(rest, "/")
		part, err := parsePart(segment)
		switch {
		case err != nil:
		case part.kind == partLiteral && part.text == "" && more:
			err = errors.New("it has an empty segment, which no path keeps")
		case part.kind == partRest && more:
			err = fmt.Errorf("after %s, which takes the rest of the path, nothing can follow", segment)
		case part.kind != partLiteral && p.has(part.text):
			err = fmt.Errorf("it has two parameters with the name %s", part.text)
		case len(p.parts) == maxRouteParts:
			err = fmt.Errorf("it has more than %d segments", maxRouteParts)
		}
		if err != nil {
			return p, fmt.Errorf("the pattern %.100q: %w", text, err)
		}
		p.parts = append(p.parts, part)
	}
	return p, nil
}

func parsePart(s string) (patternPart, error) {
	if name, ok := strings.CutPrefix(s, "*"); ok {
		return patternPart{partRest, name}, checkParameter(s, name)
	}
	if inner, ok := strings.CutPrefix(s, "{"); ok && strings.HasSuffix(inner, "}") {
		name, kind, typed := strings.Cut(inner[:len(inner)-1], ":")
		switch {
		case !typed:
			return patternPart{partName, name}, checkParameter(s, name)
		case kind != "number":
			return patternPart{}, fmt.Errorf("%.60q has the type %.40q: the only type is number", s, kind)
		}
		return patternPart{partNumber, name}, checkParameter(s, name)
	}
	if i := strings.IndexAny(s, "{}*?#\\"); i >= 0 {
		return patternPart{}, fmt.Errorf("%.60q has %q: a parameter is a whole segment, {name} or *rest, "+
			"and a sign that stands for itself is written %%%02X", s, s[i], s[i])
	}
	text, err := url.PathUnescape(s)
	switch {
	case err != nil:
		return patternPart{}, fmt.Errorf("%.60q has a percent sign without two hex digits", s)
	case text == "." || text == ".." || strings.ContainsAny(text, "/\\\x00\r\n"):
		return patternPart{}, fmt.Errorf("no path has the segment %.60q", s)
	}
	return patternPart{partLiteral, text}, nil
}

// checkParameter checks the name of a parameter, which is the name of a variable of Lua.
func checkParameter(segment, name string) error {
	for i := 0; i < len(name); i++ {
		if c := name[i]; !isAlphanumeric(c) && c != '_' || i == 0 && '0' <= c && c <= '9' {
			return fmt.Errorf("the name of the parameter %.60q is not one of letters, digits and _", segment)
		}
	}
	if name == "" || len(name) > longestName {
		return fmt.Errorf("the parameter %.60q has no name of 1 to %d characters", segment, longestName)
	}
	return nil
}

// String returns the pattern as it was written.
func (p Pattern) String() string { return p.text }

// Names returns the names of the parameters.
func (p Pattern) Names() (names []string) {
	for _, part := range p.parts {
		if part.kind != partLiteral {
			names = append(names, part.text)
		}
	}
	return names
}

func (p Pattern) has(name string) bool {
	for _, part := range p.parts {
		if part.kind != partLiteral && part.text == name {
			return true
		}
	}
	return false
}

// Each calls fn with each parameter of a path that the pattern matches.
func (p Pattern) Each(path string, fn func(name, value string)) {
	rest := strings.TrimPrefix(path, "/")
	for _, part := range p.parts {
		if part.kind == partRest {
			fn(part.text, rest)
			return
		}
		var segment string
		segment, rest, _ = strings.Cut(rest, "/")
		if part.kind != partLiteral {
			fn(part.text, segment)
		}
	}
}

// takes reports whether a segment of a path may stand for a parameter.
func (k partKind) takes(segment string) bool {
	if k != partNumber {
		return segment != ""
	}
	for i := 0; i < len(segment); i++ {
		if segment[i] < '0' || segment[i] > '9' {
			return false
		}
	}
	return segment != "" && len(segment) <= longestNumber
}

// Path returns the decoded path that has the values as its parameters.
func (p Pattern) Path(value func(name string) (string, bool)) (string, error) {
	var b strings.Builder
	for _, part := range p.parts {
		b.WriteByte('/')
		if part.kind == partLiteral {
			b.WriteString(part.text)
			continue
		}
		v, ok := value(part.text)
		switch {
		case !ok:
			return "", fmt.Errorf("the parameter %s is missing", part.text)
		case part.kind == partRest:
		case v == "":
			return "", fmt.Errorf("the parameter %s is empty", part.text)
		case part.kind == partNumber && !part.kind.takes(v):
			return "", fmt.Errorf("the parameter %s is %.60q, not 1 to %d digits", part.text, v, longestNumber)
		case strings.Contains(v, "/"):
			return "", fmt.Errorf("the parameter %s is %.60q: only a *%s could have a slash", part.text, v, part.text)
		}
		b.WriteString(v)
	}
	return b.String(), nil
}

// Example returns a path that the pattern matches.
func (p Pattern) Example() string {
	example, _ := p.Path(func(string) (string, bool) { return "1", true })
	return example
}

// EscapePath returns a path for a URL: every byte but letters, digits and /-._~ as %XX.
func EscapePath(path string) string {
	const hex = "0123456789ABCDEF"
	b := make([]byte, 0, len(path)+len(path)/4)
	for i := 0; i < len(path); i++ {
		if c := path[i]; isAlphanumeric(c) || strings.IndexByte("/-._~", c) >= 0 {
			b = append(b, c)
		} else {
			b = append(b, '%', hex[c>>4], hex[c&15])
		}
	}
	return string(b)
}
